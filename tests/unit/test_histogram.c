/* stats/histogram: its promised error at every magnitude, merging, percentiles. */
#include "unit.h"

#include "stats/histogram.h"
#include "stats/random.h"

#include <math.h>

/* Too large for the stack of a thread, and there is but one test at a time. */
static struct histogram histogram, other, whole;

static void empty(struct histogram *which)
{
    *which = (struct histogram){0};
}

/* The only bucket with something in it. */
static unsigned bucket_of(uint64_t value)
{
    unsigned found = 0;
    unsigned bucket = HISTOGRAM_BUCKETS;
    empty(&histogram);
    histogram_add(&histogram, value);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (histogram.buckets[i] > 0) {
            bucket = i;
            found++;
        }
    }
    check(found == 1 && histogram.buckets[bucket] == 1, "%llu is in %u buckets",
          (unsigned long long)value, found);
    return bucket;
}

static void buckets_tile_all_values(void **state)
{
    assert_int_equal(histogram_bucket_low(0), 0);
    for (unsigned i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
        uint64_t low = histogram_bucket_low(i);
        uint64_t high = histogram_bucket_high(i);
        check(low <= high, "bucket %u", i);
        check(histogram_bucket_low(i + 1) == high + 1, "a gap after bucket %u", i);
        check(high - low <= low / 64, "bucket %u is too wide", i);
    }
    assert_int_equal(histogram_bucket_high(HISTOGRAM_BUCKETS - 1), UINT64_MAX);
}

