#include "server/store_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int32_t file_result(int code)
{
    static const struct {
        int code;
        int32_t result;
    } rows[] = {
        {EACCES, AFP_ACCESS_DENIED},
        {EPERM, AFP_ACCESS_DENIED},
        {ENOSPC, AFP_DISK_FULL},
        {EFBIG, AFP_DISK_FULL},
        {ENOMEM, AFP_DISK_FULL},
        {EDQUOT, AFP_QUOTA_EXCEEDED},
        {EROFS, AFP_VOLUME_LOCKED},
        {ENOENT, AFP_OBJECT_NOT_FOUND},
        {ENOTDIR, AFP_OBJECT_NOT_FOUND},
        {ELOOP, AFP_OBJECT_NOT_FOUND}, /* a symbolic link, which does not exist for us */
        {ESTALE, AFP_OBJECT_NOT_FOUND},
        {EISDIR, AFP_OBJECT_TYPE_ERROR},
        {EEXIST, AFP_OBJECT_EXISTS},
        {ENOTEMPTY, AFP_DIRECTORY_NOT_EMPTY},
        {EBUSY, AFP_FILE_BUSY},
        {ETXTBSY, AFP_FILE_BUSY},
        {EMFILE, AFP_TOO_MANY_FILES_OPEN},
        {ENFILE, AFP_TOO_MANY_FILES_OPEN},
        {ENAMETOOLONG, AFP_PARAMETER_ERROR},
        {EXDEV, AFP_DIFFERENT_VOLUMES}, /* a mount point lies between */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].code == code) {
            return rows[i].result;
        }
    }
    return AFP_MISC_ERROR;
}

/* A call that this file system, or this pair of files, does not have. */
static bool is_unsupported(int code)
{
    return code == EINVAL || code == ENOSYS || code == EOPNOTSUPP || code == EXDEV ||
           code == ETXTBSY;
}

/* ---- Lengths: with the mutex held ---- */

/* Something to write to. */
static int32_t need_file(struct store_fork *fork)
{
    if (!fork->on_disk && atomic_load(&fork->file) < 0) {
        int file = memfd_create("afpbench fork", MFD_CLOEXEC);
        if (file < 0) {
            return file_result(errno);
        }
        atomic_store(&fork->writable, file);
        atomic_store(&fork->file, file);
    }
    return AFP_OK;
}

static int any_file(struct store_fork *fork)
{
    int file = atomic_load(&fork->file);
    return file >= 0 ? file : atomic_load(&fork->writable);
}

uint64_t file_fork_length(struct store *store, struct store_fork *fork)
{
    struct stat status;
    if (fork->on_disk && fstat(any_file(fork), &status) == 0) {
        tree_fork_resize(store, fork, (uint64_t)status.st_size);
    }
    return fork->length;
}

int32_t file_fork_set_length(struct store *store, struct store_fork *fork, uint64_t length)
{
    uint64_t old = file_fork_length(store, fork);
    if (length == old) {
        return AFP_OK;
    }
    int32_t result = need_file(fork);
    if (result == AFP_OK) {
        result = tree_fork_set_length(store, fork, length);
    }
    if (result == AFP_OK && ftruncate(atomic_load(&fork->writable), (off_t)length) < 0) {
        result = file_result(errno);
        (void)tree_fork_set_length(store, fork, old); /* it had that length a moment ago */
    }
    return result;
}

int32_t file_write_begin(struct store *store, struct store_fork *fork, struct store_write *write)
{
    int32_t result = need_file(fork);
    (void)file_fork_length(store, fork);
    return result != AFP_OK ? result : tree_write_begin(store, fork, write);
}

/* ---- Data: without the mutex ---- */

/* What a fork holds where its file has nothing. */
static bool send_zeros(struct outbox *outbox, uint64_t size, struct error *error)
{
    static const uint8_t zeros[16 * 1024];
    while (size > 0) {
        size_t step = size < sizeof zeros ? (size_t)size : sizeof zeros;
        struct iovec piece = {(void *)zeros, step};
        size -= step;
        if (!outbox_send(outbox, &piece, 1, size > 0, error)) {
            return false;
        }
    }
    return true;
}

