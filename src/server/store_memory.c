/* The store `memory`: a tree, and the bytes of each fork in a memfd. */
#include "base/limits.h"
#include "base/memory.h"
#include "server/store_file.h"

/* A container's memory ends at its group's limit, and then its processes are killed: a volume
 * without a limit of its own is full before. An eighth is left to the rest of the program. */
static uint64_t allowed_bytes(void)
{
    struct limits limits;
    limits_read(&limits);
    return limits.memory_bytes != 0 ? limits.memory_left_bytes - limits.memory_left_bytes / 8 : 0;
}

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
    if (tree->limit_bytes == 0) {
        tree->limit_bytes = allowed_bytes();
    }
    *store = &tree->store;
    return true;
}

static void memory_store_destroy(struct store *store)
{
    tree_close((struct tree *)store);
    memory_release(store);
}

static struct store_space memory_space(struct store *store)
{
    const struct tree *tree = (const struct tree *)store;
    if (tree->limit_bytes != 0) {
        return tree_space(tree, tree->limit_bytes);
    }
    struct limits limits;
    limits_read(&limits);
    return (struct store_space){tree->used_bytes + limits.memory_left_bytes,
                                limits.memory_left_bytes};
}

const struct store_ops store_memory = {
    .name = "memory",
    .create = memory_store_create,
    .destroy = memory_store_destroy,
    .space = memory_space,
    TREE_OPERATIONS,
    .fork_set_length = file_fork_set_length,
    .write_begin = file_write_begin,
    .send = file_send,
    .receive = file_receive,
    .read = file_read,
    .write = file_write,
};
