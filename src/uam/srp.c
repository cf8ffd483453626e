/* "SRP", doc/protocol.md 4.8: SRP-6a with SHA-1 in the 1536-bit group of RFC 5054. The names of
 * numbers are those of that section. */
#include "uam/steps.h"

#include "base/memory.h"

#include <string.h>

#define SIZE          192 /* of N, and so of A, B, S, v */
#define EXPONENT_SIZE 32  /* of a and b */
#define SALT_SIZE     16
#define K_SIZE        (2 * SHA1_SIZE)
#define SUM_SIZE      64 /* of a + u x: 320 bits and a carry, with room */
#define TRIES         64 /* for a public value without a leading zero byte: 1 of 256 has one */

/* The words that mark the four messages, and the group's number. */
enum { MARK_BEGIN = 1, MARK_GROUP = 2, MARK_PROOF = 3, MARK_SERVER_PROOF = 4 };

static const uint8_t n_bytes[SIZE] = {
    0x9D, 0xEF, 0x3C, 0xAF, 0xB9, 0x39, 0x27, 0x7A, 0xB1, 0xF1, 0x2A, 0x86, 0x17, 0xA4, 0x7B, 0xBB,
    0xDB, 0xA5, 0x1D, 0xF4, 0x99, 0xAC, 0x4C, 0x80, 0xBE, 0xEE, 0xA9, 0x61, 0x4B, 0x19, 0xCC, 0x4D,
    0x5F, 0x4F, 0x5F, 0x55, 0x6E, 0x27, 0xCB, 0xDE, 0x51, 0xC6, 0xA9, 0x4B, 0xE4, 0x60, 0x7A, 0x29,
    0x15, 0x58, 0x90, 0x3B, 0xA0, 0xD0, 0xF8, 0x43, 0x80, 0xB6, 0x55, 0xBB, 0x9A, 0x22, 0xE8, 0xDC,
    0xDF, 0x02, 0x8A, 0x7C, 0xEC, 0x67, 0xF0, 0xD0, 0x81, 0x34, 0xB1, 0xC8, 0xB9, 0x79, 0x89, 0x14,
    0x9B, 0x60, 0x9E, 0x0B, 0xE3, 0xBA, 0xB6, 0x3D, 0x47, 0x54, 0x83, 0x81, 0xDB, 0xC5, 0xB1, 0xFC,
    0x76, 0x4E, 0x3F, 0x4B, 0x53, 0xDD, 0x9D, 0xA1, 0x15, 0x8B, 0xFD, 0x3E, 0x2B, 0x9C, 0x8C, 0xF5,
    0x6E, 0xDF, 0x01, 0x95, 0x39, 0x34, 0x96, 0x27, 0xDB, 0x2F, 0xD5, 0x3D, 0x24, 0xB7, 0xC4, 0x86,
    0x65, 0x77, 0x2E, 0x43, 0x7D, 0x6C, 0x7F, 0x8C, 0xE4, 0x42, 0x73, 0x4A, 0xF7, 0xCC, 0xB7, 0xAE,
    0x83, 0x7C, 0x26, 0x4A, 0xE3, 0xA9, 0xBE, 0xB8, 0x7F, 0x8A, 0x2F, 0xE9, 0xB8, 0xB5, 0x29, 0x2E,
    0x5A, 0x02, 0x1F, 0xFF, 0x5E, 0x91, 0x47, 0x9E, 0x8C, 0xE7, 0xA2, 0x8C, 0x24, 0x42, 0xC6, 0xF3,
    0x15, 0x18, 0x0F, 0x93, 0x49, 0x9A, 0x23, 0x4D, 0xCF, 0x76, 0xE3, 0xFE, 0xD1, 0x35, 0xF9, 0xBB};
static const uint8_t g_byte = 2;
static const struct span N = {n_bytes, SIZE};
static const struct span g = {&g_byte, 1};
static const struct span none = {0};

struct srp_client {
    uint8_t m2[SHA1_SIZE]; /* what the server has to answer */
};
struct srp_server {
    uint8_t salt[SALT_SIZE];
    uint8_t b[EXPONENT_SIZE];
    uint8_t B[SIZE];
    uint8_t v[SIZE];
};
STEPS_DATA_FITS(struct srp_client);
STEPS_DATA_FITS(struct srp_server);

/* ---- What both sides compute ---- */

static bool sha1_of_two(struct span first, struct span second, uint8_t digest[SHA1_SIZE])
{
    return crypto_sha1((struct span[]){first, second}, 2, digest);
}

/* k = SHA1(N | PAD(g)) */
static bool make_k(uint8_t k[SHA1_SIZE])
{
    uint8_t padded[SIZE] = {0};
    padded[SIZE - 1] = g_byte;
    return sha1_of_two(N, (struct span){padded, SIZE}, k);
}

