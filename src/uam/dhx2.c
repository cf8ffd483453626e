/* "DHX2", doc/protocol.md 4.7: Diffie-Hellman with a prime that the server sends, then CAST5. */
#include "uam/steps.h"

#include "base/memory.h"

#include <string.h>

#define LEAST_BITS    512
#define MOST_BITS     (CRYPTO_NUMBER_LIMIT * 8)
#define PASSWORD_SIZE 256

/* The server's group: RFC 2409, second Oakley group, g = 2. Long enough for a yardstick, and not
 * too long for any client: Netatalk's primes have 1024 bits too. */
#define OWN_SIZE 128
static const uint8_t own_prime[OWN_SIZE] = {
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xC9, 0x0F, 0xDA, 0xA2, 0x21, 0x68, 0xC2, 0x34,
    0xC4, 0xC6, 0x62, 0x8B, 0x80, 0xDC, 0x1C, 0xD1, 0x29, 0x02, 0x4E, 0x08, 0x8A, 0x67, 0xCC, 0x74,
    0x02, 0x0B, 0xBE, 0xA6, 0x3B, 0x13, 0x9B, 0x22, 0x51, 0x4A, 0x08, 0x79, 0x8E, 0x34, 0x04, 0xDD,
    0xEF, 0x95, 0x19, 0xB3, 0xCD, 0x3A, 0x43, 0x1B, 0x30, 0x2B, 0x0A, 0x6D, 0xF2, 0x5F, 0x14, 0x37,
    0x4F, 0xE1, 0x35, 0x6D, 0x6D, 0x51, 0xC2, 0x45, 0xE4, 0x85, 0xB5, 0x76, 0x62, 0x5E, 0x7E, 0xC6,
    0xF4, 0x4C, 0x42, 0xE9, 0xA6, 0x37, 0xED, 0x6B, 0x0B, 0xFF, 0x5C, 0xB6, 0xF4, 0x06, 0xB7, 0xED,
    0xEE, 0x38, 0x6B, 0xFB, 0x5A, 0x89, 0x9F, 0xA5, 0xAE, 0x9F, 0x24, 0x11, 0x7C, 0x4B, 0x1F, 0xE6,
    0x49, 0x28, 0x66, 0x51, 0xEC, 0xE6, 0x53, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
static const uint8_t own_generator[4] = {0, 0, 0, 2};

/* A group as it is on the wire: the generator has four bytes. */
struct group {
    struct span generator, prime;
};

struct dhx2_client {
    uint8_t key[CAST5_KEY_SIZE];
    uint8_t nonce[STEPS_NONCE_SIZE];
};
struct dhx2_server {
    uint8_t exponent[OWN_SIZE];
    struct steps_secret secret;
};
STEPS_DATA_FITS(struct dhx2_client);
STEPS_DATA_FITS(struct dhx2_server);

/* A random exponent as long as the prime, and g to its power. */
static bool make_pair(const struct random_source *random, struct group group, uint8_t *exponent,
                      uint8_t *public_value)
{
    size_t size = group.prime.size;
    return random_fill(random, exponent, size) &&
           crypto_power(group.generator, (struct span){exponent, size}, group.prime, public_value);
}

/* The hash of what both sides then know, as long as the prime. */
static bool make_key(struct span theirs, struct span exponent, struct span prime,
                     uint8_t key[CAST5_KEY_SIZE])
{
    uint8_t secret[CRYPTO_NUMBER_LIMIT];
    struct span whole = {secret, prime.size};
    bool ok = crypto_power(theirs, exponent, prime, secret) && crypto_md5(&whole, 1, key);
    memory_wipe(secret, sizeof secret);
    return ok;
}

/* ---- Client ---- */

static bool is_safe(struct group group, struct span public_value, struct error *error)
{
    static const uint8_t two = 2;
    unsigned bits = number_bits(group.prime);
    const char *weak = NULL;
    if (group.prime.size > CRYPTO_NUMBER_LIMIT || bits < LEAST_BITS) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "DHX2: the server's prime has %u bits in %zu bytes, not %d to %d bits",
                         bits, group.prime.size, LEAST_BITS, MOST_BITS) ||
               error_remedy(error, REMEDY_LOGIN_METHOD);
    }
    if (group.prime.data[group.prime.size - 1] % 2 == 0) {
        weak = "prime is an even number";
    } else if (number_compare(group.generator, (struct span){&two, 1}) < 0) {
        weak = "generator is below 2";
    } else if (!steps_public_value_fits(public_value, group.prime)) {
        weak = "public value is not within 2 and p-2";
    }
    return weak == NULL ||
           error_set(error, ERROR_PROTOCOL, 0, "DHX2: the server's %s: not safe", weak);
}

/* The public value, and a nonce of ours encrypted. */
static bool exchange(struct dhx2_client *own, const struct random_source *random,
                     struct group group, struct span theirs, struct wire *out)
{
    uint8_t exponent[CRYPTO_NUMBER_LIMIT];
    uint8_t public_value[CRYPTO_NUMBER_LIMIT];
    uint8_t sealed[STEPS_NONCE_SIZE];
    size_t size = group.prime.size;
    bool ok = make_pair(random, group, exponent, public_value) &&
              make_key(theirs, (struct span){exponent, size}, group.prime, own->key) &&
              random_fill(random, own->nonce, sizeof own->nonce);
    if (ok) {
        memcpy(sealed, own->nonce, sizeof sealed);
        ok = crypto_cast5_encrypt(own->key, STEPS_IV_CLIENT, sealed, sizeof sealed);
    }
    if (ok) {
        wire_array(out, public_value, size);
        wire_array(out, sealed, sizeof sealed);
    }
    memory_wipe(exponent, sizeof exponent);
    memory_wipe(sealed, sizeof sealed);
    return ok;
}

