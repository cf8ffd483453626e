#!/usr/bin/python3
"""afp_perftest LINK=host: a server that is elsewhere, no lab, nothing counted."""

import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import programs
import results
import tap
from programs import CANNOT_RUN, DONE, USAGE, run

PERFTEST = programs.BIN_DIR / 'afp_perftest'
REPORT = programs.BIN_DIR / 'afp_report'
QUICK = ('SWEEP=4k,1M', 'ITER=3', 'OPS=Read,Write')
NAME = 'speed-host-127.0.0.1'
SUFFIXES = ('-stderr.log', '.csv', '.gnuplot', '.json', '.png')

scratch = pathlib.Path(tempfile.mkdtemp(prefix='elsewhere-'))
server = {}


def setup():
    server['one'] = programs.Refserver('--user', 'bench:first secret', '--volume', 'bench')


def perftest(*arguments, env=None, **how):
    # no key of the environment but USER, which a login sets anyway
    clean = {'HOST': '', 'PORT': '', 'VOLUME': '', 'PASSWORD_FILE': '', 'LINK': '', 'USER': 'nobody'}
    return run(PERFTEST, *arguments, env={**clean, **(env or {})}, **how)


def outdir():
    return pathlib.Path(tempfile.mkdtemp(dir=scratch)) / 'results'


def files(directory):
    return sorted(path.name for path in directory.iterdir())


def here(*more):
    return ('LINK=host', 'HOST=127.0.0.1', f'PORT={server["one"].port}', 'VOLUME=bench', *more)


def check_files(directory):
    tap.equal(files(directory), [NAME + suffix for suffix in SUFFIXES])
    document = results.load(directory / f'{NAME}.json')
    tap.equal((document['complete'], document['run']['program']), (True, 'afp_perftest'))
    assert 'link' not in document, document['link']
    tap.equal([(case['test'], case['size_bytes'], len([one for one in case['samples']
                                                       if not one['warmup']]))
               for case in document['cases']],
              [(test, size, 3) for size in (4096, 1 << 20) for test in ('Read', 'Write')])
    for path in directory.iterdir():
        assert b'first secret' not in path.read_bytes(), f'the password is in {path}'
    return document


def test_a_guest():
    directory = outdir()
    result = perftest(*here('USER=', *QUICK, f'OUTDIR={directory}')).expect(DONE)
    tap.equal(result.err, '')
    check_files(directory)
    banner = result.out.split('\n\n')[0].splitlines()
    tap.equal([line.split()[0] for line in banner], [NAME, 'server', 'quantum', 'runs'])
    assert 'volume bench, as a guest' in result.out and 'offered 1048576' in result.out, result.out
    assert 'packets' not in result.out, result.out


def test_a_password_from_a_file_or_the_environment():
    secret = scratch / 'secret'
    secret.write_text('first secret\nno part of it\n')
    for more, env in (([f'PASSWORD_FILE={secret}'], {}),
                      (['--password-file', str(secret)], {}),
                      ([], {'AFP_PASSWORD': 'first secret'})):
        directory = outdir()
        perftest(*here('USER=bench', *more, *QUICK, f'OUTDIR={directory}'), env=env).expect(DONE)
        check_files(directory)


def test_a_wrong_password_is_the_test_programs_failure():
    directory = outdir()
    perftest(*here('USER=bench', *QUICK, f'OUTDIR={directory}'),
             env={'AFP_PASSWORD': 'wrong'}).expect(CANNOT_RUN, 'user bench|user .bench')


def test_a_url():
    """Its user goes before the environment's USER, a word before both."""
    place = f'HOST=afp://bench@127.0.0.1:{server["one"].port}/bench'
    directory = outdir()
    perftest('LINK=host', place, *QUICK, f'OUTDIR={directory}',
             env={'AFP_PASSWORD': 'first secret'}).expect(DONE)
    document = check_files(directory)
    assert document['server']['login_method'] != 'No User Authent', document['server']
    directory = outdir()
    perftest('LINK=host', place, 'USER=', *QUICK, f'OUTDIR={directory}').expect(DONE)
    tap.equal(check_files(directory)['server']['login_method'], 'No User Authent')


def test_results_compare():
    directories = [outdir(), outdir()]
    for directory in directories:
        perftest(*here('USER=', *QUICK, f'OUTDIR={directory}')).expect(DONE)
    run(REPORT, '--compare', *[directory / f'{NAME}.json' for directory in directories]).expect(DONE)


def test_dry_run():
    """Needs no password."""
    result = perftest(*here('USER=bench', *QUICK, '--dry-run')).expect(DONE)
    assert result.out.startswith(NAME), result.out


def test_nobody_there():
    directory = outdir()
    perftest('LINK=host', 'HOST=127.0.0.1', 'PORT=1', 'VOLUME=bench', 'USER=',
             f'OUTDIR={directory}').expect_one_message(CANNOT_RUN, 'cannot connect')
    tap.equal(files(directory), [])


USAGE_ERRORS = {
    'no host': (['LINK=host', 'VOLUME=x', 'USER='], 'needs the server.s HOST'),
    'no volume': (['LINK=host', 'HOST=x', 'USER='], 'needs a VOLUME'),
    'no URL': (['LINK=host', 'HOST=ftp://x', 'VOLUME=x', 'USER='], 'HOST'),
    'port': (['LINK=host', 'HOST=x', 'VOLUME=x', 'USER=', 'PORT=70000'], 'PORT'),
    'a shape': (['LINK=host', 'HOST=x', 'VOLUME=x', 'USER=', 'RATE=1gbit'], 'leave out RATE'),
    'a server of ours': (['LINK=host', 'HOST=x', 'VOLUME=x', 'USER=', 'SERVER=refserver'],
                         'leave out SERVER'),
    'a host without its link': (['HOST=x'], 'only LINK=host.*leave out HOST'),
    'no password': (['LINK=host', 'HOST=x', 'VOLUME=x', 'USER=me'],
                    "no password for user 'me'.*PASSWORD_FILE, AFP_PASSWORD"),
    'a password among the flags': (['LINK=host', 'HOST=x', 'VOLUME=x', 'USER=me',
                                    'EXTRA_FLAGS=-w secret'], 'password is not for this'),
}


@tap.cases(USAGE_ERRORS)
def test_usage_errors(arguments, message):
    directory = outdir()
    perftest(*arguments, f'OUTDIR={directory}').expect_one_message(USAGE, message)
    assert not directory.exists(), 'made before the check'


def teardown():
    server['one'].stop()
    shutil.rmtree(scratch, ignore_errors=True)


tap.main(setup, teardown, sys.argv[1:])
