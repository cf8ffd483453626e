/* stats/verdict: vectors worked out beforehand, the fewest pairs, the words, and on made data how
 * often equal sides get a verdict and a true change is found (doc/method.md, "Comparing"). */
#include "unit.h"

#include "stats/random.h"
#include "stats/verdict.h"

#include <math.h>
#include <string.h>

#define MOST 256

/* A gate and what it says: outcome, pairs in all. */
struct wanted_gate {
    struct verdict_gate gate;
    enum gate_outcome outcome;
    size_t total;
};

static const struct vector {
    size_t cases, pairs;
    double b[20], a[20]; /* a: 0 is 1000 */
    size_t k;
    double low, high, ratio, p;
    enum verdict_kind kind;
    const char *words;
    size_t gate_count;
    struct wanted_gate gates[3];
} vectors[] = {
    {1,
     10,
     {1084, 1097, 1079, 1102, 1091, 1088, 1110, 1093, 1086, 1131},
     {0},
     1,
     1.0790,
     1.1310,
     1.0920,
     .0059,
     VERDICT_SLOWER,
     "slower, by 7.9 to 13.1 %",
     2,
     {{{false, .05}, GATE_FAILED, 0}, {{false, .10}, GATE_NOT_DECIDED, 80}}},
    {4,
     13,
     {1021, 1019, 1024, 1018, 1023, 1025, 1022, 1026, 1017, 1021, 1256, 1023, 896},
     {0},
     2,
     1.0170,
     1.0260,
     1.0220,
     .0410,
     VERDICT_SLOWER,
     "slower, by 1.7 to 2.6 %",
     3,
     {{{false, .01}, GATE_FAILED, 0},
      {{false, .02}, GATE_NOT_DECIDED, 111},
      {{false, .05}, GATE_PASSED, 0}}},
    {7,
     8,
     {1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6},
     {0},
     0,
     0,
     0,
     1000,
     .1641,
     VERDICT_NOT_DECIDED,
     "not decided: 8 pairs cannot decide 7 cases; needs 2 more",
     1,
     {{{false, .05}, GATE_NOT_DECIDED, 10}}},
    {6,
     20,
     {65, 15, 62, 63, 66, 61, 15, 63, 64, 14, 62, 14, 66, 60, 61, 62, 63, 64, 60, 65},
     {63, 62, 64, 15, 61, 63, 14, 66, 62, 15, 60, 63, 65, 62, 64, 14, 61, 66, 64, 62},
     4,
     .9375,
     1.0714,
     .9923,
     1,
     VERDICT_NO_DIFFERENCE,
     "no difference shown: 6.3 % faster to 7.1 % slower",
     2,
     {{{false, .05}, GATE_NOT_DECIDED, 45}, {{false, .10}, GATE_PASSED, 0}}},
    {1,
     12,
     {994, 996, 995, 993, 997, 995, 994, 996, 995, 994, 998, 1001},
     {0},
     2,
     .9940,
     .9980,
     .9950,
     .0190,
     VERDICT_NO_DIFFERENCE,
     "no difference shown: 0.2 to 0.6 % faster",
     2,
     {{{false, .01}, GATE_PASSED, 0}, {{true, .01}, GATE_PASSED, 0}}},
    {6,
     16,
     {1000, 1000, 1013, 1021, 1008, 1030, 1017, 1025, 1011, 1019, 1040, 1015, 1022, 1009, 1028,
      1033},
     {0},
     2,
     1.0000,
     1.0330,
     1.0180,
     .0753,
     VERDICT_NO_DIFFERENCE,
     "no difference shown: 0.0 to 3.3 % slower",
     2,
     {{{false, .01}, GATE_NOT_DECIDED, 68}, {{false, .05}, GATE_PASSED, 0}}},
};

static void log_ratios(const struct vector *vector, bool swapped, double *d)
{
    for (size_t i = 0; i < vector->pairs; i++) {
        double a = vector->a[i] > 0 ? vector->a[i] : 1000;
        d[i] = swapped ? log(a / vector->b[i]) : log(vector->b[i] / a);
    }
}

#define NEAR(value, wanted)                                                                        \
    check(fabs((value) - (wanted)) < 5.1e-5, "vector %zu: " #value " is %.6f, not %.4f", row + 1,  \
          value, wanted)

static void check_gates(size_t row, const struct verdict *verdict, const double *d, bool swapped)
{
    for (size_t i = 0; i < vectors[row].gate_count; i++) {
        const struct wanted_gate *wanted = &vectors[row].gates[i];
        struct verdict_gate gate = wanted->gate;
        gate.faster = gate.faster != swapped;
        struct verdict_answer answer = verdict_ask(&gate, verdict, d, vectors[row].pairs);
        check(answer.outcome == wanted->outcome && answer.total == wanted->total,
              "vector %zu, gate %zu: %s with %zu pairs in all, not %s with %zu", row + 1, i,
              verdict_outcome_text(answer.outcome), answer.total,
              verdict_outcome_text(wanted->outcome), wanted->total);
    }
}

