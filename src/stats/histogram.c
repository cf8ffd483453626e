#include "stats/histogram.h"

#include <math.h>

static unsigned bucket_of(uint64_t value)
{
    if (value < HISTOGRAM_STEPS) {
        return (unsigned)value;
    }
    unsigned top = 63U - (unsigned)__builtin_clzll(value);
    unsigned shift = top - HISTOGRAM_STEP_BITS;
    unsigned step = (unsigned)(value >> shift) - HISTOGRAM_STEPS;
    return (shift + 1) * HISTOGRAM_STEPS + step;
}

uint64_t histogram_bucket_low(unsigned bucket)
{
    if (bucket < HISTOGRAM_STEPS) {
        return bucket;
    }
    unsigned shift = bucket / HISTOGRAM_STEPS - 1;
    return (uint64_t)(HISTOGRAM_STEPS + bucket % HISTOGRAM_STEPS) << shift;
}

uint64_t histogram_bucket_high(unsigned bucket)
{
    return bucket + 1 < HISTOGRAM_BUCKETS ? histogram_bucket_low(bucket + 1) - 1 : UINT64_MAX;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    if (histogram->count == 0 || value < histogram->minimum) {
        histogram->minimum = value;
    }
    if (histogram->count == 0 || value > histogram->maximum) {
        histogram->maximum = value;
    }
    histogram->count++;
    histogram->sum = value > UINT64_MAX - histogram->sum ? UINT64_MAX : histogram->sum + value;
    histogram->buckets[bucket_of(value)]++;
}

void histogram_merge(struct histogram *histogram, const struct histogram *other)
{
    if (other->count == 0) {
        return;
    }
    if (histogram->count == 0 || other->minimum < histogram->minimum) {
        histogram->minimum = other->minimum;
    }
    if (histogram->count == 0 || other->maximum > histogram->maximum) {
        histogram->maximum = other->maximum;
    }
    histogram->count += other->count;
    histogram->sum =
        other->sum > UINT64_MAX - histogram->sum ? UINT64_MAX : histogram->sum + other->sum;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        histogram->buckets[i] += other->buckets[i];
    }
}

uint64_t histogram_percentile(const struct histogram *histogram, double fraction)
{
    if (histogram->count == 0) {
        return 0;
    }
    double wanted = ceil(fraction * (double)histogram->count);
    uint64_t rank = wanted < 1 ? 1 : (uint64_t)wanted;
    uint64_t seen = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= rank) {
            uint64_t value = histogram_bucket_high(i);
            value = value > histogram->maximum ? histogram->maximum : value;
            return value < histogram->minimum ? histogram->minimum : value;
        }
    }
    return histogram->maximum;
}

void histogram_summarize(const struct histogram *histogram, struct histogram_summary *summary)
{
    *summary = (struct histogram_summary){.count = histogram->count};
    if (histogram->count > 0) {
        summary->mean = (double)histogram->sum / (double)histogram->count;
        summary->minimum = histogram->minimum;
        summary->median = histogram_percentile(histogram, 0.5);
        summary->p95 = histogram_percentile(histogram, 0.95);
        summary->p99 = histogram_percentile(histogram, 0.99);
        summary->maximum = histogram->maximum;
    }
}
