#!/usr/bin/python3
"""afp_report on stored results: made-up ones, and real ones of the embedded server.

What needs the program: options, exit codes, both outputs, files, real results end to end. How
results are read is in tests/unit/test_read_results.c; verdicts, conditions, gates and the text of
each format are in tests/unit/test_comparison.c.
"""

import json
import os
import pathlib
import stat
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import programs
import tap
from programs import CANNOT_RUN, DONE, TEST_FAILED, USAGE, run, speedtest

REPORT = programs.BIN_DIR / 'afp_report'
RUNS = 20
KIB, MIB = 1 << 10, 1 << 20

WORK = tempfile.TemporaryDirectory()
DIRECTORY = pathlib.Path(WORK.name)


# ------------------------------------------------------------------------------------ made-up files

def sample(number, duration_ns, warmup=False):
    return {'number': number, 'warmup': warmup, 'duration_ns': duration_ns, 'bytes': MIB,
            'requests': {'read': 1, 'write': 0, 'flush': 0, 'server_copy': 0}}


def durations(base_ns, count=RUNS):
    """Spread over 2 % in an order that looks random."""
    return [round(base_ns * (1 + 0.001 * (i * 7 % 20))) for i in range(count)]


def case(test, size, base_ns, count=RUNS, **changes):
    samples = [sample(1, round(10 * base_ns), warmup=True)]
    samples += [sample(i + 1, ns) for i, ns in enumerate(durations(base_ns, count))]
    return {'test': test, 'size_bytes': size, 'chunk_bytes': MIB, 'sparse': False,
            'outstanding': 1, 'interleaved': True, 'sessions': 1,
            'sink': 'copy' if test == 'Read' else None, 'flush': False, 'new_files': False,
            'existing_file': False, 'complete': True, 'failure': None, 'samples': samples,
            **changes}


def document(*cases, **changes):
    parts = {
        'schema': 'afpbench-result', 'schema_version': 1, 'complete': True, 'failure': None,
        'run': {'program': 'afp_speedtest', 'version': '0.1', 'arguments': ['afp_speedtest'],
                'started': '2026-11-30T10:00:00Z'},
        'host': {'kernel': 'Linux 6.1', 'machine': 'x86_64', 'cpu': 'Some <CPU> & "more"',
                 'cpu_count': 2},
        'server': {'machine_type': 'Netatalk4.5.1', 'quantum_offered_bytes': MIB,
                   'reference_store': None, 'afp_version': 'AFP3.4', 'second_volume': False},
        'file_system': None,
        'cases': list(cases)}
    for name, value in changes.items():
        parts[name] = {**parts[name], **value} if isinstance(value, dict) else value
    return parts


def stored(name, content):
    path = DIRECTORY / name
    path.write_text(content if isinstance(content, str) else json.dumps(content),
                    encoding='utf-8')
    return path


HEADER = 'test_name,iteration,file_size_mb,microseconds,throughput_mbs\n'

BEFORE = stored('before.json', document(case('Read', 64 * KIB, 1e6), case('Write', MIB, 1e6)))
SLOWER = stored('slower.json', document(case('Read', 64 * KIB, 1.2e6), case('Write', MIB, 1e6)))
RATIO = 'ratio only'


def invocation(number, read_ns, write_ns=1e6):
    """One of a set: it started `number` minutes past ten, and differs by up to 2 % from the others."""
    noise = 1 + 0.001 * (number * 7 % 20)
    return document(case('Read', 64 * KIB, read_ns * noise, 3),
                    case('Write', MIB, write_ns * noise, 3),
                    run={'started': f'2026-11-30T10:{number:02}:00Z'})


def stored_set(name, read_ns, count=RUNS):
    """A directory of invocations, whose names are not in the order of their starts."""
    directory = DIRECTORY / name
    directory.mkdir(exist_ok=True)
    for number in range(count):
        stored(f'{name}/{number * 7 % count:02}.json', invocation(number, read_ns))
    return directory


def stored_pairs(name, read_ns, count=RUNS, planned=RUNS, **changes):
    """A document of pairs, B before A in every third."""
    invocations = []
    for number in range(count):
        for place, side in enumerate('BA' if number % 3 == 0 else 'AB'):
            base_ns = read_ns if side == 'B' else 1e6
            invocations.append({'side': side, 'pair': number + 1, 'place': place + 1,
                                'result': invocation(number, base_ns)})
    return stored(name, {'schema': 'afpbench-invocations', 'schema_version': 1, 'seed': 1,
                         'planned_pairs': planned, 'invocations': invocations, **changes})


