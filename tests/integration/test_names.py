#!/usr/bin/python3
"""Names with letters beyond ASCII, and volume passwords: `test_names.py SERVER [WORD...]`.

SERVER is refserver, directory or netatalk.
"""

import pathlib
import subprocess
import sys
import tempfile
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import afpclient
import netatalk
import programs
import tap
from peer import Peer
from programs import CANNOT_RUN, DONE, USAGE
from targets import PASSWORD, USER

VOLUMES = ('Größe', 'Ångström')
LOCKED = 'geheim'           # not with Netatalk: 4.5.1 has no volume passwords
VOLUME_PASSWORD = 'sesam123'
OTHER_USER = 'Jörg'
FOUR = ('-f', 'Read,Write,Copy,ServerCopy')
VERSIONS = (1, 2, 3, 7)     # AFP 2.1, 2.2, 3.0, 3.4
FORMS = {'composed': 'NFC', 'decomposed': 'NFD'}
CONTENT = bytes(range(256)) * 256

if len(sys.argv) < 2 or sys.argv[1] not in ('refserver', 'directory', 'netatalk'):
    sys.exit(f'usage: {sys.argv[0]} refserver|directory|netatalk [WORD...]')
kind = sys.argv[1]
server = None
scratch = None              # where a directory of the reference server lies


def set_up():
    global server, scratch
    if kind == 'netatalk':
        server = netatalk.Netatalk(names=dict(zip(netatalk.VOLUMES, VOLUMES)), users=[OTHER_USER])
        return
    words = list(VOLUMES)
    if kind == 'directory':
        scratch = tempfile.TemporaryDirectory(prefix='afpbench-')
        for number, name in enumerate(VOLUMES):
            (pathlib.Path(scratch.name) / str(number)).mkdir()
        words = [f'{name},path={scratch.name}/{number}' for number, name in enumerate(VOLUMES)]
    words.append(f'{LOCKED},password={VOLUME_PASSWORD}')
    server = programs.Refserver(*[word for volume in words for word in ('--volume', volume)],
                                '--user', f'{USER}:{PASSWORD}', '--user', f'{OTHER_USER}:{PASSWORD}')


def tear_down():
    if server:
        server.stop()
    if scratch:
        scratch.cleanup()


def only(*kinds):
    """Leaves a test out that says nothing about the other servers."""
    return lambda function: function if kind in kinds else None


def speedtest(*arguments, port=None, env=None):
    return programs.speedtest('-h', '127.0.0.1', '-p', port or server.port, '-d', '64k', '-W', 0,
                              *arguments, env={'AFP_PASSWORD': PASSWORD, **(env or {})})


def form(name, text):
    """Composed, or decomposed as Macs do it, who leave symbols alone (doc/protocol.md 3.1)."""
    return ''.join(character if 0x2000 <= ord(character) <= 0x2FFF
                   else unicodedata.normalize(FORMS[name], character)
                   for character in unicodedata.normalize('NFC', text))


def on_disk(name):
    root = server.volume('vol1') if kind == 'netatalk' else pathlib.Path(scratch.name, '0')
    return root / name


def put_file(name):
    """A file in the root of the first volume, made under its composed name by no client of ours."""
    if kind == 'refserver':
        with afpclient.Session(server.port) as session:
            session.put(session.open_volume(VOLUMES[0]), name, CONTENT)
        return
    on_disk(name).write_bytes(CONTENT)
    on_disk(name).chmod(0o666)


def remove_file(name):
    if kind != 'refserver':
        on_disk(name).unlink()
        return
    with afpclient.Session(server.port) as session:
        session.delete(session.open_volume(VOLUMES[0]), name)


def listing():
    with afpclient.Session(server.port) as session:
        return [sorted(session.list(session.open_volume(name))) for name in VOLUMES]


CASES = {f'-{version}, {name}': (version, name) for version in VERSIONS for name in FORMS}


@tap.cases(CASES)
def test_volumes(version, name):
    before = listing()
    result = speedtest(f'-{version}', '-u', USER, '-s', form(name, VOLUMES[0]),
                       '-S', form(name, VOLUMES[1]), *FOUR).expect(DONE)
    tap.equal(result.err, '', 'stderr')
    tap.equal([test.size for test in result.tests()], [65536] * 4)
    tap.equal(listing(), before, 'on the volumes')


@tap.cases(CASES)
def test_existing_file(version, name):
    file = unicodedata.normalize('NFC', 'Übergröße ≠ ß')
    put_file(file)
    try:
        result = speedtest(f'-{version}', '-u', '', '-s', VOLUMES[0], '-F', form(name, file),
                           '-f', 'Read').expect(DONE)
    finally:
        remove_file(file)
    tap.equal([test.size for test in result.tests()], [65536])


@tap.cases({f'-{version}': version for version in (3, 7)})
def test_file_beyond_macroman(version):
    put_file('日本')
    try:
        speedtest(f'-{version}', '-u', '', '-s', VOLUMES[0], '-F', '日本', '-f', 'Read').expect(DONE)
    finally:
        remove_file('日本')


