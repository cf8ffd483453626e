#!/usr/bin/python3
"""--mark-fd: what afp_speedtest tells of its runs, and that it waits for the answers."""

import contextlib
import pathlib
import signal
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import programs
import recompute
import results
import tap
from programs import DONE, INTERRUPTED, TEST_FAILED, USAGE

FOUR = ('-f', 'Read,Write,Copy,ServerCopy')
FIELDS = ('bytes', 'read', 'write', 'flush', 'server_copy', 'runts', 'round_trips', 'duration_ns')


def marked(*arguments):
    return programs.Marked('--refserver', *arguments)


@contextlib.contextmanager
def answered(*arguments):
    """A run all of whose marks are answered; gives the result and the marks."""
    with marked(*arguments) as running:
        marks = list(running.marks())
        yield running.wait().expect(DONE), marks


def parse(marks):
    """Pairs of marks, strictly: [test, size, number, kind] and what the end says."""
    assert len(marks) % 2 == 0, marks
    pairs = []
    for begin, end in zip(marks[::2], marks[1::2]):
        assert begin.endswith('\n') and end.endswith('\n'), (begin, end)
        begin, end = begin[:-1].split(' '), end[:-1].split(' ')
        tap.equal((begin[0], end[0]), ('begin', 'end'))
        tap.equal((len(begin), len(end)), (5, 5 + len(FIELDS)))
        tap.equal(end[1:5], begin[1:5], 'of the same run')
        pairs.append((begin[1:], dict(zip(FIELDS, map(int, end[5:])))))
    return pairs


@tap.cases({'one size': ('-d', '64k'), 'a sweep': ('-z', '4k,64k'), 'a small quantum': (
    '-d', '100k', '-q', 64), 'three outstanding': ('-d', '1M', '-q', 64, '-r', 3)})
def test_marks_are_the_rows(*more):
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, 'result.json')
        with answered('-c', '-j', path, *FOUR, '-n', 2, '-W', 1, *more) as (result, marks):
            pairs = parse(marks)
        document = results.load(path)
    tap.equal(result.err, '')
    rows, _sections = results.parse_csv(result.out)
    measured = [pair for pair in pairs if pair[0][3] == 'measured']
    tap.equal([(run[0], run[2]) for run, _end in measured],
              [(row[0], row[1]) for row in rows if row[1]], 'tests and iterations')
    samples = [(case, sample) for case in document['cases'] for sample in case['samples']]
    tap.equal([run for run, _end in pairs],
              [[case['test'], str(case['size_bytes']), str(sample['number']),
                'warmup' if sample['warmup'] else 'measured'] for case, sample in samples])
    for (_run, end), (_case, sample) in zip(pairs, samples):
        tap.equal(end, {'bytes': sample['payload_bytes'], **sample['requests'],
                        'runts': sample['runt_requests'], 'round_trips': sample['round_trips'],
                        'duration_ns': sample['duration_ns']})


ANSWERS = {
    'again': ('again\n', True), 'nothing': ('\n', False), 'another word': ('ok\n', False),
    'the beginning': ('agai\n', False), 'more': ('again 2\n', False), 'no case': ('Again\n', False),
    'a long line': ('again' * 1000 + '\n', False)}


