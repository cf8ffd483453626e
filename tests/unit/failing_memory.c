#include "failing_memory.h"

#include "base/memory.h"

#include <errno.h>
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
    return allowed(count, size) ? calloc(count, size) : NULL;
}

void *memory_resize(void *block, size_t count, size_t size)
{
    return allowed(count, size) ? reallocarray(block, count, size) : NULL;
}

char *memory_copy_string(const char *text)
{
    return allowed(1, strlen(text) + 1) ? strdup(text) : NULL;
}

void memory_release(void *block)
{
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
