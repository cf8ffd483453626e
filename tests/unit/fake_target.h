/*
 * fake_target.h - a target in memory: files are byte arrays, operations complete in any order.
 *
 * Data moves when an operation is reaped, not when it is submitted, so that a buffer which is used
 * too early shows as wrong content. Every call is counted; the one with the number `fail_at` fails.
 * Misuse (a tag used twice, more than the reserved depth, waiting for nothing, a range outside the
 * file) fails the test at once.
 */
#ifndef AFPBENCH_TESTS_FAKE_TARGET_H
#define AFPBENCH_TESTS_FAKE_TARGET_H

#include "target/target.h"

#define FAKE_FILES   8
#define FAKE_DEPTH   4096
#define FAKE_MESSAGE "the fake target fails here"

enum fake_order { FAKE_FIFO, FAKE_LIFO, FAKE_RANDOM, FAKE_ORDERS };

struct target_file {
    char name[32]; /* empty: the entry is free */
    enum target_place place;
    bool open;
    bool read_only;
    uint8_t *bytes;
    uint8_t *moved; /* how often each byte was read or written */
    uint64_t size;
    uint64_t capacity;
};

struct fake_target {
    struct target target; /* first: the two are one to the code under test */

    enum fake_order order;
    bool short_reads;   /* a read of more than a byte brings the first half of it */
    bool reads_nothing; /* reads complete and leave the buffer alone */
    uint64_t free_bytes[TARGET_PLACES];
    bool free_exact;
    enum cache_state cooled; /* what cool() says */
    unsigned warm_cool;      /* number of the cool() that says warm all the same; 0: none */
    unsigned fail_at;        /* number of the call that fails, from 1; 0: none */
    bool log_accounts;       /* a word for those too */
    uint64_t service_ns;     /* of each operation, from submission to completion */
    uint64_t waited_ns;      /* what account() tells, and by how much it grows each time */
    uint64_t waiting_step;   /* nanoseconds */

    unsigned calls;
    struct target_file files[FAKE_FILES];
    struct target_operation pending[FAKE_DEPTH];
    uint32_t pending_count;
    uint32_t depth;
    uint32_t random;

    /* What was seen. */
    char log[4096]; /* a word for each call but reserve, submit, reap, account and cool:
                     * "create:Source " */
    unsigned accounts;
    unsigned cools;
    uint32_t most_pending;
    uint32_t most_reads;
    uint32_t reads_pending;
    uint32_t submits;
    uint32_t reaps;
    uint32_t short_reaps;     /* with fewer outstanding than were reserved */
    bool draining;            /* a reap came and others are still outstanding */
    bool submitted_in_drain;  /* so it was no batch */
    bool discarded, buffered; /* reads without and with a buffer */
    uint64_t idle_ns;         /* asked for in all */
};

struct fake_target *fake_target_new(void);
void fake_target_free(struct fake_target *fake);

/* Forgets calls, log and what was seen; drops outstanding operations; keeps the files. */
void fake_target_reset(struct fake_target *fake);

/* A closed file of `size` zero bytes. */
struct target_file *fake_file(struct fake_target *fake, enum target_place place, const char *name,
                              uint64_t size);

/* NULL if there is none. */
struct target_file *fake_find(struct fake_target *fake, enum target_place place, const char *name);

#endif