def compare(*arguments, **options):
    return run(REPORT, '--compare', *arguments, **options)


def verdicts(result):
    """{(operation, size): verdict} of a text report."""
    found = {}
    for line in result.out.splitlines():
        words = line.split()
        if words and words[0] in ('Read', 'Write', 'Copy', 'ServerCopy') and len(words) > 8 \
                and not line.startswith(' '):
            found[words[0], ' '.join(words[1:3])] = line.split('  ')[-1].strip()
    return found


# ------------------------------------------------------------------------------------- command line

def test_help_and_version():
    result = run(REPORT, '--help').expect(DONE)
    tap.equal(result.err, '')
    for word in ('--compare', '--fail-if', '--force', '--format', '--output', '-o', '--version'):
        assert word in result.out, word
    assert run(REPORT, '--version').expect(DONE).out.startswith('afp_report (afpbench) ')


@tap.cases({
    'nothing to do': ([], 'nothing to do'),
    'no --compare': ([BEFORE, SLOWER], 'nothing to do'),
    'no result': (['--compare'], 'not 0'),
    'nothing before --': (['--compare', '--', BEFORE], 'no result stands before --'),
    'nothing after --': (['--compare', BEFORE, '--'], 'not 1'),
    'undecided': (['--compare', BEFORE, SLOWER, '--undecided', 'fail'], 'is not pass'),
    'three results': (['--compare', BEFORE, SLOWER, BEFORE], 'not 3'),
    'unknown option': (['--compare', BEFORE, SLOWER, '--colour'], 'unknown'),
    'unknown format': (['--compare', BEFORE, SLOWER, '--format', 'html'],
                       "'html' is none of text, markdown, junit"),
    'gate': (['--compare', BEFORE, SLOWER, '--fail-if', 'slower>5'],
             r"'slower>5' is no gate; the form is slower\|faster\[>NUMBER%\]"),
    'gate missing': (['--compare', BEFORE, SLOWER, '--fail-if'], 'no value'),
})
def test_usage(arguments, pattern):
    result = run(REPORT, *arguments).expect_one_message(USAGE, pattern)
    tap.equal(result.out, '')


# ----------------------------------------------------------------------------------------- verdicts

def test_one_invocation_a_side():
    result = compare(BEFORE, SLOWER).expect(DONE)
    tap.equal(result.err, '')
    tap.equal(verdicts(result), {('Read', '64 KiB'): RATIO, ('Write', '1 MiB'): RATIO})
    assert ' 1.200 ' in result.out and 'One invocation a side: ratios only' in result.out, result


def test_a_catastrophe_in_one_invocation_passes_nothing():
    """A server 1,000 times slower, in seven cases of five runs."""
    sizes = [64 * KIB << i for i in range(7)]
    before = stored('good.json', document(*[case('Read', size, 1e6, 5) for size in sizes]))
    after = stored('bad.json', document(*[case('Read', size, 1e9, 5) for size in sizes]))
    for more in ([], ['--accept-drift']):
        result = compare(before, after, '--fail-if', 'slower>5%', *more).expect(CANNOT_RUN)
        tap.equal(len(result.err.splitlines()), 7)
        assert 'not decided: one invocation a side' in result.err and 'afp_perftest AB' in result.err
        assert ' 1000.000 ' in result.out, result
    compare(before, after, '--fail-if', 'slower>5%', '--undecided', 'pass').expect(DONE)
    xml_text = compare(before, after, '--fail-if', 'slower>5%', '--format', 'junit').out
    suite = xml.etree.ElementTree.fromstring(xml_text)
    tap.equal((suite.get('failures'), suite.get('errors'), len(list(suite.iter('error')))),
              ('0', '7', 7))


def test_sets():
    before, after = stored_set('before', 1e6), stored_set('after', 1.2e6)
    result = compare(before, '--', after).expect(DONE)
    tap.equal(verdicts(result), {('Read', '64 KiB'): 'slower, by 20.0 to 20.0 %',
                                 ('Write', '1 MiB'): 'no difference shown: 0.0 to 0.0 % slower'})
    assert 'Measured one after the other: a hint' in result.out, result
    files = [sorted(directory.iterdir()) for directory in (before, after)]
    listed = compare(*files[0], '--', *files[1], '--fail-if', 'slower>5%').expect(CANNOT_RUN)
    tap.equal(verdicts(listed), verdicts(result))
    assert 'not decided: measured one after the other' in listed.err, listed


