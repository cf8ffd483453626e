/* The entry that libFuzzer calls, and what the targets share. */
#include "fuzz.h"

#include "../unit/failing_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Nothing from outside makes the program take much memory at once. */
static bool small_enough(size_t size_bytes)
{
    fuzz_require(size_bytes <= FUZZ_ALLOCATION_LIMIT, "an input asks for very much memory");
    return true;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    memory_hook = small_enough;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_one(bytes, size);
    return 0;
}

void fuzz_require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

void fuzz_require_error(bool ok, const struct error *error)
{
    fuzz_require(ok || (error->domain != ERROR_NONE && error->message[0] != '\0' &&
                        memchr(error->message, '\0', sizeof error->message) != NULL &&
                        strchr(error->message, '\n') == NULL),
                 "a failure without a reason on one line");
}

uint8_t fuzz_u8(struct wire *input)
{
    uint8_t value = 0;
    wire_u8(input, &value);
    return value;
}

uint16_t fuzz_u16(struct wire *input)
{
    uint16_t value = 0;
    wire_u16(input, &value);
    return value;
}

struct span fuzz_bytes(struct wire *input, size_t size)
{
    struct span bytes = {0};
    size_t left = wire_ok(input) ? wire_left(input) : 0;
    wire_bytes(input, &bytes, size < left ? size : left);
    uint8_t *copy = malloc(bytes.size);
    fuzz_require(copy != NULL || bytes.size == 0, "no memory for the fuzz target itself");
    if (bytes.size > 0) {
        memcpy(copy, bytes.data, bytes.size);
    }
    return (struct span){copy, bytes.size};
}

struct span fuzz_rest(struct wire *input)
{
    return fuzz_bytes(input, SIZE_MAX);
}

void fuzz_release(struct span bytes)
{
    free((void *)bytes.data);
}
