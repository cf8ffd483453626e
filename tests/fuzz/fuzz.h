/* fuzz.h - what every fuzz target shares.
 *
 * A target is one file with fuzz_one(), which gets the bytes of one input in a block of exactly
 * their size. It must leave nothing behind: no memory, no descriptor, no state that changes what
 * the next input does. What must hold it says with fuzz_require(). */
#ifndef AFPBENCH_TESTS_FUZZ_H
#define AFPBENCH_TESTS_FUZZ_H

#include "base/error.h"
#include "base/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than any input may make the program ask for in one piece. */
#define FUZZ_ALLOCATION_LIMIT ((size_t)16 * 1024 * 1024)

void fuzz_one(const uint8_t *bytes, size_t size);

/* Ends the program, as a find, unless the condition holds. */
void fuzz_require(bool condition, const char *what);

/* A failure must have said why, on one line. */
void fuzz_require_error(bool ok, const struct error *error);

/* What the input decides, from its start on; zeros and empty spans after its end. */
uint8_t fuzz_u8(struct wire *input);
uint16_t fuzz_u16(struct wire *input);
/* Up to `size` bytes, in a block of exactly their size that fuzz_release() ends. */
struct span fuzz_bytes(struct wire *input, size_t size);
struct span fuzz_rest(struct wire *input);
void fuzz_release(struct span bytes);

#endif
