"""Compares what a program printed with figures that were computed anew.

An expected line is a template of `str.format` and its values: `('{},{:.2f}', 'Read', 1.2345)`.
Found and computed must agree to the last decimal that is printed, whichever way a half is rounded.
"""

import math
import re

FIELD = re.compile(r'(\{[^}]*\})')
NUMBER = re.compile(r'\{:(\d*)\.(\d)f\}')


def near(found, value, decimals, what):
    """Asserts that a number printed with so many decimals is `value`, rounded."""
    room = 0.5 * 10 ** -decimals + 1e-9 * max(1.0, abs(value))
    if not math.isfinite(float(found)) or abs(float(found) - value) > room:
        raise AssertionError(f'{what}: {found}, recomputed {value!r}')


def _pattern(template, values):
    """The template as a regular expression, and the (value, decimals) of each of its numbers."""
    pattern, numbers, values = '', [], iter(values)
    for part in FIELD.split(template):
        number = NUMBER.fullmatch(part)
        if number:
            numbers.append((next(values), int(number[2])))
            point = rf'\.\d{{{number[2]}}}' if number[2] != '0' else ''
            pattern += rf'(?=.{{{number[1] or 0},}})( *-?\d+{point})'
        elif FIELD.fullmatch(part):
            pattern += re.escape(part.format(next(values)))
        else:
            pattern += re.escape(part)
    return pattern, numbers


def compare_line(found, expected, what):
    template, *values = expected
    pattern, numbers = _pattern(template, values)
    match = re.fullmatch(pattern, found)
    if not match:
        raise AssertionError(f'{what}: {found!r}, recomputed {template.format(*values)!r}')
    for text, (value, decimals) in zip(match.groups(), numbers):
        near(text, value, decimals, f'{what}: {found!r}')


def compare_text(text, expected):
    """Asserts that a text has exactly the expected lines."""
    lines, expected = text.split('\n'), list(expected)
    if lines.pop() != '':
        raise AssertionError(f'the last line is not ended: {text[-80:]!r}')
    for number, (found, wanted) in enumerate(zip(lines, expected), 1):
        compare_line(found, wanted, f'line {number}')
    if len(lines) != len(expected):
        raise AssertionError(f'{len(lines)} lines, recomputed {len(expected)}')
