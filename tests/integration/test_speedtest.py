#!/usr/bin/python3
"""afp_speedtest against a server that works: `test_speedtest.py refserver|directory|netatalk [WORD...]`.

Every case leaves the volumes as they were.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import programs
import tap
import targets
from programs import DONE, TEST_FAILED, USAGE, wait_until
from targets import PASSWORD, USER, VOLUMES, only

MIB = 1 << 20
FOUR = ('Read', 'Write', 'Copy', 'ServerCopy')
ALL = ('-f', ','.join(FOUR))

target = None       # the running server


@contextlib.contextmanager
def nothing_left():
    """At the end of the block the volumes hold what they held at its beginning."""
    before = target.listing()
    yield
    tap.equal(target.listing(), before, 'on the volumes')


def run_clean(*arguments, **options):
    """A run that must succeed, say nothing on stderr and leave nothing behind."""
    with nothing_left():
        result = target.run(*arguments, **options).expect(DONE)
    tap.equal(result.err, '', 'stderr')
    return result


# --------------------------------------------------------------------------- what the options do

def test_four_tests_of_five_runs():
    result = run_clean(*ALL, '-n', 5)
    tap.equal(result.shape(), [(name, 64 * MIB, 5) for name in FOUR])
    quanta = {test.name: test.quantum for test in result.tests()}
    tap.equal(quanta['Read'], MIB)
    tap.equal((quanta['Write'], quanta['Copy']), (target.write_chunk(),) * 2)


# title: (arguments, size, runs); all four tests, 1 MiB unless the arguments say something else
OPTIONS = {
    '-a': (['-a'], MIB, 1),
    '-e': (['-e'], MIB, 1),
    '-y': (['-y', '-n', 3], MIB, 3),
    '-n 3': (['-n', 3], MIB, 3),
    '-W 0': (['-W', 0], MIB, 1),
    '-W 3': (['-W', 3, '-n', 2], MIB, 2),
    '-t 1': (['-t', 1, '-n', 2, '-W', 0], MIB, 2),
    '-q 64': (['-q', 64], MIB, 1),
    '-q 100000b': (['-q', '100000b'], MIB, 1),
    '-r 8': (['-r', 8, '-q', 64], MIB, 1),
    '-R 8': (['-R', 8, '-q', 64], MIB, 1),
    '-S': (['-S', VOLUMES[1]], MIB, 1),
    '-S, -r 8': (['-S', VOLUMES[1], '-r', 8, '-q', 64], MIB, 1),
    '-d 4k': (['-d', '4k'], 4096, 1),
    '-d 1.5M': (['-d', '1.5M'], 3 * MIB // 2, 1),
    '-d 0.004': (['-d', '0.004'], 4194, 1),
    '--sink discard': (['--sink', 'discard'], MIB, 1),
    '--sink verify': (['--sink', 'verify'], MIB, 1),
    '--sink verify, -y -e': (['--sink', 'verify', '-y', '-e', '-n', 2], MIB, 2),
    '-A cleartxt': (['-A', 'cleartxt'], MIB, 1),
    '-A guest': (['-A', 'guest'], MIB, 1),
    "-u ''": (['-u', ''], MIB, 1),
}


@tap.cases(OPTIONS)
def test_option(arguments, size, runs):
    size_arguments = () if '-d' in arguments else ('-d', 1)
    result = run_clean(*ALL, *size_arguments, *arguments)
    tap.equal(result.shape(), [(name, size, runs) for name in FOUR])
    tap.equal([test.sparse for test in result.tests()],
              ['-e' in arguments and test.name != 'Write' for test in result.tests()], 'sparse')
    if '-q' in arguments:
        quantum = {64: 65536, '100000b': 100000}[arguments[arguments.index('-q') + 1]]
        tap.equal([test.quantum for test in result.tests()][:3], [quantum] * 3, 'quantum')


@tap.cases({f'-{version}': version for version in range(1, 8)})
def test_version(version):
    result = run_clean(f'-{version}', *ALL, '-d', '1100k', '-n', 2, '-S', VOLUMES[1])
    tap.equal(result.shape(), [(name, 1100 * 1024, 2) for name in FOUR])
    tap.equal(result.tests()[1].quantum, target.write_chunk(version))


# -f: the names asked for, the tests that run
SELECTIONS = {
    'default': ([], ['Write']),
    'any case': (['-f', 'read,SERVERCOPY'], ['Read', 'ServerCopy']),
    'order given': (['-f', 'ServerCopy,Read,Write'], ['ServerCopy', 'Read', 'Write']),
    'one': (['-f', 'Copy'], ['Copy']),
}


@tap.cases(SELECTIONS)
def test_selection(arguments, names):
    tap.equal([test.name for test in run_clean('-d', 1, *arguments).tests()], names)


# --------------------------------------------------------------------------------------- odd sizes

CHUNK = 65536
SIZES = {
    '1 byte': '1b',
    'a byte less than a chunk': f'{CHUNK - 1}b',
    'a chunk': f'{CHUNK}b',
    'a byte more than a chunk': f'{CHUNK + 1}b',
    'three chunks': f'{3 * CHUNK}b',
}
DEPTHS = {'-r 1': ('-r', 1), '-r 2': ('-r', 2), '-r 1000': ('-r', 1000), '-R 1000': ('-R', 1000)}


@tap.cases({f'{size}, {depth}': (text, words) for size, text in SIZES.items()
            for depth, words in DEPTHS.items()})
def test_size(text, depth):
    result = run_clean(*ALL, '-q', 64, '-d', text, '--sink', 'verify', '-n', 2, *depth)
    tap.equal(result.shape(), [(name, int(text[:-1]), 2) for name in FOUR])


@tap.limit(400)
def test_3000_MiB():
    # sparse sources: three times 3 GiB less to write
    result = run_clean(*ALL, '-d', 3000, '-W', 0, '-r', 4, '-e', limit_s=390)
    tap.equal(result.shape(), [(name, 3000 * MIB, 1) for name in FOUR])


def test_3000_MiB_is_refused_in_AFP_2_2():
    with nothing_left():
        result = target.run('-2', '-d', 3000).expect_one_message(USAGE, '2147483647')
    tap.equal(result.out, '')


# ----------------------------------------------------------------------------------- existing file

@contextlib.contextmanager
def existing_file(size):
    """A file on the first volume, which must be unchanged at the end."""
    data = os.urandom(size)
    with target.session() as session:
        session.put(session.open_volume(VOLUMES[0]), 'existing', data)
    try:
        yield
    finally:
        with target.session() as session:
            volume = session.open_volume(VOLUMES[0])
            found = session.get(volume, 'existing')
            session.delete(volume, 'existing')
    assert found == data, 'the file given with -F has changed'


# arguments beside -F: name and size of each test
FROM_FILE = {
    'whole': (['-f', 'Read,Copy'], [('Read', 300000), ('Copy', 300000)]),
    'part': (['-f', 'Read', '-d', '100000b'], [('Read', 100000)]),
}


@tap.cases(FROM_FILE)
def test_existing_file(arguments, wanted):
    with existing_file(300000), nothing_left():
        result = target.run('-F', 'existing', '-n', 2, *arguments).expect(DONE)
    tap.equal(result.shape(), [(name, size, 2) for name, size in wanted])


def test_existing_file_is_ignored_by_Write_and_that_is_said():
    with existing_file(300000):
        target.run('-F', 'existing', '-f', 'Write', '-d', 1).expect(DONE, 'Write.*-F|-F.*Write')


def test_existing_file_is_smaller_than_asked():
    with existing_file(1000):
        target.run('-F', 'existing', '-f', 'Read', '-d', 1).expect_one_message(
            TEST_FAILED, '1000', '1048576')


def test_existing_file_is_missing():
    with nothing_left():
        target.run('-F', 'nowhere', '-f', 'Read').expect_one_message(
            TEST_FAILED, 'nowhere', '-5018')


# ----------------------------------------------------------------------- content on the server's disk

def files_of_a_run(size, *arguments):
    """Contents of the source and the destination that a run made on the server's disk."""
    with target.start_marked(*arguments, '-d', f'{size}b', '-W', 0) as running:
        held = running.held_files(*map(target.directory, VOLUMES))
    contents = []
    for file in held['Source'] + held['Destination']:
        with file:
            contents.append(file.read())
    tap.equal({len(data) for data in contents}, {size}, 'sizes')
    return contents


