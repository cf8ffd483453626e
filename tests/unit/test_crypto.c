/* uam/crypto: known answers of the ciphers, hashes and numbers (doc/protocol.md 4.9, appendix B),
 * and the memory that libgcrypt gives back. */
#include "uam_fixture.h"

#include <gcrypt.h>
#include <malloc.h>

/* ---- Memory ----
 *
 * libgcrypt's blocks come from here; one that is given back must not hold the secret. */

static uint8_t secret_bytes[16]; /* in both orders: numbers are kept from the lowest limb on */
static bool watching;
static unsigned found, released;

static bool holds(const uint8_t *block, size_t size, const uint8_t *pattern, size_t length)
{
    return size >= length && memmem(block, size, pattern, length) != NULL;
}

static void watched_free(void *block)
{
    if (watching && block != NULL) {
        size_t size = malloc_usable_size(block);
        released++;
        found += holds(block, size, secret_bytes, 8) || holds(block, size, secret_bytes + 8, 8);
    }
    free(block);
}

static int never_secure(const void *block)
{
    return 0;
}

static int watch(void **state)
{
    gcry_set_allocation_handler(malloc, malloc, never_secure, realloc, watched_free);
    return 0;
}

static void watch_for(const uint8_t secret[8])
{
    for (size_t i = 0; i < 8; i++) {
        secret_bytes[i] = secret[i];
        secret_bytes[8 + i] = secret[7 - i];
    }
    found = released = 0;
    watching = true;
}

static void expect_wiped(void)
{
    watching = false;
    assert_true(released > 0);
    assert_int_equal(found, 0);
}

static void libgcrypt_wipes_what_it_was_given(void **state)
{
    uint8_t secret[32];
    uint8_t result[CRYPTO_NUMBER_LIMIT];
    uint8_t modulus[128];
    bytes_from_text("c0ffee1122334455 c0ffee1122334455 c0ffee1122334455 c0ffee1122334455", secret,
                    sizeof secret);
    bytes_from_text(OAKLEY_2, modulus, sizeof modulus);
    struct span exponent = {secret, sizeof secret};
    struct span oakley = {modulus, sizeof modulus};
    static const uint8_t two = 2;

    /* The watch itself: a block that does hold it is seen. */
    watch_for(secret);
    uint8_t *block = malloc(64);
    assert_non_null(block);
    memcpy(block + 8, secret, 16);
    watched_free(block);
    assert_int_equal(found, 1);

    watch_for(secret);
    assert_true(crypto_power((struct span){&two, 1}, exponent, oakley, result));
    assert_true(crypto_multiply_add(exponent, exponent, exponent, oakley, result));
    assert_true(crypto_subtract(exponent, (struct span){&two, 1}, oakley, result));
    assert_true(crypto_des(secret, result, result));
    assert_true(crypto_cast5_encrypt(secret, "LWallace", result, 16));
    assert_true(crypto_sha1(&exponent, 1, result));
    assert_true(crypto_md5(&exponent, 1, result));
    expect_wiped();
}

/* ---- Ciphers and hashes ---- */

static void des(void **state)
{
    static const struct {
        const char *key, *in, *out;
    } rows[] = {
        {"7365637265747077", "0001020304050607", "e9ffea1e6dd55c23"}, /* appendix B: Randnum */
        {"e6cac6e4cae8e0ee", "0001020304050607", "cd1b13c2401c813d"}, /* 2-Way */
        {"e6cac6e4cae8e0ee", "08090a0b0c0d0e0f", "39cdf40406e1c7f4"},
        {"0000000000000000", "0000000000000000", "8ca64de9c1b123a7"}, /* weak: an empty password */
        {"0101010101010101", "8000000000000000", "95f8a5e5dd31d900"},
        {"7264627364757176", "0001020304050607",
         "e9ffea1e6dd55c23"}, /* bit 0 of a byte is left out */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t key[DES_SIZE];
        uint8_t in[DES_SIZE];
        uint8_t out[DES_SIZE];
        uint8_t wanted[DES_SIZE];
        bytes_from_text(rows[i].key, key, sizeof key);
        bytes_from_text(rows[i].in, in, sizeof in);
        assert_true(crypto_des(key, in, out));
        bytes_from_text(rows[i].out, wanted, sizeof wanted);
        check(memcmp(out, wanted, sizeof out) == 0, "row %zu", i);
    }
}

