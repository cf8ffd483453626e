/* bench/measure: the order of things around a timed section, and that nothing else is in it. The
 * clock belongs to the test, so a sample's duration is known exactly. */
#include "unit.h"

#include "base/clock.h"
#include "bench/measure.h"
#include "fake_target.h"

#include <stdio.h>
#include <time.h>

static uint64_t now_ns;

/* Takes the place of the C library's for everything that is linked into this program. */
int clock_gettime(clockid_t id, struct timespec *now)
{
    (void)id;
    *now = (struct timespec){.tv_sec = (time_t)(now_ns / NS_PER_S),
                             .tv_nsec = (long)(now_ns % NS_PER_S)};
    return 0;
}

/* Notes every step in the fake target's log; a run takes as many nanoseconds as its timed steps
 * before it, plus one. */
struct bench {
    struct fake_target *fake;
    unsigned step; /* of all steps */
    unsigned fail_step;
    uint64_t timed;
    struct error error;
};

static bool step(struct bench *bench, const char *format, unsigned number, struct error *error)
{
    size_t used = strlen(bench->fake->log);
    snprintf(bench->fake->log + used, sizeof bench->fake->log - used, "%s%.0u ", format, number);
    return ++bench->step != bench->fail_step || error_set(error, ERROR_LIMIT, 0, "broken");
}

static bool prepare(void *context, bool fresh, struct error *error)
{
    now_ns += 1000 * NS_PER_S;
    return step(context, fresh ? "fresh" : "prepare", 0, error);
}

static bool timed(void *context, struct sample_counts *counts, struct error *error)
{
    struct bench *bench = context;
    now_ns += ++bench->timed;
    counts->bytes += 100;
    counts->requests += 3;
    counts->runts += 2;
    return step(bench, "timed", 0, error);
}

static bool restore(void *context, struct error *error)
{
    now_ns += 2000 * NS_PER_S;
    return step(context, "restore", 0, error);
}

static bool on_sample(void *context, const struct test_case *test, const struct sample *sample,
                      struct error *error)
{
    struct bench *bench = context;
    now_ns += 3000 * NS_PER_S;
    assert_string_equal(test->name, "Test");
    assert_int_equal(sample->duration_ns, bench->timed);
    assert_int_equal(sample->size_bytes, 100);
    assert_int_equal(sample->counts.bytes, 100);
    assert_int_equal(sample->counts.requests, 3);
    assert_int_equal(sample->counts.runts, 2);
    return step(bench, sample->warmup ? "warm-up" : "sample", sample->number, error);
}

static void on_progress(void *context, const struct test_case *test, uint32_t number, bool warmup)
{
    struct bench *bench = context;
    assert_string_equal(test->name, "Test");
    size_t used = strlen(bench->fake->log);
    snprintf(bench->fake->log + used, sizeof bench->fake->log - used, "%c%u ", warmup ? 'w' : 'm',
             number);
}

static bool run(struct bench *bench, const struct measure_plan *plan, bool observed)
{
    struct workload workload = {prepare, timed, restore, bench};
    struct test_case test = {.name = "Test",
                             .size_bytes = 100,
                             .warmups = plan->warmups,
                             .iterations = plan->iterations};
    struct observer observer = {.context = bench};
    if (observed) {
        observer.on_sample = on_sample;
        observer.on_progress = on_progress;
    }
    fake_target_reset(bench->fake);
    bench->step = 0;
    bench->timed = 0;
    return measure_run(plan, &bench->fake->target, &workload, &test, &observer, &bench->error);
}

static void order_of_steps(void **state)
{
    (void)state;
    static const struct {
        struct measure_plan plan;
        const char *log;
    } rows[] = {
        {{.iterations = 1}, "m1 fresh timed sample1 restore "},
        {{.warmups = 1, .iterations = 2},
         "w1 fresh timed warm-up1 restore m1 prepare timed sample1 restore "
         "m2 prepare timed sample2 restore "},
        {{.warmups = 2, .iterations = 1},
         "w1 fresh timed warm-up1 restore w2 prepare timed warm-up2 restore "
         "m1 prepare timed sample1 restore "},
        {{.warmups = 1, .iterations = 1, .fresh_files = true},
         "w1 fresh timed warm-up1 restore m1 fresh timed sample1 restore "},
        {{.iterations = 2, .pause_ns = 5 * NS_PER_S},
         "m1 fresh timed sample1 restore idle m2 prepare timed sample2 restore "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench bench = {.fake = fake_target_new()};
        check(run(&bench, &rows[i].plan, true), "row %zu: %s", i, bench.error.message);
        assert_string_equal(bench.fake->log, rows[i].log);
        uint32_t runs = rows[i].plan.warmups + rows[i].plan.iterations;
        assert_int_equal(bench.fake->idle_ns, (runs - 1) * rows[i].plan.pause_ns);
        fake_target_free(bench.fake);
    }
}

static void stops_at_the_first_failure(void **state)
{
    (void)state;
    static const char *const logs[] = {
        "w1 fresh ",
        "w1 fresh timed ",
        "w1 fresh timed warm-up1 ",
        "w1 fresh timed warm-up1 restore ",
        "w1 fresh timed warm-up1 restore idle m1 prepare ",
        "w1 fresh timed warm-up1 restore idle m1 prepare timed ",
        "w1 fresh timed warm-up1 restore idle m1 prepare timed sample1 ",
        "w1 fresh timed warm-up1 restore idle m1 prepare timed sample1 restore ",
    };
    const struct measure_plan plan = {.warmups = 1, .iterations = 1, .pause_ns = 1};
    for (unsigned i = 0; i < COUNT(logs); i++) {
        struct bench bench = {.fake = fake_target_new(), .fail_step = i + 1};
        check(!run(&bench, &plan, true), "step %u failed unnoticed", i + 1);
        check_error(&bench.error, ERROR_LIMIT, "broken");
        assert_string_equal(bench.fake->log, logs[i]);
        fake_target_free(bench.fake);
    }
}

static void a_session_that_ends_in_a_pause(void **state)
{
    (void)state;
    struct bench bench = {.fake = fake_target_new()};
    const struct measure_plan plan = {.iterations = 3, .pause_ns = 1};
    struct workload workload = {prepare, timed, restore, &bench};
    struct test_case test = {.name = "Test", .size_bytes = 100};
    struct observer observer = {.on_sample = on_sample, .context = &bench};
    bench.fake->fail_at = 2; /* the second pause */
    assert_false(
        measure_run(&plan, &bench.fake->target, &workload, &test, &observer, &bench.error));
    assert_string_equal(bench.error.message, FAKE_MESSAGE);
    assert_int_equal(bench.timed, 2);
    fake_target_free(bench.fake);
}

/* result.h: each of an observer's functions may be NULL. */
static void nobody_observes(void **state)
{
    (void)state;
    struct bench bench = {.fake = fake_target_new()};
    const struct measure_plan plan = {.warmups = 1, .iterations = 1};
    assert_true(run(&bench, &plan, false));
    assert_string_equal(bench.fake->log, "fresh timed restore prepare timed restore ");
    fake_target_free(bench.fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_steps),
        cmocka_unit_test(stops_at_the_first_failure),
        cmocka_unit_test(a_session_that_ends_in_a_pause),
        cmocka_unit_test(nobody_observes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
