/* "2-Way Randnum exchange", doc/protocol.md 4.5: both sides encrypt the other's challenge. */
#include "uam/steps.h"

#include "base/memory.h"

#include <string.h>

/* Both lie where the data begins: the server's challenge, and the answer that the client expects.
 */
struct two_way_server {
    uint8_t challenge[DES_SIZE];
};
struct two_way_client {
    uint8_t answer[DES_SIZE];
};
STEPS_DATA_FITS(struct two_way_server);
STEPS_DATA_FITS(struct two_way_client);

/* 4.5: DES leaves out the lowest bit of each byte; shifted, all bits of ASCII count. */
static void make_key(uint8_t key[DES_SIZE])
{
    for (size_t i = 0; i < DES_SIZE; i++) {
        key[i] = (uint8_t)(key[i] << 1);
    }
}

/* The server's challenge encrypted, then one of our own; what it must answer to that is kept. */
static bool answer(struct uam_state *state, const struct uam_credentials *credentials,
                   struct span challenge, struct wire *out, struct error *error)
{
    struct two_way_client *own = STEPS_DATA(struct two_way_client, state);
    uint8_t key[DES_SIZE];
    uint8_t bytes[2 * DES_SIZE];
    if (challenge.size < DES_SIZE) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "2-Way Randnum: the server's challenge has %zu bytes", challenge.size);
    }
    bool ok = steps_pad(credentials->password, key, sizeof key, error);
    if (ok) {
        make_key(key);
        ok = (random_fill(credentials->random, bytes + DES_SIZE, DES_SIZE) &&
              crypto_des(key, challenge.data, bytes) &&
              crypto_des(key, bytes + DES_SIZE, own->answer)) ||
             steps_broken(error);
    }
    if (ok) {
        wire_array(out, bytes, sizeof bytes);
    }
    memory_wipe(key, sizeof key);
    return ok;
}

static bool verify(struct uam_state *state, struct span reply, struct error *error)
{
    const struct two_way_client *own = STEPS_DATA(struct two_way_client, state);
    return (reply.size >= DES_SIZE && crypto_equal(reply.data, own->answer, DES_SIZE)) ||
           error_set(error, ERROR_PROTOCOL, 0,
                     "2-Way Randnum: the server's answer to the challenge is wrong: it does not "
                     "know the password");
}

/* Who does not know the password gets no answer either: it would be a text to guess with. */
static enum uam_verdict check(struct uam_state *state, const struct uam_directory *directory,
                              struct span user, struct span in, struct wire *out)
{
    struct two_way_server *own = STEPS_DATA(struct two_way_server, state);
    uint8_t key[DES_SIZE];
    uint8_t expected[DES_SIZE];
    uint8_t answer_bytes[DES_SIZE];
    enum uam_verdict verdict = UAM_REFUSED;
    if (in.size != 2 * (size_t)DES_SIZE) {
        return UAM_MALFORMED;
    }
    if (steps_password(directory, user, key, sizeof key)) {
        make_key(key);
        bool done = crypto_des(key, own->challenge, expected) &&
                    crypto_des(key, in.data + DES_SIZE, answer_bytes);
        verdict = steps_judge(done, in.data, expected, sizeof expected);
    }
    if (verdict == UAM_ACCEPTED) {
        wire_array(out, answer_bytes, sizeof answer_bytes);
    }
    memory_wipe(key, sizeof key);
    return verdict;
}

const struct uam uam_two_way = {
    .name = "2-Way Randnum exchange",
    .alias = "2-Way Randnum",
    .option = "2way",
    .rank = 3,
    .needs_password = true,
    .own_record = true,
    .password_limit = DES_SIZE,
    .client = {steps_say_nothing, answer},
    .client_proof = verify,
    .server = {steps_des_challenge, check},
};
