#!/usr/bin/python3
"""The counts in the result document are those of the frames that the scripted peer saw."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import recompute
import results
import tap
from peer import Peer
from programs import DONE, Refserver, as_guest, speedtest

RUNS = ('-W', 2, '-n', 3)
SIZE = 1126400
CHUNK = 65536
# kind in the document: request on the wire
KINDS = {'read': 'FPReadExt', 'write': 'FPWriteExt', 'flush': 'FPFlushFork',
         'server_copy': 'FPCopyFile'}


def run(peer, *arguments):
    """The only case of a run as guest."""
    _result, document = results.run(speedtest, *as_guest(peer), '-q', CHUNK // 1024, '-d',
                                    f'{SIZE}b', *arguments)
    peer.finish()
    recompute.check_document(document)
    case, = document['cases']
    return case


def timed_requests(peer, test):
    """Requests of the timed sections: all of these kinds, but for the filling of a source."""
    seen = [record for kind in KINDS.values() for record in peer.received(kind)]
    if test == 'Write':
        return seen
    first = min(record.order for record in peer.received(
        'FPCopyFile' if test == 'ServerCopy' else 'FPReadExt'))
    return [record for record in seen if record.order >= first]


def sent_again(sample):
    """Bytes that TCP sent more than once, as it does on a busy machine even without a loss."""
    return sample['tcp_after']['retransmitted_bytes'] - sample['tcp_before']['retransmitted_bytes']


def replies_to(peer, requests):
    asked = {record.frame.request_id for record in requests}
    session = requests[0].connection
    return [record for record in peer.sent('FP*')
            if record.connection == session and record.frame.request_id in asked]


DEPTHS = {'-r 1': ('-r', 1), '-r 4': ('-r', 4), '-R 4': ('-R', 4), '-r 1000': ('-r', 1000)}
CASES = {f'{test} {name}': (test, depth) for test in ('Read', 'Write', 'Copy', 'ServerCopy')
         for name, depth in DEPTHS.items()}


@tap.cases(CASES)
def test_counts_of(test, depth):
    with Peer() as peer:
        samples = run(peer, '-f', test, *RUNS, *depth)['samples']
        seen = timed_requests(peer, test)
        tap.equal(len(samples), 5)
        for kind, name in KINDS.items():
            tap.equal(sum(sample['requests'][kind] for sample in samples),
                      len([record for record in seen if record.name == name]), kind)
        moved = [record for record in seen if record.name in ('FPReadExt', 'FPWriteExt')]
        tap.equal(sum(sample['runt_requests'] for sample in samples),
                  len([record for record in moved if record.fields['count'] < CHUNK]), 'runts')
        tap.equal(sum(sample['wire']['sent_bytes'] - sent_again(sample) for sample in samples),
                  sum(record.size for record in seen), 'bytes sent')
        tap.equal(sum(sample['wire']['received_bytes'] for sample in samples),
                  sum(record.size for record in replies_to(peer, seen)), 'bytes received')


@tap.cases({'Read': 'Read', 'Write': 'Write'})
def test_payload_of(test):
    with Peer() as peer:
        samples = run(peer, '-f', test, *RUNS)['samples']
        moved = [record for record in timed_requests(peer, test) if record.name.endswith('Ext')]
        tap.equal(sum(sample['payload_bytes'] for sample in samples),
                  sum(record.fields['count'] for record in moved))


def test_round_trips_at_depth_1_are_the_requests():
    with Peer() as peer:
        samples = run(peer, '-f', 'Copy', *RUNS)['samples']
        tap.equal(sum(sample['round_trips'] for sample in samples),
                  len(timed_requests(peer, 'Copy')))


def test_tickles_and_attentions_are_no_requests():
    with Peer('on FPReadExt: tickle; attention 2005; serve') as peer:
        case = run(peer, '-f', 'Read', '-n', 2)
        tap.equal({sample['requests']['read'] for sample in case['samples']}, {18})


SHORT = {name: case for name, case in CASES.items() if case[0] in ('Read', 'Copy')}


@tap.cases(SHORT)
def test_short_replies_are_continued_in(test, depth):
    """A server that returns 40,000 bytes at most: each full chunk takes two reads."""
    sink = ('--sink', 'verify') if test == 'Read' else ()
    with Refserver('--volume', 'bench', '--fault', 'short=40000@FPReadExt') as server:
        result, document = results.run(
            speedtest, *as_guest(server), '-q', CHUNK // 1024, '-d', f'{SIZE}b', '-f', test, *RUNS,
            *depth, *sink)
        recompute.check_document(document)
        case, = document['cases']
        tap.equal({(sample['short_replies'], sample['requests']['read'])
                   for sample in case['samples']}, {(17, 35)})
        tap.equal(case['service_times']['count'], (35 + (18 if test == 'Copy' else 0)) * 3)
        result.expect(DONE, 'short replies: 85 ')


def test_service_times_see_a_slow_reply():
    with Peer('on FPReadExt #20: delay 0.3; serve') as peer:
        service = run(peer, '-f', 'Read', '-n', 2)['service_times']
        assert service['maximum_ns'] >= 300e6, f'slow reply not seen: {service}'
        assert service['median_ns'] < 300e6, f'all slow: {service}'


def test_waiting_for_a_slow_server_is_the_servers_share():
    with Peer('on FPReadExt: delay 0.02; serve') as peer:
        shares = run(peer, '-f', 'Read', '-W', 0)['time_shares']
        assert shares['server_ns'] > 0.5 * sum(shares.values()), f'not the server: {shares}'


tap.main()
