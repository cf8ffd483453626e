/* netlab/harness_figures: the lower bound, what the counts mean, and that what cannot be true is
 * noticed. Expected values by hand from made_harness.h. */
#include "unit.h"

#include "base/clock.h"
#include "base/units.h"
#include "harness/figures.h"
#include "harness/snapshot.h"
#include "made_harness.h"

#include <math.h>

#define GBIT UINT64_C(1000000000)

static void check_near(double found, double wanted)
{
    check(fabs(found - wanted) <= 1e-9 * fabs(wanted), "%.12g, not %.12g", found, wanted);
}

/* ---- The bound ---- */

static struct harness_run run_of(uint64_t requests, uint64_t round_trips, uint64_t tx_packets,
                                 uint64_t tx_bytes, uint64_t rx_packets, uint64_t rx_bytes)
{
    struct harness_run run = {
        .counts = {.requests = {[REQUEST_READ] = requests}, .round_trips = round_trips}};
    run.traffic.ways[LINK_TO_SERVER].packets = tx_packets;
    run.traffic.ways[LINK_TO_SERVER].bytes = tx_bytes;
    run.traffic.ways[LINK_TO_CLIENT].packets = rx_packets;
    run.traffic.ways[LINK_TO_CLIENT].bytes = rx_bytes;
    return run;
}

static struct link_config link_of(uint64_t rate, uint64_t delay_ns, uint64_t jitter_ns)
{
    struct link_config link = {.mtu = 1500};
    for (size_t way = 0; way < LINK_WAYS; way++) {
        link.shapes[way] = (struct link_shape){
            .rate_bits_per_s = rate, .delay_ns = delay_ns, .jitter_ns = jitter_ns};
    }
    return link;
}

static void lower_bounds(void **state)
{
    /* 1000 packets of 1514 bytes are 1,538,000 bytes on the line: 12,304 µs at 1 Gbit/s. */
    static const struct {
        uint64_t requests, trips, tx_packets, tx_bytes, rx_packets, rx_bytes;
        uint64_t rate, delay_ns, jitter_ns, bound_ns;
    } rows[] = {
        /* one after the other: 10 × 4 ms + 12.304 ms */
        {10, 10, 1000, 1514000, 100, 6600, GBIT, 2000000, 0, 52304000},
        /* the other direction is busier */
        {10, 10, 100, 6600, 1000, 1514000, GBIT, 2000000, 0, 52304000},
        /* 4 outstanding: 3 × 4 ms against 12.304 ms */
        {10, 3, 1000, 1514000, 0, 0, GBIT, 2000000, 0, 12304000},
        /* 2 outstanding: 5 × 4 ms */
        {10, 5, 1000, 1514000, 0, 0, GBIT, 2000000, 0, 20000000},
        /* jitter may shorten every trip: 10 × 2 × 1.5 ms */
        {10, 10, 1000, 1514000, 0, 0, GBIT, 2000000, 500000, 42304000},
        {10, 10, 0, 0, 0, 0, GBIT, 500000, 500000, 0},
        /* no shape, no bound */
        {10, 10, 1000, 1514000, 0, 0, 0, 0, 0, 0},
        /* 10 GiB in 1448-byte segments must not overflow: 7,415,288 × 1538 bytes at 1 Mbit/s */
        {10, 1, 7415288, UINT64_C(11226746032), 0, 0, 1000000, 0, 0, UINT64_C(91237703552000)},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct harness_run run = run_of(rows[i].requests, rows[i].trips, rows[i].tx_packets,
                                        rows[i].tx_bytes, rows[i].rx_packets, rows[i].rx_bytes);
        struct link_config link = link_of(rows[i].rate, rows[i].delay_ns, rows[i].jitter_ns);
        uint64_t bound_ns = harness_bound_ns(&run, &link);
        check(bound_ns == rows[i].bound_ns, "row %zu: %llu", i, (unsigned long long)bound_ns);
    }
}

/* What was sent again need not have been waited for: 1000 packets less 10 of 1538 bytes. */
static void sent_again_is_not_needed(void **state)
{
    struct link_config link = link_of(GBIT, 2000000, 0);
    struct harness_run run = run_of(10, 10, 1000, 1514000, 2, 200);
    run.traffic.ways[LINK_TO_SERVER].kinds[PACKET_RETRANSMIT] = 10;
    assert_int_equal(harness_bound_ns(&run, &link), 40000000 + 990 * 1538 * 8);
    run.traffic.ways[LINK_TO_CLIENT].kinds[PACKET_RETRANSMIT] = 2; /* smaller ones: not below 0 */
    assert_int_equal(harness_bound_ns(&run, &link), 40000000 + 990 * 1538 * 8);
}

