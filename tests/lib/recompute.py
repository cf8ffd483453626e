#!/usr/bin/python3
"""Recomputes every figure of a result document from its raw samples.

Written after doc/formats.md and doc/method.md; it shares nothing with the programs. By hand:
`recompute.py RESULT.json` says nothing if all is right.
"""

import json
import math
import random
import statistics
import sys

OUTLIER_FACTOR = 5
CLOCK_FLOOR_NS = 1000
RESAMPLES = 2000


class Case:
    """A case of the document with what its raw samples say."""

    def __init__(self, case):
        self.raw = case
        self.name = case['test']
        self.measured = [sample for sample in case['samples']
                         if not (sample['warmup'] or sample['spoiled'])]
        self.bytes = case['size_bytes'] * case['sessions']
        self.durations = sorted(sample['duration_ns'] for sample in self.measured)
        self.count = len(self.durations)
        if self.count:
            self.minimum, self.maximum = self.durations[0], self.durations[-1]
            self.mean = statistics.fmean(self.durations)
            self.median = statistics.median(self.durations)
            self.deviation = statistics.stdev(self.durations) if self.count > 1 else 0.0

    def percentile(self, fraction):
        """Linear interpolation between closest ranks."""
        below, share = divmod(fraction * (self.count - 1), 1)
        low = self.durations[int(below)]
        high = self.durations[min(int(below) + 1, self.count - 1)]
        return low + share * (high - low)

    def outliers(self):
        distances = [abs(duration - self.median) for duration in self.durations]
        limit = OUTLIER_FACTOR * max(statistics.median(distances), CLOCK_FLOOR_NS)
        return sum(distance > limit for distance in distances)

    def shares(self):
        return {key: sum(sample['time_shares'][key] for sample in self.measured)
                for key in self.raw['time_shares']}

    def mb_per_s(self, duration_ns):
        """MiB/s; 0 for a duration of 0, as in the compatible outputs."""
        return rate(self.bytes, duration_ns, 1 << 20)


def rate(size, duration_ns, unit=1):
    return size / unit / (duration_ns / 1e9) if duration_ns else 0.0


def cases(document):
    return [Case(case) for case in document['cases']]


def equal(found, wanted, what):
    if found != wanted:
        raise AssertionError(f'{what}: {found!r}, recomputed {wanted!r}')


def close(found, wanted, what, tolerance=1e-9):
    if found is None or not math.isclose(found, wanted, rel_tol=tolerance, abs_tol=1e-6):
        raise AssertionError(f'{what}: {found!r}, recomputed {wanted!r}')


def ascending(values, what):
    if list(values) != sorted(values):
        raise AssertionError(f'{what}: {values} do not ascend')


# ------------------------------------------------------------------------- what a run has to move

