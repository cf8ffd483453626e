#include "harness/invocation.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"
#include "cli/password.h"
#include "harness/files.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PASSWORD_VARIABLE "AFP_PASSWORD="
#define CLEAN_UP_NS       (8 * NS_PER_S) /* for the test program to tidy up after Ctrl-C */

struct running {
    struct harness_invocation *invocation;
    struct child child;
    int marks; /* −1: none, or closed by the other side */
    char line[MARK_LENGTH];
    size_t length;
};

/* ---- Marks ---- */

static bool answer(const struct running *running, bool again, struct error *error)
{
    char text[] = MARK_AGAIN "\n";
    size_t skipped = again ? 0 : sizeof text - 2; /* all but the end of the line */
    struct iovec piece = {text + skipped, sizeof text - 1 - skipped};
    return stream_send_all(running->marks, &piece, 1, false, error) ||
           error_prefix(error, "cannot answer the test program's mark");
}

static bool take_line(struct running *running, struct error *error)
{
    struct mark mark;
    bool again = false;
    running->line[running->length] = '\0';
    running->length = 0;
    return mark_read(running->line, &mark, error) &&
           running->invocation->on_mark(running->invocation->context, &mark, &again, error) &&
           answer(running, again, error);
}

static void close_marks(struct running *running)
{
    if (running->marks >= 0) {
        close(running->marks);
        running->marks = -1;
    }
}

/* Byte by byte: after a mark the test program waits, so there is never more than one line. */
static bool read_marks(void *context, struct error *error)
{
    struct running *running = context;
    char c;
    struct iovec piece = {&c, 1};
    ssize_t got = stream_receive(running->marks, &piece, 1);
    if (got <= 0) {
        close_marks(running);
        return true;
    }
    if (c == '\n') {
        return take_line(running, error);
    }
    if (running->length == sizeof running->line - 1) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "the test program wrote more than a line of %zu bytes to --mark-fd",
                         sizeof running->line - 1);
    }
    running->line[running->length++] = c;
    return true;
}

/* ---- The process ---- */

static bool watch(struct running *running, struct error *error)
{
    struct harness_invocation *invocation = running->invocation;
    const struct child_watch watch = {.name = invocation->arguments[0],
                                      .limit_ns = invocation->limit_ns,
                                      .interrupt = invocation->interrupt,
                                      .fd = &running->marks,
                                      .on_readable = read_marks,
                                      .context = running};
    bool ok = child_watch(&running->child, &watch, error);
    if (ok) {
        child_reap(&running->child);
    } else {
        child_terminate(&running->child, false);
        close_marks(running); /* it gets no answer any more */
        child_end(&running->child, CLEAN_UP_NS);
    }
    invocation->status = running->child.status;
    return ok;
}

static bool open_outputs(int outputs[2], int pair[2], struct error *error)
{
    outputs[0] = child_output_open(error);
    outputs[1] = outputs[0] >= 0 ? child_output_open(error) : -1;
    return outputs[1] >= 0 && stream_pair(pair, error);
}

static void close_all(const int *descriptors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (descriptors[i] >= 0) {
            close(descriptors[i]);
        }
    }
}

static bool take_outputs(struct harness_invocation *invocation, const int outputs[2],
                         struct error *error)
{
    invocation->output = harness_read_file(outputs[0], "the test program's output", error);
    if (invocation->output != NULL) {
        invocation->messages = harness_read_file(outputs[1], "the test program's messages", error);
    }
    return invocation->messages != NULL;
}

/* Ours with a password in it, which is of the caller's; NULL with an error. */
static char **environment_with(char *password, struct error *error)
{
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **environment = memory_allocate(count + 2, sizeof *environment);
    if (environment == NULL) {
        memory_error(error, "for the test program's environment");
        return NULL;
    }
    size_t used = 0;
    environment[used++] = password;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], PASSWORD_VARIABLE, strlen(PASSWORD_VARIABLE)) != 0) {
            environment[used++] = environ[i];
        }
    }
    return environment;
}

static bool start(struct running *running, struct child_program *program, struct error *error)
{
    const struct harness_invocation *invocation = running->invocation;
    char password[sizeof PASSWORD_VARIABLE + PASSWORD_LIMIT];
    char **environment = NULL;
    struct lab_place place = {.lab = invocation->lab, .side = LAB_CLIENT};
    if (invocation->lab != NULL) {
        program->prepare = lab_enter;
        program->context = &place;
    }
    if (invocation->password != NULL) {
        snprintf(password, sizeof password, PASSWORD_VARIABLE "%s", invocation->password);
        environment = environment_with(password, error);
        if (environment == NULL) {
            return false;
        }
        program->environment = environment;
    }
    bool ok = child_start(&running->child, program, error) ||
              error_prefix(error, "cannot start the test program '%s'", invocation->arguments[0]);
    memory_release(environment);
    memory_wipe(password, sizeof password);
    return ok;
}

bool harness_invocation_run(struct harness_invocation *invocation, struct error *error)
{
    int outputs[2] = {-1, -1};
    int pair[2] = {-1, -1};
    struct running running = {.invocation = invocation, .marks = -1};
    invocation->output = NULL;
    invocation->messages = NULL;
    bool ok = open_outputs(outputs, pair, error);
    struct child_program program = {
        .arguments = invocation->arguments,
        .descriptors = (const int[]){-1, outputs[0], outputs[1], pair[1]},
        .descriptor_count = invocation->marks ? INVOCATION_MARK_FD + 1 : 3,
    };
    ok = ok && start(&running, &program, error);
    if (ok) {
        /* Its own copy of the other end must be the only one, or its closing would not be seen. */
        close(pair[1]);
        pair[1] = -1;
        running.marks = pair[0];
        pair[0] = -1;
        ok = watch(&running, error);
        struct error later;
        ok = take_outputs(invocation, outputs, ok ? error : &later) && ok;
    }
    close_all((const int[]){pair[0], pair[1], outputs[0], outputs[1], running.marks}, 5);
    return ok;
}

bool harness_invocation_check(const struct harness_invocation *invocation, struct error *error)
{
    int status = invocation->status;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    char end[CHILD_END_LENGTH];
    return status == 0 ||
           error_set(error, code == EXIT_INTERRUPTED ? ERROR_INTERRUPTED : ERROR_SYSTEM, code,
                     "%s %s", invocation->arguments[0], child_end_text(status, end));
}
