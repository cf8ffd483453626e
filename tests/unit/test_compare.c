/* stats/compare: exact p values counted by hand, Holm's correction, the verdict's rules, and that
 * neither the order nor the unit of the times matters. */
#include "unit.h"

#include "stats/compare.h"
#include "stats/random.h"

#include <math.h>

#define MOST 100

static double signed_rank(const double *differences, size_t count)
{
    struct error error;
    return compare_signed_rank_p(differences, count, &error);
}

static double mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count)
{
    struct error error;
    return compare_mann_whitney_p(a, a_count, b, b_count, &error);
}

static void check_p(double p, double wanted, double tolerance, const char *what, size_t row)
{
    check(fabs(p - wanted) <= tolerance, "%s, row %zu: p is %.17g, not %.17g", what, row, p,
          wanted);
}

/* ---- Wilcoxon's signed-rank test ---- */

/* Of the 2^n ways to give signs, those whose sum of positive ranks is at least as far out. */
static void signed_ranks_by_hand(void **state)
{
    static const struct {
        double differences[8];
        size_t count;
        double p;
    } rows[] = {
        {{0}, 0, 1},
        {{3}, 1, 1},                          /* 2 of 2 */
        {{1, 2, 3, 4, 5}, 5, 2 / 32.0},       /* all positive: no p below this with 5 pairs */
        {{-1, -2, -3, -4, -5}, 5, 2 / 32.0},  /* two-sided */
        {{5, 4, 3, 2, 1, 6}, 6, 2 / 64.0},    /* 6 pairs reach 0.05 */
        {{1, 2, 3, -4}, 4, 14 / 16.0},        /* sums 0 1 2 3 3 4 . 6 7 7 8 9 10, not 5 5 */
        {{-1, 2, 3, 4}, 4, 4 / 16.0},         /* 0 1 9 10 */
        {{1, -2, 3, 4}, 4, 6 / 16.0},         /* 0 1 2 8 9 10 */
        {{0, 1, 2, 0, 3, 4, 5}, 7, 2 / 32.0}, /* no difference says nothing */
        {{0, 0, 0}, 3, 1},
        {{1, 1, 1}, 3, 2 / 8.0},       /* ranks 2 2 2 */
        {{1, 1, -1}, 3, 1},            /* sums 0 2 2 2 4 4 4 6 */
        {{1, 1, 2, -3}, 4, 12 / 16.0}, /* ranks 1.5 1.5 3 4, sum 6: not 4.5 ×2, 5.5 ×2 */
        {{2, 2, -2, -2}, 4, 1},
        {{1e-9, 2e9, 3e-3, 1e300, 5e-300}, 5, 2 / 32.0}, /* only ranks count */
    };
    for (size_t row = 0; row < COUNT(rows); row++) {
        check_p(signed_rank(rows[row].differences, rows[row].count), rows[row].p, 1e-12,
                "signed ranks", row);
    }
}

/* i + 1 (or groups of four equal ones), every third or fourth negative. */
static size_t pattern(double *values, size_t count, size_t negative, size_t group)
{
    for (size_t i = 0; i < count; i++) {
        double value = (double)(i / group) + 1;
        values[i] = i % negative == 0 ? -value : value;
    }
    return count;
}

/* Counted with whole numbers of any length by another program. Up to 50 pairs exact, then the
 * normal approximation, which has to be near. */
static void signed_ranks_of_many(void **state)
{
    static const struct {
        size_t count, negative, group;
        double p, tolerance;
    } rows[] = {
        {20, 3, 1, 0.20244979858398438, 1e-12},  {20, 4, 1, 0.023950576782226562, 1e-12},
        {50, 3, 1, 0.03996834652842374, 1e-12},  {50, 4, 1, 0.0021224348550905603, 1e-12},
        {50, 3, 4, 0.04003113609404174, 1e-12},  {51, 3, 1, 0.02511497799280704, 0.001},
        {51, 4, 1, 0.0012102192479090945, 5e-4}, {60, 3, 4, 0.016024440029242873, 0.001},
        {100, 3, 1, 0.005160103349552816, 5e-4},
    };
    for (size_t row = 0; row < COUNT(rows); row++) {
        double values[MOST];
        size_t count = pattern(values, rows[row].count, rows[row].negative, rows[row].group);
        check_p(signed_rank(values, count), rows[row].p, rows[row].tolerance, "many pairs", row);
    }
    double ones[MOST];
    for (size_t i = 0; i < MOST; i++) {
        ones[i] = 1;
    }
    /* All ranks the same, beyond the exact range too: no sign differs, ten deviations out. */
    assert_true(signed_rank(ones, MOST) < 1e-15);
    memset(ones, 0, sizeof ones);
    assert_true(signed_rank(ones, MOST) == 1);
}

