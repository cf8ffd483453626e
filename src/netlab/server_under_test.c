#include "netlab/server_under_test.h"

#include "afp/client.h"
#include "base/clock.h"
#include "base/stream.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_LIMIT_NS  (30 * NS_PER_S)
#define ANSWER_LIMIT_NS (10 * NS_PER_S)
#define READY_STEP_NS   (50 * NS_PER_MS)
#define STOP_LIMIT_NS   (3 * NS_PER_S)

const struct server_kind *const server_kinds[] = {&server_netatalk, &server_refserver};
const size_t server_kind_count = sizeof server_kinds / sizeof server_kinds[0];

const struct server_kind *server_kind_by_name(const char *name)
{
    for (size_t i = 0; i < server_kind_count; i++) {
        if (strcmp(server_kinds[i]->name, name) == 0) {
            return server_kinds[i];
        }
    }
    return NULL;
}

/* ---- How it fares ---- */

static bool describe_end(const struct server_under_test *server, struct error *error)
{
    char words[200];
    char how[64];
    int state = server->child.status;
    if (WIFSIGNALED(state)) {
        snprintf(how, sizeof how, "was killed by signal %d", WTERMSIG(state));
    } else {
        snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(state));
    }
    int log = server->log_path[0] != '\0' ? open(server->log_path, O_RDONLY | O_CLOEXEC) : -1;
    child_last_words(log, words, sizeof words);
    if (log >= 0) {
        close(log);
    }
    return error_set(error, ERROR_CLOSED, 0, "the server (%s) %s%s%s", server->kind->name, how,
                     words[0] != '\0' ? "; its last words: " : "", words);
}

bool server_under_test_check(struct server_under_test *server, struct error *error)
{
    if (!server->ended && server->child.process > 0 && child_has_ended(&server->child)) {
        child_reap(&server->child);
        server->ended = true;
    }
    return !server->ended || describe_end(server, error);
}

/* ---- Start ---- */

struct question {
    struct server_under_test *server;
    struct interrupt interrupt;
    uint64_t timeout_ns;
};

static bool ask(void *context, struct error *error)
{
    struct question *question = context;
    struct server_under_test *server = question->server;
    struct dsi_config config = {
        .host = LAB_SERVER_ADDRESS,
        .port = server->port,
        .timeout_ns = question->timeout_ns,
        .interrupt = &question->interrupt,
    };
    struct afp_description description;
    if (!afp_describe_server(&description, &config, error)) {
        return false;
    }
    struct span type = description.info.machine_type;
    snprintf(server->version, sizeof server->version, "%.*s", (int)type.size,
             (const char *)type.data);
    return true;
}

/* From the client's side: so it also shows that the link carries something. */
static bool await_answer(struct server_under_test *server, struct lab *lab, int interrupt_fd,
                         struct error *error)
{
    struct question question = {
        .server = server, .interrupt = {interrupt_fd}, .timeout_ns = ANSWER_LIMIT_NS};
    uint64_t deadline = clock_now_ns() + READY_LIMIT_NS;
    struct pollfd waiting = {.fd = interrupt_fd, .events = POLLIN};
    struct error answer;
    do {
        if (!server_under_test_check(server, error)) {
            return false;
        }
        if (lab_visit(lab, LAB_CLIENT, ask, &question, &answer)) {
            return true;
        }
        if (answer.domain == ERROR_INTERRUPTED) {
            *error = answer;
            return false;
        }
        (void)stream_poll(&waiting, 1, clock_now_ns() + READY_STEP_NS);
    } while (clock_now_ns() < deadline);
    return error_set(error, ERROR_TIMEOUT, 0, "the server (%s) does not answer within %g s: %s",
                     server->kind->name, (double)READY_LIMIT_NS / (double)NS_PER_S, answer.message);
}

/* Ends the server and all that it started. */
static void halt(struct server_under_test *server)
{
    if (server->child.process > 0) {
        child_terminate(&server->child, true);
        child_end(&server->child, STOP_LIMIT_NS);
        server->ended = true;
    }
}

bool server_under_test_start(struct server_under_test *server, const struct server_kind *kind,
                             struct lab *lab, const struct server_request *request,
                             int interrupt_fd, struct error *error)
{
    *server = (struct server_under_test){.kind = kind, .log = -1, .port = SERVER_UNDER_TEST_PORT};
    if (kind->start(server, lab, request, error) &&
        await_answer(server, lab, interrupt_fd, error)) {
        return true;
    }
    halt(server);
    return false;
}

/* ---- Stop ---- */

void server_under_test_stop(struct server_under_test *server)
{
    if (server->kind == NULL) {
        return;
    }
    halt(server);
    if (server->kind->release != NULL) {
        server->kind->release(server);
    }
    if (server->log >= 0) {
        close(server->log);
    }
    *server = (struct server_under_test){.log = -1};
}
