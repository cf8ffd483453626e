#include "tools/password.h"

#include "base/memory.h"

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
    return ok;
}

static bool ask(int terminal, const char *user, char password[PASSWORD_LIMIT], struct error *error)
{
    struct termios before;
    if (tcgetattr(terminal, &before) < 0) {
        return error_set_errno(error, errno, "cannot ask for the password");
    }
    struct termios silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    dprintf(terminal, "Password for user '%s': ", user);
    tcsetattr(terminal, TCSAFLUSH, &silent);
    bool ok = read_line(terminal, password, PASSWORD_LIMIT, error);
    tcsetattr(terminal, TCSAFLUSH, &before);
    dprintf(terminal, "\n");
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

bool password_from_surroundings(const char *user, char password[PASSWORD_LIMIT],
                                struct error *error)
{
    bool found;
    if (!password_from_environment("AFP_PASSWORD", password, PASSWORD_LIMIT, &found, error)) {
        return false;
    }
    if (found) {
        return true;
    }
    int terminal = isatty(STDIN_FILENO) ? open("/dev/tty", O_RDWR | O_CLOEXEC) : -1;
    if (terminal < 0) {
        return error_set(error, ERROR_USAGE, 0,
                         "no password for user '%s': give one with -w, --password-file, "
                         "AFP_PASSWORD or on a terminal, or log in with -A guest",
                         user);
    }
    bool ok = ask(terminal, user, password, error);
    close(terminal);
    return ok;
}
