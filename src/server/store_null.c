/* The store `null`: what a fork holds is made up, what is written is dropped; lengths are kept. */
#include "server/store_tree.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Byte n of every fork is byte n mod POOL_SIZE of a pool of incompressible bytes. A prime just
 * above 1 MiB: small enough for the processor's cache, and no two chunks of a usual size are equal.
 */
#define POOL_SIZE ((size_t)1048583)

/* What an endless volume says it has: 1 PiB. */
#define ENDLESS_BYTES (UINT64_C(1) << 50)

struct null_store {
    struct tree tree;
    int pool_file;       /* for sending */
    const uint8_t *pool; /* the same, mapped, for FPCopyFile */
};

static struct null_store *null_of(struct store *store)
{
    return (struct null_store *)store;
}

static bool make_pool(struct null_store *null, struct error *error)
{
    null->pool_file = memfd_create("afpbench pool", MFD_CLOEXEC);
    if (null->pool_file < 0 || ftruncate(null->pool_file, (off_t)POOL_SIZE) < 0) {
        return error_set_errno(error, errno, "memfd");
    }
    uint8_t *pool = mmap(NULL, POOL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, null->pool_file, 0);
    if (pool == MAP_FAILED) {
        return error_set_errno(error, errno, "mmap");
    }
    null->pool = pool;
    uint64_t state = 88172645463325252U;
    for (size_t i = 0; i < POOL_SIZE; i++) { /* xorshift */
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        pool[i] = (uint8_t)(state >> 32);
    }
    return true;
}

static void null_destroy(struct store *store)
{
    struct null_store *null = null_of(store);
    tree_close(&null->tree);
    if (null->pool != NULL) {
        munmap((void *)null->pool, POOL_SIZE);
    }
    if (null->pool_file >= 0) {
        close(null->pool_file);
    }
    memory_release(null);
}

static bool null_create(struct store **store, const struct store_settings *settings,
                        struct error *error)
{
    struct null_store *null = memory_allocate(1, sizeof *null);
    if (null == NULL) {
        return memory_error(error, "for a volume");
    }
    if (!tree_open(&null->tree, &store_null, settings, error)) {
        memory_release(null);
        return false;
    }
    if (!make_pool(null, error)) {
        null_destroy(&null->tree.store);
        return false;
    }
    *store = &null->tree.store;
    return true;
}

static struct store_space null_space(struct store *store)
{
    const struct tree *tree = &null_of(store)->tree;
    return tree_space(tree, tree->limit_bytes != 0 ? tree->limit_bytes : ENDLESS_BYTES);
}

/* The piece of the pool for a range of a fork. */
static size_t pool_piece(uint64_t offset, uint64_t size, size_t *from)
{
    *from = (size_t)(offset % POOL_SIZE);
    size_t left = POOL_SIZE - *from;
    return size < left ? (size_t)size : left;
}

static bool null_send(struct store *store, struct store_fork *fork, struct outbox *outbox,
                      uint64_t offset, uint64_t size, struct error *error)
{
    while (size > 0) {
        size_t from;
        size_t step = pool_piece(offset, size, &from);
        size_t sent;
        int code;
        if (!outbox_send_file(outbox, null_of(store)->pool_file, from, step, &sent, &code, error)) {
            return false;
        }
        if (sent == 0) {
            return error_set(error, ERROR_SYSTEM, 0, "sendfile: the pool ended early");
        }
        offset += sent;
        size -= sent;
    }
    return true;
}

static bool null_receive(struct store *store, struct store_fork *fork, struct inbox *inbox,
                         struct store_write *write, int32_t *result, struct error *error)
{
    *result = AFP_OK;
    if (!inbox_discard(inbox, write->size, error)) {
        return false;
    }
    write->written = write->size;
    return true;
}

static int32_t null_read(struct store *store, struct store_fork *fork, uint64_t offset,
                         void *buffer, size_t size)
{
    for (size_t done = 0; done < size;) {
        size_t from;
        size_t step = pool_piece(offset + done, size - done, &from);
        memcpy((char *)buffer + done, null_of(store)->pool + from, step);
        done += step;
    }
    return AFP_OK;
}

static int32_t null_write(struct store *store, struct store_fork *fork, struct store_write *write,
                          const void *buffer)
{
    write->written = write->size;
    return AFP_OK;
}

const struct store_ops store_null = {
    .name = "null",
    .create = null_create,
    .destroy = null_destroy,
    .space = null_space,
    TREE_OPERATIONS,
    .fork_set_length = tree_fork_set_length,
    .write_begin = tree_write_begin,
    .send = null_send,
    .receive = null_receive,
    .read = null_read,
    .write = null_write,
};
