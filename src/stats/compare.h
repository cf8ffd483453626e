/*
 * compare.h - is one set of runs faster than another? (doc/method.md, "Comparing")
 *
 * The unit is a run. Paired: both configurations were measured in random order inside each pair, so
 * drift cancels; the median of the log-ratios says how much, Wilcoxon's signed-rank test whether.
 * Unpaired: the ratio of medians and the Mann-Whitney test; for stored sets, which drift.
 * Holm's correction runs over all cases of an invocation, so that an A/A comparison says "no
 * difference shown" for all of them 95 times in 100. All functions are pure and seeded.
 */
#ifndef AFPBENCH_STATS_COMPARE_H
#define AFPBENCH_STATS_COMPARE_H

#include "base/error.h"

#include <stddef.h>

#define COMPARE_LEVEL 0.05 /* false alarms per invocation */

enum compare_verdict { COMPARE_NO_DIFFERENCE, COMPARE_FASTER, COMPARE_SLOWER };

struct comparison {
    size_t count_before, count_after;
    double ratio;                 /* time after ÷ time before; above 1 is slower */
    double ratio_low, ratio_high; /* 95 % bootstrap interval */
    double smallest_effect; /* ratio above 1 that these runs show 9 times in 10, before Holm */
    double p;               /* of the test, two-sided */
    double p_adjusted;      /* set by compare_decide() */
    enum compare_verdict verdict; /* set by compare_decide() */
};

/* `before[i]` and `after[i]` are the times of pair i, all above 0. */
MUST_CHECK bool compare_paired(const double *before, const double *after, size_t pairs,
                               uint64_t seed, struct comparison *comparison, struct error *error);

MUST_CHECK bool compare_unpaired(const double *before, size_t before_count, const double *after,
                                 size_t after_count, uint64_t seed, struct comparison *comparison,
                                 struct error *error);

/* Holm's correction over all cases of an invocation, then the verdicts: a difference needs an
 * adjusted p below COMPARE_LEVEL, an interval that excludes 1, and a ratio beyond `noise_floor`
 * (0.01 is 1 %). */
MUST_CHECK bool compare_decide(struct comparison *comparisons, size_t count, double noise_floor,
                               struct error *error);

/* "faster", "slower", "no difference shown". */
const char *compare_verdict_text(enum compare_verdict verdict);

/* The two tests, exact up to 50 and 20 values, with the usual approximation and ties beyond. */
double compare_signed_rank_p(const double *differences, size_t count, struct error *error);
double compare_mann_whitney_p(const double *a, size_t a_count, const double *b, size_t b_count,
                              struct error *error);

#endif
