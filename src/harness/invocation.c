#include "harness/invocation.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"
#include "harness/files.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLEAN_UP_NS (8 * NS_PER_S) /* for the test program to tidy up after Ctrl-C */

struct running {
    struct harness_invocation *invocation;
    pid_t process;
    int end;   /* readable when the process has ended */
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

/* Byte by byte: after a mark the test program waits, so there is never more than one line. */
static bool read_marks(struct running *running, struct error *error)
{
    char c;
    struct iovec piece = {&c, 1};
    ssize_t got = stream_receive(running->marks, &piece, 1);
    if (got <= 0) {
        close(running->marks);
        running->marks = -1;
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

/* Until it has ended; false with its error if something else goes wrong before. */
static bool watch(struct running *running, struct error *error)
{
    uint64_t limit_ns = running->invocation->limit_ns;
    uint64_t deadline_ns = limit_ns > 0 ? clock_now_ns() + limit_ns : UINT64_MAX;
    for (;;) {
        struct pollfd events[] = {{.fd = running->end, .events = POLLIN},
                                  {.fd = running->marks, .events = POLLIN},
                                  {.fd = running->invocation->interrupt->fd, .events = POLLIN}};
        int ready = stream_poll(events, 3, deadline_ns);
        if (ready < 0) {
            return error_set_errno(error, errno, "poll");
        }
        if (ready == 0) {
            return error_set(error, ERROR_TIMEOUT, 0, "%s does not end",
                             running->invocation->arguments[0]);
        }
        if (events[2].revents != 0 && !interrupt_check(running->invocation->interrupt, error)) {
            return false;
        }
        if (events[1].revents != 0 && !read_marks(running, error)) {
            return false;
        }
        if (events[1].revents == 0 && events[0].revents != 0) {
            return true;
        }
    }
}

static void end_process(struct running *running, bool failed)
{
    if (failed) {
        struct pollfd end = {.fd = running->end, .events = POLLIN};
        kill(running->process, SIGTERM);
        if (running->marks >= 0) {
            close(running->marks);
            running->marks = -1;
        }
        if (stream_poll(&end, 1, clock_now_ns() + CLEAN_UP_NS) <= 0) {
            kill(-running->process, SIGKILL);
        }
    }
    while (waitpid(running->process, &running->invocation->status, 0) < 0 && errno == EINTR) {
    }
}

/* By a pidfd the end can be waited for together with marks and signals. */
static bool start(struct running *running, const int descriptors[], struct error *error)
{
    struct harness_invocation *invocation = running->invocation;
    struct lab_program program = {.side = LAB_CLIENT,
                                  .arguments = invocation->arguments,
                                  .descriptors = descriptors,
                                  .descriptor_count =
                                      invocation->marks ? INVOCATION_MARK_FD + 1 : 3};
    if (!lab_start(invocation->lab, &program, &running->process, error)) {
        return error_prefix(error, "cannot start the test program '%s'", invocation->arguments[0]);
    }
    running->end = (int)syscall(SYS_pidfd_open, running->process, 0);
    if (running->end < 0) {
        error_set_errno(error, errno, "cannot watch the test program");
        kill(running->process, SIGKILL);
        end_process(running, false);
        return false;
    }
    return true;
}

static bool open_outputs(int outputs[2], int pair[2], struct error *error)
{
    outputs[0] = memfd_create("output", MFD_CLOEXEC);
    outputs[1] = memfd_create("messages", MFD_CLOEXEC);
    bool taken = outputs[0] >= 0 && outputs[1] >= 0;
    return taken ? stream_pair(pair, error)
                 : error_set_errno(error, errno, "cannot take the test program's output");
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

bool harness_invocation_run(struct harness_invocation *invocation, struct error *error)
{
    int outputs[2] = {-1, -1};
    int pair[2] = {-1, -1};
    struct running running = {.invocation = invocation, .end = -1, .marks = -1};
    invocation->output = NULL;
    invocation->messages = NULL;
    bool ok = open_outputs(outputs, pair, error);
    const int descriptors[INVOCATION_MARK_FD + 1] = {-1, outputs[0], outputs[1], pair[1]};
    ok = ok && start(&running, descriptors, error);
    if (ok) {
        /* Its own copy of the other end must be the only one, or its closing would not be seen. */
        close(pair[1]);
        pair[1] = -1;
        running.marks = pair[0];
        pair[0] = -1;
        ok = watch(&running, error);
        end_process(&running, !ok);
        struct error later;
        ok = take_outputs(invocation, outputs, ok ? error : &later) && ok;
    }
    close_all((const int[]){pair[0], pair[1], outputs[0], outputs[1], running.end, running.marks},
              6);
    return ok;
}

bool harness_invocation_check(const struct harness_invocation *invocation, struct error *error)
{
    const char *name = invocation->arguments[0];
    if (WIFSIGNALED(invocation->status)) {
        return error_set(error, ERROR_SYSTEM, 0, "%s was killed by signal %d (%s)", name,
                         WTERMSIG(invocation->status), strsignal(WTERMSIG(invocation->status)));
    }
    int code = WEXITSTATUS(invocation->status);
    return code == EXIT_DONE ||
           error_set(error, code == EXIT_INTERRUPTED ? ERROR_INTERRUPTED : ERROR_SYSTEM, code,
                     "%s ended with exit code %d", name, code);
}
