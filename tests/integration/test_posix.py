#!/usr/bin/python3
"""afp_speedtest -L on every file system that can be had: `test_posix.py quick|full [WORD...]`.

`quick` has the file systems that are there anyway, `full` mounts others and tries every size.
As root it runs in a mount namespace of its own, so that nothing is left mounted. Every case leaves
the directories as they were.
"""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import programs
import recompute
import results
import tap
from programs import CANNOT_RUN, DONE, INTERRUPTED, SPEEDTEST, TEST_FAILED, USAGE, wait_until

MIB = 1 << 20
FOUR = ('Read', 'Write', 'Copy', 'ServerCopy')
ALL = ('-f', ','.join(FOUR))
NOBODY = 65534
IN_NAMESPACE = 'AFPBENCH_MOUNT_NAMESPACE'

if len(sys.argv) < 2 or sys.argv[1] not in ('quick', 'full'):
    sys.exit(f'usage: {sys.argv[0]} quick|full [WORD...]')
kind = sys.argv[1]

can_mount = IN_NAMESPACE in os.environ
if not can_mount and os.geteuid() == 0 and \
        subprocess.run(['unshare', '-m', 'true'], check=False, capture_output=True).returncode == 0:
    os.environ[IN_NAMESPACE] = 'yes'
    os.execvp('unshare', ['unshare', '-m', '--propagation', 'private', sys.executable, *sys.argv])


def full(function):
    """Leaves a slow test out of the quick suite."""
    return function if kind == 'full' else None


def quick(function):
    """The same the other way round: what `full` need not run again."""
    return function if kind == 'quick' else None


# ------------------------------------------------------------------------------------- file systems

class FileSystem:
    """A directory on a file system, and what that file system is known to do."""

    def __init__(self, name, directory):
        self.name = name
        self.memory = name in ('tmpfs', 'ramfs')
        self.refuses_direct = name == 'ramfs'
        self.shares_extents = name in ('xfs', 'btrfs')
        self.first = pathlib.Path(tempfile.mkdtemp(prefix='posix-', dir=directory))
        self.second = pathlib.Path(tempfile.mkdtemp(prefix='posix-', dir=directory))

    def arguments(self):
        return ['-L', '-s', self.first]

    def run(self, *arguments, **options):
        return programs.speedtest(*self.arguments(), *arguments, **options)

    def start(self, *arguments):
        return programs.Program(SPEEDTEST, *self.arguments(), *arguments)

    def start_marked(self, *arguments):
        return programs.Marked(*self.arguments(), *arguments)

    def listing(self):
        return sorted(str(path) for root in (self.first, self.second) for path in root.rglob('*'))


NAMES = ('build', 'tmpfs', 'overlay', 'xfs', 'btrfs', 'ramfs')
EACH = NAMES[:2] if kind == 'quick' else NAMES[2:]
NEEDS = {'xfs': 'mkfs.xfs', 'btrfs': 'mkfs.btrfs'}
MAKE = {'xfs': ['mkfs.xfs', '-q', '-m', 'reflink=1'], 'btrfs': ['mkfs.btrfs', '-q']}

made = {}           # name: FileSystem, or why there is none
scratch = None


def mount(*arguments):
    subprocess.run(['mount', *map(str, arguments)], check=True, capture_output=True)


def make_mounted(name):
    """Mounts a fresh file system; a string says why that is not possible."""
    if not can_mount:
        return 'mounting needs root'
    known = pathlib.Path('/proc/filesystems').read_text(encoding='ascii').split()
    if name not in known and \
            subprocess.run(['modprobe', name], check=False, capture_output=True).returncode:
        return f'this kernel has no {name}'
    if name in NEEDS and not shutil.which(NEEDS[name]):
        return f'there is no {NEEDS[name]}'
    root = scratch / name
    root.mkdir()
    if name in MAKE:
        with (scratch / f'{name}.image').open('wb') as image:
            image.truncate(600 * MIB)
        subprocess.run([*MAKE[name], image.name], check=True, capture_output=True)
        mount('-o', 'loop', image.name, root)
    elif name == 'overlay':
        parts = {part: scratch / f'overlay-{part}' for part in ('lower', 'upper', 'work')}
        for part in parts.values():
            part.mkdir()
        mount('-t', 'overlay', 'overlay', '-o',
              ','.join(f'{part}dir={path}' for part, path in parts.items()), root)
    else:
        mount('-t', name, name, root)
    return FileSystem(name, root)


