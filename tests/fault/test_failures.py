#!/usr/bin/python3
"""Each failure of a connection, a server or a command line, with its exit code and its one line on stderr."""

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import afpclient
import programs
import tap
from netatalk import free_port
from peer import Peer
from programs import CANNOT_RUN, DONE, INTERRUPTED, TEST_FAILED, USAGE, speedtest

MIB = 1 << 20
SECRET = 'sEkr3tpw'
USER = ('-u', 'bench')


def arguments(port, *more):
    return ['-h', '127.0.0.1', '-p', port, '-s', 'bench', *(() if '-u' in more else ('-u', '')),
            *(() if '-W' in more else ('-W', 0)), *more]


def run(port, *more, **options):
    return speedtest(*arguments(port, *more), **options)


@contextlib.contextmanager
def unanswered_port():
    """A port where a connection attempt hangs: a listener whose queue is full."""
    with socket.socket() as listener, contextlib.ExitStack() as fillers:
        listener.bind(('127.0.0.1', 0))
        listener.listen(0)
        for _ in range(4):
            filler = fillers.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


# ----------------------------------------------------------------------------------- cannot even start

def test_unknown_host():
    speedtest('-h', 'no-such-host.invalid', '-s', 'bench', '-u', '').expect_one_message(
        CANNOT_RUN, 'no-such-host.invalid')


def test_refused():
    port = free_port()
    run(port).expect_one_message(CANNOT_RUN, '(?i)refused', str(port))


def test_mute_while_connecting():
    with unanswered_port() as port:
        run(port, '--timeout', 1).expect_one_message(CANNOT_RUN, '(?i)connect')


# what the server does: (script, arguments, patterns)
CANNOT_START = {
    'no such user': ('', ['-u', 'nobody'], ['-5023']),
    'wrong password': ('users bench:other', USER, ['-5023']),
    'no such volume': ('', ['-s', 'nosuch'], ['nosuch', '-5018']),
    'no such second volume': ('', ['-S', 'nosuch', '-f', 'Copy'], ['nosuch', '-5018']),
    'version not offered': ('versions AFP2.2 AFPX03', ['-7'], ['AFP ?3.4', 'AFP2.2', 'AFPX03']),
    'login method not offered': ('uams "No User Authent"', [*USER, '-A', 'cleartxt'],
                                 ['Cleartxt Passwrd', '-5002']),
    'no login method in common': ('uams Kerberos', USER, ['Kerberos']),
    'guests not allowed': ('uams "Cleartxt Passwrd"', [], ['guest', '-5002']),
    '-q above the quantum': ('quantum 64k', ['-q', 65], ['66560', '65536']),
    'not an AFP server': ('on DSIGetStatus: send ' + b'HTTP/1.1 400 Bad Request\r\n'.hex() + '; close', [],
                          ['DSI|AFP']),
    'session refused': ('on DSIOpenSession: serve code=-1071', [], ['-1071']),
    'session refused, Netatalk': ('on DSIOpenSession: send 010400010000fbd1 0000000000000000; '
                                  'close', [], ['(?i)session|busy|1071|clos']),
}


@tap.cases(CANNOT_START)
def test_cannot_run(script, more, patterns):
    with Peer(script) as peer:
        result = run(peer.port, *more, env={'AFP_PASSWORD': SECRET}).expect_one_message(
            CANNOT_RUN, *patterns)
        tap.equal(result.out, '')
        tap.equal(peer.names('FPCreate*'), [])


def test_too_big_for_AFP_2_2_is_refused_before_anything_is_written():
    with Peer() as peer:
        run(peer.port, '-2', '-d', 3000).expect_one_message(USAGE, '2147483647')
        tap.equal(peer.names('FPCreate*'), [])


def faulty(fault):
    return programs.Refserver('--volume', 'bench', '--fault', fault)


def test_mute_as_a_file_is_closed():
    with faulty('mute@FPCloseFork') as server:
        run(server.port, '--timeout', 1, '-f', 'Read', '-d', 4).expect_one_message(
            TEST_FAILED, 'stays on volume.*FPCloseFork', r'\b1 ?s')


