/* No test allocates memory while it is timed, over AFP or over POSIX calls.
 *
 * Allocations through base/memory.h count; so do malloc() and its kin, but for the sanitizers'
 * builds, which have their own. Only the measuring threads count, and only between the two clock
 * readings: the reference server runs in this process too. */
#include "posix_fixture.h"

#include "afp/client.h"
#include "base/clock.h"
#include "base/memory.h"
#include "failing_memory.h"
#include "server/server.h"
#include "target/afp_target.h"
#include "workload/speed.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED
#endif

static _Thread_local bool timed; /* this thread is between the two clock readings */
static atomic_uint allocations;  /* there */
static atomic_uint timed_runs;

static void count(void)
{
    allocations += timed;
}

/* ---- Memory ---- */

#ifndef SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size)
{
    count();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size);

void *memalign(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return *block != NULL ? 0 : ENOMEM;
}
#endif

static bool hook(size_t size_bytes)
{
    count();
    return true;
}

/* ---- A test whose timed section is watched ---- */

static bool (*timed_part)(void *run, struct sample_counts *counts, struct error *error);

static bool watch(void *run, struct sample_counts *counts, struct error *error)
{
    timed = true;
    bool ok = timed_part(run, counts, error);
    timed = false;
    timed_runs++;
    return ok;
}

#define SESSIONS 2

static const struct {
    uint32_t depth;
    enum flow_policy policy;
    enum flow_sink sink;
    bool fresh;
} ways[] = {
    {1, FLOW_WINDOW, SINK_COPY, false},
    {8, FLOW_WINDOW, SINK_COPY, false},
    {8, FLOW_BATCH, SINK_VERIFY, false},
    {1, FLOW_WINDOW, SINK_VERIFY, true},
};

/* All tests, in every way, with no warm-up: the first run allocates nothing either. */
static void watch_all(struct target *const *targets, size_t sessions)
{
    for (size_t at = 0; at < speed_test_count * COUNT(ways); at++) {
        struct speed_test test = *speed_tests[at / COUNT(ways)];
        size_t way = at % COUNT(ways);
        struct speed_run runs[SESSIONS] = {0};
        struct speed_options options = {.size_bytes = 40 * 4096 + 1,
                                        .chunk_bytes = 4096,
                                        .depth = ways[way].depth,
                                        .policy = ways[way].policy,
                                        .sink = ways[way].sink,
                                        .flush = true,
                                        .measure = {.iterations = 3,
                                                    .fresh_files = ways[way].fresh}};
        struct observers observers = {0};
        struct result result = {0};
        struct error error;
        timed_part = test.timed;
        test.timed = watch;
        timed_runs = allocations = 0;
        must(speed_test_run(runs, &test, &options, targets, sessions, &result, &observers, &error));
        assert_int_equal(timed_runs, 3 * sessions);
        check(allocations == 0, "%s, way %zu, %zu sessions: %u allocations", test.facts->name, way,
              sessions, allocations);
        for (size_t i = 0; i < sessions; i++) {
            must(targets[i]->ops->clean_up(targets[i], TARGET_PATIENT, &error));
            speed_run_release(&runs[i]);
        }
        result_release(&result);
    }
}

static void the_counter_counts(void **state)
{
    static void *volatile block;
    allocations = 0;
    block = malloc(10);
    assert_int_equal(allocations, 0);
    timed = true;
    free(block);
    block = memory_allocate(1, 10);
    timed = false;
    assert_true(allocations >= 1);
    memory_release(block);
}

/* ---- Over POSIX calls ---- */

static void posix_calls(void **state)
{
    for (int direct = 0; direct < 2; direct++) {
        struct posix_fixture fixtures[SESSIONS];
        struct target *targets[SESSIONS];
        for (size_t i = 0; i < SESSIONS; i++) {
            posix_begin(&fixtures[i], "/tmp", direct != 0);
            targets[i] = fixtures[i].target;
        }
        watch_all(targets, 1);
        watch_all(targets, SESSIONS);
        for (size_t i = 0; i < SESSIONS; i++) {
            posix_end(&fixtures[i]);
        }
    }
}

/* ---- Over AFP ---- */

static void *serve(void *server)
{
    struct error error;
    bool ok = server_run(server, &error);
    return ok ? server : NULL;
}

static void over_afp(enum afp_version version)
{
    static const char *const address = "127.0.0.1";
    static const struct server_volume volumes[] = {{.name = "one", .store = "memory"},
                                                   {.name = "two", .store = "memory"}};
    struct server_config config = server_config_default();
    struct interrupt interrupt = {.fd = -1};
    struct server *server;
    struct afp_client *clients[SESSIONS];
    struct target *targets[SESSIONS];
    struct error error;
    pthread_t thread;
    void *served;
    config.listen_addresses = &address;
    config.listen_count = 1;
    config.port = 0;
    config.volumes = volumes;
    config.volume_count = COUNT(volumes);
    must(server_start(&server, &config, &error));
    assert_int_equal(pthread_create(&thread, NULL, serve, server), 0);
    struct afp_client_config client = {.dsi = {.host = address,
                                               .port = server_port(server),
                                               .timeout_ns = 20 * NS_PER_S,
                                               .interrupt = &interrupt},
                                       .version = version,
                                       .uam = &uam_guest,
                                       .credentials = {.user = "", .password = ""}};
    for (size_t i = 0; i < SESSIONS; i++) {
        must(afp_client_open(&clients[i], &client, &error));
        must(afp_target_open(&targets[i], clients[i], "one", "two", NULL, &error));
    }
    watch_all(targets, 1);
    watch_all(targets, SESSIONS);
    for (size_t i = 0; i < SESSIONS; i++) {
        targets[i]->ops->close(targets[i]);
    }
    server_stop(server);
    pthread_join(thread, &served);
    assert_ptr_equal(served, server);
    server_free(server);
}

static void afp_calls(void **state)
{
    over_afp(AFP_3_4);
    over_afp(AFP_2_2);
}

int main(void)
{
    memory_hook = hook;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counter_counts),
        cmocka_unit_test(posix_calls),
        cmocka_unit_test(afp_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
