#include "netlab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Above whatever number a program may ask for, while descriptors are moved to their places. */
#define DESCRIPTOR_PARKING 512

/* Places the program's descriptors at 0, 1, 2, …; `failure` moves out of their way. Everything else
 * closes when the program begins. */
static bool place_descriptors(const struct lab_program *program, int *failure)
{
    int parked[LAB_PROGRAM_DESCRIPTORS];
    *failure = fcntl(*failure, F_DUPFD_CLOEXEC, DESCRIPTOR_PARKING);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (*failure < 0 || null < 0) {
        return false;
    }
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

/* Runs in the child; comes back with errno set and the step's name when something failed. */
static const char *become(struct lab *lab, const struct lab_program *program, pid_t parent,
                          int *failure)
{
    if (setpgid(0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) {
        return "cannot prepare the process for";
    }
    if (getppid() != parent) {
        _exit(EXIT_CANNOT_RUN);
    }
    if (setns(lab->namespaces[program->side], CLONE_NEWNET) < 0) {
        return "cannot enter the network namespace for";
    }
    if (!place_descriptors(program, failure)) {
        return "cannot place the descriptors of";
    }
    if (program->root != NULL && (chroot(program->root) < 0 || chdir("/") < 0)) {
        return "cannot change the root directory for";
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

_Noreturn static void run_program(struct lab *lab, const struct lab_program *program, pid_t parent,
                                  int failure)
{
    const char *step = become(lab, program, parent, &failure);
    struct failed_step failed = {.cause = errno};
    snprintf(failed.step, sizeof failed.step, "%s", step);
    ssize_t told = write(failure, &failed, sizeof failed);
    (void)told; /* a parent that is gone needs no word */
    _exit(EXIT_CANNOT_RUN);
}

/* The pipe closes when the program starts: what comes out of it is the step that failed. */
bool lab_start(struct lab *lab, const struct lab_program *program, pid_t *process,
               struct error *error)
{
    const char *name = program->arguments[0];
    int failure[2];
    if (program->descriptor_count > LAB_PROGRAM_DESCRIPTORS) {
        return error_set(error, ERROR_LIMIT, 0, "more than %d descriptors for %s",
                         LAB_PROGRAM_DESCRIPTORS, name);
    }
    if (pipe2(failure, O_CLOEXEC) < 0) {
        return error_set_errno(error, errno, "cannot make a pipe");
    }
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        run_program(lab, program, parent, failure[1]);
    }
    int cause = errno;
    close(failure[1]);
    struct failed_step failed;
    ssize_t got = child > 0 ? read(failure[0], &failed, sizeof failed) : 0;
    close(failure[0]);
    if (child < 0) {
        return error_set_errno(error, cause, "cannot start %s", name);
    }
    if (got != 0) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
        return got == (ssize_t)sizeof failed
                   ? error_set_errno(error, failed.cause, "%s %s", failed.step, name)
                   : error_set(error, ERROR_SYSTEM, 0, "cannot start %s", name);
    }
    *process = child;
    return true;
}
