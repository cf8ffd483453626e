#include "report/text_statistics.h"

#include "base/clock.h"
#include "base/units.h"
#include "report/figures.h"
#include "result/tests.h"

#include <inttypes.h>
#include <string.h>

#define MICRO                                                                                      \
    "\u03bc"                                                                                       \
    "s"

/* ---- The block after a test ---- */

static double us(double nanoseconds)
{
    return nanoseconds / (double)NS_PER_US;
}

static double mib(double bytes)
{
    return bytes / (double)MIB;
}

static void time_line(FILE *out, const char *label, double duration_ns, double rate)
{
    if (duration_ns < (double)NS_PER_US) {
        fprintf(out, "%-15s <1 " MICRO " (too fast to measure)\n", label);
    } else {
        fprintf(out, "%-15s %.0f " MICRO " (%.2f MB/s)\n", label, us(duration_ns), mib(rate));
    }
}

static void write_mean(FILE *out, const struct result_summary *summary)
{
    const struct stats_summary *times = &summary->times;
    double bytes = (double)summary->bytes;
    time_line(out, "Mean:", times->mean, summary->mean_rate);
    if (!times->has_deviation) {
        return;
    }
    fprintf(out, "%-15s %.0f to %.0f " MICRO, "95% of mean:", us(times->mean_low),
            us(times->mean_high));
    if (times->mean_low > 0 || times->mean_high <= 0) {
        fprintf(out, " (%.2f to %.2f MB/s)\n", rate_mib(bytes, times->mean_high),
                rate_mib(bytes, times->mean_low));
    } else { /* so few and so different that no time is too short */
        fprintf(out, " (from %.2f MB/s)\n", rate_mib(bytes, times->mean_high));
    }
}

/* One wild run moves the mean, not the median: that one comes first then. */
static void write_times(FILE *out, const struct result_summary *summary)
{
    const struct stats_summary *times = &summary->times;
    double bytes = (double)summary->bytes;
    if (times->outliers == 0) {
        write_mean(out, summary);
    }
    time_line(out, "Median:", times->median, summary->median_rate);
    if (times->outliers > 0) {
        write_mean(out, summary);
    }
    if (times->has_deviation) {
        fprintf(out, "%-15s %.0f " MICRO " (%.2f%%)\n", "Std Dev:", us(times->deviation),
                times->mean > 0 ? 100 * times->deviation / times->mean : 0);
    }
    time_line(out, "Min:", times->minimum, summary->fastest_rate);
    time_line(out, "Max:", times->maximum, summary->slowest_rate);
    if (times->count >= 20) {
        time_line(out, "P95:", times->p95, result_rate(bytes, times->p95));
    }
    if (times->outliers > 0) {
        fprintf(out, "%-15s %zu of %zu runs stand out; none is left out\n",
                "Outliers:", times->outliers, times->count);
    }
}

static void requests(FILE *out, const struct sample *sample)
{
    fprintf(out, "%-15s ", "Requests:");
    const char *separator = "";
    for (size_t kind = 0; kind < REQUEST_KINDS; kind++) {
        if (sample->counts.requests[kind] > 0) {
            fprintf(out, "%s%" PRIu64 " %s", separator, sample->counts.requests[kind],
                    request_kind_names[kind]);
            separator = ", ";
        }
    }
    fprintf(out, " a run, %" PRIu64 " runt%s, %" PRIu64 " round trip%s\n", sample->counts.runts,
            sample->counts.runts == 1 ? "" : "s", sample->counts.round_trips,
            sample->counts.round_trips == 1 ? "" : "s");
    if (sample->counts.short_replies > 0) {
        fprintf(out, "%-15s %" PRIu64 " a run; the rest was asked for again\n",
                "Short replies:", sample->counts.short_replies);
    }
}

static void service_times(FILE *out, const struct histogram_summary *service)
{
    if (service->count > 0) {
        fprintf(out, "%-15s median %.0f, p95 %.0f, p99 %.0f, max %.0f " MICRO " a request\n",
                "Service time:", us((double)service->median), us((double)service->p95),
                us((double)service->p99), us((double)service->maximum));
    }
}

