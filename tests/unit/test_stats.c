/* stats/summary and stats/random: every figure worked out by hand (doc/method.md, "Statistics"). */
#include "unit.h"

#include "stats/random.h"
#include "stats/summary.h"

#include <math.h>

#define MOST 64

static struct stats_summary summarize(const double *values, size_t count, double floor)
{
    struct stats_summary summary;
    struct error error;
    check(stats_summarize(values, count, floor, &summary, &error), "%s", error.message);
    return summary;
}

static bool close_to(double value, double wanted)
{
    return fabs(value - wanted) <= 1e-9 * fmax(1, fabs(wanted));
}

#define CLOSE(value, wanted)                                                                       \
    check(close_to(value, wanted), "row %zu: " #value " is %.17g, not %.17g", row, value, wanted)

/* 1, 2, 3, … */
static void count_up(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (double)i + 1;
    }
}

static const struct {
    size_t count; /* values that are not given count from 1 */
    double values[8];
    double floor;
    double mean, median, minimum, maximum, deviation, p95, p99;
    double low, high; /* of the mean; 0: not known by hand */
    double median_deviation;
    size_t outliers;
    double t_half_width;
} rows[] = {
    {1, {5}, 0, 5, 5, 5, 5, 0, 5, 5, 0, 0, 0, 0, 0},
    {1, {0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    /* 12.706 × √50 / √2 */
    {2, {20, 10}, 0, 15, 15, 10, 20, 7.0710678118654755, 19.5, 19.9, 0, 78.53, 5, 0, 63.53},
    {3, {0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {3,
     {0, 4, 0},
     1,
     4 / 3.0,
     0,
     0,
     4,
     2.309401076758503,
     3.6,
     3.92,
     0,
     4 / 3.0 * 5.303,
     0,
     0,
     4.303 * 4 / 3},
    /* squares of the distances from 22: 441 + 400 + 361 + 324 + 6084 = 7610 */
    {5,
     {3, 100, 1, 4, 2},
     0.5,
     22,
     3,
     1,
     100,
     43.61765697512878,
     80.8,
     96.16,
     0,
     22 + 2.776 * 19.506409203131162,
     1,
     1,
     2.776 * 19.506409203131162},
    {5,
     {3, 100, 1, 4, 2},
     19.4,
     22,
     3,
     1,
     100,
     43.61765697512878,
     80.8,
     96.16,
     0,
     22 + 2.776 * 19.506409203131162,
     1,
     0,
     2.776 * 19.506409203131162},
    /* n (n² - 1) / 12 / (n - 1) is the variance of 1 … n: 35 and 38.5 */
    {20,
     {0},
     0,
     10.5,
     10.5,
     1,
     20,
     5.916079783099616,
     19.05,
     19.81,
     0,
     0,
     5,
     0,
     2.093 * 1.3228756555322954},
    {21,
     {0},
     0,
     11,
     11,
     1,
     21,
     6.2048368229954285,
     20,
     20.8,
     0,
     0,
     5,
     0,
     2.086 * 1.3540064007726602},
    {7, {9, 9, 9, 9, 9, 9, 9}, 0, 9, 9, 9, 9, 0, 9, 9, 9, 9, 0, 0, 0},
};

static void by_hand(void **state)
{
    for (size_t row = 0; row < COUNT(rows); row++) {
        double values[MOST];
        count_up(values, rows[row].count);
        if (rows[row].count < 20) {
            memcpy(values, rows[row].values, rows[row].count * sizeof values[0]);
        }
        struct stats_summary summary = summarize(values, rows[row].count, rows[row].floor);
        assert_int_equal(summary.count, rows[row].count);
        assert_int_equal(summary.has_deviation, rows[row].count > 1);
        CLOSE(summary.mean, rows[row].mean);
        CLOSE(summary.median, rows[row].median);
        CLOSE(summary.minimum, rows[row].minimum);
        CLOSE(summary.maximum, rows[row].maximum);
        CLOSE(summary.deviation, rows[row].deviation);
        CLOSE(summary.p95, rows[row].p95);
        CLOSE(summary.p99, rows[row].p99);
        CLOSE(summary.median_deviation, rows[row].median_deviation);
        check(summary.outliers == rows[row].outliers, "row %zu: %zu outliers", row,
              summary.outliers);
        CLOSE(stats_t_half_width(&summary), rows[row].t_half_width);
        if (rows[row].count < STATS_BOOTSTRAP_LEAST) {
            CLOSE(summary.mean_low, rows[row].low);
            CLOSE(summary.mean_high, rows[row].high);
        }
    }
}

static void nothing_to_say_of_nothing(void **state)
{
    struct stats_summary summary = summarize(NULL, 0, 1);
    struct stats_summary nothing = {0};
    assert_int_equal(summary.count, 0);
    assert_false(summary.has_deviation);
    assert_true(summary.mean == nothing.mean && summary.maximum == nothing.maximum &&
                summary.mean_high == nothing.mean_high && summary.p99 == nothing.p99);
    assert_int_equal(summary.outliers, 0);
}

/* ---- Seeded data ---- */

static double uniform(struct stats_random *random)
{
    return ((double)(stats_random_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct stats_random *random)
{
    double radius = sqrt(-2 * log(uniform(random)));
    return radius * cos(2 * acos(-1.0) * uniform(random));
}

/* One of several kinds of data, some with fractions that no double holds. */
static size_t draw(struct stats_random *random, double *values)
{
    size_t count = 1 + stats_random_below(random, MOST);
    uint32_t kind = stats_random_below(random, 5);
    for (size_t i = 0; i < count; i++) {
        values[i] = kind == 0   ? 0.1
                    : kind == 1 ? uniform(random)
                    : kind == 2 ? exp(5 * normal(random))
                    : kind == 3 ? (double)stats_random_below(random, 3)
                                : floor(1e15 + 1e6 * normal(random));
    }
    return count;
}

static bool same(const struct stats_summary *a, const struct stats_summary *b)
{
    return a->count == b->count && a->mean == b->mean && a->median == b->median &&
           a->minimum == b->minimum && a->maximum == b->maximum && a->deviation == b->deviation &&
           a->p95 == b->p95 && a->p99 == b->p99 && a->mean_low == b->mean_low &&
           a->mean_high == b->mean_high && a->outliers == b->outliers &&
           a->median_deviation == b->median_deviation;
}

/* Not even in the last digit; and the input stays as it was. */
static void order_does_not_matter(void **state)
{
    struct stats_random random = {7};
    for (int set = 0; set < 100; set++) {
        double values[MOST];
        double shuffled[MOST];
        size_t count = draw(&random, values);
        struct stats_summary before = summarize(values, count, 0);
        memcpy(shuffled, values, sizeof shuffled);
        for (size_t i = count; i > 1; i--) {
            size_t other = stats_random_below(&random, (uint32_t)i);
            double value = shuffled[i - 1];
            shuffled[i - 1] = shuffled[other];
            shuffled[other] = value;
        }
        double copy[MOST];
        memcpy(copy, shuffled, sizeof copy);
        struct stats_summary after = summarize(shuffled, count, 0);
        check(same(&before, &after), "set %d", set);
        assert_memory_equal(copy, shuffled, count * sizeof copy[0]);
    }
}

static void everything_lies_inside(void **state)
{
    struct stats_random random = {8};
    for (int set = 0; set < 400; set++) {
        double values[MOST];
        size_t count = draw(&random, values);
        struct stats_summary s = summarize(values, count, 0);
        const double inside[] = {s.mean, s.median, s.p95, s.p99, s.mean_low, s.mean_high};
        /* Student's t reaches beyond the values */
        size_t figures = count < STATS_BOOTSTRAP_LEAST ? COUNT(inside) - 2 : COUNT(inside);
        for (size_t i = 0; i < figures; i++) {
            check(inside[i] >= s.minimum && inside[i] <= s.maximum, "set %d, figure %zu: %.17g",
                  set, i, inside[i]);
        }
        check(count == 1 || (0 <= s.mean_low && s.mean_low <= s.mean && s.mean <= s.mean_high),
              "set %d: %.17g to %.17g without %.17g", set, s.mean_low, s.mean_high, s.mean);
        assert_true(s.median <= s.p95 && s.p95 <= s.p99);
        qsort(values, count, sizeof values[0], stats_compare_doubles);
        double last = values[0];
        for (int percent = 0; percent <= 1000; percent++) {
            double value = stats_percentile(values, count, percent / 1000.0);
            check(value >= last && value <= values[count - 1], "set %d at %d", set, percent);
            last = value;
        }
        assert_true(stats_percentile(values, count, 1) == values[count - 1]);
    }
}

/* ---- The bootstrap ---- */

static void the_interval_is_seeded(void **state)
{
    struct stats_random random = {9};
    double values[30];
    for (size_t i = 0; i < 30; i++) {
        values[i] = 1000 + 100 * normal(&random);
    }
    struct stats_summary first = summarize(values, 30, 1);
    struct stats_summary again = summarize(values, 30, 1);
    assert_true(same(&first, &again));
}

/* For normal data both intervals mean the same: z √(29/30) ÷ t is 0.94. */
static void the_interval_agrees_with_t(void **state)
{
    struct stats_random random = {10};
    unsigned covered = 0;
    for (int set = 0; set < 200; set++) {
        double values[30];
        for (size_t i = 0; i < 30; i++) {
            values[i] = 1000 + 100 * normal(&random);
        }
        struct stats_summary s = summarize(values, 30, 1);
        double ratio = (s.mean_high - s.mean_low) / 2 / stats_t_half_width(&s);
        check(ratio > 0.8 && ratio < 1.1, "set %d: %.3f", set, ratio);
        check(fabs((s.mean_high + s.mean_low) / 2 - s.mean) < 0.3 * stats_t_half_width(&s),
              "set %d: the mean is off the middle", set);
        covered += s.mean_low <= 1000 && s.mean_high >= 1000;
    }
    assert_in_range(covered, 180, 198); /* of 200 at 95 % */
}

/* ---- Outliers ---- */

static void outliers_by_median_deviation(void **state)
{
    static const struct {
        double values[8];
        size_t count;
        double floor;
        size_t outliers;
    } sets[] = {
        {{100, 101, 99, 100, 102, 98, 100, 100}, 8, 0, 0},
        {{100, 101, 99, 100, 102, 98, 100, 106}, 8, 0, 1}, /* 1 is the deviation: beyond 5 */
        {{100, 101, 99, 100, 102, 98, 101, 105}, 8, 0, 0},
        {{100, 101, 99, 100, 102, 98, 500, 1}, 8, 0, 2},     /* both sides */
        {{100, 100, 100, 100, 100, 100, 100, 101}, 8, 0, 1}, /* nothing else differs at all */
        {{100, 100, 100, 100, 100, 100, 100, 101}, 8, 1, 0}, /* but the clock cannot tell */
        {{100, 100, 100, 100, 100, 100, 100, 105}, 8, 1, 0},
        {{100, 100, 100, 100, 100, 100, 100, 106}, 8, 1, 1},
        {{1, 1000000}, 2, 0, 0}, /* of two none is the odd one */
        {{1, 1, 1000000}, 3, 0, 1},
        {{42}, 1, 0, 0},
    };
    for (size_t i = 0; i < COUNT(sets); i++) {
        struct stats_summary summary = summarize(sets[i].values, sets[i].count, sets[i].floor);
        check(summary.outliers == sets[i].outliers, "set %zu: %zu", i, summary.outliers);
        size_t found = 0;
        for (size_t k = 0; k < sets[i].count; k++) {
            found += stats_is_outlier(sets[i].values[k], &summary, sets[i].floor);
        }
        assert_int_equal(found, sets[i].outliers);
    }
}

/* ---- Random numbers ---- */

/* The published first values of SplitMix64 for the seed 1234567. */
static void the_generator_is_splitmix64(void **state)
{
    static const uint64_t values[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                      UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                      UINT64_C(16408922859458223821)};
    struct stats_random random = {1234567};
    for (size_t i = 0; i < COUNT(values); i++) {
        assert_int_equal(stats_random_next(&random), values[i]);
    }
}

static void random_below_a_limit(void **state)
{
    static const uint32_t limits[] = {1, 2, 3, 7, 10, 30, 3000000000, UINT32_MAX};
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct stats_random random = {i};
        double sum = 0;
        for (int k = 0; k < 10000; k++) {
            uint32_t value = stats_random_below(&random, limits[i]);
            assert_true(value < limits[i]);
            sum += value;
        }
        /* The mean is known to six of its own deviations, limit / √12 / 100 each. */
        double middle = ((double)limits[i] - 1) / 2;
        assert_true(fabs(sum / 10000 - middle) <= 6.0 * limits[i] / sqrt(12) / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(nothing_to_say_of_nothing),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(everything_lies_inside),
        cmocka_unit_test(the_interval_is_seeded),
        cmocka_unit_test(the_interval_agrees_with_t),
        cmocka_unit_test(outliers_by_median_deviation),
        cmocka_unit_test(the_generator_is_splitmix64),
        cmocka_unit_test(random_below_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