@tap.cases({
    'holds': ('slower>25%', DONE),
    'is reached': ('slower>20.5%,slower>19.5%', TEST_FAILED),
    'fails': ('faster,slower>99%,slower', TEST_FAILED),
})
def test_gate(gate, code):
    before, after = stored_set('before', 1e6), stored_set('after', 1.2e6)
    result = compare(before, '--', after, '--accept-drift', '--fail-if', gate)
    if code == DONE:
        tap.equal(result.expect(DONE).err, '')
    else:
        result.expect_one_message(code, "Read 64 KiB, '", 'failed: 20.0 to 20.0 % slower')
        assert 'Write' not in result.err, result
    assert verdicts(result), result


def test_pairs():
    pairs = stored_pairs('pairs.json', 1.2e6)
    result = compare(pairs, '--fail-if', 'slower>5%').expect(TEST_FAILED)
    tap.equal(verdicts(result)['Read', '64 KiB'], 'slower, by 20.0 to 20.0 %')
    assert 'Measured in pairs in random order' in result.out, result
    compare(pairs, '--fail-if', 'slower>25%').expect(DONE)
    few = stored_pairs('few.json', 1e9, count=5, planned=5)
    compare(few, '--fail-if', 'slower>5%').expect(
        CANNOT_RUN, 'not decided: 5 pairs cannot decide 2 cases; needs 3 more')


@tap.cases({
    'no look': ({'planned': 19}, '20 pairs of a plan of 19: only 19, 38 or 76 may be looked at'),
    'half a pair': ({'invocations': [{'side': 'A', 'pair': 1, 'place': 1,
                                      'result': invocation(1, 1e6)}]}, 'makes no whole pair'),
    'twice the same': ({'invocations': [{'side': 'A', 'pair': 1, 'place': 1,
                                         'result': invocation(1, 1e6)}] * 2},
                       'makes no whole pair'),
    'no side': ({'invocations': [{'side': 'C', 'pair': 1, 'place': 1}]}, 'side: expected'),
    'no result': ({'invocations': [{'side': 'A', 'pair': 1, 'place': 1}]}, r'invocations\[0\]'),
    'nothing': ({'invocations': []}, 'a pair is not whole'),
    'no plan': ({'planned_pairs': -1}, 'planned_pairs: expected'),
    'another version': ({'schema_version': 2}, 'schema_version: expected 1'),
})
def test_pairs_that_are_none(changes, pattern):
    path = stored_pairs('broken-pairs.json', 1e6, **changes)
    compare(path).expect_one_message(CANNOT_RUN, pattern)


def test_pairs_stand_alone():
    pairs = stored_pairs('pairs.json', 1e6)
    compare(pairs, pairs).expect_one_message(CANNOT_RUN, 'give it alone')
    compare(BEFORE).expect_one_message(CANNOT_RUN, 'holds no pairs')


def test_nothing_in_common():
    other = stored('other.json', document(case('Copy', MIB, 1e6)))
    result = compare(BEFORE, other).expect_one_message(CANNOT_RUN, 'no test and size is in both')
    tap.equal(result.out, '')


def test_incomplete():
    broken = stored('broken.json', document(
        case('Read', 64 * KIB, 1e6), case('Write', MIB, 1e6, count=0, complete=False),
        complete=False, failure='FPWriteExt: -5008 (no more space)'))
    result = compare(BEFORE, broken).expect_one_message(
        DONE, r'broken.json is incomplete \(FPWriteExt: -5008 \(no more space\)\)')
    tap.equal(verdicts(result), {('Read', '64 KiB'): RATIO,
                                 ('Write', '1 MiB'): 'no measured run in B'})


# --------------------------------------------------------------------------------------- conditions

@tap.cases({
    'of the whole': ({}, {'host': {'kernel': 'Linux 6.2'}},
                     'kernel: Linux 6.1 in A, Linux 6.2 in B'),
    'of cases': ({'chunk_bytes': 65536}, {},
                 'chunk in bytes: 1048576 in A, 65536 in B (Read 64 KiB and 1 more)'),
})
def test_different_conditions(of_case, of_whole, message):
    other = stored('other.json', document(case('Read', 64 * KIB, 1e6, **of_case),
                                          case('Write', MIB, 1e6, **of_case), **of_whole))
    result = compare(BEFORE, other).expect(CANNOT_RUN)
    tap.equal(result.out, '')
    tap.equal(result.err, f'afp_report: {message}\nafp_report: the conditions differ, so the '
              'results do not compare; --force does it anyway\n')
    result = compare(BEFORE, other, '--force').expect(DONE)
    tap.equal(result.err, f'afp_report: warning: {message}\n')
    assert message in result.out, result


