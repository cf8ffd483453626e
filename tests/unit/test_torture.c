/* Every allocation and every socket call of a session fails once, at the client and at the server:
 * login, write, read, copy, copy on the server, clean-up. The client gets an error in one line or
 * nothing at all, what it made is gone while the connection lives, nothing leaks (the sanitizer
 * tells), and the server serves the next client. */
#include "unit.h"

#include "afp/client.h"
#include "base/clock.h"
#include "base/memory.h"
#include "failing_calls.h"
#include "failing_memory.h"
#include "server/server.h"
#include "target/afp_target.h"
#include "workload/speed.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A client that waits so long has been forgotten by the server. */
#define PATIENCE_NS (10 * NS_PER_S)

/* More than any run makes; a loop that gets here never ends. */
#define MOST_CALLS 2000

/* ---- The server ---- */

static const char *const address = "127.0.0.1";

struct fixture {
    struct server *server;
    pthread_t thread;
    struct interrupt interrupt;
    const struct uam *uam; /* how the client logs in */
};

static void *serve(void *server)
{
    struct error error;
    return server_run(server, &error) ? server : NULL;
}

static bool start_server(struct server **server, struct error *error)
{
    static const struct server_volume volumes[] = {{.name = "one", .store = "memory"},
                                                   {.name = "two", .store = "memory"}};
    static const struct server_user users[] = {{"me", "secretpw"}};
    static struct server_config config;
    config = server_config_default();
    config.listen_addresses = &address;
    config.listen_count = 1;
    config.port = 0;
    config.volumes = volumes;
    config.volume_count = COUNT(volumes);
    config.users = users;
    config.user_count = COUNT(users);
    return server_start(server, &config, error);
}

static struct dsi_config dsi_config(struct fixture *fixture)
{
    return (struct dsi_config){.host = address,
                               .port = server_port(fixture->server),
                               .timeout_ns = PATIENCE_NS,
                               .interrupt = &fixture->interrupt};
}

/* The server has begun to accept when this returns. */
static void fixture_begin(struct fixture *fixture, const struct uam *uam)
{
    struct afp_description description;
    struct error error;
    fixture->interrupt.fd = failing_calls_interrupt = eventfd(0, EFD_NONBLOCK);
    fixture->uam = uam;
    check(start_server(&fixture->server, &error), "%s", error.message);
    assert_int_equal(pthread_create(&fixture->thread, NULL, serve, fixture->server), 0);
    struct dsi_config config = dsi_config(fixture);
    check(afp_describe_server(&description, &config, &error), "%s", error.message);
}

static void fixture_end(struct fixture *fixture)
{
    void *served;
    server_stop(fixture->server);
    pthread_join(fixture->thread, &served);
    check(served != NULL, "the server gave up");
    server_free(fixture->server);
    close(fixture->interrupt.fd);
}

/* ---- The client ---- */

static bool log_in(struct fixture *fixture, struct afp_client **client, struct error *error)
{
    struct afp_client_config config = {.dsi = dsi_config(fixture),
                                       .version = AFP_3_4,
                                       .uam = fixture->uam,
                                       .credentials = {.user = "me", .password = "secretpw"}};
    return afp_client_open(client, &config, error);
}

static bool run_speed_test(struct target *target, struct speed_run *run, const char *name,
                           struct error *error)
{
    const struct speed_test *test = speed_test_by_name(name, strlen(name));
    struct speed_options options = {.size_bytes = 2 * 4096 + 1,
                                    .chunk_bytes = 4096,
                                    .depth = 2,
                                    .sink = SINK_VERIFY,
                                    .flush = true,
                                    .measure = {.iterations = 1}};
    struct observers observers = {0};
    struct result result = {0};
    *run = (struct speed_run){0};
    bool ok = speed_test_run(run, test, &options, &target, 1, &result, &observers, error);
    result_release(&result);
    return ok;
}

struct outcome {
    bool done;              /* everything that was asked for */
    bool cleaned;           /* nothing of it is left, says the target */
    bool late;              /* nothing had failed when the last clean-up began */
    bool alive;             /* the connection, after it */
    struct error error;     /* unless done */
    struct error remaining; /* unless cleaned */
};

static void run_all(struct target *target, struct afp_client *client, struct interrupt *interrupt,
                    struct outcome *outcome)
{
    static const char *const tests[] = {"Read", "Copy", "ServerCopy"};
    for (size_t i = 0; i < COUNT(tests) && outcome->done && outcome->cleaned; i++) {
        struct speed_run run;
        outcome->done = run_speed_test(target, &run, tests[i], &outcome->error);
        outcome->late = !failing_calls_fired();
        interrupt_acknowledge(interrupt);
        outcome->cleaned =
            target->ops->clean_up(target,
                                  outcome->done ? TARGET_PATIENT : clock_now_ns() + TARGET_HURRY_NS,
                                  &outcome->remaining);
        outcome->alive = dsi_ready(afp_client_session(client));
        speed_run_release(&run);
    }
}

