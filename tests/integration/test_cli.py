#!/usr/bin/python3
"""Help, version and usage of the programs: nothing here needs a server."""

import os
import pathlib
import pty
import re
import shutil
import signal
import sys
import tempfile
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import afpclient
import programs
import tap
from programs import (CANNOT_RUN, DONE, INTERRUPTED, REFSERVER, SPEEDTEST, TEST_FAILED, USAGE,
                      Refserver, run)

PROGRAMS = {'afp_speedtest': SPEEDTEST, 'afp_refserver': REFSERVER,
            'afp_report': programs.BIN_DIR / 'afp_report',
            'afp_perftest': programs.BIN_DIR / 'afp_perftest'}

OPTIONS = {
    'afp_speedtest': '1 2 3 4 5 6 7 afp A a d e f F h i n p q r R s S t u v V w W y A sink timeout '
                     'password-file clean help version info refserver mark-fd',
    'afp_refserver': 'listen p port volume user uams no-guest quantum strict-frames read-ahead '
                     'fault sessions server-name machine-type help version',
    'afp_perftest': 'suite rate delay mtu quantum readahead requests jitter loss iter warmup sweep '
                     'ops server link cc extra-flags outdir afpd netatalk-root tool strict baseline '
                     'dry-run force help version',
    'afp_report': 'compare fail-if force format o output help version',
}


@tap.cases({name: name for name in PROGRAMS})
def test_help_names_every_option(name):
    result = run(PROGRAMS[name], '--help').expect(DONE)
    tap.equal(result.err, '')
    for option in OPTIONS[name].split():
        word = f'-{option}' if len(option) == 1 else f'--{option}'
        if option.isdigit():
            continue        # may be told as a range
        assert re.search(rf'(?<![\w-]){re.escape(word)}\b', result.out), f'{word} is not in --help'


@tap.cases({name: name for name in PROGRAMS})
def test_help_has_groups_and_fits_a_terminal(name):
    lines = run(PROGRAMS[name], '--help').expect(DONE).out.split('\n')
    tap.equal([line for line in lines if len(line) > 80], [])
    headings = [line for line in lines if re.fullmatch(r'[A-Z].*:', line)]
    assert len(headings) >= 3 and 'About the program:' in headings, headings
    first = next(i for i, line in enumerate(lines) if line.startswith('  ') and '--' in line)
    tap.equal(lines[first - 1], headings[0], 'an option before the first heading')


@tap.cases({name: path for name, path in PROGRAMS.items() if name != 'afp_speedtest'})
def test_h_is_help_where_it_is_no_host(path):
    tap.equal(run(path, '-h').expect(DONE).out, run(path, '--help').out)


@tap.cases({name: path for name, path in PROGRAMS.items()})
def test_version(path):
    result = run(path, '--version').expect(DONE)
    assert re.fullmatch(rf'{path.name} .*\d+\.\d+.*\n', result.out), result
    tap.equal(result.err, '')


@tap.cases({f'{name} {option}': (path, option) for name, path in PROGRAMS.items()
            for option in ('--help', '--version')})
def test_full_disk_is_an_error(path, option):
    with open('/dev/full', 'w', encoding='ascii') as full:
        run(path, option, stdout=full).expect_one_message(TEST_FAILED)


# ------------------------------------------------------------------------------------ afp_refserver

REFSERVER_USAGE = {
    'unknown option': ['-Q'],
    'stray word': ['stray'],
    'port': ['-p', '65536'],
    'volume without a name': ['--volume', ''],
    'volume with an unknown word': ['--volume', 'bench,colour=red'],
    'unknown store': ['--volume', 'bench,store=tape'],
    'directory without a path': ['--volume', 'bench,store=directory'],
    'path for another store': ['--volume', 'bench,store=null,path=/tmp'],
    'limit': ['--volume', 'bench,limit=lots'],
    'the same volume twice': ['--volume', 'bench', '--volume', 'bench'],
    'the same volume twice in other forms': ['--volume', 'caf\u00e9', '--volume', 'cafe\u0301'],
    'user without a password': ['--user', 'bench'],
    'user without a name': ['--user', ':pw'],
    'the same user twice': ['--user', 'me:a', '--user', 'you:b', '--user', 'me:c'],
    'the same user twice in other forms': ['--user', 'caf\u00e9:a', '--user', 'cafe\u0301:b'],
    'fault at a request that is none': ['--fault', 'delay=1@FPFoo'],
    'server without a name': ['--server-name', ''],
    'machine type of no words': ['--machine-type', ''],
    'unknown login method': ['--uams', 'srp,kerberos'],
    'empty login method': ['--uams', 'srp,'],
    'long login method': ['--uams', 'srp' * 20],
    'methods for users, and no user': ['--uams', 'srp,dhx2'],
    'methods for guests only, and none allowed': ['--no-guest', '--user', 'me:pw', '--uams', 'guest'],
    'quantum': ['--quantum', '0'],
    'sessions': ['--sessions', '0'],
    'address': ['--listen', 'not-an-address'],
    'long server name': ['--server-name', 'x' * 33],
    'long machine type': ['--machine-type', 'x' * 17],
}


@tap.cases({name: (more,) for name, more in REFSERVER_USAGE.items()})
def test_refserver_usage(more):
    run(REFSERVER, *more).expect_one_message(USAGE)


