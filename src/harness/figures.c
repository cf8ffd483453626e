#include "harness/figures.h"

#include "base/clock.h"
#include "result/tests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* ---- The lower bound ---- */

/* What one direction needed of the line at the least, in bytes with all of Ethernet's. Data that
 * were sent again may have arrived the first time (a tail that TCP took for lost), and then the
 * clock stopped without them: full packets are taken off, since the counts do not tell their sizes.
 */
static uint64_t needed_line_bytes(const struct packet_counts *counts, uint32_t mtu)
{
    uint64_t all = counts->bytes + counts->packets * LINK_LINE_OVERHEAD;
    uint64_t again = counts->kinds[PACKET_RETRANSMIT] * (mtu + LINK_HEADER + LINK_LINE_OVERHEAD);
    return all > again ? all - again : 0;
}

static uint64_t line_time_ns(uint64_t line_bytes, uint64_t rate_bits_per_s)
{
    return rate_bits_per_s == 0 ? 0 : (uint64_t)((wide)line_bytes * 8 * NS_PER_S / rate_bits_per_s);
}

uint64_t harness_bound_ns(const struct harness_run *run, const struct link_config *link)
{
    uint64_t rtt_ns = 0;
    uint64_t busiest_ns = 0;
    for (size_t way = 0; way < LINK_WAYS; way++) {
        const struct link_shape *shape = &link->shapes[way];
        uint64_t time_ns = line_time_ns(needed_line_bytes(&run->traffic.ways[way], link->mtu),
                                        shape->rate_bits_per_s);
        busiest_ns = time_ns > busiest_ns ? time_ns : busiest_ns;
        rtt_ns += shape->delay_ns > shape->jitter_ns ? shape->delay_ns - shape->jitter_ns : 0;
    }
    uint64_t trips_ns = run->counts.round_trips * rtt_ns;
    if (run->counts.round_trips == sample_requests(&run->counts)) {
        return trips_ns + busiest_ns; /* one after the other */
    }
    return trips_ns > busiest_ns ? trips_ns : busiest_ns;
}

/* ---- Lateness ---- */

uint64_t harness_lateness_limit_ns(const struct harness_result *result, uint64_t duration_ns)
{
    uint64_t limit_ns = (uint64_t)CALIBRATION_RTT_TOLERANCE_NS;
    uint64_t round_trip_ns = result->calibration.rtt_ns;
    limit_ns = round_trip_ns / 10 > limit_ns ? round_trip_ns / 10 : limit_ns;
    return duration_ns / 100 > limit_ns ? duration_ns / 100 : limit_ns;
}

static size_t count_spoiled(const struct harness_case *harness_case)
{
    size_t spoiled = 0;
    for (size_t i = 0; harness_case != NULL && i < harness_case->count; i++) {
        spoiled += harness_case->runs[i].spoiled;
    }
    return spoiled;
}

bool harness_spoils(const struct harness_result *result, const struct harness_case *harness_case,
                    uint64_t duration_ns, uint64_t late_ns)
{
    return late_ns > harness_lateness_limit_ns(result, duration_ns) &&
           count_spoiled(harness_case) < result->iterations;
}

size_t harness_spoiled_runs(const struct harness_result *result)
{
    size_t spoiled = 0;
    for (size_t i = 0; i < result->size_count; i++) {
        for (size_t k = 0; k < result->sizes[i].case_count; k++) {
            spoiled += result->sizes[i].cases[k].figures.spoiled;
        }
    }
    return spoiled;
}

/* ---- Figures ---- */

double harness_mean_bytes(const struct packet_counts *counts)
{
    return counts->packets > 0 ? (double)counts->bytes / (double)counts->packets : 0;
}

/* Of a test that nobody knows no way is known to carry its data. */
static bool carries(const char *test, enum link_way way)
{
    static const enum test_data ways[LINK_WAYS] = {
        [LINK_TO_SERVER] = DATA_TO_SERVER, [LINK_TO_CLIENT] = DATA_TO_CLIENT};
    const struct test_facts *facts = known_test(test);
    return facts != NULL && (facts->data & ways[way]) != 0;
}

