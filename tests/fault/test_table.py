#!/usr/bin/python3
"""Every fault of afp_refserver --fault in every phase that it can hit.

A row is a fault at a request. All rows run first, several at a time; then each is judged: exit code,
the one line on stderr, the rows on stdout, and what is left on the server.
"""

import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
import time
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import phases
import programs
import tap
from phases import PHASES, TIMEOUT_S
from programs import CANNOT_RUN, DONE, speedtest

AT_ONCE = 8
BEFORE = ('server info', 'open session', 'login', 'open volume')
TRANSFERS = ('read', 'write', 'copy')
IN_TESTS = tuple(name for name in PHASES if name not in BEFORE)

# what a fault comes to
HARMLESS = 'harmless'           # the run goes on
REFUSED = 'refused'             # the request fails, the session lives: nothing stays
LOST = 'lost'                   # the session is over: the directory stays, and is named
MUTE = 'mute'                   # the same, after the timeout

ALL = tuple(PHASES)
# fault: (outcome, phases, further pattern of the message)
FAULTS = {
    'tickle': (HARMLESS, ALL, ''),
    'attention=2005': (HARMLESS, ALL, ''),
    'attention=3001': (HARMLESS, ALL, ''),
    'unknown': (HARMLESS, ALL, ''),
    'delay=0.1': (HARMLESS, ALL, ''),
    'pieces=1': (HARMLESS, [name for name in ALL if name not in ('read', 'copy')], ''),
    'pieces=999': (HARMLESS, ALL, ''),
    'hold=2': (HARMLESS, ALL, ''),
    'reverse=2': (HARMLESS, ALL, ''),
    'code=-5000': (REFUSED, [name for name in ALL if name not in ('server info', 'open session')],
                   r'-5000'),
    'code=-5008': (REFUSED, IN_TESTS, r'DiskFull.*-5008'),
    'code=-5047': (REFUSED, IN_TESTS, r'-5047'),
    'code=-5031': (REFUSED, IN_TESTS, r'VolLocked.*-5031'),
    'code=-5018': (REFUSED, [name for name in IN_TESTS if name != 'clean-up'], r'-5018'),
    'code=-1068': (REFUSED, ['open session'], 'no more sessions.*-1068'),
    'code=-1071': (REFUSED, ['open session'], 'busy.*-1071'),
    'close': (LOST, ALL, '(?i)clos'),
    'close=7': (LOST, ALL, '(?i)clos'),
    'reset': (LOST, ALL, '(?i)reset'),
    'reset=16': (LOST, [name for name in TRANSFERS if name != 'write'], '(?i)reset'),
    'half-close': (LOST, ALL, '(?i)clos'),
    'close-session': (LOST, [name for name in ALL if name != 'server info'], '(?i)clos'),
    'id=77': (LOST, ALL, 'answers nothing'),
    'command=6': (LOST, [name for name in ALL if name != 'write'], 'answers nothing'),
    'twice': (LOST, TRANSFERS, 'answers nothing'),
    'short=0': (REFUSED, TRANSFERS[:1], 'returned 0 and result 0'),
    'extend=1': (REFUSED, TRANSFERS[:1], '65537'),
    'eof=1': (REFUSED, TRANSFERS[:1], '65535.*-5009'),
    'eof=65536': (REFUSED, ['read', 'copy'], '-5009'),
    'truncate=9': (REFUSED, ['open session'], ''),
    'mute': (MUTE, ALL, r'\b1 ?s'),
    'ignore': (MUTE, [name for name in ALL if name not in ('flush', 'server copy')], r'\b1 ?s'),
    'deaf': (MUTE, ALL, r'\b1 ?s'),
}
# these wait as long as the connection lives
PATIENT = ('server copy', 'flush')


@dataclass
class Outcome:
    result: programs.Result
    took_s: float
    left: list                  # names in the volume's root


def run_at(fault, test):
    with tempfile.TemporaryDirectory() as directory:
        with programs.Refserver('--volume', f'bench,path={directory}', '--fault', fault) as server:
            started = time.monotonic()
            result = speedtest(*phases.arguments(server, test), limit_s=30)
            took_s = time.monotonic() - started
        return Outcome(result, took_s, sorted(os.listdir(directory)))


def rows():
    for fault, (outcome, names, pattern) in FAULTS.items():
        for name in names:
            if outcome != MUTE or name not in PATIENT:
                yield f'{fault} at {name}', (fault, name, outcome, pattern)


ROWS = dict(rows())
running = {}


def start():
    pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)
    for title, (fault, name, _outcome, _pattern) in ROWS.items():
        if not sys.argv[1:] or any(word in title for word in sys.argv[1:]):
            phase = PHASES[name]
            running[fault, name] = pool.submit(run_at, f'{fault}@{phase.request}', phase.test)


def stays(outcome):
    """The directory that the message says stays, if any; and the lines without that."""
    lines = outcome.result.err.splitlines()
    named = [line for line in lines if re.search('stays? on volume', line)]
    return re.findall(r"directory '([^']+)' (?:may )?stays? on", '\n'.join(named)), lines


@tap.cases(ROWS)
def test_row(fault, name, outcome, pattern):
    phase = PHASES[name]
    found = running[fault, name].result(100)
    result = found.result
    done = sum(len(test.rows) for test in result.tests())
    if outcome == HARMLESS:
        result.expect(DONE)
        tap.equal((result.err, done, found.left), ('', 3, []), 'stderr, rows, left')
        return
    named, lines = stays(found)
    result.expect(phase.code, phase.names, pattern)
    for line in lines:
        assert line.startswith('afp_speedtest: '), f'not from the program: {result}'
    in_clean_up = name == 'clean-up'
    assert len(lines) == 1 + (bool(named) and not in_clean_up), f'wanted one line: {result}'
    tap.equal(done, phase.rows, 'rows')
    if phase.code == CANNOT_RUN:
        tap.equal(result.out, '')
    assert set(found.left) <= set(named), f'{found.left} is left and not named: {result}'
    if outcome == REFUSED and not in_clean_up:
        tap.equal(named, [], 'named as left')
    if phase.directory and outcome in (LOST, MUTE):
        tap.equal(found.left, named, 'left')
    if outcome == MUTE:
        assert TIMEOUT_S <= found.took_s, f'only {found.took_s} s'
        assert found.took_s < TIMEOUT_S + 5, f'{found.took_s} s: {result}'


tap.main(start)