static void cast5(void **state)
{
    uint8_t key[CAST5_KEY_SIZE];
    uint8_t bytes[32];
    uint8_t wanted[32];
    static const char zero_iv[CAST5_BLOCK_SIZE] = {0};
    bytes_from_text("0123456712345678234567893456789a", key, sizeof key); /* RFC 2144, B.1 */
    bytes_from_text("0123456789abcdef", bytes, sizeof bytes);
    bytes_from_text("238b4fe5847e44b2", wanted, sizeof wanted);
    assert_true(crypto_cast5_encrypt(key, zero_iv, bytes, 8));
    assert_memory_equal(bytes, wanted, 8);
    assert_true(crypto_cast5_decrypt(key, zero_iv, bytes, 8));
    bytes_from_text("0123456789abcdef", wanted, sizeof wanted);
    assert_memory_equal(bytes, wanted, 8);
    /* Appendix B, DHX: the server's nonce and signature. */
    bytes_from_text("47f5fad35ec2d71b24f08842a85eec0c", key, sizeof key);
    bytes_from_text("000102030405060708090a0b0c0d0e0f 00000000000000000000000000000000", bytes,
                    sizeof bytes);
    bytes_from_text("d545e04718b31a4d45145ad3a1ce463c9f10f47699089e9b5f770639c9deee59", wanted,
                    sizeof wanted);
    assert_true(crypto_cast5_encrypt(key, "CJalbert", bytes, 32));
    assert_memory_equal(bytes, wanted, 32);
    assert_false(crypto_cast5_encrypt(key, "CJalbert", bytes, 7));
    assert_false(crypto_cast5_decrypt(key, "CJalbert", bytes, 9));
}

static void hashes(void **state)
{
    uint8_t digest[SHA1_SIZE];
    uint8_t wanted[SHA1_SIZE];
    const struct span pieces[9] = {span_from_string("a"), span_from_string(""),
                                   span_from_string("bc")};
    bytes_from_text("a9993e364706816aba3e25717850c26c9cd0d89d", wanted, sizeof wanted);
    assert_true(crypto_sha1(pieces, 3, digest));
    assert_memory_equal(digest, wanted, SHA1_SIZE);
    bytes_from_text("900150983cd24fb0d6963f7d28e17f72", wanted, sizeof wanted);
    assert_true(crypto_md5(pieces, 3, digest));
    assert_memory_equal(digest, wanted, MD5_SIZE);
    bytes_from_text("da39a3ee5e6b4b0d3255bfef95601890afd80709", wanted, sizeof wanted);
    assert_true(crypto_sha1(pieces, 0, digest));
    assert_memory_equal(digest, wanted, SHA1_SIZE);
    assert_true(crypto_sha1(pieces, 8, digest));
    assert_false(crypto_sha1(pieces, 9, digest));
}

/* ---- Numbers ---- */

struct number {
    uint8_t bytes[CRYPTO_NUMBER_LIMIT + 1];
    struct span span;
};

static struct span number(struct number *number, const char *text)
{
    number->span =
        (struct span){number->bytes, bytes_from_text(text, number->bytes, sizeof number->bytes)};
    return number->span;
}

static void small_numbers(void **state)
{
    static const struct {
        const char *a, *b, *c, *modulus, *power, *multiply_add, *subtract;
    } rows[] = {
        {"03", "05", "07", "0d", "09", "09", "0b"}, /* 243 = 18*13+9, 22 = 13+9, -2 = 11 */
        {"03", "05", "07", "00000d", "000009", "000009", "00000b"},
        {"0003", "000005", "0007", "0d", "09", "09", "0b"},
        {"00", "05", "", "0d", "00", "00", "08"},
        {"05", "", "01", "0d", "01", "01", "05"},
        {"", "", "", "03", "01", "00", "00"},
        {"10", "02", "0e", "0d", "09", "07", "01"}, /* above the modulus: 3^2, 46 = 39+7 */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct number a, b, c, modulus, wanted;
        uint8_t result[4];
        number(&a, rows[i].a);
        number(&b, rows[i].b);
        number(&c, rows[i].c);
        size_t size = number(&modulus, rows[i].modulus).size;
        assert_int_equal(number(&wanted, rows[i].power).size, size);
        assert_true(crypto_power(a.span, b.span, modulus.span, result));
        check(memcmp(result, wanted.bytes, size) == 0, "row %zu, power", i);
        number(&wanted, rows[i].multiply_add);
        assert_true(crypto_multiply_add(a.span, b.span, c.span, modulus.span, result));
        check(memcmp(result, wanted.bytes, size) == 0, "row %zu, multiply and add", i);
        number(&wanted, rows[i].subtract);
        assert_true(crypto_subtract(a.span, b.span, modulus.span, result));
        check(memcmp(result, wanted.bytes, size) == 0, "row %zu, subtract: %02x", i, result[0]);
    }
}

