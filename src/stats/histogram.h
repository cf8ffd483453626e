/*
 * histogram.h - how long single requests took: a log-linear histogram of nanoseconds.
 *
 * Each power of two is cut into 64 equal buckets, so a value taken from the histogram is at most
 * 1/64 (1.6 %) above the true one, never below it, at any size; below 64 ns it is exact. Fixed
 * memory, no allocation, constant time per value: it may be filled inside a timed section.
 */
#ifndef AFPBENCH_STATS_HISTOGRAM_H
#define AFPBENCH_STATS_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEP_BITS 6
#define HISTOGRAM_STEPS     (1U << HISTOGRAM_STEP_BITS)
#define HISTOGRAM_BUCKETS   (HISTOGRAM_STEPS * (64 - HISTOGRAM_STEP_BITS + 1))

struct histogram {
    uint64_t count;
    uint64_t sum;              /* of the true values; saturating */
    uint64_t minimum, maximum; /* true values; meaningless while count is 0 */
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t value);

/* Adds all of `other`. */
void histogram_merge(struct histogram *histogram, const struct histogram *other);

/* The smallest value such that at least `fraction` of all values are not above it, with the error
 * stated above, inside [minimum, maximum]; 0 if there are none. */
uint64_t histogram_percentile(const struct histogram *histogram, double fraction);

/* All 0 without a value. */
struct histogram_summary {
    uint64_t count, minimum, median, p95, p99, maximum;
    double mean;
};

void histogram_summarize(const struct histogram *histogram, struct histogram_summary *summary);

/* The lowest and highest value that a bucket stands for. */
uint64_t histogram_bucket_low(unsigned bucket);
uint64_t histogram_bucket_high(unsigned bucket);

#endif
