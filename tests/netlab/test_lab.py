#!/usr/bin/env python3
"""The lab of namespaces: what it sets, what runs in it, who may make one, and that nothing stays.

Usage: test_lab.py [quick|slow|netatalk] [words of tests' names]
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import netatalk  # noqa: E402
import programs  # noqa: E402
import tap  # noqa: E402

BUILD = programs.BIN_DIR.parents[1]
UID = 61234         # of nobody else: what it leaves in /tmp is ours
LIMIT_S = 60

# Runs as root in a mount namespace of its own: $1 is a scratch directory, $2 a root with Netatalk
# or empty, $3 whether the user has a range of others; the rest is run as that user.
AS_USER = f'''
set -e
scratch=$1 root=$2 range=$3
shift 3
mount -t tmpfs tmpfs "$scratch"
if [ "$root" ]; then
    mkdir "$scratch/root"
    mount --bind "$root" "$scratch/root"
    export NETATALK_ROOT="$scratch/root"
fi
if [ "$range" ]; then
    cp /etc/passwd "$scratch/passwd"
    echo "labuser:x:{UID}:{UID}::/:/bin/sh" >>"$scratch/passwd"
    echo "labuser:300000:65536" >"$scratch/range"
    mount --bind "$scratch/passwd" /etc/passwd
    for file in /etc/subuid /etc/subgid; do
        [ -e "$file" ] || touch "$file"
        mount --bind "$scratch/range" "$file"
    done
fi
exec setpriv --reuid {UID} --regid {UID} --clear-groups "$@"
'''

place = None        # where everybody may run the programs


def setup():
    """Copies the programs to where an ordinary user can reach them, as in the build directory."""
    global place
    place = pathlib.Path(tempfile.mkdtemp(prefix='afpbench-lab-'))
    place.chmod(0o755)
    for directory in ('tools', 'netlab', 'scratch'):
        (place / directory).mkdir()
    for program in (BUILD / 'tests/netlab/lab_probe', programs.SPEEDTEST, programs.REFSERVER):
        shutil.copy(program, place / 'tools')
    shutil.copy(BUILD / 'src/netlab/afpbench_setid_shim.so', place / 'netlab')
    tried = probe('users')
    tap.require('no namespaces can be made here' not in tried.err, tried.err.strip())


def teardown():
    if place:
        shutil.rmtree(place)


# ------------------------------------------------------------------------------- running the probe

def command(user, words, root=''):
    """The command line that runs the probe as `user`: 'self', 'one uid' or 'uid range'."""
    probe_words = [str(place / 'tools/lab_probe'), *map(str, words)]
    if user == 'self':
        return probe_words
    tap.require(os.geteuid() == 0, 'becoming another user needs root')
    tap.require(user != 'uid range' or shutil.which('newuidmap'), 'needs the package uidmap')
    return ['unshare', '--mount', 'sh', '-c', AS_USER, 'as-user', str(place / 'scratch'), root,
            'yes' if user == 'uid range' else '', *probe_words]


def program(user, words, root='', env=None):
    environment = {'PATH': f'{os.environ["PATH"]}:/usr/sbin:/sbin', **(env or {})}
    if root and user == 'self':
        environment['NETATALK_ROOT'] = root
    first, *rest = command(user, words, root)
    return programs.Program(first, *rest, env=environment)


def probe(*words, user='self', root='', env=None):
    with program(user, words, root, env) as running:
        return running.wait(LIMIT_S)


def values(result, key):
    """What the lines "key value" of a probe that went well say."""
    result.expect(programs.DONE)
    return [line[len(key) + 1:] for line in result.out.splitlines() if line.startswith(f'{key} ')]


@contextlib.contextmanager
def running(user, word):
    """A probe that has said that it is up."""
    with program(user, [word]) as started:
        line = started.process.stdout.readline()
        assert line == 'up\n', f'{line!r}: {started.wait()}'
        yield started


USERS = {'self': 'self', 'one uid': 'one uid', 'uid range': 'uid range'}
MODE = sys.argv[1] if len(sys.argv) > 1 else 'quick'


def only(mode):
    """Leaves the test to one of the suites."""
    def mark(function):
        function.mode = mode
        return function
    return mark


# ---------------------------------------------------------------------------------------- settings

@tap.cases(USERS)
def test_users(user):
    found = probe('users', user=user)
    if user != 'self':
        tap.equal(values(found, 'users'), [user])
    tap.equal(values(found, 'process'), ['1'])
    tap.equal(values(found, 'uid'), ['0'])


# rate, delay -> twice rate × round trip in bytes, for RATE and DELAY given one way
WINDOWS = {
    '10gbit 2ms': ('10gbit', '2ms', 10_000_000),
    '100gbit 2ms': ('100gbit', '2ms', 100_000_000),
    '1gbit 100ms': ('1gbit', '100ms', 50_000_000),
}


@tap.cases(WINDOWS)
def test_settings(rate, delay, window):
    found = probe('settings', env={'LAB_PROBE_RATE': rate, 'LAB_PROBE_DELAY': delay,
                                   'LAB_PROBE_MTU': '9000', 'LAB_PROBE_CC': 'cubic'})
    tap.equal(values(found, 'mtu'), ['9000'] * 2)
    tap.equal(values(found, 'congestion'), ['cubic'] * 2)
    tap.equal(values(found, 'metrics'), ['0'] * 2)
    tap.equal(values(found, 'slow_start'), ['0'] * 2)
    sizes = values(found, 'receive') + values(found, 'send')
    assert len(sizes) == 4 and all(int(size) >= window for size in sizes), sizes


def test_unknown_congestion_control():
    probe('settings', env={'LAB_PROBE_CC': 'nosuch'}).expect_one_message(
        programs.CANNOT_RUN, r"no congestion control 'nosuch' \(CC\); it has: .*reno")


@tap.cases(USERS)
def test_both_sides_meet(user):
    segments = values(probe('talk', user=user), 'segments')
    assert len(segments) == 1 and 1 <= int(segments[0]) <= 3, segments  # data, and an ACK or two


def test_connections():
    """Both kernels' account of one connection after five bytes to the server."""
    found = probe('list', env={'LAB_PROBE_CC': 'cubic'})
    tap.equal(values(found, 'count'), ['1'] * 2)
    tap.equal(values(found, 'port'), ['7000'] * 2)
    tap.equal(values(found, 'segment'), ['1448'] * 2)   # 1500 − 20 − 20 − 12
    tap.equal(values(found, 'congestion'), ['cubic'] * 2)
    tap.equal(values(found, 'received'), ['0', '5'])
    tap.equal(values(found, 'buffers'), ['1'] * 2)