@tap.cases({'server copy': 'FPCopyFile', 'flush': 'FPFlushFork'})
def test_timeout_does_not_end_a(name):
    with faulty(f'delay=2.5@{name}') as server:
        run(server.port, '--timeout', 1, '-f', 'Write,ServerCopy', '-d', 1).expect(DONE)


# ----------------------------------------------------------------------------------- fails in a test

# what happens: (script, test, patterns); the peer still answers or not
IN_A_TEST = {
    'closes in a read': ('on FPReadExt #3: serve cut=half; close', 'Read',
                         ['FPReadExt', '2097152', '(?i)clos|ended']),
    'read refused': ('on FPReadExt #3: serve code=-5000', 'Read',
                     ['FPReadExt', '-5000', '2097152']),
    'write refused': ('on FPWriteExt #3: serve code=-5008', 'Write',
                      ['FPWriteExt', '-5008', '2097152']),
    'flush refused': ('on FPFlushFork: serve code=-5014', 'Write', ['FPFlushFork', '-5014']),
}


@tap.cases(IN_A_TEST)
def test_fails(script, test, patterns):
    with Peer(script) as peer:
        lost = 'close' in script
        result = run(peer.port, '-f', test, '-d', 4).expect_one_message(
            TEST_FAILED, *patterns, stays=lost)
        assert not [row for found in result.tests() for row in found.rows], f'a rate: {result}'
        if not lost:
            peer.finish()
            tap.equal(peer.server.left_behind(), [], 'left on the volumes')
            tap.equal(peer.names()[-2:], ['FPLogout', 'DSICloseSession'], 'last requests')


def test_a_shutdown_is_told():
    with Peer('on FPReadExt #3: attention 8000; close') as peer:
        result = run(peer.port, '-f', 'Read', '-d', 4).expect(TEST_FAILED, '(?i)shut')
        for line in result.err.splitlines():
            assert line.startswith('afp_speedtest: '), f'without the name: {result}'


def test_finished_rows_stay():
    with faulty('code=-5000@FPReadExt#10') as server:
        result = run(server.port, '-f', 'Read', '-d', 4, '-n', 5).expect_one_message(
            TEST_FAILED, '-5000')
        tap.equal([len(test.rows) for test in result.tests()], [2])


@contextlib.contextmanager
def nothing_left(*volume):
    """A refserver with such a volume, which must be empty at the end."""
    with programs.Refserver('--volume', ','.join(('bench',) + volume)) as server:
        yield server
        tap.equal(afpclient.listing(server), {}, 'left on the volume')


@tap.cases({name: name for name in ('Read', 'Write', 'Copy', 'ServerCopy')})
def test_disk_full_in_mid_run(name):
    with nothing_left('limit=6M', 'free=1G') as server:
        size = 4 if 'Copy' in name else 8
        run(server.port, '-f', name, '-d', size).expect_one_message(TEST_FAILED, '-5008')


@tap.cases({name: name for name in ('Read', 'Write', 'Copy', 'ServerCopy')})
def test_too_little_free_space(name):
    """The server's word is passed on; that it was true is then the failure."""
    with nothing_left('limit=6M') as server:
        result = run(server.port, '-f', name, '-d', 8).expect(TEST_FAILED)
        assert re.search(f'{name} goes on although the server claims 6 MiB of free space on the '
                         'first volume: the test needs (8|16) MiB', result.err), result
        assert '-5008' in result.err, result


@tap.cases({name: name for name in ('Read', 'Write', 'Copy', 'ServerCopy')})
def test_free_space_that_is_only_claimed(name):
    """A quota that does not bind."""
    with nothing_left('free=1k') as server:
        run(server.port, '-f', name, '-d', 1).expect_one_message(DONE, 'claims 1 KiB of free')


@tap.cases({'Read': ('Read', True), 'Write': ('Write', False), 'Copy': ('Copy', False)})
def test_read_only_volume(name, file_helps):
    with nothing_left('read-only') as server:
        result = run(server.port, '-f', name).expect_one_message(TEST_FAILED, '-5031', 'read-only')
        tap.equal('-F NAME reads a file that is there' in result.err, file_helps)


