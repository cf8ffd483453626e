#!/usr/bin/python3
"""afp_report on stored results: made-up ones, and real ones of the embedded server."""

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
        parts[name] = {**(parts[name] or {}), **value} if isinstance(value, dict) else value
    return parts


def of_directory(*cases, **changes):
    """A result of afp_speedtest -L."""
    return document(*cases, server=None, file_system={
        'directory': '/mnt/nfs', 'second_directory': None, 'type': 'nfs4', 'direct': False,
        **changes})


def stored(name, content):
    path = DIRECTORY / name
    path.write_text(content if isinstance(content, str) else json.dumps(content),
                    encoding='utf-8')
    return path


HEADER = 'test_name,iteration,file_size_mb,microseconds,throughput_mbs\n'


def csv(test, size, base_ns):
    rows = [f'{test},{i + 1},{size / MIB:.3f},{ns // 1000},{size * 1e9 / MIB / ns:.2f}\n'
            for i, ns in enumerate(durations(base_ns))]
    return HEADER + ''.join(rows)


BEFORE = stored('before.json', document(case('Read', 64 * KIB, 1e6), case('Write', MIB, 1e6)))
SLOWER = stored('slower.json', document(case('Read', 64 * KIB, 1.2e6), case('Write', MIB, 1e6)))
FASTER = stored('faster.json', document(case('Read', 64 * KIB, 0.5e6), case('Write', MIB, 1e6)))


def compare(*arguments, **options):
    return run(REPORT, '--compare', *arguments, **options)


def verdicts(result):
    """{(operation, size): verdict} of a text report."""
    found = {}
    for line in result.out.splitlines():
        words = line.split()
        if words and words[0] in ('Read', 'Write', 'Copy', 'ServerCopy') and len(words) > 8:
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
    'one result': (['--compare', BEFORE], 'two results, not 1'),
    'three results': (['--compare', BEFORE, SLOWER, FASTER], 'one result too many'),
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

def test_slower():
    result = compare(BEFORE, SLOWER).expect(DONE)
    tap.equal(result.err, '')
    tap.equal(verdicts(result), {('Read', '64 KiB'): 'slower',
                                 ('Write', '1 MiB'): 'no difference shown'})
    assert ' 1.200 ' in result.out and 'Interleaved pairs are the honest way' in result.out


def test_the_same_twice():
    result = compare(BEFORE, BEFORE).expect(DONE)
    tap.equal(set(verdicts(result).values()), {'no difference shown'})


@tap.cases({
    'holds': ('slower>25%', SLOWER, DONE),
    'fails': ('slower>15%', SLOWER, TEST_FAILED),
    'any slowness': ('slower', SLOWER, TEST_FAILED),
    'faster is not slower': ('slower', FASTER, DONE),
    'faster': ('faster>50%', FASTER, TEST_FAILED),
    'several': ('faster,slower>99%,slower>1%', SLOWER, TEST_FAILED),
})
def test_gate(gate, after, code):
    result = compare(BEFORE, after, '--fail-if', gate)
    if code == DONE:
        tap.equal(result.expect(DONE).err, '')
    else:
        result.expect_one_message(code, "Read 64 KiB fails '")
        assert 'Write' not in result.err, result
    assert verdicts(result), result


def test_gate_without_runs_enough():
    one = stored('one.json', document(case('Read', 64 * KIB, 1e6, count=1)))
    other = stored('other.json', document(case('Read', 64 * KIB, 9e6, count=1)))
    result = compare(one, other, '--fail-if', 'slower').expect(DONE)
    tap.equal(verdicts(result), {('Read', '64 KiB'): 'no difference shown (too few runs)'})


def test_zero_durations():
    zero = stored('zero.json', document(case('Read', 64 * KIB, 0), case('Write', MIB, 1e6)))
    result = compare(BEFORE, zero).expect(DONE)
    tap.equal(verdicts(result)['Read', '64 KiB'], 'no ratio: a run of duration 0')
    assert 'nan' not in result.out and 'inf' not in result.out.replace('interval', ''), result