@only('slow')
def test_idle():
    tap.equal(values(probe('idle', 10), 'packets'), ['0', '0'])


# ---------------------------------------------------------------------------------------- programs

def test_program():
    script = ('ls /proc/self/fd | wc -l; ps -o pgid= -p $$; echo $$; cat /proc/net/arp | wc -l; '
              'grep SigBlk /proc/self/status; exit 3')
    lines = values_of_program('sh', '-c', script)
    tap.equal(lines[0].strip(), '4')            # three of its own, and the one that ls reads
    tap.equal(lines[1].strip(), lines[2].strip(), 'process group')
    tap.equal(lines[3].strip(), '2', 'neighbours and a heading')
    tap.equal(lines[4].split(), ['SigBlk:', '0' * 16])
    tap.equal(lines[5], f'state {3 << 8}')


def values_of_program(*words):
    return probe('program', *words).expect(programs.DONE).out.splitlines()


def test_program_sees_its_side_only():
    lines = values_of_program('sh', '-c', 'ls /proc/sys/net/ipv4/conf; cat /proc/net/if_inet6')
    tap.equal(sorted(lines), sorted(['all', 'default', 'link', 'lo', 'state 0']))


def test_missing_program():
    probe('program', 'no-such-program').expect_one_message(
        programs.CANNOT_RUN, 'cannot run no-such-program: No such file')


# --------------------------------------------------------------------------------- nothing remains

def children(pid):
    """All descendants of a process, itself included."""
    found = [pid]
    for process in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f'/proc/{process}/task'):
                text = pathlib.Path(f'/proc/{process}/task/{task}/children').read_text()
                found += map(int, text.split())
    return found


def namespaces(pid):
    links = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f'/proc/{pid}/ns'):
            links.add(os.readlink(f'/proc/{pid}/ns/{name}'))
    return links


