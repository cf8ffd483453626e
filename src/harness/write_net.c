#include "harness/write_net.h"

#include "base/clock.h"
#include "base/units.h"
#include "harness/columns.h"
#include "harness/figures.h"
#include "harness/write_json.h"
#include "report/fields.h"
#include "result/tests.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const char *const side_names[LAB_SIDES] = {[LAB_CLIENT] = "client", [LAB_SERVER] = "server"};

/* ---- CSV ---- */

static bool has_test(const struct harness_result *result, const char *test)
{
    for (size_t i = 0; i < result->size_count; i++) {
        if (harness_size_case(&result->sizes[i], test) != NULL) {
            return true;
        }
    }
    return false;
}

static double mean_bytes(const void *counts)
{
    return harness_mean_bytes(counts);
}

static bool has_kinds_to_server(const void *traffic)
{
    return harness_kinds_known(&((const struct harness_traffic *)traffic)->ways[LINK_TO_SERVER]);
}

static bool has_kinds_to_client(const void *traffic)
{
    return harness_kinds_known(&((const struct harness_traffic *)traffic)->ways[LINK_TO_CLIENT]);
}

/* Of a size, behind it. */
static const struct field column_fields[] = {
    {FIELD("tx_packets", struct harness_traffic, ways[LINK_TO_SERVER].packets)},
    {FIELD("tx_bytes", struct harness_traffic, ways[LINK_TO_SERVER].bytes)},
    {FIELD("rx_packets", struct harness_traffic, ways[LINK_TO_CLIENT].packets)},
    {FIELD("rx_bytes", struct harness_traffic, ways[LINK_TO_CLIENT].bytes)},
    {FIELD("avg_tx_bytes", struct harness_traffic, ways[LINK_TO_SERVER]), .compute = mean_bytes},
    {FIELD("avg_rx_bytes", struct harness_traffic, ways[LINK_TO_CLIENT]), .compute = mean_bytes},
    {FIELD("tx", struct harness_traffic, ways[LINK_TO_SERVER].kinds), .names = packet_kind_names,
     .present = has_kinds_to_server},
    {FIELD("tx_payload_bytes", struct harness_traffic, ways[LINK_TO_SERVER].payload_bytes)},
    {FIELD("tx_lost", struct harness_traffic, lost[LINK_TO_SERVER])},
    {FIELD("tx_dropped", struct harness_traffic, dropped[LINK_TO_SERVER])},
    {FIELD("rx", struct harness_traffic, ways[LINK_TO_CLIENT].kinds), .names = packet_kind_names,
     .present = has_kinds_to_client},
    {FIELD("rx_payload_bytes", struct harness_traffic, ways[LINK_TO_CLIENT].payload_bytes)},
    {FIELD("rx_lost", struct harness_traffic, lost[LINK_TO_CLIENT])},
    {FIELD("rx_dropped", struct harness_traffic, dropped[LINK_TO_CLIENT])},
    {FIELD("client_segments_out", struct harness_traffic, segments_out[LAB_CLIENT])},
    {FIELD("server_segments_out", struct harness_traffic, segments_out[LAB_SERVER])},
    {NULL},
};

static void write_header(FILE *out, const struct harness_result *result)
{
    fputs("size_mb", out);
    fields_print_keys(out, column_fields);
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
        fprintf(out, "%.10g", (double)result->sizes[i].size_bytes / (double)MIB);
        fields_print_values(out, column_fields, &result->sizes[i].whole);
        for (size_t test = 0; test < known_test_count; test++) {
            if (has_test(result, known_tests[test].name)) {
                write_test(out, harness_size_case(&result->sizes[i], known_tests[test].name));
            }
        }
        fputc('\n', out);
    }
}

/* ---- Text ---- */

/* What Netatalk's harness writes, in its order. */

static const struct field their_fields[] = {
    {FIELD("delay", struct harness_result, delay)},
    {FIELD("mtu", struct harness_result, link.mtu)},
    {FIELD("iterations", struct harness_result, iterations)},
    {FIELD("quantum", struct harness_result, quantum_offered_bytes), .rule = FIELD_POSITIVE},
    {FIELD("readahead", struct harness_result, read_ahead_asked), .rule = FIELD_POSITIVE},
    {NULL},
};