static void test_vectors(void **state)
{
    for (size_t row = 0; row < sizeof vectors / sizeof vectors[0]; row++) {
        const struct vector *wanted = &vectors[row];
        double d[MOST];
        char text[VERDICT_TEXT_LENGTH];
        log_ratios(wanted, false, d);
        struct verdict got = verdict_decide(d, wanted->pairs, wanted->cases);
        check(got.k == wanted->k, "vector %zu: k is %zu", row + 1, got.k);
        NEAR(got.low, wanted->low);
        NEAR(got.high, wanted->high);
        NEAR(got.ratio, wanted->ratio);
        NEAR(got.p, wanted->p);
        check(got.kind == wanted->kind, "vector %zu: %s", row + 1, verdict_kind_text(got.kind));
        verdict_text(&got, text);
        check(strcmp(text, wanted->words) == 0, "vector %zu: %s", row + 1, text);
        check_gates(row, &got, d, false);
    }
}

/* With A and B exchanged, a gate on faster says what that on slower said. */
static void test_mirrored(void **state)
{
    static const enum verdict_kind mirrored[] = {VERDICT_NOT_DECIDED, VERDICT_NO_DIFFERENCE,
                                                 VERDICT_SLOWER, VERDICT_FASTER};
    for (size_t row = 0; row < sizeof vectors / sizeof vectors[0]; row++) {
        double d[MOST];
        log_ratios(&vectors[row], true, d);
        struct verdict got = verdict_decide(d, vectors[row].pairs, vectors[row].cases);
        check(got.kind == mirrored[vectors[row].kind], "vector %zu: %s", row + 1,
              verdict_kind_text(got.kind));
        NEAR(got.p, vectors[row].p);
        check_gates(row, &got, d, true);
    }
}

static void test_fewest_pairs(void **state)
{
    static const size_t wanted[][3] = {
        {1, 7, 11}, {4, 9, 13}, {6, 10, 14}, {12, 11, 15}, {36, 13, 17}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        size_t one = verdict_fewest_pairs(wanted[i][0], 1);
        size_t two = verdict_fewest_pairs(wanted[i][0], 2);
        check(one == wanted[i][1] && two == wanted[i][2], "%zu cases: %zu and %zu pairs",
              wanted[i][0], one, two);
    }
}

static void test_looks(void **state)
{
    for (size_t pairs = 0; pairs < 100; pairs++) {
        bool wanted = pairs == 13 || pairs == 26 || pairs == 52;
        check(verdict_is_look(pairs, 13) == wanted, "%zu pairs of 13", pairs);
    }
    check(!verdict_is_look(0, 0), "no pairs are a look");
}

/* The interval excludes 1 exactly when p is at most the level, also for many pairs, whose chance of
 * all heads no double holds. */
static void test_p_and_interval_agree(void **state)
{
    static double d[2000];
    for (size_t pairs = 1; pairs <= 2000; pairs += pairs < 64 ? 1 : 211) {
        for (size_t below = 0; below <= pairs; below++) {
            for (size_t i = 0; i < pairs; i++) {
                d[i] = i < below ? -1 : 1;
            }
            struct verdict got = verdict_decide(d, pairs, 3);
            bool excludes = got.k > 0 && (got.low > 1 || got.high < 1);
            check(excludes == (got.p <= VERDICT_LEVEL), "%zu of %zu: k %zu, p %g", below, pairs,
                  got.k, got.p);
        }
    }
}

