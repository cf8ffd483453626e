"""A test runner that prints TAP, for `meson test --protocol tap`.

A suite is a program that ends with `tap.main()`: every function whose name starts with `test_`
runs, in order of definition, each with a time limit. `@tap.cases(table)` makes one test of each row.
By hand, words on the command line choose the tests whose names contain one of them.
"""

import functools
import os
import signal
import sys
import traceback

TIME_LIMIT_S = 120

# Tests send these. Whoever runs them in the background may have had them ignored, and the programs
# under test would then ignore them too, as they should.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)


class Skip(Exception):
    """Raised in a test, or before any, with the reason why it cannot run here."""


class TimeLimit(Exception):
    """A test took longer than allowed."""


def skip(reason):
    raise Skip(reason)


def require(condition, reason):
    """Skips with the reason; in CI, where everything has to be there, fails instead."""
    if condition:
        return
    if os.environ.get('CI') == 'true':
        raise AssertionError(f'must not be missing in CI: {reason}')
    raise Skip(reason)


def limit(seconds):
    """The time limit of one test, where the usual one does not fit."""
    def set_limit(function):
        function.limit_s = seconds
        return function
    return set_limit


def cases(table):
    """One test for each entry of {name: arguments}; arguments that are a tuple are spread."""
    def set_cases(function):
        function.cases = table
        return function
    return set_cases


def equal(found, wanted, what=''):
    if found != wanted:
        raise AssertionError(f'{what}: {found!r}, wanted {wanted!r}' if what
                             else f'{found!r}, wanted {wanted!r}')


def _collect(module):
    for name, function in list(vars(module).items()):
        if not name.startswith('test_') or not callable(function):
            continue
        title = name[5:].replace('_', ' ')
        limit_s = getattr(function, 'limit_s', TIME_LIMIT_S)
        if not hasattr(function, 'cases'):
            yield title, function, limit_s
            continue
        for case, arguments in function.cases.items():
            spread = arguments if isinstance(arguments, tuple) else (arguments,)
            yield f'{title}: {case}', functools.partial(function, *spread), limit_s


def _on_alarm(_signal, _frame):
    raise TimeLimit


def _run(function, limit_s):
    """None when the test passed, else ('skip' or 'fail', text)."""
    signal.alarm(limit_s)
    try:
        function()
        return None
    except Skip as reason:
        return 'skip', str(reason)
    except TimeLimit:
        return 'fail', f'longer than {limit_s} s\n{traceback.format_exc()}'
    except Exception as error:  # whatever a test raises is that test's failure
        where = traceback.extract_tb(error.__traceback__)[-3:]
        lines = [f'{type(error).__name__}: {error}']
        lines += [f'at {os.path.basename(frame.filename)}:{frame.lineno} {frame.line}'
                  for frame in where]
        return 'fail', '\n'.join(lines)
    finally:
        signal.alarm(0)


def main(setup=None, teardown=None, filters=None):
    """Runs the suite of the calling program and exits with 1 if a test failed."""
    filters = sys.argv[1:] if filters is None else filters
    tests = [test for test in _collect(sys.modules['__main__'])
             if not filters or any(word in test[0] for word in filters)]
    print('TAP version 13')
    print(f'1..{len(tests)}', flush=True)
    signal.signal(signal.SIGALRM, _on_alarm)
    failed = False
    cannot_start = _run(setup, TIME_LIMIT_S * 3) if setup else None
    try:
        for number, (title, function, limit_s) in enumerate(tests, 1):
            outcome = cannot_start or _run(function, limit_s)
            failed |= _print_outcome(number, title, outcome)
    finally:
        if teardown:
            teardown()
    sys.exit(1 if failed else 0)


def _print_outcome(number, title, outcome):
    """Prints one TAP line; true when it is a failure."""
    title = title.replace('#', '')
    if outcome is None:
        print(f'ok {number} - {title}', flush=True)
        return False
    kind, text = outcome
    if kind == 'skip':
        print(f'ok {number} - {title} # SKIP {text}', flush=True)
        return False
    print(f'not ok {number} - {title}')
    for line in text.splitlines():
        print(f'# {line}')
    sys.stdout.flush()
    return True