/* Zero, the ends and the middle of every power of two, and some in between. */
static void values_lie_in_their_buckets(void **state)
{
    struct stats_random random = {1};
    for (unsigned power = 0; power < 64; power++) {
        uint64_t first = UINT64_C(1) << power;
        uint64_t values[20] = {first - 1, first, first + 1, first + first / 2, first + (first - 1)};
        for (size_t i = 5; i < COUNT(values); i++) {
            values[i] = first + stats_random_next(&random) % first;
        }
        for (size_t i = 0; i < COUNT(values); i++) {
            unsigned bucket = bucket_of(values[i]);
            check(histogram_bucket_low(bucket) <= values[i] &&
                      values[i] <= histogram_bucket_high(bucket),
                  "%llu", (unsigned long long)values[i]);
            /* A value of its own below 64, and as the only one whatever it is. */
            check(values[i] >= 64 || histogram_bucket_high(bucket) == histogram_bucket_low(bucket),
                  "%llu is not exact", (unsigned long long)values[i]);
            assert_int_equal(histogram_percentile(&histogram, 0.5), values[i]);
        }
    }
    assert_int_equal(bucket_of(0), 0);
    assert_int_equal(bucket_of(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

/* With a greater value beside it, the maximum does not help: the bucket's error shows. */
static void error_of_a_percentile(void **state)
{
    struct stats_random random = {2};
    for (unsigned power = 0; power < 64; power++) {
        for (int i = 0; i < 20; i++) {
            uint64_t value = stats_random_next(&random) >> (63 - power);
            empty(&histogram);
            histogram_add(&histogram, value);
            histogram_add(&histogram, UINT64_MAX);
            uint64_t told = histogram_percentile(&histogram, 0.5);
            check(told >= value && told - value <= value / 64, "%llu becomes %llu",
                  (unsigned long long)value, (unsigned long long)told);
            assert_int_equal(histogram_percentile(&histogram, 1), UINT64_MAX);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

#define MOST 1000

/* Service times: spread over three powers of ten, or all the same, or a few nanoseconds. */
static size_t draw(struct stats_random *random, uint64_t *values)
{
    size_t count = 1 + stats_random_below(random, MOST);
    uint32_t kind = stats_random_below(random, 4);
    for (size_t i = 0; i < count; i++) {
        double spread = pow(10, 3 + 3 * (double)stats_random_below(random, 1000000) / 1e6);
        values[i] = kind == 0   ? (uint64_t)spread
                    : kind == 1 ? 123456789
                    : kind == 2 ? stats_random_below(random, 70)
                                : stats_random_next(random) >> stats_random_below(random, 64);
    }
    return count;
}

static void percentiles_are_never_below_the_true_ones(void **state)
{
    static const double fractions[] = {0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1};
    struct stats_random random = {3};
    for (int set = 0; set < 200; set++) {
        uint64_t values[MOST];
        size_t count = draw(&random, values);
        empty(&histogram);
        for (size_t i = 0; i < count; i++) {
            histogram_add(&histogram, values[i]);
        }
        qsort(values, count, sizeof values[0], by_value);
        assert_int_equal(histogram.count, count);
        assert_int_equal(histogram.minimum, values[0]);
        assert_int_equal(histogram.maximum, values[count - 1]);
        for (size_t i = 0; i < COUNT(fractions); i++) {
            size_t rank = (size_t)ceil(fractions[i] * (double)count);
            uint64_t right = values[rank > 0 ? rank - 1 : 0];
            uint64_t told = histogram_percentile(&histogram, fractions[i]);
            check(told >= right && told - right <= right / 64, "set %d at %.3f: %llu, not %llu",
                  set, fractions[i], (unsigned long long)told, (unsigned long long)right);
            assert_true(told <= values[count - 1]);
        }
    }
}

/* By hand: 1 … 20, all exact; 95 of 100 are the 19th of 20. */
static void percentiles_by_hand(void **state)
{
    empty(&histogram);
    assert_int_equal(histogram_percentile(&histogram, 0.5), 0);
    for (uint64_t value = 20; value > 0; value--) {
        histogram_add(&histogram, value);
    }
    assert_int_equal(histogram_percentile(&histogram, 0), 1);
    assert_int_equal(histogram_percentile(&histogram, 0.05), 1);
    assert_int_equal(histogram_percentile(&histogram, 0.5), 10);
    assert_int_equal(histogram_percentile(&histogram, 0.51), 11);
    assert_int_equal(histogram_percentile(&histogram, 0.95), 19);
    assert_int_equal(histogram_percentile(&histogram, 0.99), 20);
    assert_int_equal(histogram_percentile(&histogram, 1), 20);
    assert_int_equal(histogram.sum, 210);
}

static void merging_is_adding(void **state)
{
    struct stats_random random = {4};
    for (int set = 0; set < 50; set++) {
        struct histogram *parts[] = {&histogram, &other};
        empty(&whole);
        for (size_t part = 0; part < 2; part++) {
            uint64_t values[MOST];
            size_t count = draw(&random, values);
            empty(parts[part]);
            /* The first or the second of some pairs is empty. */
            for (size_t i = 0; set % 5 != (int)part && i < count; i++) {
                histogram_add(parts[part], values[i]);
                histogram_add(&whole, values[i]);
            }
        }
        histogram_merge(&histogram, &other);
        assert_int_equal(histogram.count, whole.count);
        assert_int_equal(histogram.sum, whole.sum);
        assert_int_equal(histogram.minimum, whole.minimum);
        assert_int_equal(histogram.maximum, whole.maximum);
        assert_memory_equal(histogram.buckets, whole.buckets, sizeof whole.buckets);
    }
    empty(&histogram);
    empty(&other);
    histogram_merge(&histogram, &other);
    assert_int_equal(histogram.count, 0);
}

static void the_sum_does_not_wrap(void **state)
{
    empty(&histogram);
    histogram_add(&histogram, UINT64_MAX - 1);
    assert_int_equal(histogram.sum, UINT64_MAX - 1);
    histogram_add(&histogram, 1);
    assert_int_equal(histogram.sum, UINT64_MAX);
    histogram_add(&histogram, 1);
    assert_int_equal(histogram.sum, UINT64_MAX);
    other = histogram;
    histogram_merge(&histogram, &other);
    assert_int_equal(histogram.sum, UINT64_MAX);
    assert_int_equal(histogram.count, 6);
}

static void summaries(void **state)
{
    struct histogram_summary summary;
    empty(&histogram);
    histogram_summarize(&histogram, &summary);
    assert_true(summary.count == 0 && summary.minimum == 0 && summary.maximum == 0);
    assert_true(summary.median == 0 && summary.p95 == 0 && summary.p99 == 0 && summary.mean == 0);
    for (uint64_t i = 1; i <= 50; i++) { /* below 64 all are exact */
        histogram_add(&histogram, i);
    }
    histogram_summarize(&histogram, &summary);
    assert_true(summary.count == 50 && summary.minimum == 1 && summary.maximum == 50);
    assert_true(summary.median == 25 && summary.p95 == 48 && summary.p99 == 50);
    assert_true(summary.mean == 25.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_tile_all_values),
        cmocka_unit_test(values_lie_in_their_buckets),
        cmocka_unit_test(error_of_a_percentile),
        cmocka_unit_test(percentiles_are_never_below_the_true_ones),
        cmocka_unit_test(percentiles_by_hand),
        cmocka_unit_test(merging_is_adding),
        cmocka_unit_test(the_sum_does_not_wrap),
        cmocka_unit_test(summaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
