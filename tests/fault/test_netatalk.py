#!/usr/bin/python3
"""Faults of a disk under a real Netatalk: read-only, no rights, full, gone."""

import contextlib
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import programs
import tap
from netatalk import PASSWORD, USER, Netatalk
from programs import CANNOT_RUN, TEST_FAILED, speedtest

TESTS = ('Read', 'Write', 'Copy', 'ServerCopy')
SMALL_MIB = 3       # of the disk under vol1

server = None


def setup():
    global server
    server = Netatalk(settings={'vol2': {'read only': 'yes'}})
    server.run_inside('mount', '-t', 'tmpfs', '-o', f'size={SMALL_MIB}m,mode=1777', 'tmpfs',
                      f'{server.root}/srv/vol1')


def teardown():
    if server:
        server.stop()


def arguments(volume, *more):
    return ['-h', '127.0.0.1', '-p', server.port, '-s', volume, '-u', USER, '-w', PASSWORD, '-W', 0,
            '--timeout', 10, *more]


def ours(volume):
    """Directories of runs on the server's disk."""
    return sorted(path.name for path in server.volume(volume).glob('afpbench-*'))


@tap.cases({name: name for name in TESTS})
def test_read_only_volume(name):
    result = speedtest(*arguments('vol2', '-f', name, '-d', 1)).expect_one_message(
        TEST_FAILED, "volume 'vol2'", 'FPCreateDir', 'VolLocked.*-5031')
    assert not [row for test in result.tests() for row in test.rows], f'a rate: {result}'
    tap.equal(ours('vol2'), [])


def test_no_right_to_write():
    path = server.volume('vol1')
    path.chmod(0o555)
    try:
        speedtest(*arguments('vol1', '-d', 1)).expect_one_message(
            TEST_FAILED, "volume 'vol1'", 'FPCreateDir', 'AccessDenied.*-5000')
        tap.equal(ours('vol1'), [])
    finally:
        path.chmod(0o1777)


@tap.cases({name: name for name in TESTS})
def test_too_little_space_is_told_before(name):
    result = speedtest(*arguments('vol1', '-f', name, '-d', 8)).expect(TEST_FAILED)
    assert 'goes on although the server claims' in result.err, result
    tap.equal(ours('vol1'), [])


def test_disk_that_fills_up_meanwhile():
    """Enough when the run begins; somebody else takes it before the second run's new file."""
    filler = server.volume('vol1') / 'filler'
    with programs.Marked(*arguments('vol1', '-d', 1, '-n', 2, '-y')) as running:
        running.stop_at('begin Write 1048576 2 ')
        with contextlib.suppress(OSError), open(filler, 'wb', buffering=0) as full:
            while full.write(bytes(4096)):
                pass
        running.answer()
        result = running.wait(30)
    filler.unlink()
    result.expect_one_message(TEST_FAILED, 'FP[A-Z]', 'DiskFull.*-5008|-5047')
    tap.equal([len(test.rows) for test in result.tests()], [1], 'rows')
    tap.equal(ours('vol1'), [])


def test_files_that_go_meanwhile():
    with programs.Program(programs.SPEEDTEST, *arguments('vol1', '-f', 'Read', '-d', 1, '-n', 2,
                                                         '-t', 3, '-y')) as running:
        running.first_row()
        with running.stopped():
            for made in ours('vol1'):
                shutil.rmtree(server.volume('vol1') / made)
        result = running.wait(30)
    result.expect_one_message(TEST_FAILED, 'FP[A-Z]', '-50[0-9][0-9]')
    tap.equal([len(test.rows) for test in result.tests()], [1], 'rows')
    tap.equal(ours('vol1'), [])


def test_a_volume_that_is_not_there():
    shutil.rmtree(server.volume('vol2'))
    result = speedtest(*arguments('vol2', '-d', 1))
    assert result.code in (CANNOT_RUN, TEST_FAILED), f'{result}'
    result.expect_one_message(result.code, 'vol2', '-50[0-9][0-9]')


tap.main(setup, teardown)
