#!/usr/bin/python3
"""Where the results go and what becomes of them when something is in the way."""

import contextlib
import datetime
import os
import pathlib
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import afpclient
import expected
import figures
import programs
import recompute
import results
import tap
from peer import Peer
from programs import CANNOT_RUN, DONE, INTERRUPTED, TEST_FAILED, as_guest, speedtest

FOUR = ('-f', 'Read,Write,Copy,ServerCopy')
SMALL = ('-d', '4k', '-n', 2)
server = None       # a refserver with the volume `bench`; set by set_up


def set_up():
    global server
    server = programs.Refserver('--volume', 'bench')


def tear_down():
    if server:
        server.stop()


def run(*more, **options):
    return speedtest(*as_guest(server, *more), **options)


@contextlib.contextmanager
def result_path():
    """A place for a result document, in a directory that is removed."""
    with tempfile.TemporaryDirectory() as directory:
        yield pathlib.Path(directory, 'result.json')


def part_of(path):
    return path.with_name(path.name + '.part')


# ------------------------------------------------------------------------------------- surroundings

@tap.cases({'text': (['-T'], expected.text_lines), 'CSV': (['-c', '-z', '4k'], expected.csv_lines)})
def test_decimal_comma_in(arguments, lines):
    with programs.decimal_comma() as env:
        result, document = results.run(run, *SMALL[2:], *FOUR, *arguments, env=env)
    recompute.check_document(document)
    figures.compare_text(result.out, lines(document, True))
    run('-d', '0.5', '-t', '0', env=env).expect(DONE)


@tap.cases({'Pacific/Kiritimati': 'Pacific/Kiritimati', '14 hours east': '<+14>-14'})
def test_start_is_UTC_in(zone):
    _result, document = results.run(run, *SMALL, env={'TZ': zone})
    started = datetime.datetime.strptime(document['run']['started'], '%Y-%m-%dT%H:%M:%SZ')
    away = datetime.datetime.utcnow() - started
    assert abs(away.total_seconds()) < 100, f'started {document["run"]["started"]}'


# ------------------------------------------------------------------------------ nowhere to write to

OUTPUTS = {
    'text': SMALL,
    'text with statistics': (*SMALL, '-T'),
    'CSV': (*SMALL, '-c'),
    'CSV of a sweep': ('-z', '4k,8k', '-c'),
    'JSON': (*SMALL, '-j', '-'),
}


@tap.cases({name: (arguments,) for name, arguments in OUTPUTS.items()})
def test_stdout_full(arguments):
    with open('/dev/full', 'w', encoding='ascii') as full:
        run(*arguments, stdout=full).expect_one_message(TEST_FAILED, 'No space left')
    tap.equal(afpclient.listing(server), {}, 'left on the volume')


@tap.cases({name: (arguments,) for name, arguments in OUTPUTS.items()})
def test_stdout_is_a_closed_pipe(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, 'w') as closed:
        run(*arguments, stdout=closed).expect_one_message(TEST_FAILED, 'Broken pipe')
    tap.equal(afpclient.listing(server), {}, 'left on the volume')


def test_stdout_is_closed_in_mid_run():
    arguments = as_guest(server, '-c', '-d', '4k', '-n', 1000000)
    with programs.Program(programs.SPEEDTEST, *arguments) as running:
        running.process.stdout.readline()
        running.process.stdout.close()
        running.process.stdout = None
        running.wait(20).expect_one_message(TEST_FAILED, 'Broken pipe')
    tap.equal(afpclient.listing(server), {}, 'left on the volume')


def test_a_full_stdout_does_not_cost_the_document():
    with open('/dev/full', 'w', encoding='ascii') as full:
        _result, document = results.run(run, '-d', '4k', '-n', 3, code=TEST_FAILED, stdout=full)
    tap.equal(document['complete'], False)
    assert 'No space left' in document['failure'], document['failure']
    tap.equal([case['complete'] for case in document['cases']], [False])


# path: where the document cannot go
NO_PLACE = {
    'a missing directory': '/nonexistent/result.json',
    'a directory': '/tmp',
    'below a file': '/etc/passwd/result.json',
    'a pipe': 'PIPE',
    'a name too long': 'x' * 5000,
    'a last part too long': 'x' * 255,
}


@tap.cases(NO_PLACE)
def test_document_cannot_go_to(path):
    with Peer() as peer, result_path() as pipe:
        os.mkfifo(pipe)
        path = pipe if path == 'PIPE' else path
        result = speedtest(*as_guest(peer, *SMALL, '-j', path)).expect_one_message(CANNOT_RUN)
        tap.equal(result.out, '')
        peer.finish()
        tap.equal(peer.names('FPCreate*') + peer.names('FPWrite*'), [], 'done on the server')
        tap.equal([entry.name for entry in pipe.parent.iterdir()], [pipe.name], 'files')
        assert pipe.is_fifo(), 'the pipe was replaced'


