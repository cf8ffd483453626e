#include "uam/crypto.h"

#include <errno.h>
#include <gcrypt.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

/* Before its first use libgcrypt wants to be told what it may do; other users of it in the same
 * process may have done so already. Locked pages are not asked for: numbers are wiped anyway. */
static void prepare(void)
{
    if (!gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) {
        gcry_check_version(NULL);
        gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    }
}

static void begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

/* ---- Random bytes ---- */

static bool system_random(uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t got = getrandom(bytes, size, 0);
        if (got < 0 && errno != EINTR) {
            return false;
        }
        if (got > 0) {
            bytes += got;
            size -= (size_t)got;
        }
    }
    return true;
}

bool random_fill(const struct random_source *source, uint8_t *bytes, size_t size)
{
    return source != NULL ? source->fill(source->context, bytes, size) : system_random(bytes, size);
}

/* ---- Hashes and ciphers ---- */

#define PIECE_LIMIT 8

static bool hash(int algorithm, const struct span *pieces, size_t count, uint8_t *digest)
{
    gcry_buffer_t buffers[PIECE_LIMIT] = {{0}};
    if (count > PIECE_LIMIT) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        buffers[i].data = (void *)pieces[i].data;
        buffers[i].len = pieces[i].size;
    }
    begin();
    return gcry_md_hash_buffers(algorithm, 0, digest, buffers, (int)count) == 0;
}

bool crypto_md5(const struct span *pieces, size_t count, uint8_t digest[MD5_SIZE])
{
    return hash(GCRY_MD_MD5, pieces, count, digest);
}

bool crypto_sha1(const struct span *pieces, size_t count, uint8_t digest[SHA1_SIZE])
{
    return hash(GCRY_MD_SHA1, pieces, count, digest);
}

bool crypto_des(const uint8_t key[DES_SIZE], const uint8_t in[DES_SIZE], uint8_t out[DES_SIZE])
{
    gcry_cipher_hd_t cipher;
    begin();
    if (gcry_cipher_open(&cipher, GCRY_CIPHER_DES, GCRY_CIPHER_MODE_ECB, 0) != 0) {
        return false;
    }
    gcry_cipher_ctl(cipher, GCRYCTL_SET_ALLOW_WEAK_KEY, NULL, 1);
    gcry_error_t told = gcry_cipher_setkey(cipher, key, DES_SIZE);
    bool ok = (told == 0 || gcry_err_code(told) == GPG_ERR_WEAK_KEY) &&
              gcry_cipher_encrypt(cipher, out, DES_SIZE, in, DES_SIZE) == 0;
    gcry_cipher_close(cipher);
    return ok;
}

typedef gcry_error_t cipher_function(gcry_cipher_hd_t cipher, void *out, size_t out_size,
                                     const void *in, size_t in_size);

static bool cast5(cipher_function *run, const uint8_t *key, const char *iv, uint8_t *bytes,
                  size_t size)
{
    gcry_cipher_hd_t cipher;
    begin();
    if (gcry_cipher_open(&cipher, GCRY_CIPHER_CAST5, GCRY_CIPHER_MODE_CBC, 0) != 0) {
        return false;
    }
    bool ok = gcry_cipher_setkey(cipher, key, CAST5_KEY_SIZE) == 0 &&
              gcry_cipher_setiv(cipher, iv, CAST5_BLOCK_SIZE) == 0 &&
              run(cipher, bytes, size, NULL, 0) == 0;
    gcry_cipher_close(cipher);
    return ok;
}

bool crypto_cast5_encrypt(const uint8_t key[CAST5_KEY_SIZE], const char iv[CAST5_BLOCK_SIZE],
                          uint8_t *bytes, size_t size)
{
    return cast5(gcry_cipher_encrypt, key, iv, bytes, size);
}

bool crypto_cast5_decrypt(const uint8_t key[CAST5_KEY_SIZE], const char iv[CAST5_BLOCK_SIZE],
                          uint8_t *bytes, size_t size)
{
    return cast5(gcry_cipher_decrypt, key, iv, bytes, size);
}

/* ---- Big numbers ---- */

struct span number_strip(struct span number)
{
    while (number.size > 0 && number.data[0] == 0) {
        number.data++;
        number.size--;
    }
    return number;
}

unsigned number_bits(struct span number)
{
    struct span stripped = number_strip(number);
    if (stripped.size == 0) {
        return 0;
    }
    unsigned bits = (unsigned)(stripped.size - 1) * 8;
    for (unsigned first = stripped.data[0]; first > 0; first >>= 1) {
        bits++;
    }
    return bits;
}