# -------------------------------------------------------------------------------------------- Ctrl-C

# The signals of test_process.py find a run in each of its phases. moment: (script, what runs, request
# after which to interrupt and which of it)
INTERRUPT = {
    'login': ('on FPLogin*: ignore', ['--timeout', 3], ('FPLogin*', 1)),
    'fill': ('on FPWriteExt #3: wait; serve', ['-f', 'Read', '-q', 64], ('FPWriteExt', 3)),
    'a copy of four': ('on FPReadExt #3: wait; serve', ['-f', 'Copy', '-q', 64, '-r', 4],
                       ('FPReadExt', 3)),
}


def interrupted(peer, running):
    running.asleep()
    running.interrupt()
    peer.go_on()
    result = running.wait(15).expect(INTERRUPTED)
    assert result.err.count('\n') <= 1, f'more than one line: {result}'
    peer.finish()
    tap.equal(peer.server.left_behind(), [], 'left on the volumes')
    return sum(len(test.rows) for test in result.tests())


@tap.cases(INTERRUPT)
def test_interrupt_in(script, more, moment):
    with Peer(script) as peer:
        with programs.Program(programs.SPEEDTEST, *arguments(peer.port, '-d', 1, *more)) as running:
            peer.wait_for(*moment)
            tap.equal(interrupted(peer, running), 0, 'rows')


def test_interrupt_in_a_pause():
    with Peer() as peer:
        with programs.Program(programs.SPEEDTEST,
                              *arguments(peer.port, '-d', 1, '-n', 2, '-t', 60)) as running:
            running.first_row()
            tap.equal(interrupted(peer, running), 1, 'rows')


def connecting(port):
    """How many sockets of this machine wait for an answer from this port of 127.0.0.1."""
    return pathlib.Path('/proc/net/tcp').read_text(encoding='ascii').count(
        f' 0100007F:{port:04X} 02 ')


def test_interrupt_while_connecting():
    with unanswered_port() as port:
        others = connecting(port)
        with programs.Program(programs.SPEEDTEST, *arguments(port)) as running:
            programs.wait_until(lambda: connecting(port) > others, 'a connection attempt')
            running.interrupt()
            running.wait(5).expect(INTERRUPTED)


def test_interrupt_when_the_server_is_mute():
    with Peer('on FPReadExt #2: mute') as peer:
        with programs.Program(programs.SPEEDTEST,
                              *arguments(peer.port, '-f', 'Read', '-d', 4, '--timeout', 2)) as running:
            peer.wait_for('FPReadExt', 2)
            running.interrupt()
            running.wait(10).expect(INTERRUPTED)


def test_interrupt_in_interactive_mode():
    with Peer() as peer:
        with programs.Program(programs.SPEEDTEST, *arguments(peer.port, '-i', '-d', '4k'),
                              stdin=subprocess.PIPE) as running:
            running.process.stderr.readline()       # it waits for Enter
            running.interrupt()
            running.wait(10).expect(INTERRUPTED)
        peer.finish()
        tap.equal(peer.server.left_behind(), [])


# -------------------------------------------------------------------------------- output and secrets

def test_stdout_full():
    with Peer() as peer, open('/dev/full', 'w', encoding='ascii') as full:
        result = run(peer.port, '-d', '4k', stdout=full)
        assert result.code == TEST_FAILED, f'wanted 1: {result}'
        assert result.err.count('\n') == 1, f'wanted one line: {result}'
        peer.finish()
        tap.equal(peer.server.left_behind(), [])


def test_stdout_closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    with Peer() as peer, os.fdopen(writer, 'w') as closed:
        result = run(peer.port, '-d', '4k', stdout=closed)
        assert result.code == TEST_FAILED, f'wanted 1: {result}'
        peer.finish()
        tap.equal(peer.server.left_behind(), [])


@tap.cases({'right password': (f'users bench:{SECRET}', DONE),
            'wrong password': ('users bench:other', CANNOT_RUN)})
