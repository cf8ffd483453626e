#!/usr/bin/python3
"""What a day of small operations asks of a server: `test_operations.py SERVER [WORD...]`.

SERVER is refserver, directory or netatalk: the reference server answers as a real one does.
"""

import contextlib
import itertools
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import afpclient
import afpwire
import tap
import targets
from afpwire import (BITMAP_ERROR, CALL_NOT_SUPPORTED, CANT_MOVE, DIRECTORY_NOT_FOUND, LOCK_ERROR,
                     OBJECT_EXISTS, OBJECT_LOCKED, OBJECT_NOT_FOUND, OBJECT_TYPE_ERROR, OK,
                     PARAM_ERROR, RANGE_NOT_LOCKED, RANGE_OVERLAP)

target = None               # the running server, which targets.run_suite() starts
numbers = itertools.count(1)

ROOT = 2
MANY = 2000
READ, WRITE = 1, 2
UNLOCK, FROM_END = 0x01, 0x80
FINDER_INFO = b'TEXTttxt' + bytes(range(24))


# ------------------------------------------------------------------------------------ a test's place

class Place:
    """A directory as one session sees it."""

    def __init__(self, session, directory):
        self.session = session
        self.volume = session.open_volume(targets.VOLUMES[0])
        self.directory = directory

    def try_call(self, name, path='', directory=None, **fields):
        return self.session.try_call(name, volume=self.volume, dir=directory or self.directory,
                                     path=self.session.path(path), **fields)

    def call(self, name, path='', directory=None, **fields):
        code, payload = self.try_call(name, path, directory, **fields)
        tap.equal(code, OK, f'{name} of {path!r}')
        return payload

    def make_directory(self, name, directory=None):
        return struct.unpack('>I', self.call('FPCreateDir', name, directory))[0]

    def make_file(self, name, directory=None):
        self.call('FPCreateFile', name, directory, flag=0)

    def open_fork(self, name, mode=READ | WRITE, resource=False):
        payload = self.call('FPOpenFork', name, flag=0x80 if resource else 0, bitmap=0, mode=mode)
        return struct.unpack('>HH', payload)[1]

    def stat(self, name, bitmap, directory=None):
        """The parameters of a file or a directory."""
        payload = self.call('FPGetFileDirParms', name, directory, file_bitmap=bitmap,
                            dir_bitmap=bitmap)
        kind = afpwire.DIR_PARAMETERS if payload[4] else afpwire.FILE_PARAMETERS
        return afpwire.decode_parameters(kind, bitmap, payload[6:])

    def move(self, source, name, into, path='', new_name=''):
        session = self.session
        return session.try_call('FPMoveAndRename', volume=self.volume, src_dir=source,
                                dst_dir=into, path=session.path(name),
                                dst_path=session.path(path), new_name=session.path(new_name))[0]

    def list(self, form, start, count=40, limit=None, bitmaps=(0x142, 0x142), path=''):
        """Code, and {name: (is directory, parameters)}, of one page."""
        code, payload = self.try_call(
            form, path, file_bitmap=bitmaps[0], dir_bitmap=bitmaps[1], count=count, start=start,
            max_reply=limit or (65536 if form == 'FPEnumerateExt2' else 32767))
        return code, dict(_entries(payload, form != 'FPEnumerate')) if code == OK else {}

    def remove(self):
        """The directory and what is in it."""
        while True:
            code, page = self.list('FPEnumerateExt2', 1, 500)
            if code == OBJECT_NOT_FOUND:
                break
            tap.equal(code, OK, 'FPEnumerateExt2')
            for name, (is_directory, values) in page.items():
                if is_directory:
                    Place(self.session, values['id']).remove()
                else:
                    self.call('FPDelete', name)
        self.call('FPDelete')


def _entries(payload, wide):
    bitmaps = dict(zip((False, True), struct.unpack('>HH', payload[:4])))
    reader = afpwire.Reader(payload)
    reader.take(4)
    for _ in range(reader.number('H')):
        head = 4 if wide else 2
        length = reader.number('H' if wide else 'B')
        is_directory = bool(reader.number('B') & 0x80)
        if wide:
            reader.take(1)
        table = afpwire.DIR_PARAMETERS if is_directory else afpwire.FILE_PARAMETERS
        values = afpwire.decode_parameters(table, bitmaps[is_directory], reader.take(length - head))
        yield values['name'] if 'name' in values else values['long_name'], (is_directory, values)


