/*
 * summary.h - what a set of samples says: mean, median, spread, percentiles, the interval of the
 * mean, and which samples stand out (doc/method.md, "Statistics").
 *
 * Values are doubles of any unit, at least 0 (nanoseconds below 2^53 are exact). Nothing is
 * dropped: outliers are counted. The functions do not change their input; scratch memory is theirs.
 */
#ifndef AFPBENCH_STATS_SUMMARY_H
#define AFPBENCH_STATS_SUMMARY_H

#include "base/error.h"

#include <stddef.h>

/* Resamples of a bootstrap; the interval is the same for the same values. */
#define STATS_RESAMPLES       2000
#define STATS_BOOTSTRAP_LEAST 8

struct stats_summary {
    size_t count; /* 0: everything else is 0 */
    double mean;
    double median; /* mean of the middle two for an even count */
    double minimum, maximum;
    bool has_deviation; /* two values or more */
    double deviation;   /* of a sample: divides by n - 1 */
    double p95, p99;
    /* 95 % interval of the mean, never below 0; only with has_deviation. Of fewer than
     * STATS_BOOTSTRAP_LEAST values by Student's t, of more by bootstrap: a bootstrap of three
     * values only says their minimum and maximum. */
    double mean_low, mean_high;
    size_t outliers;         /* by stats_is_outlier() */
    double median_deviation; /* median of the distances from the median */
};

/* `floor` is the resolution of the clock in the values' unit: distances below it mean nothing. */
MUST_CHECK bool stats_summarize(const double *values, size_t count, double floor,
                                struct stats_summary *summary, struct error *error);

/* The value below which `fraction` of the sorted values lie, interpolated linearly between the
 * closest ranks (rank fraction × (n - 1), R's type 7); always inside [first, last]. count above 0.
 */
double stats_percentile(const double *sorted, size_t count, double fraction);

/* Farther from the median than 5 median deviations (at least the floor each). */
bool stats_is_outlier(double value, const struct stats_summary *summary, double floor);

/* Ascending, for qsort(). */
int stats_compare_doubles(const void *a, const void *b);

/* Half the width of the t interval of the mean at 95 %. 0 below two. */
double stats_t_half_width(const struct stats_summary *summary);

#endif