def test_no_password_in_any_output(script, code):
    with Peer(script) as peer:
        for more in (['-w', SECRET], []):
            result = run(peer.port, *USER, '-A', 'cleartxt', '-v', '-V', '-d', '4k', *more,
                         env={'AFP_PASSWORD': SECRET}).expect(code)
            hexes = re.sub(r'[^0-9a-f]', '', (result.out + result.err).lower())
            assert SECRET not in result.out + result.err, 'password printed'
            assert SECRET.encode().hex() not in hexes, 'password printed in hex'
        if code == DONE:
            peer.finish()
            assert 'FPLogout' in peer.names()


# ------------------------------------------------------------------------------------------ usage

BAD_USAGE = {
    'unknown option': ['-Q'],
    'unknown long option': ['--no-such-option'],
    'stray word': ['stray'],
    'no volume': ['-h', '127.0.0.1', '-u', ''],
    'missing value': ['-n'],
    'port 0': ['-p', '0'],
    'port 65536': ['-p', '65536'],
    'port with rubbish': ['-p', '548x'],
    'port empty': ['-p', ''],
    'iterations 0': ['-n', '0'],
    'iterations negative': ['-n', '-1'],
    'iterations overflow': ['-n', '99999999999999999999'],
    'warm-ups negative': ['-W', '-1'],
    'size 0': ['-d', '0'],
    'size with rubbish': ['-d', '4kk'],
    'size negative': ['-d', '-4'],
    'size overflow': ['-d', '99999999999999G'],
    'size not a number': ['-d', 'nan'],
    'quantum 0': ['-q', '0'],
    'depth 0': ['-r', '0'],
    'depth 0, batches': ['-R', '0'],
    'both depths': ['-r', '2', '-R', '2'],
    'pause with rubbish': ['-t', 'soon'],
    'timeout 0': ['--timeout', '0'],
    'unknown test': ['-f', 'Read,Dance'],
    'no test': ['-f', ''],
    'unknown login method': ['-A', 'magic'],
    'unknown sink': ['--sink', 'kitchen'],
    'unknown store': ['--refserver=tape'],
    'URL of another kind': ['-h', 'smb://127.0.0.1/bench'],
    'URL with a wrong port': ['-h', 'afp://127.0.0.1:99999/bench'],
    'password file missing': ['--password-file', '/nonexistent', '-u', 'bench'],
}


@tap.cases({name: (more,) for name, more in BAD_USAGE.items()})
def test_usage(more):
    user = () if '-u' in more else ('-u', '')
    volume = () if '-h' in more else ('-h', '127.0.0.1', '-s', 'bench')
    result = speedtest(*volume, *user, *more).expect_one_message(USAGE)
    tap.equal(result.out, '')


# -------------------------------------------------------------------------------------- name server

# In namespaces of its own: a name server that says nothing, then the program.
MUTE_NAME_SERVER = """
cd "$1"; shift
mount --bind resolv.conf /etc/resolv.conf && mount --bind nsswitch.conf /etc/nsswitch.conf || exit 99
exec python3 -c 'import fcntl, socket, struct, subprocess, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
fcntl.ioctl(server, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
server.bind(("127.0.0.1", 53))
sys.exit(subprocess.run(sys.argv[1:]).returncode)' "$@"
"""


@tap.limit(60)
def test_a_mute_name_server():
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, 'resolv.conf').write_text('nameserver 127.0.0.1\noptions timeout:20\n')
        pathlib.Path(directory, 'nsswitch.conf').write_text('hosts: files dns\n')
        began = time.monotonic()
        result = subprocess.run(
            ['unshare', '-rmn', 'sh', '-c', MUTE_NAME_SERVER, 'sh', directory, programs.SPEEDTEST,
             '-h', 'nas.example', '-s', 'bench', '-u', '', '--timeout', '2'],
            capture_output=True, text=True, check=False, env=programs.environment(), timeout=55)
        passed = time.monotonic() - began
    tap.require(result.returncode not in (1, 99), f'no namespaces here: {result.stderr}')
    tap.equal((result.returncode, result.stderr),
              (CANNOT_RUN, "afp_speedtest: no address for 'nas.example' found in 2 s\n"))
    assert passed < 10, f'{passed:.1f} s, and the resolver waits for 40'


tap.main()
