/* "DHCAST128", doc/protocol.md 4.6: Diffie-Hellman with a fixed prime of 128 bits, then CAST5. */
#include "uam/steps.h"

#include "base/memory.h"

#include <string.h>

#define PRIME_SIZE     16
#define EXPONENT_SIZE  32
#define PASSWORD_SIZE  64
#define SIGNATURE_SIZE 16

static const uint8_t prime_bytes[PRIME_SIZE] = {0xBA, 0x28, 0x73, 0xDF, 0xB0, 0x60, 0x57, 0xD4,
                                                0x3F, 0x20, 0x24, 0x74, 0x4C, 0xEE, 0xE7, 0x5B};
static const uint8_t generator_byte = 7;
static const struct span prime = {prime_bytes, PRIME_SIZE};
static const struct span generator = {&generator_byte, 1};

struct dhx_client {
    uint8_t exponent[EXPONENT_SIZE];
};
STEPS_DATA_FITS(struct dhx_client);
STEPS_DATA_FITS(struct steps_secret);

/* A random exponent and g to its power. */
static bool make_pair(const struct random_source *random, uint8_t exponent[EXPONENT_SIZE],
                      uint8_t public_value[PRIME_SIZE])
{
    return random_fill(random, exponent, EXPONENT_SIZE) &&
           crypto_power(generator, (struct span){exponent, EXPONENT_SIZE}, prime, public_value);
}

/* ---- Client ---- */

static bool begin(struct uam_state *state, const struct uam_credentials *credentials,
                  struct span challenge, struct wire *out, struct error *error)
{
    uint8_t public_value[PRIME_SIZE];
    if (!make_pair(credentials->random, STEPS_DATA(struct dhx_client, state)->exponent,
                   public_value)) {
        return steps_broken(error);
    }
    wire_array(out, public_value, sizeof public_value);
    return true;
}

static bool answer(struct uam_state *state, const struct uam_credentials *credentials,
                   struct span challenge, struct wire *out, struct error *error)
{
    struct dhx_client *own = STEPS_DATA(struct dhx_client, state);
    struct wire in = wire_decoder(challenge.data, challenge.size);
    struct span public_value;
    uint8_t sealed[STEPS_NONCE_SIZE + SIGNATURE_SIZE];
    uint8_t key[CAST5_KEY_SIZE];
    wire_bytes(&in, &public_value, PRIME_SIZE);
    wire_array(&in, sealed, sizeof sealed); /* whatever the signature says (4.6) */
    if (!wire_ok(&in)) {
        return error_set(error, ERROR_PROTOCOL, 0, "DHX: the server's challenge has %zu bytes",
                         challenge.size);
    }
    if (!steps_public_value_fits(public_value, prime)) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "DHX: the server's public value is not within 2 and p-2: not safe");
    }
    struct span exponent = {own->exponent, EXPONENT_SIZE};
    bool ok = (crypto_power(public_value, exponent, prime, key) &&
               crypto_cast5_decrypt(key, STEPS_IV_SERVER, sealed, sizeof sealed)) ||
              steps_broken(error);
    ok = ok && steps_seal_password(key, sealed, credentials->password, PASSWORD_SIZE, out, error);
    memory_wipe(own, sizeof *own);
    memory_wipe(sealed, sizeof sealed);
    memory_wipe(key, sizeof key);
    return ok;
}

/* ---- Server ---- */

/* The public value, and the nonce with an empty signature, encrypted. */
static bool reply(struct steps_secret *own, const struct random_source *random, struct span theirs,
                  struct wire *out)
{
    uint8_t exponent[EXPONENT_SIZE];
    uint8_t public_value[PRIME_SIZE];
    uint8_t sealed[STEPS_NONCE_SIZE + SIGNATURE_SIZE] = {0};
    bool ok = make_pair(random, exponent, public_value) &&
              crypto_power(theirs, (struct span){exponent, sizeof exponent}, prime, own->key) &&
              random_fill(random, own->nonce, sizeof own->nonce);
    if (ok) {
        memcpy(sealed, own->nonce, sizeof own->nonce);
        ok = crypto_cast5_encrypt(own->key, STEPS_IV_SERVER, sealed, sizeof sealed);
    }
    if (ok) {
        wire_array(out, public_value, sizeof public_value);
        wire_array(out, sealed, sizeof sealed);
    }
    memory_wipe(exponent, sizeof exponent);
    memory_wipe(sealed, sizeof sealed);
    return ok;
}

static enum uam_verdict challenge(struct uam_state *state, const struct uam_directory *directory,
                                  struct span user, struct span in, struct wire *out)
{
    if (in.size != PRIME_SIZE || !steps_public_value_fits(in, prime)) {
        return UAM_MALFORMED;
    }
    if (directory->password(directory->context, user) == NULL) {
        return UAM_REFUSED;
    }
    return reply(STEPS_DATA(struct steps_secret, state), directory->random, in, out) ? UAM_CONTINUE
                                                                                     : UAM_BROKEN;
}

static enum uam_verdict check(struct uam_state *state, const struct uam_directory *directory,
                              struct span user, struct span in, struct wire *out)
{
    return steps_open_password(STEPS_DATA(struct steps_secret, state), directory, user, in,
                               PASSWORD_SIZE);
}

const struct uam uam_dhx = {
    .name = "DHCAST128",
    .option = "dhx",
    .rank = 4,
    .needs_password = true,
    .password_limit = PASSWORD_SIZE,
    .client = {begin, answer},
    .server = {challenge, check},
};
