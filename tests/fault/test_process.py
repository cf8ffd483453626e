#!/usr/bin/python3
"""What happens to the program itself: signals, being stopped, a wall clock that jumps, standard
streams that are not there; and a volume that changes under it."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import phases
import programs
import tap
from peer import Peer
from phases import PHASES
from programs import CANNOT_RUN, DONE, INTERRUPTED, TEST_FAILED, speedtest, wait_until

AT_ONCE = 8


def at_moment(phase, act):
    """A run that waits for the answer to the phase's request while `act` happens to it."""
    request, _hash, number = phase.request.partition('#')
    with Peer(f'on {request} #{number or 1}: wait; serve') as peer:
        with programs.Program(programs.SPEEDTEST,
                              *phases.arguments(peer, phase.test)) as running:
            peer.wait_for(request, int(number or 1))
            running.asleep()
            act(running, peer)
            result = running.wait(15)
        peer.finish()
        return result, peer.server.in_root('bench')


# ------------------------------------------------------------------------------------------ signals

SIGNALS = {number.name: number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}


def end_by(number):
    def act(running, peer):
        running.interrupt(number)
        peer.go_on()
    return act


def stop_for_a_while(running, peer):
    """For longer than the timeout; the answer comes meanwhile."""
    with running.stopped():
        peer.go_on()
        time.sleep(phases.TIMEOUT_S + 0.5)


ACTS = {**{name: end_by(number) for name, number in SIGNALS.items()},
        'stopped and continued': stop_for_a_while}
ROWS = {f'{act} at {name}': (act, name) for act in ACTS for name in PHASES}
running_rows = {}


def start():
    pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)
    for title, (act, name) in ROWS.items():
        if not sys.argv[1:] or any(word in title for word in sys.argv[1:]):
            running_rows[act, name] = pool.submit(at_moment, PHASES[name], ACTS[act])


@tap.cases(ROWS)
def test_row(act, name):
    result, left = running_rows[act, name].result(100)
    tap.equal(left, [], f'left on the volume: {result}')
    rows = sum(len(test.rows) for test in result.tests())
    if act in SIGNALS:
        result.expect(INTERRUPTED)
        assert result.err.count('\n') == 1, f'wanted one line: {result}'
        tap.equal(rows, PHASES[name].rows, 'rows')
    else:
        result.expect(DONE)
        tap.equal((result.err, rows), ('', 3), 'stderr, rows')


def test_the_record_of_an_interrupted_run_has_its_reason():
    """Not what the console says of the clean-up."""
    with tempfile.TemporaryDirectory() as place, Peer('on FPWriteExt #3: wait; serve') as peer:
        path = os.path.join(place, 'result.json')
        with programs.Program(programs.SPEEDTEST, *phases.arguments(peer, 'Write'), '-j',
                              path) as running:
            peer.wait_for('FPWriteExt', 3)
            running.asleep()
            running.interrupt()
            said = running.process.stderr.readline()
            peer.go_on()
            running.wait()
        assert 'waiting a few seconds' in said, said
        document = json.loads(pathlib.Path(path).read_text())
        tap.equal((document['complete'], document['failure']), (False, 'interrupted'))


def test_a_document_belongs_to_one_run():
    """The second run that wants it is refused and changes nothing; a killed one blocks nobody."""
    with tempfile.TemporaryDirectory() as place, programs.Refserver() as server:
        path = os.path.join(place, 'result.json')
        arguments = [*phases.arguments(server, 'Write'), '-j', path]
        with programs.Marked(*arguments) as running:
            running.stop_at('begin')
            left = sorted(os.listdir(place))
            speedtest(*arguments).expect_one_message(
                programs.USAGE, f"'{path}' belongs to another run", f'process {running.pid}')
            tap.equal(sorted(os.listdir(place)), left)
            running.interrupt(signal.SIGKILL)
            running.wait()
        speedtest(*arguments).expect(DONE)
        tap.equal(os.listdir(place), ['result.json'])


