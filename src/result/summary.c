#include "base/clock.h"
#include "base/memory.h"
#include "result/result.h"

/* What the monotonic clock can tell apart, for outliers. */
#define CLOCK_FLOOR_NS 1000.0

double result_rate(double bytes, double duration_ns)
{
    return duration_ns > 0 ? bytes / (duration_ns / (double)NS_PER_S) : 0;
}

bool result_summarize(struct result_case *result_case, struct error *error)
{
    size_t count;
    const struct test_case *test = &result_case->test;
    const struct sample *samples = result_measured(result_case, &count);
    struct result_summary *summary = &result_case->summary;
    *summary = (struct result_summary){.bytes = test->size_bytes * test->sessions};
    double *durations = memory_allocate(test->iterations, sizeof *durations);
    if (durations == NULL) {
        return memory_error(error, "for statistics");
    }
    for (size_t i = 0; i < count; i++) {
        durations[i] = (double)samples[i].duration_ns;
        for (size_t share = 0; share < SHARES; share++) {
            summary->shares_ns[share] += samples[i].shares_ns[share];
        }
    }
    bool ok = stats_summarize(durations, count, CLOCK_FLOOR_NS, &summary->times, error);
    memory_release(durations);
    double bytes = (double)summary->bytes;
    summary->mean_rate = result_rate(bytes, summary->times.mean);
    summary->median_rate = result_rate(bytes, summary->times.median);
    summary->slowest_rate = result_rate(bytes, summary->times.maximum);
    summary->fastest_rate = result_rate(bytes, summary->times.minimum);
    histogram_summarize(&result_case->service, &summary->service);
    return ok;
}
