#!/usr/bin/python3
"""What afp_speedtest reports follows from its samples.

`test_results.py refserver|netatalk [WORD...]`
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import expected
import figures
import recompute
import results
import tap
import targets

FOUR = ('-f', 'Read,Write,Copy,ServerCopy')
# a real afpd is slower: fewer large sizes
SWEEPS = {'refserver': 'ci', 'netatalk': '4k,12345b,64k,100000b,512k,1M,1500k,4M,7M,16M,64M'}

kind = targets.chosen_kind()
target = None       # the running server


def run(*arguments):
    """A run that must succeed in silence; its output and its document, recomputed."""
    before = target.listing()
    result, document = results.run(target.run, *arguments, limit_s=110)
    tap.equal(result.err, '', 'stderr')
    tap.equal(target.listing(), before, 'on the volumes')
    tap.equal((document['complete'], document['failure']), (True, None))
    recompute.check_document(document)
    return result.out, document


def run_csv(*arguments):
    text, document = run('-c', *arguments)
    results.parse_csv(text)
    figures.compare_text(text, expected.csv_lines(document, '-z' in arguments))
    return document


def run_text(*arguments):
    text, document = run(*arguments)
    statistics = '-T' in arguments or '-z' in arguments
    figures.compare_text(text, expected.text_lines(document, statistics))
    return document


def cases_of(document):
    return [(case['test'], case['size_bytes']) for case in document['cases']]


# ------------------------------------------------------------------------------- recomputed figures

def test_figures_of_a_sweep_in_CSV():
    document = run_csv('-z', SWEEPS[kind], '-n', 3, *FOUR)
    sizes = sorted({size for _test, size in cases_of(document)})
    if kind == 'refserver':
        tap.equal(sizes, [4096 << power for power in range(17)])
    tap.equal(cases_of(document), [(test, size) for size in sizes for test in FOUR[1].split(',')])


def test_figures_of_a_sweep_in_text():
    run_text('-z', SWEEPS[kind], '-n', 2, *FOUR)


def test_full_is_a_size_more_than_ci():
    sizes = [size for _test, size in cases_of(run_csv('-z', 'full', '-f', 'Read', '-W', 0, '-e'))]
    tap.equal(sizes, [4096 << power for power in range(18)])


# arguments beside -d 1100k; figures of 25 runs have a P95 and an interval worth comparing
OPTIONS = {
    'plain': [],
    '25 runs': ['-n', 25, '-q', 256],
    '-r 8': ['-r', 8, '-q', 64, '-n', 3],
    '-R 8': ['-R', 8, '-q', 64, '-n', 3],
    '-r 1000': ['-r', 1000, '-q', 64, '-n', 3],
    '-a': ['-a', '-n', 2],
    '-e': ['-e', '-n', 2],
    '-y': ['-y', '-n', 3],
    '-W 0': ['-W', 0, '-n', 2],
    '-W 3': ['-W', 3, '-n', 2],
    '-S': ['-S', targets.VOLUMES[1], '-n', 2],
    '--sink discard': ['--sink', 'discard', '-n', 2],
    '--sink verify': ['--sink', 'verify', '-n', 2],
    '--sessions 2': ['--sessions', 2, '-n', 3],
    '--sessions 5, -r 4': ['--sessions', 5, '-r', 4, '-q', 64, '-n', 3],
    'AFP 2.2': ['-2', '-n', 2],
}


@tap.cases({name: (arguments,) for name, arguments in OPTIONS.items()})
def test_figures_with(arguments):
    for document in (run_csv('-d', '1100k', *FOUR, *arguments),
                     run_text('-d', '1100k', *FOUR, '-T', *arguments)):
        tap.equal(cases_of(document), [(test, 1126400) for test in FOUR[1].split(',')])


def test_text_without_statistics():
    run_text('-d', '64k', *FOUR, '-n', 2)


# ------------------------------------------------------------------ what the document says of a run

# arguments: of each case the keys that tell them
TOLD = {
    '-r 8': (['-r', 8], {'outstanding': 8, 'interleaved': True}),
    '-R 8': (['-R', 8], {'outstanding': 8, 'interleaved': False}),
    '-q 64': (['-q', 64], {'chunk_bytes': 65536}),
    '-e': (['-e'], {'sparse': True}),
    '-W 3 -n 2': (['-W', 3, '-n', 2], {'warmups': 3, 'iterations': 2}),
    '-W 0': (['-W', 0], {'warmups': 0, 'iterations': 1}),
    '--sessions 2': (['--sessions', 2], {'sessions': 2}),
    'nothing': ([], {'outstanding': 1, 'interleaved': True, 'sparse': False, 'sessions': 1,
                     'warmups': 1, 'iterations': 1}),
}


@tap.cases(TOLD)
def test_case_tells(arguments, wanted):
    _text, document = run('-d', '64k', '-f', 'Read,Write,Copy', *arguments)
    for case in document['cases']:
        told = wanted
        if case['test'] == 'Write' and 'sparse' in wanted:      # it has no source
            told = {**wanted, 'sparse': False}
        tap.equal({key: case[key] for key in wanted}, told, case['test'])


def test_server_tells():
    _text, document = run('-d', '4k', '-5')
    server = document['server']
    tap.equal((server['address'], server['afp_version'], server['quantum_offered_bytes']),
              (f'127.0.0.1:{target.port}', 'AFP3.2', 1 << 20))
    tap.equal({'AFP2.2', 'AFP3.4'} <= set(server['versions']), True, 'versions')
    tap.equal(server['login_method'] in server['login_methods'], True, 'login method')


def test_a_password_is_not_in_the_document():
    secret = 'sEkr3tpw'
    result, document = results.run(target.run, '-d', '4k', '-w', secret, code=2)
    assert secret not in str(document) + result.out + result.err, 'password told'


# -------------------------------------------------------------------------------------- determinism

@tap.cases({f'{option} {depth}': (option, depth) for option in ('-r', '-R') for depth in (1, 4)})
def test_counts_are_equal_in_20_runs(option, depth):
    seen = {}
    for _invocation in range(2):
        _text, document = run('-d', '1100k', '-q', 64, '-n', 9, '-W', 1, option, depth, *FOUR)
        for case in document['cases']:
            seen.setdefault(case['test'], []).extend(
                (sample['requests'], sample['runt_requests'], sample['round_trips'],
                 sample['payload_bytes']) for sample in case['samples'])
    for test, counts in seen.items():
        tap.equal(len(counts), 20)
        tap.equal(counts, counts[:1] * 20, test)


targets.run_suite()
