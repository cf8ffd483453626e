#include "stats/summary.h"

#include "base/memory.h"
#include "stats/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOOTSTRAP_SEED UINT64_C(0xAF9BE4C8)
#define OUTLIER_FACTOR 5.0
#define INTERVAL_LOW   0.025
#define INTERVAL_HIGH  0.975

int stats_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double stats_percentile(const double *sorted, size_t count, double fraction)
{
    double rank = fraction * (double)(count - 1);
    size_t below = (size_t)rank;
    if (below + 1 >= count) {
        return sorted[count - 1];
    }
    double share = rank - (double)below;
    return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

/* Rounding may carry a mean past the largest of its values. */
static double within(double mean, const double *sorted, size_t count)
{
    return fmin(fmax(mean, sorted[0]), sorted[count - 1]);
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / (double)count;
}

/* Two passes: exact enough for durations that differ in their last digits. */
static double deviation_of(const double *values, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (values[i] - mean) * (values[i] - mean);
    }
    return sqrt(sum / (double)(count - 1));
}

double stats_t_half_width(const struct stats_summary *summary)
{
    /* 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom. */
    static const double quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                       2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                       2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                       2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    if (!summary->has_deviation) {
        return 0;
    }
    size_t freedom = summary->count - 1;
    size_t known = sizeof quantiles / sizeof quantiles[0];
    double quantile = freedom <= known ? quantiles[freedom - 1] : 1.960;
    return quantile * summary->deviation / sqrt((double)summary->count);
}

static void bootstrap_mean(const double *sorted, size_t count, double *means,
                           struct stats_summary *summary)
{
    struct stats_random random = {BOOTSTRAP_SEED};
    for (size_t i = 0; i < STATS_RESAMPLES; i++) {
        double sum = 0;
        for (size_t j = 0; j < count; j++) {
            sum += sorted[stats_random_below(&random, (uint32_t)count)];
        }
        means[i] = within(sum / (double)count, sorted, count);
    }
    qsort(means, STATS_RESAMPLES, sizeof *means, stats_compare_doubles);
    summary->mean_low = stats_percentile(means, STATS_RESAMPLES, INTERVAL_LOW);
    summary->mean_high = stats_percentile(means, STATS_RESAMPLES, INTERVAL_HIGH);
}

static void interval_of_mean(const double *sorted, size_t count, double *scratch,
                             struct stats_summary *summary)
{
    if (count >= STATS_BOOTSTRAP_LEAST) {
        bootstrap_mean(sorted, count, scratch, summary);
    } else if (count > 1) {
        double half = stats_t_half_width(summary);
        summary->mean_low = fmax(summary->mean - half, 0);
        summary->mean_high = summary->mean + half;
    }
}

bool stats_is_outlier(double value, const struct stats_summary *summary, double floor)
{
    double unit = fmax(summary->median_deviation, floor);
    return fabs(value - summary->median) > OUTLIER_FACTOR * unit;
}

static void count_outliers(const double *sorted, size_t count, double floor, double *distances,
                           struct stats_summary *summary)
{
    for (size_t i = 0; i < count; i++) {
        distances[i] = fabs(sorted[i] - summary->median);
    }
    qsort(distances, count, sizeof *distances, stats_compare_doubles);
    summary->median_deviation = stats_percentile(distances, count, 0.5);
    for (size_t i = 0; i < count; i++) {
        summary->outliers += stats_is_outlier(sorted[i], summary, floor);
    }
}

bool stats_summarize(const double *values, size_t count, double floor,
                     struct stats_summary *summary, struct error *error)
{
    *summary = (struct stats_summary){.count = count};
    if (count == 0) {
        return true;
    }
    size_t scratch_count = count > STATS_RESAMPLES ? count : STATS_RESAMPLES;
    double *sorted = memory_allocate(count, sizeof *sorted);
    double *scratch = memory_allocate(scratch_count, sizeof *scratch);
    bool ok = sorted != NULL && scratch != NULL;
    if (ok) {
        /* Sorted first, so that no result depends on the order of the values. */
        memcpy(sorted, values, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, stats_compare_doubles);
        summary->minimum = sorted[0];
        summary->maximum = sorted[count - 1];
        summary->mean = within(mean_of(sorted, count), sorted, count);
        summary->median = stats_percentile(sorted, count, 0.5);
        summary->p95 = stats_percentile(sorted, count, 0.95);
        summary->p99 = stats_percentile(sorted, count, 0.99);
        summary->has_deviation = count > 1;
        summary->deviation = count > 1 ? deviation_of(sorted, count, summary->mean) : 0;
        interval_of_mean(sorted, count, scratch, summary);
        count_outliers(sorted, count, floor, scratch, summary);
    }
    memory_release(sorted);
    memory_release(scratch);
    return ok || memory_error(error, "for statistics");
}