/* The sentence that says where the time went. */
static void shares(FILE *out, const uint64_t shares_ns[SHARES])
{
    uint64_t sum = 0;
    for (size_t i = 0; i < SHARES; i++) {
        sum += shares_ns[i];
    }
    if (sum == 0) {
        return;
    }
    double percent[SHARES];
    for (size_t i = 0; i < SHARES; i++) {
        percent[i] = 100 * (double)shares_ns[i] / (double)sum;
    }
    fprintf(out,
            "%-15s %.1f%% the receive window, %.1f%% the send buffer, %.1f%% the server, "
            "%.1f%% our own CPU, %.1f%% the rest\n",
            "Time went to:", percent[SHARE_RECEIVE_WINDOW], percent[SHARE_SEND_BUFFER],
            percent[SHARE_SERVER], percent[SHARE_CLIENT_CPU], percent[SHARE_REST]);
}

static void session_rates(FILE *out, const struct result_case *result_case)
{
    uint32_t sessions = result_case->test.sessions;
    for (uint32_t session = 0; sessions > 1 && session < sessions; session++) {
        double sum = 0;
        uint32_t runs = 0;
        for (uint32_t i = 0; i < result_case->sample_count; i++) {
            if (!result_case->samples[i].warmup) {
                sum += (double)result_case->session_ns[(size_t)i * sessions + session];
                runs++;
            }
        }
        char label[24];
        snprintf(label, sizeof label, "Session %u:", (unsigned)session + 1);
        double mean_ns = sum / (double)runs;
        double bytes = (double)result_case->test.size_bytes;
        time_line(out, label, mean_ns, result_rate(bytes, mean_ns));
    }
}

static const char *const cache_lines[] = {
    [CACHE_SERVER_WARM] = "Server cache:   warm: the file was just written",
    [CACHE_CLIENT_COLD] = "Client cache:   cold: dropped before each run",
    [CACHE_CLIENT_WARM] = "Client cache:   warm: this is memory's speed, not the file system's",
    [CACHE_BYPASSED] = "Client cache:   bypassed (O_DIRECT)",
};

void text_statistics_block(FILE *out, const struct result_case *result_case)
{
    const struct result_summary *summary = &result_case->summary;
    char label[SIZE_LABEL_LENGTH];
    size_t count;
    const struct sample *measured = result_measured(result_case, &count);
    const struct test_case *test = &result_case->test;
    if (count == 0) {
        return;
    }
    fprintf(out, "\n===== Statistics for %s =====\n", test->name);
    fprintf(out, "%-15s %s\n", "File Size:", size_label(test->size_bytes, label));
    if (test->sessions > 1) {
        fprintf(out, "%-15s %u, each with a file of that size\n",
                "Sessions:", (unsigned)test->sessions);
    }
    fprintf(out, "%-15s %zu\n", "Iterations:", count);
    if (result_case->spoiled_count > 0) {
        fprintf(out, "%-15s %u, made again and left out\n",
                "Spoiled runs:", (unsigned)result_case->spoiled_count);
    }
    write_times(out, summary);
    requests(out, measured);
    service_times(out, &summary->service);
    shares(out, summary->shares_ns);
    if (cache_lines[result_case->cache] != NULL) {
        fprintf(out, "%s\n", cache_lines[result_case->cache]);
    }
    session_rates(out, result_case);
    fputc('\n', out);
}

/* ---- The tables at the end ---- */

static void rule(FILE *out, const char *left, const char *right, int width)
{
    fputs(left, out);
    for (int i = 0; i < width; i++) {
        fputs("\u2550", out);
    }
    fprintf(out, "%s\n", right);
}

static void heading(FILE *out, const char *text, int indent, int width)
{
    fprintf(out, "\u2551%*s%-*s\u2551\n", indent, "", width - indent, text);
}

/* Widths and indents are those of Netatalk's tables. */
#define SIZE_TABLE_WIDTH  86
#define SIZE_TABLE_INDENT 22
#define TCP_TABLE_WIDTH   73
#define TCP_TABLE_INDENT  17

