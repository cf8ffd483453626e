#include "harness/write_tables.h"

#include "base/clock.h"
#include "base/units.h"
#include "cli/gnuplot.h"
#include "harness/columns.h"
#include "harness/figures.h"

#include <inttypes.h>
#include <string.h>

/* ---- The banner ---- */

static const char *bytes_or(uint32_t bytes, const char *otherwise, char text[SIZE_TEXT_LENGTH])
{
    if (bytes == 0) {
        return otherwise;
    }
    snprintf(text, SIZE_TEXT_LENGTH, "%" PRIu32, bytes);
    return text;
}

static double ms(uint64_t time_ns)
{
    return (double)time_ns / (double)NS_PER_MS;
}

static void write_link(FILE *out, const struct harness_result *result)
{
    const struct calibration *measured = &result->calibration;
    const struct link_shape *shape = &result->link.shapes[LINK_TO_SERVER];
    char label[HARNESS_LABEL_LENGTH];
    fprintf(out, "rate         %s", harness_rate_label(result, label));
    if (result->calibrated) {
        fprintf(out, ", measured payload %.1f Mbit/s to the server, %.1f to the client",
                measured->goodput_bits_per_s[LINK_TO_SERVER] / 1e6,
                measured->goodput_bits_per_s[LINK_TO_CLIENT] / 1e6);
    }
    fprintf(out, "\ndelay        %s one way, RTT %.3f ms", result->delay, 2 * ms(shape->delay_ns));
    if (result->calibrated) {
        fprintf(out, ", measured median %.3f ms, p99 %.3f ms", ms(measured->rtt_ns),
                ms(measured->rtt_p99_ns));
    }
    fprintf(out, "\njitter, loss %s, %s\n", result->jitter, result->loss);
    fprintf(out, "MTU          %" PRIu32, result->link.mtu);
    if (result->calibrated) {
        fprintf(out, ", MSS %" PRIu32, measured->segment_bytes);
    }
    fprintf(out, "\nlink         %s%s; %s\n", result->backend,
            result->backend_chosen ? " (chosen by LINK=auto)" : "", result->link_conditions);
    fprintf(out, "congestion   %s on the client, %s on the server\n",
            result->settings[LAB_CLIENT].congestion_control,
            result->settings[LAB_SERVER].congestion_control);
}

void harness_write_banner(FILE *out, const struct harness_result *result)
{
    char asked[SIZE_TEXT_LENGTH];
    char offered[SIZE_TEXT_LENGTH];
    char read_ahead[SIZE_TEXT_LENGTH];
    fprintf(out, "%s\n", result->name);
    if (result->counted) {
        write_link(out, result);
    }
    fprintf(out, "server       %s: %s, %s%s\n", result->server, result->server_version,
            result->server_how, result->server_chosen ? " (chosen by SERVER=auto)" : "");
    fprintf(out, "quantum      asked %s, offered %s\n",
            bytes_or(result->quantum_asked_bytes, "the server's", asked),
            bytes_or(result->quantum_offered_bytes, "unknown", offered));
    if (result->counted) {
        fprintf(out, "read-ahead   %s\n",
                bytes_or(result->read_ahead_asked, "the server's", read_ahead));
    }
    fprintf(out,
            "runs         %s; %" PRIu32 " after %" PRIu32 " warm-ups, %" PRIu32
            " outstanding%s%s\n\n",
            result->tests, result->iterations, result->warmups, result->outstanding,
            result->extra_flags != NULL ? "; EXTRA_FLAGS " : "",
            result->extra_flags != NULL ? result->extra_flags : "");
    fflush(out);
}

/* ---- The summary ---- */

static void run_label(const struct harness_result *result, char text[HARNESS_TEXT_LENGTH + 100])
{
    char label[HARNESS_LABEL_LENGTH];
    const char *machine = strstr(harness_rate_label(result, label), " (machine");
    snprintf(text, HARNESS_TEXT_LENGTH + 100, "%s%s%s", result->name,
             machine != NULL ? machine : "", harness_flags(result));
}

