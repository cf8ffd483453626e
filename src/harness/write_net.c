#include "harness/write_net.h"

#include "base/clock.h"
#include "base/units.h"
#include "harness/columns.h"
#include "harness/figures.h"
#include "result/tests.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const char *const way_names[LINK_WAYS] = {[LINK_TO_SERVER] = "tx", [LINK_TO_CLIENT] = "rx"};
static const char *const side_names[LAB_SIDES] = {[LAB_CLIENT] = "client", [LAB_SERVER] = "server"};

/* ---- CSV ---- */

static const struct harness_case *find_case(const struct harness_size *size, const char *test)
{
    for (size_t i = 0; i < size->case_count; i++) {
        if (strcmp(size->cases[i].test, test) == 0) {
            return &size->cases[i];
        }
    }
    return NULL;
}

static bool has_test(const struct harness_result *result, const char *test)
{
    for (size_t i = 0; i < result->size_count; i++) {
        if (find_case(&result->sizes[i], test) != NULL) {
            return true;
        }
    }
    return false;
}

static void write_header(FILE *out, const struct harness_result *result)
{
    fputs("size_mb,tx_packets,tx_bytes,rx_packets,rx_bytes,avg_tx_bytes,avg_rx_bytes", out);
    for (size_t way = 0; way < LINK_WAYS; way++) {
        for (size_t kind = 0; kind < PACKET_KINDS; kind++) {
            fprintf(out, ",%s_%s", way_names[way], packet_kind_names[kind]);
        }
        fprintf(out, ",%s_payload_bytes,%s_lost,%s_dropped", way_names[way], way_names[way],
                way_names[way]);
    }
    fputs(",client_segments_out,server_segments_out", out);
    for (size_t test = 0; test < known_test_count; test++) {
        const char *name = known_tests[test].name;
        for (size_t i = 0; has_test(result, name) && i < harness_column_count; i++) {
            fputc(',', out);
            for (const char *c = name; *c != '\0'; c++) {
                fputc(tolower((unsigned char)*c), out);
            }
            fprintf(out, "_%s", harness_columns[i].key);
        }
    }
    fputc('\n', out);
}

static void write_size(FILE *out, const struct harness_size *size)
{
    const struct packet_counts *tx = &size->whole.ways[LINK_TO_SERVER];
    const struct packet_counts *rx = &size->whole.ways[LINK_TO_CLIENT];
    fprintf(out, "%.10g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.0f,%.0f",
            (double)size->size_bytes / (double)MIB, tx->packets, tx->bytes, rx->packets, rx->bytes,
            harness_mean_bytes(tx), harness_mean_bytes(rx));
    for (size_t way = 0; way < LINK_WAYS; way++) {
        const struct packet_counts *counts = &size->whole.ways[way];
        for (size_t kind = 0; kind < PACKET_KINDS; kind++) {
            fputc(',', out);
            if (harness_kinds_known(counts)) {
                fprintf(out, "%" PRIu64, counts->kinds[kind]);
            }
        }
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, counts->payload_bytes,
                size->whole.lost[way], size->whole.dropped[way]);
    }
    fprintf(out, ",%" PRIu64 ",%" PRIu64, size->whole.segments_out[LAB_CLIENT],
            size->whole.segments_out[LAB_SERVER]);
}

static void write_test(FILE *out, const struct harness_case *harness_case)
{
    for (size_t i = 0; i < harness_column_count; i++) {
        char text[HARNESS_FIGURE_LENGTH];
        fprintf(out, ",%s",
                harness_case == NULL
                    ? ""
                    : harness_figure(&harness_columns[i], &harness_case->figures, "", text));
    }
}

void harness_write_net_csv(FILE *out, const struct harness_result *result)
{
    write_header(out, result);
    for (size_t i = 0; i < result->size_count; i++) {
        if (!result->sizes[i].complete) {
            continue; /* what crossed is only known of a size that ended */
        }
        write_size(out, &result->sizes[i]);
        for (size_t test = 0; test < known_test_count; test++) {
            if (has_test(result, known_tests[test].name)) {
                write_test(out, find_case(&result->sizes[i], known_tests[test].name));
            }
        }
        fputc('\n', out);
    }
}

/* ---- Text ---- */

static void number(FILE *out, const char *key, uint64_t value)
{
    fprintf(out, "%s: %" PRIu64 "\n", key, value);
}

static void number_or_default(FILE *out, const char *key, uint64_t value)
{
    if (value > 0) {
        number(out, key, value);
    } else {
        fprintf(out, "%s: default\n", key);
    }
}

/* What Netatalk's harness writes, in its order. */
static void write_theirs(FILE *out, const struct harness_result *result)
{
    struct harness_traffic totals;
    char label[HARNESS_LABEL_LENGTH];
    harness_totals(result, &totals);
    fprintf(out, "suite: %s\nrate: %s\ndelay: %s\n", result->suite,
            harness_rate_label(result, label), result->delay);
    number(out, "mtu", result->link.mtu);
    number(out, "iterations", result->iterations);
    number_or_default(out, "quantum", result->quantum_offered_bytes);
    number_or_default(out, "readahead", result->read_ahead_asked);
    number(out, "mss", harness_segment_bytes(result));
    for (size_t way = 0; way < LINK_WAYS; way++) {
        fprintf(out, "%s_packets_total: %" PRIu64 "\n%s_bytes_total: %" PRIu64 "\n", way_names[way],
                totals.ways[way].packets, way_names[way], totals.ways[way].bytes);
    }
    for (size_t way = 0; way < LINK_WAYS; way++) {
        fprintf(out, "avg_%s_bytes: %.0f\n", way_names[way], harness_mean_bytes(&totals.ways[way]));
    }
    for (size_t side = 0; side < LAB_SIDES; side++) {
        fprintf(out, "%s_out_segs: %" PRIu64 "\n", side_names[side], totals.segments_out[side]);
    }
    for (size_t way = 0; way < LINK_WAYS; way++) {
        fprintf(out, "%s_lost: %" PRIu64 "\n%s_dropped: %" PRIu64 "\n", way_names[way],
                totals.lost[way], way_names[way], totals.dropped[way]);
    }
}

