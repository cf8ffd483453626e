#include "netlab/supervisor.h"

#include "base/child.h"
#include "netlab/privilege.h"
#include "netlab/user_map.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const supervisor_users_names[] = {
    [SUPERVISOR_ALL_USERS] = "root",
    [SUPERVISOR_USER_RANGE] = "uid range",
    [SUPERVISOR_ONE_USER] = "one uid",
};

/* Two pipes: `go` says to the child which users it has, and ends when the parent dies; `failure`
 * carries the child's error, and ends when `inside` begins. */
enum { READ_END, WRITE_END };
struct channel {
    int go[2];
    int failure[2];
};

static void close_end(int *descriptor)
{
    if (*descriptor >= 0) {
        close(*descriptor);
        *descriptor = -1;
    }
}

static void close_channel(struct channel *channel)
{
    close_end(&channel->go[READ_END]);
    close_end(&channel->go[WRITE_END]);
    close_end(&channel->failure[READ_END]);
    close_end(&channel->failure[WRITE_END]);
}

static bool open_channel(struct channel *channel, struct error *error)
{
    *channel = (struct channel){{-1, -1}, {-1, -1}};
    if (pipe2(channel->go, O_CLOEXEC) < 0 || pipe2(channel->failure, O_CLOEXEC) < 0) {
        error_set_errno(error, errno, "cannot make a pipe");
        close_channel(channel);
        return false;
    }
    return true;
}

/* ---- What is lacking ---- */

/* Appends what helps, to a message that ends with what errno said. Returns false. */
static bool advise(const struct privilege *privilege, bool full, struct error *error)
{
    char advice[PRIVILEGE_TEXT_LENGTH];
    return error_append(error, "; %s", privilege_advice(privilege, full, advice));
}

/* ---- The child ---- */

/* The kernel kills us when the parent dies; if it died before that was asked for, its end of the
 * pipe is closed. (getppid() tells nothing: the parent is outside of this PID namespace.) */
static bool die_with_parent(const struct channel *channel, struct error *error)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) {
        return error_set_errno(error, errno, "cannot tie the run to its parent");
    }
    struct pollfd life = {.fd = channel->go[READ_END]};
    return poll(&life, 1, 0) == 0 ||
           error_set(error, ERROR_INTERRUPTED, SIGKILL, "the parent process has died");
}

/* A fresh /proc shows this PID namespace. Where a container has mounts over parts of its /proc the
 * kernel refuses another one; the old one does as well for everything that the lab asks for:
 * /proc/thread-self and /proc/sys/net follow the asking thread. */
static bool make_mounts_private(const struct privilege *privilege, struct error *error)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
        bool rootless = errno == EINVAL;
        error_set_errno(error, errno,
                        rootless ? "/ is no mount point here (in a chroot?), so mounts would not "
                                   "stay in the run's namespace"
                                 : "cannot make the mounts of the run's namespace private");
        return !rootless && advise(privilege, false, error);
    }
    (void)mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    return true;
}

static bool settle_in(struct channel *channel, const struct privilege *privilege,
                      struct supervisor *supervisor, struct error *error)
{
    close_end(&channel->go[WRITE_END]);
    close_end(&channel->failure[READ_END]);
    ssize_t got = read(channel->go[READ_END], &supervisor->users, sizeof supervisor->users);
    if (got != (ssize_t)sizeof supervisor->users) {
        return error_set(error, ERROR_INTERRUPTED, SIGKILL, "the parent process gave up");
    }
    /* A group of its own: a terminal's Ctrl-C reaches the parent alone, which hands it on once. */
    if (setpgid(0, 0) < 0) {
        return error_set_errno(error, errno, "cannot make a process group");
    }
    return die_with_parent(channel, error) && make_mounts_private(privilege, error);
}

