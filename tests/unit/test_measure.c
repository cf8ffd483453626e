/* workload/measure: the order of things around a timed section, and that nothing else is in it. The
 * clock belongs to the test, so a sample's duration is known exactly. */
#include "unit.h"

#include "base/clock.h"
#include "fake_target.h"
#include "workload/measure.h"

#include <stdio.h>
#include <time.h>

static uint64_t now_ns;

/* Takes the place of the C library's for everything that is linked into this program. */
int clock_gettime(clockid_t id, struct timespec *now)
{
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
    unsigned fail_call; /* of the fake target */
    uint64_t timed;
    uint32_t spoil[4]; /* the timed steps, from 1, that somebody wants again; ends with 0 */
    bool spoil_all;
    struct result result;
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
    counts->requests[REQUEST_READ] += 3;
    counts->requests[REQUEST_FLUSH] += 1;
    counts->runts += 2;
    counts->round_trips += 4;
    histogram_add(counts->service, bench->timed);
    return step(bench, "timed", 0, error);
}

static bool restore(void *context, struct error *error)
{
    now_ns += 2000 * NS_PER_S;
    return step(context, "restore", 0, error);
}

static bool on_run_end(void *context, const struct result_case *result_case,
                       const struct sample *sample, bool *again, struct error *error)
{
    struct bench *bench = context;
    assert_false(*again);
    assert_false(sample->spoiled);
    assert_int_equal(sample->duration_ns, bench->timed);
    *again = bench->spoil_all;
    for (size_t i = 0; bench->spoil[i] != 0; i++) {
        *again = *again || bench->spoil[i] == bench->timed;
    }
    return true;
}

static bool on_sample(void *context, const struct result_case *result_case,
                      const struct sample *sample, struct error *error)
{
    struct bench *bench = context;
    now_ns += 3000 * NS_PER_S;
    assert_string_equal(result_case->test.name, "Test");
    assert_int_equal(sample->duration_ns, bench->timed);
    assert_int_equal(sample->elapsed_ns, bench->timed);
    assert_int_equal(sample->cpu_ns, bench->timed); /* the test's clock is every clock */
    assert_int_equal(sample->size_bytes, 100);
    assert_int_equal(sample->counts.bytes, 100);
    assert_int_equal(sample->counts.requests[REQUEST_READ], 3);
    assert_int_equal(sample->counts.requests[REQUEST_FLUSH], 1);
    assert_int_equal(sample_requests(&sample->counts), 4);
    assert_int_equal(sample->counts.runts, 2);
    assert_int_equal(sample->counts.round_trips, 4);
    uint32_t index = sample->spoiled ? result_spoiled(result_case) + result_case->spoiled_count - 1
                                     : result_case->sample_count - 1;
    assert_ptr_equal(sample, &result_case->samples[index]);
    assert_int_equal(result_case->session_ns[index], bench->timed);
    return step(bench,
                sample->spoiled  ? "spoiled"
                : sample->warmup ? "warm-up"
                                 : "sample",
                sample->number, error);
}

static void on_progress(void *context, const struct result_case *result_case, uint32_t number,
                        bool warmup, uint64_t pause_left_ns)
{
    struct bench *bench = context;
    assert_string_equal(result_case->test.name, "Test");
    size_t used = strlen(bench->fake->log);
    snprintf(bench->fake->log + used, sizeof bench->fake->log - used, "%c%u%s ", warmup ? 'w' : 'm',
             number, pause_left_ns > 0 ? " waits" : "");
}

static bool run(struct bench *bench, const struct measure_plan *plan, bool observed)
{
    struct workload workload = {prepare, timed, restore};
    struct measure_session session = {&bench->fake->target, bench};
    struct test_case test = {.name = "Test",
                             .size_bytes = 100,
                             .sessions = 1,
                             .warmups = plan->warmups,
                             .iterations = plan->iterations};
    struct observers observers = {.list = {{.context = bench}}, .count = 1};
    if (observed) {
        observers.list[0].on_run_end = on_run_end;
        observers.list[0].on_sample = on_sample;
        observers.list[0].on_progress = on_progress;
    }
    fake_target_reset(bench->fake);
    bench->step = 0;
    bench->timed = 0;
    bench->fake->fail_at = bench->fail_call;
    struct result_case *result_case = result_add_case(&bench->result, &test, &bench->error);
    assert_non_null(result_case);
    return measure_run(plan, &workload, &session, 1, result_case, &observers, &bench->error);
}

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){.fake = fake_target_new()};
}

