#include "base/child.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Above whatever number a program may ask for, while descriptors are moved to their places. */
#define DESCRIPTOR_PARKING 512
#define LAST_WORDS_BYTES   4096

/* ---- In the child ---- */

/* Places the program's descriptors at 0, 1, 2, …; everything else closes when it begins. */
static bool place_descriptors(const struct child_program *program, int null)
{
    int parked[CHILD_DESCRIPTORS];
    for (size_t i = 0; i < program->descriptor_count; i++) {
        int from = program->descriptors[i] >= 0 ? program->descriptors[i] : null;
        parked[i] = fcntl(from, F_DUPFD_CLOEXEC, DESCRIPTOR_PARKING);
        if (parked[i] < 0) {
            return false;
        }
    }
    for (size_t i = 0; i < program->descriptor_count; i++) {
        if (dup2(parked[i], (int)i) < 0) {
            return false;
        }
    }
    return close_range((unsigned)program->descriptor_count, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL); /* refused for a few, which cannot be changed anyway */
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Comes back with errno set and the step's name when something failed. `failure` moves out of the
 * descriptors' way. /dev/null is opened first: prepare() may change the root directory. */
static const char *become(const struct child_program *program, pid_t parent, int *failure)
{
    int moved = fcntl(*failure, F_DUPFD_CLOEXEC, DESCRIPTOR_PARKING);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    *failure = moved >= 0 ? moved : *failure;
    if (setpgid(0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) {
        return "cannot prepare the process for";
    }
    if (getppid() != parent) {
        _exit(EXIT_CANNOT_RUN);
    }
    const char *step = program->prepare != NULL ? program->prepare(program->context) : NULL;
    if (step != NULL) {
        return step;
    }
    if (moved < 0 || null < 0 || !place_descriptors(program, null)) {
        return "cannot place the descriptors of";
    }
    reset_signals();
    execvpe(program->arguments[0], program->arguments,
            program->environment != NULL ? program->environment : environ);
    return "cannot run";
}

struct failed_step {
    int cause;
    char step[60];
};

_Noreturn static void run_program(const struct child_program *program, pid_t parent, int failure)
{
    const char *step = become(program, parent, &failure);
    struct failed_step failed = {.cause = errno};
    snprintf(failed.step, sizeof failed.step, "%s", step);
    ssize_t told = write(failure, &failed, sizeof failed);
    (void)told; /* a parent that is gone needs no word */
    _exit(EXIT_CANNOT_RUN);
}

/* ---- Beginning ---- */

/* The pipe closes when the program starts: what comes out of it is the step that failed. */
static bool hear(struct child *child, int failure, const char *name, struct error *error)
{
    struct failed_step failed;
    ssize_t got = read(failure, &failed, sizeof failed);
    if (got == 0) {
        return true;
    }
    child_reap(child);
    return got == (ssize_t)sizeof failed
               ? error_set_errno(error, failed.cause, "%s %s", failed.step, name)
               : error_set(error, ERROR_SYSTEM, 0, "cannot start %s", name);
}

bool child_start(struct child *child, const struct child_program *program, struct error *error)
{
    const char *name = program->arguments[0];
    int failure[2];
    *child = (struct child){.end = -1};
    if (program->descriptor_count > CHILD_DESCRIPTORS) {
        return error_set(error, ERROR_LIMIT, 0, "more than %d descriptors for %s",
                         CHILD_DESCRIPTORS, name);
    }
    if (pipe2(failure, O_CLOEXEC) < 0) {
        return error_set_errno(error, errno, "cannot make a pipe");
    }
    pid_t parent = getpid();
    pid_t process = fork();
    if (process == 0) {
        run_program(program, parent, failure[1]);
    }
    int cause = errno;
    close(failure[1]);
    child->process = process > 0 ? process : 0;
    bool ok = process > 0 ? hear(child, failure[0], name, error)
                          : error_set_errno(error, cause, "cannot start %s", name);
    close(failure[0]);
    child->end = ok ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
    if (ok && child->end < 0) {
        error_set_errno(error, errno, "cannot watch %s", name);
        child_end(child, 0);
        return false;
    }
    return ok;
}

/* ---- Waiting and ending ---- */

bool child_watch(const struct child *child, const struct child_watch *watch, struct error *error)
{
    uint64_t deadline_ns = watch->limit_ns > 0 ? clock_now_ns() + watch->limit_ns : UINT64_MAX;
    for (;;) {
        struct pollfd events[] = {
            {.fd = child->end, .events = POLLIN},
            {.fd = watch->fd != NULL ? *watch->fd : -1, .events = POLLIN},
            {.fd = watch->interrupt != NULL ? watch->interrupt->fd : -1, .events = POLLIN},
        };
        int ready = stream_poll(events, 3, deadline_ns);
        if (ready < 0) {
            return error_set_errno(error, errno, "poll");
        }
        if (ready == 0) {
            return error_set(error, ERROR_TIMEOUT, 0, "%s does not end", watch->name);
        }
        if (events[2].revents != 0 && !interrupt_check(watch->interrupt, error)) {
            return false;
        }
        if (events[1].revents != 0 && !watch->on_readable(watch->context, error)) {
            return false;
        }
        if (events[1].revents == 0 && events[0].revents != 0) {
            return true;
        }
    }
}

/* Not when the wait fails: who believes in an end reaps it, which waits without a limit. */
static bool await_end(const struct child *child, uint64_t deadline_ns)
{
    struct pollfd end = {.fd = child->end, .events = POLLIN};
    return stream_poll(&end, 1, deadline_ns) > 0;
}

bool child_has_ended(const struct child *child)
{
    return await_end(child, 0);
}

void child_reap(struct child *child)
{
    while (waitpid(child->process, &child->status, 0) < 0 && errno == EINTR) {
    }
    if (child->end >= 0) {
        close(child->end);
    }
    child->end = -1;
    child->process = 0;
}

void child_terminate(const struct child *child, bool group)
{
    kill(group ? -child->process : child->process, SIGTERM);
}

/* The group is killed before its leader is reaped: until then nobody else can get its number. */
void child_end(struct child *child, uint64_t grace_ns)
{
    if (child->process <= 0) {
        return;
    }
    if (grace_ns > 0) {
        (void)await_end(child, clock_now_ns() + grace_ns);
    }
    kill(-child->process, SIGKILL);
    child_reap(child);
}

bool child_run(const struct child_program *program, const struct child_watch *watch, int *status,
               struct error *error)
{
    struct child child;
    if (!child_start(&child, program, error)) {
        return false;
    }
    bool ok = child_watch(&child, watch, error);
    if (ok) {
        child_reap(&child);
    } else {
        child_end(&child, 0);
    }
    *status = child.status;
    return ok;
}

const char *child_end_text(int status, char text[CHILD_END_LENGTH])
{
    if (WIFSIGNALED(status)) {
        snprintf(text, CHILD_END_LENGTH, "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else {
        snprintf(text, CHILD_END_LENGTH, "ended with exit code %d", WEXITSTATUS(status));
    }
    return text;
}

/* ---- What it writes ---- */

int child_output_open(struct error *error)
{
    int file = memfd_create("output", MFD_CLOEXEC);
    if (file < 0) {
        error_set_errno(error, errno, "cannot make a file in memory");
    }
    return file;
}

/* As much as there is; how much it was. */
static size_t read_from(int file, off_t from, char *text, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(file, text + done, size - done, from + (off_t)done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    return done;
}

char *child_output_text(int file, size_t limit, const char *name, struct error *error)
{
    struct stat status;
    if (fstat(file, &status) < 0) {
        error_set_errno(error, errno, "cannot read %s", name);
        return NULL;
    }
    size_t size = (size_t)status.st_size;
    char *text = size <= limit ? memory_allocate(size + 1, 1) : NULL;
    if (text == NULL) {
        error_set(error, ERROR_LIMIT, 0, "%s is too large: %zu bytes", name, size);
        return NULL;
    }
    text[read_from(file, 0, text, size)] = '\0';
    return text;
}

void child_last_words(int file, char *line, size_t size)
{
    char text[LAST_WORDS_BYTES];
    off_t end = lseek(file, 0, SEEK_END);
    off_t from = end > (off_t)sizeof text - 1 ? end - (off_t)sizeof text + 1 : 0;
    size_t got = read_from(file, from, text, sizeof text - 1);
    while (got > 0 && (unsigned char)text[got - 1] <= ' ') {
        got--;
    }
    text[got] = '\0';
    const char *start = memrchr(text, '\n', got);
    snprintf(line, size, "%.*s", (int)size - 1, start != NULL ? start + 1 : text);
    for (char *at = line; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7F) {
            *at = ' ';
        }
    }
}
