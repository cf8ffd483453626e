/*
 * fork_table.h - the forks that a session has open, by their references (doc/protocol.md 5.4).
 *
 * References count from 1, the lowest free one is given next. The table grows with the highest in
 * use; a session that opens few forks pays for few. It belongs to the session's thread; the forks
 * belong to their volumes.
 */
#ifndef AFPBENCH_SERVER_FORK_TABLE_H
#define AFPBENCH_SERVER_FORK_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct open_fork;

/* Zeroed, it is empty. */
struct fork_table {
    struct open_fork **forks; /* by reference - 1; NULL where none is open */
    size_t room;
    size_t lowest_free; /* no index below it is free */
};

/* A reference that is free, and has a place; 0 if `limit` forks are open or memory is out. */
uint16_t fork_table_reserve(struct fork_table *table, uint16_t limit);

/* NULL if no fork has this reference. */
struct open_fork *fork_table_get(const struct fork_table *table, uint16_t reference);

/* Under a reference that fork_table_reserve() gave; NULL under one that is in use frees it. */
void fork_table_set(struct fork_table *table, uint16_t reference, struct open_fork *fork);

/* Releases the table; its forks are closed. */
void fork_table_release(struct fork_table *table);

#endif