def host():
    mounts = pathlib.Path('/proc/self/mounts').read_text().splitlines()
    ours = []
    for entry in os.scandir('/tmp'):
        with contextlib.suppress(FileNotFoundError):    # others come and go there
            if entry.stat(follow_symlinks=False).st_uid == UID:
                ours.append(entry.name)
    return sorted(os.listdir('/sys/class/net')), sorted(mounts), ours


def await_gone(processes, spaces):
    """Nothing of the run is left: no process, and no namespace that any process is in."""
    deadline = time.monotonic() + 10
    while True:
        left = [pid for pid in processes if os.path.exists(f'/proc/{pid}')]
        users = [pid for pid in os.listdir('/proc') if pid.isdigit() and namespaces(pid) & spaces]
        if not left and not users:
            return
        assert time.monotonic() < deadline, f'left: {left}, in its namespaces: {users}'
        time.sleep(0.05)


@tap.cases(USERS)
def test_nothing_remains_after_kill(user):
    before = host()
    with running(user, 'hold') as held:
        processes = children(held.pid)
        spaces = set().union(*map(namespaces, processes)) - namespaces(os.getpid())
        assert len(processes) >= 3, processes       # parent, process 1, the sleeping program
        for kind in ('user', 'mnt', 'net', 'pid', 'ipc'):
            assert any(space.startswith(f'{kind}:') for space in spaces), (kind, spaces)
        held.interrupt(signal.SIGKILL)
        held.process.wait(10)
        await_gone(processes, spaces)
    tap.equal(host(), before)


def test_nothing_remains_after_the_end():
    before = host()
    with running('self', 'await') as held:
        processes = children(held.pid)
        spaces = set().union(*map(namespaces, processes)) - namespaces(os.getpid())
        held.interrupt(signal.SIGTERM)
        held.wait(10)
        await_gone(processes, spaces)
    tap.equal(host(), before)


def test_two_at_once():
    with running('self', 'hold'), running('self', 'hold'):
        values(probe('talk'), 'segments')


# ----------------------------------------------------------------------------------------- signals

SIGNALS = {'SIGINT': signal.SIGINT, 'SIGTERM': signal.SIGTERM, 'SIGHUP': signal.SIGHUP}


@tap.cases(SIGNALS)
def test_signal_is_handed_on(number):
    with running('self', 'await') as held:
        held.interrupt(number)
        found = held.wait(10).expect(programs.INTERRUPTED)
        tap.equal(found.out, 'signals 1\n')


def test_signal_to_the_group_comes_once():
    """As a terminal's Ctrl-C."""
    with running('self', 'await') as held:
        os.killpg(held.pid, signal.SIGINT)
        tap.equal(held.wait(10).expect(programs.INTERRUPTED).out, 'signals 1\n')


def test_killed_child():
    with running('self', 'hold') as held:
        os.kill(children(held.pid)[1], signal.SIGKILL)
        held.wait(10).expect_one_message(programs.CANNOT_RUN, r'killed by signal 9 \(Killed\)')


# ----------------------------------------------------------------------------------------- refused

NO_NAMESPACES = 'echo 0 >/proc/sys/user/max_user_namespaces; '


def test_no_user_namespaces():
    """The limit of a user namespace of our own counts for everything below it."""
    script = NO_NAMESPACES + f'exec setpriv --bounding-set=-all {place}/tools/lab_probe users'
    programs.run('unshare', '--user', '--map-root-user', 'sh', '-c', script).expect(
        programs.CANNOT_RUN, 'lab_probe: no namespaces can be made here: .*sysctl -w user.max_user_namespaces')


