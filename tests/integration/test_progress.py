#!/usr/bin/python3
"""The line that says what runs: on a terminal only, and gone when something else is printed."""

import contextlib
import os
import pathlib
import pty
import re
import signal
import sys
import tempfile
import termios
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import programs
import tap
from programs import DONE, INTERRUPTED, TEST_FAILED

WIPE = re.compile(r'\r +\r')
RUN = ('--refserver', '-d', 16, '-n', 5, '-W', 2, '-f', 'Read,Copy')
LINE = re.compile(r'(Read|Write|Copy|ServerCopy) [\d.]+ ?\w+: (run|warm-up) \d+ of \d+'
                  r'( in \d+ s)?'
                  r'( \((\d+) % done, about (\d+) s left\))?')


class Terminal:
    """A pseudo-terminal, and all that was written to it."""

    def __init__(self, columns):
        self.master, self.slave = pty.openpty()
        termios.tcsetwinsize(self.slave, (24, columns))
        self.data = b''
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        with contextlib.suppress(OSError):      # EIO: no one has the other end any more
            while True:
                self.data += os.read(self.master, 65536)

    def text(self):
        """What came until the program that had the terminal ended."""
        os.close(self.slave)
        self.reader.join(10)
        os.close(self.master)
        return self.data.decode()


def run_on_terminal(*arguments, code=DONE, at_work=None, columns=80, variables=None):
    """The result (without stderr), and what came to the terminal that was its stderr."""
    terminal = Terminal(columns)
    with programs.Program(programs.SPEEDTEST, *arguments, env=variables,
                          stderr=terminal.slave) as running:
        if at_work:
            at_work(running, terminal)
        result = running.wait()
    text = terminal.text()
    tap.equal(result.code, code, f'exit ({text!r})')
    return result, text


def shown(text):
    """The progress lines, each wiped before what came next; asserts that nothing else came."""
    *lines, rest = WIPE.split(text)
    wipes = [len(wipe) - 2 for wipe in WIPE.findall(text)]
    tap.equal([len(line) for line in lines], wipes, 'blanks')
    assert not rest or rest.endswith('\r\n') and not LINE.match(rest), f'not wiped: {text!r}'
    matches = [LINE.fullmatch(line) for line in lines if line]
    assert all(matches), f'unexpected: {lines}'
    return matches


def test_every_run_is_shown_and_wiped():
    result, text = run_on_terminal(*RUN)
    lines = shown(text)
    tap.equal([match[0].split(' (')[0].split(': ')[1] for match in lines],
              ([f'warm-up {n} of 2' for n in (1, 2)] + [f'run {n} of 5' for n in range(1, 6)]) * 2)
    tap.equal([match[1] for match in lines], ['Read'] * 7 + ['Copy'] * 7)
    tap.equal([len(test.rows) for test in result.tests()], [5, 5])


def test_the_estimate_moves_forward():
    _result, text = run_on_terminal(*RUN)
    percents = [int(match[5]) for match in shown(text) if match[4]]
    tap.equal(len(percents), 13, 'an estimate on all lines but the first')
    tap.equal(percents, sorted(percents))
    assert 0 < percents[0] and percents[-1] < 100, percents


def test_the_estimate_is_of_the_time_that_is_left():
    _result, text = run_on_terminal('--refserver', '-d', '4k', '-W', 0, '-n', 4, '-t', 1)
    left = [int(match[6]) for match in shown(text) if match[4] and not match[3]]
    tap.equal(len(left), 3)
    assert left[0] > left[-1] and 1 <= left[0] <= 9, left


def test_a_pause_is_shown_as_it_passes():
    _result, text = run_on_terminal('--refserver', '-d', '4k', '-W', 0, '-n', 2, '-t', '2.5')
    runs = [match[0].split(' (')[0].split(': ')[1] for match in shown(text)]
    tap.equal(runs, ['run 1 of 2', 'run 2 of 2 in 3 s', 'run 2 of 2 in 2 s', 'run 2 of 2 in 1 s',
                     'run 2 of 2'])


@tap.cases({
    'a terminal that knows no codes': {'TERM': 'dumb'}, 'one that does': {'TERM': 'xterm-256color'},
    'no name': {'TERM': ''}, 'no colours wanted': {'TERM': 'xterm', 'NO_COLOR': '1'}})
def test_no_escape_codes(variables):
    _result, text = run_on_terminal(*RUN, variables=variables)
    assert shown(text) and '\x1b' not in text, repr(text)


def test_a_narrow_terminal_gets_the_beginning():
    _result, text = run_on_terminal(*RUN, columns=24)
    lines = WIPE.split(text)[:-1]
    tap.equal(len(lines), 14)
    assert all(re.match(r'(Read|Copy) 16', line) and len(line) <= 23 for line in lines), lines
    assert any(len(line) == 23 for line in lines), lines


@tap.cases({'CSV': ['-c'], 'JSON': ['-j', '-'], 'statistics': ['-T'], 'a sweep': ['-z', '4k,64k']})
def test_stdout_has_nothing_of_it_in(arguments):
    size = () if '-z' in arguments else ('-d', '64k')
    result, text = run_on_terminal('--refserver', *size, '-n', 2, *arguments)
    assert shown(text), 'no progress line'
    assert '\x1b' not in result.out and ' of 2' not in result.out, result.out


def test_nothing_of_it_on_a_file():
    with tempfile.TemporaryFile() as file:
        with programs.Program(programs.SPEEDTEST, *RUN, stderr=file) as running:
            running.wait().expect(DONE)
        file.seek(0)
        tap.equal(programs.ABOUT_THE_MACHINE.sub('', file.read().decode()), '')


def test_a_message_is_on_a_line_of_its_own():
    with programs.Refserver('--fault', 'code=-5000@FPReadExt#3') as server:
        _result, text = run_on_terminal(*programs.as_guest(server),
                                        '-f', 'Read', '-d', '64k', '-n', 5, code=TEST_FAILED)
    *_lines, message = WIPE.split(text)
    assert re.fullmatch(r'afp_speedtest: [^\r\n]*-5000[^\r\n]*\r\n(afp_speedtest: [^\r\n]*\r\n)?',
                        message), text


def test_it_is_wiped_when_interrupted():
    def interrupt(running, terminal):
        programs.wait_until(lambda: b'run 1' in terminal.data, 'a progress line')
        time.sleep(0.2)
        running.interrupt(signal.SIGINT)
    _result, text = run_on_terminal('--refserver', '-d', '4k', '-W', 0, '-n', 2, '-t', 30,
                                    code=INTERRUPTED, at_work=interrupt)
    shown(text)


tap.main()
