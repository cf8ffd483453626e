"""Runs the programs under test and reads what they print, strictly."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass

import tap

BIN_DIR = pathlib.Path(os.environ.get(
    'AFPBENCH_BIN_DIR', pathlib.Path(__file__).resolve().parents[2] / 'build/src/tools'))
SPEEDTEST = BIN_DIR / 'afp_speedtest'
REFSERVER = BIN_DIR / 'afp_refserver'

DONE, TEST_FAILED, CANNOT_RUN, USAGE, INTERRUPTED = 0, 1, 2, 64, 130

RUN_LIMIT_S = 60

@dataclass
class Result:
    """How a program ended and what it printed."""

    argv: list
    code: int
    out: str
    err: str

    def __str__(self):
        return (f'exit {self.code} of {" ".join(map(str, self.argv))}\n'
                f'stdout: {self.out[-2000:]}\nstderr: {self.err[-2000:]}')

    def expect(self, code, *patterns):
        """Asserts the exit code, and that stderr has each pattern; returns itself."""
        assert self.code == code, f'wanted exit {code}: {self}'
        for pattern in patterns:
            assert re.search(pattern, self.err), f'wanted /{pattern}/ on stderr: {self}'
        return self

    def expect_one_message(self, code, *patterns, stays=False):
        """The same for a failure told in exactly one line.

        `stays`: a second line says that the run's directory could not be removed, or may be there.
        """
        self.expect(code, *patterns)
        name = os.path.basename(self.argv[0])
        lines = self.err.splitlines()
        assert all(line.startswith(f'{name}: ') for line in lines), f'not all from {name}: {self}'
        assert len(lines) == 1 + stays and self.err.endswith('\n'), \
            f'wanted {1 + stays} lines on stderr: {self}'
        assert not stays or re.search('stays? on volume', lines[-1]), f'directory not mentioned: {self}'
        return self

    def tests(self):
        return parse_tests(self.out)

    def shape(self):
        """What does not depend on time: name, size and number of rows of each test."""
        return [(test.name, test.size, len(test.rows)) for test in self.tests()]


# A busy machine makes a run end with a word about it; tests of messages are not about the machine.
ABOUT_THE_MACHINE = re.compile(r'^[^\n]*: the figures may be low\n', re.MULTILINE)


def environment(**changes):
    """This program's environment without what the programs under test would read of it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith('AFP_')}
    return {**env, **changes}


