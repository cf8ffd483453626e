#include "netlab/server_mounts.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static bool remember(struct server_mounts *mounts, const char *path, struct error *error)
{
    if (mounts->count == SERVER_MOUNTS_LIMIT) {
        return error_set(error, ERROR_LIMIT, 0, "more than %d mounts for a server",
                         SERVER_MOUNTS_LIMIT);
    }
    char *copy = memory_copy_string(path);
    if (copy == NULL) {
        return memory_error(error, "for the server's mounts");
    }
    mounts->paths[mounts->count++] = copy;
    return true;
}

static void forget_last(struct server_mounts *mounts)
{
    memory_release(mounts->paths[--mounts->count]);
}

bool server_mounts_memory(struct server_mounts *mounts, const char *path, uint64_t size_bytes,
                          mode_t mode, struct error *error)
{
    char options[64];
    int used = snprintf(options, sizeof options, "mode=%o", (unsigned)mode);
    if (size_bytes > 0) {
        snprintf(options + used, sizeof options - (size_t)used, ",size=%" PRIu64, size_bytes);
    }
    if (!remember(mounts, path, error)) {
        return false;
    }
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0) {
        forget_last(mounts);
        return error_set_errno(error, errno, "cannot mount memory (tmpfs) over %s", path);
    }
    return true;
}

bool server_mounts_bind(struct server_mounts *mounts, const char *from, const char *path,
                        struct error *error)
{
    if (!remember(mounts, path, error)) {
        return false;
    }
    if (mount(from, path, NULL, MS_BIND | MS_REC, NULL) < 0) {
        forget_last(mounts);
        return error_set_errno(error, errno, "cannot show %s at %s", from, path);
    }
    return true;
}

void server_mounts_release(struct server_mounts *mounts)
{
    while (mounts->count > 0) {
        umount2(mounts->paths[mounts->count - 1], MNT_DETACH);
        forget_last(mounts);
    }
}

static bool copy_contents(int from, int to)
{
    ssize_t copied;
    do {
        copied = sendfile(to, from, NULL, 1 << 30);
    } while (copied > 0);
    return copied == 0;
}

bool server_copy_program(const char *from, const char *to, struct error *error)
{
    int source = open(from, O_RDONLY | O_CLOEXEC);
    if (source < 0) {
        return error_set_errno(error, errno, "cannot open %s", from);
    }
    int target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    bool copied = target >= 0 && fchmod(target, 0755) == 0 && copy_contents(source, target);
    int cause = errno;
    close(source);
    if (target >= 0) {
        close(target);
    }
    return copied || error_set_errno(error, cause, "cannot copy %s to %s", from, to);
}
