/*
 * store_tree.h - files and directories kept in memory: all of a store but the bytes of its forks.
 *
 * Shared by the stores `memory` and `null`, whose tables of operations name these functions, and by
 * `directory`, for which it is what is known of the files on disk; see store.h for what each does
 * and for the locking. A fork here has a length and a place in its file; what holds its bytes is
 * the store's business.
 */
#ifndef AFPBENCH_SERVER_STORE_TREE_H
#define AFPBENCH_SERVER_STORE_TREE_H

#include "server/store.h"

#include <stdatomic.h>

struct store_fork {
    struct store_node *owner; /* NULL once the file is removed */
    unsigned references;      /* the owner's, and one for each fork_open */
    uint64_t length;
    /* What holds the bytes, for reading and for writing; often the same descriptor. -1: nothing
     * yet. Set with the mutex held while nobody uses the one in question, and used without it; see
     * store_file.h. */
    atomic_int file, writable;
    bool on_disk; /* a file that others may change as well, not a memfd */
};

struct store_node {
    struct store_node *parent;
    struct store_node *next_by_id, *next_by_name; /* chains of the two hash tables */
    enum afp_node_kind kind;
    uint32_t id;
    char *name;
    size_t name_size;
    uint32_t name_hash;
    uint16_t attributes;
    uint32_t created, modified, backed_up;
    uint32_t mode;
    uint8_t finder_info[32];
    struct store_fork *forks[STORE_FORK_COUNT]; /* files; NULL: empty and never opened */
    struct store_node **children;               /* directories, in the order of their making */
    size_t child_count, child_room;
};

struct tree {
    struct store store;
    struct store_node *root;
    struct store_node **by_id, **by_name; /* bucket_count chains each */
    size_t bucket_count, node_count;
    uint32_t next_id;
    uint64_t limit_bytes, used_bytes;
    size_t node_size; /* of the store's own node, which begins with a store_node */
};

/* The tree is zeroed memory, first in the store's own struct; node_size may be set, else it is a
 * store_node's. */
MUST_CHECK bool tree_open(struct tree *tree, const struct store_ops *ops,
                          const struct store_settings *settings, struct error *error);
void tree_close(struct tree *tree);

struct store_node *tree_by_id(struct store *store, uint32_t id);
struct store_node *tree_parent(struct store *store, struct store_node *node);
int32_t tree_child(struct store *store, struct store_node *directory, struct span name,
                   struct store_node **child);
int32_t tree_list(struct store *store, struct store_node *directory);
uint32_t tree_offspring(struct store *store, struct store_node *directory);
struct store_node *tree_entry(struct store *store, struct store_node *directory, size_t index);
void tree_get(struct store *store, struct store_node *node, struct store_attributes *attributes);
int32_t tree_set(struct store *store, struct store_node *node, uint16_t bitmap,
                 const struct store_attributes *attributes);
int32_t tree_add(struct store *store, struct store_node *directory, struct span name,
                 enum afp_node_kind kind, struct store_node **added);
int32_t tree_remove(struct store *store, struct store_node *node);
int32_t tree_move(struct store *store, struct store_node *node, struct store_node *directory,
                  struct span name);
int32_t tree_exchange(struct store *store, struct store_node *a, struct store_node *b);
int32_t tree_fork_open(struct store *store, struct store_node *file, enum store_fork_kind kind,
                       uint16_t access, struct store_fork **fork);
void tree_fork_close(struct store *store, struct store_fork *fork);
uint64_t tree_fork_length(struct store *store, struct store_fork *fork);
int32_t tree_fork_set_length(struct store *store, struct store_fork *fork, uint64_t length);
int32_t tree_fork_flush(struct store *store, struct store_fork *fork);
int32_t tree_write_begin(struct store *store, struct store_fork *fork, struct store_write *write);
void tree_write_end(struct store *store, struct store_fork *fork, const struct store_write *write);

/* For a store whose nodes change by themselves. A detached node keeps its ID and all else but is in
 * no directory ever again; tree_fork_resize() notes a length that is so. */
void tree_detach(struct store *store, struct store_node *node);
void tree_fork_resize(struct store *store, struct store_fork *fork, uint64_t length);

/* The fork of a file, made if it has none yet; NULL when out of memory. */
struct store_fork *tree_fork(struct store_node *file, enum store_fork_kind kind);

/* Closes the files of a fork that nobody uses. */
void tree_close_files(struct store_fork *fork);

/* The space of a volume that has so much in all. */
struct store_space tree_space(const struct tree *tree, uint64_t total_bytes);

struct span tree_name(const struct store_node *node);

/* What the stores that keep their nodes in memory only have in common. */
#define TREE_OPERATIONS                                                                            \
    .by_id = tree_by_id, .parent = tree_parent, .child = tree_child, .list = tree_list,            \
    .offspring = tree_offspring, .entry = tree_entry, .get = tree_get, .set = tree_set,            \
    .add = tree_add, .remove = tree_remove, .move = tree_move, .exchange = tree_exchange,          \
    .fork_open = tree_fork_open, .fork_close = tree_fork_close, .fork_length = tree_fork_length,   \
    .fork_flush = tree_fork_flush, .write_end = tree_write_end

#endif