@contextlib.contextmanager
def decimal_comma():
    """The environment of a locale that writes 1,5; skips where none can be made."""
    with tempfile.TemporaryDirectory() as directory:
        name = 'de_DE.UTF-8'
        with contextlib.suppress(FileNotFoundError):
            subprocess.run(['localedef', '-i', 'de_DE', '-f', 'UTF-8', f'{directory}/{name}'],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        env = {'LOCPATH': directory, 'LC_ALL': name, 'LANG': name}
        point = subprocess.run(['locale', 'decimal_point'], env=environment(**env),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        tap.require(point.stdout == ',\n', 'no locale with a decimal comma (package locales)')
        yield env


class Program:
    """A program at work; ended with the block. stdout and stderr come as text."""

    def __init__(self, program, *arguments, env=None, stdin=subprocess.DEVNULL,
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=()):
        self.argv = [str(program), *map(str, arguments)]
        self.process = subprocess.Popen(
            self.argv, stdin=stdin, stdout=stdout, stderr=stderr, text=True,
            env=environment(**(env or {})), start_new_session=True, pass_fds=pass_fds)
        self.read = ''          # of stdout, so far

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    @property
    def pid(self):
        return self.process.pid

    def interrupt(self, number=signal.SIGINT):
        self.process.send_signal(number)

    def asleep(self):
        """Waits until each of its threads sleeps. Whoever asked a server and sleeps looks at signals
        before anything else when it wakes; before that, an answer may still be taken first."""
        threads = pathlib.Path(f'/proc/{self.pid}/task')
        wait_until(lambda: all(stat.read_text().rpartition(')')[2].split()[0] == 'S'
                               for stat in threads.glob('*/stat')), 'asleep')

    def first_row(self):
        """Waits until the first row of the text output has been printed."""
        self.read = ''.join(self.process.stdout.readline() for _ in range(3))

    @contextlib.contextmanager
    def stopped(self):
        """The process stands still, however long it takes."""
        self.interrupt(signal.SIGSTOP)
        yield
        self.interrupt(signal.SIGCONT)

    def wait(self, limit_s=RUN_LIMIT_S, text=None):
        try:
            out, err = self.process.communicate(text, limit_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f'still running after {limit_s} s: '
                                 f'{Result(self.argv, None, out or "", err or "")}') from None
        return Result(self.argv, self.process.returncode, self.read + (out or ''),
                      ABOUT_THE_MACHINE.sub('', err or ''))


class Marked(Program):
    """afp_speedtest with one end of a socket pair for its marks (doc/formats.md); ours is `near`.

    It stands still from a mark to its answer, so what tests look at meanwhile cannot pass by.
    """

    def __init__(self, *arguments, **options):
        self.near, far = socket.socketpair()
        self.near.settimeout(20)
        with far:
            super().__init__(SPEEDTEST, '--mark-fd', far.fileno(), *arguments,
                             pass_fds=[far.fileno()], **options)
        self.lines = self.near.makefile('r', encoding='ascii')

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.lines.close()
        self.near.close()

    def answer(self, text='\n'):
        self.near.sendall(text.encode())

    def marks(self):
        """Each mark; it is answered when the next one is asked for."""
        for line in self.lines:
            yield line
            self.answer()

    def stop_at(self, start):
        """Goes on until the mark that begins so, and leaves it without an answer."""
        for line in self.lines:
            if line.startswith(start):
                return
            self.answer()
        raise AssertionError(f'no mark {start!r}: {self.wait()}')

    def held_files(self, *directories):
        """Goes on to the end of the program: {name: files that its runs had, open}.

        Each is opened as a timed section ends, and so can be read though it is deleted by now.
        """
        held = {}
        for mark in self.marks():
            paths = [path for directory in directories for path in directory.glob('afpbench-*/*')]
            for path in paths if mark.startswith('end ') else ():
                held.setdefault((path.name, path.stat().st_ino), path.open('rb'))
        self.wait().expect(DONE)
        return {name: [file for (other, _), file in held.items() if other == name]
                for name in ('Source', 'Destination')}


def run(program, *arguments, limit_s=RUN_LIMIT_S, text=None, **options):
    """Runs a program to its end."""
    if text is not None:
        options['stdin'] = subprocess.PIPE
    with Program(program, *arguments, **options) as running:
        return running.wait(limit_s, text)


def as_guest(server, *more):
    """Arguments for a run on the volume `bench` of a server on this machine."""
    return ['-h', '127.0.0.1', '-p', server.port, '-s', 'bench', '-u', '', *more]


def speedtest(*arguments, **options):
    return run(SPEEDTEST, *arguments, **options)


class Refserver:
    """A running afp_refserver on a port of its own choice; `through` is a command that starts it."""

    def __init__(self, *arguments, through=()):
        self.program = Program(*through, REFSERVER, '-p', '0', *arguments)
        line = self.program.process.stdout.readline()
        match = re.fullmatch(r'listening on (\S+) port (\d+)\n', line)
        if not match:
            self.program.process.kill()
            raise AssertionError(f'afp_refserver printed {line!r}: {self.program.wait()}')
        self.port = int(match[2])

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.stop()

    def stop(self):
        self.program.__exit__()


# ------------------------------------------------------------------------- output of afp_speedtest

HEADER = re.compile(r'(Read|Write|Copy|ServerCopy) quantum (\d+), size (\d+)( sparse file)?')
COLUMNS = 'run\t microsec\t  KB/s'
ROW = re.compile(r'(\d+)\t( *\d+)\t( *\d+\.\d\d)')


@dataclass
class Test:
    """One test's part of the output; rows are (run, microseconds, KB per second)."""

    name: str
    quantum: int
    size: int
    sparse: bool
    rows: list


def parse_tests(text):
    """The tests of a text output; anything that doc/formats.md does not say is an error."""
    tests = []
    if text and not text.endswith('\n'):
        raise AssertionError(f'last line is not ended: {text[-80:]!r}')
    lines = iter(text.splitlines())
    for line in lines:
        header = HEADER.fullmatch(line)
        if header:
            columns = next(lines, None)
            if columns != COLUMNS:
                raise AssertionError(f'after {line!r} came {columns!r}')
            tests.append(Test(header[1], int(header[2]), int(header[3]), bool(header[4]), []))
            continue
        row = ROW.fullmatch(line)
        if not row or not tests or len(row[2]) < 9 or len(row[3]) < 9:
            raise AssertionError(f'unexpected line {line!r}')
        tests[-1].rows.append((int(row[1]), int(row[2]), float(row[3])))
    for test in tests:
        _check_rows(test)
    return tests


def _check_rows(test):
    """Runs count from 1; each rate is size by time, within the rounding of the time."""
    for expected, (number, micros, rate) in enumerate(test.rows, 1):
        if number != expected:
            raise AssertionError(f'{test.name}: run {number}, wanted {expected}')
        fastest = test.size / 1024 / (max(micros - 1, 0.1) / 1e6)
        slowest = test.size / 1024 / ((micros + 1) / 1e6)
        if not slowest - 0.01 <= rate <= fastest + 0.01:
            raise AssertionError(f'{test.name}: {rate} KB/s is not {test.size} bytes '
                                 f'in {micros} microseconds')


def wait_until(condition, what, limit_s=20):
    """Polls until the condition gives something true, and returns that."""
    deadline = time.monotonic() + limit_s
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f'{what}: not within {limit_s} s')
        time.sleep(0.02)
