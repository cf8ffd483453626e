#include "workload/payload.h"

#include "base/memory.h"
#include "stats/random.h"

#include <inttypes.h>
#include <string.h>

/* Periods just above 1 MiB: primes, and primes times the alignment of O_DIRECT. Three are enough
 * for one that divides neither of two chunks. */
#define PERIOD_CHOICES 3
static const size_t primes[PERIOD_CHOICES] = {1048583, 1048589, 1048601};
static const size_t small_primes[PERIOD_CHOICES] = {257, 263, 269};

static size_t choose_period(size_t alignment, size_t chunk, size_t other_chunk)
{
    size_t period = 0;
    for (size_t i = 0; i < PERIOD_CHOICES; i++) {
        period = alignment == 1 ? primes[i] : alignment * small_primes[i];
        if (chunk % period != 0 && other_chunk % period != 0) {
            break;
        }
    }
    return period;
}

/* Every run writes the same bytes, and they do not compress. */
static void fill(uint8_t *bytes, size_t size)
{
    struct stats_random random = {1};
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t value = stats_random_next(&random);
        size_t left = size - at;
        memcpy(bytes + at, &value, left < sizeof value ? left : sizeof value);
    }
}

bool payload_make(struct payload *payload, size_t alignment, size_t chunk, size_t other_chunk,
                  struct error *error)
{
    size_t chunk_limit = chunk > other_chunk ? chunk : other_chunk;
    size_t period = choose_period(alignment, chunk, other_chunk);
    *payload = (struct payload){.period_bytes = period, .chunk_limit = chunk_limit};
    if (chunk_limit > PAYLOAD_CHUNK_LIMIT) {
        return error_set(error, ERROR_LIMIT, 0,
                         "a request of %zu bytes is more than the %zu kept for buffers",
                         chunk_limit, PAYLOAD_CHUNK_LIMIT) ||
               error_remedy(error, REMEDY_REQUEST_SIZE);
    }
    payload->block = memory_allocate(period + chunk_limit + alignment, 1);
    if (payload->block == NULL) {
        return memory_error(error, "for the payload");
    }
    payload->bytes = memory_align(payload->block, alignment);
    fill(payload->bytes, period);
    /* Beyond the period the pool starts again, so that a chunk from any offset is contiguous. */
    for (size_t at = 0; at < chunk_limit; at += period) {
        size_t left = chunk_limit - at;
        memcpy(payload->bytes + period + at, payload->bytes, left < period ? left : period);
    }
    return true;
}

void payload_release(struct payload *payload)
{
    memory_release(payload->block);
    payload->block = payload->bytes = NULL;
}

const void *payload_at(const struct payload *payload, uint64_t offset)
{
    return payload->bytes + offset % payload->period_bytes;
}

bool payload_verify(const struct payload *payload, bool zeros, const void *bytes, uint64_t offset,
                    size_t size, struct error *error)
{
    const uint8_t *got = bytes;
    const uint8_t *wanted = zeros ? NULL : payload_at(payload, offset);
    if (!zeros && memcmp(got, wanted, size) == 0) {
        return true;
    }
    for (size_t i = 0; i < size; i++) {
        uint8_t want = zeros ? 0 : wanted[i];
        if (got[i] != want) {
            return error_set(error, ERROR_CONTENT, 0,
                             "wrong data at offset %" PRIu64 ": 0x%02x was read, 0x%02x expected",
                             offset + i, got[i], want);
        }
    }
    return true;
}