void harness_write_summary(FILE *out, const struct harness_result *const *results, size_t count)
{
    if (count > 0 && !results[0]->counted) {
        return; /* all against the one server that is elsewhere */
    }
    fprintf(out, "%-22s %6s %6s %12s %12s %8s %8s %8s %s\n", "run", "mss", "mtu", "tx-packets",
            "rx-packets", "avg-tx", "avg-rx", "spoiled", "plot");
    for (size_t i = 0; i < count; i++) {
        struct harness_traffic totals;
        char label[HARNESS_TEXT_LENGTH + 100];
        char spoiled[24] = "-";
        harness_totals(results[i], &totals);
        run_label(results[i], label);
        if (results[i]->test_program_marks) {
            snprintf(spoiled, sizeof spoiled, "%zu", harness_spoiled_runs(results[i]));
        }
        const struct packet_counts *tx = &totals.ways[LINK_TO_SERVER];
        const struct packet_counts *rx = &totals.ways[LINK_TO_CLIENT];
        fprintf(out,
                "%-22s %6" PRIu32 " %6" PRIu32 " %12" PRIu64 " %12" PRIu64
                " %8.0f %8.0f %8s %s%s\n",
                label, harness_segment_bytes(results[i]), results[i]->link.mtu, tx->packets,
                rx->packets, harness_mean_bytes(tx), harness_mean_bytes(rx), spoiled,
                results[i]->drawn ? results[i]->name : "-",
                results[i]->drawn ? PLOTTING_PICTURE_SUFFIX : "");
    }
    fputc('\n', out);
}

/* ---- Of one run ---- */

static void write_sizes(FILE *out, const struct harness_result *result)
{
    fprintf(out, "%10s %12s %14s %12s %14s %8s %8s\n", "size", "tx-packets", "tx-bytes",
            "rx-packets", "rx-bytes", "avg-tx", "avg-rx");
    for (size_t i = 0; i < result->size_count; i++) {
        if (!result->sizes[i].complete) {
            continue; /* what crossed is only known of a size that ended */
        }
        const struct packet_counts *tx = &result->sizes[i].whole.ways[LINK_TO_SERVER];
        const struct packet_counts *rx = &result->sizes[i].whole.ways[LINK_TO_CLIENT];
        char size[SIZE_TEXT_LENGTH];
        fprintf(out, "%10s %12" PRIu64 " %14" PRIu64 " %12" PRIu64 " %14" PRIu64 " %8.0f %8.0f\n",
                size_text(result->sizes[i].size_bytes, size), tx->packets, tx->bytes, rx->packets,
                rx->bytes, harness_mean_bytes(tx), harness_mean_bytes(rx));
    }
}

static void write_row(FILE *out, enum harness_table table, uint64_t size_bytes,
                      const struct harness_case *harness_case)
{
    char size[SIZE_TEXT_LENGTH];
    char text[HARNESS_FIGURE_LENGTH];
    fprintf(out, "%10s %-10s", size_text(size_bytes, size), harness_case->test);
    for (size_t i = 0; i < harness_column_count; i++) {
        if (harness_columns[i].table == table) {
            fprintf(out, " %9s",
                    harness_figure(&harness_columns[i], &harness_case->figures, "-", text));
        }
    }
    fputc('\n', out);
}

static void write_table(FILE *out, enum harness_table table, const struct harness_result *result)
{
    static const char *const titles[HARNESS_TABLES] = {
        [HARNESS_PACKETS] = "Packets by kind, all measured runs together",
        [HARNESS_REQUESTS] = "Requests and segments, all measured runs together",
        [HARNESS_TIMES] = "Time of a run, its lower bound, and what the sender's TCP waited for",
    };
    fprintf(out, "\n%s\n%10s %-10s", titles[table], "size", "test");
    for (size_t i = 0; i < harness_column_count; i++) {
        if (harness_columns[i].table == table) {
            fprintf(out, " %9s", harness_columns[i].heading);
        }
    }
    fputc('\n', out);
    for (size_t i = 0; i < result->size_count; i++) {
        const struct harness_size *size = &result->sizes[i];
        for (size_t k = 0; size->complete && k < size->case_count; k++) {
            write_row(out, table, size->size_bytes, &size->cases[k]);
        }
    }
}

static void write_totals(FILE *out, const struct harness_result *result)
{
    struct harness_traffic totals;
    harness_totals(result, &totals);
    const struct packet_counts *tx = &totals.ways[LINK_TO_SERVER];
    const struct packet_counts *rx = &totals.ways[LINK_TO_CLIENT];
    fprintf(out,
            "\ntotals: tx %" PRIu64 " packets, %.1f bytes each; rx %" PRIu64
            " packets, %.1f bytes each\n\n",
            tx->packets, harness_mean_bytes(tx), rx->packets, harness_mean_bytes(rx));
}

void harness_write_tables(FILE *out, const struct harness_result *result)
{
    char label[HARNESS_TEXT_LENGTH + 100];
    run_label(result, label);
    fprintf(out, "%s\n", label);
    if (result->counted) {
        write_sizes(out, result);
    }
    if (!result->test_program_marks) {
        fprintf(out, "\n%s does not tell of its runs (--mark-fd)%s\n", result->test_program,
                result->counted ? ": packets by size only" : "");
    }
    for (unsigned table = result->counted ? 0 : HARNESS_REQUESTS;
         result->test_program_marks && table < HARNESS_TABLES; table++) {
        write_table(out, (enum harness_table)table, result);
    }
    if (result->counted) {
        write_totals(out, result);
    }
}