def expected_counts(case, flush, short):
    """Requests by kind, runts and round trips of each run, from the sizes alone; and of the reads
    that were answered in part, each of which costs another one."""
    raw = case.raw
    chunks = -(-raw['size_bytes'] // raw['chunk_bytes'])
    lanes = min(raw['outstanding'], chunks)
    runts = 1 if raw['size_bytes'] % raw['chunk_bytes'] else 0
    read, write = case.name in ('Read', 'Copy'), case.name in ('Write', 'Copy')
    flushes = 1 if case.name == 'Write' and flush else 0
    copies = 1 if case.name == 'ServerCopy' else 0
    if raw['interleaved']:
        trips = -(-(chunks * (read + write) + short // raw['sessions']) // lanes)
    else:
        trips = -(-chunks // lanes) * (read + write)
    requests = {'read': chunks * read, 'write': chunks * write, 'flush': flushes,
                'server_copy': copies}
    return ({kind: count * raw['sessions'] + (short if kind == 'read' else 0)
             for kind, count in requests.items()},
            runts * (read + write) * raw['sessions'] + short,
            trips + flushes + copies)


def check_sample(case, sample, flush, what):
    sessions = sample['session_duration_ns']
    equal(len(sessions), case.raw['sessions'], f'{what}: sessions')
    if max(sessions) > sample['duration_ns']:
        raise AssertionError(f'{what}: a session lasted longer than the run')
    if len(sessions) == 1:
        equal(sessions[0], sample['duration_ns'], f'{what}: duration')
    equal((sample['bytes'], sample['payload_bytes']), (case.bytes, case.bytes), f'{what}: bytes')
    if sample['duration_ns']:
        close(sample['rate_bytes_per_s'], rate(case.bytes, sample['duration_ns']), f'{what}: rate')
    else:
        equal(sample['rate_bytes_per_s'], None, f'{what}: rate')
    equal((sample['requests'], sample['runt_requests'], sample['round_trips']),
          expected_counts(case, flush, sample['short_replies']), f'{what}: requests, runts, round trips')
    equal(sum(sample['time_shares'].values()), sum(sessions), f'{what}: sum of the shares')
    if sample['waited_ns'] > sum(sessions):
        raise AssertionError(f'{what}: waited longer than it lasted')
    check_wire(case, sample, what)


def check_wire(case, sample, what):
    """What TCP counted cannot be less than headers and payload."""
    wire, requests = sample['wire'], sample['requests']
    if wire['sent_bytes'] is None:
        return
    count = sum(requests.values())
    sent = 16 * count + (case.bytes if requests['write'] else 0)
    received = 16 * count + (case.bytes if requests['read'] else 0)
    for key, least in (('sent_bytes', sent), ('received_bytes', received),
                       ('segments_out', wire['data_segments_out']),
                       ('segments_in', wire['data_segments_in']), ('data_segments_out', 1),
                       ('data_segments_in', 1)):
        if wire[key] < least:
            raise AssertionError(f'{what}: {key} {wire[key]}, at least {least}')
    if case.raw['sessions'] == 1:
        for key, counted in wire.items():
            equal(counted, sample['tcp_after'][key] - sample['tcp_before'][key], f'{what}: {key}')


# ------------------------------------------------------------------------------------ the summaries

def check_summary(case, what):
    found = case.raw['summary']
    if not case.count:
        equal(found, None, f'{what}: summary')
        return
    wanted = {'count': case.count, 'mean_ns': case.mean, 'median_ns': case.median,
              'minimum_ns': case.minimum, 'maximum_ns': case.maximum,
              'p95_ns': case.percentile(0.95), 'p99_ns': case.percentile(0.99),
              'outliers': case.outliers()}
    for key, value in wanted.items():
        close(found[key], value, f'{what}: {key}')
    if case.count > 1:
        close(found['deviation_ns'], case.deviation, f'{what}: deviation_ns')
    else:
        equal(found['deviation_ns'], None, f'{what}: deviation_ns')
    for key, duration in (('mean', case.mean), ('median', case.median)):
        if duration:
            close(found[f'{key}_rate_bytes_per_s'], rate(case.bytes, duration), f'{what}: {key}')
    check_interval(case, found, what)


# 97.5 % quantiles of Student's t by the number of values
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447}


def check_interval(case, found, what):
    """The 95 % interval of the mean against a bootstrap of our own, with other random numbers."""
    low, high = found['mean_low_ns'], found['mean_high_ns']
    if case.count == 1:
        equal((low, high), (None, None), f'{what}: interval')
        return
    if case.count < 8:      # of so few a bootstrap only says minimum and maximum: Student's t
        half = STUDENT[case.count] * case.deviation / math.sqrt(case.count)
        close(low, max(case.mean - half, 0), f'{what}: mean_low_ns')
        close(high, case.mean + half, f'{what}: mean_high_ns')
        return
    ascending([round(value, 3) for value in (case.minimum, low, case.mean, high, case.maximum)],
              f'{what}: interval')
    source = random.Random(1)
    means = sorted(statistics.fmean(source.choices(case.durations, k=case.count))
                   for _ in range(RESAMPLES))
    room = 0.5 * case.deviation / math.sqrt(case.count)
    for end, own in ((low, means[RESAMPLES // 40]), (high, means[-RESAMPLES // 40])):
        if abs(end - own) > room:
            raise AssertionError(f'{what}: interval {low} to {high}, recomputed '
                                 f'{means[RESAMPLES // 40]} to {means[-RESAMPLES // 40]}')


def check_service_times(case, what):
    found = case.raw['service_times']
    count = sum(sample['requests']['read'] + sample['requests']['write']
                for sample in case.measured)
    if not count:
        equal(found, None, f'{what}: service times')
        return
    equal(found['count'], count, f'{what}: service times')
    ascending((found['minimum_ns'], found['median_ns'], found['p95_ns'], found['p99_ns'],
               found['maximum_ns']), f'{what}: service times')
    ascending((found['minimum_ns'], found['mean_ns'], found['maximum_ns']), f'{what}: mean')
    elapsed = sum(sum(sample['session_duration_ns']) for sample in case.measured)
    if found['mean_ns'] * count > elapsed * case.raw['outstanding']:
        raise AssertionError(f'{what}: service times sum to more than the runs lasted')


def check_case(case, flush):
    raw = case.raw
    what = f'{case.name} of {raw["size_bytes"]} bytes'
    runs = [(sample['number'], sample['warmup']) for sample in raw['samples']
            if not sample['spoiled']]
    if len(raw['samples']) - len(runs) > raw['iterations']:
        raise AssertionError(f'{what}: more spoiled runs than iterations')
    wanted = [(number + 1, True) for number in range(raw['warmups'])] + \
             [(number + 1, False) for number in range(raw['iterations'])]
    equal(runs, wanted if raw['complete'] else wanted[:len(runs)], f'{what}: runs')
    for sample in raw['samples']:
        check_sample(case, sample, flush, f'{what}, run {sample["number"]}')
    check_summary(case, what)
    check_service_times(case, what)
    equal(raw['time_shares'], case.shares(), f'{what}: shares')
    equal(raw['server_cache'], 'warm' if case.name == 'Read' else None, f'{what}: server cache')


def check_document(document):
    """Asserts that each figure follows from the samples, and each count from the sizes."""
    flush = not {'-a', '--no-flush'} & set(document['run']['arguments'])
    for case in cases(document):
        check_case(case, flush)


if __name__ == '__main__':
    with open(sys.argv[1], encoding='utf-8') as result:
        check_document(json.load(result))
