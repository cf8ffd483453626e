#!/usr/bin/python3
"""Our CSV and tables beside those of Netatalk's own afp_speedtest: alike but for the figures.

`test_layout.py [WORD...]`; it needs a real Netatalk and its test programs.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))

import tap
import targets
from programs import DONE

FOUR = ('-f', 'Read,Write,Copy,ServerCopy')
target = None       # the running server; set by set_up


def set_up():
    global target
    target = targets.Netatalk()


def tear_down():
    if target:
        target.stop()


def both(*arguments):
    """What ours and theirs print."""
    ours = target.run(*arguments).expect(DONE)
    tap.equal(ours.err, '', 'stderr')
    return ours.out, target.server.their_speedtest(*arguments)


def figure(text):
    """A number without its value: '12.30' becomes 'N.NN'; anything else stays."""
    number = re.fullmatch(r'-?\d+(\.\d+)?', text)
    return 'N' + re.sub(r'\d', 'N', number[1] or '') if number else text


# how many fields of a row are no measured figures
KNOWN = {'test_name': 3, 'file_size_bytes': 2, 'file_size_mb': 1, 'metric': 1}


def csv_shape(text):
    """The lines with their figures taken out, but for the column that 4.5.1 lacks."""
    lines, known, drop = [], 0, False
    for line in text.split('\n'):
        fields = line.split(',')
        if fields[0] in KNOWN:
            known, drop = KNOWN[fields[0]], fields[0] == 'file_size_bytes'
        shape = fields[:known] + [figure(field) for field in fields[known:]]
        is_row = len(fields) > 1
        lines.append(','.join(shape[1:] if drop and is_row and known == 2 else shape))
    return lines


SWEEPS = {
    'sweep': ['-z', '0.004,0.25,1', '-n', 3, *FOUR],
    'sweep of one run': ['-z', '0.004,1', '-n', 1, *FOUR],
    'sweep of one size': ['-z', '0.5', '-n', 2, '-f', 'Write'],
    'another order, twice': ['-z', '0.004,1,0.004', '-n', 2, '-f', 'Write,Read'],
}
SINGLE = {
    'one size': ['-d', 1, '-n', 3, *FOUR],
    'one run': ['-d', 1, *FOUR],
    'no warm-up': ['-d', 1, '-W', 0, '-n', 2, '-f', 'Copy'],
    'a second volume': ['-d', 1, '-n', 2, '-S', targets.VOLUMES[1], '-f', 'Copy,ServerCopy'],
}


def same_lines(ours, theirs):
    for number, pair in enumerate(zip(ours, theirs), 1):
        tap.equal(*pair, f'line {number}')
    tap.equal(len(ours), len(theirs), 'number of lines')


@tap.cases({name: (arguments,) for name, arguments in {**SWEEPS, **SINGLE}.items()})
def test_CSV_of(arguments):
    same_lines(*map(csv_shape, both('-c', *arguments)))


def table_shape(text):
    """Each line of the tables: the first cell, the others without figures, the length."""
    shapes = []
    for line in text[text.index('╔'):text.rindex('╝') + 1].split('\n'):
        first, *cells = line.split('│')
        cells = [re.sub(r' *-?\d[\d.]*', lambda match: figure(match[0].strip()), cell)
                 for cell in cells]
        shapes.append(('│'.join([first, *cells]), len(line)))
    return shapes


@tap.cases({name: (arguments,) for name, arguments in SWEEPS.items()})
def test_tables_of(arguments):
    same_lines(*map(table_shape, both(*arguments)))


def block_shape(text):
    """The lines that both have in their statistics blocks, without figures.

    Where runs stand out ours has the median before the mean (doc/formats.md).
    """
    labels = ('===== Statistics', 'File Size:', 'Iterations:', 'Mean:', 'Median:', 'Std Dev:',
              'Min:', 'Max:', 'P95:')
    shapes = [re.sub(r'(?<= |\()\d+(\.\d+)?', lambda match: figure(match[0]), line)
              for line in text.split('\n') if line.startswith(labels)]
    for at, pair in enumerate(zip(shapes, shapes[1:])):
        if pair[0].startswith('Median:') and pair[1].startswith('Mean:'):
            shapes[at:at + 2] = reversed(pair)
    return shapes


@tap.cases({'3 runs': 3, '20 runs': 20})
def test_statistics_of(runs):
    same_lines(*map(block_shape, both('-T', '-d', 1, '-n', runs, '-f', 'Read,Write')))


tap.main(set_up, tear_down)