static void test_answers_in_words(void **state)
{
    static const struct {
        size_t vector;
        struct verdict_gate gate;
        size_t planned;
        const char *words;
    } wanted[] = {
        {1,
         {false, .02},
         52,
         "not decided: 1.7 to 2.6 % slower, gate 2 %; needs about 98 pairs more"},
        {1,
         {false, .02},
         13,
         "not decided: 1.7 to 2.6 % slower, gate 2 %; needs about 98 pairs more, the plan ends "
         "before"},
        {1, {false, .01}, 13, "failed: 1.7 to 2.6 % slower, gate 1 %"},
        {0,
         {false, .092},
         10,
         "not decided: 7.9 to 13.1 % slower, gate 9.2 %; more pairs will not help"},
        {3, {false, .1}, 20, "passed: 6.3 % faster to 7.1 % slower, gate 10 %"},
        {2, {false, .1}, 8, "not decided: 8 pairs cannot decide 7 cases; needs 2 more"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const struct vector *vector = &vectors[wanted[i].vector];
        double d[MOST];
        char text[VERDICT_TEXT_LENGTH];
        log_ratios(vector, false, d);
        struct verdict verdict = verdict_decide(d, vector->pairs, vector->cases);
        struct verdict_answer answer = verdict_ask(&wanted[i].gate, &verdict, d, wanted[i].planned);
        verdict_answer_text(&answer, &wanted[i].gate, &verdict, text);
        check(strcmp(text, wanted[i].words) == 0, "answer %zu: %s", i, text);
    }
}

static void test_worse(void **state)
{
    check(verdict_worse(GATE_PASSED, GATE_NOT_DECIDED) == GATE_NOT_DECIDED, "passed won");
    check(verdict_worse(GATE_FAILED, GATE_NOT_DECIDED) == GATE_FAILED, "not decided won");
}

static void test_warming_and_drift(void **state)
{
    double warm[] = {.1, .2, .1, .3, .1, .2, .1};
    check(verdict_still_warming(warm, 7, 1), "a slow first run in 7 of 7");
    warm[3] = -.1;
    check(!verdict_still_warming(warm, 7, 1), "a slow first run in 6 of 7");
    double still[] = {100, 101, 500, 101, 102, 1};
    check(!verdict_drifted(still, 6, .05), "one wild time in each half drifts");
    double drifting[] = {100, 101, 102, 104, 105, 106};
    check(verdict_drifted(drifting, 6, .05), "4 in 100 at a margin of 5 do not drift");
    check(!verdict_drifted(drifting, 6, .10), "4 in 100 at a margin of 10 drift");
}

/* ---- Error rates on made data ---- */

static double uniform(struct stats_random *random)
{
    return ((double)stats_random_below(random, 1000000) + .5) / 1e6;
}

/* A machine as it is met: modes a factor of five apart that neighbours share, slow drift, noise. */
static double made_time(struct stats_random *random, double *drift, bool *slow)
{
    *drift += (uniform(random) - .5) * .02;
    *slow = uniform(random) < .3 ? !*slow : *slow;
    return exp(*drift + (*slow ? 1.6 : 0) + (uniform(random) - .5) * .05);
}

/* The worst of six cases after all three looks: a verdict at any of them counts. */
static enum verdict_kind compare_made(struct stats_random *random, size_t planned, double change)
{
    static double all[6][MOST];
    double drift = 0;
    bool slow = false;
    enum verdict_kind worst = VERDICT_NO_DIFFERENCE;
    for (size_t pair = 0; pair < 4 * planned; pair++) {
        bool swapped = stats_random_below(random, 2) != 0;
        for (size_t i = 0; i < 6; i++) {
            double first = made_time(random, &drift, &slow);
            double second = made_time(random, &drift, &slow);
            double factor = i == 0 ? change : 1;
            all[i][pair] = log(factor * (swapped ? first / second : second / first));
        }
    }
    for (size_t pairs = planned; pairs <= 4 * planned; pairs *= 2) {
        for (size_t i = 0; i < 6; i++) {
            double d[MOST];
            memcpy(d, all[i], pairs * sizeof *d);
            enum verdict_kind kind = verdict_decide(d, pairs, 6).kind;
            worst = kind > VERDICT_NO_DIFFERENCE ? kind : worst;
        }
    }
    return worst;
}

#define TIMES 400

static size_t count_made(size_t planned, double change, enum verdict_kind wanted)
{
    struct stats_random random = {20261201};
    size_t count = 0;
    for (size_t i = 0; i < TIMES; i++) {
        enum verdict_kind kind = compare_made(&random, planned, change);
        count += wanted == VERDICT_NO_DIFFERENCE ? kind != wanted : kind == wanted;
    }
    return count;
}

static void test_equal_sides(void **state)
{
    size_t alarms = count_made(16, 1, VERDICT_NO_DIFFERENCE);
    check(alarms <= TIMES / 20, "%zu verdicts in %d comparisons of equal sides", alarms, TIMES);
}

static void test_true_change(void **state)
{
    size_t slower = count_made(32, 1.10, VERDICT_SLOWER);
    size_t faster = count_made(32, 1 / 1.10, VERDICT_FASTER);
    check(slower > TIMES * 9 / 10 && faster > TIMES * 9 / 10,
          "a true 10 %% shown %zu and %zu times in %d", slower, faster, TIMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_mirrored),
        cmocka_unit_test(test_fewest_pairs),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_p_and_interval_agree),
        cmocka_unit_test(test_answers_in_words),
        cmocka_unit_test(test_worse),
        cmocka_unit_test(test_warming_and_drift),
        cmocka_unit_test(test_equal_sides),
        cmocka_unit_test(test_true_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