static void refused_numbers(void **state)
{
    static const char *const moduli[] = {"", "00", "01", "0001", "04", "fffe"};
    struct number modulus;
    struct span one = span_from_string("\1");
    static uint8_t result[CRYPTO_NUMBER_LIMIT + 1];
    for (size_t i = 0; i < COUNT(moduli); i++) {
        check(!crypto_power(one, one, number(&modulus, moduli[i]), result), "row %zu", i);
        check(!crypto_multiply_add(one, one, one, modulus.span, result), "row %zu", i);
        check(!crypto_subtract(one, one, modulus.span, result), "row %zu", i);
    }
    static uint8_t large[CRYPTO_NUMBER_LIMIT + 1];
    memset(large, 0xff, sizeof large);
    struct span most = {large, CRYPTO_NUMBER_LIMIT};
    struct span more = {large, sizeof large};
    assert_true(crypto_power(one, most, most, result));
    assert_int_equal(result[CRYPTO_NUMBER_LIMIT - 1], 1);
    assert_false(crypto_power(one, one, more, result));
    assert_false(crypto_power(more, one, most, result));
    assert_false(crypto_power(one, more, most, result));
    assert_false(crypto_multiply_add(one, one, more, most, result));
}

static void comparing(void **state)
{
    static const struct {
        const char *a, *b;
        int order;
        unsigned bits_of_a;
    } rows[] = {
        {"", "", 0, 0},         {"00", "", 0, 0},
        {"01", "", 1, 1},       {"", "0001", -1, 0},
        {"0001", "01", 0, 1},   {"ff", "0100", -1, 8},
        {"0100", "00ff", 1, 9}, {"0102", "0103", -1, 9},
        {"80", "7f", 1, 8},     {"008000", "8000", 0, 16},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct number a, b;
        number(&a, rows[i].a);
        number(&b, rows[i].b);
        check(number_compare(a.span, b.span) == rows[i].order, "row %zu", i);
        check(number_compare(b.span, a.span) == -rows[i].order, "row %zu", i);
        check(number_bits(a.span) == rows[i].bits_of_a, "row %zu", i);
    }
    assert_true(crypto_equal((const uint8_t *)"ab", (const uint8_t *)"ab", 2));
    assert_false(crypto_equal((const uint8_t *)"ab", (const uint8_t *)"aB", 2));
    assert_false(crypto_equal((const uint8_t *)"ab", (const uint8_t *)"Ab", 2));
    assert_true(crypto_equal((const uint8_t *)"ab", (const uint8_t *)"Ab", 0));
}

static void random_bytes(void **state)
{
    static const uint8_t zeros[32];
    uint8_t first[32] = {0};
    uint8_t second[32] = {0};
    assert_true(random_fill(NULL, first, sizeof first));
    assert_true(random_fill(NULL, second, sizeof second));
    assert_memory_not_equal(first, second, sizeof first);
    assert_memory_not_equal(first, zeros, sizeof first);
    struct script script;
    script_write(&script, "010203");
    assert_true(random_fill(&script.source, first, 2));
    assert_int_equal(first[1], 2);
    assert_false(random_fill(&script.source, first, 2));
}

/* ---- Appendix B, SRP: every number on the way ---- */

static void expect_ends(const uint8_t *bytes, size_t size, const char *first, const char *last,
                        const char *what)
{
    uint8_t wanted[8];
    bytes_from_text(first, wanted, sizeof wanted);
    check(memcmp(bytes, wanted, sizeof wanted) == 0, "%s: the first bytes differ", what);
    bytes_from_text(last, wanted, sizeof wanted);
    check(memcmp(bytes + size - sizeof wanted, wanted, sizeof wanted) == 0,
          "%s: the last bytes differ", what);
}

static void expect_number(const uint8_t *bytes, const char *text, const char *what)
{
    struct number wanted;
    struct span span = number(&wanted, text);
    check(memcmp(bytes, span.data, span.size) == 0, "%s differs", what);
}