/* ---- Figures ---- */

static void figures_of_a_read(void **state)
{
    struct harness_result result;
    struct harness_figures figures;
    made_harness(&result);
    harness_figures(&result);
    figures = result.sizes[0].cases[0].figures;
    assert_int_equal(figures.runs, 2); /* the warm-up is not in them */
    assert_int_equal(figures.all_requests, 2);
    assert_int_equal(figures.bytes, 2 * MIB);
    assert_int_equal(figures.segment_bytes, 1448);
    assert_false(figures.carries[LINK_TO_SERVER]);
    assert_true(figures.carries[LINK_TO_CLIENT]);
    check_near(figures.mean_ns, 20e6);
    /* 724 × 1538 + 126 bytes on the line, and one round trip */
    check_near(figures.bound_ns, 4e6 + (724 * 1538 + 126) * 8);
    check_near(figures.short_per_request, 1);
    check_near(figures.fill, (724 * 1448 + 36) / (725.0 * 1448));
    check_near(figures.data_packet_bytes, (724 * 1514 + 102) / 725.0);
    check_near(figures.packet_bytes, (724 * 1514 + 102 + 106 + 660) / 736.0);
    check_near(figures.ack_share, 10 / 736.0);
    assert_int_equal(figures.busy_us, 36000); /* the server sends */
    assert_int_equal(figures.receive_window_us, 8000);
    assert_int_equal(figures.send_buffer_us, 1000);
    check_near(figures.goodput, 1048576 * 8 / 0.020);
    check_near(figures.share, 1048576 * 8 / 0.020 / (1e9 * 1448 / 1538));
    harness_result_release(&result);
}

static void figures_of_a_write(void **state)
{
    struct harness_result result;
    struct harness_figures figures;
    made_harness(&result);
    harness_figures(&result);
    figures = result.sizes[0].cases[1].figures;
    assert_int_equal(figures.all_requests, 2);
    assert_int_equal(figures.requests[REQUEST_FLUSH], 1);
    check_near(figures.short_per_request, 1); /* two short segments, a write and a flush */
    check_near(figures.fill, (724 * 1448 + 60) / (726.0 * 1448));
    check_near(figures.bound_ns, 8e6 + (724 * 1538 + 126 + 114) * 8);
    assert_int_equal(figures.busy_us, 20000); /* the client sends */
    harness_result_release(&result);
}

/* A back end without a shape counts packets, not kinds: that is not none of each. */
static void kinds_may_be_unknown(void **state)
{
    struct harness_result result;
    struct harness_figures figures;
    made_harness(&result);
    struct harness_run *run = &result.sizes[0].cases[1].runs[0];
    memset(run->traffic.ways[LINK_TO_SERVER].kinds, 0, sizeof run->traffic.ways[0].kinds);
    harness_figures(&result);
    figures = result.sizes[0].cases[1].figures;
    assert_false(figures.kinds_known);
    assert_true(figures.short_per_request < 0 && figures.ack_share < 0 && figures.fill < 0);
    harness_result_release(&result);
}

static void a_copy_goes_both_ways(void **state)
{
    struct harness_result result;
    struct harness_figures figures;
    made_harness(&result);
    strcpy(result.sizes[0].cases[1].test, "Copy");
    harness_figures(&result);
    figures = result.sizes[0].cases[1].figures;
    check_near(figures.short_per_request, 2);
    assert_int_equal(figures.busy_us, 20007);
    strcpy(result.sizes[0].cases[1].test, "ServerCopy");
    harness_figures(&result);
    figures = result.sizes[0].cases[1].figures;
    assert_true(figures.fill < 0 && figures.share < 0);
    assert_int_equal(figures.busy_us, 0);
    harness_result_release(&result);
}