def test_cases_that_only_one_has():
    other = stored('only.json', document(case('Write', MIB, 1e6), case('Copy', MIB, 1e6)))
    result = compare(BEFORE, other).expect(DONE)
    tap.equal(verdicts(result), {('Read', '64 KiB'): 'only in A', ('Copy', '1 MiB'): 'only in B',
                                 ('Write', '1 MiB'): 'no difference shown'})


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
    tap.equal(verdicts(result), {('Read', '64 KiB'): 'no difference shown',
                                 ('Write', '1 MiB'): 'no measured run in B'})


# --------------------------------------------------------------------------------------- conditions

DIFFERENT = {
    'kernel': ({'host': {'kernel': 'Linux 6.2'}}, 'kernel: Linux 6.1 in A, Linux 6.2 in B'),
    'machine': ({'host': {'machine': 'aarch64'}}, 'machine: x86_64 in A, aarch64 in B'),
    'CPU': ({'host': {'cpu': 'Other'}}, 'CPU: Some <CPU> & "more" in A, Other in B'),
    'CPU count': ({'host': {'cpu_count': 4}}, 'CPU count: 2 in A, 4 in B'),
    'server': ({'server': {'machine_type': 'afpbench'}},
               'server machine type: Netatalk4.5.1 in A, afpbench in B'),
    'quantum': ({'server': {'quantum_offered_bytes': 65536}},
                'quantum offered in bytes: 1048576 in A, 65536 in B'),
    'AFP version': ({'server': {'afp_version': 'AFP3.3'}}, 'AFP version: AFP3.4 in A, AFP3.3 in B'),
    'reference store': ({'server': {'reference_store': 'null'}},
                        'reference store: none in A, null in B'),
    'second volume': ({'server': {'second_volume': True}},
                      'second volume or directory: no in A, yes in B'),
}


@tap.cases(DIFFERENT)
def test_different_conditions(changes, message):
    other = stored('other.json', document(case('Read', 64 * KIB, 1e6), case('Write', MIB, 1e6),
                                          **changes))
    result = compare(BEFORE, other).expect(CANNOT_RUN)
    tap.equal(result.out, '')
    tap.equal(result.err, f'afp_report: {message}\nafp_report: the conditions differ, so the '
              'results do not compare; --force does it anyway\n')
    result = compare(BEFORE, other, '--force').expect(DONE)
    tap.equal(result.err, f'afp_report: warning: {message}\n')
    assert message in result.out, result


CASE_DIFFERENT = {
    'chunk': ({'chunk_bytes': 65536}, 'chunk in bytes: 1048576 in A, 65536 in B'),
    'outstanding': ({'outstanding': 4}, 'outstanding: 1 in A, 4 in B'),
    'interleaved': ({'interleaved': False}, 'interleaved: yes in A, no in B'),
    'sessions': ({'sessions': 2}, 'sessions: 1 in A, 2 in B'),
    'sparse': ({'sparse': True}, 'sparse source file: no in A, yes in B'),
    'flush': ({'flush': True}, 'flush: no in A, yes in B'),
    'new files': ({'new_files': True}, 'new files: no in A, yes in B'),
    'existing file': ({'existing_file': True}, 'existing file: no in A, yes in B'),
}


@tap.cases(CASE_DIFFERENT)
def test_different_cases(changes, message):
    other = stored('other.json', document(case('Read', 64 * KIB, 1e6, **changes),
                                          case('Write', MIB, 1e6, **changes)))
    result = compare(BEFORE, other).expect(CANNOT_RUN)
    tap.equal(result.err.splitlines()[0], f'afp_report: {message} (Read 64 KiB and 1 more)')


def test_sink():
    other = stored('other.json', document(case('Read', 64 * KIB, 1e6, sink='discard'),
                                          case('Write', MIB, 1e6)))
    result = compare(BEFORE, other).expect(CANNOT_RUN)
    tap.equal(result.err.splitlines()[0],
              'afp_report: sink: copy in A, discard in B (Read 64 KiB)')


CASES = case('Read', 64 * KIB, 1e6), case('Write', MIB, 1e6)
NFS = stored('nfs.json', of_directory(*CASES))


