"""The CSV and the text that afp_speedtest has to print for a result document: lines for figures.py.

The layout is that of doc/formats.md, the figures are recomputed from the raw samples.
"""

import recompute

MIB = 1 << 20
ORDER = ('Read', 'Write', 'Copy', 'ServerCopy')
US, MS = 1e3, 1e6


def _tests(cases):
    """Cases of each test that has results, in Netatalk's order."""
    found = {name: [case for case in cases if case.name == name and case.count] for name in ORDER}
    return {name: listed for name, listed in found.items() if listed}


# ---------------------------------------------------------------------------------------------- TCP

# metric of the CSV, label and unit of the table, key of the document, form, whether 0 is a value
TCP_ROWS = (
    ('tcp_send_buffer_kb', 'TCP Send Buffer', ' KB', 'send_buffer_bytes', 'kb', False),
    ('tcp_recv_buffer_kb', 'TCP Recv Buffer', ' KB', 'receive_buffer_bytes', 'kb', False),
    ('tcp_mss_bytes', 'TCP MSS', ' B', 'segment_bytes', '', False),
    ('tcp_cwnd_segments', 'Cwnd (segments)', '', 'congestion_window_segments', '', True),
    ('tcp_ssthresh_segments', 'SSThresh (segments)', '', 'slow_start_threshold_segments', '', True),
    ('tcp_rtt_ms', 'RTT', ' ms', 'rtt_us', 'ms', False),
    ('tcp_rtt_variance_ms', 'RTT Variance', ' ms', 'rtt_variance_us', 'ms', False),
    ('tcp_retrans_current', 'Retrans (current)', '', 'retransmitting_segments', '', True),
    ('tcp_total_retrans', 'Total Retrans', '', 'retransmitted_segments', '', True),
    ('tcp_lost_packets', 'Lost Packets', '', 'lost_segments', '', True),
    ('tcp_reordering', 'Reordering', '', 'reordering_segments', '', True),
    ('tcp_send_mss_bytes', 'TCP Send MSS', ' B', 'send_mss_bytes', '', False),
    ('tcp_recv_mss_bytes', 'TCP Recv MSS', ' B', 'receive_mss_bytes', '', False),
    ('tcp_adv_mss_bytes', 'TCP Adv MSS', ' B', 'advertised_mss_bytes', '', False),
    ('tcp_recv_space_kb', 'TCP Recv Space', ' KB', 'receive_space_bytes', 'kb', False),
)
# divides a value; KB are cut, not rounded
TCP_FORMS = {'': int, 'kb': lambda value: int(value / 1024), 'ms': lambda value: value / 1000}


def _tcp_rows(document):
    """(metric, label, unit, decimals, initial, final, change), from first to last run."""
    samples = [sample for case in document['cases'] for sample in case['samples']]
    if not samples:
        return
    first, last = samples[0]['tcp_before'], samples[-1]['tcp_after']
    for metric, label, unit, key, form, may_be_zero in TCP_ROWS:
        initial, final = first.get(key), last.get(key)
        if initial is None or final is None or (not (initial and final) and not may_be_zero):
            continue
        values = [TCP_FORMS[form](value) for value in (initial, final, final - initial)]
        yield metric, label, unit, 2 if form == 'ms' else 0, *values


# ---------------------------------------------------------------------------------------------- CSV

def _csv_case(case):
    size = case.bytes / MIB
    for sample in case.measured:
        duration = sample['duration_ns']
        yield ('{},{},{:.3f},{:.0f},{:.2f}', case.name, sample['number'], size, duration / US,
               case.mb_per_s(duration))
    if case.count < 2:
        return
    for word, duration in (('mean', case.mean), ('median', case.median), ('stddev', case.deviation),
                           ('min', case.minimum), ('max', case.maximum)):
        row = '{}_{},,{:.3f},{:.0f},', case.name, word, size, duration / US
        yield row if word == 'stddev' else (row[0] + '{:.2f}', *row[1:], case.mb_per_s(duration))