@contextlib.contextmanager
def place(version=7):
    """An empty directory, which is gone in the end."""
    with target.session() as session:
        directory = Place(session, ROOT).make_directory(f'operations {next(numbers)}')
    try:
        with afpclient.Session(target.port, targets.USER, targets.PASSWORD, version) as session:
            yield Place(session, directory)
    finally:
        with target.session() as session:
            Place(session, directory).remove()


@contextlib.contextmanager
def other_session(here):
    """A second session that looks at the same directory."""
    with target.session() as session:
        yield Place(session, here.directory)


# -------------------------------------------------------------------------------------------- locks

def lock(where, fork, offset, length, flag=0, wide=False):
    """The result: a code, or where the range starts."""
    code, payload = where.session.try_call('FPByteRangeLockExt' if wide else 'FPByteRangeLock',
                                           flag=flag, fork=fork, offset=offset, length=length)
    return code if code else struct.unpack('>Q' if wide else '>I', payload)[0]


@tap.cases({'32 bits': (False, 0), '64 bits': (True, 1 << 40)})
def test_locks(wide, base):
    with place() as here, other_session(here) as there:
        here.make_file('f')
        first, second, theirs = (where.open_fork('f') for where in (here, here, there))
        reader = here.open_fork('f', READ)
        for where, fork, offset, length, flag, wanted in (
                (here, first, 0, 10, 0, 0),
                (here, first, 0, 10, 0, RANGE_OVERLAP),
                (here, first, 5, 10, 0, RANGE_OVERLAP),
                (here, second, 5, 10, 0, LOCK_ERROR),
                (here, second, 0, 10, UNLOCK, RANGE_NOT_LOCKED),
                (there, theirs, 5, 10, 0, LOCK_ERROR),
                (there, theirs, 0, 10, UNLOCK, RANGE_NOT_LOCKED),
                (here, first, 10, 10, 0, 10),
                (here, first, 0, 20, UNLOCK, RANGE_NOT_LOCKED),     # two that touch stay two
                (here, first, 0, 5, UNLOCK, RANGE_NOT_LOCKED),
                (here, first, 0, 10, UNLOCK, 0),
                (here, first, 0, 10, UNLOCK, RANGE_NOT_LOCKED),
                (there, theirs, 0, 10, 0, 0),
                (here, reader, 100, 1, 0, 100),
                (there, theirs, 100, 1, 0, LOCK_ERROR),
                (here, first, 50, 0, 0, PARAM_ERROR),
                (here, first, 50, -2, 0, PARAM_ERROR),
                (here, first, 1000, -1, 0, 1000),
                (there, theirs, 5000, 1, 0, LOCK_ERROR),
                (here, first, 1000, -1, UNLOCK, 1000),
                (here, 0x7777, 0, 1, 0, PARAM_ERROR)):
            tap.equal(lock(where, fork, base + offset, length, flag, wide),
                      wanted if wanted < 0 else base + wanted, (fork, offset, length, flag))
        tap.equal(lock(here, first, -1, 5, 0, wide), PARAM_ERROR)


def test_locks_from_the_end():
    with place() as here:
        here.make_file('f')
        fork = here.open_fork('f')
        here.session.call('FPSetForkParms', fork=fork, bitmap=0x200, length=struct.pack('>I', 1000))
        tap.equal(lock(here, fork, -10, 5, FROM_END), 990)
        tap.equal(lock(here, fork, 990, 5), RANGE_OVERLAP)
        tap.equal(lock(here, fork, 990, 5, UNLOCK), 990)
        tap.equal(lock(here, fork, 990, 5), 990)
        tap.equal(lock(here, fork, -10, 5, FROM_END | UNLOCK), 990)
        tap.equal(lock(here, fork, (1 << 63) - 1, 5, wide=True), PARAM_ERROR)
        tap.equal(lock(here, fork, 5000, 1), 5000)      # behind the end


