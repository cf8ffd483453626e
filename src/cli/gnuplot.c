#include "cli/gnuplot.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_NS    (60 * NS_PER_S) /* a picture takes less than a second */
#define SAID_LENGTH 4096            /* of what gnuplot writes, its end counts */

/* ---- The process ---- */

/* Ours with LC_ALL=C; the strings stay ours. */
static char **make_environment(void)
{
    static char locale[] = "LC_ALL=C";
    size_t count = 0;
    size_t used = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **copy = memory_allocate(count + 2, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        if (strncmp(environ[i], "LC_ALL=", 7) != 0) {
            copy[used++] = environ[i];
        }
    }
    if (copy != NULL) {
        copy[used] = locale;
    }
    return copy;
}

/* In a process group of its own, with the signals that a program expects, its messages in a file.
 */
static int spawn(const char *program, char *const *arguments, const char *directory, int messages,
                 pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t all;
    char **environment = make_environment();
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    int cause = environment == NULL ? ENOMEM : 0;
    cause = cause != 0 ? cause
                       : posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                                          O_RDONLY, 0);
    cause = cause != 0 ? cause
                       : posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                                          O_WRONLY, 0);
    cause =
        cause != 0 ? cause : posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    cause = cause != 0 ? cause : posix_spawn_file_actions_addchdir_np(&actions, directory);
    cause = cause != 0
                ? cause
                : posix_spawn(process, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    memory_release(environment);
    return cause;
}

/* Until it has ended, which is then seen to. */
static bool await(pid_t process, const struct interrupt *interrupt, int *status,
                  struct error *error)
{
    int end = (int)syscall(SYS_pidfd_open, process, 0);
    bool ok = end >= 0 || error_set_errno(error, errno, "cannot watch gnuplot");
    struct pollfd events[] = {{.fd = end, .events = POLLIN},
                              {.fd = interrupt->fd, .events = POLLIN}};
    if (ok) {
        int ready = stream_poll(events, 2, clock_now_ns() + LIMIT_NS);
        if (ready < 0) {
            ok = error_set_errno(error, errno, "poll");
        } else if (ready == 0) {
            ok = error_set(error, ERROR_TIMEOUT, 0, "gnuplot does not end");
        } else if (events[0].revents == 0) {
            ok = interrupt_check(interrupt, error);
        }
    }
    if (!ok) {
        kill(-process, SIGKILL);
    }
    while (waitpid(process, status, 0) < 0 && errno == EINTR) {
    }
    if (end >= 0) {
        close(end);
    }
    return ok;
}

/* ---- How it went ---- */

/* The last line that says something: gnuplot names file, line and fault there. */
static const char *last_line(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' ')) {
        length--;
    }
    text[length] = '\0';
    const char *newline = strrchr(text, '\n');
    return newline != NULL ? newline + 1 : text;
}

static bool check(int status, int messages, struct error *error)
{
    char said[SAID_LENGTH];
    off_t size = lseek(messages, 0, SEEK_END);
    off_t from = size > SAID_LENGTH - 1 ? size - (SAID_LENGTH - 1) : 0;
    ssize_t got = pread(messages, said, SAID_LENGTH - 1, from < 0 ? 0 : from);
    said[got > 0 ? got : 0] = '\0';
    if (WIFSIGNALED(status)) {
        return error_set(error, ERROR_SYSTEM, 0, "gnuplot was killed by signal %d",
                         WTERMSIG(status));
    }
    return WEXITSTATUS(status) == 0 ||
           error_set(error, ERROR_SYSTEM, 0, "gnuplot ended with exit code %d: %.250s",
                     WEXITSTATUS(status), last_line(said));
}

static bool run(const char *program, const char *directory, char *const *arguments,
                const struct interrupt *interrupt, struct error *error)
{
    pid_t process;
    int status = 0;
    int messages = memfd_create("messages", MFD_CLOEXEC);
    if (messages < 0) {
        return error_set_errno(error, errno, "cannot take gnuplot's messages");
    }
    int cause = spawn(program, arguments, directory, messages, &process);
    bool ok = cause == 0
                  ? await(process, interrupt, &status, error) && check(status, messages, error)
                  : error_set_errno(error, cause, "cannot run '%s'", program);
    close(messages);
    return ok;
}

/* gnuplot takes some first characters of a file name for a command to run: "./" prevents that. */
static bool make_name(char text[PROGRAM_PATH_LENGTH], const char *directory, const char *name,
                      const char *suffix, struct error *error)
{
    int length = snprintf(text, PROGRAM_PATH_LENGTH, "%s/%s%s", directory, name, suffix);
    return (length > 0 && length < PROGRAM_PATH_LENGTH) ||
           error_set(error, ERROR_USAGE, 0, "the name '%.80s…' is too long", name);
}

/* gnuplot opens the file by its name, which lies in the directory that it works in. */
static bool is_drawn(const struct whole_file *file, struct error *error)
{
    struct stat status;
    return (fstat(fileno(file->out), &status) == 0 && status.st_size > 0) ||
           error_set(error, ERROR_SYSTEM, 0, "gnuplot made no picture '%s'", file->path);
}

bool plotting_find(char gnuplot[PROGRAM_PATH_LENGTH], struct error *error)
{
    return program_find("gnuplot", getenv("PATH"), "", gnuplot) ||
           error_set(error, ERROR_SYSTEM, ENOENT,
                     "gnuplot is not in PATH: install the package gnuplot-nox");
}

/* An earlier picture stays until the new one is whole. */
bool plotting_draw(const char *gnuplot, const char *directory, const char *name,
                   const struct interrupt *interrupt, struct error *error)
{
    char script[PROGRAM_PATH_LENGTH];
    char picture[PROGRAM_PATH_LENGTH];
    char drawn[PROGRAM_PATH_LENGTH];
    struct whole_file file;
    if (!make_name(script, ".", name, PLOTTING_SCRIPT_SUFFIX, error) ||
        !make_name(picture, directory, name, PLOTTING_PICTURE_SUFFIX, error) ||
        !interrupt_check(interrupt, error) || !whole_file_begin(&file, picture, error)) {
        return false;
    }
    char *const arguments[] = {(char *)gnuplot, "-d", "-c", script, drawn, NULL};
    bool ok = make_name(drawn, ".", strrchr(file.name, '/') + 1, "", error) &&
              run(gnuplot, directory, arguments, interrupt, error) && is_drawn(&file, error);
    return whole_file_end(&file, ok, error);
}
