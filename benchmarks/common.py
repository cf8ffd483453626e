"""What the bench scripts share: running a client with its CPU time, pairs in random order, medians."""

import csv
import io
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'tests' / 'lib'))
BUILD = pathlib.Path(os.environ.get('AFPBENCH_BUILD_DIR', HERE.parent / 'build'))
BIN = BUILD / 'src' / 'tools'
os.environ.setdefault('AFPBENCH_BIN_DIR', str(BIN))  # tests/lib finds the programs by it
GIB = 1 << 30


class Run:
    """One finished client: its output and what it cost."""

    def __init__(self, command, stdout, cpu_s):
        self.command = command
        self.stdout = stdout
        self.cpu_s = cpu_s

    def rows(self, test):
        """Bytes per second of each measured run in its CSV."""
        rates = []
        for row in csv.reader(io.StringIO(self.stdout)):
            if len(row) == 5 and row[0] == test and row[1].isdigit():
                rates.append(float(row[4]) * (1 << 20))
        if not rates:
            raise SystemExit(f'no rows of {test} from {self.command}:\n{self.stdout}')
        return rates


def run(command, limit_s=300):
    """Runs a client; its CPU time is user and system time of the process and its children."""
    before = os.times()
    process = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                             timeout=limit_s, check=False)
    after = os.times()
    if process.returncode != 0:
        raise SystemExit(f'exit {process.returncode} of {command}\n{process.stdout}')
    cpu = (after.children_user - before.children_user
           + after.children_system - before.children_system)
    return Run(' '.join(str(word) for word in command), process.stdout, cpu)


def pairs(count, first, second, seed=1):
    """Calls both `count` times, in random order inside each pair; returns the lists of results."""
    order = random.Random(seed)
    results = ([], [])
    for _ in range(count):
        both = [(0, first), (1, second)]
        order.shuffle(both)
        for index, function in both:
            results[index].append(function())
    return results


def median_ratio(numerators, denominators, seed=1, resamples=2000):
    """The median of the pairs' ratios with its 95 % bootstrap interval."""
    logs = [math.log(a / b) for a, b in zip(numerators, denominators)]
    order = random.Random(seed)
    medians = sorted(statistics.median(order.choices(logs, k=len(logs)))
                     for _ in range(resamples))
    return (math.exp(statistics.median(logs)), math.exp(medians[int(0.025 * resamples)]),
            math.exp(medians[int(0.975 * resamples) - 1]))


def interval(ratio):
    return f'{ratio[0]:.3f} [{ratio[1]:.3f}, {ratio[2]:.3f}]'


def say(*words):
    print(*words, flush=True)
