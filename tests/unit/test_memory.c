/* Every allocation of the client's library fails once: the caller gets an error, and nothing leaks
 * (the sanitizer tells). The functions of base/memory.h are this program's own. */
#include "unit.h"

#include "base/clock.h"
#include "dsi/session.h"
#include "failing_memory.h"
#include "fake_target.h"
#include "loopback.h"
#include "workload/speed.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- The tests ---- */

#define SESSIONS 3

static bool run_once(const struct speed_test *test, uint32_t read_chunk, size_t sessions,
                     struct error *error)
{
    struct speed_run runs[SESSIONS] = {0};
    struct target *targets[SESSIONS];
    for (size_t i = 0; i < sessions; i++) {
        struct fake_target *fake = fake_target_new();
        fake->target.facts.read_chunk = read_chunk;
        targets[i] = &fake->target;
    }
    struct speed_options options = {.size_bytes = 2500, .depth = 2, .measure = {.iterations = 1}};
    struct result result = {0};
    struct observers observers = {.count = 1};
    bool ok = speed_test_run(runs, test, &options, targets, sessions, &result, &observers, error);
    check(ok || result.case_count == 0 || !result.cases[0]->ended, "it failed and has ended");
    result_release(&result);
    for (size_t i = 0; i < sessions; i++) {
        struct error ignored;
        best_effort(targets[i]->ops->clean_up(
            targets[i], ok ? TARGET_PATIENT : clock_now_ns() + TARGET_HURRY_NS, &ignored));
        speed_run_release(&runs[i]);
        fake_target_free((struct fake_target *)targets[i]);
    }
    return ok;
}

static void every_test_survives(void **state)
{
    for (size_t t = 0; t < 2 * speed_test_count; t++) {
        const struct speed_test *test = speed_tests[t / 2];
        size_t sessions = t % 2 == 0 ? 1 : SESSIONS;
        struct error error;
        memory_fail_at(0);
        assert_true(run_once(test, 1000, sessions, &error));
        unsigned all = memory_asked();
        assert_true(all >= 3);
        for (unsigned k = 1; k <= all; k++) {
            memory_fail_at(k);
            check(!run_once(test, 1000, sessions, &error), "%s: allocation %u", test->facts->name,
                  k);
            check_error(&error, ERROR_SYSTEM, "out of memory for ");
            assert_int_equal(error.code, ENOMEM);
        }
    }
}

/* A server may offer a quantum of 4 GiB; a small file must not cost that much. */
static void a_huge_quantum_costs_nothing(void **state)
{
    struct error error;
    memory_fail_at(0);
    assert_true(run_once(speed_test_by_name("Read", 4), UINT32_MAX, 1, &error));
    assert_in_range(memory_largest(), 2500, 4 << 20);
}

/* ---- A session ---- */

static bool connect_and_reserve(struct error *error)
{
    uint16_t port;
    int listener = loopback_listen(&port);
    struct interrupt interrupt = {.fd = -1};
    struct dsi_config config = {
        .host = "127.0.0.1", .port = port, .timeout_ns = 10 * NS_PER_S, .interrupt = &interrupt};
    struct dsi_session *session = NULL;
    bool ok = dsi_connect(&session, &config, error) && dsi_reserve(session, 8, error);
    dsi_close(session);
    close(listener);
    return ok;
}

static void a_session_survives(void **state)
{
    struct error error;
    memory_fail_at(0);
    assert_true(connect_and_reserve(&error));
    unsigned all = memory_asked();
    assert_true(all >= 5);
    for (unsigned k = 1; k <= all; k++) {
        memory_fail_at(k);
        check(!connect_and_reserve(&error), "allocation %u", k);
        check_error(&error, ERROR_SYSTEM, "out of memory for ");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_test_survives),
        cmocka_unit_test(a_huge_quantum_costs_nothing),
        cmocka_unit_test(a_session_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