/* A piece of the file through a buffer; *sent 0: it ended. */
static bool send_copy(struct outbox *outbox, int file, uint64_t offset, uint64_t size, size_t *sent,
                      struct error *error)
{
    uint8_t buffer[16 * 1024];
    size_t step = size < sizeof buffer ? (size_t)size : sizeof buffer;
    ssize_t got = pread(file, buffer, step, (off_t)offset);
    if (got < 0) {
        return error_set_errno(error, errno, "read");
    }
    *sent = (size_t)got;
    struct iovec piece = {buffer, *sent};
    return outbox_send(outbox, &piece, 1, *sent < size, error);
}

bool file_send(struct store *store, struct store_fork *fork, struct outbox *outbox, uint64_t offset,
               uint64_t size, struct error *error)
{
    int file = atomic_load(&fork->file);
    while (size > 0 && file >= 0) {
        size_t sent;
        int code;
        if (!outbox_send_file(outbox, file, offset, size, &sent, &code, error) &&
            (!is_unsupported(code) || !send_copy(outbox, file, offset, size, &sent, error))) {
            return false;
        }
        if (sent == 0) {
            break; /* somebody cut the fork short after we announced the length */
        }
        offset += sent;
        size -= sent;
    }
    return send_zeros(outbox, size, error);
}

bool file_receive(struct store *store, struct store_fork *fork, struct inbox *inbox,
                  struct store_write *write, int32_t *result, struct error *error)
{
    int file_error = 0;
    bool connected = inbox_to_file(inbox, atomic_load(&fork->writable), write->offset, write->size,
                                   &write->written, &file_error, error);
    *result = file_error == 0 ? AFP_OK : file_result(file_error);
    return connected;
}

int32_t file_read(struct store *store, struct store_fork *fork, uint64_t offset, void *buffer,
                  size_t size)
{
    int file = atomic_load(&fork->file);
    char *at = buffer;
    while (size > 0 && file >= 0) {
        ssize_t received = pread(file, at, size, (off_t)offset);
        if (received < 0 && errno != EINTR) {
            return AFP_MISC_ERROR;
        }
        if (received == 0) {
            break;
        }
        size_t step = received > 0 ? (size_t)received : 0;
        at += step;
        offset += step;
        size -= step;
    }
    memset(at, 0, size);
    return AFP_OK;
}

int32_t file_write(struct store *store, struct store_fork *fork, struct store_write *write,
                   const void *buffer)
{
    int file = atomic_load(&fork->writable);
    while (write->written < write->size) {
        ssize_t written =
            pwrite(file, (const char *)buffer + write->written,
                   (size_t)(write->size - write->written), (off_t)(write->offset + write->written));
        if (written < 0 && errno != EINTR) {
            return file_result(errno);
        }
        write->written += written > 0 ? (uint64_t)written : 0;
    }
    return AFP_OK;
}

int32_t file_copy(struct store_fork *from, struct store_fork *to, struct store_write *write)
{
    int source = atomic_load(&from->file);
    int target = atomic_load(&to->writable);
    while (source >= 0 && write->written < write->size) {
        off_t in = (off_t)(write->offset + write->written);
        off_t out = in;
        ssize_t moved =
            copy_file_range(source, &in, target, &out, (size_t)(write->size - write->written), 0);
        if (moved == 0 || (moved < 0 && is_unsupported(errno))) {
            break; /* also where the source was cut short meanwhile: zeros follow */
        }
        if (moved < 0 && errno != EINTR) {
            return file_result(errno);
        }
        write->written += moved > 0 ? (uint64_t)moved : 0;
    }
    return AFP_OK;
}

int32_t file_flush(struct store *store, struct store_fork *fork)
{
    int file = atomic_load(&fork->writable);
    file = file >= 0 ? file : atomic_load(&fork->file);
    if (!fork->on_disk || file < 0) {
        return AFP_OK;
    }
    /* A file system that cannot has nothing to flush. */
    return fsync(file) == 0 || errno == EINVAL || errno == EROFS ? AFP_OK : file_result(errno);
}