/* x = SHA1(salt | SHA1(user | ":" | password)) */
static bool make_x(struct span salt, struct span user, const char *password, uint8_t x[SHA1_SIZE])
{
    uint8_t inner[SHA1_SIZE];
    const struct span pieces[] = {user, span_from_string(":"), span_from_string(password)};
    bool ok =
        crypto_sha1(pieces, 3, inner) && sha1_of_two(salt, (struct span){inner, sizeof inner}, x);
    memory_wipe(inner, sizeof inner);
    return ok;
}

/* v = g^x */
static bool make_v(struct span salt, struct span user, const char *password, uint8_t v[SIZE])
{
    uint8_t x[SHA1_SIZE];
    bool ok = make_x(salt, user, password, x) && crypto_power(g, (struct span){x, sizeof x}, N, v);
    memory_wipe(x, sizeof x);
    return ok;
}

/* u = SHA1(PAD(A) | PAD(B)); *zero: it must not be used. */
static bool make_u(const uint8_t A[SIZE], const uint8_t B[SIZE], uint8_t u[SHA1_SIZE], bool *zero)
{
    bool ok = sha1_of_two((struct span){A, SIZE}, (struct span){B, SIZE}, u);
    *zero = number_bits((struct span){u, SHA1_SIZE}) == 0;
    return ok;
}

/* K = SHA1(strip(S) | 00000000) | SHA1(strip(S) | 00000001) */
static bool make_K(const uint8_t S[SIZE], uint8_t K[K_SIZE])
{
    static const uint8_t counters[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 1}};
    struct span secret = number_strip((struct span){S, SIZE});
    return sha1_of_two(secret, (struct span){counters[0], 4}, K) &&
           sha1_of_two(secret, (struct span){counters[1], 4}, K + SHA1_SIZE);
}

/* The two proofs. */
struct proofs {
    uint8_t m1[SHA1_SIZE], m2[SHA1_SIZE];
};

/* M1 = SHA1((SHA1(N) xor SHA1(g)) | SHA1(user) | salt | strip(A) | strip(B) | K)
 * M2 = SHA1(strip(A) | M1 | K) */
static bool make_proofs(const uint8_t S[SIZE], struct span user, struct span salt,
                        const uint8_t A[SIZE], const uint8_t B[SIZE], struct proofs *proofs)
{
    uint8_t K[K_SIZE];
    uint8_t mixed[SHA1_SIZE];
    uint8_t other[SHA1_SIZE];
    bool ok = make_K(S, K) && crypto_sha1(&N, 1, mixed) && crypto_sha1(&g, 1, other);
    for (size_t i = 0; i < SHA1_SIZE; i++) {
        mixed[i] ^= other[i];
    }
    ok = ok && crypto_sha1(&user, 1, other);
    struct span stripped = number_strip((struct span){A, SIZE});
    const struct span first[] = {{mixed, SHA1_SIZE},
                                 {other, SHA1_SIZE},
                                 salt,
                                 stripped,
                                 number_strip((struct span){B, SIZE}),
                                 {K, K_SIZE}};
    const struct span second[] = {stripped, {proofs->m1, SHA1_SIZE}, {K, K_SIZE}};
    ok = ok && crypto_sha1(first, 6, proofs->m1) && crypto_sha1(second, 3, proofs->m2);
    memory_wipe(K, sizeof K);
    return ok;
}

/* A number of the peer's, padded; false unless it is within 1 and N - 1: then it is not 0 mod N
 * either. */
static bool take_number(struct span number, uint8_t padded[SIZE])
{
    struct span stripped = number_strip(number);
    if (stripped.size == 0 || number_compare(stripped, N) >= 0) {
        return false;
    }
    memset(padded, 0, SIZE - stripped.size);
    memcpy(padded + (SIZE - stripped.size), stripped.data, stripped.size);
    return true;
}

/* A random exponent and its public value, power + addend, without a leading zero byte: one that has
 * it is padded by some and stripped by others (4.8). */
static bool make_pair(const struct random_source *random, struct span factor, struct span v,
                      uint8_t exponent[EXPONENT_SIZE], uint8_t public_value[SIZE])
{
    uint8_t power[SIZE];
    bool ok = true;
    public_value[0] = 0;
    for (unsigned i = 0; ok && public_value[0] == 0; i++) {
        ok = i < TRIES && random_fill(random, exponent, EXPONENT_SIZE) &&
             crypto_power(g, (struct span){exponent, EXPONENT_SIZE}, N, power) &&
             crypto_multiply_add(factor, v, (struct span){power, SIZE}, N, public_value);
    }
    memory_wipe(power, sizeof power);
    return ok;
}

/* ---- Client ---- */

