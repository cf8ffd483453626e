#!/usr/bin/python3
"""What afp_speedtest puts on the wire, and what it must stand from there, against the scripted peer."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import afpclient
import afpwire
import programs
import results
import tap
from peer import Peer
from programs import DONE, TEST_FAILED, speedtest

MIB = 1 << 20
KIB = 1 << 10
HEADER = afpwire.HEADER_SIZE


def run(peer, *arguments):
    """A run as guest against the peer, one measured run without warm-up unless asked."""
    defaults = [] if '-W' in arguments else ['-W', 0]
    return speedtest(*programs.as_guest(peer, *defaults, *arguments))


def run_good(peer, *arguments):
    """A run that must succeed, leave nothing behind, and end the session as it should."""
    result = run(peer, *arguments).expect(DONE)
    peer.finish()
    tap.equal(peer.server.left_behind(), [], 'left on the volumes')
    tap.equal(peer.names('*')[-2:], ['FPLogout', 'DSICloseSession'], 'last requests')
    return result


def counts(peer, pattern):
    """How many requests were outstanding as each of these came."""
    return [record.outstanding for record in peer.received(pattern)]


# ------------------------------------------------------------------------------------------- frames

def test_session_is_opened_with_the_attention_quantum():
    with Peer() as peer:
        run_good(peer, '-d', '4k')
        tap.equal(peer.received('DSIOpenSession')[0].frame.payload.hex(), '010400000002')


def test_a_write_is_one_contiguous_frame():
    with Peer() as peer:
        run_good(peer, '-f', 'Write', '-d', 8, '-W', 1)
        writes = peer.received('FPWriteExt')
        assert len(writes) % 8 == 0, f'{len(writes)} writes'
        for number, record in enumerate(writes):
            tap.equal(record.size, HEADER + 20 + MIB, 'frame')
            tap.equal((record.frame.command, record.frame.word), (6, 20), 'DSIWrite, offset')
            fields = record.fields
            tap.equal((fields['offset'], fields['count']), (number % 8 * MIB, MIB))
            ends = [sum(record.pieces[:at + 1]) for at in range(len(record.pieces))]
            assert not {HEADER, HEADER + 20} & set(ends), f'sent in parts: {ends[:3]}'


def test_a_read_of_8_MiB_is_8_requests():
    with Peer() as peer:
        run_good(peer, '-f', 'Read', '-d', 8)
        asked = [(record.fields['offset'], record.fields['count'])
                 for record in peer.received('FPRead*')]
        tap.equal(asked, [(at * MIB, MIB) for at in range(8)])


def test_request_ids_count_up_by_one():
    with Peer() as peer:
        run_good(peer, '-f', 'Read,Write,Copy,ServerCopy', '-d', 1, '-q', 4, '-r', 8)
        session = peer.received('DSIOpenSession')[0].connection
        ids = [record.frame.request_id for record in peer.received()
               if record.connection == session]
        tap.equal(ids, [(ids[0] + number) % 65536 for number in range(len(ids))])


def test_each_fork_is_closed():
    with Peer() as peer:
        run_good(peer, '-f', 'Read,Write,Copy,ServerCopy', '-d', '64k', '-y', '-n', 2)
        tap.equal(len(peer.received('FPOpenFork')), len(peer.received('FPCloseFork')))


# version: the commands for data
COMMANDS = {'-1': ('FPRead', 'FPWrite'), '-2': ('FPRead', 'FPWrite'),
            '-3': ('FPReadExt', 'FPWriteExt'), '-7': ('FPReadExt', 'FPWriteExt')}


@tap.cases({version: (version, *names) for version, names in COMMANDS.items()})
def test_commands_of_version(version, read, write):
    with Peer() as peer:
        run_good(peer, version, '-f', 'Read,Write,Copy', '-d', '64k')
        tap.equal(set(peer.names('FPRead*') + peer.names('FPWrite*')), {read, write})
        name = afpwire.VERSIONS[int(version[1:])]
        tap.equal([login.fields['version'] for login in peer.received('FPLogin*')], [name])


def test_info_does_not_log_in():
    with Peer() as peer:
        speedtest('--info', '-h', '127.0.0.1', '-p', peer.port).expect(DONE)
        peer.finish()
        tap.equal(peer.names(), ['DSIGetStatus'])


# ------------------------------------------------------------------------------- size of one request

# what the server says: (script, arguments, chunk of Read, Write and Copy)
CHUNKS = {
    'takes a full quantum': ('', [], (MIB, MIB, MIB)),
    'odd quantum': ('quantum 1052672', [], (1052672,) * 3),
    'small quantum': ('quantum 32000', [], (32000,) * 3),
    'no quantum: 64 KiB': ('on DSIOpenSession: serve payload=', [], (65536,) * 3),
    'quantum after another option':
        ('on DSIOpenSession: serve payload=020400000080000400080000', [], (512 * KIB,) * 3),
    'Netatalk4.4.0': ('machine-type Netatalk4.4.0', [], (MIB, MIB - 20, MIB - 20)),
    'Netatalk4.5.1': ('machine-type Netatalk4.5.1', [], (MIB, MIB - 20, MIB - 20)),
    'Netatalk4.5.1, AFP 2.2': ('machine-type Netatalk4.5.1', ['-2'], (MIB, MIB - 12, MIB - 12)),
    'Netatalk4.3.2': ('machine-type Netatalk4.3.2', [], (MIB, MIB, MIB)),
    'Netatalk4.5.2': ('machine-type Netatalk4.5.2', [], (MIB, MIB, MIB)),
    'Netatalk4.6.0': ('machine-type Netatalk4.6.0', [], (MIB, MIB, MIB)),
    '-q is taken as given':
        ('machine-type Netatalk4.5.1', ['-q', '1024'], (MIB, MIB, MIB)),
}


@tap.cases(CHUNKS)
def test_chunk(script, arguments, wanted):
    for name, chunk in zip(('Read', 'Write', 'Copy'), wanted):
        with Peer(script) as peer:
            result = run_good(peer, '-f', name, '-d', 3, *arguments)
            tap.equal(result.tests()[0].quantum, chunk, f'{name}: header')
            kind = 'FPWrite*' if name == 'Write' else 'FPRead*'
            tap.equal(max(record.fields['count'] for record in peer.received(kind)), chunk, name)
            biggest = max(len(record.fields['data']) for record in peer.received('FPWrite*'))
            assert biggest <= wanted[1], f'{name}: {biggest} bytes written at once'


# ------------------------------------------------------------------------------- requests outstanding

DEPTH = 4


# test: what is kept waiting
WINDOWS = {'Read': ('FPReadExt',), 'Write': ('FPWriteExt',), 'Copy': ('FPReadExt', 'FPWriteExt')}


@tap.cases({f'{name} {option}': (name, option, kinds) for name, kinds in WINDOWS.items()
            for option in ('-r', '-R')})
def test_never_more_than_n_outstanding(name, option, kinds):
    script = '\n'.join(f'on {kind}: hold {DEPTH + 1}' for kind in kinds)
    with Peer(script) as peer:
        run_good(peer, '-f', name, '-d', '1M', '-q', 64, option, DEPTH)
        for kind in kinds:
            tap.equal(max(counts(peer, kind)), DEPTH, kind)


def test_one_outstanding_by_default():
    with Peer('on FPReadExt: hold 2\non FPWriteExt: hold 2') as peer:
        run_good(peer, '-f', 'Read,Write', '-d', '256k', '-q', 64)
        tap.equal(set(counts(peer, '*')), {0, 1})


def test_a_window_slides():
    with Peer(f'on FPReadExt: hold {DEPTH} one') as peer:
        run_good(peer, '-f', 'Read', '-d', '2M', '-q', 64, '-r', DEPTH)
        tap.equal(counts(peer, 'FPReadExt'), [1, 2, 3] + [DEPTH] * 29)


def test_a_batch_waits_for_all_its_replies():
    with Peer(f'on FPReadExt: hold {DEPTH} one') as peer:
        run_good(peer, '-f', 'Read', '-d', '768k', '-q', 64, '-R', DEPTH)
        tap.equal(counts(peer, 'FPReadExt'), [1, 2, 3, 4] * 3)


def test_a_batch_of_a_copy_is_n_reads_then_n_writes():
    with Peer(f'on FPReadExt: hold {DEPTH}') as peer:
        run_good(peer, '-f', 'Copy', '-d', '512k', '-q', 64, '-R', DEPTH)
        first_read = peer.received('FPReadExt')[0].order
        names = [record.name for record in peer.received('FP*Ext') if record.order >= first_read]
        tap.equal(names, (['FPReadExt'] * 4 + ['FPWriteExt'] * 4) * 2)


@tap.cases({option: option for option in ('-r', '-R')})
def test_fewer_chunks_than_n(option):
    with Peer('on FPReadExt: hold 1000') as peer:
        run_good(peer, '-f', 'Read', '-d', '192k', '-q', 64, option, 1000)
        tap.equal(counts(peer, 'FPReadExt'), [1, 2, 3])


# -------------------------------------------------------------------------- what a server may do

REVERSED = '\n'.join(f'on {name}: hold 8 reverse' for name in ('FPReadExt', 'FPWriteExt'))
# nothing after the last reply: unread bytes at the client's close would cost its last frame
UNASKED = '''
on FPLogout: tickle; attention 2005; serve
on FP*: tickle; attention 2005; serve; tickle; attention 3001
'''

# script: arguments
ALLOWED = {
    'replies in reverse order': (REVERSED, ['-r', 8, '-q', 64]),
    'replies in reverse order, batches': (REVERSED, ['-R', 8, '-q', 64]),
    'tickles and attentions between frames': (UNASKED, ['-r', 3, '-q', 64]),
    'replies in pieces of 1 byte': ('on *: serve pieces=1', ['-d', '24k', '-q', 4, '-r', 2]),
    'replies in pieces of 17 bytes': ('on *: serve pieces=17', ['-d', '256k', '-q', 64]),
    'replies in pieces of 1000 bytes': ('on *: serve pieces=1000', ['-r', 8, '-q', 64]),
    'the first reply late': ('on FPReadExt #1: delay 0.3; serve', ['-r', 8, '-q', 64]),
}


@tap.cases(ALLOWED)
def test_allowed(script, arguments):
    with Peer(script) as peer:
        size = [] if '-d' in arguments else ['-d', 1]
        run_good(peer, '-f', 'Read,Write,Copy,ServerCopy', '--sink', 'verify', *size, *arguments)


def faulty(fault):
    return programs.Refserver('--volume', 'bench', '--fault', f'{fault}@FPReadExt#3')


# a reply that is wrong: (fault, patterns of the message, whether the stream is lost with it)
WRONG = {
    'an ID that was not asked': ('id=77', ['(?i)id'], True),
    'the command of another request': ('command=6', ['(?i)reply', 'DSIWrite'], True),
    'the same reply twice': ('twice', ['(?i)id'], True),
    'no byte and no error': ('short=0', ['1048576', 'returned 0 and result 0'], False),
    'more bytes than asked': ('extend=1', ['1048577', '1048576'], False),
    'an early end of file': ('code=-5009', ['-5009', '2097152'], False),
}


def test_end_of_file_is_said_only_where_it_came():
    for fault, said in (('eof=1', True), ('code=-5009', True), ('short=0', False),
                        ('extend=1', False)):
        with faulty(fault) as server:
            tap.equal('EOFErr' in run(server, '-f', 'Read', '-d', 8).err, said, fault)


# what a wide write's reply may hold
LAST_WRITTEN = {'eight bytes': ('0000000000010000', True), 'four bytes': ('00010000', True),
                'four wrong ones': ('00008000', False), 'two': ('0001', False)}


@tap.cases(LAST_WRITTEN)
def test_last_written_in(payload, good):
    with Peer(f'on FPWriteExt: serve payload={payload}') as peer:
        arguments = ['-f', 'Write', '-d', '64k', '-q', 64]
        if good:
            run_good(peer, *arguments)
        else:
            run(peer, *arguments).expect_one_message(TEST_FAILED, 'last byte')


# a write that ends the connection: (which one, whether a smaller frame is advised)
DROPPED = {'the first': (1, True), 'a later one': (3, False)}


@tap.cases(DROPPED)
def test_advice_about_the_quantum_where_the_drop_is_at(which, advised):
    with Peer(f'quantum 64k\non FPWriteExt #{which}: close') as peer:
        result = run(peer, '-f', 'Write', '-d', 1).expect_one_message(
            TEST_FAILED, 'write of 65536', stays=True)
        tap.equal('quantum' in result.err, advised, 'advice')


def test_a_server_copy_that_does_not_exist_is_skipped():
    with programs.Refserver('--volume', 'bench', '--fault', 'code=-5024@FPCopyFile') as server:
        result, document = results.run(speedtest, *programs.as_guest(server), '-d', 1, '-f',
                                       'ServerCopy,Read')
        result.expect(DONE, 'ServerCopy skipped', 'CallNotSupported.*-5024')
        tap.equal([case['test'] for case in document['cases']], ['Read'])
        tap.equal((document['complete'], document['failure']), (True, None))
        tap.equal(afpclient.listing(server), {}, 'left on the volume')


@tap.cases(WRONG)
def test_wrong(fault, patterns, lost):
    with faulty(fault) as server:
        result = run(server, '-f', 'Read', '-d', 8).expect_one_message(
            TEST_FAILED, *patterns, stays=lost)
        tap.equal([test.rows for test in result.tests()], [[]], 'rows')


def test_verify_names_the_offset_of_a_wrong_byte():
    with faulty('flip=77') as server:
        run(server, '-f', 'Read', '-d', 8, '--sink', 'verify').expect_one_message(
            TEST_FAILED, str(2 * MIB + 77))
        tap.equal(afpclient.listing(server), {}, 'left on the volume')


@tap.limit(60)
def test_tickles_in_a_pause():
    with Peer() as peer:
        run_good(peer, '-d', '4k', '-n', 2, '-t', 32)
        tap.equal(len(peer.received('DSITickle')), 1)


@tap.limit(60)
def test_tickles_of_every_session_while_a_login_is_slow():
    with Peer('on FPLoginExt #3: delay 31; serve') as peer:
        run_good(peer, '-d', '4k', '--sessions', 4, '--timeout', 60)
        tap.equal(len(peer.received('DSITickle')), 3, 'two that are in, one that logs in')


tap.main()