static void write_asked(FILE *out, const struct harness_result *result)
{
    fprintf(out, "rate_asked: %s\n", result->rate);
    number(out, "rate_bits_per_s", result->link.shapes[LINK_TO_SERVER].rate_bits_per_s);
    number(out, "delay_ns", result->link.shapes[LINK_TO_SERVER].delay_ns);
    fprintf(out, "jitter: %s\nloss: %s\n", result->jitter, result->loss);
    number(out, "queue_bytes", result->link.shapes[LINK_TO_SERVER].queue_bytes);
    number_or_default(out, "quantum_asked", result->quantum_asked_bytes);
    number(out, "outstanding", result->outstanding);
    number(out, "warmups", result->warmups);
    fprintf(out, "tests: %s\nserver: %s\nserver_chosen: %s\nserver_how: %s\nserver_version: %s\n",
            result->tests, result->server, result->server_chosen ? "yes" : "no", result->server_how,
            result->server_version);
    fprintf(out, "link: %s\nlink_chosen: %s\nlink_conditions: %s\n", result->backend,
            result->backend_chosen ? "yes" : "no", result->link_conditions);
    fprintf(out, "tool: %s\n", result->test_program);
}

static void write_measured(FILE *out, const struct harness_result *result)
{
    const struct calibration *measured = &result->calibration;
    if (result->calibrated) {
        fprintf(out, "calibration: %s\n", harness_verdict_names[result->verdict]);
        number(out, "rtt_median_ns", measured->rtt_ns);
        number(out, "rtt_minimum_ns", measured->rtt_minimum_ns);
        number(out, "rtt_p99_ns", measured->rtt_p99_ns);
        for (size_t way = 0; way < LINK_WAYS; way++) {
            fprintf(out, "%s_goodput_bits_per_s: %.0f\n", way_names[way],
                    measured->goodput_bits_per_s[way]);
        }
    }
    if (result->has_lateness) {
        number(out, "lateness_median_ns", result->lateness_median_ns);
        number(out, "lateness_p99_ns", result->lateness_p99_ns);
        number(out, "lateness_maximum_ns", result->lateness_maximum_ns);
    }
    for (size_t side = 0; side < LAB_SIDES; side++) {
        const struct lab_settings *settings = &result->settings[side];
        const char *name = side_names[side];
        fprintf(out,
                "%s_congestion_control: %s\n%s_mtu: %" PRIu32 "\n%s_receive_window_bytes: %" PRIu64
                "\n%s_send_window_bytes: %" PRIu64
                "\n%s_metrics_saved: %s\n%s_slow_start_after_idle: %s\n%s_offloads: %s\n",
                name, settings->congestion_control, name, settings->mtu, name,
                settings->receive_window_bytes, name, settings->send_window_bytes, name,
                settings->metrics_saved ? "yes" : "no", name,
                settings->slow_start_after_idle ? "yes" : "no", name, settings->offloads);
    }
}

/* A connection's whole life as its last marked run saw it: "size_bytes side segments bytes mean".
 */
static void write_connection(FILE *out, const struct harness_size *size)
{
    if (size->case_count == 0) {
        return;
    }
    const struct harness_case *last = &size->cases[size->case_count - 1];
    for (size_t side = 0; side < LAB_SIDES; side++) {
        const struct tcp_snapshot *tcp = &last->runs[last->count - 1].traffic.ends[side].tcp;
        uint64_t segments = 0;
        uint64_t data_segments = 0;
        uint64_t bytes = 0;
        if (!tcp_snapshot_value(tcp, TCP_SEGMENTS_OUT, &segments) ||
            !tcp_snapshot_value(tcp, TCP_DATA_SEGMENTS_OUT, &data_segments) ||
            !tcp_snapshot_value(tcp, TCP_BYTES_SENT, &bytes)) {
            continue;
        }
        fprintf(out,
                "connection_%" PRIu64 "_%s: %" PRIu64 " segments, %" PRIu64 " with data, %" PRIu64
                " bytes, %.1f in each\n",
                size->size_bytes, side_names[side], segments, data_segments, bytes,
                data_segments > 0 ? (double)bytes / (double)data_segments : 0);
    }
}

static void write_outcome(FILE *out, const struct harness_result *result)
{
    fprintf(out, "complete: %s\n", result->complete ? "yes" : "no");
    if (result->failure[0] != '\0') {
        fprintf(out, "failure: %s\n", result->failure);
    }
    fprintf(out, "valid: %s\n", result->fault_count == 0 ? "yes" : "no");
    for (size_t i = 0; i < result->fault_count && i < HARNESS_FAULT_LIMIT; i++) {
        fprintf(out, "fault: %s\n", result->faults[i]);
    }
    if (result->fault_count > HARNESS_FAULT_LIMIT) {
        fprintf(out, "more_faults: %zu\n", result->fault_count - HARNESS_FAULT_LIMIT);
    }
}

void harness_write_net_text(FILE *out, const struct harness_result *result)
{
    write_theirs(out, result);
    write_asked(out, result);
    write_measured(out, result);
    for (size_t i = 0; i < result->size_count; i++) {
        write_connection(out, &result->sizes[i]);
    }
    write_outcome(out, result);
}