@only('directory', 'netatalk')
@tap.cases({f'{name}{" to another volume" if volume else ""}': (name, volume)
            for name in ('Copy', 'ServerCopy') for volume in (None, VOLUMES[1])})
def test_content_of_the_copy_equals_the_source(name, volume):
    second = ['-S', volume] if volume else []
    source, copy = files_of_a_run(64 * MIB + 12345, '-f', name, *second)
    assert source == copy, 'the copy differs'
    assert any(source[-1000:]), 'zeros'


@only('directory', 'netatalk')
def test_content_written_is_incompressible_and_no_two_chunks_are_equal():
    size = 16 * MIB
    data, = files_of_a_run(size, '-q', 64)
    assert len(zlib.compress(data, 1)) > 0.99 * size, 'compressible'
    chunks = [data[at:at + CHUNK] for at in range(0, size, CHUNK)]
    assert all(one != other for one, other in zip(chunks, chunks[1:])), 'equal neighbours'


# ----------------------------------------------------------------------- whom, where and with what

def direct(*arguments, **options):
    """afp_speedtest with none of the target's arguments."""
    return programs.speedtest('-d', '64k', *arguments, **options)


def test_url():
    url = f'afp://{USER}@127.0.0.1:{target.port}/{VOLUMES[0]}'
    result = direct('-h', url, env={'AFP_PASSWORD': PASSWORD}).expect(DONE)
    tap.equal(result.shape(), [('Write', 65536, 1)])