def test_ignored_signals_stay_ignored():
    """`nohup`, and a shell's jobs in the background: what was ignored is not for us."""
    trap = ['-c', "trap '' INT HUP; exec \"$@\"", 'sh']
    with programs.Refserver() as server:
        arguments = [programs.SPEEDTEST, *phases.arguments(server, 'Write'), '-n', 1000000]
        with programs.Program('/bin/sh', *trap, *arguments) as running:
            running.first_row()
            for number in (signal.SIGINT, signal.SIGHUP):
                running.interrupt(number)
            for _ in range(3):      # it goes on
                running.process.stdout.readline()
            tap.equal(running.process.poll(), None)
            running.interrupt(signal.SIGTERM)
            running.wait().expect(INTERRUPTED)
    with programs.Program('/bin/sh', *trap, programs.REFSERVER, '-p', 0) as running:
        running.process.stdout.readline()
        running.interrupt(signal.SIGINT)
        running.interrupt(signal.SIGHUP)
        running.interrupt(signal.SIGTERM)
        running.wait().expect(DONE)


# ------------------------------------------------------------------------------------ limits

def limited(kilobytes):
    return ['prlimit', f'--fsize={kilobytes << 10}']


def test_a_limit_of_file_size_is_an_error_of_the_test():
    with tempfile.TemporaryDirectory() as place:
        result = programs.run(*limited(1000), programs.SPEEDTEST, '-Ls', place, '-d', 2,
                              '-f', 'Write')
        tap.equal(result.err, 'afp_speedtest: write of 1048576 bytes at offset 0: File too large\n')
        result.expect(TEST_FAILED)
        tap.equal(os.listdir(place), [])


def test_a_limit_of_file_size_ends_no_server():
    with tempfile.TemporaryDirectory() as place:
        with programs.Refserver('--volume', f'bench,path={place}',
                                through=limited(1000)) as server:
            def write(size):
                return speedtest('-h', '127.0.0.1', '-p', server.port, '-s', 'bench', '-u', '', '-d',
                                 size, '-f', 'Write')
            write(2).expect_one_message(TEST_FAILED, r'DiskFull \(-5008\)')
            write('256k').expect(DONE)      # it still serves
        tap.equal(os.listdir(place), [])


def test_a_limit_of_file_size_on_results():
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, 'result.json')
        result = programs.run(*limited(16), programs.SPEEDTEST, '-Ls', place, '-d', '4k', '-n', 99,
                              '-j', path)
        result.expect(TEST_FAILED, 'result.json.*File too large')
        assert not os.path.exists(path), 'half a document under its final name'


@contextlib.contextmanager
def memory_group(limit_bytes):
    """A control group of either version with this limit; skips where none can be made."""
    version1 = pathlib.Path('/sys/fs/cgroup/memory')
    parent, name = (version1, 'memory.limit_in_bytes') if version1.is_dir() else \
        (pathlib.Path('/sys/fs/cgroup'), 'memory.max')
    group = parent / f'afpbench-{os.getpid()}'
    try:
        group.mkdir()
    except OSError as error:
        tap.skip(f'no control group can be made: {error}')
    try:
        try:
            (group / name).write_text(str(limit_bytes))
        except OSError as error:
            tap.skip(f'no limit of memory can be set: {error}')
        yield ['sh', '-c', f'echo $$ >{group}/cgroup.procs && exec "$@"', 'sh']
    finally:
        wait_until(lambda: not (group / 'cgroup.procs').read_text(), 'the end of its processes')
        group.rmdir()


def test_a_limit_of_memory_is_an_error_not_a_death():
    """What a container gives is asked for: a volume in memory is full, buffers are refused."""
    with memory_group(100 << 20) as group, tempfile.TemporaryDirectory() as place:
        full = programs.run(*group, programs.SPEEDTEST, '--refserver', '-d', 256, '-f', 'Write')
        full.expect(TEST_FAILED, r'DiskFull \(-5008\)')
        wide = programs.run(*group, programs.SPEEDTEST, '-Ls', place, '-d', 256, '-r', 128, '-f',
                            'Read')
        wide.expect(TEST_FAILED, 'memory limit of this process')
        tap.equal(os.listdir(place), [])
        programs.run(*group, programs.SPEEDTEST, '--refserver', '-d', 4).expect(DONE)


# ----------------------------------------------------------------------------------- the wall clock

def test_only_the_monotonic_clock_measures():
    library = os.environ.get('AFPBENCH_CLOCK_STEPS') or programs.BIN_DIR.parents[1] / (
        'tests/libclock_steps.so')
    tap.require(os.path.exists(library), 'no tests/libclock_steps.so')
    env = {'LD_PRELOAD': str(library), 'ASAN_OPTIONS': 'verify_asan_link_order=0'}
    with programs.Refserver('--fault', 'delay=0.05@FPReadExt') as server:
        started = time.monotonic()
        result = speedtest(*phases.arguments(server, 'Read'), env=env).expect(DONE)
        took_us = (time.monotonic() - started) * 1e6
        rows = result.tests()[0].rows
        tap.equal(len(rows), 3)
        # three answers, one after the other
        assert all(150e3 <= micros < took_us for _run, micros, _rate in rows), f'{result}'