def make(name):
    if name == 'build':
        kind_name = subprocess.run(['stat', '-f', '-c', '%T', scratch], check=True,
                                   capture_output=True, text=True).stdout.strip()
        return FileSystem({'ext2/ext3': 'ext4'}.get(kind_name, kind_name), scratch)
    if name == 'tmpfs':
        shared = '/dev/shm'
        if not os.path.ismount(shared):
            return f'{shared} is no file system of its own'
        return FileSystem(name, shared)
    return make_mounted(name)


def file_system(name):
    if name not in made:
        try:
            made[name] = make(name)
        except subprocess.CalledProcessError as error:
            made[name] = f'{" ".join(error.cmd[:2])}: {error.stderr.strip()}'
    found = made[name]
    tap.require(isinstance(found, FileSystem), found)
    return found


def on_each():
    """One case for each file system; the quick suite takes what needs no mounting."""
    return {name: name for name in EACH}


def set_up():
    global scratch
    scratch = pathlib.Path(tempfile.mkdtemp(prefix='posix-', dir=programs.BIN_DIR))


def tear_down():
    for found in made.values():
        if isinstance(found, FileSystem):
            shutil.rmtree(found.first)
            shutil.rmtree(found.second)
    if can_mount:
        for name in reversed(NAMES[2:]):
            subprocess.run(['umount', scratch / name], check=False, capture_output=True)
    if scratch:
        shutil.rmtree(scratch)


def files_of_runs(directory):
    with contextlib.suppress(OSError):      # gone while we looked
        return list(directory.glob('afpbench-*/*'))
    return []


def grown(directory, size):
    """The path of a file of a run that has so many bytes; None as long as there is none."""
    for path in files_of_runs(directory):
        with contextlib.suppress(OSError):      # gone while we looked
            if path.stat().st_size >= size:
                return path
    return None


# -------------------------------------------------------------------------------- runs that go well

@contextlib.contextmanager
def nothing_left(*systems):
    before = [system.listing() for system in systems]
    yield
    for system, listing in zip(systems, before):
        tap.equal(system.listing(), listing, f'left on {system.name}')


WARM = re.compile("afp_speedtest: the file stayed in this machine's own cache: .*-D.*")
NO_DIRECT = re.compile('afp_speedtest: .* takes no O_DIRECT: buffered instead')
SKIPPED = re.compile('afp_speedtest: ServerCopy skipped: copy_file_range at offset 0: .+')


def expected_notes(system, arguments, tests, across):
    notes = []
    if across and 'ServerCopy' in tests:
        notes.append(SKIPPED)
    if '-D' in arguments and system.refuses_direct:
        notes.append(NO_DIRECT)
    # what was never written takes no memory in tmpfs; ramfs is nothing but the cache
    if 'Read' in tests and (system.name == 'ramfs' or system.memory and '-e' not in arguments):
        notes.append(WARM)
    return notes


def check_notes(result, wanted):
    lines = result.err.splitlines()
    for note in wanted:
        found = [line for line in lines if note.fullmatch(line)]
        assert len(found) == 1, f'wanted one line /{note.pattern}/ on stderr: {result}'
        lines.remove(found[0])
    tap.equal(lines, [], 'more on stderr')


def run_clean(system, *arguments, tests=FOUR, across=None, **options):
    """A run that succeeds, says what it has to and nothing more, and leaves nothing behind."""
    second = ['-S', across.first] if across else []
    with nothing_left(system, *([across] if across else [])):
        result = system.run('-f', ','.join(tests), *second, *arguments, **options).expect(DONE)
    check_notes(result, expected_notes(system, arguments, tests, across))
    return result


