#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *memory_allocate(size_t count, size_t size)
{
    return calloc(count, size);
}

void *memory_resize(void *block, size_t count, size_t size)
{
    return reallocarray(block, count, size);
}

char *memory_copy_string(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memory_allocate(size, 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
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
