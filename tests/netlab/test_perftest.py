#!/usr/bin/python3
"""afp_perftest on the emulated link: files, tables, counts that balance, and what it leaves.

The argument chooses the server: refserver, or netatalk (needs root and the root directory).
"""

import concurrent.futures
import contextlib
import csv
import os
import pathlib
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import netatalk
import programs
import results
import tap
from programs import CANNOT_RUN, DONE, INTERRUPTED, TEST_FAILED, USAGE, run

PERFTEST = programs.BIN_DIR / 'afp_perftest'
REPORT = programs.BIN_DIR / 'afp_report'
MIB = 1 << 20
SERVER = sys.argv[1] if len(sys.argv) > 1 else 'refserver'
NAME = 'speed-1gbit-1ms'
SUFFIXES = ('-net.csv', '-net.txt', '-stderr.log', '.csv', '.gnuplot', '.json', '.png')
QUICK = ('RATE=1gbit', 'DELAY=1ms', 'SWEEP=4k,1M', 'ITER=2')
SMALL = ('RATE=1gbit', 'DELAY=1ms', 'SWEEP=4k', 'ITER=1', 'OPS=Read')
KINDS = ('pure_ack', 'full', 'short', 'retransmit', 'control', 'other')

scratch = pathlib.Path(tempfile.mkdtemp(prefix='perftest-'))
root = {}