@tap.cases(ANSWERS)
def test_a_run_is_made_again(answer, spoils):
    """Asked for at the end of the first measured run, and only there; it counts for nothing."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, 'result.json')
        found = []
        with marked('-c', '-f', 'Write', '-d', '4k', '-n', 2, '-W', 1, '-y', '-j', path) as running:
            for line in running.lines:
                found.append(line)
                first = line.startswith('end Write 4096 1 measured') and found.count(found[-2]) == 1
                running.answer(answer if first else '\n')
            result = running.wait().expect(DONE)
        document = results.load(path)
    pairs = parse(found)
    again = [['Write', '4096', '1', 'measured']] if spoils else []
    tap.equal([run for run, _end in pairs],
              [['Write', '4096', '1', 'warmup'], *again, ['Write', '4096', '1', 'measured'],
               ['Write', '4096', '2', 'measured']])
    rows, _sections = results.parse_csv(result.out)
    tap.equal([row[1] for row in rows if row[1]], ['1', '2'])
    tap.equal(result.err, '')
    case, = document['cases']
    tap.equal([(one['number'], one['warmup'], one['spoiled']) for one in case['samples']],
              [(1, True, False), (1, False, False), (2, False, False)] +
              [(1, False, True)] * spoils)
    ends = [end['duration_ns'] for _run, end in pairs]
    spoiled = ends[1:2] if spoils else []
    tap.equal([one['duration_ns'] for one in case['samples']],
              ends[:1] + ends[1 + spoils:] + spoiled)
    tap.equal(case['summary']['count'], 2)
    tap.equal(case['summary']['minimum_ns'], min(ends[1 + spoils:]))
    tap.equal(case['summary']['maximum_ns'], max(ends[1 + spoils:]))
    tap.equal(case['service_times']['count'], 2)
    recompute.check_document(document)


def test_not_more_often_than_there_are_iterations():
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, 'result.json')
        found = []
        with marked('-T', '-v', '-f', 'Read', '-d', '4k', '-n', 2, '-W', 0, '-j', path) as running:
            for line in running.lines:
                found.append(line)
                running.answer('again\n')
            result = running.wait().expect(DONE)
        case, = results.load(path)['cases']
    tap.equal([run[2] for run, _end in parse(found)], ['1', '1', '1', '2'])
    tap.equal([(one['number'], one['spoiled']) for one in case['samples']],
              [(1, False), (2, False), (1, True), (1, True)])
    tap.equal(result.err.count(' microsec, spoiled: made again\n'), 2, result.err)
    assert 'Spoiled runs:   2, made again and left out\n' in result.out, result.out


def test_requests_by_hand():
    """100 KiB in requests of 64 KiB: a full one and a runt each time; Write flushes."""
    with answered(*FOUR, '-d', '100k', '-q', 64, '-W', 0) as (_result, marks):
        ends = [{key: value for key, value in end.items() if key != 'duration_ns'}
                for _run, end in parse(marks)]
    wanted = [(102400, 2, 0, 0, 0, 1, 2), (102400, 0, 2, 1, 0, 1, 3), (102400, 2, 2, 0, 0, 2, 4),
              (102400, 0, 0, 0, 1, 0, 1)]
    tap.equal(ends, [dict(zip(FIELDS, row)) for row in wanted])


def test_sessions_mark_once():
    with answered('-f', 'Write', '-d', '64k', '-n', 2, '-W', 0, '--sessions', 3) as (_result, marks):
        pairs = parse(marks)
    tap.equal([run for run, _end in pairs], [['Write', '65536', str(n), 'measured']
                                             for n in (1, 2)])
    tap.equal([(end['bytes'], end['write'], end['flush']) for _run, end in pairs],
              [(3 * 65536, 3, 3)] * 2)


def test_waiting_is_not_timed():
    """Answers that take 2 s each: the run itself, on loopback, must not show them."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, 'result.json')
        with marked('-f', 'Read', '-d', '4k', '-W', 0, '-j', path) as running:
            tap.equal(running.lines.readline(), 'begin Read 4096 1 measured\n')
            time.sleep(2)
            assert running.process.poll() is None, 'it did not wait'
            running.answer()
            end = running.lines.readline()
            time.sleep(2)
            assert running.process.poll() is None, 'it did not wait'
            running.answer()
            running.wait().expect(DONE)
        sample, = results.load(path)['cases'][0]['samples']
    tap.equal(int(end.split()[-1]), sample['duration_ns'])
    assert sample['duration_ns'] < 2e9, 'the wait is in the timing'
    assert sample['waited_ns'] < 2e9, 'the wait counts as waiting for the server'


@tap.cases({'begin': 1, 'end': 2})
def test_no_answer(marks):
    with marked('-f', 'Write', '-d', '4k', '--timeout', 1) as running:
        for _ in range(marks - 1):
            running.lines.readline()
            running.answer()
        running.wait().expect_one_message(TEST_FAILED, r'no answer to a mark.*--timeout')


@tap.cases({'begin': 1, 'end': 2})
def test_other_side_closed(marks):
    with marked('-f', 'Write', '-d', '4k') as running:
        for _ in range(marks - 1):
            running.lines.readline()
            running.answer()
        running.lines.readline()
        running.near.shutdown(socket.SHUT_RDWR)
        running.wait().expect_one_message(TEST_FAILED, r'mark-fd \d+: the other side closed it')


def test_interrupted_while_waiting():
    with marked('-f', 'Write', '-d', '4k') as running:
        running.lines.readline()
        running.process.send_signal(signal.SIGINT)
        running.wait().expect_one_message(INTERRUPTED)


@tap.cases({'closed': ('9', 'no such descriptor'), 'negative': ('-1', 'mark-fd'),
            'no number': ('9x', 'mark-fd'), 'too large': ('4294967296', 'mark-fd'),
            'read only': ('0', 'readable and writable')})
def test_bad_descriptors(fd, message):
    """Known before anything is made: a server that nobody answers would take longer."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, 'result.json')
        programs.speedtest('--refserver', '--mark-fd', fd, '-j', path, text='') \
            .expect_one_message(USAGE, message)
        tap.equal(list(path.parent.iterdir()), [])


def test_probe():
    """How others find out whether a program has the option."""
    programs.speedtest('--mark-fd', 3, '--version').expect(DONE)


tap.main()