def test_directories():
    """The path does not have to agree."""
    other = stored('other.json', of_directory(*CASES, directory='/mnt/b|c'))
    result = compare(NFS, other).expect(DONE)
    tap.equal((result.err, set(verdicts(result).values())), ('', {'no difference shown'}))
    assert 'directory /mnt/nfs on nfs4)\n' in result.out, result
    assert 'directory /mnt/b|c on nfs4)\n' in result.out, result


@tap.cases({
    'file system': ({'type': 'cifs'}, 'file system type: nfs4 in A, cifs in B'),
    'direct': ({'direct': True}, 'direct: no in A, yes in B'),
    'second directory': ({'second_directory': '/mnt/b'},
                         'second volume or directory: no in A, yes in B'),
})
def test_different_directories(changes, message):
    other = stored('other.json', of_directory(*CASES, **changes))
    result = compare(NFS, other).expect(CANNOT_RUN)
    tap.equal(result.err.splitlines()[:-1], [f'afp_report: {message}'])
    tap.equal(compare(NFS, other, '--force').expect(DONE).err, f'afp_report: warning: {message}\n')


def test_client_cache():
    """A Read that the client's own cache answered is another thing."""
    cold, warm = (stored(f'{state}.json', of_directory(
        case('Read', 64 * KIB, 1e6, client_cache=state), case('Write', MIB, 1e6)))
        for state in ('cold', 'warm'))
    result = compare(cold, warm).expect(CANNOT_RUN)
    tap.equal(result.err.splitlines()[0],
              'afp_report: client cache: cold in A, warm in B (Read 64 KiB)')
    tap.equal(compare(cold, NFS).expect(DONE).err, '')      # a document without it


def test_document_without_second_volume():
    older = document(*CASES)
    del older['server']['second_volume']
    tap.equal(compare(BEFORE, stored('older.json', older)).expect(DONE).err, '')


@tap.cases({
    'AFP against NFS': (BEFORE, NFS, 'target: AFP server in A, directory in B'),
    'NFS against AFP': (NFS, BEFORE, 'target: directory in A, AFP server in B'),
})
def test_server_against_directory(before, after, message):
    result = compare(before, after).expect(CANNOT_RUN)
    tap.equal(result.out, '')
    tap.equal(result.err.splitlines()[:-1], [f'afp_report: {message}'])
    for form in ('text', 'markdown', 'junit'):
        result = compare(before, after, '--force', '--format', form).expect(DONE)
        tap.equal(result.err, f'afp_report: warning: {message}\n')
        assert message in result.out and 'null' not in result.out, result
        if form == 'text':
            tap.equal(verdicts(result), {('Read', '64 KiB'): 'no difference shown',
                                         ('Write', '1 MiB'): 'no difference shown'})


def test_csv_has_no_conditions():
    other = stored('other.csv', csv('Read', 64 * KIB, 1.2e6))
    result = compare(BEFORE, other).expect_one_message(
        DONE, 'other.csv is CSV and carries no conditions')
    tap.equal(verdicts(result)['Read', '64 KiB'], 'slower')


# ------------------------------------------------------------------------------------------ formats

def test_csv_of_netatalk():
    """A container's log around the CSV of a version without file_size_bytes."""
    summary = ('\n# File Size Performance Summary for Read\n'
               'file_size_mb,mean_throughput_mbs,median_throughput_mbs,min_throughput_mbs,'
               'max_throughput_mbs,stddev_ms,mean_time_ms\n'
               '0.062,60.41,62.00,55.80,64.04,0.0,0.1\n')
    log = stored('log.csv', 'afpd is up\n' + csv('Read', 64 * KIB, 1.2e6) + summary + 'bye\n')
    result = compare(BEFORE, log).expect(DONE)
    assert 'log.csv (Netatalk CSV; conditions not recorded)' in result.out, result
    tap.equal(verdicts(result)['Read', '64 KiB'], 'slower')


def test_real_csv_of_netatalk():
    """What Netatalk's afp_speedtest 4.5.1 printed: -c -z 0.0625,1,16 -f Read,Write -n 10."""
    path = pathlib.Path(__file__).resolve().parents[1] / 'data/netatalk-4.5.1-speedtest.csv'
    result = compare(path, path).expect(DONE)
    tap.equal(verdicts(result), {(test, size): 'no difference shown' for test in ('Read', 'Write')
                                 for size in ('64 KiB', '1 MiB', '16 MiB')})
    assert ' 10  ' in result.out and '(Netatalk CSV; conditions not recorded)' in result.out, result