static bool begin(struct uam_state *state, const struct uam_credentials *credentials,
                  struct span challenge, struct wire *out, struct error *error)
{
    uint16_t mark = MARK_BEGIN;
    wire_u16(out, &mark);
    return true;
}

/* What the server sends: the context before it is the message's ID. */
struct offer {
    struct span N, g, salt, B;
};

/* Only the known group is safe: one of the server's choice might give the password away. */
static bool read_offer(struct span challenge, struct offer *offer, struct error *error)
{
    struct wire in = wire_decoder(challenge.data, challenge.size);
    uint16_t mark = 0;
    wire_u16(&in, &mark);
    wire_str16(&in, &offer->N);
    wire_str16(&in, &offer->g);
    wire_str16(&in, &offer->salt);
    wire_str16(&in, &offer->B);
    if (!wire_ok(&in)) {
        return error_set(error, ERROR_PROTOCOL, 0, "SRP: the server's challenge ends too early");
    }
    if (mark != MARK_GROUP || number_compare(offer->N, N) != 0 ||
        number_compare(offer->g, g) != 0) {
        return error_set(
                   error, ERROR_PROTOCOL, 0,
                   "SRP: the server's group (number %u, %u bits) is not the known one of 1536 "
                   "bits: not safe",
                   mark, number_bits(offer->N)) ||
               error_remedy(error, REMEDY_LOGIN_METHOD);
    }
    return true;
}

/* S = (B - k v)^(a + u x) */
static bool client_secret(const uint8_t B[SIZE], const uint8_t a[EXPONENT_SIZE],
                          const uint8_t u[SHA1_SIZE], const uint8_t x[SHA1_SIZE], uint8_t S[SIZE])
{
    uint8_t k[SHA1_SIZE];
    uint8_t base[SIZE];
    uint8_t sum[SIZE]; /* far below N, so that the modulus does not show */
    bool ok =
        make_k(k) && crypto_power(g, (struct span){x, SHA1_SIZE}, N, base) &&
        crypto_multiply_add((struct span){k, sizeof k}, (struct span){base, SIZE}, none, N, base) &&
        crypto_subtract((struct span){B, SIZE}, (struct span){base, SIZE}, N, base) &&
        crypto_multiply_add((struct span){u, SHA1_SIZE}, (struct span){x, SHA1_SIZE},
                            (struct span){a, EXPONENT_SIZE}, N, sum) &&
        crypto_power((struct span){base, SIZE}, (struct span){sum, SIZE}, N, S);
    memory_wipe(base, sizeof base);
    memory_wipe(sum, sizeof sum);
    return ok;
}

/* Everything of the client between offer and proof. */
struct client_numbers {
    uint8_t a[EXPONENT_SIZE], A[SIZE], B[SIZE], S[SIZE];
    uint8_t x[SHA1_SIZE], u[SHA1_SIZE];
    struct proofs proofs;
};

static bool prove(struct client_numbers *numbers, const struct offer *offer,
                  const struct uam_credentials *credentials, struct error *error)
{
    struct span user = span_from_string(credentials->user);
    bool zero;
    if (!take_number(offer->B, numbers->B)) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "SRP: the server's public value B is 0 modulo N, or above N: not safe");
    }
    if (!make_pair(credentials->random, none, none, numbers->a, numbers->A) ||
        !make_u(numbers->A, numbers->B, numbers->u, &zero)) {
        return steps_broken(error);
    }
    if (zero) {
        return error_set(error, ERROR_PROTOCOL, 0, "SRP: the hash u of both values is 0: not safe");
    }
    return (make_x(offer->salt, user, credentials->password, numbers->x) &&
            client_secret(numbers->B, numbers->a, numbers->u, numbers->x, numbers->S) &&
            make_proofs(numbers->S, user, offer->salt, numbers->A, numbers->B, &numbers->proofs)) ||
           steps_broken(error);
}

static bool answer(struct uam_state *state, const struct uam_credentials *credentials,
                   struct span challenge, struct wire *out, struct error *error)
{
    struct offer offer;
    struct client_numbers numbers;
    uint16_t mark = MARK_PROOF;
    bool ok = read_offer(challenge, &offer, error) && prove(&numbers, &offer, credentials, error);
    if (ok) {
        struct span A = {numbers.A, SIZE};
        struct span m1 = {numbers.proofs.m1, SHA1_SIZE};
        wire_u16(out, &mark);
        wire_str16(out, &A);
        wire_str16(out, &m1);
        memcpy(STEPS_DATA(struct srp_client, state)->m2, numbers.proofs.m2, SHA1_SIZE);
    }
    memory_wipe(&numbers, sizeof numbers);
    return ok;
}