static bool carries_any(const char *test)
{
    return carries(test, LINK_TO_SERVER) || carries(test, LINK_TO_CLIENT);
}

bool harness_kinds_known(const struct packet_counts *counts)
{
    uint64_t sum = 0;
    for (size_t kind = 0; kind < PACKET_KINDS; kind++) {
        sum += counts->kinds[kind];
    }
    return sum == counts->packets;
}

static uint32_t mss(uint32_t seen, const struct harness_result *result)
{
    return seen > 0 ? seen : result->link.mtu - LINK_SEGMENT_HEADERS;
}

static uint64_t data_segments(const struct packet_counts *counts)
{
    return counts->kinds[PACKET_FULL] + counts->kinds[PACKET_SHORT] +
           counts->kinds[PACKET_RETRANSMIT];
}

/* Bytes of packets with data: all but those of a size that only headers have. */
static double data_bytes(const struct packet_counts *counts)
{
    const double headers = LINK_HEADER + LINK_SEGMENT_HEADERS;
    return (double)counts->payload_bytes + (double)data_segments(counts) * headers;
}

/* Of the direction of the data: the other one has requests and replies, short by nature. */
static void segment_figures(struct harness_figures *figures)
{
    uint64_t segments = 0;
    uint64_t payload = 0;
    uint64_t shorts = 0;
    double bytes = 0;
    for (size_t way = 0; way < LINK_WAYS; way++) {
        const struct packet_counts *counts = &figures->traffic.ways[way];
        if (figures->carries[way]) {
            segments += data_segments(counts);
            payload += counts->payload_bytes;
            shorts += counts->kinds[PACKET_SHORT];
            bytes += data_bytes(counts);
        }
    }
    figures->fill = -1;
    if (segments > 0) {
        figures->fill = (double)payload / ((double)segments * figures->segment_bytes);
        figures->data_packet_bytes = bytes / (double)segments;
    }
    figures->short_per_request = -1;
    if (figures->all_requests > 0 && figures->kinds_known) {
        figures->short_per_request = (double)shorts / (double)figures->all_requests;
    }
}

static void packet_figures(struct harness_figures *figures)
{
    struct packet_counts both = figures->traffic.ways[LINK_TO_SERVER];
    packet_counts_add(&both, &figures->traffic.ways[LINK_TO_CLIENT]);
    figures->packet_bytes = harness_mean_bytes(&both);
    figures->ack_share = -1;
    if (both.packets > 0 && figures->kinds_known) {
        figures->ack_share = (double)both.kinds[PACKET_PURE_ACK] / (double)both.packets;
    }
}

static void waiting_figures(struct harness_figures *figures)
{
    static const enum lab_side senders[LINK_WAYS] = {
        [LINK_TO_SERVER] = LAB_CLIENT, [LINK_TO_CLIENT] = LAB_SERVER};
    for (size_t way = 0; way < LINK_WAYS; way++) {
        const struct harness_end *end = &figures->traffic.ends[senders[way]];
        if (figures->carries[way]) {
            figures->busy_us += end->busy_us;
            figures->receive_window_us += end->receive_window_us;
            figures->send_buffer_us += end->send_buffer_us;
        }
    }
}

/* Of one direction, in payload bits per second; a Copy carries the file once each way. 0: no end.
 */
static double capacity(const struct harness_result *result, uint32_t segment_bytes)
{
    uint64_t rate = result->link.shapes[LINK_TO_SERVER].rate_bits_per_s;
    uint64_t other = result->link.shapes[LINK_TO_CLIENT].rate_bits_per_s;
    return link_capacity_bits_per_s(rate > other ? rate : other, result->link.mtu, segment_bytes);
}

static double goodput(uint64_t bytes, double duration_ns)
{
    return duration_ns > 0 ? (double)bytes * 8 / (duration_ns / (double)NS_PER_S) : 0;
}

static void add_measured(struct harness_figures *figures, const struct harness_run *run,
                         const struct link_config *link)
{
    figures->runs++;
    figures->bytes += run->counts.bytes;
    figures->runts += run->counts.runts;
    figures->all_requests += sample_requests(&run->counts);
    for (size_t i = 0; i < REQUEST_KINDS; i++) {
        figures->requests[i] += run->counts.requests[i];
    }
    figures->mean_ns += (double)run->duration_ns;
    figures->bound_ns += (double)harness_bound_ns(run, link);
    harness_traffic_add(&figures->traffic, &run->traffic);
}