/* ---- The Mann-Whitney test ---- */

static void mann_whitney_by_hand(void **state)
{
    static const struct {
        double a[5];
        size_t a_count;
        double b[5];
        size_t b_count;
        double p;
    } rows[] = {
        {{1, 2, 3}, 3, {4, 5, 6}, 3, 2 / 20.0}, /* 2 of C(6, 3) */
        {{6, 4, 5}, 3, {3, 1, 2}, 3, 2 / 20.0},
        {{1, 2, 4}, 3, {3, 5, 6}, 3, 4 / 20.0},  /* rank sums 6 7 14 15 */
        {{1, 3, 5}, 3, {2, 4, 6}, 3, 14 / 20.0}, /* 9, the middle is 10.5: not 10 ×3, 11 ×3 */
        {{1, 2, 3, 4, 5}, 5, {6, 7, 8, 9, 10}, 5, 2 / 252.0},
        {{1, 2}, 2, {3, 4, 5}, 3, 2 / 10.0},
        {{1}, 1, {2}, 1, 1},
        {{1}, 1, {2, 3, 4}, 3, 2 / 4.0},
        {{1, 1, 2}, 3, {2, 3, 3}, 3, 4 / 20.0}, /* ranks 1.5 1.5 3.5 | 3.5 5.5 5.5 */
        {{7, 7, 7}, 3, {7, 7, 7}, 3, 1},
        {{1, 2, 2}, 3, {2, 2, 1}, 3, 1},
        {{0}, 0, {1, 2}, 2, 1},
        {{1, 2}, 2, {0}, 0, 1},
    };
    for (size_t row = 0; row < COUNT(rows); row++) {
        check_p(mann_whitney(rows[row].a, rows[row].a_count, rows[row].b, rows[row].b_count),
                rows[row].p, 1e-12, "Mann-Whitney", row);
        check_p(mann_whitney(rows[row].b, rows[row].b_count, rows[row].a, rows[row].a_count),
                rows[row].p, 1e-12, "the other way round", row);
    }
}

/* 0, 1, 2 … against the same, later by a shift; groups of three equal ones. */
static void mann_whitney_of_many(void **state)
{
    static const struct {
        size_t count, group;
        double shift, p, tolerance;
    } rows[] = {
        {20, 1, 3.5, 0.08591401998569383, 1e-9},  {20, 1, 6.5, 0.002642630591559353, 1e-9},
        {21, 1, 3.5, 0.09209736115718609, 4e-3},  {21, 1, 6.5, 0.003112420743947231, 1e-3},
        {30, 1, 3.5, 0.14623105238959494, 4e-3},  {30, 1, 6.5, 0.009603686592127122, 1e-3},
        {30, 3, 2.0, 0.015937693581759053, 1e-3},
    };
    for (size_t row = 0; row < COUNT(rows); row++) {
        double a[MOST];
        double b[MOST];
        for (size_t i = 0; i < rows[row].count; i++) {
            a[i] = (double)(i / rows[row].group);
            b[i] = a[i] + rows[row].shift;
        }
        check_p(mann_whitney(a, rows[row].count, b, rows[row].count), rows[row].p,
                rows[row].tolerance, "many values", row);
    }
    static const double one[] = {1, 2, 2, 3, 5};
    static const double two[] = {2, 3, 3, 4, 6, 7};
    check_p(mann_whitney(one, 5, two, 6), 0.170995670995671, 1e-12, "ties", 0);
    double equal[MOST] = {0};
    assert_true(mann_whitney(equal, MOST, equal, MOST) == 1);
}

/* ---- Comparisons ---- */

static const double before[] = {100, 104, 98, 101, 99, 103, 97, 102, 100, 105};
static const double after[] = {110, 112, 109, 113, 108, 115, 104, 111, 107, 118};
#define RUNS 10

static struct comparison paired(const double *a, const double *b, size_t count, uint64_t seed)
{
    struct comparison comparison;
    struct error error;
    check(compare_paired(a, b, count, seed, &comparison, &error), "%s", error.message);
    return comparison;
}

static struct comparison unpaired(const double *a, size_t a_count, const double *b, size_t b_count,
                                  uint64_t seed)
{
    struct comparison comparison;
    struct error error;
    check(compare_unpaired(a, a_count, b, b_count, seed, &comparison, &error), "%s", error.message);
    return comparison;
}

