/* workload/payload: the pool of bytes that are written and must come back (doc/method.md,
 * "Payload").
 */
#include "unit.h"

#include "workload/payload.h"

#include <stdio.h>

static const size_t chunks[] = {1, 1000, 4096, 65536, 1048556, 1048576, 1048583, 1048589, 2097166};

static void neighbouring_chunks_differ(void **state)
{
    for (size_t i = 0; i < COUNT(chunks); i++) {
        struct payload payload;
        struct error error;
        size_t chunk = chunks[i];
        assert_true(payload_make(&payload, 1, chunk, chunk, &error));
        check(chunk % payload.period_bytes != 0, "chunk %zu: all pieces are the same", chunk);
        unsigned same = 0;
        for (uint64_t k = 0; k < 100; k++) {
            same += memcmp(payload_at(&payload, k * chunk), payload_at(&payload, (k + 1) * chunk),
                           chunk) == 0;
        }
        check(same < (chunk == 1 ? 10U : 1U), "chunk %zu: %u neighbours are the same", chunk, same);
        payload_release(&payload);
    }
}

/* Reads and writes may have chunks of their own: the period divides neither. A server whose quantum
 * is 1048603 and that refuses block and data above it takes writes of just the first prime. */
static void two_chunk_sizes(void **state)
{
    static const struct {
        size_t chunk, other, alignment;
    } rows[] = {
        {1048603, 1048583, 1},     {1048583, 1048603, 1},    {1048583, 1048589, 1},
        {1048589, 1048583, 1},     {1048589, 1048601, 1},    {1048601, 1048583, 1},
        {2 * 1048583, 1048589, 1}, {1048583, 1, 1},          {1000, 980, 1},
        {1052672, 1052652, 1},     {1052672, 1052672, 4096}, {512 * 257, 512 * 263, 512},
        {4096 * 263, 4096, 4096},  {4096 * 257, 8192, 4096}, {1 << 20, 1 << 20, 512},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct payload payload;
        struct error error;
        const size_t both[] = {rows[i].chunk, rows[i].other};
        assert_true(payload_make(&payload, rows[i].alignment, both[0], both[1], &error));
        assert_int_equal(payload.chunk_limit, both[0] > both[1] ? both[0] : both[1]);
        for (size_t k = 0; k < 2; k++) {
            check(both[k] % payload.period_bytes != 0, "row %zu: all pieces of %zu are the same", i,
                  both[k]);
            for (uint64_t at = 0; both[k] > 1 && at < 8 * both[k]; at += both[k]) {
                const void *piece = payload_at(&payload, at);
                assert_int_equal((uintptr_t)piece % rows[i].alignment, 0);
                check(memcmp(piece, payload_at(&payload, at + both[k]), both[k]) != 0,
                      "row %zu: neighbours of %zu at %llu", i, both[k], (unsigned long long)at);
            }
        }
        payload_release(&payload);
    }
}

static bool is_prime(size_t number)
{
    for (size_t divisor = 2; divisor * divisor <= number; divisor++) {
        if (number % divisor == 0) {
            return false;
        }
    }
    return number > 1;
}

/* A prime that does not divide the chunk is coprime to it. */
static void the_period_is_prime(void **state)
{
    for (size_t i = 0; i < COUNT(chunks); i++) {
        struct payload payload;
        struct error error;
        assert_true(payload_make(&payload, 1, chunks[i], chunks[i], &error));
        assert_true(is_prime(payload.period_bytes));
        payload_release(&payload);
    }
}

static void is_contiguous_from_any_offset(void **state)
{
    static const size_t limits[] = {1, 1000, 3000000};
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct payload payload;
        struct error error;
        assert_true(payload_make(&payload, 1, limits[i], limits[i], &error));
        uint64_t period = payload.period_bytes;
        const uint64_t offsets[] = {
            0, 1, period - 1, period, period + 1, 12345678901, UINT64_MAX - limits[i]};
        for (size_t k = 0; k < COUNT(offsets); k++) {
            const uint8_t *piece = payload_at(&payload, offsets[k]);
            for (size_t at = 0; at < limits[i]; at += at < 2000 ? 1 : 997) {
                const uint8_t *byte = payload_at(&payload, (offsets[k] + at) % period);
                check(piece[at] == *byte, "offset %llu + %zu", (unsigned long long)offsets[k], at);
            }
            /* the last byte lies inside the block: the sanitizer would tell */
            assert_int_equal(piece[limits[i] - 1],
                             payload.bytes[(offsets[k] + limits[i] - 1) % period]);
        }
        payload_release(&payload);
    }
}

