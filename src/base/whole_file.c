#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPTS 100 /* at a name that nobody has */

/* Not mkstemp(): a file that it makes is its owner's alone, and the umask could only be asked for
 * by changing it, which other threads would see. −1 with errno. */
static int make_file(struct whole_file *file)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint32_t number;
        if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
            return -1;
        }
        int length = snprintf(file->name, sizeof file->name, "%s.%08" PRIx32, file->path, number);
        if (length < 0 || (size_t)length >= sizeof file->name) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int made = open(file->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (made >= 0 || errno != EEXIST) {
            return made;
        }
    }
    return -1;
}

static bool is_direct(const struct whole_file *file)
{
    return strcmp(file->name, file->path) == 0;
}

bool whole_file_begin(struct whole_file *file, const char *path, struct error *error)
{
    struct stat status;
    *file = (struct whole_file){.path = path};
    bool direct = lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
    if (direct) {
        snprintf(file->name, sizeof file->name, "%s", path); /* lstat() refuses longer ones */
    }
    int made =
        direct ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : make_file(file);
    file->out = made >= 0 ? fdopen(made, "w") : NULL;
    if (file->out != NULL) {
        errno = 0; /* what whole_file_end() finds there is of a write */
        return true;
    }
    error_set_errno(error, errno, "cannot write '%s'", path);
    if (made >= 0) {
        close(made);
        if (!direct) {
            unlink(file->name);
        }
    }
    return false;
}

bool whole_file_end(struct whole_file *file, bool whole, struct error *error)
{
    int cause = errno != 0 ? errno : EIO; /* of a write that failed and cannot be asked again */
    bool written = !ferror(file->out);
    if (fflush(file->out) != 0) {
        cause = errno;
        written = false;
    }
    if (fclose(file->out) != 0 && written) {
        cause = errno;
        written = false;
    }
    file->out = NULL;
    if (whole && written && !is_direct(file) && rename(file->name, file->path) < 0) {
        cause = errno;
        written = false;
    }
    if ((!whole || !written) && !is_direct(file)) {
        unlink(file->name);
    }
    return whole && (written || error_set_errno(error, cause, "cannot write '%s'", file->path));
}