static void check_same(const struct comparison *a, const struct comparison *b, double tolerance)
{
    assert_true(fabs(a->ratio - b->ratio) <= tolerance);
    assert_true(fabs(a->ratio_low - b->ratio_low) <= tolerance);
    assert_true(fabs(a->ratio_high - b->ratio_high) <= tolerance);
    assert_true(fabs(a->smallest_effect - b->smallest_effect) <= tolerance);
    assert_true(a->p == b->p);
}

/* The median of the ratios, and the ratio of the medians. */
static void ratios_by_hand(void **state)
{
    static const double a[] = {100, 200, 400};
    static const double b[] = {110, 100, 480};
    struct comparison comparison = paired(a, b, 3, 1);
    assert_int_equal(comparison.count_before, 3);
    assert_int_equal(comparison.count_after, 3);
    assert_true(fabs(comparison.ratio - 1.1) < 1e-12);
    comparison = unpaired(a, 3, b, 3, 1);
    assert_true(fabs(comparison.ratio - 0.55) < 1e-12);
    /* of an even count the logarithms have the mean */
    comparison = paired(a, b, 2, 1);
    assert_true(fabs(comparison.ratio - sqrt(1.1 * 0.5)) < 1e-12);
    comparison = unpaired(a, 2, b, 3, 1);
    assert_int_equal(comparison.count_before, 2);
    assert_int_equal(comparison.count_after, 3);
    assert_true(fabs(comparison.ratio - 110 / sqrt(100 * 200)) < 1e-12);
    /* one run says nothing of its spread */
    comparison = paired(a, b, 1, 1);
    assert_true(comparison.ratio_low == comparison.ratio_high);
    assert_true(comparison.p == 1);
}

/* Two pairs with log-ratios ±0.1: the mean's deviation is 0.1, and (1.960 + 1.282) × 1.2533 of it
 * can be shown. */
static void smallest_effect_by_hand(void **state)
{
    static const double a[] = {1, 1};
    const double b[] = {exp(0.1), exp(-0.1)};
    struct comparison comparison = paired(a, b, 2, 1);
    assert_true(fabs(comparison.smallest_effect - exp(3.241515545 * 1.2533 * 0.1)) < 1e-6);
    comparison = paired(a, a, 2, 1);
    assert_true(comparison.smallest_effect == 1);
}

static void seeds_and_intervals(void **state)
{
    struct comparison one = paired(before, after, RUNS, 1);
    struct comparison again = paired(before, after, RUNS, 1);
    check_same(&one, &again, 0);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct comparison c = paired(before, after, RUNS, seed);
        assert_true(1.07 < c.ratio_low && c.ratio_low <= c.ratio);
        assert_true(c.ratio <= c.ratio_high && c.ratio_high < 1.13);
        c = unpaired(before, RUNS, after, RUNS, seed);
        assert_true(1.02 < c.ratio_low && c.ratio_low <= c.ratio);
        assert_true(c.ratio <= c.ratio_high && c.ratio_high < 1.18);
    }
    one = unpaired(before, RUNS, after, RUNS, 1);
    again = unpaired(before, RUNS, after, RUNS, 1);
    check_same(&one, &again, 0);
}

static void neither_order_nor_unit_matters(void **state)
{
    struct stats_random random = {5};
    struct comparison pairs = paired(before, after, RUNS, 1);
    struct comparison sets = unpaired(before, RUNS, after, RUNS, 1);
    for (int round = 0; round < 20; round++) {
        double a[RUNS];
        double b[RUNS];
        memcpy(a, before, sizeof a);
        memcpy(b, after, sizeof b);
        for (uint32_t i = RUNS; i > 1; i--) {
            uint32_t other = stats_random_below(&random, i);
            double x = a[i - 1];
            double y = b[i - 1];
            a[i - 1] = a[other];
            b[i - 1] = b[other];
            a[other] = x;
            b[other] = y;
        }
        struct comparison shuffled = paired(a, b, RUNS, 1);
        check_same(&pairs, &shuffled, 0);
        shuffled = unpaired(a, RUNS, after, RUNS, 1);
        check_same(&sets, &shuffled, 0);
        for (uint32_t i = 0; i < RUNS; i++) {
            a[i] *= 1024; /* exact, whatever the number */
            b[i] *= 1024;
        }
        shuffled = paired(a, b, RUNS, 1);
        check_same(&pairs, &shuffled, 0);
        shuffled = unpaired(a, RUNS, b, RUNS, 1);
        check_same(&sets, &shuffled, 1e-9);
    }
}

