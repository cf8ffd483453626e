#include "failing_memory.h"

#include "base/memory.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool (*memory_hook)(size_t size_bytes);

static atomic_uint asked;
static atomic_uint fail_at;
static atomic_size_t largest;

void memory_fail_at(unsigned number)
{
    asked = 0;
    largest = 0;
    fail_at = number;
}

unsigned memory_asked(void)
{
    return asked;
}

size_t memory_largest(void)
{
    return largest;
}

/* ---- The blocks that are allocated ---- */

#define LIVE_LIMIT 16384

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *live[LIVE_LIMIT];
static size_t live_count;

/* One block takes the place of another; NULL is none. */
static void note(void *before, void *after)
{
    pthread_mutex_lock(&lock);
    size_t i = live_count;
    while (i > 0 && live[i - 1] != before) {
        i--;
    }
    if (before != NULL && i > 0) {
        live[i - 1] = live[--live_count];
    }
    if (after != NULL && live_count < LIVE_LIMIT) {
        live[live_count++] = after;
    }
    pthread_mutex_unlock(&lock);
}

bool memory_holds(const void *bytes, size_t size)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < live_count && !found; i++) {
        found = memmem(live[i], malloc_usable_size(live[i]), bytes, size) != NULL;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- The functions of base/memory.h ---- */

static bool allowed(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        return false;
    }
    size_t before = largest;
    while (bytes > before && !atomic_compare_exchange_weak(&largest, &before, bytes)) {
    }
    return ++asked != fail_at && (memory_hook == NULL || memory_hook(bytes));
}

void *memory_allocate(size_t count, size_t size)
{
    void *block = allowed(count, size) ? calloc(count, size) : NULL;
    note(NULL, block);
    return block;
}

void *memory_resize(void *block, size_t count, size_t size)
{
    if (!allowed(count, size)) {
        return NULL;
    }
    note(block, NULL);
    void *resized = reallocarray(block, count, size);
    note(NULL, resized != NULL ? resized : block);
    return resized;
}

char *memory_copy_string(const char *text)
{
    char *copy = allowed(1, strlen(text) + 1) ? strdup(text) : NULL;
    note(NULL, copy);
    return copy;
}

void memory_release(void *block)
{
    note(block, NULL);
    free(block);
}

void memory_wipe(void *block, size_t size)
{
    explicit_bzero(block, size);
}

bool memory_error(struct error *error, const char *what)
{
    return error_set(error, ERROR_SYSTEM, ENOMEM, "out of memory %s", what);
}
