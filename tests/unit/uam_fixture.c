#include "uam_fixture.h"

#include <stdio.h>

static bool take(void *context, uint8_t *bytes, size_t size)
{
    struct script *script = context;
    if (size > script->size - script->at) {
        return false;
    }
    memcpy(bytes, script->bytes + script->at, size);
    script->at += size;
    return true;
}

void script_write(struct script *script, const char *text)
{
    script->size = bytes_from_text(text, script->bytes, sizeof script->bytes);
    script->at = 0;
    script->source = (struct random_source){take, script};
}

const char *seq(unsigned first, size_t count)
{
    static char texts[8][FIXTURE_LIMIT];
    static unsigned next;
    char *text = texts[next++ % COUNT(texts)];
    assert_true(count * 2 < FIXTURE_LIMIT);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        snprintf(text + 2 * i, 3, "%02x", (first + (unsigned)i) & 0xFF);
    }
    return text;
}

/* One step's buffers: what it reads in a block of exactly its size, and room for what it writes. */
struct exchange {
    struct span in;
    uint8_t *block, *room;
    struct wire out;
};

static struct exchange begin(struct span in)
{
    struct exchange exchange = {.block = exact_copy(in.data, in.size),
                                .room = malloc(UAM_MESSAGE_LIMIT)};
    assert_non_null(exchange.room);
    exchange.in = (struct span){exchange.block, in.size};
    exchange.out = wire_encoder(exchange.room, UAM_MESSAGE_LIMIT);
    return exchange;
}

/* The side then has said what was written. */
static void end(struct exchange *exchange, struct side *side)
{
    assert_true(wire_ok(&exchange->out));
    side->size = exchange->out.at;
    memcpy(side->bytes, exchange->room, side->size);
    free(exchange->block);
    free(exchange->room);
}

bool client_step(const struct login *login, struct side *side, struct span challenge,
                 struct error *error)
{
    struct exchange exchange = begin(challenge);
    struct uam_credentials credentials = {login->user, login->password, login->client};
    bool ok =
        uam_client_turn(login->uam, &side->state, &credentials, exchange.in, &exchange.out, error);
    end(&exchange, side);
    return ok;
}

static const char *find_password(void *context, struct span user)
{
    const struct login *login = context;
    return span_is(user, login->known_user) ? login->known_password : NULL;
}

enum uam_verdict server_step(const struct login *login, struct side *side, struct span in)
{
    struct exchange exchange = begin(in);
    struct uam_directory directory = {find_password, (void *)login, login->server};
    struct span user = span_from_string(login->user);
    enum uam_verdict verdict =
        uam_server_turn(login->uam, &side->state, &directory, user, exchange.in, &exchange.out);
    end(&exchange, side);
    return verdict;
}

struct span said(const struct side *side)
{
    return (struct span){side->bytes, side->size};
}

enum uam_verdict converse(const struct login *login, struct side *client, struct side *server,
                          bool *agreed, struct error *error)
{
    *client = *server = (struct side){0};
    *agreed = false;
    for (;;) {
        if (!client_step(login, client, said(server), error)) {
            return UAM_VERDICT_COUNT;
        }
        enum uam_verdict verdict = server_step(login, server, said(client));
        if (verdict == UAM_ACCEPTED) {
            *agreed = uam_client_end(login->uam, &client->state, said(server), error);
        }
        if (verdict != UAM_CONTINUE) {
            return verdict;
        }
    }
}

void expect_said(const struct side *side, const char *text, const char *what)
{
    uint8_t wanted[FIXTURE_LIMIT];
    size_t size = bytes_from_text(text, wanted, sizeof wanted);
    check(side->size == size, "%s: %zu bytes, not %zu", what, side->size, size);
    for (size_t i = 0; i < size; i++) {
        check(side->bytes[i] == wanted[i], "%s: byte %zu is %02x, not %02x", what, i,
              side->bytes[i], wanted[i]);
    }
}

void expect_sha1(struct span bytes, const char *text, const char *what)
{
    uint8_t wanted[SHA1_SIZE];
    uint8_t digest[SHA1_SIZE];
    assert_int_equal(bytes_from_text(text, wanted, sizeof wanted), SHA1_SIZE);
    assert_true(crypto_sha1(&bytes, 1, digest));
    check(memcmp(digest, wanted, SHA1_SIZE) == 0, "%s: another SHA-1", what);
}
