#include "bench/payload.h"

#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

/* Primes just above 1 MiB: larger than any cache line's worth of luck, small enough for caches. */
static const size_t periods[] = {1048583, 1048589};

/* SplitMix64: every run writes the same bytes, and they do not compress. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

bool payload_make(struct payload *payload, size_t chunk_limit, struct error *error)
{
    size_t period = chunk_limit % periods[0] == 0 ? periods[1] : periods[0];
    *payload = (struct payload){.period_bytes = period, .chunk_limit = chunk_limit};
    if (chunk_limit > PAYLOAD_CHUNK_LIMIT) {
        return error_set(error, ERROR_LIMIT, 0,
                         "a request of %zu bytes is more than the %zu kept for buffers: lower -q",
                         chunk_limit, PAYLOAD_CHUNK_LIMIT);
    }
    payload->bytes = memory_allocate(period + chunk_limit, 1);
    if (payload->bytes == NULL) {
        return memory_error(error, "for the payload");
    }
    uint64_t state = 1;
    for (size_t at = 0; at < period; at += sizeof(uint64_t)) {
        uint64_t value = next_random(&state);
        size_t left = period - at;
        memcpy(payload->bytes + at, &value, left < sizeof value ? left : sizeof value);
    }
    /* Beyond the period the pool starts again, so that a chunk from any offset is contiguous. */
    for (size_t at = 0; at < chunk_limit; at += period) {
        size_t left = chunk_limit - at;
        memcpy(payload->bytes + period + at, payload->bytes, left < period ? left : period);
    }
    return true;
}

void payload_release(struct payload *payload)
{
    memory_release(payload->bytes);
    payload->bytes = NULL;
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