# ------------------------------------------------------------------------------------------ formats

def test_real_csv_of_netatalk():
    """What Netatalk's afp_speedtest 4.5.1 printed: -c -z 0.0625,1,16 -f Read,Write -n 10."""
    path = pathlib.Path(__file__).resolve().parents[1] / 'data/netatalk-4.5.1-speedtest.csv'
    result = compare(path, path).expect(DONE)
    tap.equal(verdicts(result), {(test, size): RATIO for test in ('Read', 'Write')
                                 for size in ('64 KiB', '1 MiB', '16 MiB')})
    assert ' 10  ' in result.out and '(Netatalk CSV; conditions not recorded)' in result.out, result


@tap.cases({
    'not there': (None, "cannot open '.*bad'"),
    'text': ('hello\n', 'bad is no result'),
    'broken CSV': (HEADER + 'Read,1,0.062,1,1.00\nRead,2,0.062,-1,1.00\n',
                   'bad: line 3: expected a whole number in column 4'),
})
def test_unreadable(content, pattern):
    path = DIRECTORY / 'bad'
    path.unlink(missing_ok=True)
    if content is not None:
        stored('bad', content)
    for files in ((BEFORE, path), (path, BEFORE)):
        result = compare(*files).expect_one_message(CANNOT_RUN, pattern)
        tap.equal(result.out, '')


def test_names_that_need_escapes():
    strange = stored('a<b>&"c"|\x1b[1m\n.json', BEFORE.read_text(encoding='utf-8'))
    for form in ('text', 'markdown', 'junit'):
        result = compare(strange, SLOWER, '--format', form).expect(DONE)
        assert '\x1b' not in result.out, result
        if form == 'junit':
            suites = xml.etree.ElementTree.fromstring(result.out)
            properties = {item.get('name'): item.get('value') for item in suites.iter('property')}
            tap.equal(properties['CPU A'], 'Some <CPU> & "more"')


# ------------------------------------------------------------------------------------------- output

def test_output_file():
    directory = DIRECTORY / 'out'
    directory.mkdir()
    path = directory / 'report.txt'
    path.write_text('old', encoding='ascii')
    result = compare(BEFORE, SLOWER, '-o', path).expect(DONE)
    tap.equal(result.out, '')
    tap.equal(path.read_text(encoding='utf-8'), compare(BEFORE, SLOWER).out)
    tap.equal(os.listdir(directory), ['report.txt'])
    mask = os.umask(0)
    os.umask(mask)
    tap.equal(stat.S_IMODE(path.stat().st_mode), 0o666 & ~mask)
    compare(BEFORE, SLOWER, '-o', path, '--fail-if', 'slower').expect(CANNOT_RUN)
    assert 'not decided' in path.read_text(encoding='utf-8')


def test_the_output_belongs_to_one_report_from_its_start():
    """The first still waits for its results, in a pipe, when the second comes."""
    path, results = DIRECTORY / 'owned.txt', DIRECTORY / 'results.pipe'
    os.mkfifo(results)
    with programs.Program(REPORT, '--compare', results, SLOWER, '-o', path) as first:
        first.asleep()
        compare(BEFORE, SLOWER, '-o', path).expect_one_message(
            USAGE, f"'{path}' belongs to another run", f'process {first.pid}')
        assert not path.exists(), 'the second wrote'
        results.write_bytes(BEFORE.read_bytes())
        first.wait().expect(DONE)
    text = path.read_text(encoding='utf-8')
    tap.equal(text.replace(str(results), str(BEFORE)), compare(BEFORE, SLOWER).out)
    tap.equal([name for name in os.listdir(DIRECTORY) if 'owned' in name], ['owned.txt'])


def test_output_that_cannot_be_written():
    missing = DIRECTORY / 'missing' / 'report.txt'
    compare(BEFORE, SLOWER, '-o', missing).expect_one_message(CANNOT_RUN, 'report.txt')
    compare(BEFORE, SLOWER, '-o', DIRECTORY).expect_one_message(CANNOT_RUN, 'Is a directory')
    compare(BEFORE, SLOWER, '-o', '/dev/full').expect_one_message(CANNOT_RUN, 'No space left')
    assert stat.S_ISCHR(os.stat('/dev/full').st_mode)
    tap.equal([name for name in os.listdir(DIRECTORY) if 'report.txt' in name], [])