@tap.cases({'misspelt': 'v,pasword=geheim', 'with a comma': 'v,password=ge,heim'})
def test_refserver_prints_no_password(volume):
    result = run(REFSERVER, '--volume', volume).expect_one_message(USAGE, '--volume v')
    assert 'heim' not in result.err, result


def test_refserver_says_what_it_was_told():
    with Refserver('--server-name', 'yard', '--machine-type', 'Stick', '--quantum', '64k',
                   '--volume', 'one', '--volume', 'two,read-only', '--user', 'me:pw') as server:
        info = afpclient.server_info(server.port)
        tap.equal((info['name'], info['machine']), ('yard', 'Stick'))
        assert {'AFP2.2', 'AFP3.4'} <= set(info['versions']), info
        with afpclient.Session(server.port, 'me', 'pw') as session:
            tap.equal(session.quantum, 65536)
            session.open_volume('one')
            volume = session.open_volume('two')
            tap.equal(session.try_call('FPCreateDir', volume=volume, dir=2,
                                       path=session.path('new'))[0], -5031)


def test_refserver_without_guest():
    with Refserver('--no-guest', '--user', 'me:pw') as server:
        assert 'No User Authent' not in afpclient.server_info(server.port)['uams']
        for user in ((), ('me', 'wrong'), ('you', 'pw')):
            try:
                afpclient.Session(server.port, *user)
            except afpclient.AfpError:
                continue
            raise AssertionError(f'{user} got in')
        afpclient.Session(server.port, 'me', 'pw').logout()


def test_refserver_offers_the_methods_named():
    everything = ['SRP', 'DHX2', 'DHCAST128', '2-Way Randnum exchange', 'Randnum exchange',
                  'Cleartxt Passwrd', 'No User Authent']
    user = ['--user', 'me:pw']
    for arguments, wanted in (
            (user, everything),
            ([], ['No User Authent']),
            ([*user, '--no-guest'], everything[:-1]),
            ([*user, '--uams', 'randnum,SRP'], ['SRP', 'Randnum exchange']),
            (['--uams', 'dhx,guest'], ['No User Authent']),
            ([*user, '--no-guest', '--uams', 'dhx,guest'], ['DHCAST128'])):
        with Refserver(*arguments) as server:
            tap.equal(afpclient.server_info(server.port)['uams'], wanted, arguments)


def test_refserver_session_limit():
    with Refserver('--sessions', '1') as server:
        with afpclient.Session(server.port):
            try:
                afpclient.Session(server.port)
            except (afpclient.AfpError, ConnectionError):
                pass
            else:
                raise AssertionError('a second session was let in')
        programs.wait_until(lambda: _lets_in(server.port), 'a place for another session')


def test_refserver_fork_limit():
    with Refserver('--forks', '100') as server, afpclient.Session(server.port) as session:
        volume = session.open_volume('bench')
        session.put(volume, 'file', b'x')
        forks = [session.open_fork(volume, 'file') for _ in range(100)]
        tap.equal(forks, list(range(1, 101)))
        try:
            session.open_fork(volume, 'file')
        except afpclient.AfpError as error:
            tap.equal(error.code, -5026)
        else:
            raise AssertionError('a fork was opened beyond the limit')
        session.call('FPCloseFork', fork=37)
        tap.equal(session.open_fork(volume, 'file'), 37)


def _lets_in(port):
    try:
        afpclient.Session(port).logout()
    except (afpclient.AfpError, ConnectionError):
        return False
    return True


def _echoes(terminal):
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


def _read_until(terminal, text):
    data = b''
    while text not in data:
        data += os.read(terminal, 100)


@tap.cases({
    'Ctrl-C': lambda pid, terminal: os.write(terminal, b'\x03'),
    'SIGTERM': lambda pid, terminal: os.kill(pid, signal.SIGTERM),
    'Ctrl-Z, Ctrl-\\, Ctrl-C': lambda pid, terminal: os.write(terminal, b'\x1a\x1c\x03'),
})
def test_terminal_echoes_again_when_the_password_is_not_given(interrupt):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(SPEEDTEST, ['afp_speedtest', '-s', 'v', '-u', 'me'], programs.environment())
    try:
        _read_until(terminal, b"Password for user 'me': ")
        assert not _echoes(terminal), 'the password would be seen'
        interrupt(pid, terminal)
        _read_until(terminal, b'afp_speedtest: interrupted')
        assert _echoes(terminal), 'the terminal is left without echo'
        tap.equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), INTERRUPTED)
        pid = 0
    finally:
        if pid:
            os.kill(pid, signal.SIGKILL)
        os.close(terminal)


def test_refserver_low_port_as_an_ordinary_user():
    tap.require(os.getuid() == 0, 'needs root, for a network without a lower limit')
    ordinary = ('unshare', '-n', 'setpriv', '--reuid', '65534', '--clear-groups',
                '--bounding-set', '-all')
    with tempfile.TemporaryDirectory() as place:    # where that user may go
        pathlib.Path(place).chmod(0o755)
        shutil.copy(REFSERVER, place)
        probe = run(*ordinary, 'true')
        tap.require(probe.code == 0, 'no network of its own')
        run(*ordinary, pathlib.Path(place) / REFSERVER.name).expect(
            CANNOT_RUN, 'port 548: Permission denied', 'ports below 1024', 'CAP_NET_BIND_SERVICE',
            '-p 10548', '-p 0')


def test_refserver_ends_at_SIGTERM():
    server = Refserver()
    server.program.process.terminate()
    server.program.wait(10).expect(DONE)


tap.main()
