/*
 * store.h - where a volume keeps its files: the interface that every store implements, and the
 * table of stores.
 *
 * Locking: the volume has one mutex. Every function of a store is called with it held, except the
 * six that may take long (`send`, `receive`, `read`, `write`, `copy`, `fork_flush`), which are
 * called without it and may block on a socket for as long as the peer likes. They work on a
 * `struct store_fork`, which is counted: it stays valid from `fork_open` to `fork_close`, whatever
 * happens to its file meanwhile.
 *
 * A `struct store_node` is borrowed: it is valid while the mutex is held and until it is removed.
 * What `get` says of it is as of the lookup that gave it (by_id, child, entry, add).
 *
 * Failures are AFP result codes (doc/protocol.md appendix A), since that is where they end up.
 */
#ifndef AFPBENCH_SERVER_STORE_H
#define AFPBENCH_SERVER_STORE_H

#include "afp/message.h"
#include "base/error.h"
#include "server/outbox.h"

#include <stdint.h>

struct store_node;
struct store_fork;

enum store_fork_kind { STORE_DATA_FORK, STORE_RESOURCE_FORK, STORE_FORK_COUNT };

struct store_settings {
    const char *path;     /* the directory to serve; NULL for a store that has none */
    uint64_t limit_bytes; /* most bytes that all forks hold together; 0: no limit */
};

struct store_space {
    uint64_t total_bytes;
    uint64_t free_bytes;
};

/* What a node is and has. Dates count from 2000 in GMT (3.2). */
struct store_attributes {
    enum afp_node_kind kind;
    uint32_t id, parent_id;
    struct span name; /* decomposed UTF-8, as all names here; borrowed as the node is */
    uint16_t attributes;
    uint32_t created, modified, backed_up;
    uint8_t finder_info[32];
    uint32_t mode;                           /* Unix permissions */
    uint64_t fork_lengths[STORE_FORK_COUNT]; /* files */
};

/* One write from `write_begin` to `write_end`. */
struct store_write {
    uint64_t offset, size; /* as asked; their sum fits in 63 bits */
    uint64_t written;      /* so far, from the start of the range */
    uint64_t reserved;     /* the store's: space set aside */
};

/* Every store's own struct begins with this one. */
struct store {
    const struct store_ops *ops;
};

struct store_ops {
    const char *name; /* as in --volume NAME,store=… */
    bool needs_path;  /* settings->path is set; without this it is NULL */

    MUST_CHECK bool (*create)(struct store **store, const struct store_settings *settings,
                              struct error *error);
    void (*destroy)(struct store *store);
    struct store_space (*space)(struct store *store);

    /* Nodes. The root's ID is AFP_ROOT_ID, the others' are stable and from AFP_FIRST_FREE_ID up.
     * by_id and entry return NULL when there is none, child AFP_OBJECT_NOT_FOUND; entries count
     * from 0 in an order that only additions and removals change. `list` comes before them: it
     * learns what the directory holds by now. */
    struct store_node *(*by_id)(struct store *store, uint32_t id);
    struct store_node *(*parent)(struct store *store,
                                 struct store_node *node); /* NULL: the root's */
    int32_t (*child)(struct store *store, struct store_node *directory, struct span name,
                     struct store_node **child);
    int32_t (*list)(struct store *store, struct store_node *directory);
    uint32_t (*offspring)(struct store *store, struct store_node *directory);
    struct store_node *(*entry)(struct store *store, struct store_node *directory, size_t index);
    void (*get)(struct store *store, struct store_node *node, struct store_attributes *attributes);
    /* Takes the fields that the bitmap names: attributes, dates, Finder info, Unix mode. */
    int32_t (*set)(struct store *store, struct store_node *node, uint16_t bitmap,
                   const struct store_attributes *attributes);

    /* The caller has checked that the name is free and, for `move`, that `directory` is not inside
     * the node. `remove` refuses a directory that is not empty. */
    int32_t (*add)(struct store *store, struct store_node *directory, struct span name,
                   enum afp_node_kind kind, struct store_node **added);
    int32_t (*remove)(struct store *store, struct store_node *node);
    int32_t (*move)(struct store *store, struct store_node *node, struct store_node *directory,
                    struct span name);
    /* Two files swap their forks; names and IDs stay. */
    int32_t (*exchange)(struct store *store, struct store_node *a, struct store_node *b);

    /* Forks. A fork is used only as `access` (enum afp_access, reading and writing) said. */
    int32_t (*fork_open)(struct store *store, struct store_node *file, enum store_fork_kind kind,
                         uint16_t access, struct store_fork **fork);
    void (*fork_close)(struct store *store, struct store_fork *fork);
    uint64_t (*fork_length)(struct store *store, struct store_fork *fork);
    int32_t (*fork_set_length)(struct store *store, struct store_fork *fork, uint64_t length);
    /* A write: reserve space; move the data; account for what arrived. Once begun it is ended. */
    int32_t (*write_begin)(struct store *store, struct store_fork *fork, struct store_write *write);
    void (*write_end)(struct store *store, struct store_fork *fork,
                      const struct store_write *write);

    /* Data, without the mutex. `send` puts the range into the outbox, zeros where the fork was cut
     * short meanwhile. `receive` takes write->size bytes from the inbox; false means that the
     * connection is gone, and a store that cannot keep the bytes says so in *result. `read` and
     * `write` serve FPCopyFile; so does `copy`, between forks of stores with the same operations:
     * it moves the range of the write within the system, or writes less (or nothing) and leaves the
     * rest to the others; NULL: there is no such way. `fork_flush` returns when the bytes are on
     * the disk, if any. */
    MUST_CHECK bool (*send)(struct store *store, struct store_fork *fork, struct outbox *outbox,
                            uint64_t offset, uint64_t size, struct error *error);
    MUST_CHECK bool (*receive)(struct store *store, struct store_fork *fork, struct inbox *inbox,
                               struct store_write *write, int32_t *result, struct error *error);
    int32_t (*read)(struct store *store, struct store_fork *fork, uint64_t offset, void *buffer,
                    size_t size);
    int32_t (*write)(struct store *store, struct store_fork *fork, struct store_write *write,
                     const void *buffer);
    int32_t (*copy)(struct store_fork *from, struct store_fork *to, struct store_write *write);
    int32_t (*fork_flush)(struct store *store, struct store_fork *fork);
};

/* The table of stores: by name, NULL for none; and all names in one line for error messages. */
const struct store_ops *store_by_name(const char *name);
const char *store_names(void);

extern const struct store_ops store_memory; /* a tree in memory, a memfd for each fork */
extern const struct store_ops store_null;   /* the same tree; reads are made up, writes dropped */
extern const struct store_ops store_directory; /* the files of a directory of the system */

#endif
