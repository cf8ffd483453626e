#include "failing_memory.h"

#include "base/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static unsigned asked;
static unsigned fail_at;
static size_t largest;

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
    if (size > 0 && count > SIZE_MAX / size) {
        return false;
    }
    largest = count * size > largest ? count * size : largest;
    return ++asked != fail_at;
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