static void totals_and_labels(void **state)
{
    struct harness_result result;
    struct harness_traffic totals;
    char label[HARNESS_LABEL_LENGTH];
    made_harness(&result);
    harness_totals(&result, &totals);
    assert_int_equal(totals.ways[LINK_TO_SERVER].packets, 3 * 11 + 726);
    assert_int_equal(totals.ways[LINK_TO_CLIENT].packets, 3 * 725 + 10);
    assert_int_equal(totals.segments_out[LAB_SERVER], 2185);
    assert_int_equal(harness_segment_bytes(&result), 1448);
    assert_string_equal(harness_rate_label(&result, label), "1gbit");
    result.verdict = CALIBRATION_TOO_SLOW;
    result.calibration.goodput_bits_per_s[LINK_TO_CLIENT] = 790e6;
    assert_string_equal(harness_rate_label(&result, label), "1gbit (machine: 0.79)");
    result.rate = "10gbit";
    result.link.shapes[LINK_TO_SERVER].rate_bits_per_s = 10 * GBIT;
    result.calibration.goodput_bits_per_s[LINK_TO_SERVER] = 7.94e9;
    result.calibration.goodput_bits_per_s[LINK_TO_CLIENT] = 8.2e9;
    assert_string_equal(harness_rate_label(&result, label), "10gbit (machine: 7.9)");
    harness_result_release(&result);
}

/* ---- Faults ---- */

static size_t faults(struct harness_result *result, const char *text)
{
    struct error error;
    assert_true(harness_judge_size(result, &result->sizes[0], &error));
    for (size_t i = 0; i < result->fault_count; i++) {
        check(strstr(result->faults[i], text) != NULL, "'%s' is not in fault %zu", text, i);
    }
    return result->fault_count;
}

static void what_can_be_is_no_fault(void **state)
{
    struct harness_result result;
    made_harness(&result);
    assert_int_equal(faults(&result, ""), 0);
    struct harness_run *run = &result.sizes[0].cases[0].runs[1];
    run->duration_ns = harness_bound_ns(run, &result.link); /* as fast as the link can */
    assert_int_equal(faults(&result, ""), 0);
    harness_result_release(&result);
}

static void faster_than_the_link(void **state)
{
    struct harness_result result;
    made_harness(&result);
    struct harness_run *run = &result.sizes[0].cases[0].runs[0]; /* the warm-up counts too */
    run->duration_ns = harness_bound_ns(run, &result.link) - 1;
    assert_int_equal(faults(&result, "Read of 1048576 bytes, warm-up 1 took"), 1);
    harness_result_release(&result);
}

/* Whatever the counters say: the payload alone needs longer. */
static void more_than_the_link_carries(void **state)
{
    struct harness_result result;
    made_harness(&result);
    struct harness_run *run = &result.sizes[0].cases[1].runs[0];
    run->traffic = (struct harness_traffic){.lost = {0}};
    run->duration_ns = 8 * NS_PER_MS + 1; /* 1048.6 Mbit/s; the link carries 941.5 */
    assert_int_equal(faults(&result, "is more than the 941.5 that the link carries"), 1);
    harness_result_release(&result);
}

static void drops(void **state)
{
    struct harness_result result;
    made_harness(&result);
    result.sizes[0].whole.dropped[LINK_TO_CLIENT] = 3;
    result.sizes[0].whole.lost[LINK_TO_SERVER] = 5; /* asked for: no fault */
    assert_int_equal(faults(&result, "3 packets to the client were dropped at 1048576 bytes"), 1);
    harness_result_release(&result);
}

/* ---- Lateness ---- */