# ---------------------------------------------------------------------------------- standard streams

# what is closed: (arguments, exit code)
CLOSED = {'<&-': ([], DONE), '2>&-': ([], DONE), '>&-': ([], TEST_FAILED),
          '<&- >&- 2>&-': ([], TEST_FAILED), '<&- with -i': (['-i'], TEST_FAILED),
          '>&- with -c': (['-c'], TEST_FAILED), '>&- with -j -': (['-j', '-'], TEST_FAILED)}


@tap.cases({name: (name, *row) for name, row in CLOSED.items()})
def test_closed(name, more, code):
    with Peer() as peer:
        command = [programs.SPEEDTEST, *phases.arguments(peer, 'Write'), *more]
        result = programs.run('/bin/sh', '-c', f'"$@" {name.partition(" with")[0]}', 'sh', *command)
        assert result.code == code, f'wanted {code}: {result}'
        peer.finish()
        tap.equal(peer.server.in_root('bench'), [])
        assert '2>' in name or code == DONE or result.err.count('\n') >= 1, f'silent: {result}'


@tap.cases({name: name for name in ('afp_speedtest', 'afp_refserver', 'afp_report')})
def test_help_without_stdout(name):
    for where in ('>&-', '>/dev/full'):
        result = programs.run('/bin/sh', '-c', f'"$0" --help {where}', programs.BIN_DIR / name)
        assert (result.code, result.err.count('\n')) == (TEST_FAILED, 1), f'{where}: {result}'


# -------------------------------------------------------------------------------- what OpenSession says

# payload of the reply: (chunk that is used, or None where that is refused; pattern)
OFFERS = {
    'nothing': ('', 65536),
    'another option first': ('020400000080000400008000', 32768),
    'an option that nobody knows': ('ff0155000400008000', 32768),
    'only an option that nobody knows': ('ff0155', 65536),
    'an odd quantum': ('00040000fff1', 65521),
    'a quantum of 4097': ('000400001001', 4097),
    'a tiny quantum': ('000400000007', 7),
    'the hugest quantum': ('0004ffffffff', 0xFFFFFFFF),
    'a quantum of 0': ('000400000000', None),
    'a quantum of two bytes': ('00020001', None),
    'an option that is cut': ('0004', None),
}


@tap.cases(OFFERS)
def test_offer(payload, chunk):
    with programs.Refserver('--fault', f'payload={payload}@DSIOpenSession') as running:
        result = speedtest(*programs.as_guest(running, '-W', 0, '-d', '10007b', '-f',
                                              'Read,Write,Copy,ServerCopy', '--sink', 'verify'))
        if chunk is None:
            result.expect_one_message(CANNOT_RUN, '127.0.0.1', 'quantum of 0|malformed OpenSession')
            return
        result.expect(DONE)
        tap.equal({test.quantum for test in result.tests()}, {chunk})


# ------------------------------------------------------------------- a volume that goes under the program

def between_runs(act):
    """A run on a directory that a server serves; `act` is done to it after the first row."""
    with tempfile.TemporaryDirectory() as directory:
        volume = pathlib.Path(directory) / 'volume'
        volume.mkdir()
        with programs.Refserver('--volume', f'bench,path={volume}') as server:
            with programs.Program(programs.SPEEDTEST, *programs.as_guest(
                    server, '-W', 0, '-n', 2, '-t', 3, '-y', '-d', '4k')) as program:
                program.first_row()
                with program.stopped():
                    act(volume)
                result = program.wait(15)
        return result, sorted(path.name for path in volume.iterdir()) if volume.exists() else []


def remove_files(volume):
    for made in volume.iterdir():
        shutil.rmtree(made)


GONE = {'the directory': remove_files, 'the volume': shutil.rmtree}


@tap.cases(GONE)
def test_gone(act):
    result, left = between_runs(act)
    result.expect_one_message(TEST_FAILED, "'Destination'", 'ObjectNotFound', '-5018')
    tap.equal([len(test.rows) for test in result.tests()], [1], 'rows')
    tap.equal(left, [])


tap.main(start)
