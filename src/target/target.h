/*
 * target.h - what a workload runs against: an AFP server or a mounted directory.
 *
 * A target submits and completes single reads and writes, and does the untimed work around them:
 * its own working directory, files in it, flush, server-side copy, free space. Windows, batches and
 * the copy loop are workload/flow's; the clock is workload/measure's.
 *
 * A target remembers every directory, file and open handle that it made, so that clean-up after any
 * failure is one call. Only what opens a target knows of which kind it is. Files are named by place
 * and name; `struct target_file` is owned by the target and ends with target_close_file(). One
 * thread per target.
 */
#ifndef AFPBENCH_TARGET_TARGET_H
#define AFPBENCH_TARGET_TARGET_H

#include "base/clock.h"
#include "base/error.h"
#include "result/result.h"

#include <stddef.h>
#include <stdint.h>

/* The first volume (-s), and the second (-S), to which copies go. */
enum target_place { TARGET_FIRST, TARGET_SECOND, TARGET_PLACES };

enum target_kind { TARGET_READ, TARGET_WRITE };

struct target;
struct target_file;

/* One read or write of at most the target's chunk. The buffer stays the caller's and must live
 * until the operation is reaped or settled. `tag` is below the reserved depth and unused by another
 * outstanding operation. */
struct target_operation {
    enum target_kind kind;
    struct target_file *file;
    uint64_t offset;
    size_t size;
    void *read_buffer;        /* TARGET_READ; NULL: the bytes are dropped unseen */
    const void *write_buffer; /* TARGET_WRITE */
    uint32_t tag;
};

struct target_completion {
    uint32_t tag;
    size_t missing;        /* a read that was answered in part: bytes at its end to be asked for */
    uint64_t submitted_ns; /* first byte handed over */
    uint64_t sent_ns;      /* last byte handed over */
    uint64_t completed_ns;
};

/* What the bench needs to know before it plans. */
struct target_facts {
    uint32_t read_chunk;      /* most bytes of one read, by default */
    uint32_t write_chunk;     /* and of one write */
    uint32_t chunk_limit;     /* most bytes that may be asked for (-q) */
    uint64_t size_limit;      /* most bytes of a file */
    bool server_copy;         /* can copy a file on the server's side; false as well from when a
                                 server that offered it said that it has no such call */
    const char *copy_refusal; /* if not, why; NULL: it just does not */
    bool second_place;        /* TARGET_SECOND is not the same volume as TARGET_FIRST */
    bool in_turn;             /* takes requests one after the other, whatever the depth */
    uint32_t alignment;       /* that buffers, offsets and full chunks must have; 1: none */
};

/* Which directories of killed runs go, and who is told of each: removed, or kept with the reason.
 */
struct leftover_sweep {
    /* Goes too, though its run may still be going: what has not been changed for so long by the
     * clock of who keeps it. UINT64_MAX: nothing. */
    uint64_t age_s;
    void (*report)(void *context, const char *name, bool removed, const char *reason);
    void *context;
};

/* For clean_up(): no deadline; and how long after a failure it is. */
#define TARGET_PATIENT  UINT64_MAX
#define TARGET_HURRY_NS (5 * NS_PER_S)

struct target_ops {
    /* Makes room for `depth` outstanding operations. */
    MUST_CHECK bool (*reserve)(struct target *target, uint32_t depth, struct error *error);

    MUST_CHECK bool (*submit)(struct target *target, const struct target_operation *operation,
                              struct error *error);
    /* Waits for the next completion, in any order. A refused operation, a short write and a read
     * that brought nothing are errors that name the operation and its offset; a read that brought
     * less than was asked for says what is `missing`. */
    MUST_CHECK bool (*reap)(struct target *target, struct target_completion *completion,
                            struct error *error);

    /* What is known of the work so far; taken before and after a timed section. */
    MUST_CHECK bool (*account)(struct target *target, struct target_account *account,
                               struct error *error);

    /* Waits until `deadline_ns` of the monotonic clock, or until `fd` (-1: none) can be read. */
    MUST_CHECK bool (*idle)(struct target *target, uint64_t deadline_ns, int fd, bool *readable,
                            struct error *error);

    /* Files in the working directory of a place, which is made when first needed. */
    MUST_CHECK bool (*create_file)(struct target *target, enum target_place place, const char *name,
                                   struct error *error);
    MUST_CHECK bool (*open_file)(struct target *target, enum target_place place, const char *name,
                                 struct target_file **file, struct error *error);
    MUST_CHECK bool (*remove_file)(struct target *target, enum target_place place, const char *name,
                                   struct error *error);
    /* A file that was there before, at the root of the first place: opened for reading only. */
    MUST_CHECK bool (*open_existing)(struct target *target, const char *name,
                                     struct target_file **file, uint64_t *size_bytes,
                                     struct error *error);
    MUST_CHECK bool (*close_file)(struct target *target, struct target_file *file,
                                  struct error *error);

    MUST_CHECK bool (*set_length)(struct target *target, struct target_file *file,
                                  uint64_t size_bytes, struct error *error);
    MUST_CHECK bool (*flush)(struct target *target, struct target_file *file, struct error *error);
    /* Before a read that is to be timed: takes the file out of the client's own cache, if there is
     * one, and says what came of it. */
    MUST_CHECK bool (*cool)(struct target *target, struct target_file *file,
                            enum cache_state *state, struct error *error);
    /* Before every server_copy(): does what is not to be timed; NULL: there is nothing to do. */
    MUST_CHECK bool (*prepare_copy)(struct target *target, const char *name,
                                    enum target_place place, const char *new_name,
                                    struct error *error);
    /* Copies a file of the first place to `new_name` in `place`, on the server's side. */
    MUST_CHECK bool (*server_copy)(struct target *target, const char *name, enum target_place place,
                                   const char *new_name, struct error *error);

    /* Free bytes of a place, UINT64_MAX where nothing is known; `exact` is false where that is the
     * word of a server, which may mean a quota or nothing. */
    MUST_CHECK bool (*free_space)(struct target *target, enum target_place place,
                                  uint64_t *free_bytes, bool *exact, struct error *error);

    /* Lets outstanding operations end, then closes and removes everything that the target made.
     * After a failure it waits for answers until `deadline_ns`, which several targets may share
     * (and a little for each when that has passed); TARGET_PATIENT: as long as ever. False names
     * what stays. */
    MUST_CHECK bool (*clean_up)(struct target *target, uint64_t deadline_ns, struct error *error);
    /* Whether clean_up() will have to wait for an answer; NULL: never. */
    bool (*busy)(const struct target *target);
    /* Removes the working directories that killed runs left in the target's places, and only those:
     * names of our form (workname.h) whose run's end is proven, or which are old enough. What
     * cannot be removed is reported and left. */
    MUST_CHECK bool (*remove_leftovers)(struct target *target, const struct leftover_sweep *sweep,
                                        struct error *error);

    /* Fills what the record says of the server, or of the file system. */
    void (*describe)(const struct target *target, struct conditions *conditions);
    /* What a reader of the figures must know besides. Called by index from 0 until it returns
     * false; NULL: nothing. */
    bool (*note)(const struct target *target, size_t index, char *text, size_t size);

    /* After clean_up. */
    void (*close)(struct target *target);
};

struct target {
    const struct target_ops *ops;
    struct target_facts facts;
};

#endif