/* The other way round the ratio is turned over, and no more or less sure. */
static void swapping_turns_the_ratio_over(void **state)
{
    struct comparison there = paired(before, after, RUNS, 1);
    struct comparison back = paired(after, before, RUNS, 1);
    assert_true(fabs(there.ratio * back.ratio - 1) < 1e-12);
    assert_true(there.p == back.p);
    assert_true(fabs(there.smallest_effect - back.smallest_effect) < 1e-12);
    there = unpaired(before, RUNS, after, RUNS, 1);
    back = unpaired(after, RUNS, before, RUNS, 1);
    assert_true(fabs(there.ratio * back.ratio - 1) < 1e-12);
    assert_true(there.p == back.p);
}

static void durations_of_zero_are_refused(void **state)
{
    static const double fine[] = {1, 2, 3};
    static const double broken[][3] = {{0, 2, 3}, {1, 2, 0}, {1, -2, 3}, {1, 2, NAN}};
    struct comparison comparison;
    struct error error;
    for (size_t i = 0; i < COUNT(broken); i++) {
        assert_false(compare_paired(broken[i], fine, 3, 1, &comparison, &error));
        check_error(&error, ERROR_LIMIT, "a run of duration 0 has no ratio");
        assert_false(compare_paired(fine, broken[i], 3, 1, &comparison, &error));
        check_error(&error, ERROR_LIMIT, "measure larger files");
        assert_false(compare_unpaired(broken[i], 3, fine, 3, 1, &comparison, &error));
        check_error(&error, ERROR_LIMIT, "a run of duration 0 has no ratio");
        assert_false(compare_unpaired(fine, 3, broken[i], 3, 1, &comparison, &error));
        check_error(&error, ERROR_LIMIT, "a run of duration 0 has no ratio");
    }
    assert_false(compare_paired(fine, fine, 0, 1, &comparison, &error));
    check_error(&error, ERROR_LIMIT, "there are no runs to compare");
    assert_false(compare_unpaired(fine, 3, fine, 0, 1, &comparison, &error));
    check_error(&error, ERROR_LIMIT, "there are no runs to compare");
    assert_false(compare_unpaired(fine, 0, fine, 3, 1, &comparison, &error));
    check_error(&error, ERROR_LIMIT, "there are no runs to compare");
}

/* ---- Holm's correction ---- */

/* The least p times n, the next times n - 1, …; never falling, never above 1. */
static void holm_by_hand(void **state)
{
    static const struct {
        size_t count;
        double p[5];
        double adjusted[5];
    } rows[] = {
        {1, {0.04}, {0.04}},
        {4, {0.01, 0.04, 0.03, 0.005}, {0.03, 0.06, 0.06, 0.02}}, /* 0.04 × 1 stays behind 0.06 */
        {3, {0.6, 0.7, 0.5}, {1, 1, 1}},
        {3, {0.02, 0.02, 0.02}, {0.06, 0.06, 0.06}},
        {5, {0.001, 0.2, 0.012, 0.013, 1}, {0.005, 0.4, 0.048, 0.048, 1}},
        {2, {0, 0.5}, {0, 0.5}},
    };
    for (size_t row = 0; row < COUNT(rows); row++) {
        struct comparison comparisons[5] = {0};
        struct error error;
        for (size_t i = 0; i < rows[row].count; i++) {
            comparisons[i] = (struct comparison){
                .ratio = 1, .ratio_low = 1, .ratio_high = 1, .p = rows[row].p[i]};
        }
        assert_true(compare_decide(comparisons, rows[row].count, 0, &error));
        for (size_t i = 0; i < rows[row].count; i++) {
            check_p(comparisons[i].p_adjusted, rows[row].adjusted[i], 1e-12, "Holm", row);
            assert_true(comparisons[i].p == rows[row].p[i]);
        }
    }
    struct error error;
    assert_true(compare_decide(NULL, 0, 0, &error));
}

/* ---- The verdict ---- */