SIZES = (1, 4095, 4096, 4097, 4194, 1048575, 1048577)
WAYS = {
    'as it is': [],
    '-D': ['-D'],
    '--sink verify': ['--sink', 'verify'],
    '-D --sink verify -q 4': ['-D', '--sink', 'verify', '-q', 4],
    '-r 8': ['-r', 8, '-q', 4, '--sink', 'verify'],
    '-D -r 8': ['-D', '-r', 8, '-q', 4, '--sink', 'verify'],
    '-R 8': ['-R', 8, '-q', '1000b', '--sink', 'verify'],
    '-D -R 8': ['-D', '-R', 8, '-q', 4, '--sink', 'verify'],
    '-e': ['-e', '--sink', 'verify'],
    '-D -e -r 8': ['-D', '-e', '-r', 8, '-q', 4, '--sink', 'verify'],
    '-y': ['-y', '--sink', 'verify'],
    '-a': ['-a'],
}


@full
@tap.cases({f'{name}, {way}': (name, arguments) for name in NAMES
            for way, arguments in WAYS.items()})
def test_sizes(name, arguments):
    system = file_system(name)
    for size in SIZES:
        result = run_clean(system, '-d', f'{size}b', '-n', 2, *arguments)
        tap.equal(result.shape(), [(test, size, 2) for test in FOUR])
        tap.equal([test.sparse for test in result.tests()],
              ['-e' in arguments and test.name != 'Write' for test in result.tests()], 'sparse')
        quantum = {4: 4096, '1000b': 1000}[arguments[arguments.index('-q') + 1]] \
            if '-q' in arguments else MIB
        tap.equal({test.quantum for test in result.tests()}, {quantum}, 'quantum')


@quick
@tap.cases({'-D' if direct else 'buffered': direct for direct in (False, True)})
def test_four_tests_of_two_runs(direct):
    system = file_system('build')
    result = run_clean(system, '-d', 3, '-n', 2, '--sink', 'verify', *(['-D'] if direct else []))
    tap.equal(result.shape(), [(name, 3 * MIB, 2) for name in FOUR])
    tap.equal({test.quantum for test in result.tests()}, {MIB}, 'quantum')


@tap.cases(on_each())
def test_second_directory_of_the_same_file_system(name):
    system = file_system(name)
    with nothing_left(system):
        result = system.run(*ALL, '-d', '1048577b', '-n', 2, '-S', system.second).expect(DONE)
    tap.equal(result.shape(), [(test, 1048577, 2) for test in FOUR])


@tap.cases(on_each())
def test_same_directory_twice(name):
    system = file_system(name)
    with nothing_left(system):
        result = system.run(*ALL, '-d', '4097b', '-S', f'{system.first}/.').expect(DONE)
    tap.equal(result.shape(), [(test, 4097, 1) for test in FOUR])


@full
@tap.cases({f'{one} to {other}': (one, other) for one, other in
            (('build', 'tmpfs'), ('tmpfs', 'build'), ('xfs', 'btrfs'), ('build', 'overlay'))})
def test_second_directory_on_another_file_system(one, other):
    first, second = file_system(one), file_system(other)
    result = run_clean(first, '-d', '1048577b', '-n', 2, across=second)
    tap.equal(result.shape(), [(test, 1048577, 2) for test in FOUR[:3]])


@tap.cases(on_each())
def test_two_runs_at_once_never_meet(name):
    system = file_system(name)
    with nothing_left(system):
        runs = [system.start(*ALL, '-d', 4, '-n', 5, '--sink', 'verify') for _ in range(2)]
        for running in runs:
            with running:
                running.wait().expect(DONE)


# -------------------------------------------------------------------------------------- the content

def held_files(system, *arguments):
    """The files that the runs made: {name: open files}."""
    with system.start_marked(*arguments) as running:
        return running.held_files(system.first, system.second)


@tap.cases({f'{name}, {test}{", -S" if second else ""}': (name, test, second) for name in EACH
            for test in ('Copy', 'ServerCopy') for second in (False, True)})
