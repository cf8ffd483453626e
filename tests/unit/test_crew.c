/* workload/crew: workers that take steps together. pthread_create() goes through this program, so
 * that the n-th call can fail. */
#include "unit.h"

#include "base/clock.h"
#include "workload/crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define MOST 16

/* ---- Threads that cannot be had ---- */

static unsigned created;
static unsigned fail_at; /* number of the thread that fails, from 1; 0: none */

/* The linker puts them in the place of the C library's (--wrap), or of the sanitizer's. */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    return ++created == fail_at ? EAGAIN
                                : __real_pthread_create(thread, attributes, start, argument);
}

static void create_from(unsigned number)
{
    created = 0;
    fail_at = number;
}

/* ---- Workers ---- */

struct worker {
    unsigned number;
    unsigned fail_step; /* 0: never */
    unsigned steps;
    pthread_t thread;
    bool same_thread; /* in every step */
};

/* What all workers of a step look at. */
static atomic_uint arrived, left;
static unsigned crew_size;
static atomic_bool all_were_there;

/* Waits, with patience, until all workers are inside at once. */
static bool meet(void *context, struct error *error)
{
    struct worker *worker = context;
    worker->same_thread = worker->steps == 0 || pthread_equal(worker->thread, pthread_self());
    worker->thread = pthread_self();
    worker->steps++;
    arrived++;
    for (unsigned i = 0; arrived < crew_size && i < 1000000; i++) {
        sched_yield();
    }
    if (arrived < crew_size) {
        all_were_there = false;
    }
    left++;
    return worker->steps != worker->fail_step ||
           error_set(error, ERROR_AFP, (int32_t)worker->number, "worker %u", worker->number);
}

static bool do_nothing(void *worker, struct error *error)
{
    return true;
}

/* In most tests nobody waits so long. */
static const struct crew_care care = {do_nothing, 60 * NS_PER_S};

static void workers_make(struct worker *workers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        workers[i] = (struct worker){.number = (unsigned)i};
    }
}

static bool step(struct crew *crew, size_t count, struct error *error)
{
    arrived = left = 0;
    crew_size = (unsigned)count;
    all_were_there = true;
    bool ok = crew_step(crew, meet, error);
    /* All have begun and ended, whoever failed. */
    assert_int_equal(arrived, count);
    assert_int_equal(left, count);
    assert_true(all_were_there);
    return ok;
}

/* ---- The tests ---- */

static const size_t counts[] = {1, 2, 3, MOST};

static void all_are_released_together(void **state)
{
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct worker workers[MOST];
        struct crew *crew = NULL;
        struct error error;
        create_from(0);
        workers_make(workers, counts[i]);
        assert_true(crew_start(&crew, workers, counts[i], sizeof workers[0], &care, &error));
        assert_int_equal(created, counts[i] == 1 ? 0 : counts[i]);
        for (unsigned number = 1; number <= 50; number++) {
            assert_true(step(crew, counts[i], &error));
            for (size_t k = 0; k < counts[i]; k++) {
                assert_int_equal(workers[k].steps, number); /* each once, seen from here */
                assert_true(workers[k].same_thread);
                for (size_t other = 0; other < k; other++) {
                    assert_false(pthread_equal(workers[k].thread, workers[other].thread));
                }
            }
        }
        assert_int_equal(pthread_equal(workers[0].thread, pthread_self()) != 0, counts[i] == 1);
        crew_end(crew);
    }
}

/* Only some fail: the error is the first one's, the others end their step, and the next goes on. */
static void the_first_error_wins(void **state)
{
    static const struct {
        unsigned failing[2]; /* MOST: none */
        unsigned first;
    } rows[] = {{{0, MOST}, 0}, {{2, MOST}, 2}, {{1, 2}, 1}, {{2, 0}, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct worker workers[3];
        struct crew *crew = NULL;
        struct error error = {0};
        create_from(0);
        workers_make(workers, 3);
        for (size_t k = 0; k < 2; k++) {
            if (rows[i].failing[k] < MOST) {
                workers[rows[i].failing[k]].fail_step = 2;
            }
        }
        assert_true(crew_start(&crew, workers, 3, sizeof workers[0], &care, &error));
        assert_true(step(crew, 3, &error));
        assert_int_equal(error.domain, ERROR_NONE);
        assert_false(step(crew, 3, &error));
        char expected[20];
        snprintf(expected, sizeof expected, "worker %u", rows[i].first);
        assert_string_equal(error.message, expected);
        assert_int_equal(error.domain, ERROR_AFP);
        assert_int_equal(error.code, rows[i].first);
        assert_true(step(crew, 3, &error));
        crew_end(crew);
    }
}

static void one_alone_may_fail_too(void **state)
{
    struct worker worker = {.number = 7, .fail_step = 1};
    struct crew *crew = NULL;
    struct error error;
    assert_true(crew_start(&crew, &worker, 1, sizeof worker, &care, &error));
    assert_false(step(crew, 1, &error));
    assert_string_equal(error.message, "worker 7");
    assert_true(step(crew, 1, &error));
    crew_end(crew);
}

static void a_crew_may_do_nothing(void **state)
{
    crew_end(NULL);
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct worker workers[MOST];
        struct crew *crew = NULL;
        struct error error;
        create_from(0);
        assert_true(crew_start(&crew, workers, counts[i], sizeof workers[0], &care, &error));
        crew_end(crew);
    }
}

