#include "server/store_tree.h"

#include "base/memory.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST_BUCKETS 64

static struct tree *tree_of(struct store *store)
{
    return (struct tree *)store;
}

static uint32_t afp_now(void)
{
    return (uint32_t)(time(NULL) - AFP_EPOCH_UNIX_SECONDS);
}

/* ---- The two hash tables ---- */

/* FNV-1a over the parent's ID and the name. */
static uint32_t hash_name(uint32_t parent_id, struct span name)
{
    uint32_t hash = 2166136261U ^ parent_id;
    for (size_t i = 0; i < name.size; i++) {
        hash = (hash ^ name.data[i]) * 16777619U;
    }
    return hash ^ hash >> 15;
}

struct span tree_name(const struct store_node *node)
{
    return (struct span){(const uint8_t *)node->name, node->name_size};
}

static void link_id(struct tree *tree, struct store_node *node)
{
    struct store_node **chain = &tree->by_id[node->id % tree->bucket_count];
    node->next_by_id = *chain;
    *chain = node;
}

static void link_name(struct tree *tree, struct store_node *node)
{
    uint32_t parent_id = node->parent != NULL ? node->parent->id : AFP_ROOT_PARENT_ID;
    node->name_hash = hash_name(parent_id, tree_name(node));
    struct store_node **chain = &tree->by_name[node->name_hash % tree->bucket_count];
    node->next_by_name = *chain;
    *chain = node;
}

static void unlink_id(struct tree *tree, struct store_node *node)
{
    struct store_node **at = &tree->by_id[node->id % tree->bucket_count];
    while (*at != node) {
        at = &(*at)->next_by_id;
    }
    *at = node->next_by_id;
}

static void unlink_name(struct tree *tree, struct store_node *node)
{
    struct store_node **at = &tree->by_name[node->name_hash % tree->bucket_count];
    while (*at != node) {
        at = &(*at)->next_by_name;
    }
    *at = node->next_by_name;
}

/* Keeps the chains short; a table that cannot grow is slow, not wrong. */
static void grow_tables(struct tree *tree)
{
    if (tree->node_count < tree->bucket_count) {
        return;
    }
    size_t count = tree->bucket_count * 2;
    struct store_node **by_id = memory_allocate(count, sizeof(struct store_node *));
    struct store_node **by_name = memory_allocate(count, sizeof(struct store_node *));
    if (by_id == NULL || by_name == NULL) {
        memory_release(by_id);
        memory_release(by_name);
        return;
    }
    struct tree old = *tree;
    tree->by_id = by_id;
    tree->by_name = by_name;
    tree->bucket_count = count;
    for (size_t i = 0; i < old.bucket_count; i++) {
        struct store_node *next;
        for (struct store_node *node = old.by_id[i]; node != NULL; node = next) {
            next = node->next_by_id;
            link_id(tree, node);
            link_name(tree, node);
        }
    }
    memory_release(old.by_id);
    memory_release(old.by_name);
}

/* ---- Nodes ---- */

static char *copy_name(struct span name)
{
    char *copy = memory_allocate(name.size + 1, 1);
    if (copy != NULL && name.size > 0) {
        memcpy(copy, name.data, name.size);
    }
    return copy;
}

static struct store_node *new_node(const struct tree *tree, uint32_t id, struct span name,
                                   enum afp_node_kind kind)
{
    struct store_node *node = memory_allocate(1, tree->node_size);
    char *copy = copy_name(name);
    if (node == NULL || copy == NULL) {
        memory_release(node);
        memory_release(copy);
        return NULL;
    }
    node->name = copy;
    node->name_size = name.size;
    node->id = id;
    node->kind = kind;
    node->created = node->modified = afp_now();
    node->backed_up = AFP_DATE_NEVER;
    node->mode = kind == AFP_DIRECTORY ? 040777 : 0100666;
    return node;
}

void tree_close_files(struct store_fork *fork)
{
    int file = atomic_exchange(&fork->file, -1);
    int writable = atomic_exchange(&fork->writable, -1);
    if (file >= 0) {
        close(file);
    }
    if (writable >= 0 && writable != file) {
        close(writable);
    }
}