def test_content_of_the_copy_equals_the_source(name, test, second):
    system = file_system(name)
    size = 2 * MIB + 4097
    held = held_files(system, '-f', test, '-d', f'{size}b', '-n', 2, '-W', 0,
                      *(['-S', system.second] if second else []))
    source, = (file.read() for file in held['Source'])
    tap.equal(len(source), size)
    assert len(zlib.compress(source, 1)) > 0.99 * size, 'compressible'
    assert held['Destination'], 'no copy was seen'
    for file in held['Destination']:
        assert file.read() == source, 'the copy differs'


FS_IOC_FIEMAP, FIEMAP_FLAG_SYNC, FIEMAP_EXTENT_SHARED = 0xC020660B, 1, 0x2000
FIEMAP, EXTENT, EXTENTS = '=QQLLLL', '=QQQQQLLLL', 16


def shared_bytes(file):
    """How much of a file lies in extents that another file has too."""
    space = bytearray(struct.calcsize(FIEMAP) + EXTENTS * struct.calcsize(EXTENT))
    struct.pack_into(FIEMAP, space, 0, 0, (1 << 64) - 1, FIEMAP_FLAG_SYNC, 0, EXTENTS, 0)
    fcntl.ioctl(file, FS_IOC_FIEMAP, space)
    count = struct.unpack_from(FIEMAP, space)[3]
    first, each = struct.calcsize(FIEMAP), struct.calcsize(EXTENT)
    extents = [struct.unpack_from(EXTENT, space, first + each * i) for i in range(count)]
    return sum(extent[2] for extent in extents if extent[5] & FIEMAP_EXTENT_SHARED)


@full
@tap.cases({name: name for name in ('build', 'xfs', 'btrfs')})
def test_server_copy_shares_extents_where_the_file_system_can(name):
    system = file_system(name)
    held = held_files(system, '-f', 'ServerCopy', '-d', 2, '-n', 2, '-W', 0)
    assert held['Destination'], 'no copy was seen'
    wanted = 2 * MIB if system.shares_extents else 0
    tap.equal({shared_bytes(file) for file in held['Destination']}, {wanted}, 'shared bytes')


# ----------------------------------------------------------------------------- the cache, documents

def check_document(system, document, direct):
    tap.equal(document['server'], None)
    tap.equal(document['file_system'], {'directory': str(system.first), 'second_directory': None,
                                        'type': system.name if system.name != 'ramfs' else
                                        '0x858458f6', 'direct': direct})
    for case in document['cases']:
        tap.equal(case['server_cache'], None)
        case['server_cache'] = 'warm' if case['test'] == 'Read' else None   # as recompute wants it
    recompute.check_document(document)


@tap.cases({f'{name}{", -D" if direct else ""}': (name, direct) for name in EACH
            for direct in (False, True)})
def test_document(name, direct):
    system = file_system(name)
    arguments = (*ALL, '-d', '1048577b', '-n', 3, '-r', 3, '-q', 64, *(['-D'] if direct else []))
    with nothing_left(system):
        result, document = results.run(system.run, *arguments)
    check_notes(result, expected_notes(system, arguments, FOUR, False))
    direct = direct and not system.refuses_direct
    check_document(system, document, direct)
    state = 'warm' if system.memory else 'bypassed' if direct else 'cold'
    tap.equal({case['test']: case['client_cache'] for case in document['cases']},
              {'Read': state, 'Write': None, 'Copy': None, 'ServerCopy': None})


@tap.cases(on_each())
def test_four_sessions(name):
    system = file_system(name)
    arguments = (*ALL, '-d', '100001b', '-n', 2, '--sessions', 4, '-r', 2, '-q', 16)
    with nothing_left(system):
        result, document = results.run(system.run, *arguments)
    check_notes(result, expected_notes(system, arguments, FOUR, False))
    check_document(system, document, False)
    tap.equal([(case['test'], case['sessions']) for case in document['cases']],
              [(test, 4) for test in FOUR])


@quick
def test_statistics_tell_of_the_cache():
    for name, arguments, words in (('build', [], 'cold'), ('build', ['-D'], 'bypassed'),
                                   ('tmpfs', [], 'warm')):
        result = file_system(name).run('-f', 'Read', '-d', 1, '-T', *arguments).expect(DONE)
        assert re.search(rf'Client cache: +{words}', result.out), f'not {words}: {result}'
        assert 'Server cache' not in result.out, result