def _csv_sweep(document, cases):
    for name, listed in _tests(cases).items():
        yield ('',)
        yield '# File Size Performance Summary for {}', name
        yield ('file_size_bytes,file_size_mb,mean_throughput_mbs,median_throughput_mbs,'
               'min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms',)
        for case in listed:
            yield ('{},{:.3f},{:.2f},{:.2f},{:.2f},{:.2f},{:.1f},{:.1f}', case.bytes,
                   case.bytes / MIB, *_throughputs(case), case.deviation / MS, case.mean / MS)
    rows = list(_tcp_rows(document))
    if rows:
        yield ('',)
        yield ('# TCP Metrics Evolution Summary',)
        yield ('metric,initial,final,delta',)
    for metric, _label, _unit, decimals, *values in rows:
        yield ('{}' + f',{{:.{decimals}f}}' * 3, metric, *values)


def _throughputs(case):
    """Of the mean and the median time; least and most."""
    return [case.mb_per_s(duration)
            for duration in (case.mean, case.median, case.maximum, case.minimum)]


def csv_lines(document, sweep):
    cases = recompute.cases(document)
    if cases:
        yield ('test_name,iteration,file_size_mb,microseconds,throughput_mbs',)
    for case in cases:
        yield from _csv_case(case)
    if sweep:
        yield from _csv_sweep(document, cases)


# --------------------------------------------------------------------------------------------- text

def _label(size):
    return f'{size // 1024} KB' if size < MIB else f'{size // MIB} MB'


def _time(label, duration, mb_per_s):
    if duration < US:
        return '{:<15} <1 μs (too fast to measure)', label
    return '{:<15} {:.0f} μs ({:.2f} MB/s)', label, duration / US, mb_per_s


def _block_times(case):
    summary = case.raw['summary']
    low, high = summary['mean_low_ns'], summary['mean_high_ns']
    mean = [_time('Mean:', case.mean, case.mb_per_s(case.mean))]
    if case.count > 1 and (low > 0 or high <= 0):
        mean.append(('95% of mean:    {:.0f} to {:.0f} μs ({:.2f} to {:.2f} MB/s)', low / US,
                     high / US, case.mb_per_s(high), case.mb_per_s(low)))
    elif case.count > 1:
        mean.append(('95% of mean:    {:.0f} to {:.0f} μs (from {:.2f} MB/s)', low / US, high / US,
                     case.mb_per_s(high)))
    median = [_time('Median:', case.median, case.mb_per_s(case.median))]
    yield from median + mean if case.outliers() else mean + median
    if case.count > 1:
        yield ('Std Dev:        {:.0f} μs ({:.2f}%)', case.deviation / US,
               100 * case.deviation / case.mean if case.mean else 0)
    yield _time('Min:', case.minimum, case.mb_per_s(case.minimum))
    yield _time('Max:', case.maximum, case.mb_per_s(case.maximum))
    if case.count >= 20:
        p95 = case.percentile(0.95)
        yield _time('P95:', p95, case.mb_per_s(p95))
    if case.outliers():
        yield ('Outliers:       {} of {} runs stand out; none is left out', case.outliers(),
               case.count)