def test_url_without_user():
    direct('-h', f'afp://127.0.0.1:{target.port}/{VOLUMES[0]}', '-A', 'guest').expect(DONE)


@only('refserver')
@tap.cases({'bare': '::1', 'bracketed': '[::1]'})
def test_IPv6(host):
    tap.require(os.path.exists('/proc/net/if_inet6'), 'this machine has no IPv6')
    with programs.Refserver('--listen', '::1') as server:
        direct('-h', host, '-p', server.port, '-s', 'bench', '-u', '').expect(DONE)
        if host != '::1':
            direct('-h', f'afp://{host}:{server.port}/bench', '-u', '').expect(DONE)


@only('refserver')
def test_embedded_refserver():
    for store in ('', '=memory', '=null'):
        result = direct(f'--refserver{store}', *ALL, '-n', 2).expect(DONE)
        tap.equal(result.shape(), [(name, 65536, 2) for name in FOUR])


@only('refserver')
def test_embedded_refserver_with_a_directory():
    with tempfile.TemporaryDirectory(prefix='afpbench-') as directory:
        pathlib.Path(directory, 'existing').write_bytes(bytes(65536))
        result = direct(f'--refserver={directory}', *ALL, '-n', 2).expect(DONE)
        tap.equal(result.shape(), [(name, 65536, 2) for name in FOUR])
        direct(f'--refserver={directory}', '-f', 'Read', '-F', 'existing').expect(DONE)
        tap.equal(os.listdir(directory), ['existing'])
    direct(f'--refserver={directory}').expect_one_message(programs.CANNOT_RUN, directory)


def test_info_without_login():
    result = direct('--info', '-h', '127.0.0.1', '-p', target.port).expect(DONE)
    for word in ('AFP3.4', 'AFP2.2', 'No User Authent'):
        assert word in result.out, f'no {word}: {result}'


