#include "uam/steps.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

bool steps_say_nothing(struct uam_state *state, const struct uam_credentials *credentials,
                       struct span challenge, struct wire *out, struct error *error)
{
    return true;
}

bool steps_broken(struct error *error)
{
    return error_set(error, ERROR_SYSTEM, ENOTSUP,
                     "libgcrypt refuses the cipher of this login method, or there are no random "
                     "bytes") ||
           error_remedy(error, REMEDY_LOGIN_METHOD);
}

/* ---- Passwords ---- */

/* Pads; false if the text is longer. */
static bool pad(const char *text, uint8_t *padded, size_t size)
{
    size_t length = strnlen(text, size + 1);
    memset(padded, 0, size);
    memcpy(padded, text, length < size ? length : size);
    return length <= size;
}

bool steps_pad(const char *password, uint8_t *padded, size_t size, struct error *error)
{
    return pad(password, padded, size) ||
           error_set(error, ERROR_LIMIT, 0,
                     "the password is longer than the %zu bytes of this login method", size);
}

bool steps_password(const struct uam_directory *directory, struct span user, uint8_t *padded,
                    size_t size)
{
    const char *password = directory->password(directory->context, user);
    return password != NULL && pad(password, padded, size);
}

/* The largest room for a password: DHX2's. */
#define ROOM_LIMIT 256

bool steps_is_password(const struct uam_directory *directory, struct span user, const uint8_t *sent,
                       size_t size)
{
    uint8_t expected[ROOM_LIMIT];
    bool same = size <= sizeof expected && steps_password(directory, user, expected, size) &&
                crypto_equal(sent, expected, size);
    memory_wipe(expected, sizeof expected);
    return same;
}

enum uam_verdict steps_judge(bool computed, const uint8_t *answer, const uint8_t *expected,
                             size_t size)
{
    if (!computed) {
        return UAM_BROKEN;
    }
    return crypto_equal(answer, expected, size) ? UAM_ACCEPTED : UAM_REFUSED;
}

/* ---- DES ---- */

enum uam_verdict steps_des_challenge(struct uam_state *state, const struct uam_directory *directory,
                                     struct span user, struct span in, struct wire *out)
{
    if (in.size > 0) {
        return UAM_MALFORMED;
    }
    if (directory->password(directory->context, user) == NULL) {
        return UAM_REFUSED;
    }
    if (!random_fill(directory->random, state->data, DES_SIZE)) {
        return UAM_BROKEN;
    }
    wire_array(out, state->data, DES_SIZE);
    return UAM_CONTINUE;
}

/* ---- Diffie-Hellman ---- */

bool steps_public_value_fits(struct span value, struct span prime)
{
    static const uint8_t one = 1;
    /* The prime less one: it is odd, so that the last byte has the one to take away. */
    uint8_t below[CRYPTO_NUMBER_LIMIT];
    if (prime.size == 0 || prime.size > sizeof below) {
        return false;
    }
    memcpy(below, prime.data, prime.size);
    below[prime.size - 1] &= 0xFE;
    return number_compare(value, (struct span){&one, 1}) > 0 &&
           number_compare(value, (struct span){below, prime.size}) < 0;
}

void steps_increment(const uint8_t nonce[STEPS_NONCE_SIZE], uint8_t result[STEPS_NONCE_SIZE])
{
    unsigned carry = 1;
    for (size_t i = STEPS_NONCE_SIZE; i-- > 0;) {
        carry += nonce[i];
        result[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

bool steps_seal_password(const uint8_t key[CAST5_KEY_SIZE], const uint8_t nonce[STEPS_NONCE_SIZE],
                         const char *password, size_t room, struct wire *out, struct error *error)
{
    uint8_t bytes[STEPS_NONCE_SIZE + ROOM_LIMIT];
    steps_increment(nonce, bytes);
    bool ok = steps_pad(password, bytes + STEPS_NONCE_SIZE, room, error) &&
              (crypto_cast5_encrypt(key, STEPS_IV_CLIENT, bytes, STEPS_NONCE_SIZE + room) ||
               steps_broken(error));
    if (ok) {
        wire_array(out, bytes, STEPS_NONCE_SIZE + room);
    }
    memory_wipe(bytes, sizeof bytes);
    return ok;
}

enum uam_verdict steps_open_password(struct steps_secret *secret,
                                     const struct uam_directory *directory, struct span user,
                                     struct span sealed, size_t room)
{
    uint8_t bytes[STEPS_NONCE_SIZE + ROOM_LIMIT];
    uint8_t expected[STEPS_NONCE_SIZE];
    size_t size = STEPS_NONCE_SIZE + room;
    enum uam_verdict verdict = UAM_BROKEN;
    if (sealed.size < size || sealed.size > size + STEPS_TOLERANCE) {
        memory_wipe(secret, sizeof *secret);
        return UAM_MALFORMED;
    }
    memcpy(bytes, sealed.data, size);
    if (crypto_cast5_decrypt(secret->key, STEPS_IV_CLIENT, bytes, size)) {
        steps_increment(secret->nonce, expected);
        bool same = crypto_equal(bytes, expected, sizeof expected) &&
                    steps_is_password(directory, user, bytes + STEPS_NONCE_SIZE, room);
        verdict = same ? UAM_ACCEPTED : UAM_REFUSED;
    }
    memory_wipe(secret, sizeof *secret);
    memory_wipe(bytes, sizeof bytes);
    memory_wipe(expected, sizeof expected);
    return verdict;
}