static void case_figures(const struct harness_result *result, struct harness_case *harness_case)
{
    struct harness_figures *figures = &harness_case->figures;
    *figures = (struct harness_figures){.spoiled = count_spoiled(harness_case)};
    for (size_t i = 0; i < harness_case->count; i++) {
        if (!harness_case->runs[i].warmup && !harness_case->runs[i].spoiled) {
            add_measured(figures, &harness_case->runs[i], &result->link);
        }
    }
    figures->goodput = goodput(figures->bytes, figures->mean_ns);
    if (figures->runs > 0) {
        figures->mean_ns /= (double)figures->runs;
        figures->bound_ns /= (double)figures->runs;
    }
    figures->segment_bytes = mss(figures->traffic.ends[LAB_CLIENT].segment_bytes, result);
    for (enum link_way way = 0; way < LINK_WAYS; way++) {
        figures->carries[way] = carries(harness_case->test, way);
    }
    figures->counted = result->counted;
    figures->kinds_known = result->counted &&
                           harness_kinds_known(&figures->traffic.ways[LINK_TO_SERVER]) &&
                           harness_kinds_known(&figures->traffic.ways[LINK_TO_CLIENT]);
    segment_figures(figures);
    packet_figures(figures);
    waiting_figures(figures);
    double most = capacity(result, figures->segment_bytes);
    figures->share = most > 0 && carries_any(harness_case->test) ? figures->goodput / most : -1;
}

void harness_figures(struct harness_result *result)
{
    for (size_t i = 0; i < result->size_count; i++) {
        for (size_t k = 0; k < result->sizes[i].case_count; k++) {
            case_figures(result, &result->sizes[i].cases[k]);
        }
    }
}

void harness_totals(const struct harness_result *result, struct harness_traffic *totals)
{
    *totals = (struct harness_traffic){.lost = {0}};
    for (size_t i = 0; i < result->size_count; i++) {
        harness_traffic_add(totals, &result->sizes[i].whole);
    }
}

/* Of a size: the connection is gone when its program has ended, so from its runs. */
static uint32_t size_segment_bytes(const struct harness_size *size)
{
    uint32_t seen = size->whole.ends[LAB_CLIENT].segment_bytes;
    for (size_t i = 0; i < size->case_count && seen == 0; i++) {
        for (size_t k = 0; k < size->cases[i].count && seen == 0; k++) {
            seen = size->cases[i].runs[k].traffic.ends[LAB_CLIENT].segment_bytes;
        }
    }
    return seen;
}

uint32_t harness_segment_bytes(const struct harness_result *result)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < result->size_count && seen == 0; i++) {
        seen = size_segment_bytes(&result->sizes[i]);
    }
    return seen;
}

/* ---- Labels ---- */

const char *const harness_verdict_names[] = {[CALIBRATION_TRUE] = "true",
                                             [CALIBRATION_TOO_SLOW] = "machine too slow",
                                             [CALIBRATION_FALSE] = "false"};

const char *harness_rate_label(const struct harness_result *result,
                               char label[HARNESS_LABEL_LENGTH])
{
    const double *measured = result->calibration.goodput_bits_per_s;
    double slower = measured[0] < measured[1] ? measured[0] : measured[1];
    uint64_t rate = result->link.shapes[LINK_TO_SERVER].rate_bits_per_s;
    uint64_t unit = 1000;
    for (int step = 0; step < 2 && rate >= unit * 1000; step++) {
        unit *= 1000; /* Mbit/s, Gbit/s */
    }
    if (result->calibrated && result->verdict == CALIBRATION_TOO_SLOW) {
        snprintf(label, HARNESS_LABEL_LENGTH, "%s (machine: %.*f)", result->rate,
                 rate / unit >= 10 ? 1 : 2, slower / (double)unit);
    } else {
        snprintf(label, HARNESS_LABEL_LENGTH, "%s", result->rate);
    }
    return label;
}