static void srp_numbers(void **state)
{
    struct number n, a, b, salt;
    static const uint8_t two = 2;
    static const struct span g = {&two, 1};
    uint8_t padded_g[192] = {[191] = 2};
    uint8_t x[SHA1_SIZE], k[SHA1_SIZE], u[SHA1_SIZE], inner[SHA1_SIZE], mixed[SHA1_SIZE];
    uint8_t v[192], A[192], B[192], S[192], sum[192], base[192], K[2 * SHA1_SIZE];
#define OF(array) ((struct span){(array), sizeof(array)})
    number(&n, GROUP_1536);
    number(&a, seq(0x01, 32));
    number(&b, seq(0x21, 32));
    number(&salt, seq(0, 16));
    expect_sha1(n.span, "a988f0fbe4e6093a049845d6dc2c9cbd336e0dc8", "N");

    assert_true(crypto_sha1((struct span[]){n.span, OF(padded_g)}, 2, k));
    expect_number(k, "815a4561e1a68b3fb7f6c03bbb3daaa35d528d90", "k");
    struct span name = span_from_string("afpchk:secretpw");
    assert_true(crypto_sha1(&name, 1, inner));
    assert_true(crypto_sha1((struct span[]){salt.span, OF(inner)}, 2, x));
    expect_number(x, "74df5a58eee03993624e0d1a355b38a075900c4a", "x");
    assert_true(crypto_power(g, OF(x), n.span, v));
    expect_ends(v, 192, "66264e4f14678d5e", "2fe116038d68a539", "v");
    expect_sha1(OF(v), "10a7f221ab75ffb52bbb5c48c12b22639f19da11", "v");
    assert_true(crypto_power(g, a.span, n.span, A));
    expect_ends(A, 192, "734ebea754bbbc00", "25a6fd4d11996a90", "A");
    expect_sha1(OF(A), "4215854f0ccaae2ce867243bfa7c0db48af8af1b", "A");
    assert_true(crypto_power(g, b.span, n.span, base));
    assert_true(crypto_multiply_add(OF(k), OF(v), OF(base), n.span, B));
    expect_ends(B, 192, "7492088fce8650f6", "c680109a726717e7", "B");
    expect_sha1(OF(B), "805a6f78748db2c848e2e3b4cbcaf5edd5c95a71", "B");
    assert_true(crypto_sha1((struct span[]){OF(A), OF(B)}, 2, u));
    expect_number(u, "ee3f81eadcb3ea97d783fea0996baca6ed512b75", "u");
    assert_true(crypto_sha1(&n.span, 1, mixed) && crypto_sha1(&g, 1, inner));
    for (size_t i = 0; i < SHA1_SIZE; i++) {
        mixed[i] ^= inner[i];
    }
    expect_number(mixed, "6d62d140d2bdb7d0f16a83825412ca6c2d2dc986", "H(N) xor H(g)");

    struct span none = {0};
    assert_true(crypto_multiply_add(OF(k), OF(v), none, n.span, base));
    assert_true(crypto_subtract(OF(B), OF(base), n.span, base));
    assert_true(crypto_multiply_add(OF(u), OF(x), a.span, n.span, sum));
    assert_true(crypto_power(OF(base), OF(sum), n.span, S));
    expect_ends(S, 192, "4b7e188adaaa6ea3", "b8e486025283a3e7", "S");
    expect_sha1(OF(S), "b54e07c5dd1ca37ae025488feaa8459de1f3c3b8", "S");
    struct span counters[] = {{(const uint8_t *)"\0\0\0\0", 4}, {(const uint8_t *)"\0\0\0\1", 4}};
    assert_true(crypto_sha1((struct span[]){OF(S), counters[0]}, 2, K));
    assert_true(crypto_sha1((struct span[]){OF(S), counters[1]}, 2, K + SHA1_SIZE));
    expect_number(K,
                  "4c393256d7fc4e12dd90b3a9b6d58945f08326a7"
                  "4544112562d5af72916db27031d71475b2d645a0",
                  "K");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libgcrypt_wipes_what_it_was_given),
        cmocka_unit_test(des),
        cmocka_unit_test(cast5),
        cmocka_unit_test(hashes),
        cmocka_unit_test(small_numbers),
        cmocka_unit_test(refused_numbers),
        cmocka_unit_test(comparing),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(srp_numbers),
    };
    return cmocka_run_group_tests(tests, watch, NULL);
}