def test_a_pipe_is_not_replaced_when_the_login_fails():
    with Peer('on FPLogin*: serve code=-5023') as peer, result_path() as pipe:
        os.mkfifo(pipe)
        speedtest(*as_guest(peer, '-j', pipe)).expect_one_message(CANNOT_RUN, '-5023')
        assert pipe.is_fifo(), 'the pipe was replaced'


def test_document_without_a_name():
    run('-j', '').expect_one_message(programs.USAGE, '-j')


def test_no_room_for_the_document():
    with result_path() as path:
        limited = ['-c', 'trap "" XFSZ; ulimit -f 8; exec "$@"', 'sh', programs.SPEEDTEST]
        result = programs.run('/bin/sh', *limited,
                              *as_guest(server, '-d', '4k', '-n', 50, '-j', path))
        tap.equal(result.code, TEST_FAILED)
        tap.equal(result.err.count('\n'), 1, result.err)
        assert 'too large' in result.err, result.err
        tap.equal([entry.name for entry in path.parent.iterdir()], [part_of(path).name])
        tap.equal(results.load(part_of(path))['complete'], False)
    tap.equal(afpclient.listing(server), {}, 'left on the volume')


def test_an_older_document_is_replaced():
    with result_path() as path:
        path.write_text('older', encoding='ascii')
        run(*SMALL, '-j', path).expect(DONE)
        tap.equal(results.load(path)['complete'], True)
        tap.equal(len(list(path.parent.iterdir())), 1)


# ------------------------------------------------------------------------------------- an early end

@contextlib.contextmanager
def stopped_in_mid_sweep(path, number):
    """A sweep that got the signal after two of its cases, and its result."""
    with programs.Marked(*as_guest(server, '-c', '-z', '4k,8k,16k', '-n', 2, '-f', 'Read,Write',
                             '-j', path)) as running:
        running.stop_at('begin Read 8192 ')
        running.interrupt(number)
        yield running.wait(20)


def test_a_killed_run_leaves_the_finished_cases():
    with result_path() as path, stopped_in_mid_sweep(path, signal.SIGKILL):
        # and its claim, which has no owner any more
        tap.equal(sorted(entry.name for entry in path.parent.iterdir()),
                  [f'.{path.name}.lock', part_of(path).name])
        document = results.load(part_of(path))
    recompute.check_document(document)
    tap.equal((document['complete'], document['failure']), (False, None))
    tap.equal([(case['test'], case['size_bytes'], case['complete'], len(case['samples']))
               for case in document['cases']],
              [('Read', 4096, True, 3), ('Write', 4096, True, 3)])
    run('--clean')
    tap.equal(afpclient.listing(server), {}, 'left on the volume')


@tap.cases({'SIGINT': signal.SIGINT, 'SIGTERM': signal.SIGTERM})
def test_a_run_stopped_by(number):
    with result_path() as path, stopped_in_mid_sweep(path, number) as result:
        result.expect_one_message(INTERRUPTED)
        tap.equal([entry.name for entry in path.parent.iterdir()], [path.name])
        document = results.load(path)
    recompute.check_document(document)
    tap.equal(document['complete'], False)
    assert 'interrupted' in document['failure'], document['failure']
    tap.equal([case['complete'] for case in document['cases']], [True, True, False])
    assert document['cases'][2]['failure'], 'the case that was stopped has no failure'
    results.parse_csv(result.out)
    figures.compare_text(result.out, expected.csv_lines(document, True))
    tap.equal(afpclient.listing(server), {}, 'left on the volume')


@tap.limit(90)
def test_a_run_killed_at_any_moment_leaves_a_whole_document():
    for kill in range(25):
        with result_path() as path:
            arguments = as_guest(server, '-z', ','.join(['4k'] * 30), '-n', 40, '-j', path)
            with programs.Program(programs.SPEEDTEST, *arguments) as running:
                programs.wait_until(part_of(path).exists, 'a document')
                time.sleep(0.02 * kill)
                running.interrupt(signal.SIGKILL)
                running.wait(10)
            left = path if path.exists() else part_of(path)
            recompute.check_document(results.load(left))
    run('--clean')


# --------------------------------------------------------------------------------------- -j - alone