static bool answer_group(struct uam_state *state, const struct uam_credentials *credentials,
                         struct span challenge, struct wire *out, struct error *error)
{
    struct wire in = wire_decoder(challenge.data, challenge.size);
    struct group group;
    struct span public_value;
    uint16_t size = 0;
    wire_bytes(&in, &group.generator, sizeof own_generator);
    wire_u16(&in, &size);
    wire_bytes(&in, &group.prime, size);
    wire_bytes(&in, &public_value, size);
    if (!wire_ok(&in)) {
        return error_set(error, ERROR_PROTOCOL, 0, "DHX2: the server's challenge ends too early");
    }
    return is_safe(group, public_value, error) &&
           (exchange(STEPS_DATA(struct dhx2_client, state), credentials->random, group,
                     public_value, out) ||
            steps_broken(error));
}

static bool answer_nonce(struct uam_state *state, const struct uam_credentials *credentials,
                         struct span challenge, struct wire *out, struct error *error)
{
    struct dhx2_client *own = STEPS_DATA(struct dhx2_client, state);
    struct wire in = wire_decoder(challenge.data, challenge.size);
    uint8_t nonces[2 * STEPS_NONCE_SIZE]; /* ours + 1, theirs */
    uint8_t expected[STEPS_NONCE_SIZE];
    wire_array(&in, nonces, sizeof nonces);
    if (!wire_ok(&in)) {
        return error_set(error, ERROR_PROTOCOL, 0, "DHX2: the server's nonces end too early");
    }
    steps_increment(own->nonce, expected);
    bool ok = crypto_cast5_decrypt(own->key, STEPS_IV_SERVER, nonces, sizeof nonces) ||
              steps_broken(error);
    if (ok && !crypto_equal(nonces, expected, sizeof expected)) {
        ok = error_set(error, ERROR_PROTOCOL, 0,
                       "DHX2: the server's answer to the nonce is wrong: it does not have the key");
    }
    ok = ok && steps_seal_password(own->key, nonces + STEPS_NONCE_SIZE, credentials->password,
                                   PASSWORD_SIZE, out, error);
    memory_wipe(own, sizeof *own);
    memory_wipe(nonces, sizeof nonces);
    memory_wipe(expected, sizeof expected);
    return ok;
}

/* ---- Server ---- */

static const struct group own_group = {{own_generator, sizeof own_generator},
                                       {own_prime, OWN_SIZE}};

static enum uam_verdict offer_group(struct uam_state *state, const struct uam_directory *directory,
                                    struct span user, struct span in, struct wire *out)
{
    struct dhx2_server *own = STEPS_DATA(struct dhx2_server, state);
    uint8_t public_value[OWN_SIZE];
    uint16_t size = OWN_SIZE;
    struct group group = own_group;
    if (in.size > 0) {
        return UAM_MALFORMED;
    }
    if (directory->password(directory->context, user) == NULL) {
        return UAM_REFUSED;
    }
    if (!make_pair(directory->random, own_group, own->exponent, public_value)) {
        return UAM_BROKEN;
    }
    wire_bytes(out, &group.generator, group.generator.size);
    wire_u16(out, &size);
    wire_bytes(out, &group.prime, size);
    wire_array(out, public_value, size);
    return UAM_CONTINUE;
}

static enum uam_verdict reply_nonce(struct uam_state *state, const struct uam_directory *directory,
                                    struct span user, struct span in, struct wire *out)
{
    struct dhx2_server *own = STEPS_DATA(struct dhx2_server, state);
    struct steps_secret *secret = &own->secret;
    struct wire message = wire_decoder(in.data, in.size);
    struct span theirs;
    uint8_t nonces[2 * STEPS_NONCE_SIZE]; /* theirs + 1, ours */
    wire_bytes(&message, &theirs, OWN_SIZE);
    wire_array(&message, nonces, STEPS_NONCE_SIZE);
    if (!wire_ok(&message) || wire_left(&message) > 0 ||
        !steps_public_value_fits(theirs, own_group.prime)) {
        return UAM_MALFORMED;
    }
    struct span exponent = {own->exponent, OWN_SIZE};
    bool ok = make_key(theirs, exponent, own_group.prime, secret->key) &&
              random_fill(directory->random, secret->nonce, sizeof secret->nonce) &&
              crypto_cast5_decrypt(secret->key, STEPS_IV_CLIENT, nonces, STEPS_NONCE_SIZE);
    if (ok) {
        steps_increment(nonces, nonces);
        memcpy(nonces + STEPS_NONCE_SIZE, secret->nonce, STEPS_NONCE_SIZE);
        ok = crypto_cast5_encrypt(secret->key, STEPS_IV_SERVER, nonces, sizeof nonces);
    }
    if (ok) {
        wire_array(out, nonces, sizeof nonces);
    }
    memory_wipe(own->exponent, sizeof own->exponent);
    memory_wipe(nonces, sizeof nonces);
    return ok ? UAM_CONTINUE : UAM_BROKEN;
}

static enum uam_verdict check(struct uam_state *state, const struct uam_directory *directory,
                              struct span user, struct span in, struct wire *out)
{
    struct dhx2_server *own = STEPS_DATA(struct dhx2_server, state);
    return steps_open_password(&own->secret, directory, user, in, PASSWORD_SIZE);
}

const struct uam uam_dhx2 = {
    .name = "DHX2",
    .option = "dhx2",
    .rank = 5,
    .needs_password = true,
    .password_limit = PASSWORD_SIZE,
    .client = {steps_say_nothing, answer_group, answer_nonce},
    .server = {offer_group, reply_nonce, check},
};
