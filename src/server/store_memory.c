/* The store `memory`: the bytes of each fork in a memfd. A read is a sendfile, a write a splice. */
#include "base/stream.h"
#include "server/store_tree.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool memory_store_create(struct store **store, const struct store_settings *settings,
                                struct error *error)
{
    struct tree *tree = memory_allocate(1, sizeof *tree);
    if (tree == NULL) {
        return memory_error(error, "for a volume");
    }
    if (!tree_open(tree, &store_memory, settings, error)) {
        memory_release(tree);
        return false;
    }
    *store = &tree->store;
    return true;
}

static void memory_store_destroy(struct store *store)
{
    tree_close((struct tree *)store);
    memory_release(store);
}

/* What the system could still give without swapping; 0 if it does not say. */
static uint64_t available_memory_bytes(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL) {
        return 0;
    }
    char line[128];
    unsigned long long kilobytes = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "MemAvailable: %llu", &kilobytes) == 1) {
            break;
        }
    }
    fclose(file);
    return (uint64_t)kilobytes * 1024;
}

static struct store_space memory_space(struct store *store)
{
    const struct tree *tree = (const struct tree *)store;
    if (tree->limit_bytes != 0) {
        uint64_t used = tree->used_bytes < tree->limit_bytes ? tree->used_bytes : tree->limit_bytes;
        return (struct store_space){tree->limit_bytes, tree->limit_bytes - used};
    }
    uint64_t available = available_memory_bytes();
    return (struct store_space){tree->used_bytes + available, available};
}

/* The AFP result for a file that refuses its bytes. */
static int32_t result_of_errno(int code)
{
    switch (code) {
    case ENOSPC:
    case EFBIG:
    case ENOMEM:
        return AFP_DISK_FULL;
    case EMFILE:
    case ENFILE:
        return AFP_TOO_MANY_FILES_OPEN;
    default:
        return AFP_MISC_ERROR;
    }
}

/* With the mutex held. */
static int32_t need_file(struct store_fork *fork)
{
    if (atomic_load(&fork->file) < 0) {
        int file = memfd_create("afpbench fork", MFD_CLOEXEC);
        if (file < 0) {
            return result_of_errno(errno);
        }
        atomic_store(&fork->file, file);
    }
    return AFP_OK;
}

static int32_t memory_set_length(struct store *store, struct store_fork *fork, uint64_t length)
{
    if (length == fork->length) {
        return AFP_OK;
    }
    uint64_t old = fork->length;
    int32_t result = need_file(fork);
    if (result == AFP_OK) {
        result = tree_fork_set_length(store, fork, length);
    }
    if (result == AFP_OK && ftruncate(atomic_load(&fork->file), (off_t)length) < 0) {
        result = result_of_errno(errno);
        (void)tree_fork_set_length(store, fork, old); /* it had that length a moment ago */
    }
    return result;
}

static int32_t memory_write_begin(struct store *store, struct store_fork *fork,
                                  struct store_write *write)
{
    int32_t result = need_file(fork);
    return result != AFP_OK ? result : tree_write_begin(store, fork, write);
}

/* What a fork holds where its file has nothing. */
static bool send_zeros(int socket, uint64_t size, struct error *error)
{
    static const uint8_t zeros[16 * 1024];
    while (size > 0) {
        size_t step = size < sizeof zeros ? (size_t)size : sizeof zeros;
        struct iovec piece = {(void *)zeros, step};
        size -= step;
        if (!stream_send_all(socket, &piece, 1, size > 0, error)) {
            return false;
        }
    }
    return true;
}

static bool memory_send(struct store *store, struct store_fork *fork, int socket, uint64_t offset,
                        uint64_t size, struct error *error)
{
    (void)store;
    int file = atomic_load(&fork->file);
    while (size > 0 && file >= 0) {
        size_t step = size < (1U << 30) ? (size_t)size : (1U << 30);
        ssize_t sent = stream_send_file(socket, file, offset, step);
        if (sent < 0) {
            return error_set_errno(error, errno, "sendfile");
        }
        if (sent == 0) {
            break; /* another session cut the fork short after we announced the length */
        }
        offset += (uint64_t)sent;
        size -= (uint64_t)sent;
    }
    return send_zeros(socket, size, error);
}

static bool memory_receive(struct store *store, struct store_fork *fork, struct inbox *inbox,
                           struct store_write *write, int32_t *result, struct error *error)
{
    (void)store;
    int file_error = 0;
    bool connected = inbox_to_file(inbox, atomic_load(&fork->file), write->offset, write->size,
                                   &write->written, &file_error, error);
    *result = file_error == 0 ? AFP_OK : result_of_errno(file_error);
    return connected;
}

static int32_t memory_read(struct store *store, struct store_fork *fork, uint64_t offset,
                           void *buffer, size_t size)
{
    (void)store;
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

static int32_t memory_write(struct store *store, struct store_fork *fork, struct store_write *write,
                            const void *buffer)
{
    (void)store;
    int file = atomic_load(&fork->file);
    while (write->written < write->size) {
        ssize_t written =
            pwrite(file, (const char *)buffer + write->written,
                   (size_t)(write->size - write->written), (off_t)(write->offset + write->written));
        if (written < 0 && errno != EINTR) {
            return result_of_errno(errno);
        }
        write->written += written > 0 ? (uint64_t)written : 0;
    }
    return AFP_OK;
}

const struct store_ops store_memory = {
    .name = "memory",
    .create = memory_store_create,
    .destroy = memory_store_destroy,
    .space = memory_space,
    .by_id = tree_by_id,
    .parent = tree_parent,
    .child = tree_child,
    .entry = tree_entry,
    .get = tree_get,
    .set = tree_set,
    .add = tree_add,
    .remove = tree_remove,
    .move = tree_move,
    .exchange = tree_exchange,
    .fork_open = tree_fork_open,
    .fork_close = tree_fork_close,
    .fork_length = tree_fork_length,
    .fork_set_length = memory_set_length,
    .fork_flush = tree_fork_flush,
    .write_begin = memory_write_begin,
    .write_end = tree_write_end,
    .send = memory_send,
    .receive = memory_receive,
    .read = memory_read,
    .write = memory_write,
};