static void bench_close(struct bench *bench)
{
    fake_target_free(bench->fake);
    result_release(&bench->result);
}

/* Warm-ups are marked, numbered for themselves, and never aggregated. */
static void check_samples(const struct result_case *result_case, const struct measure_plan *plan)
{
    size_t count;
    const struct sample *measured = result_measured(result_case, &count);
    assert_int_equal(result_case->sample_count, plan->warmups + plan->iterations);
    assert_int_equal(count, plan->iterations);
    assert_ptr_equal(measured, result_case->samples + plan->warmups);
    for (uint32_t i = 0; i < result_case->sample_count; i++) {
        const struct sample *sample = &result_case->samples[i];
        assert_int_equal(sample->warmup, i < plan->warmups);
        assert_int_equal(sample->number, i < plan->warmups ? i + 1 : i - plan->warmups + 1);
    }
    assert_int_equal(result_case->service.count, plan->iterations);
    assert_int_equal(result_case->service.minimum, plan->warmups + 1);
}

static void order_of_steps(void **state)
{
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
        {{.iterations = 2, .pause_ns = 2 * NS_PER_S + 1},
         "m1 fresh timed sample1 restore m2 waits idle m2 waits idle m2 waits idle "
         "m2 prepare timed sample2 restore "},
        {{.warmups = 1, .iterations = 1, .pause_ns = 1},
         "w1 fresh timed warm-up1 restore m1 waits idle m1 prepare timed sample1 restore "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench bench;
        bench_open(&bench);
        check(run(&bench, &rows[i].plan, true), "row %zu: %s", i, bench.error.message);
        assert_string_equal(bench.fake->log, rows[i].log);
        uint32_t runs = rows[i].plan.warmups + rows[i].plan.iterations;
        assert_int_equal(bench.fake->idle_ns, (runs - 1) * rows[i].plan.pause_ns);
        assert_int_equal(bench.fake->accounts, 2 * runs);
        check_samples(bench.result.cases[0], &rows[i].plan);
        bench_close(&bench);
    }
}

static void stops_at_the_first_failure(void **state)
{
    static const char *const logs[] = {
        "w1 fresh ",
        "w1 fresh timed ",
        "w1 fresh timed warm-up1 ",
        "w1 fresh timed warm-up1 restore ",
        "w1 fresh timed warm-up1 restore m1 waits idle m1 prepare ",
        "w1 fresh timed warm-up1 restore m1 waits idle m1 prepare timed ",
        "w1 fresh timed warm-up1 restore m1 waits idle m1 prepare timed sample1 ",
        "w1 fresh timed warm-up1 restore m1 waits idle m1 prepare timed sample1 restore ",
    };
    const struct measure_plan plan = {.warmups = 1, .iterations = 1, .pause_ns = 1};
    for (unsigned i = 0; i < COUNT(logs); i++) {
        struct bench bench;
        bench_open(&bench);
        bench.fail_step = i + 1;
        check(!run(&bench, &plan, true), "step %u failed unnoticed", i + 1);
        check_error(&bench.error, ERROR_LIMIT, "broken");
        assert_string_equal(bench.fake->log, logs[i]);
        /* The broken run has no sample; one that was told stays. */
        assert_int_equal(bench.result.cases[0]->sample_count, (i >= 2) + (i >= 6));
        bench_close(&bench);
    }
}

static void a_session_that_ends_in_a_pause(void **state)
{
    struct bench bench;
    const struct measure_plan plan = {.iterations = 3, .pause_ns = 1};
    bench_open(&bench);
    bench.fail_call = 6; /* the second pause: each run has two accounts */
    assert_false(run(&bench, &plan, true));
    assert_string_equal(bench.error.message, FAKE_MESSAGE);
    assert_int_equal(bench.timed, 2);
    assert_int_equal(bench.result.cases[0]->sample_count, 2);
    bench_close(&bench);
}

/* Kept, made again with the same number, and in no figure; at most as many as there are iterations,
 * a run beyond that counts. */