def setup():
    """Skips where there can be no link at all."""
    scratch.chmod(0o755)
    if SERVER == 'netatalk':
        root['NETATALK_ROOT'] = str(netatalk.find_root())
    # not the ordinary user's right everywhere
    probe = subprocess.run(['unshare', '-Urn', 'true'], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tap.require(probe.returncode == 0, 'no user namespaces here')


def clean():
    """This program's environment without the keys."""
    keys = run(PERFTEST, '--help').out
    names = [line.split()[0][2:].replace('-', '_').upper() for line in keys.splitlines()
             if line.strip().startswith('--')]
    return {**{name: '' for name in names if name in os.environ}, **root}


# A machine that is busy with other things does not keep the delay; then nothing may be labelled with
# it, and a test of something else tries again. That the link came late, too, is for other tests.
PUNCTUAL = {'AFPBENCH_EMULATOR_FAULT': 'no-lateness'}
FALSE_LINK = r'the link is not what it should be: the link\'s round trip is'
BUSY = FALSE_LINK + r'|invalid: .*the link came .* late'


def perftest(*arguments, tries=4, busy=BUSY, **how):
    again = ()
    for _ in range(tries - 1):
        result = _perftest(*arguments, *again, **how)
        if not re.search(busy, result.err):
            return result
        again = ('--force',)
        time.sleep(2)
    return _perftest(*arguments, *again, **how)


def _perftest(*arguments, limit_s=100, env=None, before=(), program=PERFTEST, server=SERVER):
    return run(*before, program, f'SERVER={server}', *arguments, limit_s=limit_s,
               env={**clean(), **PUNCTUAL, **(env or {})})


def outdir():
    return pathlib.Path(tempfile.mkdtemp(dir=scratch)) / 'results'


def files(directory):
    return sorted(path.name for path in directory.iterdir())


def rows(path):
    with open(path, encoding='ascii', newline='') as file:
        return list(csv.DictReader(file))


def texts(path):
    pairs = [line.split(': ', 1) for line in path.read_text(encoding='ascii').splitlines()]
    return dict(pairs)


# ------------------------------------------------------------------------------------- a good run

def counts(one):
    """A sample or run that is in the figures."""
    return not (one['warmup'] or one['spoiled'])


class Good:
    """The quick run, made once."""

    made = None

    @classmethod
    def get(cls):
        if cls.made is None:
            directory = outdir()
            result = perftest(*QUICK, f'OUTDIR={directory}').expect(DONE)
            cls.made = result, directory, results.load(directory / f'{NAME}.json')
        return cls.made


def test_files():
    result, directory, _document = Good.get()
    tap.equal(result.err, '')
    tap.equal(files(directory), [NAME + suffix for suffix in SUFFIXES])
    tap.equal((directory / f'{NAME}-stderr.log').read_text(), '')


def png_size(path):
    data = path.read_bytes()
    tap.equal(data[:16], b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR')
    assert data.endswith(b'IEND\xaeB`\x82'), 'the picture is cut off'
    return struct.unpack('>II', data[16:24])


def test_picture():
    """Its script makes the same one again, and has the rates of the document."""
    _result, directory, document = Good.get()
    picture = directory / f'{NAME}.png'
    tap.equal(png_size(picture), (1430, 676))
    again = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    shutil.copy(directory / f'{NAME}.gnuplot', again)
    subprocess.run(['gnuplot', f'{NAME}.gnuplot'], cwd=again, stdin=subprocess.DEVNULL, timeout=60,
                   check=True, env=programs.environment(LC_ALL='C'), stderr=subprocess.DEVNULL)
    tap.equal(files(again), [f'{NAME}.gnuplot', f'{NAME}.png'])
    tap.equal((again / f'{NAME}.png').read_bytes(), picture.read_bytes())
    script = (directory / f'{NAME}.gnuplot').read_text(encoding='utf-8')
    tap.equal(re.findall(r'^# (\w+): size', script, re.MULTILINE), ['Read', 'Write', 'Copy'])
    rows_found = [[float(field) for field in line.split()] for line in script.splitlines()
                  if re.fullmatch(r'[\d.e+ -]+', line)]
    wanted = []
    for test in ('Read', 'Write', 'Copy'):
        for case in document['cases']:
            if case['test'] == test:
                times = [one['duration_ns'] for one in case['samples'] if counts(one)]
                size = case['size_bytes']
                wanted.append([size] + [size / MIB * 1e9 / time for time in
                                        (sum(times) / len(times), max(times), min(times))])
    tap.equal(len(rows_found), len(wanted))
    for found, row in zip(rows_found, wanted):
        assert all(abs(a - b) <= 1e-5 * b for a, b in zip(found, row)), (found, row)


def test_csv_is_that_of_a_sweep():
    _result, directory, document = Good.get()
    found, sections = results.parse_csv((directory / f'{NAME}.csv').read_text())
    order = [(test, size) for size in ('0.004', '1.000') for test in ('Read', 'Write', 'Copy')]
    wanted = []
    for test, size in order:
        wanted += [(test, '1', size), (test, '2', size)]
        wanted += [(f'{test}_{what}', '', size)
                   for what in ('mean', 'median', 'stddev', 'min', 'max')]
    tap.equal([tuple(row[:3]) for row in found], wanted)
    tap.equal(list(sections), [results.TITLE + test for test in ('Read', 'Write', 'Copy')] +
              ['# TCP Metrics Evolution Summary'])
    for test in ('Read', 'Write', 'Copy'):
        tap.equal([row[0] for row in sections[results.TITLE + test]], ['4096', str(MIB)])
    samples = [sample for case in document['cases'] for sample in case['samples'] if counts(sample)]
    times = [int(row[3]) for row in found if row[1]]
    for micros, sample in zip(times, samples):
        assert abs(micros * 1000 - sample['duration_ns']) <= 500, (micros, sample['duration_ns'])


def test_document():
    _result, _directory, document = Good.get()
    tap.equal((document['complete'], document['failure']), (True, None))
    tap.equal([(case['test'], case['size_bytes']) for case in document['cases']],
              [(test, size) for size in (4096, MIB) for test in ('Read', 'Write', 'Copy')])
    link = document['link']
    tap.equal((link['name'], link['backend'], link['valid'], link['faults']),
              (NAME, 'emulator', True, []))
    tap.equal((link['asked']['rate_bits_per_s'], link['asked']['delay_ns'], link['asked']['mtu']),
              (1000000000, 1000000, 1500))
    tap.equal(link['quantum_offered_bytes'], document['server']['quantum_offered_bytes'])
    tap.equal(document['server']['address'].split(':')[0], '10.99.0.1')
    for side in ('client', 'server'):
        tap.equal((link[side]['mtu'], link[side]['metrics_saved'],
                   link[side]['slow_start_after_idle']), (1500, False, False))


def check_way(way):
    """Kinds and sizes are all of the packets, with no retransmit, loss or drop on a good link."""
    tap.equal(sum(way['kinds'].values()), way['packets'], 'kinds')
    tap.equal(sum(step['packets'] for step in way['sizes']), way['packets'], 'sizes')
    tap.equal((way['lost'], way['dropped']), (0, 0))
    assert way['kinds']['full'] * 1448 <= way['payload_bytes'] <= way['bytes'], way


def test_counts_balance():
    _result, _directory, document = Good.get()
    for size in document['link']['sizes']:
        for way in ('to_server', 'to_client'):
            whole = size['traffic'][way]
            check_way(whole)
            for case in size['cases']:
                check_way(case['traffic'][way])
                measured = [one for one in case['runs'] if counts(one)]
                for key in ('packets', 'bytes', 'payload_bytes'):
                    tap.equal(sum(one[way][key] for one in measured), case['traffic'][way][key], key)
            for key in ('packets', 'bytes', 'payload_bytes'):
                runs = sum(one[way][key] for case in size['cases'] for one in case['runs'])
                assert runs < whole[key], (key, runs, whole[key])
        for sender, way in (('client', 'to_server'), ('server', 'to_client')):
            end = size['traffic'][sender]
            # a namespace's OutSegs are without what answers a closed port
            segments = end['namespace_segments_out']
            assert 0 <= size['traffic'][way]['packets'] - segments <= 4, (sender, segments)
            for case in size['cases']:
                end = case['traffic'][sender]
                tap.equal(end['segments_out'], case['traffic'][way]['packets'], 'TCP and packets')
                tap.equal(end['bytes_sent'], case['traffic'][way]['payload_bytes'], 'TCP, payload')
                tap.equal((end['segment_bytes'], end['connections']), (1448, 1))


# DSI header and block of each request and reply (doc/protocol.md): FPReadExt 16 + 20,
# FPWriteExt 16 + 20 and a reply with 8 bytes, FPFlushFork 16 + 4.
def payload(test, size, chunks):
    """By hand: what one run sends each way."""
    if test == 'Read':
        return 36 * chunks, 16 * chunks + size
    if test == 'Write':
        return 36 * chunks + size + 20, 24 * chunks + 16
    return 72 * chunks + size, 16 * chunks + size + 24 * chunks


def check_payload(way, wanted, what):
    """To the byte, but for what a busy machine made TCP send again."""
    again = way['kinds']['retransmit']
    extra = way['payload_bytes'] - wanted
    assert (extra == 0) if again == 0 else (0 < extra <= again * 1448), (what, extra, again)


def test_payload_by_hand():
    _result, _directory, document = Good.get()
    cases = {(case['test'], case['size_bytes']): case for case in document['cases']}
    for size in document['link']['sizes']:
        for case in size['cases']:
            sample = cases[case['test'], size['size_bytes']]
            chunks = -(-size['size_bytes'] // sample['chunk_bytes'])
            sums = payload(case['test'], size['size_bytes'], chunks)
            for way, wanted in zip(('to_server', 'to_client'), sums):
                check_payload(case['traffic'][way], 2 * wanted,
                              f'{case["test"]} of {size["size_bytes"]}, {way}')
            requests = chunks * (2 if case['test'] == 'Copy' else 1) + (case['test'] == 'Write')
            tap.equal(case['requests'], 2 * requests, 'requests of two runs')


def test_no_run_is_faster_than_its_bound():
    _result, _directory, document = Good.get()
    for size in document['link']['sizes']:
        for case in size['cases']:
            for one in case['runs']:
                line = max(one[way]['bytes'] + 24 * one[way]['packets']
                           for way in ('to_server', 'to_client'))
                trips = case['requests'] // 2
                wanted = trips * 2000000 + line * 8
                again = [case['traffic'][way]['kinds']['retransmit']
                         for way in ('to_server', 'to_client')]
                if not counts(one) or any(again):   # what was sent again is not needed
                    assert one['bound_ns'] <= wanted, one
                else:
                    tap.equal(one['bound_ns'], wanted, 'bound')
                assert one['duration_ns'] >= one['bound_ns'], one


def runs_and_samples(document):
    """As lists that should be equal; a document has the spoiled ones of a case at its end."""
    keys = ('spoiled', 'number', 'warmup', 'duration_ns')
    runs = [sorted(case['runs'], key=lambda one: one['spoiled'])
            for size in document['link']['sizes'] for case in size['cases']]
    samples = [case['samples'] for case in document['cases']]
    return [[[tuple(one[key] for key in keys) for one in case] for case in cases]
            for cases in (runs, samples)]


def test_runs_are_the_samples():
    _result, _directory, document = Good.get()
    tap.equal(*runs_and_samples(document))


def test_net_files_and_tables_say_the_same():
    result, directory, document = Good.get()
    table = rows(directory / f'{NAME}-net.csv')
    tap.equal([row['size_mb'] for row in table], ['0.00390625', '1'])
    tap.equal(list(table[0])[:7], ['size_mb', 'tx_packets', 'tx_bytes', 'rx_packets', 'rx_bytes',
                                   'avg_tx_bytes', 'avg_rx_bytes'])
    text = texts(directory / f'{NAME}-net.txt')
    totals = {}
    for row, size in zip(table, document['link']['sizes']):
        for short, way in (('tx', 'to_server'), ('rx', 'to_client')):
            whole = size['traffic'][way]
            tap.equal((int(row[f'{short}_packets']), int(row[f'{short}_bytes'])),
                      (whole['packets'], whole['bytes']))
            tap.equal([int(row[f'{short}_{kind}']) for kind in KINDS],
                      [whole['kinds'][kind] for kind in KINDS])
            for key in ('packets', 'bytes'):
                totals[f'{short}_{key}_total'] = totals.get(f'{short}_{key}_total', 0) + whole[key]
            for case in size['cases']:
                key = f'{case["test"].lower()}_{short}_full'
                tap.equal(int(row[key]), case['traffic'][way]['kinds']['full'], key)
    tap.equal({key: int(text[key]) for key in totals}, totals)
    # a busy machine that does not keep the rate says so in every label
    label = document['link']['rate_label']
    assert re.fullmatch(r'1gbit( \(machine: 0\.\d+\))?', label), label
    tap.equal((text['suite'], text['rate'], text['delay'], text['mss'], text['complete'],
               text['valid']), ('speed', label, '1ms', '1448', 'yes', 'yes'))
    fields = [line.split() for line in result.out.splitlines()]
    assert [NAME, '1448', '1500', str(totals['tx_packets_total']),
            str(totals['rx_packets_total'])] in [line[:5] for line in fields], result.out
    for row in table:
        assert any(line[2:6] == [row[key] for key in ('tx_packets', 'tx_bytes', 'rx_packets',
                                                      'rx_bytes')]
                   for line in fields), (row, result.out)
    assert any(line[:2] == ['totals:', 'tx'] for line in fields), result.out


def test_banner_states_the_conditions():
    result, _directory, _document = Good.get()
    banner = result.out.split('\n\n')[0].splitlines()
    tap.equal(banner[0], NAME)
    tap.equal([line.split()[0] for line in banner[1:]],
              ['rate', 'delay', 'jitter,', 'MTU', 'link', 'congestion', 'server', 'quantum',
               'read-ahead', 'runs'])


@tap.limit(200)
def test_the_same_again():
    """Requests and payload are equal."""
    _result, first_directory, first = Good.get()
    directory = outdir()
    perftest(*QUICK, f'OUTDIR={directory}').expect(DONE)
    second = results.load(directory / f'{NAME}.json')
    for one, other in zip(first['link']['sizes'], second['link']['sizes']):
        for a, b in zip(one['cases'], other['cases']):
            tap.equal(a['requests'], b['requests'])
            for way in ('to_server', 'to_client'):
                a_way, b_way = a['traffic'][way], b['traffic'][way]
                if a_way['kinds']['retransmit'] == b_way['kinds']['retransmit'] == 0:
                    tap.equal(a_way['payload_bytes'], b_way['payload_bytes'])
                # how many segments they took differs when a busy machine wakes the sender late
                for one in (a_way, b_way):
                    segments = sum(one['kinds'][key] for key in ('full', 'short', 'retransmit'))
                    assert segments * 1448 >= one['payload_bytes'], one['kinds']
    compared = run(REPORT, '--compare', first_directory / f'{NAME}.json',
                   directory / f'{NAME}.json').expect(DONE)
    assert '6 cases' in compared.out, compared.out


@tap.limit(200)
def test_another_shape_is_not_compared():
    _result, first_directory, _first = Good.get()
    directory = outdir()
    perftest('RATE=1gbit', 'DELAY=2ms', 'SWEEP=4k', 'ITER=1', f'OUTDIR={directory}').expect(DONE)
    run(REPORT, '--compare', first_directory / f'{NAME}.json',
        directory / 'speed-1gbit-2ms.json').expect(CANNOT_RUN, 'link: .*1000000 ns.*2000000 ns')


@tap.limit(200)
def test_several_runs():
    directory = outdir()
    result = perftest('RATE=1gbit,100mbit', 'DELAY=1ms', 'SWEEP=4k', 'ITER=1', 'OPS=Write',
                      f'OUTDIR={directory}').expect(DONE)
    names = ['speed-100mbit-1ms', 'speed-1gbit-1ms']
    tap.equal(files(directory), sorted(name + suffix for name in names for suffix in SUFFIXES))
    summary = [line.split() for line in result.out.splitlines() if line.endswith('.png')]
    tap.equal([(line[0], line[-1]) for line in summary],
              [(name, f'{name}.png') for name in ('speed-1gbit-1ms', 'speed-100mbit-1ms')])


def test_a_link_without_a_shape():
    """Nothing in it carries a shape's name, and what is not counted is not said to be none."""
    directory = outdir()
    result = perftest('LINK=none', 'SWEEP=4k', 'ITER=1', f'OUTDIR={directory}').expect(DONE)
    name = 'speed-unshaped-0ms'
    row, = rows(directory / f'{name}-net.csv')
    assert int(row['tx_packets']) > 10, row
    tap.equal((row['tx_full'], row['read_short_per_request'], row['read_link_percent']),
              ('', '', ''))
    link = results.load(directory / f'{name}.json')['link']
    tap.equal((link['backend'], link['shaped'], link['asked']['rate_bits_per_s'], link['valid']),
              ('none', False, None, True))
    assert 'gbit' not in result.out, result.out


# -------------------------------------------------------------------------------- without running

USAGE_ERRORS = {
    'unknown key': ['SPEED=1'],
    'unknown option': ['--speed', '1'],
    'stray word': ['stray'],
    'rate': ['RATE=fast'],
    'delay': ['DELAY=-1ms'],
    'iterations': ['ITER=0'],
    'sizes': ['SWEEP=none'],
    'tests': ['OPS=Erase'],
    'suite': ['SUITE=lan'],
    'pairs': ['AB', 'QUANTUM=1M', 'QUANTUM=2M'],
    'baseline': ['BASELINE=old'],
    'read-ahead of another server': ['SERVER=refserver', 'READAHEAD=12'],
    'a shape without a link': ['LINK=none', 'RATE=1gbit'],
    'a list too long': ['RATE=1gbit,1gbit'],
    'a program that is none': ['TOOL=/nonexistent/tool'],
}


@tap.cases({name: (more,) for name, more in USAGE_ERRORS.items()})
def test_usage_errors(more):
    directory = outdir()
    perftest(*more, f'OUTDIR={directory}').expect_one_message(USAGE)
    assert not directory.exists(), 'made before the check'


def test_netem_is_not_there_yet():
    perftest('LINK=netem').expect_one_message(CANNOT_RUN, 'not there yet')


@tap.cases({'program': ('AFPD',), 'root': ('NETATALK_ROOT',)})
def test_a_named_afpd_is_not_replaced_by_another_server(key):
    perftest('SERVER=auto', f'{key}=/nonexistent', f'OUTDIR={outdir()}').expect_one_message(
        CANNOT_RUN, key)


def test_an_environment_variable_is_named():
    perftest(env={'ITER': 'many'}).expect_one_message(USAGE, "from the environment: ITER 'many'")


def test_dry_run():
    directory = outdir()
    result = perftest('--dry-run', 'RATE=1gbit,10gbit', 'SWEEP=4k,1M', f'OUTDIR={directory}')
    result.expect(DONE)
    tap.equal(result.err, '')
    lines = result.out.splitlines()
    tap.equal([line.split(':')[0] for line in lines if not line.startswith(' ')],
              ['speed-1gbit-2ms', 'speed-10gbit-2ms', 'all runs'])
    commands = [line for line in lines if 'afp_speedtest -c' in line]
    tap.equal(len(commands), 4)
    assert ' -z 0.00390625 ' in commands[0] and ' -z 1 ' in commands[1], commands
    assert not directory.exists(), 'a dry run made the directory'


def test_existing_results():
    directory = outdir()
    directory.mkdir()
    (directory / f'{NAME}-net.csv').write_text('precious')
    perftest(*SMALL, f'OUTDIR={directory}').expect_one_message(USAGE, '--force')
    tap.equal(files(directory), [f'{NAME}-net.csv'])
    tap.equal((directory / f'{NAME}-net.csv').read_text(), 'precious')
    perftest(*SMALL, '--force', f'OUTDIR={directory}').expect(DONE)
    tap.equal(files(directory), [NAME + suffix for suffix in SUFFIXES])
    tap.equal(len(rows(directory / f'{NAME}-net.csv')), 1)


def test_a_file_in_the_place_of_the_directory():
    file = scratch / 'a-file'
    file.touch()
    for mode in 0o644, 0o755:
        file.chmod(mode)
        for path in file, file / 'below':
            perftest(*SMALL, f'OUTDIR={path}').expect_one_message(CANNOT_RUN, 'Not a directory')


def test_without_stdout():
    """Nothing else takes its number and is sent what was meant for it."""
    directory = outdir()
    result = perftest(*SMALL, f'OUTDIR={directory}',
                      before=('/bin/sh', '-c', 'exec "$0" "$@" >&-'))
    result.expect(TEST_FAILED)
    tap.equal(result.err, 'afp_perftest: cannot write to stdout: Bad file descriptor\n')
    tap.equal(files(directory), [NAME + suffix for suffix in SUFFIXES])


def test_a_run_holds_its_names_to_its_end():
    """Of two that want the same name the second is refused, with --force too, and takes nothing."""
    directory = outdir()
    with start(directory) as holder:
        programs.wait_until(lambda: list(directory.glob(f'.{NAME}.lock')), 'the claim')
        for more in ([], ['--force']):
            second = _perftest(*SMALL, f'OUTDIR={directory}', *more)
            second.expect_one_message(USAGE, f"{NAME}' belongs to another run", r'process \d+')
        overlapping = _perftest('RATE=100mbit,1gbit', *SMALL[1:], f'OUTDIR={directory}')
        overlapping.expect_one_message(USAGE, f"{NAME}' belongs to another run")
        assert holder.process.poll() is None
        tap.equal([name for name in files(directory) if 'lock' in name], [f'.{NAME}.lock'])
        holder.interrupt(signal.SIGKILL)
        holder.wait()
    # what a killed one left is in nobody's way
    perftest(*SMALL, f'OUTDIR={directory}', '--force').expect(DONE)
    tap.equal([name for name in files(directory) if name.startswith('.')], [])


# ------------------------------------------------------------------------------------ what goes wrong

def test_a_link_without_its_delay_is_caught():
    """The test hook: the emulator forgets the delay; the calibration must not let that pass."""
    directory = outdir()
    result = perftest(*SMALL, f'OUTDIR={directory}', env={'AFPBENCH_EMULATOR_FAULT': 'no-delay'},
                      tries=1)
    result.expect_one_message(CANNOT_RUN, r'\d+\.\d+ ms')
    tap.equal(files(directory), [], 'results of a false link')


# With WARMUP=1 the lateness is taken before the invocation and around the warm-up: the fourth time
# begins the first measured run.
FIRST_RUN = 4
# A tenth of this round trip is 4 ms, by which a busy machine is seldom late.
STALLED = ('RATE=1gbit', 'DELAY=20ms', 'SWEEP=64k', 'ITER=3', 'WARMUP=1')


def stalled(fault, *arguments, code):
    directory = outdir()
    result = perftest(*STALLED, *arguments, f'OUTDIR={directory}',
                      env={'AFPBENCH_EMULATOR_FAULT': fault},
                      busy=BUSY if code == DONE else FALSE_LINK).expect(code)
    tap.equal(result.err.count('\n'), result.err.count('afp_perftest: invalid: '), result.err)
    return result, f'{directory}/speed-1gbit-20ms'


def test_an_emulator_that_stood_still_spoils_the_run():
    """Once, for 2 s, in the first measured run: that is made again, and the result is valid."""
    result, name = stalled(f'stall=2s@{FIRST_RUN}', 'OPS=Read', code=DONE)
    document = results.load(f'{name}.json')
    link, (case,) = document['link'], document['link']['sizes'][0]['cases']
    tap.equal((link['valid'], link['faults']), (True, []))
    spoiled = [one for one in case['runs'] if one['spoiled']]
    count = len(spoiled)                    # a busy machine may have spoiled another
    tap.equal((spoiled[0]['number'], spoiled[0]['warmup']), (1, False))
    assert spoiled[0]['late_ns'] > 1.9e9 and spoiled[0]['duration_ns'] > 1.9e9, spoiled
    tap.equal([one['number'] for one in case['runs'] if counts(one)], [1, 2, 3])
    for one in case['runs']:
        limit = max(link['calibration']['rtt_median_ns'] // 10, one['duration_ns'] // 100, 300000)
        assert not counts(one) or one['late_ns'] <= limit, one
    tap.equal(*runs_and_samples(document))
    read, = document['cases']
    tap.equal(read['summary']['count'], 3)
    tap.equal(read['summary']['maximum_ns'],
              max(one['duration_ns'] for one in read['samples'] if counts(one)))
    # counted in every output
    tap.equal(link['spoiled_runs'], count)
    tap.equal(texts(pathlib.Path(f'{name}-net.txt'))['spoiled_runs'], str(count))
    row, = rows(f'{name}-net.csv')
    tap.equal((row['read_runs'], row['read_spoiled_runs'], row['read_requests']),
              ('3', str(count), '3'))
    found, _sections = results.parse_csv(pathlib.Path(f'{name}.csv').read_text())
    tap.equal([line[1] for line in found if line[1]], ['1', '2', '3'])
    lines = [line.split() for line in result.out.splitlines()]
    run_line = next(line for line in lines if line[:1] == ['speed-1gbit-20ms'] and len(line) > 5)
    tap.equal(run_line[7:], [str(count), 'speed-1gbit-20ms.png'])
    assert ['64', 'KiB', 'Read', '3', str(count), '3'] in [line[:6] for line in lines], result.out
    assert f'Spoiled: {count}' in pathlib.Path(f'{name}.gnuplot').read_text(encoding='utf-8')
    # what others make of it
    run(REPORT, '--compare', f'{name}.json', '--', f'{name}.json').expect(DONE)


def test_an_emulator_that_always_stands_still_is_invalid():
    result, name = stalled(f'stall=200ms@{FIRST_RUN}+', 'OPS=Write', code=TEST_FAILED)
    tap.equal(result.err.count('as many as there are iterations'), 3, result.err)
    document = results.load(f'{name}.json')
    link, (case,) = document['link'], document['link']['sizes'][0]['cases']
    tap.equal((link['valid'], len(link['faults']), link['spoiled_runs']), (False, 3, 3))
    tap.equal([(one['number'], one['spoiled']) for one in case['runs'] if not one['warmup']],
              [(1, True), (1, True), (1, True), (1, False), (2, False), (3, False)])
    tap.equal(*runs_and_samples(document))
    tap.equal(texts(pathlib.Path(f'{name}-net.txt'))['valid'], 'no')
    assert 'speed-1gbit-20ms INVALID' in result.out, result.out


def test_a_test_program_that_makes_no_run_again():
    """One that takes any answer for the same, as before there was another."""
    tool = script(f'exec /usr/bin/python3 {scratch}/deaf "$@"\n')
    (scratch / 'deaf').write_text(
        'import os, socket, subprocess, sys\n'
        'near, far = socket.socketpair()\n'
        'harness = socket.socket(fileno=3)\n'
        'words = sys.argv[1:]\n'
        'words[words.index("--mark-fd") + 1] = str(far.fileno())\n'
        f'child = subprocess.Popen(["{programs.SPEEDTEST}", *words], pass_fds=[far.fileno()])\n'
        'far.close()\n'
        'answers = harness.makefile("r")\n'
        'for line in near.makefile("r"):\n'
        '    harness.sendall(line.encode())\n'
        '    answers.readline()\n'
        '    near.sendall(b"\\n")\n'
        'sys.exit(child.wait())\n')
    result, name = stalled(f'stall=2s@{FIRST_RUN}', 'OPS=Read', f'TOOL={tool}',
                           code=TEST_FAILED)
    assert 'Read of 65536 bytes, run 1: the link came' in result.err, result.err
    assert 'was not when it was asked for' in result.err, result.err
    document = results.load(f'{name}.json')
    tap.equal((document['link']['valid'], document['link']['spoiled_runs']), (False, 0))
    tap.equal(*runs_and_samples(document))


def test_an_emulator_that_stands_still_without_marks():
    tool = script('for word; do case $word in --mark-fd|-j) echo usage >&2; exit 1;; esac; done\n'
                  f'exec {programs.SPEEDTEST} "$@"\n')
    result, name = stalled('stall=2s@1', 'OPS=Read', f'TOOL={tool}', code=TEST_FAILED)
    assert re.search(r'65536 bytes: the link came .* makes no run again', result.err), result.err
    text = texts(pathlib.Path(f'{name}-net.txt'))
    tap.equal((text['valid'], text['spoiled_runs']), ('no', 'unknown'))


def test_an_unknown_fault():
    perftest(*SMALL, f'OUTDIR={outdir()}', env={'AFPBENCH_EMULATOR_FAULT': 'stalls'}) \
        .expect_one_message(USAGE, 'expected no-delay, no-lateness, stall=TIME@N')


def script(text):
    path = pathlib.Path(tempfile.mkdtemp(dir=scratch)) / 'tool'
    path.write_text('#!/bin/sh\n' + text)
    path.chmod(0o755)
    return path


def test_another_test_program_without_marks():
    """One that knows neither --mark-fd nor -j: packets by size only."""
    directory = outdir()
    tool = script('for word; do case $word in --mark-fd|-j) echo usage >&2; exit 1;; esac; done\n'
                  f'exec {programs.SPEEDTEST} "$@"\n')
    result = perftest(*SMALL, f'TOOL={tool}', f'OUTDIR={directory}').expect(DONE)
    tap.equal(files(directory), [NAME + suffix for suffix in SUFFIXES if suffix != '.json'])
    row, = rows(directory / f'{NAME}-net.csv')
    assert int(row['tx_packets']) > 10 and 'read_requests' not in row, row
    assert 'does not tell of its runs' in result.out, result.out


BAD_TOOLS = {
    'fails': ('echo broken >&2; exit 1', TEST_FAILED, ['broken', 'ended with exit code 1']),
    'cannot run': ('exit 2', CANNOT_RUN, ['ended with exit code 2']),
    'is killed': ('kill -9 $$', TEST_FAILED, ['killed by signal 9']),
    'writes junk for a mark': ('echo junk >&3; sleep 20', TEST_FAILED, ["'junk'.*no mark"]),
    'marks an end first': ('echo "end Read 4096 1 measured 1 1 1 1 1 1 1 1" >&3; sleep 20',
                           TEST_FAILED, ['out of order']),
    'marks another size': ('echo "begin Read 5 1 measured" >&3; sleep 20', TEST_FAILED,
                           ['marks a run of 5 bytes']),
    'marks no end': ('echo "begin Read 4096 1 measured" >&3; read line <&3; '
                     'echo test_name,iteration,file_size_mb,microseconds,throughput_mbs',
                     TEST_FAILED, ['did not mark the end']),
    'writes no document': ('exit 0', TEST_FAILED, ['wrote no']),
}


@tap.cases(BAD_TOOLS)
def test_a_test_program_that(text, code, messages):
    directory = outdir()
    tool = script(f'for word; do [ "$word" != --version ] || exit 0; done\n{text}\n')
    result = perftest(*SMALL, f'TOOL={tool}', f'OUTDIR={directory}').expect(code, *messages)
    assert result.err.splitlines()[-1].startswith('afp_perftest: '), result
    text = texts(directory / f'{NAME}-net.txt')
    tap.equal(text['complete'], 'no')
    assert text['failure'], text
    assert not [name for name in files(directory) if '.part' in name], files(directory)
    if 'broken' in messages:
        tap.equal((directory / f'{NAME}-stderr.log').read_text(), 'broken\n')


@tap.limit(200)
def test_without_gnuplot():
    """A word on stderr, and everything else as ever."""
    directory = outdir()
    path = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    for place in reversed(os.get_exec_path()):
        with contextlib.suppress(OSError):
            for program in pathlib.Path(place).iterdir():
                if program.name != 'gnuplot':
                    (path / program.name).unlink(missing_ok=True)
                    (path / program.name).symlink_to(program)
    result = perftest('RATE=1gbit,100mbit', 'DELAY=1ms', 'SWEEP=4k', 'ITER=1', 'OPS=Read',
                      f'OUTDIR={directory}', env={'PATH': str(path)}).expect(DONE)
    tap.equal(result.err, 'afp_perftest: no pictures: gnuplot is not in PATH: '
              'install the package gnuplot-nox\n')
    names = ['speed-100mbit-1ms', NAME]
    tap.equal(files(directory), [name + suffix for name in names for suffix in SUFFIXES
                                 if suffix != '.png'])
    for name in names:
        tap.equal((directory / f'{name}-stderr.log').read_text(), '')
    tap.equal(len([line for line in result.out.splitlines() if line.endswith(' -')]), 2)


def test_gnuplot_that_fails():
    directory = outdir()
    path = script('echo broken >&2; exit 1').parent
    (path / 'tool').rename(path / 'gnuplot')
    result = perftest(*SMALL, f'OUTDIR={directory}',
                      env={'PATH': f'{path}:{os.environ["PATH"]}'}).expect(DONE)
    tap.equal(result.err, f'afp_perftest: no picture of {NAME}: gnuplot ended with exit code 1: '
              'broken\n')
    tap.equal(files(directory), [NAME + suffix for suffix in SUFFIXES if suffix != '.png'])


@tap.limit(200)
def test_sizes_that_were_finished_stay():
    directory = outdir()
    tool = script('for word; do [ "$word" != 1 ] || exit 1; done\n'
                  f'exec {programs.SPEEDTEST} "$@"\n')
    perftest('RATE=1gbit', 'DELAY=1ms', 'SWEEP=4k,1M', 'ITER=2', 'WARMUP=0', 'OPS=Read', 'REQUESTS=2',
             f'TOOL={tool}', f'OUTDIR={directory}').expect(TEST_FAILED)
    found, _sections = results.parse_csv((directory / f'{NAME}.csv').read_text())
    tap.equal([row[:2] for row in found if row[1]], [['Read', '1'], ['Read', '2']])
    document = results.load(directory / f'{NAME}.json')
    tap.equal([size['complete'] for size in document['link']['sizes']], [True, False])
    tap.equal((document['complete'], len(document['cases'])), (False, 1))
    assert 'exit code 1' in document['failure'], document['failure']
    tap.equal([row['size_mb'] for row in rows(directory / f'{NAME}-net.csv')], ['0.00390625'])
    tap.equal(png_size(directory / f'{NAME}.png'), (1430, 676))
    assert " INCOMPLETE'" in (directory / f'{NAME}.gnuplot').read_text(encoding='utf-8')


# ---------------------------------------------------------------------------------- what it leaves

def children(pid):
    """All that a process started, and what they started."""
    found = []
    for line in pathlib.Path('/proc').glob(f'{pid}/task/*/children'):
        with contextlib.suppress(OSError):      # it has just ended
            for word in line.read_text().split():
                found += [int(word), *children(word)]
    return found


def words(pid):
    """The command line of a process; none if it has gone."""
    try:
        return pathlib.Path(f'/proc/{pid}/cmdline').read_text().split('\0')
    except OSError:
        return []


def surroundings():
    links = subprocess.run(['ip', '-o', 'link'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           text=True, check=True).stdout
    interfaces = sorted(line.split(': ')[1] for line in links.splitlines())
    mounts = sorted(line.split()[4] for line in
                    pathlib.Path('/proc/self/mountinfo').read_text().splitlines())
    return interfaces, mounts


def namespaces(processes='[0-9]*'):
    """The network namespaces of processes that can be seen: of all, or of these."""
    found = set()
    for path in pathlib.Path('/proc').glob(f'{processes}/ns/net'):
        try:
            found.add(os.readlink(path))
        except OSError:
            continue
    return found


def start(directory):
    return programs.Program(PERFTEST, f'SERVER={SERVER}', 'RATE=1gbit', 'DELAY=1ms',
                            'SWEEP=16M', 'ITER=50', f'OUTDIR={directory}', env={**clean(), **PUNCTUAL})


def at_work(running):
    """Waits until the test program runs its tests; all processes of the run."""
    def busy():
        processes = children(running.pid)
        return any('-z' in words(pid) for pid in processes) and processes
    return programs.wait_until(busy, 'the test program', 60)


def gone(processes):
    return not [pid for pid in processes if pathlib.Path(f'/proc/{pid}').exists()]


@tap.cases({'the harness': 0, 'the supervised process': 1})
def test_nothing_is_left_after_kill_9(of_all):
    before = surroundings()
    directory = outdir()
    with start(directory) as running:
        processes = [running.pid, *at_work(running)]
        inside = set().union(*map(namespaces, processes)) - namespaces('self')
        os.kill(processes[of_all], signal.SIGKILL)
        running.wait(20)
        programs.wait_until(lambda: gone(processes), 'the end of all processes')
    tap.equal(surroundings(), before)
    assert inside, 'no namespace of its own'
    tap.equal(inside & namespaces(), set(), 'namespaces that are left')


def test_ctrl_c_keeps_what_there_is():
    directory = outdir()
    before = surroundings()
    with start(directory) as running:
        processes = at_work(running)
        running.interrupt(signal.SIGINT)
        result = running.wait(40)
        programs.wait_until(lambda: gone(processes), 'the end of all processes')
    result.expect(INTERRUPTED)
    tap.equal(files(directory), [NAME + suffix for suffix in SUFFIXES
                                 if suffix not in ('.gnuplot', '.json', '.png')])
    tap.equal(texts(directory / f'{NAME}-net.txt')['complete'], 'no')
    tap.equal(surroundings(), before)


@tap.limit(200)
def test_two_at_once():
    directories = [outdir(), outdir()]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(perftest, *SMALL, f'OUTDIR={directory}', '--force')
                for directory in directories]
        for one, directory in zip(runs, directories):
            one.result().expect(DONE)
            tap.equal(files(directory), [NAME + suffix for suffix in SUFFIXES])


def test_as_an_ordinary_user():
    if os.getuid() != 0:
        tap.skip('this is one: the other tests show it')
    directory = outdir()
    directory.parent.chmod(0o755)
    directory.mkdir()
    directory.chmod(0o777)
    # a copy where that user may go
    place = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    place.chmod(0o755)
    for name in ('afp_perftest', 'afp_speedtest', 'afp_refserver'):
        shutil.copy(programs.BIN_DIR / name, place)
        (place / name).chmod(stat.S_IRWXU | 0o055)
    before = ('setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups')
    result = perftest(*SMALL, f'OUTDIR={directory}/mine', limit_s=90, before=before,
                      program=place / 'afp_perftest', server='refserver')
    result.expect(DONE)
    tap.equal(result.err, '')
    tap.equal(files(directory / 'mine'), [NAME + suffix for suffix in SUFFIXES])
    tap.equal((directory / 'mine').stat().st_uid, 65534)


def test_root_of_a_container():
    """Has the name and lacks the rights: to become root is no advice."""
    tap.require(os.getuid() == 0, 'needs root, to take its rights away')
    before = ('setpriv', '--bounding-set', '-all', '--inh-caps', '-all')
    result = perftest(*SMALL, f'OUTDIR={outdir()}', before=before, server='refserver')
    result.expect(CANNOT_RUN, 'root here lacks CAP_SYS_ADMIN ', '--privileged',
                  '--cap-add=SYS_ADMIN ')
    assert 'as root' not in result.err, result


def teardown():
    shutil.rmtree(scratch, ignore_errors=True)


tap.main(setup, teardown, sys.argv[2:])
