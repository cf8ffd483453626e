#include "cli/password.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static bool too_long(size_t size, struct error *error)
{
    return error_set(error, ERROR_USAGE, 0, "the password is longer than %zu bytes", size - 1);
}

bool password_copy(const char *text, char *password, size_t size, struct error *error)
{
    size_t length = strlen(text);
    if (length >= size) {
        return too_long(size, error);
    }
    memcpy(password, text, length + 1);
    return true;
}

/* One line, byte by byte, so that nothing beyond it stays in a buffer. */
static bool read_line(int fd, char *password, size_t size, struct error *error)
{
    size_t used = 0;
    for (;;) {
        char c;
        ssize_t got = read(fd, &c, 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return error_set_errno(error, errno, "cannot read the password");
        }
        if (got == 0 || c == '\n') {
            break;
        }
        if (used + 1 >= size) {
            return too_long(size, error);
        }
        if (c == '\0') {
            return error_set(error, ERROR_USAGE, 0, "the password has a zero byte in it");
        }
        password[used++] = c;
    }
    if (used > 0 && password[used - 1] == '\r') {
        used--;
    }
    password[used] = '\0';
    return true;
}

bool password_from_file(const char *path, char *password, size_t size, struct error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int cause = errno;
        error_set_errno(error, cause, "cannot open password file '%s'", path);
        error->domain = ERROR_USAGE;
        return false;
    }
    bool ok = read_line(fd, password, size, error);
    close(fd);
    if (!ok && error->domain == ERROR_SYSTEM) { /* a directory, say */
        error_prefix(error, "password file '%s'", path);
        error->domain = ERROR_USAGE;
    }
    return ok;
}

/* Until there is a line to read. */
static bool await_line(int terminal, const struct interrupt *interrupt, struct error *error)
{
    struct pollfd descriptors[] = {{.fd = terminal, .events = POLLIN},
                                   {.fd = interrupt->fd, .events = POLLIN}};
    if (stream_poll(descriptors, 2, UINT64_MAX) < 0) {
        return error_set_errno(error, errno, "cannot wait for the password");
    }
    return interrupt_check(interrupt, error);
}

/* Whatever ends it, the terminal echoes again afterwards: Ctrl-C is waited for, and the keys that
 * would stop or kill the program meanwhile mean nothing. */
static bool ask(int terminal, const char *user, char password[PASSWORD_LIMIT], struct error *error)
{
    struct interrupt interrupt;
    struct termios before;
    if (tcgetattr(terminal, &before) < 0) {
        return error_set_errno(error, errno, "cannot ask for the password");
    }
    if (!interrupt_open(&interrupt, error)) {
        return false;
    }
    struct termios silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    silent.c_cc[VSUSP] = silent.c_cc[VQUIT] = _POSIX_VDISABLE;
    tcsetattr(terminal, TCSAFLUSH, &silent);
    dprintf(terminal, "Password for user '%s': ", user);
    bool ok = await_line(terminal, &interrupt, error) &&
              read_line(terminal, password, PASSWORD_LIMIT, error);
    tcsetattr(terminal, TCSAFLUSH, &before);
    dprintf(terminal, "\n");
    interrupt_close(&interrupt);
    return ok;
}

bool password_from_environment(const char *variable, char *password, size_t size, bool *found,
                               struct error *error)
{
    char *value = getenv(variable);
    *found = value != NULL;
    if (value == NULL) {
        return true;
    }
    bool ok = password_copy(value, password, size, error);
    memory_wipe(value, strlen(value));
    return ok || error_prefix(error, "%s", variable);
}

/* Without a terminal on stdin nobody is there to be asked, and a script would hang. */
bool password_from_terminal(const char *user, char password[PASSWORD_LIMIT], bool *found,
                            struct error *error)
{
    int terminal = isatty(STDIN_FILENO) ? open("/dev/tty", O_RDWR | O_CLOEXEC) : -1;
    *found = terminal >= 0;
    if (terminal < 0) {
        return true;
    }
    bool ok = ask(terminal, user, password, error);
    close(terminal);
    return ok;
}

bool password_from_surroundings(const char *user, char password[PASSWORD_LIMIT],
                                struct error *error)
{
    bool found;
    if (!password_from_environment("AFP_PASSWORD", password, PASSWORD_LIMIT, &found, error) ||
        (!found && !password_from_terminal(user, password, &found, error))) {
        return false;
    }
    return found || error_set(error, ERROR_USAGE, 0,
                              "no password for user '%s': give one with -w, --password-file, "
                              "AFP_PASSWORD or on a terminal, or log in with -A guest",
                              user);
}