# source of the password: arguments, environment; FILE stands for a file that holds it
PASSWORD_SOURCES = {
    '-w': (['-w', PASSWORD], {}),
    '--password-file': (['--password-file', 'FILE'], {}),
    'AFP_PASSWORD': ([], {'AFP_PASSWORD': PASSWORD}),
}


@tap.cases(PASSWORD_SOURCES)
def test_password_from(arguments, env):
    with tempfile.NamedTemporaryFile('w') as file:
        file.write(f'{PASSWORD}\n')
        file.flush()
        arguments = [file.name if word == 'FILE' else word for word in arguments]
        direct(*target.arguments(), *arguments, env=env).expect(DONE)


def test_password_from_nowhere():
    result = direct(*target.arguments()).expect_one_message(
        USAGE, '-w', '--password-file', 'AFP_PASSWORD')
    tap.equal(result.out, '')


def test_password_is_wiped_from_the_argument_list():
    with programs.Program(programs.SPEEDTEST, *target.arguments(), '-w', PASSWORD + 'x9', '-i',
                          stdin=subprocess.PIPE) as running:
        wait_until(lambda: b'x9' not in pathlib.Path(f'/proc/{running.pid}/cmdline').read_bytes(),
                   'password wiped', 5)


# -------------------------------------------------------------------------------------- interactive

def test_interactive_waits_for_enter():
    result = target.run('-i', '-d', '64k', '-f', 'Read,Write', text='\n\n').expect(DONE)
    tap.equal(result.shape(), [('Read', 65536, 1), ('Write', 65536, 1)])


def test_interactive_stops_at_the_end_of_input():
    with nothing_left():
        result = target.run('-i', '-d', '64k', '-f', 'Read,Write', text='\n').expect(TEST_FAILED)
    tap.equal(result.shape(), [('Read', 65536, 1)])


# -------------------------------------------------------------------------------- killed runs, clean

# when a run is killed: its arguments
KILLED = {
    'in a pause': ['-d', '64k', '-W', 0, '-n', 2, '-t', 30],
    'while it writes': ['-d', 16, '-q', 64, '-n', 100000],
}


@tap.cases({name: (arguments,) for name, arguments in KILLED.items()})
def test_clean_removes_what_a_run_left_that_was_killed(arguments):
    with target.session() as session:
        volume = session.open_volume(VOLUMES[0])
        session.call('FPCreateDir', volume=volume, dir=2, path=session.path('keep'))
    try:
        before = target.listing()
        with target.start(*arguments) as running:
            running.first_row()
            running.interrupt(signal.SIGKILL)
            running.process.wait()
        left = target.listing()
        tap.equal(len(left), len(before) + 1, 'the killed run left its directory')
        target.run('-d', '64k').expect(DONE)
        tap.equal(target.listing(), left, 'another run does not touch it')
        target.run('--clean').expect(DONE)
        tap.equal(target.listing(), before)
    finally:
        with target.session() as session:
            session.delete(session.open_volume(VOLUMES[0]), 'keep')


@only('refserver')
@tap.cases({'no age': ('--clean', 2), 'old ones too': ('--clean=2d', 1),
            'all older than a minute': ('--clean=1m', 0)})
def test_clean_by_age(option, kept):
    """Of a run elsewhere nobody knows whether it has ended; the user may say how long one lasts."""
    for server in ('--refserver=', '-Ls'):
        with tempfile.TemporaryDirectory() as place:
            for number, hours in enumerate((30, 72)):
                path = pathlib.Path(place, f'afpbench-00000001-00000{number}-000003')
                path.mkdir()
                then = time.time() - hours * 3600
                os.utime(path, (then, then))
            result = programs.speedtest(server + place, option)
            result.expect(DONE if kept == 0 else TEST_FAILED)
            tap.equal(len(os.listdir(place)), kept)
            tap.equal(result.err.count('another machine'), kept)


def test_two_runs_at_once():
    with nothing_left():
        runs = [target.start(*ALL, '-d', 4, '-n', 3) for _ in range(2)]
        for running in runs:
            with running:
                running.wait().expect(DONE)


targets.run_suite()
