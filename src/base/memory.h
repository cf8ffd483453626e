/*
 * memory.h - every allocation of the library goes through here.
 *
 * Tests link another implementation of these functions (a counting one, a failing one); the rest of
 * the code cannot tell. A failed allocation returns NULL; the caller reports it with
 * memory_error().
 */
#ifndef AFPBENCH_BASE_MEMORY_H
#define AFPBENCH_BASE_MEMORY_H

#include "base/error.h"

#include <stddef.h>

/* `count` objects of `size` bytes, zeroed; NULL if there is no room or the product overflows. */
void *memory_allocate(size_t count, size_t size);

/* Grows or shrinks to `count` objects; NULL leaves the old block as it was. */
void *memory_resize(void *block, size_t count, size_t size);

/* A copy of a string. */
char *memory_copy_string(const char *text);

/* The first address at or after `block` that is a multiple of `alignment`. */
static inline void *memory_align(void *block, size_t alignment)
{
    uintptr_t address = (uintptr_t)block;
    return (char *)block + (alignment - address % alignment) % alignment;
}

/* NULL is fine. */
void memory_release(void *block);

/* Overwrites `size` bytes so that the compiler cannot leave it out: for secrets. */
void memory_wipe(void *block, size_t size);

/* Fills `error` with "out of memory <what>"; returns false. */
bool memory_error(struct error *error, const char *what);

#endif