def test_refused_results_leave_the_output_alone():
    path = stored('kept.txt', 'old')
    compare(BEFORE, DIRECTORY / 'not-there', '-o', path).expect_one_message(CANNOT_RUN)
    tap.equal(path.read_text(encoding='ascii'), 'old')


def test_full_disk():
    with open('/dev/full', 'w', encoding='ascii') as full:
        compare(BEFORE, SLOWER, stdout=full).expect_one_message(CANNOT_RUN, 'No space left')
        run(REPORT, '--help', stdout=full).expect_one_message(TEST_FAILED)


def test_closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, 'w') as pipe:
        compare(BEFORE, SLOWER, stdout=pipe).expect_one_message(CANNOT_RUN, 'Broken pipe')


def test_locale_does_not_matter():
    with programs.decimal_comma() as env:
        result = compare(BEFORE, SLOWER, env=env).expect(DONE)
    tap.equal(result.out, compare(BEFORE, SLOWER).out)


# ------------------------------------------------------------------------------------- real results

def measured(name, *arguments, target=('--refserver',)):
    path, rows = DIRECTORY / f'{name}.json', DIRECTORY / f'{name}.csv'
    result = speedtest(*target, '-n', '8', '-z', '4k,64k,1', '-f', 'Read,Write', '-c',
                       '-j', path, *arguments).expect(DONE)
    rows.write_text(result.out, encoding='ascii')
    return path, rows


def test_real_results():
    path, rows = measured('first')
    other, _rows = measured('second', '-q', '4')
    known = {(test, size): RATIO for test in ('Read', 'Write')
             for size in ('4 KiB', '64 KiB', '1 MiB')}
    tap.equal(verdicts(compare(path, path).expect(DONE)), known)
    # the CSV rounds times to microseconds: a run of 20 of them may look 2 % slower
    tap.equal(set(verdicts(compare(path, rows).expect(DONE, 'no conditions'))), set(known))
    refused = compare(path, other).expect(CANNOT_RUN, 'chunk in bytes: 1048576 in A, 4096 in B')
    tap.equal(refused.out, '')
    tap.equal(set(verdicts(compare(path, other, '--force').expect(DONE))), set(known))


@tap.cases({
    'no flush': (['-a'], r'flush: yes in A, no in B \(Write 4 KiB and 2 more\)'),
    'sink': (['--sink', 'verify'], r'sink: copy in A, verify in B \(Read 4 KiB and 2 more\)'),
    'new files': (['-y'], r'new files: no in A, yes in B \(Read 4 KiB and 5 more\)'),
})
def test_real_options(arguments, message):
    path, _rows = measured('plain')
    other, _rows = measured('changed', *arguments)
    result = compare(path, other).expect(CANNOT_RUN, message)
    tap.equal(len(result.err.splitlines()), 2)


def test_real_stores():
    """The null store keeps nothing: what it measures is another thing."""
    path, _rows = measured('memory')
    other, _rows = measured('null', target=('--refserver=null',))
    result = compare(path, other).expect(CANNOT_RUN)
    tap.equal(result.out, '')
    tap.equal(result.err.splitlines()[:-1],
              ['afp_report: reference store: memory in A, null in B'])


def test_real_directory():
    """AFP against POSIX calls: how people compare it with NFS."""
    path, _rows = measured('server')
    places = []
    for name in ('one', 'two'):
        (DIRECTORY / name).mkdir()
        places.append(measured(name, target=('-L', '-s', DIRECTORY / name))[0])
    refused = compare(path, places[0]).expect(CANNOT_RUN, 'target: AFP server in A, directory in B')
    tap.equal((refused.out, len(refused.err.splitlines())), ('', 2))
    result = compare(path, places[0], '--force').expect(
        DONE, 'warning: target: AFP server in A, directory in B')
    tap.equal(len(verdicts(result)), 6)
    tap.equal(len(result.err.splitlines()), 1)
    assert f'directory {DIRECTORY}/one on ' in result.out, result
    tap.equal(compare(*places).expect(DONE).err, '')


if __name__ == '__main__':
    tap.main(teardown=WORK.cleanup)
