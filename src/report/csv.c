#include "report/csv.h"

#include "base/clock.h"
#include "base/units.h"
#include "report/csv_layout.h"
#include "report/figures.h"
#include "result/tests.h"

#include <inttypes.h>
#include <string.h>

static double mib(double bytes)
{
    return bytes / (double)MIB;
}

static uint64_t whole_us(double nanoseconds)
{
    return (uint64_t)(nanoseconds / (double)NS_PER_US + 0.5);
}

static bool on_begin(void *context, const struct result_case *result_case, struct error *error)
{
    struct csv_report *csv = context;
    if (!csv->header_written) {
        fputs(CSV_RUN_HEADER "\n", csv->out);
        csv->header_written = true;
    }
    return report_written(csv->out, error);
}

static bool on_sample(void *context, const struct result_case *result_case,
                      const struct sample *sample, struct error *error)
{
    struct csv_report *csv = context;
    if (sample->warmup || sample->spoiled) {
        return true;
    }
    fprintf(csv->out, "%s,%" PRIu32 ",%.3f,%" PRIu64 ",%.2f\n", result_case->test.name,
            sample->number, mib((double)sample->size_bytes), whole_us((double)sample->duration_ns),
            mib(result_rate((double)sample->size_bytes, (double)sample->duration_ns)));
    return report_written(csv->out, error);
}

static bool on_end(void *context, const struct result *result,
                   const struct result_case *result_case, struct error *error)
{
    struct csv_report *csv = context;
    const struct result_summary *summary = &result_case->summary;
    const struct stats_summary *times = &summary->times;
    if (times->count < 2) {
        return true;
    }
    const struct {
        const char *name;
        double duration_ns, rate; /* negative: it has none */
    } rows[] = {{"mean", times->mean, summary->mean_rate},
                {"median", times->median, summary->median_rate},
                {"stddev", times->deviation, -1},
                {"min", times->minimum, summary->fastest_rate},
                {"max", times->maximum, summary->slowest_rate}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fprintf(csv->out, "%s_%s,,%.3f,%" PRIu64 ",", result_case->test.name, rows[i].name,
                mib((double)summary->bytes), whole_us(rows[i].duration_ns));
        if (rows[i].rate >= 0) {
            fprintf(csv->out, "%.2f", mib(rows[i].rate));
        }
        fputc('\n', csv->out);
    }
    return report_written(csv->out, error);
}

/* Here min and max are of the throughput. */
static void write_summary_row(FILE *out, const struct result_summary *summary)
{
    fprintf(out, "%" PRIu64 ",%.3f,%.2f,%.2f,%.2f,%.2f,%.1f,%.1f\n", summary->bytes,
            mib((double)summary->bytes), mib(summary->mean_rate), mib(summary->median_rate),
            mib(summary->slowest_rate), mib(summary->fastest_rate),
            summary->times.deviation / (double)NS_PER_MS, summary->times.mean / (double)NS_PER_MS);
}

static void write_summary_block(FILE *out, const struct result *result, const char *name)
{
    fprintf(out, "\n" CSV_SUMMARY_TITLE "%s\n" CSV_SUMMARY_HEADER "\n", name);
    for (size_t i = 0; i < result->case_count; i++) {
        const struct result_case *result_case = result->cases[i];
        if (strcmp(result_case->test.name, name) == 0 && result_case->summary.times.count > 0) {
            write_summary_row(out, &result_case->summary);
        }
    }
}

static void write_tcp_block(FILE *out, const struct result *result)
{
    struct tcp_row rows[TCP_ROW_LIMIT];
    size_t count = tcp_rows(result, rows);
    if (count > 0) {
        fputs("\n" CSV_TCP_TITLE "\n" CSV_TCP_HEADER "\n", out);
    }
    for (size_t i = 0; i < count; i++) {
        char initial[SCALED_TEXT_LENGTH];
        char final[SCALED_TEXT_LENGTH];
        char change[SCALED_TEXT_LENGTH];
        int decimals = rows[i].decimals;
        fprintf(out, "%s,%s,%s,%s\n", rows[i].key, scaled_text(rows[i].initial, decimals, initial),
                scaled_text(rows[i].final, decimals, final),
                scaled_text(rows[i].change, decimals, change));
    }
}

static bool on_finish(void *context, const struct result *result, struct error *error)
{
    struct csv_report *csv = context;
    if (!result->sweep) {
        return report_written(csv->out, error);
    }
    for (size_t i = 0; i < known_test_count; i++) {
        const char *name = known_tests[i].name;
        if (result_has_runs(result, name)) {
            write_summary_block(csv->out, result, name);
        }
    }
    write_tcp_block(csv->out, result);
    return report_written(csv->out, error);
}

struct observer csv_observer(struct csv_report *csv)
{
    return (struct observer){.on_begin = on_begin,
                             .on_sample = on_sample,
                             .on_end = on_end,
                             .on_finish = on_finish,
                             .context = csv};
}