static const struct field total_fields[] = {
    {FIELD("tx_packets_total", struct harness_traffic, ways[LINK_TO_SERVER].packets)},
    {FIELD("tx_bytes_total", struct harness_traffic, ways[LINK_TO_SERVER].bytes)},
    {FIELD("rx_packets_total", struct harness_traffic, ways[LINK_TO_CLIENT].packets)},
    {FIELD("rx_bytes_total", struct harness_traffic, ways[LINK_TO_CLIENT].bytes)},
    {FIELD("avg_tx_bytes", struct harness_traffic, ways[LINK_TO_SERVER]), .compute = mean_bytes},
    {FIELD("avg_rx_bytes", struct harness_traffic, ways[LINK_TO_CLIENT]), .compute = mean_bytes},
    {FIELD("client_out_segs", struct harness_traffic, segments_out[LAB_CLIENT])},
    {FIELD("server_out_segs", struct harness_traffic, segments_out[LAB_SERVER])},
    {FIELD("tx_lost", struct harness_traffic, lost[LINK_TO_SERVER])},
    {FIELD("tx_dropped", struct harness_traffic, dropped[LINK_TO_SERVER])},
    {FIELD("rx_lost", struct harness_traffic, lost[LINK_TO_CLIENT])},
    {FIELD("rx_dropped", struct harness_traffic, dropped[LINK_TO_CLIENT])},
    {NULL},
};

static void write_theirs(FILE *out, const struct harness_result *result)
{
    struct harness_traffic totals;
    char label[HARNESS_LABEL_LENGTH];
    harness_totals(result, &totals);
    fprintf(out, "suite: %s\nrate: %s\n", result->suite, harness_rate_label(result, label));
    fields_print_lines(out, "", their_fields, result);
    fprintf(out, "mss: %" PRIu32 "\n", harness_segment_bytes(result));
    fields_print_lines(out, "", total_fields, &totals);
}

static const struct field asked_fields[] = {
    {FIELD("rate_asked", struct harness_result, rate)},
    {FIELD("rate_bits_per_s", struct harness_result, link.shapes[LINK_TO_SERVER].rate_bits_per_s)},
    {FIELD("delay_ns", struct harness_result, link.shapes[LINK_TO_SERVER].delay_ns)},
    {FIELD("jitter", struct harness_result, jitter)},
    {FIELD("loss", struct harness_result, loss)},
    {FIELD("queue_bytes", struct harness_result, link.shapes[LINK_TO_SERVER].queue_bytes)},
    {FIELD("quantum_asked", struct harness_result, quantum_asked_bytes), .rule = FIELD_POSITIVE},
    {FIELD("outstanding", struct harness_result, outstanding)},
    {FIELD("warmups", struct harness_result, warmups)},
    {FIELD("tests", struct harness_result, tests)},
    {FIELD("server", struct harness_result, server)},
    {FIELD("server_chosen", struct harness_result, server_chosen)},
    {FIELD("server_how", struct harness_result, server_how)},
    {FIELD("server_version", struct harness_result, server_version)},
    {FIELD("link", struct harness_result, backend)},
    {FIELD("link_chosen", struct harness_result, backend_chosen)},
    {FIELD("link_conditions", struct harness_result, link_conditions)},
    {FIELD("tool", struct harness_result, test_program)},
    {NULL},
};

static const struct field calibration_fields[] = {
    {FIELD("calibration", struct harness_result, verdict), .names = harness_verdict_names},
    {FIELD("rtt_median_ns", struct harness_result, calibration.rtt_ns)},
    {FIELD("rtt_minimum_ns", struct harness_result, calibration.rtt_minimum_ns)},
    {FIELD("rtt_p99_ns", struct harness_result, calibration.rtt_p99_ns)},
    {FIELD("tx_goodput_bits_per_s", struct harness_result,
           calibration.goodput_bits_per_s[LINK_TO_SERVER])},
    {FIELD("rx_goodput_bits_per_s", struct harness_result,
           calibration.goodput_bits_per_s[LINK_TO_CLIENT])},
    {NULL},
};

static void write_measured(FILE *out, const struct harness_result *result)
{
    if (result->calibrated) {
        fields_print_lines(out, "", calibration_fields, result);
    }
    if (result->has_lateness) {
        fields_print_lines(out, "lateness_", harness_lateness_fields, result);
    }
    for (size_t side = 0; side < LAB_SIDES; side++) {
        const struct lab_settings *settings = &result->settings[side];
        char prefix[16];
        snprintf(prefix, sizeof prefix, "%s_", side_names[side]);
        fprintf(out, "%scongestion_control: %s\n%smtu: %" PRIu32 "\n", prefix,
                settings->congestion_control, prefix, settings->mtu);
        fields_print_lines(out, prefix, harness_settings_fields, settings);
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
    if (result->test_program_marks) {
        fprintf(out, "spoiled_runs: %zu\n", harness_spoiled_runs(result));
    } else {
        fputs("spoiled_runs: unknown\n", out);
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
    fields_print_lines(out, "", asked_fields, result);
    write_measured(out, result);
    for (size_t i = 0; i < result->size_count; i++) {
        write_connection(out, &result->sizes[i]);
    }
    write_outcome(out, result);
}