static void drop_fork(struct store_fork *fork)
{
    if (--fork->references == 0) {
        tree_close_files(fork);
        memory_release(fork);
    }
}

static void free_node(struct tree *tree, struct store_node *node)
{
    for (size_t i = 0; i < STORE_FORK_COUNT; i++) {
        if (node->forks[i] != NULL) {
            tree->used_bytes -= node->forks[i]->length;
            node->forks[i]->owner = NULL;
            drop_fork(node->forks[i]);
        }
    }
    memory_release(node->children);
    memory_release(node->name);
    memory_release(node);
}

/* The root stands in both tables like any node, so that nothing else treats it apart. */
bool tree_open(struct tree *tree, const struct store_ops *ops,
               const struct store_settings *settings, struct error *error)
{
    tree->store.ops = ops;
    tree->limit_bytes = settings->limit_bytes;
    tree->node_size = tree->node_size != 0 ? tree->node_size : sizeof(struct store_node);
    tree->next_id = AFP_FIRST_FREE_ID;
    tree->bucket_count = FIRST_BUCKETS;
    tree->by_id = memory_allocate(FIRST_BUCKETS, sizeof(struct store_node *));
    tree->by_name = memory_allocate(FIRST_BUCKETS, sizeof(struct store_node *));
    tree->root = new_node(tree, AFP_ROOT_ID, (struct span){0}, AFP_DIRECTORY);
    if (tree->by_id == NULL || tree->by_name == NULL || tree->root == NULL) {
        tree_close(tree);
        return memory_error(error, "for a volume");
    }
    tree->node_count = 1;
    link_id(tree, tree->root);
    link_name(tree, tree->root);
    return true;
}

/* When it is not wholly open, the root is in no table yet. */
void tree_close(struct tree *tree)
{
    /* by_id holds every node once it exists, the root included. */
    for (size_t i = 0; tree->node_count > 0 && i < tree->bucket_count; i++) {
        struct store_node *next;
        for (struct store_node *node = tree->by_id[i]; node != NULL; node = next) {
            next = node->next_by_id;
            free_node(tree, node);
        }
    }
    if (tree->node_count == 0 && tree->root != NULL) {
        free_node(tree, tree->root);
    }
    memory_release(tree->by_id);
    memory_release(tree->by_name);
    *tree = (struct tree){0};
}

struct store_node *tree_by_id(struct store *store, uint32_t id)
{
    struct tree *tree = tree_of(store);
    struct store_node *node = tree->by_id[id % tree->bucket_count];
    while (node != NULL && node->id != id) {
        node = node->next_by_id;
    }
    return node;
}

struct store_node *tree_parent(struct store *store, struct store_node *node)
{
    return node->parent;
}

int32_t tree_child(struct store *store, struct store_node *directory, struct span name,
                   struct store_node **child)
{
    struct tree *tree = tree_of(store);
    uint32_t hash = hash_name(directory->id, name);
    struct store_node *node = tree->by_name[hash % tree->bucket_count];
    while (node != NULL && !(node->name_hash == hash && node->parent == directory &&
                             span_equals(tree_name(node), name))) {
        node = node->next_by_name;
    }
    *child = node;
    return node != NULL ? AFP_OK : AFP_OBJECT_NOT_FOUND;
}

int32_t tree_list(struct store *store, struct store_node *directory)
{
    return AFP_OK;
}

uint32_t tree_offspring(struct store *store, struct store_node *directory)
{
    return (uint32_t)directory->child_count;
}

struct store_node *tree_entry(struct store *store, struct store_node *directory, size_t index)
{
    return index < directory->child_count ? directory->children[index] : NULL;
}

void tree_get(struct store *store, struct store_node *node, struct store_attributes *attributes)
{
    *attributes = (struct store_attributes){
        .kind = node->kind,
        .id = node->id,
        .parent_id = node->parent != NULL ? node->parent->id : AFP_ROOT_PARENT_ID,
        .name = tree_name(node),
        .attributes = node->attributes,
        .created = node->created,
        .modified = node->modified,
        .backed_up = node->backed_up,
        .mode = node->mode,
    };
    memcpy(attributes->finder_info, node->finder_info, sizeof node->finder_info);
    for (size_t i = 0; i < STORE_FORK_COUNT; i++) {
        attributes->fork_lengths[i] = node->forks[i] != NULL ? node->forks[i]->length : 0;
    }
}

