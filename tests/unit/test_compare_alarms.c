/* stats/compare on made-up measurements: how often it raises a false alarm, and how often it finds
 * a difference that is there (doc/method.md, "Comparing": 95 and 90 times in 100). Seeded, so each
 * run says the same. Slow: 2000 invocations without a difference, 51 cases of 20 pairs each. */
#include "unit.h"

#include "stats/compare.h"
#include "stats/random.h"

#include <math.h>
#include <stdio.h>

#define CASES   51
#define PAIRS   20
#define IN_FULL 20 /* trials in which even hopeless intervals are made */

#define TRIALS       500 /* on each machine */
#define POWER_TRIALS 40

/* ---- Made-up measurements ---- */

struct machine {
    struct stats_random random;
    double spread; /* deviation of the logarithm of a time */
    double drift;  /* by how much it slows down on the way, and once more at once half-way */
};

static double uniform(struct stats_random *random)
{
    return ((double)(stats_random_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct stats_random *random)
{
    return sqrt(-2 * log(uniform(random))) * cos(2 * acos(-1.0) * uniform(random));
}

/* A run in slot 0 … 2 × PAIRS - 1 of the invocation. */
static double run(struct machine *machine, double time, unsigned slot)
{
    double at = (double)slot / (2 * PAIRS);
    double drift = machine->drift * (at + (at >= 0.5));
    return 1e6 * time * exp(drift + machine->spread * normal(&machine->random));
}

/* All cases of an invocation. */
struct times {
    double before[CASES][PAIRS];
    double after[CASES][PAIRS];
};

/* The first `slower` of the cases take `ratio` times as long afterwards. The order inside each pair
 * is random. */
static void invoke(struct machine *machine, size_t slower, double ratio, struct times *times)
{
    for (size_t i = 0; i < CASES; i++) {
        double time = i < slower ? ratio : 1;
        for (unsigned pair = 0; pair < PAIRS; pair++) {
            unsigned first = stats_random_below(&machine->random, 2);
            times->before[i][pair] = run(machine, 1, 2 * pair + first);
            times->after[i][pair] = run(machine, time, 2 * pair + 1 - first);
        }
    }
}

static void compare(const struct times *times, uint64_t seed, struct comparison comparisons[CASES])
{
    struct error error;
    for (size_t i = 0; i < CASES; i++) {
        check(compare_paired(times->before[i], times->after[i], PAIRS, seed + i, &comparisons[i],
                             &error),
              "%s", error.message);
    }
    /* The noise floor is 0, so that nothing but the statistics holds back. */
    assert_true(compare_decide(comparisons, CASES, 0, &error));
}

static bool alarm_in(const struct times *times, uint64_t seed)
{
    struct comparison comparisons[CASES];
    compare(times, seed, comparisons);
    bool alarm = false;
    for (size_t i = 0; i < CASES; i++) {
        alarm |= comparisons[i].verdict != COMPARE_NO_DIFFERENCE;
    }
    return alarm;
}

/* Whether any p is small enough for Holm: without one there is no alarm, and the intervals, which
 * take most of the time, need not be made. */
static bool alarm_is_possible(const struct times *times)
{
    double smallest = 1;
    for (size_t i = 0; i < CASES; i++) {
        double differences[PAIRS];
        struct error error;
        for (size_t pair = 0; pair < PAIRS; pair++) {
            differences[pair] = log(times->after[i][pair] / times->before[i][pair]);
        }
        smallest = fmin(smallest, compare_signed_rank_p(differences, PAIRS, &error));
    }
    assert_true(smallest > 0);
    return smallest * CASES < COMPARE_LEVEL;
}

/* ---- The two promises ---- */

static const struct {
    double spread, drift;
} machines[] = {{0.05, 0}, {0.15, 0}, {0.05, 0.3}, {0.15, 0.3}};

static void false_alarms_are_rare(void **state)
{
    unsigned all = 0;
    for (size_t m = 0; m < COUNT(machines); m++) {
        struct machine machine = {{100 + m}, machines[m].spread, machines[m].drift};
        unsigned alarms = 0;
        for (unsigned trial = 0; trial < TRIALS; trial++) {
            struct times times;
            invoke(&machine, 0, 1, &times);
            bool possible = alarm_is_possible(&times);
            bool alarm = (possible || trial < IN_FULL) && alarm_in(&times, trial);
            assert_true(possible || !alarm);
            alarms += alarm;
        }
        fprintf(stderr,
                "spread %.0f %%, drift %.0f %%: false alarms in %.1f %% of %d invocations\n",
                100 * machine.spread, 100 * machine.drift, 100.0 * alarms / TRIALS, TRIALS);
        all += alarms;
    }
    check(all <= 0.065 * TRIALS * (double)COUNT(machines), "%u of %zu invocations raise an alarm",
          all, TRIALS * COUNT(machines));
}

/* 10 % at a spread of 5 %, with and without drift: in every case, or in only one. */
static void true_differences_are_found(void **state)
{
    static const size_t counts[] = {CASES, 1};
    for (size_t row = 0; row < 4; row++) {
        struct machine machine = {{200 + row}, 0.05, row < 2 ? 0 : 0.3};
        size_t slower = counts[row % 2];
        unsigned found = 0;
        unsigned wrong = 0;
        unsigned trials = slower == 1 ? POWER_TRIALS * 4 : POWER_TRIALS;
        for (unsigned trial = 0; trial < trials; trial++) {
            struct times times;
            struct comparison comparisons[CASES];
            invoke(&machine, slower, 1.1, &times);
            compare(&times, trial, comparisons);
            for (size_t i = 0; i < slower; i++) {
                found += comparisons[i].verdict == COMPARE_SLOWER;
                wrong += comparisons[i].verdict == COMPARE_FASTER;
            }
        }
        fprintf(stderr, "10 %% slower in %zu of %d cases, drift %.0f %%: found in %.1f %%\n",
                slower, CASES, 100 * machine.drift, 100.0 * found / (double)(trials * slower));
        check(found >= 0.9 * (double)(trials * slower), "found in %u of %zu", found,
              trials * slower);
        assert_int_equal(wrong, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(false_alarms_are_rare),
        cmocka_unit_test(true_differences_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