def test_locks_of_the_two_forks():
    with place() as here, other_session(here) as there:
        here.make_file('f')
        tap.equal(lock(here, here.open_fork('f'), 0, 10), 0)
        tap.equal(lock(here, here.open_fork('f', resource=True), 0, 10), 0)
        tap.equal(lock(there, there.open_fork('f'), 0, 10), LOCK_ERROR)
        tap.equal(lock(there, there.open_fork('f', resource=True), 0, 10), LOCK_ERROR)


@tap.cases({
    'FPCloseFork': lambda there, fork: there.session.call('FPCloseFork', fork=fork),
    'FPCloseVol': lambda there, fork: there.session.call('FPCloseVol', volume=there.volume),
    'the end of the session': None,
})
def test_locks_end_with(ending):
    with place() as here:
        here.make_file('f')
        fork = here.open_fork('f')
        with other_session(here) as there:
            theirs = there.open_fork('f')
            tap.equal(lock(there, theirs, 0, 1), 0)
            tap.equal(lock(here, fork, 0, 1), LOCK_ERROR)
            if ending:
                ending(there, theirs)
                tap.equal(lock(here, fork, 0, 1), 0)
                tap.equal(lock(here, fork, 0, 1, UNLOCK), 0)
        tap.equal(lock(here, fork, 0, 1), 0)


def test_locks_are_advisory():
    with place() as here, other_session(here) as there:
        here.make_file('f')
        fork, theirs = here.open_fork('f'), there.open_fork('f')
        tap.equal(lock(there, theirs, 0, 10), 0)
        here.session.call('FPWriteExt', flag=0, fork=fork, offset=0, count=4, data=b'data')
        tap.equal(here.session.call('FPReadExt', fork=fork, offset=0, count=4), b'data')


def test_two_thousand_ranges():
    with place() as here, other_session(here) as there:
        here.make_file('f')
        fork, theirs = here.open_fork('f'), there.open_fork('f')
        for i in range(MANY):
            tap.equal(lock(here, fork, 10 * i, 10), 10 * i)
        for i in range(0, MANY, 7):
            tap.equal(lock(here, fork, 10 * i + 9, 1), RANGE_OVERLAP)
            tap.equal(lock(there, theirs, 10 * i + 9, 1), LOCK_ERROR)
        for i in range(MANY):
            tap.equal(lock(here, fork, 10 * i, 10, UNLOCK), 10 * i)
        tap.equal(lock(there, theirs, 0, -1), 0)


@tap.limit(300)
def test_two_thousand_forks():
    with place() as here, other_session(here) as there:
        for i in range(MANY):
            here.make_file(f'f{i}')
        forks = [here.open_fork(f'f{i}') for i in range(MANY)]
        tap.equal(len(set(forks)), MANY)
        for fork in forks:
            tap.equal(lock(here, fork, 0, 1), 0)
        theirs = {i: there.open_fork(f'f{i}') for i in range(0, MANY, 20)}
        for fork in theirs.values():
            tap.equal(lock(there, fork, 0, 1), LOCK_ERROR)
        for fork in forks:
            tap.equal(lock(here, fork, 0, 1, UNLOCK), 0)
        for fork in theirs.values():
            tap.equal(lock(there, fork, 0, 1), 0)
        for fork in forks:
            here.session.call('FPCloseFork', fork=fork)


# ------------------------------------------------------------------------------------------ listings

FORMS = ('FPEnumerate', 'FPEnumerateExt', 'FPEnumerateExt2')


@tap.limit(300)
def test_listings_are_whole():
    with place() as here:
        wanted = set()
        for i in range(MANY):
            name = f'entry {i}'
            if i % 10:
                here.make_file(name)
            else:
                here.make_directory(name)
            wanted.add(name)
        for form in FORMS:
            for count in (40, 1500):
                found = {}
                while True:
                    code, page = here.list(form, len(found) + 1, count)
                    if code == OBJECT_NOT_FOUND:
                        break
                    tap.equal(code, OK, form)
                    assert page and not set(page) & set(found), f'{form}: {len(page)} entries'
                    found.update(page)
                tap.equal(set(found), wanted, form)
        for name, (is_directory, values) in found.items():
            tap.equal(is_directory, not int(name.split()[1]) % 10, name)
            tap.equal(values['parent'], here.directory, name)