/* Bytes that hardly compress: every value about as often as any other. */
static void looks_random(void **state)
{
    struct payload payload;
    struct error error;
    unsigned counts[256] = {0};
    assert_true(payload_make(&payload, 1, 1000, 1000, &error));
    for (size_t at = 0; at < payload.period_bytes; at++) {
        counts[payload.bytes[at]]++;
    }
    for (size_t i = 0; i < 256; i++) {
        assert_in_range(counts[i], 3700, 4500); /* 4096 each, give or take six deviations */
    }
    payload_release(&payload);
}

static void verify_names_the_byte(void **state)
{
    static const uint64_t offsets[] = {0, 1, 999, 1048582, 1048583, UINT64_C(5) << 40};
    static const size_t flips[] = {0, 1, 7, 499, 999};
    struct payload payload;
    struct error error;
    assert_true(payload_make(&payload, 1, 1000, 1000, &error));
    for (size_t i = 0; i < COUNT(offsets); i++) {
        for (size_t zeros = 0; zeros < 2; zeros++) {
            static const uint8_t nothing[1000];
            const uint8_t *right = zeros ? nothing : payload_at(&payload, offsets[i]);
            uint8_t *bytes = exact_copy(right, 1000);
            assert_true(payload_verify(&payload, zeros, bytes, offsets[i], 1000, &error));
            for (size_t k = 0; k < COUNT(flips); k++) {
                for (unsigned bit = 0; bit < 8; bit++) {
                    char expected[80];
                    bytes[flips[k]] ^= (uint8_t)(1U << bit);
                    snprintf(expected, sizeof expected,
                             "at offset %llu: 0x%02x was read, 0x%02x expected",
                             (unsigned long long)(offsets[i] + flips[k]), bytes[flips[k]],
                             right[flips[k]]);
                    assert_false(payload_verify(&payload, zeros, bytes, offsets[i], 1000, &error));
                    check_error(&error, ERROR_CONTENT, expected);
                    bytes[flips[k]] = right[flips[k]];
                }
            }
            free(bytes);
        }
    }
    payload_release(&payload);
}

/* Of several wrong bytes the first is named; none beyond the size is looked at. */
static void verify_names_the_first(void **state)
{
    struct payload payload;
    struct error error;
    assert_true(payload_make(&payload, 1, 1000, 1000, &error));
    uint8_t *bytes = exact_copy(payload_at(&payload, 0), 1000);
    bytes[10] ^= 1;
    bytes[20] ^= 1;
    assert_false(payload_verify(&payload, false, bytes, 0, 1000, &error));
    check_error(&error, ERROR_CONTENT, "at offset 10:");
    assert_true(payload_verify(&payload, false, bytes, 0, 10, &error));
    assert_true(payload_verify(&payload, false, bytes, 0, 0, &error));
    free(bytes);
    payload_release(&payload);
}

static void has_a_limit(void **state)
{
    struct payload payload;
    struct error error;
    assert_false(
        payload_make(&payload, 1, PAYLOAD_CHUNK_LIMIT + 1, PAYLOAD_CHUNK_LIMIT + 1, &error));
    check_error(&error, ERROR_LIMIT, "268435456");
    payload_release(&payload); /* due in any case */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbouring_chunks_differ),
        cmocka_unit_test(two_chunk_sizes),
        cmocka_unit_test(the_period_is_prime),
        cmocka_unit_test(is_contiguous_from_any_offset),
        cmocka_unit_test(looks_random),
        cmocka_unit_test(verify_names_the_byte),
        cmocka_unit_test(verify_names_the_first),
        cmocka_unit_test(has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