_Noreturn static void run_child(struct channel *channel, const struct privilege *privilege,
                                const sigset_t *mask,
                                int (*inside)(const struct supervisor *, void *), void *context)
{
    struct supervisor supervisor;
    struct error error = {.domain = ERROR_NONE};
    if (!settle_in(channel, privilege, &supervisor, &error)) {
        ssize_t told = write(channel->failure[WRITE_END], &error, sizeof error);
        (void)told; /* nobody is left to hear it */
        _exit(EXIT_CANNOT_RUN);
    }
    close_channel(channel);
    signal(SIGTTOU, SIG_IGN); /* no longer the terminal's group, and still allowed to write there */
    sigprocmask(SIG_SETMASK, mask, NULL);
    exit(inside(&supervisor, context));
}

/* ---- The parent ---- */

static bool refused(int cause, const struct privilege *privilege, struct error *error)
{
    bool full = cause == ENOSPC || cause == EUSERS;
    error_set_errno(error, cause, "no namespaces can be made here");
    return advise(privilege, full, error);
}

/* A fork into new namespaces: there is no function of the C library for that. Root does without a
 * user namespace where there can be none. */
static pid_t fork_into_namespaces(bool *own_users)
{
    static const unsigned long flags =
        CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | SIGCHLD;
    *own_users = true;
    pid_t child = (pid_t)syscall(SYS_clone, flags | CLONE_NEWUSER, NULL, NULL, NULL, NULL);
    if (child < 0 && geteuid() == 0) {
        int cause = errno;
        *own_users = false;
        child = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
        if (child < 0) {
            errno = cause;
        }
    }
    return child;
}

/* Maps users, lets the child begin and hears whether it could. */
static bool let_go(struct channel *channel, const struct privilege *privilege, pid_t child,
                   bool own_users, struct error *error)
{
    close_end(&channel->go[READ_END]);
    close_end(&channel->failure[WRITE_END]);
    enum supervisor_users users = user_map_own();
    if (own_users && !user_map_write(child, &users, error)) {
        return advise(privilege, false, error);
    }
    if (write(channel->go[WRITE_END], &users, sizeof users) != (ssize_t)sizeof users) {
        return error_set_errno(error, errno, "cannot start the run's process");
    }
    struct error failure;
    ssize_t got = read(channel->failure[READ_END], &failure, sizeof failure);
    if (got == (ssize_t)sizeof failure) {
        *error = failure;
        return false;
    }
    return true;
}

/* Hands signals on until the child has ended. It is no base/child.h's: it has no program, is the
 * first process of its namespaces, and this one only stands by until it is gone. */
static int await_child(pid_t child, const sigset_t *signals)
{
    int state = 0;
    while (waitpid(child, &state, WNOHANG) == 0) {
        siginfo_t info;
        int number = sigwaitinfo(signals, &info);
        if (number > 0 && number != SIGCHLD) {
            kill(child, number);
        }
    }
    return state;
}

static bool watch_child(struct channel *channel, const struct privilege *privilege, pid_t child,
                        bool own_users, const sigset_t *signals, int *status, struct error *error)
{
    if (!let_go(channel, privilege, child, own_users, error)) {
        kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
        return false;
    }
    int state = await_child(child, signals);
    if (WIFSIGNALED(state)) {
        char end[CHILD_END_LENGTH];
        return error_set(error, ERROR_SYSTEM, 0, "the run's process %s",
                         child_end_text(state, end));
    }
    *status = WEXITSTATUS(state);
    return true;
}

bool supervisor_run(int (*inside)(const struct supervisor *supervisor, void *context),
                    void *context, int *status, struct error *error)
{
    struct channel channel;
    sigset_t signals;
    sigset_t mask;
    bool own_users;
    struct privilege privilege;
    privilege_read(&privilege);
    if (!open_channel(&channel, error)) {
        return false;
    }
    signal(SIGCHLD, SIG_DFL); /* ignored by some callers, and then the status would be lost */
    fflush(NULL);             /* or what is buffered would be written twice */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &mask);
    pid_t child = fork_into_namespaces(&own_users);
    if (child == 0) {
        run_child(&channel, &privilege, &mask, inside, context);
    }
    bool done = child < 0
                    ? refused(errno, &privilege, error)
                    : watch_child(&channel, &privilege, child, own_users, &signals, status, error);
    close_channel(&channel);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return done;
}