def test_root_without_user_namespaces():
    script = NO_NAMESPACES + f'exec {place}/tools/lab_probe users'
    found = programs.run('unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script)
    tap.equal(values(found, 'users'), ['one uid'])


# ------------------------------------------------------------------------------------- calibration

def test_wrong_delay_is_found():
    """A link without any delay that should have 2 ms each way."""
    verdict, = values(probe('calibrate'), 'verdict')
    assert verdict.startswith('false the link\'s round trip is 0.'), verdict
    assert 'instead of 4.000 ms' in verdict, verdict    # and some ns for its own bits


@only('slow')
def test_calibration():
    found = probe('calibrate', env={'LAB_PROBE_RATE': '100mbit', 'LAB_PROBE_LINK': 'emulator'})
    tap.equal(values(found, 'exchanges'), ['200'])
    tap.equal(values(found, 'segment'), ['1448'])
    tap.equal(values(found, 'dropped'), ['0'])
    shortest = int(values(found, 'rtt')[0].split()[2])
    assert shortest >= 4_000_000, shortest
    for goodput in values(found, 'goodput')[0].split():
        assert 0 < int(goodput) <= 100e6 * 1448 / 1538 * 1.01, goodput


# ----------------------------------------------------------------------------------------- servers

WORKLOAD = ('tools/afp_speedtest', '-h', '10.99.0.1', '-u', '', '-s', 'bench', '-d', '2', '-q', '512',
            '-f', 'Write,Read,Copy,ServerCopy')


def serve(kind, **options):
    """Runs the workload as a guest against a server; it deletes what it made."""
    found = probe('serve', kind, place / WORKLOAD[0], *WORKLOAD[1:], **options)
    tap.equal(values(found, 'state'), ['0'])
    rows = [line.split()[0] for line in found.out.splitlines() if ' quantum ' in line]
    tap.equal(rows, ['Write', 'Read', 'Copy', 'ServerCopy'])
    return found


@tap.cases(USERS)
def test_refserver(user):
    found = serve('refserver', user=user)
    tap.equal(values(found, 'version'), ['afpbench'])


def test_server_that_dies():
    probe('serve', 'refserver', 'true', env={'LAB_PROBE_QUANTUM': '1'}).expect_one_message(
        programs.CANNOT_RUN,
        r'the server \(refserver\) ended with status 64; its last words: .*quantum')


def test_no_netatalk():
    probe('serve', 'netatalk', 'true', env={'PATH': '/nonexistent', 'NETATALK_ROOT': '/nonexistent'}
          ).expect_one_message(programs.CANNOT_RUN, 'NETATALK_ROOT: no afpd in /nonexistent')
    probe('serve', 'netatalk', 'true', env={'AFPD': '/bin/false'}).expect_one_message(
        programs.CANNOT_RUN, '/bin/false -V fails')


# An afpd that ends as soon as it is really started.
DYING = '''#!/bin/sh
[ "$1" != -V ] || { echo "   state directory:  %s/"; exit 0; }
grep -q "^server quantum = 65536$" "$3" || exit 8
echo a first line >&2
echo no luck today >&2
exit 7
'''


def test_netatalk_that_dies():
    (place / 'state').mkdir()
    afpd = place / 'tools/dying'
    afpd.write_text(DYING % (place / 'state'))
    afpd.chmod(0o755)
    found = probe('serve', 'netatalk', 'true',
                  env={'AFPD': str(afpd), 'LAB_PROBE_QUANTUM': '65536'})
    found.expect_one_message(
        programs.CANNOT_RUN,
        r'the server \(netatalk\) ended with status 7; its last words: no luck today$')
    tap.equal(values_of_log(found), ['a first line', 'no luck today'])
    tap.equal(os.listdir(place / 'state'), [])


def values_of_log(result):
    return [line[4:] for line in result.out.splitlines() if line.startswith('log ')]


IDENTITIES = {'self': 'root', 'one uid': 'with the set-id shim', 'uid range': 'uid range'}


@only('netatalk')
@tap.cases(USERS)
def test_netatalk(user):
    found = serve('netatalk', user=user, root=netatalk.find_root())
    how, = values(found, 'how')
    assert how.startswith('/usr/sbin/afpd in ') and how.endswith(IDENTITIES[user]), how
    version, = values(found, 'version')
    assert version.startswith('Netatalk'), version


@only('netatalk')
def test_quantum_of_netatalk():
    found = probe('serve', 'netatalk', place / 'tools/afp_speedtest', '-h', '10.99.0.1', '-u', '',
                  '-s', 'bench', '-d', '2', '-f', 'Read', root=netatalk.find_root(),
                  env={'LAB_PROBE_QUANTUM': '262144'})
    assert 'Read quantum 262144,' in found.out, found


if __name__ == '__main__':
    for name, function in list(globals().items()):
        if name.startswith('test_') and getattr(function, 'mode', 'quick') != MODE:
            del globals()[name]
    tap.main(setup, teardown, sys.argv[2:])