@tap.cases({form: form for form in FORMS})
def test_listing(form):
    with place() as here:
        tap.equal(here.list(form, 1)[0], OBJECT_NOT_FOUND)
        here.make_file('f')
        here.make_directory('d')
        code, page = here.list(form, 1)
        tap.equal((code, sorted(page)), (OK, ['d', 'f']))
        tap.equal(here.list(form, 1, bitmaps=(0x142, 0))[1].keys(), {'f'})
        tap.equal(here.list(form, 1, bitmaps=(0, 0x142))[1].keys(), {'d'})
        for wanted, arguments in (
                (OBJECT_NOT_FOUND, {'start': 3}),
                (PARAM_ERROR, {'start': 0}),
                (OBJECT_NOT_FOUND, {'start': 1, 'count': 0}),
                (PARAM_ERROR, {'start': 1, 'limit': 10}),
                (BITMAP_ERROR, {'start': 1, 'bitmaps': (0, 0)}),
                (OBJECT_TYPE_ERROR, {'start': 1, 'path': 'f'}),
                (DIRECTORY_NOT_FOUND, {'start': 1, 'path': 'x'})):
            tap.equal(here.list(form, **arguments)[0], wanted, arguments)


# What lantest asks of entries: doc/protocol.md 9.
@tap.cases({
    'before 3.1': ('FPEnumerate', 0x77F, 0x117F),
    'from 3.1 on': ('FPEnumerateExt2', 0xE93F, 0xB33F),
})
def test_listing_for_the_finder(form, file_bitmap, directory_bitmap):
    with place() as here:
        here.make_file('f')
        here.make_directory('d')
        here.make_file('e', here.stat('d', 0x100)['id'])
        here.call('FPSetFileParms', 'f', bitmap=0x20, parameters=FINDER_INFO)
        fork = here.open_fork('f')
        here.session.call('FPWriteExt', flag=0, fork=fork, offset=0, count=5, data=b'hello')
        here.session.call('FPCloseFork', fork=fork)
        code, page = here.list(form, 1, bitmaps=(file_bitmap, directory_bitmap))
        tap.equal(code, OK)
        is_directory, values = page['f']
        tap.equal((is_directory, values['parent'], values['finder'], values['id']),
                  (False, here.directory, FINDER_INFO, here.stat('f', 0x100)['id']))
        tap.equal(values.get('length', values.get('length32')), 5)
        tap.equal(values.get('resource', values.get('resource32')), 0)
        is_directory, values = page['d']
        tap.equal((is_directory, values['id'], values.get('offspring', 1)),
                  (True, here.stat('d', 0x100)['id'], 1))


def test_listings_by_version():
    with place(version=2) as here:
        tap.equal(here.list('FPEnumerate', 1)[0], OBJECT_NOT_FOUND)
        tap.equal(here.list('FPEnumerateExt', 1)[0], CALL_NOT_SUPPORTED)
    with place(version=3) as here:
        tap.equal(here.list('FPEnumerateExt', 1)[0], OBJECT_NOT_FOUND)
        tap.equal(here.list('FPEnumerateExt2', 1)[0], CALL_NOT_SUPPORTED)


# ------------------------------------------------------------------------------ moves, Finder info