# what happens: (arguments of the server, exit code, cases in the document, part of the failure)
FAILURES = {
    'login': (['--fault', 'code=-5023@FPLogin*'], CANNOT_RUN, 0, '-5023'),
    'volume': (['--volume', 'other'], CANNOT_RUN, 0, '-5018'),
    'closes at once': (['--fault', 'close'], CANNOT_RUN, 0, 'clos'),
    'first run': (['--fault', 'code=-5000@FPReadExt#2'], TEST_FAILED, 1, '-5000'),
    'second case': (['--fault', 'code=-5014@FPFlushFork#4'], TEST_FAILED, 2, '-5014'),
    'connection lost': (['--fault', 'close@FPReadExt#2'], TEST_FAILED, 1, 'clos'),
}


@tap.cases(FAILURES)
def test_stdout_is_one_document_also_after_failure_of(faulty, code, cases, failure):
    with programs.Refserver(*faulty) as failing:
        result = speedtest(*as_guest(failing, '-j', '-', '-T', *SMALL, '-f', 'Read,Write')).expect(
            code)
    document = results.parse(result.out)
    recompute.check_document(document)
    tap.equal((document['complete'], len(document['cases'])), (False, cases))
    assert failure in document['failure'], document['failure']
    assert document['failure'] in result.err, f'another failure is told: {result}'


def test_stdout_is_one_document():
    result = run('-j', '-', '-z', '4k,8k', *FOUR).expect(DONE)
    document = results.parse(result.out)
    recompute.check_document(document)
    tap.equal((document['complete'], len(document['cases'])), (True, 8))


def test_stdout_is_one_document_after_an_interrupt():
    arguments = as_guest(server, '-j', '-', '-d', '4k', '-n', 2, '-t', 30)
    with programs.Program(programs.SPEEDTEST, *arguments) as running:
        programs.wait_until(lambda: afpclient.listing(server), 'a directory')
        running.interrupt()
        result = running.wait(20).expect_one_message(INTERRUPTED)
    tap.equal(results.parse(result.out)['complete'], False)


# -------------------------------------------------------------------------------------- odd figures

def test_a_sweep_of_one_run_has_true_summaries():
    result, document = results.run(run, '-c', '-z', '4k,1M', '-n', 1, *FOUR)
    figures.compare_text(result.out, expected.csv_lines(document, True))
    rows, sections = results.parse_csv(result.out)
    tap.equal([row[0] for row in rows], FOUR[1].split(',') * 2, 'no summary rows')
    for title, block in sections.items():
        if title.startswith(results.TITLE):
            tap.equal([row[6] for row in block], ['0.0', '0.0'], 'deviation')
            assert all(float(row[2]) > 0 for row in block), f'no rate: {block}'


@tap.cases({'text': ['-T'], 'CSV': ['-c'], 'JSON': ['-j', '-'],
            'CSV of a sweep': ['-c', '-z', '1b']})
def test_a_byte_on_the_null_store_in(arguments):
    size = [] if '-z' in arguments else ['-d', '1b']
    for runs in (1, 2, 30):
        result = speedtest('--refserver=null', *size, *FOUR, '-n', runs, *arguments).expect(DONE)
        words = result.out.lower().replace(',', ' ').replace('(', ' ').split()
        for odd in ('nan', '-nan', 'inf', '-inf', 'infinity', '-0', '-0.0', '-0.00', 'nan%'):
            assert odd not in words, f'{odd} in {result}'
        if '-j' in arguments:
            recompute.check_document(results.parse(result.out))


def test_d_is_a_single_size():
    result = run('-c', '-d', 64, '-n', 1, '-W', 0, '-f', 'Read', '-e').expect(DONE)
    rows, sections = results.parse_csv(result.out)
    tap.equal(([row[:3] for row in rows], sections), ([['Read', '1', '64.000']], {}))


# size as it is given: bytes
BYTES = {'0.004': 4194, '0.00390625': 4096, '1': 1 << 20, '1.5': 3 << 19, '4k': 4096, '1b': 1,
         '0.0009765625': 1024}


@tap.cases({text: (text, size) for text, size in BYTES.items()})
def test_size_in_a_sweep(text, size):
    _result, document = results.run(run, '-z', text, '-f', 'Read')
    tap.equal([case['size_bytes'] for case in document['cases']], [size])


@tap.cases({str(warmups): warmups for warmups in (0, 1, 3)})
def test_warm_ups_are_told_only_in_the_document(warmups):
    for arguments in ([], ['-c']):
        result, document = results.run(run, '-d', '4k', '-n', 2, '-W', warmups, *arguments)
        samples = document['cases'][0]['samples']
        tap.equal([sample['warmup'] for sample in samples], [True] * warmups + [False] * 2)
        rows = [line for line in result.out.split('\n') if line[:1].isdigit() or 'Write,' in line]
        tap.equal(len(rows), 2, result.out)


tap.main(set_up, tear_down)