static void all_of_the_rules_must_hold(void **state)
{
    static const struct {
        double ratio, low, high, p, floor;
        enum compare_verdict verdict;
    } rows[] = {
        {1.1, 1.05, 1.15, 0.01, 0.01, COMPARE_SLOWER},
        {0.9, 0.85, 0.95, 0.01, 0.01, COMPARE_FASTER},
        {1.1, 1.05, 1.15, 0.05, 0.01, COMPARE_NO_DIFFERENCE}, /* below the level, not at it */
        {1.1, 1.05, 1.15, 0.049, 0.01, COMPARE_SLOWER},
        {1.1, 1.00, 1.15, 0.01, 0.01, COMPARE_NO_DIFFERENCE}, /* the interval has 1 */
        {1.1, 0.99, 1.15, 0.01, 0.01, COMPARE_NO_DIFFERENCE},
        {0.9, 0.85, 1.00, 0.01, 0.01, COMPARE_NO_DIFFERENCE},
        {1.009, 1.005, 1.02, 0.001, 0.01, COMPARE_NO_DIFFERENCE}, /* within the noise floor */
        {1.011, 1.005, 1.02, 0.001, 0.01, COMPARE_SLOWER},
        {0.9911, 0.98, 0.999, 0.001, 0.01, COMPARE_NO_DIFFERENCE}, /* 1/0.9911 is below 1.01 */
        {0.9899, 0.98, 0.999, 0.001, 0.01, COMPARE_FASTER},
        {1.0001, 1.00001, 1.0002, 0.001, 0, COMPARE_SLOWER}, /* no floor */
        {1, 1, 1, 1, 0, COMPARE_NO_DIFFERENCE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct comparison comparison = {.ratio = rows[i].ratio,
                                        .ratio_low = rows[i].low,
                                        .ratio_high = rows[i].high,
                                        .p = rows[i].p};
        struct error error;
        assert_true(compare_decide(&comparison, 1, rows[i].floor, &error));
        check(comparison.verdict == rows[i].verdict, "row %zu: %s", i,
              compare_verdict_text(comparison.verdict));
    }
    assert_string_equal(compare_verdict_text(COMPARE_NO_DIFFERENCE), "no difference shown");
    assert_string_equal(compare_verdict_text(COMPARE_FASTER), "faster");
    assert_string_equal(compare_verdict_text(COMPARE_SLOWER), "slower");
}

/* The same p is enough alone and not enough among many. */
static void many_cases_ask_for_more(void **state)
{
    for (size_t count = 1; count <= 51; count += 50) {
        struct comparison comparisons[51] = {0};
        struct error error;
        for (size_t i = 0; i < count; i++) {
            comparisons[i] =
                (struct comparison){.ratio = 1, .ratio_low = 0.9, .ratio_high = 1.1, .p = 0.5};
        }
        comparisons[0] =
            (struct comparison){.ratio = 1.1, .ratio_low = 1.05, .ratio_high = 1.15, .p = 0.002};
        assert_true(compare_decide(comparisons, count, 0, &error));
        assert_int_equal(comparisons[0].verdict,
                         count == 1 ? COMPARE_SLOWER : COMPARE_NO_DIFFERENCE);
    }
}

/* From times to verdict: ten slower pairs, and the same runs against themselves. */
static void from_times_to_verdict(void **state)
{
    struct comparison comparisons[] = {
        paired(before, after, RUNS, 1),          paired(after, before, RUNS, 1),
        paired(before, before, RUNS, 1),         unpaired(before, RUNS, after, RUNS, 1),
        unpaired(before, RUNS, before, RUNS, 1),
    };
    static const enum compare_verdict verdicts[] = {COMPARE_SLOWER, COMPARE_FASTER,
                                                    COMPARE_NO_DIFFERENCE, COMPARE_SLOWER,
                                                    COMPARE_NO_DIFFERENCE};
    struct error error;
    assert_true(compare_decide(comparisons, COUNT(comparisons), 0.01, &error));
    for (size_t i = 0; i < COUNT(verdicts); i++) {
        check(comparisons[i].verdict == verdicts[i], "%zu: %s", i,
              compare_verdict_text(comparisons[i].verdict));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signed_ranks_by_hand),
        cmocka_unit_test(signed_ranks_of_many),
        cmocka_unit_test(mann_whitney_by_hand),
        cmocka_unit_test(mann_whitney_of_many),
        cmocka_unit_test(ratios_by_hand),
        cmocka_unit_test(smallest_effect_by_hand),
        cmocka_unit_test(seeds_and_intervals),
        cmocka_unit_test(neither_order_nor_unit_matters),
        cmocka_unit_test(swapping_turns_the_ratio_over),
        cmocka_unit_test(durations_of_zero_are_refused),
        cmocka_unit_test(holm_by_hand),
        cmocka_unit_test(all_of_the_rules_must_hold),
        cmocka_unit_test(many_cases_ask_for_more),
        cmocka_unit_test(from_times_to_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