def test_moves():
    with place() as here:
        source, into = here.make_directory('from'), here.make_directory('to')
        here.make_file('f', source)
        here.make_file('g', into)
        here.call('FPSetFileParms', 'f', source, bitmap=0x20, parameters=FINDER_INFO)
        node = here.stat('f', 0x100, source)['id']
        for wanted, arguments in (
                (OBJECT_EXISTS, ('f', into, '', 'g')),
                (OBJECT_NOT_FOUND, ('x', into)),
                (OBJECT_NOT_FOUND, ('f', 0x7FFFFFF)),
                (OBJECT_TYPE_ERROR, ('f', into, 'g')),
                (OK, ('f', source)),                            # where it is already
                (OK, ('f', here.directory, 'to', 'new'))):
            tap.equal(here.move(source, *arguments), wanted, arguments)
        tap.equal(here.try_call('FPGetFileDirParms', 'f', source, file_bitmap=0, dir_bitmap=0)[0],
                  OBJECT_NOT_FOUND)
        wanted = {'parent': into, 'finder': FINDER_INFO, 'id': node}
        tap.equal(here.stat('new', 0x122, into), wanted)
        # a directory takes along what is in it, but does not go into itself
        tap.equal(here.move(here.directory, 'to', into), CANT_MOVE)
        tap.equal(here.move(here.directory, 'to', source), OK)
        tap.equal(here.stat('from\0to\0new', 0x122), wanted)
        tap.equal(here.stat('from\0to', 0x302), {'parent': source, 'id': into, 'offspring': 2})
        tap.equal(here.move(here.directory, 'from', into), CANT_MOVE)
        here.call('FPSetFileParms', 'new', into, bitmap=1, parameters=b'\x80\x80')
        tap.equal(here.move(into, 'new', source), OBJECT_LOCKED)
        here.call('FPSetFileParms', 'new', into, bitmap=1, parameters=b'\0\x80')


def test_an_open_fork_stays_with_its_file():
    with place() as here:
        into = here.make_directory('to')
        here.make_file('f')
        fork = here.open_fork('f')
        here.session.call('FPWriteExt', flag=0, fork=fork, offset=0, count=5, data=b'hello')
        tap.equal(here.move(here.directory, 'f', into), OK)
        tap.equal(here.session.call('FPReadExt', fork=fork, offset=0, count=5), b'hello')
        tap.equal(here.try_call('FPDelete', 'f', into)[0], afpwire.FILE_BUSY)


def test_finder_info_stays():
    with place() as here:
        here.make_file('f')
        here.make_directory('d')
        tap.equal(here.stat('f', 0x20)['finder'], bytes(32))
        here.call('FPSetFileParms', 'f', bitmap=0x20, parameters=FINDER_INFO)
        here.call('FPSetDirParms', 'd', bitmap=0x20, parameters=FINDER_INFO)
        for name in ('f', 'd'):
            here.call('FPRename', name, new_name=here.session.path(f'new {name}'))
            with other_session(here) as there:
                tap.equal(there.stat(f'new {name}', 0x20)['finder'], FINDER_INFO)


# What lantest asks of a file and of a directory: doc/protocol.md 9.
@tap.cases({hex(bitmap): bitmap for bitmap in
            (0x42, 0x102, 0x204, 0x28, 0x401, 0x10C, 0x302, 0x726, 0x72D, 0x73F)})
def test_parameters(bitmap):
    with place() as here:
        here.make_file('f')
        fork = here.open_fork('f')
        here.session.call('FPWriteExt', flag=0, fork=fork, offset=0, count=1024, data=bytes(1024))
        here.session.call('FPCloseFork', fork=fork)
        here.call('FPSetFileParms', 'f', bitmap=0x3C, parameters=struct.pack('>iii', 5, 6, 7) +
                  FINDER_INFO)
        everything = {'attributes': 0, 'parent': here.directory, 'created': 5, 'modified': 6,
                      'backed_up': 7, 'finder': FINDER_INFO, 'long_name': 'f',
                      'id': here.stat('f', 0x2100)['id'], 'length32': 1024, 'resource32': 0}
        found = here.stat('f', bitmap)
        tap.equal(found, {name: everything[name] for name in found})


# --------------------------------------------------------------------------------- somebody else's

@targets.only('netatalk')
@tap.cases({f'AFP {version / 10}': version - 27 for version in (30, 34)})
def test_their_lantest_against_the_reference_server(version):
    reference = targets.Reference()
    try:
        printed = target.server.their_lantest(reference.port, f'-{version}', '-n', 1)
        tests = [line for line in printed.splitlines() if 'AFP ops]' in line and 'Run ' not in line]
        assert len(tests) >= 12, printed
        tap.equal(reference.listing(), [])
    finally:
        reference.stop()


if __name__ == '__main__':
    targets.run_suite()
