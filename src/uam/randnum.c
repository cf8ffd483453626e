/* "Randnum exchange", doc/protocol.md 4.4: the password as a DES key encrypts a challenge. */
#include "uam/steps.h"

#include "base/memory.h"

struct randnum_server {
    uint8_t challenge[DES_SIZE];
};
STEPS_DATA_FITS(struct randnum_server);

static bool answer(struct uam_state *state, const struct uam_credentials *credentials,
                   struct span challenge, struct wire *out, struct error *error)
{
    uint8_t key[DES_SIZE];
    uint8_t encrypted[DES_SIZE];
    if (challenge.size < DES_SIZE) {
        return error_set(error, ERROR_PROTOCOL, 0, "Randnum: the server's challenge has %zu bytes",
                         challenge.size);
    }
    bool ok = steps_pad(credentials->password, key, sizeof key, error) &&
              (crypto_des(key, challenge.data, encrypted) || steps_broken(error));
    if (ok) {
        wire_array(out, encrypted, sizeof encrypted);
    }
    memory_wipe(key, sizeof key);
    return ok;
}

static enum uam_verdict check(struct uam_state *state, const struct uam_directory *directory,
                              struct span user, struct span in, struct wire *out)
{
    struct randnum_server *own = STEPS_DATA(struct randnum_server, state);
    uint8_t key[DES_SIZE];
    uint8_t expected[DES_SIZE];
    enum uam_verdict verdict = UAM_REFUSED;
    if (in.size != DES_SIZE) {
        return UAM_MALFORMED;
    }
    if (steps_password(directory, user, key, sizeof key)) {
        bool computed = crypto_des(key, own->challenge, expected);
        verdict = steps_judge(computed, in.data, expected, sizeof expected);
    }
    memory_wipe(key, sizeof key);
    return verdict;
}

const struct uam uam_randnum = {
    .name = "Randnum exchange",
    .option = "randnum",
    .rank = 2,
    .needs_password = true,
    .own_record = true,
    .password_limit = DES_SIZE,
    .client = {steps_say_nothing, answer},
    .server = {steps_des_challenge, check},
};
