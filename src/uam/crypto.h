/*
 * crypto.h - the ciphers, hashes and big numbers of the login methods, on libgcrypt; bytes in,
 * bytes out (doc/protocol.md 4.9).
 *
 * Functions are pure and safe in any thread. They return false only where libgcrypt does not do the
 * algorithm, as in FIPS mode, or where a size is out of range; then the result's bytes are
 * undefined. libgcrypt overwrites what it kept of keys and numbers; the arrays passed are the
 * caller's to wipe. Its own small allocations end the process when there is no memory at all: it
 * has no other way.
 */
#ifndef AFPBENCH_UAM_CRYPTO_H
#define AFPBENCH_UAM_CRYPTO_H

#include "base/wire.h"

#define MD5_SIZE            16
#define SHA1_SIZE           20
#define DES_SIZE            8 /* of a block and of a key */
#define CAST5_KEY_SIZE      16
#define CAST5_BLOCK_SIZE    8
#define CRYPTO_NUMBER_LIMIT 512 /* bytes of the largest number: 4096 bits */

/* ---- Random bytes ---- */

/* Where random bytes come from: NULL means the system; tests give their own. */
struct random_source {
    bool (*fill)(void *context, uint8_t *bytes, size_t size);
    void *context;
};

bool random_fill(const struct random_source *source, uint8_t *bytes, size_t size);

/* ---- Hashes and ciphers ---- */

/* Of all pieces, one after the other; at most eight. */
bool crypto_md5(const struct span *pieces, size_t count, uint8_t digest[MD5_SIZE]);
bool crypto_sha1(const struct span *pieces, size_t count, uint8_t digest[SHA1_SIZE]);

/* Encrypts one block in ECB mode. Weak keys are as good as any here: an empty password is one. */
bool crypto_des(const uint8_t key[DES_SIZE], const uint8_t in[DES_SIZE], uint8_t out[DES_SIZE]);

/* CAST5-128 in CBC mode without padding, in place; `size` is a multiple of the block's. */
bool crypto_cast5_encrypt(const uint8_t key[CAST5_KEY_SIZE], const char iv[CAST5_BLOCK_SIZE],
                          uint8_t *bytes, size_t size);
bool crypto_cast5_decrypt(const uint8_t key[CAST5_KEY_SIZE], const char iv[CAST5_BLOCK_SIZE],
                          uint8_t *bytes, size_t size);

/* ---- Big numbers: unsigned, big-endian, results as long as the modulus, zeros first ---- */

/* The modulus is odd, above 1 and has at most CRYPTO_NUMBER_LIMIT bytes; so do the others. */
bool crypto_power(struct span base, struct span exponent, struct span modulus, uint8_t *result);
/* a * b + c */
bool crypto_multiply_add(struct span a, struct span b, struct span c, struct span modulus,
                         uint8_t *result);
/* a - b */
bool crypto_subtract(struct span a, struct span b, struct span modulus, uint8_t *result);

/* The number without its leading zero bytes; zero is empty. */
struct span number_strip(struct span number);
unsigned number_bits(struct span number);
/* -1, 0, 1 as a is smaller than b, equal, larger; the lengths may differ. */
int number_compare(struct span a, struct span b);

/* ---- Secrets ---- */

/* Compares without stopping at the first difference. */
bool crypto_equal(const uint8_t *a, const uint8_t *b, size_t size);

#endif