static void spoiled_runs_are_made_again(void **state)
{
    static const struct {
        struct measure_plan plan;
        uint32_t spoil[4];
        bool all;
        const char *log;
        uint32_t spoiled;
        uint64_t durations_ns[3]; /* of the measured runs */
    } rows[] = {
        {{.warmups = 1, .iterations = 2},
         {2},
         false,
         "w1 fresh timed warm-up1 restore m1 prepare timed spoiled1 restore "
         "m1 prepare timed sample1 restore m2 prepare timed sample2 restore ",
         1,
         {3, 4}},
        {{.iterations = 2},
         {1, 2},
         false,
         "m1 fresh timed spoiled1 restore m1 prepare timed spoiled1 restore "
         "m1 prepare timed sample1 restore m2 prepare timed sample2 restore ",
         2,
         {3, 4}},
        {{.warmups = 1, .iterations = 1, .pause_ns = 1},
         {1},
         false,
         "w1 fresh timed spoiled1 restore w1 waits idle w1 prepare timed warm-up1 restore "
         "m1 waits idle m1 prepare timed sample1 restore ",
         1,
         {3}},
        {{.iterations = 1},
         {0},
         true,
         "m1 fresh timed spoiled1 restore m1 prepare timed sample1 restore ",
         1,
         {2}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench bench;
        size_t count;
        bench_open(&bench);
        memcpy(bench.spoil, rows[i].spoil, sizeof bench.spoil);
        bench.spoil_all = rows[i].all;
        check(run(&bench, &rows[i].plan, true), "row %zu: %s", i, bench.error.message);
        assert_string_equal(bench.fake->log, rows[i].log);
        struct result_case *result_case = bench.result.cases[0];
        const struct sample *measured = result_measured(result_case, &count);
        assert_int_equal(count, rows[i].plan.iterations);
        assert_int_equal(result_case->spoiled_count, rows[i].spoiled);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(measured[k].duration_ns, rows[i].durations_ns[k]);
            assert_int_equal(measured[k].number, k + 1);
            assert_false(measured[k].spoiled);
        }
        const struct sample *spoiled = &result_case->samples[result_spoiled(result_case)];
        for (size_t k = 0; k < rows[i].spoiled; k++) {
            assert_true(spoiled[k].spoiled);
        }
        assert_int_equal(result_case->service.count, count);
        assert_int_equal(result_case->service.minimum, rows[i].durations_ns[0]);
        assert_true(result_summarize(result_case, &bench.error));
        assert_int_equal(result_case->summary.times.count, count);
        assert_int_equal((uint64_t)result_case->summary.times.minimum, rows[i].durations_ns[0]);
        bench_close(&bench);
    }
}

/* result.h: each of an observer's functions may be NULL. */
static void nobody_observes(void **state)
{
    struct bench bench;
    const struct measure_plan plan = {.warmups = 1, .iterations = 1};
    bench_open(&bench);
    assert_true(run(&bench, &plan, false));
    assert_string_equal(bench.fake->log, "fresh timed restore prepare timed restore ");
    bench_close(&bench);
}

/* TCP's account is taken right around the timed section and outside the clock. */
static void accounts_frame_the_timed_section(void **state)
{
    static const char *const logs[] = {
        "fresh account ", "fresh account timed account ",
        "fresh account timed account restore prepare account ",
        "fresh account timed account restore prepare account timed account ",
        "fresh account timed account restore prepare account timed account restore "};
    const struct measure_plan plan = {.warmups = 1, .iterations = 1};
    for (unsigned i = 0; i < COUNT(logs); i++) {
        struct bench bench;
        bench_open(&bench);
        bench.fake->log_accounts = true;
        bench.fake->waiting_step = 1; /* of the 2 ns that the measured run takes */
        bench.fail_call = i + 1;
        bool ok = run(&bench, &plan, false);
        assert_int_equal(ok, i + 1 == COUNT(logs));
        assert_string_equal(bench.fake->log, logs[i]);
        if (ok) {
            assert_int_equal(bench.result.cases[0]->samples[1].duration_ns, 2);
        }
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_steps),
        cmocka_unit_test(stops_at_the_first_failure),
        cmocka_unit_test(a_session_that_ends_in_a_pause),
        cmocka_unit_test(spoiled_runs_are_made_again),
        cmocka_unit_test(nobody_observes),
        cmocka_unit_test(accounts_frame_the_timed_section),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