static void run_client(struct fixture *fixture, struct outcome *outcome)
{
    struct afp_client *client;
    struct target *target;
    *outcome = (struct outcome){.cleaned = true};
    outcome->done = log_in(fixture, &client, &outcome->error);
    if (!outcome->done) {
        return;
    }
    outcome->done = afp_target_open(&target, client, "one", "two", NULL, &outcome->error);
    if (outcome->done) {
        run_all(target, client, &fixture->interrupt, outcome);
        target->ops->close(target);
    } else {
        afp_client_close(client);
    }
}

/* ---- What must hold ---- */

static void check_failure(const struct error *error, const char *where)
{
    check(error->domain != ERROR_NONE && error->message[0] != '\0', "%s: no reason", where);
    check(strchr(error->message, '\n') == NULL, "%s: %s", where, error->message);
    check(error->domain != ERROR_TIMEOUT, "%s: a wait for nothing: %s", where, error->message);
    check(error->domain != ERROR_CONTENT, "%s: wrong bytes: %s", where, error->message);
}

/* The next client finds a server that works, and nothing in its volumes. */
static void check_server(struct fixture *fixture, bool empty, const char *where)
{
    static const char *const volumes[] = {"one", "two"};
    struct afp_client *client;
    struct error error;
    check(log_in(fixture, &client, &error), "%s, next client: %s", where, error.message);
    for (size_t i = 0; i < COUNT(volumes); i++) {
        struct afp_place root = {.directory = AFP_ROOT_ID};
        struct afp_entry entry;
        bool found = false;
        bool ok = afp_client_open_volume(client, volumes[i], NULL, &root.volume, &error) &&
                  afp_client_entry(client, root, 1, &entry, &found, &error);
        check(ok, "%s, next client: %s", where, error.message);
        check(!found || !empty, "%s: '%s' stays on volume '%s'", where, entry.name, volumes[i]);
    }
    afp_client_close(client);
}

/* Returns whether there was such a call. */
static bool fail_one(const struct uam *uam, enum failing_side side, const struct fault *fault,
                     unsigned number)
{
    struct fixture fixture;
    struct outcome outcome;
    char where[120];
    snprintf(where, sizeof where, "%s at the %s, call %u (%s)", fault->name,
             side == FAIL_CLIENT ? "client" : "server", number, uam->name);
    fixture_begin(&fixture, uam);
    failing_calls_arm(side, fault, number);
    run_client(&fixture, &outcome);
    bool fired = failing_calls_fired();
    failing_calls_disarm();
    interrupt_acknowledge(&fixture.interrupt);
    if (!outcome.done) {
        check_failure(&outcome.error, where);
        check(fired, "%s: it failed by itself: %s", where, outcome.error.message);
    }
    if (!outcome.cleaned) {
        check_failure(&outcome.remaining, where);
        check(outcome.late || !outcome.alive, "%s: not cleaned up: %s", where,
              outcome.remaining.message);
    }
    check(!fault->harmless[side] || (outcome.done && outcome.cleaned), "%s: it is not harmless: %s",
          where, outcome.done ? outcome.remaining.message : outcome.error.message);
    check_server(&fixture, outcome.cleaned, where);
    fixture_end(&fixture);
    return fired;
}

/* ---- The tests ---- */

static void fail_all(const struct uam *uam, enum failing_side side)
{
    for (size_t i = 0; i < fault_count; i++) {
        unsigned number = 0;
        unsigned misses = 0;
        if (faults[i].interrupts && side == FAIL_SERVER) {
            continue;
        }
        /* How many calls a run takes depends a little on who comes first. */
        while (misses < 3) {
            check(++number < MOST_CALLS, "%s: no end of calls", faults[i].name);
            misses = fail_one(uam, side, &faults[i], number) ? 0 : misses + 1;
        }
        /* The least that a session of two connections needs. */
        check(number > misses + 2, "%s: no call failed", faults[i].name);
    }
}

static void at_the_client(void **state)
{
    fail_all(&uam_two_way, FAIL_CLIENT);
}

static void at_the_server(void **state)
{
    fail_all(&uam_two_way, FAIL_SERVER);
}

static void a_server_that_cannot_start(void **state)
{
    for (size_t i = 0; i < fault_count; i++) {
        struct server *server;
        struct error error;
        bool started = false;
        for (unsigned number = 1; !started || failing_calls_fired(); number++) {
            failing_calls_arm(FAIL_CLIENT, &faults[i], number);
            started = start_server(&server, &error);
            failing_calls_disarm();
            if (started) {
                server_free(server);
            } else {
                check_failure(&error, faults[i].name);
            }
            check(number < MOST_CALLS, "%s: no end of calls", faults[i].name);
        }
    }
}

/* Neither end keeps the password of a login: not in what was sent, nor in what arrived. */
static void no_password_stays_in_memory(void **state)
{
    static const char password[] = "secretpw";
    struct fixture fixture;
    struct afp_client *client;
    struct error error;
    char *copy = memory_copy_string(password);
    assert_true(memory_holds(password, sizeof password - 1)); /* the look itself */
    memory_release(copy);
    fixture_begin(&fixture, &uam_cleartext);
    check(log_in(&fixture, &client, &error), "%s", error.message);
    assert_false(memory_holds(password, sizeof password - 1));
    afp_client_close(client);
    fixture_end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_password_stays_in_memory),
        cmocka_unit_test(at_the_client),
        cmocka_unit_test(at_the_server),
        cmocka_unit_test(a_server_that_cannot_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