static void size_row(FILE *out, const struct result_case *result_case)
{
    const struct result_summary *summary = &result_case->summary;
    char label[SIZE_LABEL_LENGTH];
    fprintf(out,
            "\u2551 %8s \u2502 %10.2f \u2502 %12.2f \u2502 %9.2f \u2502 %9.2f \u2502 %10.1f \u2502 "
            "%8.1f \u2551\n",
            size_label(result_case->test.size_bytes, label), mib(summary->mean_rate),
            mib(summary->median_rate), mib(summary->slowest_rate), mib(summary->fastest_rate),
            summary->times.deviation / (double)NS_PER_MS, summary->times.mean / (double)NS_PER_MS);
}

static void size_table(FILE *out, const struct result *result, const char *name)
{
    char title[80];
    snprintf(title, sizeof title, "File Size Performance Summary for %s", name);
    rule(out, "\u2554", "\u2557", SIZE_TABLE_WIDTH);
    heading(out, title, SIZE_TABLE_INDENT, SIZE_TABLE_WIDTH);
    rule(out, "\u2560", "\u2563", SIZE_TABLE_WIDTH);
    fputs("\u2551     Size \u2502 Mean(MB/s) \u2502 Median(MB/s) \u2502 Min(MB/s) \u2502 Max(MB/s) "
          "\u2502 StdDev(ms) \u2502 Mean(ms) \u2551\n",
          out);
    rule(out, "\u2560", "\u2563", SIZE_TABLE_WIDTH);
    for (size_t i = 0; i < result->case_count; i++) {
        const struct result_case *result_case = result->cases[i];
        if (strcmp(result_case->test.name, name) == 0 && result_case->summary.times.count > 0) {
            size_row(out, result_case);
        }
    }
    rule(out, "\u255a", "\u255d", SIZE_TABLE_WIDTH);
}

static void tcp_table(FILE *out, const struct result *result)
{
    struct tcp_row rows[TCP_ROW_LIMIT];
    size_t count = tcp_rows(result, rows);
    if (count == 0) {
        return;
    }
    fputc('\n', out);
    rule(out, "\u2554", "\u2557", TCP_TABLE_WIDTH);
    heading(out, "TCP Metrics Evolution Across All Tests", TCP_TABLE_INDENT, TCP_TABLE_WIDTH);
    rule(out, "\u2560", "\u2563", TCP_TABLE_WIDTH);
    fprintf(out, "\u2551 %-24s \u2502 %13s \u2502 %13s \u2502      Total \u0394 \u2551\n", "Metric",
            "Initial", "Final");
    rule(out, "\u2560", "\u2563", TCP_TABLE_WIDTH);
    for (size_t i = 0; i < count; i++) {
        const int64_t values[] = {rows[i].initial, rows[i].final, rows[i].change};
        char cells[3][SCALED_TEXT_LENGTH + 8];
        for (size_t j = 0; j < 3; j++) {
            char number[SCALED_TEXT_LENGTH];
            snprintf(cells[j], sizeof cells[j], "%s%s",
                     scaled_text(values[j], rows[i].decimals, number), rows[i].unit);
        }
        fprintf(out, "\u2551 %-24s \u2502 %13s \u2502 %13s \u2502 %12s \u2551\n", rows[i].label,
                cells[0], cells[1], cells[2]);
    }
    rule(out, "\u255a", "\u255d", TCP_TABLE_WIDTH);
}

void text_statistics_tables(FILE *out, const struct result *result)
{
    const char *gap = "";
    for (size_t i = 0; i < known_test_count; i++) {
        if (!result_has_runs(result, known_tests[i].name)) {
            continue;
        }
        fputs(gap, out);
        gap = "\n";
        size_table(out, result, known_tests[i].name);
    }
    tcp_table(out, result);
    if (result->conditions.warning[0] != '\0') {
        fprintf(out, "\nNote: %s\n", result->conditions.warning);
    }
}