/* A tenth of the round trip, 0.3 ms, or a hundredth of the run: the largest. */
static void lateness_limits(void **state)
{
    static const struct {
        uint64_t rtt_ns, duration_ns, limit_ns;
    } rows[] = {
        {0, 0, 300000},
        {26690, 355000, 300000},
        {3000000, 1000000, 300000},
        {3000010, 1000000, 300001},
        {10000000, 12000000, 1000000},
        {10000000, 100000000, 1000000},
        {10000000, 100000100, 1000001},
        {10000000, UINT64_C(2012000000), 20120000}, /* 2 s late are too late in 2 s, too */
        {UINT64_C(1000000000), UINT64_C(1100000000), 100000000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct harness_result result = {.iterations = 1, .calibration.rtt_ns = rows[i].rtt_ns};
        uint64_t limit_ns = harness_lateness_limit_ns(&result, rows[i].duration_ns);
        check(limit_ns == rows[i].limit_ns, "row %zu: %llu", i, (unsigned long long)limit_ns);
        assert_false(harness_spoils(&result, NULL, rows[i].duration_ns, limit_ns));
        assert_true(harness_spoils(&result, NULL, rows[i].duration_ns, limit_ns + 1));
    }
}

/* As many as there are iterations, here 2. */
static void runs_made_again_have_a_limit(void **state)
{
    struct harness_result result;
    made_harness(&result);
    struct harness_case *read = &result.sizes[0].cases[0];
    for (size_t i = 0; i < 2; i++) {
        assert_true(harness_spoils(&result, read, 20 * NS_PER_MS, 2000 * NS_PER_MS));
        read->runs[1 + i].spoiled = true;
    }
    assert_false(harness_spoils(&result, read, 20 * NS_PER_MS, 2000 * NS_PER_MS));
    harness_result_release(&result);
}

static void spoiled_runs_are_only_counted(void **state)
{
    struct harness_result result;
    made_harness(&result);
    struct harness_case *read = &result.sizes[0].cases[0];
    read->runs[1].spoiled = true;
    read->runs[1].late_ns = 2000 * NS_PER_MS;
    read->runs[1].duration_ns = 1; /* what cannot be is no fault of a result that leaves it out */
    read->runs[0].late_ns = 2000 * NS_PER_MS; /* nor is a warm-up's lateness */
    harness_figures(&result);
    assert_int_equal(read->figures.runs, 1);
    assert_int_equal(read->figures.spoiled, 1);
    assert_int_equal(read->figures.all_requests, 1);
    check_near(read->figures.mean_ns, 20e6);
    assert_int_equal(result.sizes[0].cases[1].figures.spoiled, 0);
    assert_int_equal(harness_spoiled_runs(&result), 1);
    assert_int_equal(faults(&result, ""), 0);
    harness_result_release(&result);
}

static void late_runs_that_count_are_faults(void **state)
{
    struct harness_result result;
    made_harness(&result);
    struct harness_case *read = &result.sizes[0].cases[0];
    read->runs[1].late_ns = 410000; /* of 4.1 ms, and 20 ms are less */
    assert_int_equal(faults(&result, ""), 0);
    read->runs[1].late_ns = 410001;
    assert_int_equal(faults(&result, "Read of 1048576 bytes, run 1: the link came 0.410 ms late, "
                                     "more than 0.410 ms; 0 runs were made again, and this one was "
                                     "not when it was asked for"),
                     1);
    harness_result_release(&result);
    made_harness(&result);
    result.iterations = 1;
    read = &result.sizes[0].cases[0];
    read->runs[1].spoiled = true;
    read->runs[2].late_ns = 3 * NS_PER_MS;
    assert_int_equal(faults(&result, "run 2: the link came 3.000 ms late, more than 0.410 ms; 1 "
                                     "runs were made again, as many as there are iterations"),
                     1);
    harness_result_release(&result);
}

/* Then the invocation is the run: 2 s are more than a hundredth of a minute, 0.5 s are not. */
static void lateness_without_marks(void **state)
{
    struct harness_result result;
    made_harness(&result);
    result.sizes[0].duration_ns = 60 * NS_PER_S;
    result.sizes[0].late_ns = 2 * NS_PER_S;
    assert_int_equal(faults(&result, ""), 0); /* its runs were judged */
    result.test_program_marks = false;
    result.sizes[0].late_ns = NS_PER_S / 2;
    assert_int_equal(faults(&result, ""), 0);
    result.sizes[0].late_ns = 2 * NS_PER_S;
    assert_int_equal(faults(&result, "afp_speedtest makes no run again"), 1);
    harness_result_release(&result);
}

static void no_shape_no_fault(void **state)
{
    struct harness_result result;
    made_harness(&result);
    result.shaped = false;
    memset(result.link.shapes, 0, sizeof result.link.shapes);
    result.sizes[0].cases[0].runs[1].duration_ns = 1;
    assert_int_equal(faults(&result, ""), 0);
    struct harness_figures figures;
    harness_figures(&result);
    figures = result.sizes[0].cases[0].figures;
    assert_true(figures.share < 0);
    harness_result_release(&result);
}

static void many_faults_are_counted(void **state)
{
    struct harness_result result = {.size_count = 0};
    struct error error;
    for (int i = 0; i < HARNESS_FAULT_LIMIT + 5; i++) {
        assert_true(harness_result_add_fault(&result, &error, "fault %d", i));
    }
    assert_int_equal(result.fault_count, HARNESS_FAULT_LIMIT + 5);
    assert_string_equal(result.faults[HARNESS_FAULT_LIMIT - 1], "fault 99");
    harness_result_release(&result);
}

/* ---- Snapshots ---- */

/* Fields of TCP_INFO by their place in the kernel's structure. */
static void set_field(struct tcp_snapshot *tcp, enum tcp_field_id field, uint64_t value)
{
    const struct tcp_field *row = &tcp_fields[field];
    uint32_t word = (uint32_t)value;
    memcpy(tcp->info + row->offset, row->size == 4 ? (void *)&word : (void *)&value, row->size);
    tcp->length = TCP_SNAPSHOT_BYTES;
}

static struct connection connection(uint16_t port, uint64_t sent, uint64_t busy_us)
{
    struct connection made = {.client_port = port, .server_port = 548};
    set_field(&made.tcp, TCP_BYTES_SENT, sent);
    set_field(&made.tcp, TCP_BUSY_TIME, busy_us);
    set_field(&made.tcp, TCP_SEND_MSS, 1448);
    return made;
}

static void differences(void **state)
{
    struct harness_snapshot *before = calloc(1, sizeof *before);
    struct harness_snapshot *after = calloc(1, sizeof *after);
    struct harness_traffic traffic;
    before->link.ways[LINK_TO_SERVER].packets = 10;
    after->link.ways[LINK_TO_SERVER].packets = 17;
    before->link.ways[LINK_TO_CLIENT].sizes[3] = 1;
    after->link.ways[LINK_TO_CLIENT].sizes[3] = 5;
    after->link.dropped[LINK_TO_CLIENT] = 2;
    before->link.lost[LINK_TO_SERVER] = 4;
    after->link.lost[LINK_TO_SERVER] = 5;
    before->segments_out[LAB_SERVER] = 100;
    after->segments_out[LAB_SERVER] = 130;
    /* 1000 grows, 2000 goes, 3000 is new */
    before->connections[LAB_CLIENT][0] = connection(1000, 500, 70);
    before->connections[LAB_CLIENT][1] = connection(2000, 9999, 9999);
    before->connection_counts[LAB_CLIENT] = 2;
    after->connections[LAB_CLIENT][0] = connection(3000, 11, 5);
    after->connections[LAB_CLIENT][1] = connection(1000, 800, 90);
    after->connection_counts[LAB_CLIENT] = 2;
    harness_snapshot_difference(before, after, &traffic);
    assert_int_equal(traffic.ways[LINK_TO_SERVER].packets, 7);
    assert_int_equal(traffic.ways[LINK_TO_CLIENT].sizes[3], 4);
    assert_int_equal(traffic.dropped[LINK_TO_CLIENT], 2);
    assert_int_equal(traffic.lost[LINK_TO_SERVER], 1);
    assert_int_equal(traffic.segments_out[LAB_SERVER], 30);
    assert_int_equal(traffic.ends[LAB_CLIENT].connections, 2);
    assert_int_equal(traffic.ends[LAB_CLIENT].bytes_sent, 300 + 11);
    assert_int_equal(traffic.ends[LAB_CLIENT].busy_us, 20 + 5);
    assert_int_equal(traffic.ends[LAB_CLIENT].segment_bytes, 1448);
    assert_int_equal(traffic.ends[LAB_SERVER].connections, 0);
    free(before);
    free(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lower_bounds),
        cmocka_unit_test(sent_again_is_not_needed),
        cmocka_unit_test(figures_of_a_read),
        cmocka_unit_test(figures_of_a_write),
        cmocka_unit_test(kinds_may_be_unknown),
        cmocka_unit_test(a_copy_goes_both_ways),
        cmocka_unit_test(totals_and_labels),
        cmocka_unit_test(what_can_be_is_no_fault),
        cmocka_unit_test(faster_than_the_link),
        cmocka_unit_test(more_than_the_link_carries),
        cmocka_unit_test(drops),
        cmocka_unit_test(lateness_limits),
        cmocka_unit_test(runs_made_again_have_a_limit),
        cmocka_unit_test(spoiled_runs_are_only_counted),
        cmocka_unit_test(late_runs_that_count_are_faults),
        cmocka_unit_test(lateness_without_marks),
        cmocka_unit_test(no_shape_no_fault),
        cmocka_unit_test(many_faults_are_counted),
        cmocka_unit_test(differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
