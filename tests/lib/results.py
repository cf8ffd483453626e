"""Result documents and CSV of afp_speedtest: reads them strictly.

The schema is checked with Debian's python3-jsonschema, so the suites run under /usr/bin/python3.
"""

import csv
import functools
import json
import pathlib
import tempfile

import tap
from programs import DONE

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / 'doc/result.schema.json'


@functools.cache
def _validator():
    tap.require(jsonschema, 'needs python3-jsonschema (is this /usr/bin/python3?)')
    schema = json.loads(SCHEMA.read_text(encoding='utf-8'))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def _no_number(word):
    raise AssertionError(f'{word} in a document')


def parse(text):
    """The one document that a text must be, valid by the schema."""
    document = json.loads(text, parse_constant=_no_number)
    for fault in _validator().iter_errors(document):
        raise AssertionError(f'{"/".join(map(str, fault.absolute_path))}: {fault.message[:300]}')
    return document


def load(path):
    return parse(pathlib.Path(path).read_text(encoding='utf-8'))


def run(start, *arguments, code=DONE, **options):
    """Calls start(..., '-j', FILE); the result and the document, which is the only file left."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, 'result.json')
        result = start(*arguments, '-j', path, **options).expect(code)
        tap.equal([entry.name for entry in path.parent.iterdir()], [path.name], 'files')
        return result, load(path)


# ---------------------------------------------------------------------------------------------- CSV

RUNS = 'test_name,iteration,file_size_mb,microseconds,throughput_mbs'
SIZES = ('file_size_bytes,file_size_mb,mean_throughput_mbs,median_throughput_mbs,'
         'min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms')
TCP = 'metric,initial,final,delta'
TITLE = '# File Size Performance Summary for '


def parse_csv(text):
    """The rows of the runs; of a sweep also those of each block, by title."""
    if not text.endswith('\n'):
        raise AssertionError(f'the last line is not ended: {text[-80:]!r}')
    first, *blocks = text[:-1].split('\n\n')
    rows = _rows(first, RUNS)
    sections = {}
    for block in blocks:
        title, _newline, rest = block.partition('\n')
        if title != '# TCP Metrics Evolution Summary' and not title.startswith(TITLE):
            raise AssertionError(f'unexpected block {title!r}')
        sections[title] = _rows(rest, SIZES if title.startswith(TITLE) else TCP)
    return rows, sections


def _rows(text, header):
    lines = text.split('\n')
    if lines[0] != header:
        raise AssertionError(f'header {lines[0]!r}, wanted {header!r}')
    rows = list(csv.reader(lines[1:]))
    for row in rows:
        if len(row) != header.count(',') + 1:
            raise AssertionError(f'row {row!r} under {header!r}')
        for field in row[1:]:
            if field:
                float(field)
    return rows