int32_t tree_set(struct store *store, struct store_node *node, uint16_t bitmap,
                 const struct store_attributes *attributes)
{
    if (bitmap & AFP_NODE_ATTRIBUTES) {
        node->attributes = attributes->attributes;
    }
    if (bitmap & AFP_NODE_CREATED) {
        node->created = attributes->created;
    }
    if (bitmap & AFP_NODE_MODIFIED) {
        node->modified = attributes->modified;
    }
    if (bitmap & AFP_NODE_BACKED_UP) {
        node->backed_up = attributes->backed_up;
    }
    if (bitmap & AFP_NODE_FINDER_INFO) {
        memcpy(node->finder_info, attributes->finder_info, sizeof node->finder_info);
    }
    if (bitmap & AFP_NODE_UNIX_PRIVILEGES) {
        node->mode = attributes->mode;
    }
    return AFP_OK;
}

/* Children stay in the order of their making, which an enumeration in pages relies on. */
static bool append_child(struct store_node *directory, struct store_node *node)
{
    if (directory->child_count == directory->child_room) {
        size_t room = directory->child_room > 0 ? directory->child_room * 2 : 16;
        struct store_node **grown =
            memory_resize(directory->children, room, sizeof(struct store_node *));
        if (grown == NULL) {
            return false;
        }
        directory->children = grown;
        directory->child_room = room;
    }
    directory->children[directory->child_count++] = node;
    directory->modified = afp_now();
    return true;
}

static void remove_child(struct store_node *directory, struct store_node *node)
{
    size_t index = 0;
    while (directory->children[index] != node) {
        index++;
    }
    directory->child_count--;
    memmove(directory->children + index, directory->children + index + 1,
            (directory->child_count - index) * sizeof(struct store_node *));
    directory->modified = afp_now();
}

int32_t tree_add(struct store *store, struct store_node *directory, struct span name,
                 enum afp_node_kind kind, struct store_node **added)
{
    struct tree *tree = tree_of(store);
    if (tree->next_id == 0) {
        return AFP_DISK_FULL; /* every ID was given out */
    }
    struct store_node *node = new_node(tree, tree->next_id, name, kind);
    if (node == NULL) {
        return AFP_DISK_FULL;
    }
    if (!append_child(directory, node)) {
        free_node(tree, node);
        return AFP_DISK_FULL;
    }
    tree->next_id++;
    node->parent = directory;
    tree->node_count++;
    grow_tables(tree);
    link_id(tree, node);
    link_name(tree, node);
    *added = node;
    return AFP_OK;
}

int32_t tree_remove(struct store *store, struct store_node *node)
{
    struct tree *tree = tree_of(store);
    if (node->child_count > 0) {
        return AFP_DIRECTORY_NOT_EMPTY;
    }
    remove_child(node->parent, node);
    unlink_id(tree, node);
    unlink_name(tree, node);
    tree->node_count--;
    free_node(tree, node);
    return AFP_OK;
}

/* All that can fail comes before anything changes. */
int32_t tree_move(struct store *store, struct store_node *node, struct store_node *directory,
                  struct span name)
{
    struct tree *tree = tree_of(store);
    char *copy = copy_name(name);
    bool elsewhere = directory != node->parent;
    if (copy == NULL || (elsewhere && !append_child(directory, node))) {
        memory_release(copy);
        return AFP_DISK_FULL;
    }
    if (elsewhere) {
        remove_child(node->parent, node);
    }
    unlink_name(tree, node);
    memory_release(node->name);
    node->name = copy;
    node->name_size = name.size;
    node->parent = directory;
    link_name(tree, node);
    return AFP_OK;
}

void tree_detach(struct store *store, struct store_node *node)
{
    struct tree *tree = tree_of(store);
    remove_child(node->parent, node);
    unlink_name(tree, node);
    node->parent = NULL;
    link_name(tree, node);
}

