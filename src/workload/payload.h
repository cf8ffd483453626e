/*
 * payload.h - the bytes that are written and that must come back.
 *
 * A pool of incompressible bytes is made before any clock starts. The byte at offset o of a file is
 * pool[o mod P], P a prime (times the alignment that O_DIRECT asks for) that does not divide the
 * chunk, so that no two neighbouring chunks are equal; any chunk is one contiguous piece of memory.
 * The pool is read-only afterwards and may be shared by threads. doc/method.md, "Payload".
 */
#ifndef AFPBENCH_WORKLOAD_PAYLOAD_H
#define AFPBENCH_WORKLOAD_PAYLOAD_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The largest chunk, 256 MiB: memory is not used up for absurd quanta. */
#define PAYLOAD_CHUNK_LIMIT ((size_t)256 << 20)

struct payload {
    void *block;    /* as allocated */
    uint8_t *bytes; /* aligned as asked for */
    size_t period_bytes;
    size_t chunk_limit; /* the largest piece that payload_at() can give */
};

/* For files that are moved in chunks of either size; chunk_limit is the larger one. Whatever lies
 * at a multiple of `alignment` (1, or what O_DIRECT wants) in a file lies at one in memory. */
MUST_CHECK bool payload_make(struct payload *payload, size_t alignment, size_t chunk,
                             size_t other_chunk, struct error *error);

void payload_release(struct payload *payload);

/* The bytes of a file from `offset` on, at least chunk_limit of them. */
const void *payload_at(const struct payload *payload, uint64_t offset);

/* Compares `size` bytes read at `offset` with what was written; ERROR_CONTENT names the offset of
 * the first byte that differs. `zeros`: the file was made sparse. */
MUST_CHECK bool payload_verify(const struct payload *payload, bool zeros, const void *bytes,
                               uint64_t offset, size_t size, struct error *error);

#endif