/* All threads or none: those that exist go home, and nothing is left (the sanitizer tells). */
static void a_thread_that_cannot_be_had(void **state)
{
    for (unsigned k = 1; k <= 5; k++) {
        struct worker workers[5];
        struct crew *crew = NULL;
        struct error error;
        create_from(k);
        workers_make(workers, 5);
        assert_false(crew_start(&crew, workers, 5, sizeof workers[0], &care, &error));
        assert_null(crew);
        check_error(&error, ERROR_SYSTEM, "cannot start a thread for each of 5 sessions: ");
        assert_int_equal(error.code, EAGAIN);
        assert_int_equal(created, k);
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(workers[i].steps, 0);
        }
    }
    create_from(0);
}

/* ---- Care for those who wait ---- */

#define CARE_EVERY (10 * NS_PER_MS)

struct patient {
    unsigned number;
    atomic_uint cared;
    atomic_bool dies; /* under the care */
    bool ran;
    pthread_t thread;
};

static bool look_after(void *context, struct error *error)
{
    struct patient *patient = context;
    patient->cared++;
    patient->thread = pthread_self();
    return !patient->dies || error_set(error, ERROR_CLOSED, 0, "patient %u died", patient->number);
}

/* Worker 0 takes long: until each of the others has been looked after three times. */
static bool let_wait(void *context, struct error *error)
{
    struct patient *patient = context;
    patient->ran = true;
    if (patient->number == 0) {
        for (unsigned i = 0; i < 2000 && (patient[1].cared < 3 || patient[2].cared < 3); i++) {
            usleep(10000);
        }
    } else {
        patient->thread = pthread_self();
    }
    return true;
}

static bool fail_at_once(void *context, struct error *error)
{
    return error_set(error, ERROR_AFP, -5000, "worker %u", ((struct patient *)context)->number);
}

/* A crew of patients with numbers, often looked after. */
static struct crew *ward_open(struct patient *patients, size_t count)
{
    static const struct crew_care often = {look_after, CARE_EVERY};
    struct crew *crew = NULL;
    struct error error;
    create_from(0);
    for (size_t i = 0; i < count; i++) {
        patients[i] = (struct patient){.number = (unsigned)i};
    }
    assert_true(crew_start(&crew, patients, count, sizeof patients[0], &often, &error));
    return crew;
}

static void a_worker_that_waits_is_looked_after(void **state)
{
    struct patient patients[3];
    struct error error;
    struct crew *crew = ward_open(patients, 3);
    assert_true(crew_step(crew, let_wait, &error));
    assert_true(patients[1].cared >= 3 && patients[2].cared >= 3);
    /* Between two steps as well, also the one that was slow. */
    for (unsigned i = 0; i < 2000 && patients[0].cared == 0; i++) {
        usleep(10000);
    }
    assert_true(patients[0].cared > 0);
    crew_end(crew);
}

static void a_worker_that_dies_waiting_fails_in_its_next_step(void **state)
{
    struct patient patients[3];
    struct error error;
    struct crew *crew = ward_open(patients, 3);
    assert_true(crew_step(crew, let_wait, &error));
    patients[1].dies = true;
    usleep(20 * CARE_EVERY / NS_PER_US);
    patients[1].ran = false;
    assert_false(crew_step(crew, let_wait, &error));
    assert_string_equal(error.message, "patient 1 died");
    assert_false(patients[1].ran);
    crew_end(crew);
}

/* What is outstanding after a failure is the clean-up's. */
static void no_care_after_a_failure(void **state)
{
    struct patient patients[2];
    struct error error;
    struct crew *crew = ward_open(patients, 2);
    assert_false(crew_step(crew, fail_at_once, &error));
    unsigned before = patients[0].cared + patients[1].cared;
    usleep(100000);
    assert_int_equal(patients[0].cared + patients[1].cared, before);
    crew_end(crew);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_released_together),
        cmocka_unit_test(the_first_error_wins),
        cmocka_unit_test(one_alone_may_fail_too),
        cmocka_unit_test(a_crew_may_do_nothing),
        cmocka_unit_test(a_thread_that_cannot_be_had),
        cmocka_unit_test(a_worker_that_waits_is_looked_after),
        cmocka_unit_test(a_worker_that_dies_waiting_fails_in_its_next_step),
        cmocka_unit_test(no_care_after_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