/* Forks know their owner, since its space and date change with them. */
int32_t tree_exchange(struct store *store, struct store_node *a, struct store_node *b)
{
    for (size_t i = 0; i < STORE_FORK_COUNT; i++) {
        struct store_fork *fork = a->forks[i];
        a->forks[i] = b->forks[i];
        b->forks[i] = fork;
        if (a->forks[i] != NULL) {
            a->forks[i]->owner = a;
        }
        if (b->forks[i] != NULL) {
            b->forks[i]->owner = b;
        }
    }
    return AFP_OK;
}

/* ---- Forks ---- */

/* Most files never get a resource fork: forks are made when they are asked for. */
struct store_fork *tree_fork(struct store_node *file, enum store_fork_kind kind)
{
    if (file->forks[kind] == NULL) {
        struct store_fork *made = memory_allocate(1, sizeof *made);
        if (made != NULL) {
            made->owner = file;
            made->references = 1;
            atomic_init(&made->file, -1);
            atomic_init(&made->writable, -1);
        }
        file->forks[kind] = made;
    }
    return file->forks[kind];
}

int32_t tree_fork_open(struct store *store, struct store_node *file, enum store_fork_kind kind,
                       uint16_t access, struct store_fork **fork)
{
    *fork = tree_fork(file, kind);
    if (*fork == NULL) {
        return AFP_MISC_ERROR;
    }
    (*fork)->references++;
    return AFP_OK;
}

void tree_fork_close(struct store *store, struct store_fork *fork)
{
    drop_fork(fork);
}

uint64_t tree_fork_length(struct store *store, struct store_fork *fork)
{
    return fork->length;
}

/* The space of a removed file's fork is no longer counted. */
void tree_fork_resize(struct store *store, struct store_fork *fork, uint64_t length)
{
    if (fork->owner != NULL) {
        /* modulo 2^64: right in both directions */
        tree_of(store)->used_bytes += length - fork->length;
    }
    fork->length = length;
}

static void change_length(struct tree *tree, struct store_fork *fork, uint64_t length)
{
    tree_fork_resize(&tree->store, fork, length);
    if (fork->owner != NULL) {
        fork->owner->modified = afp_now();
    }
}

struct store_space tree_space(const struct tree *tree, uint64_t total_bytes)
{
    uint64_t used = tree->used_bytes < total_bytes ? tree->used_bytes : total_bytes;
    return (struct store_space){total_bytes, total_bytes - used};
}

static bool has_room(const struct tree *tree, uint64_t more_bytes)
{
    uint64_t limit = tree->limit_bytes != 0 ? tree->limit_bytes : INT64_MAX;
    return tree->used_bytes <= limit && more_bytes <= limit - tree->used_bytes;
}

int32_t tree_fork_set_length(struct store *store, struct store_fork *fork, uint64_t length)
{
    struct tree *tree = tree_of(store);
    if (length > INT64_MAX || (length > fork->length && !has_room(tree, length - fork->length))) {
        return AFP_DISK_FULL;
    }
    change_length(tree, fork, length);
    return AFP_OK;
}

int32_t tree_fork_flush(struct store *store, struct store_fork *fork)
{
    return AFP_OK;
}

/* Room is set aside before the data comes: two writes at once must not both get the last of it. */
int32_t tree_write_begin(struct store *store, struct store_fork *fork, struct store_write *write)
{
    struct tree *tree = tree_of(store);
    uint64_t end = write->size > 0 ? write->offset + write->size : 0;
    write->written = 0;
    write->reserved = end > fork->length ? end - fork->length : 0;
    if (!has_room(tree, write->reserved)) {
        write->reserved = 0;
        return AFP_DISK_FULL;
    }
    tree->used_bytes += write->reserved;
    return AFP_OK;
}

/* The room set aside is given back whole; what arrived is counted as the fork grows. */
void tree_write_end(struct store *store, struct store_fork *fork, const struct store_write *write)
{
    struct tree *tree = tree_of(store);
    tree->used_bytes -= write->reserved;
    uint64_t end = write->written > 0 ? write->offset + write->written : 0;
    if (write->written > 0) {
        change_length(tree, fork, end > fork->length ? end : fork->length);
    }
}