@tap.cases({f'-{version}': version for version in VERSIONS})
def test_clean(version):
    speedtest(f'-{version}', '-u', '', '-s', VOLUMES[0], '--clean').expect(DONE)


@tap.cases({f'-{version}': version for version in VERSIONS})
def test_other_names(version):
    # Netatalk takes any case
    for volume in ('Grösse',) if kind == 'netatalk' else ('Grösse', 'größe'):
        speedtest(f'-{version}', '-u', '', '-s', volume).expect_one_message(
            CANNOT_RUN, rf'no volume .{volume}. on .*ObjectNotFound \(-5018\)')


# title: arguments and what the message says; nothing is sent, so that no server is needed
REFUSED = {
    'volume': (['-2', '-s', '日本'], "-s: the volume name '日本' has a character that MacRoman lacks"),
    'second volume': (['-2', '-s', 'v', '-S', '日本'], '-S: .*AFP 2.2 has no other: use -3'),
    'file': (['-1', '-s', 'v', '-F', '日本'], '-F: .*AFP 2.1 has no other: use -3'),
    'long file': (['-1', '-s', 'v', '-F', 'ö' * 32], '-F: .*32 bytes in MacRoman, .* takes 31'),
    'longest file': (['-s', 'v', '-F', 'ü' * 86], '-F: .*longer than the 255 bytes'),
}


@tap.cases(REFUSED)
def test_refused(arguments, message):
    unused = netatalk.free_port()
    speedtest('-u', '', *arguments, port=unused).expect_one_message(USAGE, message)


@tap.cases(CASES)
def test_user(version, name):
    for given, code in ((OTHER_USER, DONE), ('Jürg', CANNOT_RUN)):
        result = speedtest(f'-{version}', '-u', form(name, given), '-s', VOLUMES[0]).expect(code)
        assert code == DONE or 'UserNotAuth' in result.err, result


# --------------------------------------------------------------------------------- volume passwords

@only('refserver', 'directory')
@tap.cases({f'-{version}': version for version in VERSIONS})
def test_volume_password(version):
    def run(*arguments, **env):
        return speedtest(f'-{version}', '-u', '', '-s', LOCKED, *arguments, env=env)

    run().expect_one_message(
        CANNOT_RUN, rf"volume '{LOCKED}' on .* asks for a password: AccessDenied "
                    r'\(-5000\).*; give it with --volume-password-file, AFP_VOLUME_PASSWORD or '
                    r'--volume-password$')
    for wrong in ('sesam12', 'SESAM123'):
        run('--volume-password', wrong).expect_one_message(
            CANNOT_RUN, rf"the password for volume '{LOCKED}' on .* is wrong: AccessDenied "
                        r'\(-5000\)')
    run('--volume-password', VOLUME_PASSWORD).expect(DONE)
    run(AFP_VOLUME_PASSWORD=VOLUME_PASSWORD).expect(DONE)
    with tempfile.NamedTemporaryFile('w') as file:
        file.write(VOLUME_PASSWORD + '\n')
        file.flush()
        run('--volume-password-file', file.name).expect(DONE)
        run('-S', VOLUMES[0], '--volume-password-file', file.name, *FOUR).expect(DONE)


def test_volume_password_that_is_too_long():
    speedtest('-u', '', '-s', VOLUMES[0], '--volume-password', '123456789').expect_one_message(
        USAGE, '--volume-password: the password is longer than 8 bytes')


def test_volume_password_for_nothing():
    speedtest('-u', '', '-s', VOLUMES[0], '--volume-password', 'x').expect(DONE)


@only('refserver')
def test_volume_password_stays_secret():
    """It goes only to a volume that has one, and neither program shows it to other users."""
    with Peer('volumes plain') as peer:
        speedtest('-u', '', '-s', 'plain', '--volume-password', VOLUME_PASSWORD,
                  port=peer.port).expect(DONE)
        opened, = peer.received('FPOpenVol')
        assert VOLUME_PASSWORD.encode() not in opened.frame.payload, opened
    line = pathlib.Path(f'/proc/{server.program.pid}/cmdline').read_bytes()
    assert LOCKED.encode() in line and VOLUME_PASSWORD.encode() not in line, line
    with programs.Program(programs.SPEEDTEST, '-h', '127.0.0.1', '-p', server.port, '-u', '',
                          '-s', LOCKED, '-i', '--volume-password', VOLUME_PASSWORD,
                          stdin=subprocess.PIPE) as running:
        running.process.stderr.readline()       # it waits for Enter
        line = pathlib.Path(f'/proc/{running.pid}/cmdline').read_bytes()
        assert b'--volume-password' in line and VOLUME_PASSWORD.encode() not in line, line


@only('refserver')
def test_volume_password_of_the_own_server():
    programs.speedtest('--refserver', '-d', '64k', '-s', VOLUMES[0], '-S', VOLUMES[1],
                       '--volume-password', VOLUME_PASSWORD, *FOUR).expect(DONE)
    result = programs.run(programs.REFSERVER, '-p', 0, '--volume', 'v,password=123456789')
    result.expect_one_message(USAGE, "volume 'v': a password has 1 to 8 bytes")


tap.main(set_up, tear_down, sys.argv[2:])