@tap.cases({
    'not there': (None, "cannot open '.*bad'"),
    'empty': ('', 'bad is no result'),
    'text': ('hello\n', 'bad is no result'),
    'broken JSON': ('{"schema":\n "x', 'bad: line 2, column'),
    'other JSON': ('{}', 'bad: schema: expected a text'),
    'duplicate key': ('{"schema": "x", "schema": "y"}', 'duplicate'),
    'broken CSV': (HEADER + 'Read,1,0.062,1,1.00\nRead,2,0.062,-1,1.00\n',
                   'bad: line 3: expected a whole number in column 4'),
    'lantest': ('Test,Time_ms,Time±,Min_ms,Max_ms,Median_ms,MB/s\n', 'only their summaries'),
})
def test_unreadable(content, pattern):
    path = DIRECTORY / 'bad'
    path.unlink(missing_ok=True)
    if content is not None:
        stored('bad', content)
    for files in ((BEFORE, path), (path, BEFORE)):
        result = compare(*files).expect_one_message(CANNOT_RUN, pattern)
        tap.equal(result.out, '')


def test_markdown():
    result = compare(BEFORE, SLOWER, '--format', 'markdown', '--fail-if', 'slower>5%')
    result.expect_one_message(TEST_FAILED, "fails 'slower>5%'")
    lines = result.out.splitlines()
    assert '| Read | 61.91 (64 KiB) | 51.59 (64 KiB) | -16.7 % |' in lines, result
    assert any(line.startswith('| Read | 64 KiB | 20 | 20 |') and line.endswith('| **slower** |')
               for line in lines), result
    assert 'Gates: `slower>5%`: **failed**' in lines, result
    assert '* CPU: Some &#60;CPU&#62; &#38; "more"' in lines, result
    tables = [line.count('|') for line in lines if line.startswith('|')]
    tap.equal(sorted(set(tables)), [5, 15])


def test_junit():
    other = stored('only.json', document(case('Read', 64 * KIB, 1.2e6), case('Copy', MIB, 1e6)))
    result = compare(BEFORE, other, '--format', 'junit', '--fail-if', 'slower>5%')
    result.expect(TEST_FAILED)
    suites = xml.etree.ElementTree.fromstring(result.out)
    suite = suites.find('testsuite')
    tap.equal({key: suite.get(key) for key in ('tests', 'failures', 'errors', 'skipped')},
              {'tests': '3', 'failures': '1', 'errors': '0', 'skipped': '2'})
    outcomes = {case.get('name'): [child.tag for child in case] for case in suite.iter('testcase')}
    tap.equal(outcomes, {'Read 64 KiB': ['failure', 'system-out'],
                         'Write 1 MiB': ['skipped', 'system-out'],
                         'Copy 1 MiB': ['skipped', 'system-out']})
    failure = suite.find('testcase/failure')
    tap.equal((failure.get('type'), failure.get('message')), ('slower>5%', '20.0 % slower'))
    properties = {item.get('name'): item.get('value') for item in suite.iter('property')}
    tap.equal(properties['CPU A'], 'Some <CPU> & "more"')


def test_names_that_need_escapes():
    strange = stored('a<b>&"c"|\x1b[1m\n.json', BEFORE.read_text(encoding='utf-8'))
    for form in ('text', 'markdown', 'junit'):
        result = compare(strange, SLOWER, '--format', form).expect(DONE)
        assert '\x1b' not in result.out, result
        if form == 'junit':
            xml.etree.ElementTree.fromstring(result.out)


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
    compare(BEFORE, SLOWER, '-o', path, '--fail-if', 'slower').expect(TEST_FAILED)
    assert 'fail' in path.read_text(encoding='utf-8')


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
    known = {(test, size): 'no difference shown' for test in ('Read', 'Write')
             for size in ('4 KiB', '64 KiB', '1 MiB')}
    tap.equal(verdicts(compare(path, path).expect(DONE)), known)
    # the CSV rounds times to microseconds and sizes to thousandths
    tap.equal(verdicts(compare(path, rows).expect(DONE, 'no conditions')), known)
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