static bool verify(struct uam_state *state, struct span reply, struct error *error)
{
    struct wire in = wire_decoder(reply.data, reply.size);
    struct span m2;
    uint16_t mark = 0;
    wire_u16(&in, &mark);
    wire_str16(&in, &m2);
    return (wire_ok(&in) && mark == MARK_SERVER_PROOF && m2.size == SHA1_SIZE &&
            crypto_equal(m2.data, STEPS_DATA(struct srp_client, state)->m2, SHA1_SIZE)) ||
           error_set(error, ERROR_PROTOCOL, 0,
                     "SRP: the server's proof M2 is wrong: it does not know the password");
}

/* ---- Server ---- */

/* The verifier is made of the clear password each time: nothing is stored of it. */
static enum uam_verdict offer(struct uam_state *state, const struct uam_directory *directory,
                              struct span user, struct span in, struct wire *out)
{
    struct srp_server *own = STEPS_DATA(struct srp_server, state);
    struct wire message = wire_decoder(in.data, in.size);
    struct span salt = {own->salt, SALT_SIZE};
    struct span B = {own->B, SIZE};
    uint8_t k[SHA1_SIZE];
    uint16_t mark = 0;
    wire_u16(&message, &mark);
    if (!wire_ok(&message) || wire_left(&message) > 0 || mark != MARK_BEGIN) {
        return UAM_MALFORMED;
    }
    const char *password = directory->password(directory->context, user);
    if (password == NULL) {
        return UAM_REFUSED;
    }
    if (!random_fill(directory->random, own->salt, SALT_SIZE) ||
        !make_v(salt, user, password, own->v) || !make_k(k) ||
        !make_pair(directory->random, (struct span){k, sizeof k}, (struct span){own->v, SIZE},
                   own->b, own->B)) {
        return UAM_BROKEN;
    }
    struct span numbers[] = {N, g, salt, B};
    mark = MARK_GROUP;
    wire_u16(out, &mark);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        wire_str16(out, &numbers[i]);
    }
    return UAM_CONTINUE;
}

/* S = (A v^u)^b */
static bool server_secret(const struct srp_server *own, const uint8_t A[SIZE],
                          const uint8_t u[SHA1_SIZE], uint8_t S[SIZE])
{
    uint8_t base[SIZE];
    bool ok =
        crypto_power((struct span){own->v, SIZE}, (struct span){u, SHA1_SIZE}, N, base) &&
        crypto_multiply_add((struct span){A, SIZE}, (struct span){base, SIZE}, none, N, base) &&
        crypto_power((struct span){base, SIZE}, (struct span){own->b, EXPONENT_SIZE}, N, S);
    memory_wipe(base, sizeof base);
    return ok;
}

static enum uam_verdict judge(const struct srp_server *own, struct span user, const uint8_t A[SIZE],
                              struct span m1, struct proofs *proofs)
{
    uint8_t u[SHA1_SIZE];
    uint8_t S[SIZE];
    bool zero;
    bool ok = make_u(A, own->B, u, &zero);
    if (ok && zero) {
        return UAM_MALFORMED;
    }
    ok = ok && server_secret(own, A, u, S) &&
         make_proofs(S, user, (struct span){own->salt, SALT_SIZE}, A, own->B, proofs);
    memory_wipe(S, sizeof S);
    if (!ok) {
        return UAM_BROKEN;
    }
    return crypto_equal(m1.data, proofs->m1, SHA1_SIZE) ? UAM_ACCEPTED : UAM_BAD_PROOF;
}

/* The proof ends the exchange, so that its secrets are wiped whatever it was worth. */
static enum uam_verdict check(struct uam_state *state, const struct uam_directory *directory,
                              struct span user, struct span in, struct wire *out)
{
    struct srp_server *own = STEPS_DATA(struct srp_server, state);
    struct wire message = wire_decoder(in.data, in.size);
    struct span given;
    struct span m1;
    uint8_t A[SIZE];
    struct proofs proofs;
    uint16_t mark = 0;
    wire_u16(&message, &mark);
    wire_str16(&message, &given);
    wire_str16(&message, &m1);
    if (!wire_ok(&message) || wire_left(&message) > 0 || mark != MARK_PROOF ||
        m1.size != SHA1_SIZE || !take_number(given, A)) {
        return UAM_MALFORMED;
    }
    enum uam_verdict verdict = judge(own, user, A, m1, &proofs);
    if (verdict == UAM_ACCEPTED) {
        struct span m2 = {proofs.m2, SHA1_SIZE};
        mark = MARK_SERVER_PROOF;
        wire_u16(out, &mark);
        wire_str16(out, &m2);
    }
    memory_wipe(own, sizeof *own);
    memory_wipe(&proofs, sizeof proofs);
    return verdict;
}

const struct uam uam_srp = {
    .name = "SRP",
    .option = "srp",
    .rank = 6,
    .needs_password = true,
    .own_record = true,
    .client = {begin, answer},
    .client_proof = verify,
    .server = {offer, check},
};