@quick
def test_sweep_as_csv():
    system = file_system('build')
    with nothing_left(system):
        result = system.run(*ALL, '-z', '4k,1b,1048577b', '-c', '-n', 2, '-r', 8).expect(DONE)
    rows, _sections = results.parse_csv(result.out)
    assert rows, result


# ----------------------------------------------------------------------------------- existing files

@contextlib.contextmanager
def existing_file(system, size):
    path = system.first / 'existing'
    data = os.urandom(size)
    path.write_bytes(data)
    os.utime(path, ns=(10**18, 10**18))
    before = path.stat()
    try:
        yield path
        after = path.stat()
        tap.equal(path.read_bytes(), data)
        tap.equal((after.st_mtime_ns, after.st_ctime_ns, after.st_ino),
                  (before.st_mtime_ns, before.st_ctime_ns, before.st_ino))
    finally:
        path.unlink()


@tap.cases({f'{name}{", -D" if direct else ""}': (name, direct) for name in EACH
            for direct in (False, True)})
def test_existing_file(name, direct):
    system = file_system(name)
    direct = ['-D'] if direct else []
    with existing_file(system, 300001):
        result = run_clean(system, '-F', 'existing', '-n', 2, *direct, tests=('Read', 'Copy'))
        tap.equal(result.shape(), [('Read', 300001, 2), ('Copy', 300001, 2)])
        result = run_clean(system, '-F', 'existing', '-d', '100001b', *direct, tests=('Read',))
        tap.equal(result.shape(), [('Read', 100001, 1)])


@quick
def test_existing_file_smaller_than_asked():
    system = file_system('build')
    with existing_file(system, 1000), nothing_left(system):
        system.run('-F', 'existing', '-f', 'Read', '-d', 1).expect_one_message(
            TEST_FAILED, '1000', '1048576')


@quick
@tap.cases({'missing': (None, 'No such file'), 'fifo': (os.mkfifo, 'not a regular file'),
            'directory': (os.mkdir, 'not a regular file')})
def test_existing_file_that_is_none(make_it, message):
    system = file_system('build')
    path = system.first / 'none'
    if make_it:
        make_it(path)
    try:
        with nothing_left(system):
            system.run('-F', 'none', '-f', 'Read', limit_s=20).expect_one_message(
                TEST_FAILED, "'none'", message)
    finally:
        if make_it:
            (path.rmdir if path.is_dir() else path.unlink)()


# ---------------------------------------------------------------------------------- what is refused

def free_bytes(system):
    status = os.statvfs(system.first)
    return status.f_bavail * status.f_frsize


@tap.cases({name: name for name in EACH if name != 'ramfs'})
def test_too_little_free_space(name):
    system = file_system(name)
    with nothing_left(system):
        result = system.run('-d', f'{free_bytes(system) * 2}b').expect_one_message(
            TEST_FAILED, 'too little free space')
        tap.equal(result.out, '')
        # two directories of one file system have its space together
        system.run('-f', 'Copy', '-d', f'{free_bytes(system) * 6 // 10}b', '-S', system.second) \
            .expect_one_message(TEST_FAILED, 'too little free space')


@contextlib.contextmanager
def tmpfs(name, options):
    """One that is there within the block."""
    tap.require(can_mount, 'mounting needs root')
    root = scratch / name
    root.mkdir()
    mount('-t', 'tmpfs', '-o', options, 'small', root)
    try:
        yield root
    finally:
        subprocess.run(['umount', root], check=True)
        root.rmdir()


@quick
def test_no_space_left_while_it_runs():
    with tmpfs('small', 'size=24m') as root:
        system = FileSystem('tmpfs', root)
        with system.start_marked('-f', 'Write', '-d', 16, '-n', 2, '-W', 0, '-y') as running:
            running.stop_at('end Write')
            with grown(system.first, 16 * MIB).open('rb'):      # deleted, it still takes its space
                running.answer()
                running.stop_at('begin Write')
                running.answer()
                result = running.wait()
        result.expect_one_message(TEST_FAILED, 'No space left', r'write of \d+ bytes at offset \d+')
        tap.equal(result.shape(), [('Write', 16 * MIB, 1)])
        tap.equal(system.listing(), [])


