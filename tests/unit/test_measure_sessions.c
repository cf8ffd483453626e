/* workload/measure with several sessions: the barrier before the timed sections, what a sample adds
 * up, and that the failure of one stops all. Nothing here depends on how fast anything is: the
 * clock counts its own readings, so every moment is told apart and in order. */
#include "unit.h"

#include "base/clock.h"
#include "fake_target.h"
#include "workload/measure.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define SESSIONS 4

static atomic_uint_least64_t readings;

/* Takes the place of the C library's for everything that is linked into this program. */
int clock_gettime(clockid_t id, struct timespec *now)
{
    uint64_t ns = atomic_fetch_add(&readings, 1);
    *now = (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    return 0;
}

/* A time of this clock says nothing to the kernel; and nobody here waits so long. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    return pthread_cond_wait(condition, mutex);
}

/* ---- Sessions ---- */

enum phase { PHASE_PREPARE, PHASE_TIMED, PHASE_RESTORE, PHASES };

struct bench;

struct session {
    struct bench *bench;
    struct fake_target *fake;
    uint64_t number; /* from 1 */
    unsigned calls[PHASES];
    uint64_t entered_ns, left_ns; /* the timed part, as seen from inside */
    bool fresh;
    unsigned fail_run[PHASES]; /* in which run it fails; 0: never */
};

struct bench {
    struct session sessions[SESSIONS];
    size_t count;
    atomic_uint inside[PHASES]; /* how often each phase was entered */
    atomic_uint through;        /* how many timed parts have ended */
    atomic_uint too_early;      /* timed parts that began before all were prepared */
    bool in_turn;               /* a session's timed part waits for the one before to end */
    struct result result;
    struct error error;
    unsigned samples;
    uint64_t told_ns; /* when the last sample was */
};

static bool phase(struct session *session, enum phase phase, struct error *error)
{
    session->bench->inside[phase]++;
    return ++session->calls[phase] != session->fail_run[phase] ||
           error_set(error, ERROR_LIMIT, (int32_t)session->number, "session %u breaks",
                     (unsigned)session->number);
}

static bool prepare(void *context, bool fresh, struct error *error)
{
    struct session *session = context;
    session->fresh = fresh;
    for (uint64_t i = 0; i < 100 * session->number; i++) {
        sched_yield(); /* some take longer */
    }
    return phase(session, PHASE_PREPARE, error);
}

static bool timed(void *context, struct sample_counts *counts, struct error *error)
{
    struct session *session = context;
    struct bench *bench = session->bench;
    unsigned run = session->calls[PHASE_TIMED] + 1;
    session->entered_ns = clock_now_ns();
    bench->too_early += bench->inside[PHASE_PREPARE] < bench->count * run;
    unsigned turn = (unsigned)((run - 1) * bench->count + session->number - 1);
    while (bench->in_turn && bench->through < turn) {
        sched_yield();
    }
    counts->bytes += 100 * session->number;
    counts->requests[REQUEST_READ] += session->number;
    counts->requests[REQUEST_WRITE] += 10 * session->number;
    counts->runts += session->number;
    counts->round_trips += 7 * session->number;
    histogram_add(counts->service, session->number);
    session->left_ns = clock_now_ns();
    bench->through++;
    return phase(session, PHASE_TIMED, error);
}

static bool restore(void *context, struct error *error)
{
    return phase(context, PHASE_RESTORE, error);
}

static bool on_sample(void *context, const struct result_case *result_case,
                      const struct sample *sample, struct error *error)
{
    struct bench *bench = context;
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;
    for (size_t i = 0; i < bench->count; i++) {
        const struct session *session = &bench->sessions[i];
        uint64_t own = result_case->session_ns[bench->samples * bench->count + i];
        first = session->entered_ns < first ? session->entered_ns : first;
        last = session->left_ns > last ? session->left_ns : last;
        /* The clock's readings lie right around what the session saw. */
        assert_true(own >= session->left_ns - session->entered_ns + 2);
        assert_true(own <= sample->duration_ns);
    }
    /* From before the first one's beginning to after the last one's end, and not more than that. */
    assert_true(sample->duration_ns >= last - first + 2);
    assert_true(sample->duration_ns < clock_now_ns() - bench->told_ns);
    bench->told_ns = clock_now_ns();
    bench->samples++;
    return true;
}

static void bench_open(struct bench *bench, size_t count)
{
    *bench = (struct bench){.count = count};
    for (size_t i = 0; i < count; i++) {
        bench->sessions[i] =
            (struct session){.bench = bench, .fake = fake_target_new(), .number = i + 1};
    }
}

static void bench_close(struct bench *bench)
{
    for (size_t i = 0; i < bench->count; i++) {
        fake_target_free(bench->sessions[i].fake);
    }
    result_release(&bench->result);
}

static bool run(struct bench *bench, const struct measure_plan *plan)
{
    struct workload workload = {prepare, timed, restore};
    struct measure_session sessions[SESSIONS];
    struct test_case test = {.name = "Test",
                             .size_bytes = 1000,
                             .sessions = (uint32_t)bench->count,
                             .warmups = plan->warmups,
                             .iterations = plan->iterations};
    struct observers observers = {.list = {{.on_sample = on_sample, .context = bench}}, .count = 1};
    for (size_t i = 0; i < bench->count; i++) {
        sessions[i] =
            (struct measure_session){&bench->sessions[i].fake->target, &bench->sessions[i]};
    }
    struct result_case *result_case = result_add_case(&bench->result, &test, &bench->error);
    assert_non_null(result_case);
    bench->told_ns = clock_now_ns();
    bool ok = measure_run(plan, &workload, sessions, bench->count, result_case, &observers,
                          &bench->error);
    assert_int_equal(bench->too_early, 0);
    assert_int_equal(result_case->sample_count, bench->samples);
    return ok;
}

/* ---- The tests ---- */

static void none_begins_before_all_are_prepared(void **state)
{
    static const struct measure_plan plan = {
        .warmups = 2, .iterations = 20, .pause_ns = 1, .fresh_files = true};
    for (size_t count = 1; count <= SESSIONS; count++) {
        struct bench bench;
        bench_open(&bench, count);
        check(run(&bench, &plan), "%s", bench.error.message);
        assert_int_equal(bench.samples, 22);
        for (size_t i = 0; i < count; i++) {
            const struct session *session = &bench.sessions[i];
            for (size_t k = 0; k < PHASES; k++) {
                assert_int_equal(session->calls[k], 22);
            }
            assert_true(session->fresh);
            assert_int_equal(session->fake->accounts, 44);
            char *idles = session->fake->log; /* each target waits in every pause */
            unsigned pauses = 0;
            while ((idles = strstr(idles, "idle")) != NULL) {
                idles++;
                pauses++;
            }
            assert_int_equal(pauses, 21);
        }
        bench_close(&bench);
    }
}

/* One after the other, so that the sample is as long as all of them, each of which waits for those
 * before it. */
static void from_the_first_start_to_the_last_end(void **state)
{
    static const struct measure_plan plan = {.iterations = 5};
    struct bench bench;
    bench_open(&bench, SESSIONS);
    bench.in_turn = true;
    assert_true(run(&bench, &plan));
    const struct result_case *result_case = bench.result.cases[0];
    for (size_t i = 0; i < 5; i++) {
        const struct sample *sample = &result_case->samples[i];
        uint64_t sum = 0;
        for (size_t k = 0; k < SESSIONS; k++) {
            sum += result_case->session_ns[i * SESSIONS + k];
        }
        assert_int_equal(sample->elapsed_ns, sum);
    }
    for (size_t i = 1; i < SESSIONS; i++) {
        assert_true(bench.sessions[i].left_ns > bench.sessions[i - 1].left_ns);
    }
    bench_close(&bench);
}

/* 1 + 2 + 3 + 4 = 10 of everything but round trips, which pass side by side: the most of one. */
static void counts_are_summed(void **state)
{
    static const struct measure_plan plan = {.warmups = 1, .iterations = 2};
    struct bench bench;
    bench_open(&bench, SESSIONS);
    for (size_t i = 0; i < SESSIONS; i++) {
        bench.sessions[i].fake->waiting_step = 1;
    }
    assert_true(run(&bench, &plan));
    const struct result_case *result_case = bench.result.cases[0];
    for (size_t i = 0; i < 3; i++) {
        const struct sample *sample = &result_case->samples[i];
        assert_int_equal(sample->size_bytes, 4000);
        assert_int_equal(sample->counts.bytes, 1000);
        assert_int_equal(sample->counts.requests[REQUEST_READ], 10);
        assert_int_equal(sample->counts.requests[REQUEST_WRITE], 100);
        assert_int_equal(sample->counts.requests[REQUEST_FLUSH], 0);
        assert_int_equal(sample->counts.runts, 10);
        assert_int_equal(sample->counts.round_trips, 28);
        assert_true(sample->cpu_ns >= 4 * 3); /* the clock ticks thrice in each section at least */
        uint64_t sum = 0;
        for (size_t share = 0; share < SHARES; share++) {
            sum += sample->shares_ns[share];
        }
        assert_int_equal(sum, sample->elapsed_ns);
    }
    /* The service times of the measured runs, without the warm-up's. */
    assert_int_equal(result_case->service.count, 2 * SESSIONS);
    assert_int_equal(result_case->service.sum, 2 * 10);
    assert_int_equal(result_case->service.minimum, 1);
    assert_int_equal(result_case->service.maximum, 4);
    bench_close(&bench);
}

/* Whichever session breaks, and in whichever step of the second run: the others end that step, and
 * nobody goes on. */
static void a_failure_of_one_stops_all(void **state)
{
    static const struct measure_plan plan = {.warmups = 1, .iterations = 3};
    for (size_t broken = 0; broken < SESSIONS; broken++) {
        for (size_t k = 0; k < PHASES; k++) {
            struct bench bench;
            bench_open(&bench, SESSIONS);
            bench.sessions[broken].fail_run[k] = 2;
            check(!run(&bench, &plan), "session %zu failed unnoticed", broken);
            check_error(&bench.error, ERROR_LIMIT, "breaks");
            assert_int_equal(bench.error.code, broken + 1);
            assert_int_equal(bench.samples, k == PHASE_RESTORE ? 2 : 1);
            for (size_t i = 0; i < SESSIONS; i++) {
                for (size_t other = 0; other < PHASES; other++) {
                    assert_int_equal(bench.sessions[i].calls[other], other <= k ? 2 : 1);
                }
            }
            bench_close(&bench);
        }
    }
}

/* Of several the first session's error is told. */
static void the_first_of_several_failures(void **state)
{
    static const struct measure_plan plan = {.iterations = 3};
    struct bench bench;
    bench_open(&bench, SESSIONS);
    bench.sessions[3].fail_run[PHASE_TIMED] = 1;
    bench.sessions[1].fail_run[PHASE_TIMED] = 1;
    assert_false(run(&bench, &plan));
    assert_string_equal(bench.error.message, "session 2 breaks");
    bench_close(&bench);
}

/* The targets' own calls: the account before, the account after, the pause. */
static void a_target_that_fails_stops_all(void **state)
{
    static const struct measure_plan plan = {.iterations = 3, .pause_ns = 1};
    for (unsigned call = 1; call <= 3; call++) {
        struct bench bench;
        bench_open(&bench, SESSIONS);
        bench.sessions[2].fake->fail_at = call;
        assert_false(run(&bench, &plan));
        assert_string_equal(bench.error.message, FAKE_MESSAGE);
        assert_int_equal(bench.samples, call == 3);
        for (size_t i = 0; i < SESSIONS; i++) {
            assert_int_equal(bench.sessions[i].calls[PHASE_TIMED], call > 1);
            assert_int_equal(bench.sessions[i].calls[PHASE_PREPARE], 1);
        }
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_begins_before_all_are_prepared),
        cmocka_unit_test(from_the_first_start_to_the_last_end),
        cmocka_unit_test(counts_are_summed),
        cmocka_unit_test(a_failure_of_one_stops_all),
        cmocka_unit_test(the_first_of_several_failures),
        cmocka_unit_test(a_target_that_fails_stops_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