int number_compare(struct span a, struct span b)
{
    a = number_strip(a);
    b = number_strip(b);
    if (a.size != b.size) {
        return a.size < b.size ? -1 : 1;
    }
    int order = a.size > 0 ? memcmp(a.data, b.data, a.size) : 0;
    return (order > 0) - (order < 0);
}

static bool usable(struct span number)
{
    return number.size <= CRYPTO_NUMBER_LIMIT;
}

static bool usable_modulus(struct span modulus)
{
    return usable(modulus) && number_bits(modulus) > 1 && modulus.data[modulus.size - 1] % 2 == 1;
}

static gcry_mpi_t number(struct span bytes)
{
    gcry_mpi_t made = NULL;
    struct span stripped = number_strip(bytes);
    if (stripped.size == 0) {
        return gcry_mpi_set_ui(NULL, 0);
    }
    return gcry_mpi_scan(&made, GCRYMPI_FMT_USG, stripped.data, stripped.size, NULL) == 0 ? made
                                                                                          : NULL;
}

/* Writes the number with zeros before it: bit by bit, for gcry_mpi_print() leaves a copy of it in
 * memory that it gives back. */
static void put(gcry_mpi_t value, uint8_t *result, size_t size)
{
    memset(result, 0, size);
    for (size_t i = 0; i < size * 8; i++) {
        unsigned bit = gcry_mpi_test_bit(value, (unsigned)i) ? 1U : 0U;
        result[size - 1 - i / 8] |= (uint8_t)(bit << i % 8);
    }
}

/* Wiped by libgcrypt as it is released. */
static void release(const gcry_mpi_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gcry_mpi_release(numbers[i]);
    }
}

#define NUMBERS 4

typedef void number_function(gcry_mpi_t result, const gcry_mpi_t operands[NUMBERS - 1],
                             gcry_mpi_t modulus);

/* Runs one operation on numbers; the operands that it does not use are empty. */
static bool calculate(number_function *function, const struct span operands[NUMBERS - 1],
                      struct span modulus, uint8_t *result)
{
    if (!usable_modulus(modulus) || !usable(operands[0]) || !usable(operands[1]) ||
        !usable(operands[2])) {
        return false;
    }
    begin();
    gcry_mpi_t numbers[NUMBERS] = {number(operands[0]), number(operands[1]), number(operands[2]),
                                   number(modulus)};
    gcry_mpi_t answer = gcry_mpi_new((unsigned)modulus.size * 8);
    bool ok = numbers[0] != NULL && numbers[1] != NULL && numbers[2] != NULL && numbers[3] != NULL;
    if (ok) {
        function(answer, numbers, numbers[3]);
        put(answer, result, modulus.size);
    }
    release(numbers, NUMBERS);
    gcry_mpi_release(answer);
    return ok;
}

static void power(gcry_mpi_t result, const gcry_mpi_t operands[NUMBERS - 1], gcry_mpi_t modulus)
{
    gcry_mpi_powm(result, operands[0], operands[1], modulus);
}

static void multiply_add(gcry_mpi_t result, const gcry_mpi_t operands[NUMBERS - 1],
                         gcry_mpi_t modulus)
{
    gcry_mpi_mulm(result, operands[0], operands[1], modulus);
    gcry_mpi_addm(result, result, operands[2], modulus);
}

static void subtract(gcry_mpi_t result, const gcry_mpi_t operands[NUMBERS - 1], gcry_mpi_t modulus)
{
    gcry_mpi_subm(result, operands[0], operands[1], modulus);
}

bool crypto_power(struct span base, struct span exponent, struct span modulus, uint8_t *result)
{
    return calculate(power, (struct span[]){base, exponent, {0}}, modulus, result);
}

bool crypto_multiply_add(struct span a, struct span b, struct span c, struct span modulus,
                         uint8_t *result)
{
    return calculate(multiply_add, (struct span[]){a, b, c}, modulus, result);
}

bool crypto_subtract(struct span a, struct span b, struct span modulus, uint8_t *result)
{
    return calculate(subtract, (struct span[]){a, b, {0}}, modulus, result);
}

/* ---- Secrets ---- */

bool crypto_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
    uint8_t difference = 0;
    for (size_t i = 0; i < size; i++) {
        difference |= a[i] ^ b[i];
    }
    return difference == 0;
}
