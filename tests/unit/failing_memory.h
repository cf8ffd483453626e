/*
 * failing_memory.h - the functions of base/memory.h, of which the n-th allocation fails, or those
 * that a hook of the test's own refuses.
 *
 * A test program that has failing_memory.c among its sources uses these instead of the library's.
 * Any thread may allocate; the other functions are for the test's main thread.
 */
#ifndef AFPBENCH_TESTS_FAILING_MEMORY_H
#define AFPBENCH_TESTS_FAILING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Counts afresh, from 1; the allocation of this number fails. 0: none. */
void memory_fail_at(unsigned number);

/* Allocations asked for since then, the failed one included. */
unsigned memory_asked(void);

/* The largest of them, in bytes. */
size_t memory_largest(void);

/* Whether any block that is allocated now holds these bytes. No other thread may be at work. */
bool memory_holds(const void *bytes, size_t size);

/* Asked before each allocation, in its thread; false makes it fail. NULL: all succeed but for
 * memory_fail_at(). */
extern bool (*memory_hook)(size_t size_bytes);

#endif