const char *harness_flags(const struct harness_result *result)
{
    static const char *const flags[] = {"", " INVALID", " INCOMPLETE", " INVALID INCOMPLETE"};
    return flags[(result->fault_count > 0) + 2 * !result->complete];
}

/* ---- Judging ---- */

static bool judge_lateness(struct harness_result *result, const struct harness_case *harness_case,
                           const struct harness_run *run, const char *what, struct error *error)
{
    uint64_t limit_ns = harness_lateness_limit_ns(result, run->duration_ns);
    size_t again = count_spoiled(harness_case);
    if (run->warmup || run->late_ns <= limit_ns) {
        return true;
    }
    return harness_result_add_fault(result, error,
                                    "%s: the link came %.3f ms late, more than %.3f ms; %zu runs "
                                    "were made again%s",
                                    what, (double)run->late_ns / (double)NS_PER_MS,
                                    (double)limit_ns / (double)NS_PER_MS, again,
                                    again < result->iterations
                                        ? ", and this one was not when it was asked for"
                                        : ", as many as there are iterations");
}

/* Of a test program that marks no run the whole invocation is one, and is not made again. */
static bool judge_unmarked(struct harness_result *result, const struct harness_size *size,
                           struct error *error)
{
    uint64_t limit_ns = harness_lateness_limit_ns(result, size->duration_ns);
    return result->test_program_marks || size->late_ns <= limit_ns ||
           harness_result_add_fault(
               result, error,
               "%" PRIu64 " bytes: the link came %.3f ms late, more than %.3f ms, and %.100s makes "
               "no run again (it does not tell of them, --mark-fd)",
               size->size_bytes, (double)size->late_ns / (double)NS_PER_MS,
               (double)limit_ns / (double)NS_PER_MS, result->test_program);
}

/* A time that cannot be is a fault of the measurement, not a fast server. */
static bool judge_run(struct harness_result *result, const struct harness_size *size,
                      const struct harness_case *harness_case, const struct harness_run *run,
                      struct error *error)
{
    char what[120];
    snprintf(what, sizeof what, "%s of %" PRIu64 " bytes, %s %" PRIu32, harness_case->test,
             size->size_bytes, run->warmup ? "warm-up" : "run", run->number);
    uint64_t bound_ns = harness_bound_ns(run, &result->link);
    uint32_t segment_bytes = mss(run->traffic.ends[LAB_CLIENT].segment_bytes, result);
    double most = capacity(result, segment_bytes);
    double reached = goodput(run->counts.bytes, (double)run->duration_ns);
    if (run->spoiled) {
        return true;
    }
    if (!judge_lateness(result, harness_case, run, what, error)) {
        return false;
    }
    if (run->duration_ns < bound_ns &&
        !harness_result_add_fault(result, error,
                                  "%s took %.3f ms, less than the %.3f ms that its round trips and "
                                  "bytes need on this link",
                                  what, (double)run->duration_ns / (double)NS_PER_MS,
                                  (double)bound_ns / (double)NS_PER_MS)) {
        return false;
    }
    return most <= 0 || reached <= most || !carries_any(harness_case->test) ||
           harness_result_add_fault(
               result, error,
               "%s: %.1f Mbit/s of payload is more than the %.1f that the link "
               "carries",
               what, reached / 1e6, most / 1e6);
}

bool harness_judge_size(struct harness_result *result, const struct harness_size *size,
                        struct error *error)
{
    for (size_t way = 0; way < LINK_WAYS; way++) {
        uint64_t dropped = size->whole.dropped[way];
        if (dropped > 0 &&
            !harness_result_add_fault(result, error,
                                      "%" PRIu64 " packets to the %s were dropped at %" PRIu64
                                      " bytes, which nobody asked for",
                                      dropped, way == LINK_TO_SERVER ? "server" : "client",
                                      size->size_bytes)) {
            return false;
        }
    }
    if (!judge_unmarked(result, size, error)) {
        return false;
    }
    for (size_t i = 0; i < size->case_count; i++) {
        for (size_t k = 0; k < size->cases[i].count; k++) {
            if (!judge_run(result, size, &size->cases[i], &size->cases[i].runs[k], error)) {
                return false;
            }
        }
    }
    return true;
}