# title: directories -s and -S from those of the build's file system, what the message names
UNUSABLE = {
    'no such directory': (lambda first: [first / 'nowhere'], 'nowhere.*No such file'),
    'empty name': (lambda first: [''], 'No such file'),
    'a file': (lambda first: ['/etc/passwd'], '/etc/passwd.*Not a directory'),
    '/proc': (lambda first: ['/proc'], '/proc'),
    'second missing': (lambda first: [first, '-S', first / 'nowhere'], 'nowhere.*No such file'),
    'second a file': (lambda first: [first, '-S', '/etc/passwd'], '/etc/passwd.*Not a directory'),
    'second cannot be written': (lambda first: [first, '-S', '/proc'], '/proc'),
}


@quick
@tap.cases(UNUSABLE)
def test_directory_that_cannot_be_used(arguments, message):
    system = file_system('build')
    with nothing_left(system):
        result = programs.speedtest('-L', *ALL, '-s', *arguments(system.first)).expect_one_message(
            CANNOT_RUN, message)
    tap.equal(result.out, '')


@quick
def test_read_only_mount():
    with tmpfs('read-only', 'ro') as root:
        programs.speedtest('-L', '-s', root).expect_one_message(CANNOT_RUN, 'Read-only file system')
        with nothing_left(file_system('build')):
            file_system('build').run(*ALL, '-S', root).expect_one_message(
                CANNOT_RUN, 'Read-only file system')


@quick
@tap.cases({'first': False, 'second': True})
def test_permission_denied(second):
    tap.require(os.geteuid() == 0, 'becoming another user needs root')
    with tempfile.TemporaryDirectory(prefix='posix-') as name:
        root = pathlib.Path(name)
        program = shutil.copy(SPEEDTEST, root)      # where nobody can run it
        for path in (root / 'closed', root / 'open'):
            path.mkdir()
        root.chmod(0o755)
        (root / 'open').chmod(0o777)
        directories = [root / 'open', '-S', root / 'closed'] if second else [root / 'closed']
        command = ['--reuid', NOBODY, '--regid', NOBODY, '--clear-groups', program, '-L', '-d', 1]
        result = programs.run('setpriv', *command, *ALL, '-s', *directories)
        result.expect(CANNOT_RUN, 'Permission denied')
        tap.equal(len(result.err.splitlines()), 1, 'lines')
        programs.run('setpriv', *command, '-s', root / 'open').expect(DONE)
        tap.equal(sorted(path.name for path in root.rglob('*')),
                  ['afp_speedtest', 'closed', 'open'])


# title: arguments, exit code, what the message names; DIR is a directory that can be used
REFUSED = {
    'no directory': (['-L'], USAGE, '-s or -P'),
    '-h': (['-L', '-s', 'DIR', '-h', 'localhost'], USAGE, '-h'),
    '-p': (['-L', '-s', 'DIR', '-p', 548], USAGE, '-p'),
    '-u': (['-L', '-s', 'DIR', '-u', 'me'], USAGE, '-u'),
    '-w': (['-L', '-s', 'DIR', '-w', 'secret'], USAGE, '-w'),
    '-A': (['-L', '-s', 'DIR', '-A', 'guest'], USAGE, '-A'),
    '-A auto': (['-L', '-s', 'DIR', '-A', 'auto'], USAGE, '-A'),
    '-1': (['-L', '-s', 'DIR', '-1'], USAGE, '-1 to -7'),
    '-7, the default': (['-L', '-s', 'DIR', '-7'], USAGE, '-1 to -7'),
    '--timeout': (['-L', '-s', 'DIR', '--timeout', 30], USAGE, '--timeout'),
    '--refserver': (['-L', '-s', 'DIR', '--refserver'], USAGE, '--refserver'),
    '--info': (['-L', '-s', 'DIR', '--info'], USAGE, '--info'),
    '--sink discard': (['-L', '-s', 'DIR', '-f', 'Read', '--sink', 'discard'], USAGE, 'discard'),
    '-D without -L': (['-D', '--refserver'], USAGE, '-D'),
    '-P without -L': (['-P', 'DIR', '--refserver'], USAGE, '-P'),
    '-r and -R': (['-L', '-s', 'DIR', '-r', 2, '-R', 2], USAGE, '-R'),
    '-q 3 -D': (['-L', '-s', 'DIR', '-q', 3, '-D'], CANNOT_RUN, '4096.*3072'),
    '-q 4097b -D': (['-L', '-s', 'DIR', '-q', '4097b', '-D'], CANNOT_RUN, '4096.*4097'),
}


