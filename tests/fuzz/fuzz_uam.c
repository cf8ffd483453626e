/* The messages of every login method of uam_table[].
 *
 * Input: the method, the way. A client alone and a server alone get the rest in pieces (a length of
 * 16 bits each) as challenges or proofs. In a conversation they talk to each other, and the input
 * damages one message: which, where, by what, how long it is then. */
#include "fuzz.h"
#include "uam/crypto.h"
#include "uam/uam.h"

#include <string.h>

enum way { CLIENT_ALONE, SERVER_ALONE, CONVERSATION, WAY_COUNT };

/* No method takes more turns. */
#define TURNS 8

/* Neither random nor secret, so that an input does the same each time. */
static bool fill(void *context, uint8_t *bytes, size_t size)
{
    uint32_t random = 1;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(random >> 24);
    }
    return true;
}

static const struct random_source source = {.fill = fill};
static const struct uam_credentials credentials = {"me", "secretpw", &source};

static const char *password_of(void *context, struct span user)
{
    return span_equals(user, span_from_string("me")) ? "secretpw" : NULL;
}

static const struct uam_directory directory = {.password = password_of, .random = &source};

/* A message in a block of its own size. */
static struct span copied(const uint8_t *bytes, size_t size)
{
    struct wire from = wire_decoder(bytes, size);
    return fuzz_rest(&from);
}

static void client_alone(const struct uam *uam, struct wire *input)
{
    struct uam_state state = {0};
    struct error error = {0};
    uint8_t bytes[UAM_MESSAGE_LIMIT];
    bool ok = true;
    bool first = true;
    while (ok && (first || (wire_ok(input) && wire_left(input) > 0))) {
        struct span challenge = fuzz_bytes(input, first ? 0 : fuzz_u16(input));
        struct wire out = wire_encoder(bytes, sizeof bytes);
        ok = uam_client_turn(uam, &state, &credentials, challenge, &out, &error);
        fuzz_require_error(ok, &error);
        fuzz_release(challenge);
        first = false;
    }
    if (ok) {
        struct span reply = fuzz_rest(input);
        fuzz_require_error(uam_client_end(uam, &state, reply, &error), &error);
        fuzz_release(reply);
    }
    uam_state_wipe(&state);
}

static void server_alone(const struct uam *uam, struct wire *input)
{
    struct uam_state state = {0};
    uint8_t bytes[UAM_MESSAGE_LIMIT];
    enum uam_verdict verdict = UAM_CONTINUE;
    struct span user = span_from_string("me");
    while (verdict == UAM_CONTINUE && wire_ok(input) && wire_left(input) > 0) {
        struct span proof = fuzz_bytes(input, fuzz_u16(input));
        struct wire out = wire_encoder(bytes, sizeof bytes);
        verdict = uam_server_turn(uam, &state, &directory, user, proof, &out);
        fuzz_release(proof);
    }
    uam_state_wipe(&state);
}

/* ---- Both, with one damaged message ---- */

struct damage {
    uint8_t message; /* 0 is the client's first */
    uint16_t at;
    uint8_t change; /* 0: none */
    uint8_t cut;    /* bytes taken from its end; 255: all */
};

static struct span damaged(const struct damage *damage, unsigned message, struct wire *out)
{
    size_t size = out->at;
    if (damage->message == message) {
        size -= damage->cut == UINT8_MAX || damage->cut > size ? size : damage->cut;
        if (size > 0) {
            out->out[damage->at % size] ^= damage->change;
        }
    }
    return copied(out->out, size);
}

static void converse(const struct uam *uam, const struct damage *damage)
{
    struct uam_state client = {0};
    struct uam_state server = {0};
    struct error error = {0};
    uint8_t bytes[UAM_MESSAGE_LIMIT];
    struct span challenge = {0};
    enum uam_verdict verdict = UAM_CONTINUE;
    bool whole = damage->change == 0 && damage->cut == 0;
    bool ok = true;
    unsigned message = 0;
    while (ok && verdict == UAM_CONTINUE) {
        struct wire out = wire_encoder(bytes, sizeof bytes);
        ok = uam_client_turn(uam, &client, &credentials, challenge, &out, &error);
        fuzz_require_error(ok, &error);
        fuzz_release(challenge);
        challenge = (struct span){0};
        if (ok) {
            fuzz_require(wire_ok(&out), "a message that does not fit");
            struct span proof = damaged(damage, message++, &out);
            out = wire_encoder(bytes, sizeof bytes);
            verdict =
                uam_server_turn(uam, &server, &directory, span_from_string("me"), proof, &out);
            fuzz_release(proof);
            fuzz_require(wire_ok(&out), "a challenge that does not fit");
            challenge = damaged(damage, message++, &out);
        }
        fuzz_require(message < 2 * TURNS, "a login without an end");
    }
    if (ok && verdict == UAM_ACCEPTED) {
        ok = uam_client_end(uam, &client, challenge, &error);
        fuzz_require_error(ok, &error);
    }
    fuzz_require(!whole || (ok && verdict == UAM_ACCEPTED), "the right password is refused");
    fuzz_release(challenge);
    uam_state_wipe(&client);
    uam_state_wipe(&server);
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    struct wire input = wire_decoder(bytes, size);
    const struct uam *uam = uam_table[fuzz_u8(&input) % uam_count];
    enum way way = (enum way)(fuzz_u8(&input) % WAY_COUNT);
    if (way == CLIENT_ALONE) {
        client_alone(uam, &input);
    } else if (way == SERVER_ALONE) {
        server_alone(uam, &input);
    } else {
        struct damage damage = {.message = fuzz_u8(&input) % TURNS,
                                .at = fuzz_u16(&input),
                                .change = fuzz_u8(&input),
                                .cut = fuzz_u8(&input)};
        converse(uam, &damage);
    }
}
