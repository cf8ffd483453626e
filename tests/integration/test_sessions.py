#!/usr/bin/python3
"""Several sessions at once (--sessions), against afp_refserver."""

import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import afpclient
import expected
import figures
import programs
import recompute
import results
import tap
from peer import Peer
from programs import CANNOT_RUN, TEST_FAILED, INTERRUPTED, as_guest, speedtest

FOUR = ('-f', 'Read,Write,Copy,ServerCopy')


@contextlib.contextmanager
def server(*options):
    """A refserver whose volume must be empty, and whose sessions must be closed, at the end."""
    with programs.Refserver('--volume', 'bench', *options) as running:
        yield running
        programs.wait_until(lambda: listing(running) is not None, 'a free session')
        tap.equal(listing(running), {}, 'left on the volume')


def listing(server):
    try:
        return afpclient.listing(server)
    except (afpclient.AfpError, ConnectionError):
        return None


@tap.cases({str(sessions): sessions for sessions in (1, 2, 16, 200)})
def test_sessions(sessions):
    with server() as running:
        result, document = results.run(speedtest, *as_guest(running), '-c', '-d', '64k', *FOUR,
                                       '-n', 2, '--sessions', sessions)
    tap.equal(result.err, '', 'stderr')
    recompute.check_document(document)
    figures.compare_text(result.out, expected.csv_lines(document, False))
    for case in document['cases']:
        tap.equal((case['sessions'], case['size_bytes']), (sessions, 65536))
        for sample in case['samples']:
            tap.equal(sample['bytes'], sessions * 65536, 'aggregate size')
            tap.equal(len(sample['session_duration_ns']), sessions)
            assert all(sample['session_duration_ns']), 'a session took no time'


def test_all_sessions_are_released_together():
    """One after the other they would last, together, as long as the run."""
    with server() as running:
        _result, document = results.run(speedtest, *as_guest(running), '-d', 32, '-f', 'Read',
                                        '-n', 3, '--sessions', 4)
    for sample in document['cases'][0]['samples']:
        sessions = sample['session_duration_ns']
        assert sum(sessions) > 1.5 * sample['duration_ns'], \
            f'one after the other: {sessions} in {sample["duration_ns"]}'


def test_each_session_is_told_in_the_statistics():
    with server() as running:
        result, document = results.run(speedtest, *as_guest(running), '-T', '-d', '64k',
                                       '--sessions', 3, '-n', 2)
    figures.compare_text(result.out, expected.text_lines(document, True))
    tap.equal(result.out.count('\nSession '), 3)


def test_whose_size_a_header_shows():
    """The header's layout is fixed: that its size is one file's, -T and -v say."""
    with server() as running:
        result = speedtest(*as_guest(running), '-v', '-T', '-d', '64k', '--sessions', 3)
        one = speedtest(*as_guest(running), '-v', '-T', '-d', '64k')
    assert result.out.startswith('Write quantum 1048576, size 65536\n'), result
    assert '\nSessions:       3, each with a file of that size\n' in result.out, result
    result.expect(programs.DONE, 'that of one session.s file; times and rates are those of all 3 '
                                 'sessions together')
    assert 'Sessions:' not in one.out and 'sessions together' not in one.err, one


def test_more_than_the_server_allows():
    with server('--sessions', 3) as running:
        result = speedtest(*as_guest(running, '--sessions', 4, '-d', '64k')).expect_one_message(
            CANNOT_RUN, 'session 4 of 4', 'no more sessions')
        tap.equal(result.out, '')


def test_as_many_as_the_server_allows():
    with server('--sessions', 3) as running:
        speedtest(*as_guest(running, '--sessions', 3, '-d', '64k')).expect(0)


def test_the_place_of_a_killed_client_is_free_again():
    with programs.Refserver('--sessions', 1) as running:
        with programs.Program(programs.SPEEDTEST, *as_guest(running, '-d', '4k', '-n', 2,
                                                             '-t', 60)) as program:
            # a look at the server would take its only place
            tap.equal(program.process.stdout.readline(), 'Write quantum 1048576, size 4096\n')
            speedtest(*as_guest(running, '-d', '64k')).expect_one_message(
                CANNOT_RUN, 'no more sessions', '-1068')
            program.process.kill()
        programs.wait_until(lambda: listing(running) is not None, 'a free place')
        speedtest(*as_guest(running, '-d', '64k')).expect(0)


@tap.cases({'0': '0', '257': '257', 'rubbish': 'two'})
def test_usage(value):
    speedtest('-h', '127.0.0.1', '-s', 'bench', '-u', '', '--sessions', value).expect_one_message(
        programs.USAGE)


def test_too_little_free_space_for_all():
    with server('--volume', 'small,limit=3M') as running:
        result = speedtest('-h', '127.0.0.1', '-p', running.port, '-s', 'small', '-u', '', '-d', 1,
                           '--sessions', 4).expect(TEST_FAILED)
        assert 'the server claims 3 MiB of free space' in result.err, result
        assert 'the test needs 4 MiB' in result.err, result


def test_disk_full_in_one_of_them():
    with programs.Refserver('--volume', 'bench,limit=6M,free=1G') as running:
        speedtest(*as_guest(running, '-d', 2, '--sessions', 4)).expect_one_message(
            TEST_FAILED, '-5008')
        tap.equal(listing(running), {}, 'left on the volume')


def test_interrupt():
    with server() as running:
        with programs.Program(programs.SPEEDTEST, *as_guest(
                running, '-d', 8, '-q', 16, '-n', 100000, '--sessions', 8)) as program:
            programs.wait_until(lambda: len(listing(running) or ()) == 8, '8 directories')
            program.interrupt()
            program.wait(20).expect(INTERRUPTED)


def test_interrupt_waits_once_for_a_server_that_is_mute_to_all():
    with Peer('on FPFlushFork: mute') as peer:
        with programs.Program(programs.SPEEDTEST, *as_guest(peer, '-d', '64k', '-W', 0,
                                                             '--sessions', 12)) as program:
            peer.wait_for('FPFlushFork', 12)
            program.interrupt()
            # 5 s for each of them would be a minute
            program.wait(25).expect(INTERRUPTED)


def test_a_lost_session_ends_all():
    with programs.Refserver('--volume', 'bench') as running:
        with programs.Program(programs.SPEEDTEST, *as_guest(
                running, '-d', 8, '-q', 16, '-n', 100000, '--sessions', 8)) as program:
            programs.wait_until(lambda: len(listing(running) or ()) == 8, '8 directories')
            running.stop()
            program.wait(20).expect(TEST_FAILED)


tap.main()