@quick
@tap.cases(REFUSED)
def test_refused(arguments, code, message):
    system = file_system('build')
    arguments = [system.first if word == 'DIR' else word for word in arguments]
    with nothing_left(system):
        result = programs.speedtest(*arguments).expect_one_message(code, message)
    tap.equal(result.out, '')


@quick
def test_path_is_the_directory():
    system = file_system('build')
    with nothing_left(system):
        for option in ('-P', '--path', '--volume'):
            programs.speedtest('--posix', option, system.first, '-d', '4k').expect(DONE)


# ------------------------------------------------------------------------------- ended from outside

# when Ctrl-C comes: arguments, bytes that a file has by then
INTERRUPTED_IN = {
    'the fill': (['-f', 'Read', '-d', '3G', '-q', 64, '-n', 100000], 8 * MIB),
    'the fill, -r 8': (['-f', 'Copy', '-d', '3G', '-q', 64, '-n', 100000, '-r', 8], 8 * MIB),
    'a write, -r 8': (['-f', 'Write', '-d', 8, '-q', 4, '-n', 100000, '-r', 8, '-a'], 8 * MIB),
    'a write, -D -R 8': (['-f', 'Write', '-d', 8, '-q', 4, '-n', 100000, '-R', 8, '-D'], 8 * MIB),
    'a read, -r 8': (['-f', 'Read', '-d', 8, '-q', 4, '-n', 100000, '-r', 8], 8 * MIB),
    'a copy by the file system': (['-f', 'ServerCopy', '-d', 8, '-n', 100000], 8 * MIB),
    'a pause': (['-f', 'Write', '-d', 8, '-n', 2, '-t', 60, '-W', 0], 8 * MIB),
    'four sessions': (['-f', 'Copy', '-d', 8, '-n', 100000, '--sessions', 4], 8 * MIB),
}


@quick
@tap.cases(INTERRUPTED_IN)
def test_interrupted_in(arguments, size):
    system = file_system('build')
    with nothing_left(system), system.start(*arguments) as running:
        wait_until(lambda: grown(system.first, size), 'data')
        running.interrupt(signal.SIGINT)
        running.wait(limit_s=30).expect(INTERRUPTED, 'interrupted')


@quick
def test_clean_removes_what_a_killed_run_left():
    system = file_system('build')
    foreign = (system.first / 'keep', system.first / 'afpbench-00000001-000002-000003')
    for path in foreign:
        path.mkdir()
    try:
        before = system.listing()
        with system.start('-d', 8, '-n', 100000, '-f', 'Copy', '-S', system.second) as killed:
            wait_until(lambda: grown(system.second, 8 * MIB), 'both directories of the run')
            killed.interrupt(signal.SIGKILL)
            killed.process.wait()
        left = system.listing()
        tap.equal(len(left), len(before) + 4, 'two directories with a file each')
        with system.start('-d', 8, '-n', 100000) as running:
            # its directory alone may still be the one that it tries its rights with
            wait_until(lambda: len(system.listing()) > len(left) + 1, 'another run and its file')
            result = system.run('--clean', '-S', system.second).expect(TEST_FAILED)
            assert 'is still there' in result.err and 'another machine' in result.err, result
            tap.equal(len([line for line in result.err.splitlines()
                           if line.startswith('removed')]), 2, 'removed')
            running.interrupt()
            running.wait().expect(INTERRUPTED)
        tap.equal(system.listing(), before)
    finally:
        for path in foreign:
            path.rmdir()


tap.main(set_up, tear_down, sys.argv[2:])
