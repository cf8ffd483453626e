#include "base/claim.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_LENGTH 4096

/* "a/b" is locked by "a/.b.lock". */
static char *lock_path(const char *path)
{
    char text[PATH_LENGTH];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    int length = snprintf(text, sizeof text, "%.*s.%s.lock", (int)(name - path), path, name);
    return length > 0 && (size_t)length < sizeof text ? memory_copy_string(text) : NULL;
}

/* Whether the locked file still has its name: whoever held it before may have removed it meanwhile.
 */
static bool still_there(int file, const char *path)
{
    struct stat ours;
    struct stat named;
    return fstat(file, &ours) == 0 && lstat(path, &named) == 0 && ours.st_dev == named.st_dev &&
           ours.st_ino == named.st_ino;
}

static bool refused(const char *path, int file, struct error *error)
{
    char holder[24] = "";
    ssize_t got = pread(file, holder, sizeof holder - 1, 0);
    bool known = got > 0 && strspn(holder, "0123456789") == (size_t)got;
    return error_set(error, ERROR_USAGE, 0, "'%s' belongs to another run that is still going%s%s",
                     path, known ? ": process " : "", known ? holder : "");
}

bool claim_take(struct claim *claim, const char *path, struct error *error)
{
    struct stat status;
    *claim = (struct claim){.file = -1};
    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return true;
    }
    claim->path = lock_path(path);
    if (claim->path == NULL) {
        return error_set(error, ERROR_LIMIT, 0, "'%.80s…' is too long a name", path);
    }
    for (;;) {
        int file = open(claim->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        bool locked = file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
        if (locked && still_there(file, claim->path)) {
            claim->file = file;
            break;
        }
        int cause = errno;
        bool done = !locked;
        if (done && file >= 0 && cause == EWOULDBLOCK) {
            refused(path, file, error);
        } else if (done) {
            error_set_errno(error, cause, "cannot write '%s'", path);
        }
        if (file >= 0) {
            close(file);
        }
        if (done) {
            memory_release(claim->path);
            claim->path = NULL;
            return false;
        }
    }
    /* who holds it, for those who are refused; nothing depends on it */
    best_effort(ftruncate(claim->file, 0) == 0 && dprintf(claim->file, "%d", (int)getpid()) > 0);
    return true;
}

void claim_give_back(struct claim *claim)
{
    if (claim->path != NULL) {
        if (still_there(claim->file, claim->path)) { /* a forked process may have given it back */
            unlink(claim->path); /* before the lock goes: later it might be the next one's */
        }
        close(claim->file);
        memory_release(claim->path);
    }
    *claim = (struct claim){.file = -1};
}