def _block_details(case):
    sample, service = case.measured[0], case.raw['service_times']
    kinds = ', '.join(f'{count} {kind}' for kind, count in sample['requests'].items() if count)
    runts = sample['runt_requests']
    trips = sample['round_trips']
    yield ('Requests:       {} a run, {} runt{}, {} round trip{}', kinds, runts,
           '' if runts == 1 else 's', trips, '' if trips == 1 else 's')
    if service:
        yield ('Service time:   median {:.0f}, p95 {:.0f}, p99 {:.0f}, max {:.0f} μs a request',
               *(service[key] / US for key in ('median_ns', 'p95_ns', 'p99_ns', 'maximum_ns')))
    shares = case.shares()
    if sum(shares.values()):
        percents = [100 * shares[f'{name}_ns'] / sum(shares.values()) for name in
                    ('receive_window', 'send_buffer', 'server', 'client_cpu', 'rest')]
        yield ('Time went to:   {:.1f}% the receive window, {:.1f}% the send buffer, '
               '{:.1f}% the server, {:.1f}% our own CPU, {:.1f}% the rest', *percents)
    if case.name == 'Read':
        yield ('Server cache:   warm: the file was just written',)
    if case.raw['sessions'] > 1:
        for number, durations in enumerate(
                zip(*(sample['session_duration_ns'] for sample in case.measured)), 1):
            mean = sum(durations) / case.count
            mb_per_s = recompute.rate(case.raw['size_bytes'], mean, MIB)
            yield _time(f'Session {number}:', mean, mb_per_s)


def _text_case(case, statistics):
    raw = case.raw
    yield ('{} quantum {}, size {}{}', case.name, raw['chunk_bytes'], raw['size_bytes'],
           ' sparse file' if raw['sparse'] else '')
    yield ('run\t microsec\t  KB/s',)
    for sample in case.measured:
        duration = sample['duration_ns']
        yield ('{}\t{:9.0f}\t{:9.2f}', sample['number'], duration / US,
               recompute.rate(case.bytes, duration, 1024))
    if not statistics or not case.count:
        return
    yield ('',)
    yield '===== Statistics for {} =====', case.name
    yield 'File Size:      {}', _label(raw['size_bytes'])
    if case.raw['sessions'] > 1:
        yield ('Sessions:       {}, each with a file of that size', case.raw['sessions'])
    yield 'Iterations:     {}', case.count
    yield from _block_times(case)
    yield from _block_details(case)
    yield ('',)


def _box(title, indent, width, columns, rows):
    rule = '═' * width
    yield (f'╔{rule}╗',)
    yield (f'║{" " * indent}{title:{width - indent}}║',)
    yield (f'╠{rule}╣',)
    yield (f'║ {columns} ║',)
    yield (f'╠{rule}╣',)
    for template, *values in rows:
        yield (f'║ {template} ║', *values)
    yield (f'╚{rule}╝',)


def _size_rows(listed):
    for case in listed:
        yield ('{:>8} │ {:10.2f} │ {:12.2f} │ {:9.2f} │ {:9.2f} │ {:10.1f} │ {:8.1f}',
               _label(case.raw['size_bytes']), *_throughputs(case), case.deviation / MS,
               case.mean / MS)


def _tcp_box_rows(document):
    for _metric, label, unit, decimals, *values in _tcp_rows(document):
        cells = ''.join(f' │ {{:{width - len(unit)}.{decimals}f}}{unit}'
                        for width in (13, 13, 12))
        yield ('{:24}' + cells, label, *values)


def _tables(document, cases):
    for number, (name, listed) in enumerate(_tests(cases).items()):
        if number:
            yield ('',)
        columns = '    Size │ Mean(MB/s) │ Median(MB/s) │ Min(MB/s) │ Max(MB/s) │ StdDev(ms) ' \
                  '│ Mean(ms)'
        yield from _box(f'File Size Performance Summary for {name}', 22, 86, columns,
                        _size_rows(listed))
    rows = list(_tcp_box_rows(document))
    if rows:
        yield ('',)
        columns = f'{"Metric":24} │ {"Initial":>13} │ {"Final":>13} │ {"Total Δ":>12}'
        yield from _box('TCP Metrics Evolution Across All Tests', 17, 73, columns, rows)


def text_lines(document, statistics):
    cases = recompute.cases(document)
    for case in cases:
        yield from _text_case(case, statistics)
    if statistics:
        yield from _tables(document, cases)
        if document['host']['warning']:
            yield ('',)
            yield 'Note: {}', document['host']['warning']
