/* The login methods against a peer that cheats, breaks the protocol or cuts its messages: on the
 * client's side and on the server's (doc/protocol.md 4). Messages lie in blocks of exactly their
 * size, so that the sanitizer sees a step beyond them. */
#include "uam_fixture.h"

#include <stdio.h>

#define USER     "afpchk"
#define PASSWORD "secretpw"

#define DHX_PRIME "ba2873dfb06057d43f2024744ceee75b"

static struct side client, server;
static struct error error;
static uint8_t message[FIXTURE_LIMIT];

static struct login login_with(const struct uam *uam)
{
    client = server = (struct side){0};
    return (struct login){uam, USER, PASSWORD, USER, PASSWORD, NULL, NULL};
}

/* Client and server, `turns` messages each; the next one is the client's. */
static struct login advance(const struct uam *uam, unsigned turns)
{
    struct login login = login_with(uam);
    for (unsigned i = 0; i < turns; i++) {
        check(client_step(&login, &client, said(&server), &error), "%s", error.message);
        assert_true(server_step(&login, &server, said(&client)) <= UAM_CONTINUE);
    }
    return login;
}

/* The same, and the client has spoken once more. */
static struct login advance_client(const struct uam *uam, unsigned turns)
{
    struct login login = advance(uam, turns);
    check(client_step(&login, &client, said(&server), &error), "%s", error.message);
    return login;
}

static unsigned step_count(const struct uam *uam)
{
    unsigned count = 0;
    while (uam->client[count] != NULL) {
        count++;
    }
    return count;
}

/* What a copy of the client says to a challenge; the client itself stays as it is. */
static bool client_takes(const struct login *login, struct span challenge)
{
    struct side copy = client;
    return client_step(login, &copy, challenge, &error);
}

static enum uam_verdict server_takes(const struct login *login, struct span bytes)
{
    struct side copy = server;
    enum uam_verdict verdict = server_step(login, &copy, bytes);
    if (verdict != UAM_ACCEPTED && verdict != UAM_CONTINUE) {
        assert_int_equal(copy.size, 0); /* nothing leaks with a refusal */
    }
    return verdict;
}

static struct span bytes(const char *text)
{
    return (struct span){message, bytes_from_text(text, message, sizeof message)};
}

/* ---- The course of a conversation ---- */

static void both_sides_have_as_many_steps(void **state)
{
    for (size_t i = 0; i < uam_count; i++) {
        unsigned server_steps = 0;
        while (uam_table[i]->server[server_steps] != NULL) {
            server_steps++;
        }
        assert_int_equal(step_count(uam_table[i]), server_steps);
        assert_true(server_steps >= 1 && server_steps <= UAM_STEP_LIMIT);
    }
}

static void accepting_too_early(void **state)
{
    for (size_t i = 0; i < uam_count; i++) {
        for (unsigned turns = 1; turns < step_count(uam_table[i]); turns++) {
            struct login login = advance(uam_table[i], turns);
            assert_false(uam_client_end(login.uam, &client.state, said(&server), &error));
            check_error(&error, ERROR_PROTOCOL, "accepts before");
        }
    }
}

static void messages_too_many(void **state)
{
    for (size_t i = 0; i < uam_count; i++) {
        struct login login = advance(uam_table[i], step_count(uam_table[i]));
        assert_false(client_takes(&login, span_from_string("what else is there?")));
        check_error(&error, ERROR_PROTOCOL, "asks for more");
        assert_int_equal(server_takes(&login, said(&client)), UAM_MALFORMED);
    }
}

/* Each message of a server, cut at each length: the client refuses or, where the rest does not
 * matter, goes on; it never reads beyond. */
static void cut_challenges(void **state)
{
    static const struct {
        const struct uam *uam;
        unsigned turns;
        size_t needed;
    } rows[] = {
        {&uam_randnum, 1, 8}, {&uam_two_way, 1, 8}, {&uam_dhx, 1, 48},
        {&uam_dhx2, 1, 262},  {&uam_dhx2, 2, 32},   {&uam_srp, 1, 411},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct login login = advance(rows[i].uam, rows[i].turns);
        assert_int_equal(server.size, rows[i].needed);
        for (size_t size = 0; size < server.size; size++) {
            check(!client_takes(&login, (struct span){server.bytes, size}), "row %zu, %zu bytes", i,
                  size);
            check_error(&error, ERROR_PROTOCOL, "server's");
        }
        /* stray bytes after it do not matter (4.7) */
        memcpy(message, server.bytes, server.size);
        memset(message + server.size, 0xff, 10);
        check(client_takes(&login, (struct span){message, server.size + 10}), "row %zu: %s", i,
              error.message);
    }
}

static void cut_answers(void **state)
{
    static const struct {
        const struct uam *uam;
        unsigned turns;
        size_t size;   /* of the client's message */
        size_t strays; /* bytes after it that are tolerated */
    } rows[] = {
        {&uam_randnum, 0, 0, 0},  {&uam_randnum, 1, 8, 0}, {&uam_two_way, 0, 0, 0},
        {&uam_two_way, 1, 16, 0}, {&uam_dhx, 0, 16, 0},    {&uam_dhx, 1, 80, 10},
        {&uam_dhx2, 0, 0, 0},     {&uam_dhx2, 1, 144, 0},  {&uam_dhx2, 2, 272, 10},
        {&uam_srp, 0, 2, 0},      {&uam_srp, 1, 218, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct login login = advance_client(rows[i].uam, rows[i].turns);
        assert_int_equal(client.size, rows[i].size);
        for (size_t size = 0; size < client.size; size++) {
            check(server_takes(&login, (struct span){client.bytes, size}) == UAM_MALFORMED,
                  "row %zu, %zu bytes", i, size);
        }
        memcpy(message, client.bytes, client.size);
        memset(message + client.size, 0xff, 20);
        for (size_t more = 0; more < 20; more++) {
            enum uam_verdict verdict =
                server_takes(&login, (struct span){message, client.size + more});
            check((verdict == UAM_MALFORMED) == (more > rows[i].strays),
                  "row %zu, %zu bytes more: verdict %d", i, more, (int)verdict);
        }
    }
}

/* One wrong bit anywhere in an answer is refused. What the server makes of a challenge's answer: */
static void flipped_answers(void **state)
{
    static const struct {
        const struct uam *uam;
        unsigned turns;
        size_t size; /* bytes whose change must be seen */
    } rows[] = {
        {&uam_randnum, 1, 8}, {&uam_two_way, 1, 8}, {&uam_dhx, 1, 80},
        {&uam_dhx2, 2, 272},  {&uam_srp, 1, 218},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct login login = advance_client(rows[i].uam, rows[i].turns);
        for (size_t at = 0; at < rows[i].size; at += 3) {
            memcpy(message, client.bytes, client.size);
            message[at] ^= (uint8_t)(1U << at % 8);
            enum uam_verdict verdict = server_takes(&login, (struct span){message, client.size});
            check(verdict == UAM_REFUSED || verdict == UAM_BAD_PROOF || verdict == UAM_MALFORMED,
                  "row %zu, byte %zu: verdict %d", i, at, (int)verdict);
        }
        assert_int_equal(server_takes(&login, said(&client)), UAM_ACCEPTED);
    }
}

/* The server's proofs: each byte counts, and so does their being there. */
static void flipped_proofs(void **state)
{
    static const struct {
        const struct uam *uam;
        const char *text;
    } rows[] = {{&uam_two_way, "answer to the challenge is wrong"},
                {&uam_srp, "proof M2 is wrong"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct login login = advance(rows[i].uam, 2);
        assert_true(uam_client_end(login.uam, &client.state, said(&server), &error));
        for (size_t at = 0; at < server.size; at++) {
            memcpy(message, server.bytes, server.size);
            message[at] ^= (uint8_t)(1U << at % 8);
            struct span reply = {message, server.size};
            check(!uam_client_end(login.uam, &client.state, reply, &error), "byte %zu", at);
            check_error(&error, ERROR_PROTOCOL, rows[i].text);
            uint8_t *block = exact_copy(server.bytes, at);
            check(!uam_client_end(login.uam, &client.state, (struct span){block, at}, &error),
                  "%zu bytes", at);
            free(block);
        }
    }
    struct login login = advance(&uam_dhx2, 2);
    for (size_t at = 0; at < 16; at++) {
        memcpy(message, server.bytes, server.size);
        message[at] ^= 1;
        check(!client_takes(&login, (struct span){message, server.size}), "byte %zu", at);
        check_error(&error, ERROR_PROTOCOL, "answer to the nonce is wrong");
    }
}

/* A source without bytes, at each draw of each side. */
static void no_random_bytes(void **state)
{
    static const struct {
        const struct uam *uam;
        size_t client, server; /* bytes drawn */
    } rows[] = {
        {&uam_randnum, 0, 8},  {&uam_two_way, 8, 8}, {&uam_dhx, 32, 48},
        {&uam_dhx2, 144, 144}, {&uam_srp, 32, 48},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct login login = login_with(rows[i].uam);
        struct script script;
        bool agreed;
        for (size_t size = 0; size < rows[i].client; size += 8) {
            script_write(&script, seq(1, size));
            login.client = &script.source;
            assert_int_equal(converse(&login, &client, &server, &agreed, &error),
                             UAM_VERDICT_COUNT);
            check_error(&error, ERROR_SYSTEM, "no random bytes");
        }
        login.client = NULL;
        for (size_t size = 0; size < rows[i].server; size += 8) {
            script_write(&script, seq(1, size));
            login.server = &script.source;
            assert_int_equal(converse(&login, &client, &server, &agreed, &error), UAM_BROKEN);
        }
    }
}

/* ---- DHX ---- */

static const struct {
    const char *value;
    bool safe;
} dhx_values[] = {
    {"00000000000000000000000000000000", false},
    {"00000000000000000000000000000001", false},
    {"00000000000000000000000000000002", true},
    {"ba2873dfb06057d43f2024744ceee759", true},
    {"ba2873dfb06057d43f2024744ceee75a", false}, /* p - 1 */
    {DHX_PRIME, false},
    {"ba2873dfb06057d43f2024744ceee75c", false},
    {"ffffffffffffffffffffffffffffffff", false},
};

static void dhx_public_values(void **state)
{
    for (size_t i = 0; i < COUNT(dhx_values); i++) {
        char text[200];
        struct login login = advance(&uam_dhx, 1);
        snprintf(text, sizeof text, "%s %s", dhx_values[i].value, seq(0, 32));
        check(client_takes(&login, bytes(text)) == dhx_values[i].safe, "row %zu: %s", i,
              error.message);
        if (!dhx_values[i].safe) {
            check_error(&error, ERROR_PROTOCOL, "DHX: the server's public value");
        }
        login = login_with(&uam_dhx);
        check(server_takes(&login, bytes(dhx_values[i].value)) ==
                  (dhx_values[i].safe ? UAM_CONTINUE : UAM_MALFORMED),
              "row %zu", i);
    }
}

/* ---- DHX2 ---- */

/* A modulus of `size` bytes, odd, with this first byte; its last byte plus `more`. */
static struct span modulus(uint8_t *room, size_t size, uint8_t first, int more)
{
    memset(room, 0x5a, size);
    room[0] = first;
    room[size - 1] = (uint8_t)(0x5b + more);
    return (struct span){room, size};
}

/* The challenge with g, and p and Mb of the same length. */
static struct span dhx2_challenge(uint32_t g, struct span p, struct span Mb)
{
    uint16_t size = (uint16_t)p.size;
    struct wire out = wire_encoder(message, sizeof message);
    assert_int_equal(p.size, Mb.size);
    wire_u32(&out, &g);
    wire_u16(&out, &size);
    wire_bytes(&out, &p, p.size);
    wire_bytes(&out, &Mb, Mb.size);
    assert_true(wire_ok(&out));
    return (struct span){message, out.at};
}

static void dhx2_primes(void **state)
{
    static const struct {
        size_t size;
        uint8_t first;
        int more;
        const char *text; /* NULL: taken */
    } rows[] = {
        {64, 0x80, 0, NULL}, /* 512 bits */
        {64, 0x7f, 0, "the server's prime has 511 bits in 64 bytes"},
        {65, 0x00, 0, "has 511 bits in 65 bytes"}, /* the next byte is 5a */
        {65, 0x01, 0, NULL},
        {1, 0, 0, "has 7 bits in 1 bytes"},
        {16, 0xff, 0, "has 128 bits in 16 bytes, not 512 to 4096"},
        {128, 0x80, 1, "DHX2: the server's prime is an even number"},
        {512, 0xff, 0, NULL}, /* 4096 bits */
        {512, 0x01, 0, NULL},
        {513, 0x01, 0, "has 4097 bits in 513 bytes"},
        {513, 0x00, 0, "bits in 513 bytes"},
        {1000, 0xff, 0, "has 8000 bits"},
    };
    static uint8_t p[1024];
    static uint8_t Mb[1024];
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct login login = advance(&uam_dhx2, 1);
        struct span prime = modulus(p, rows[i].size, rows[i].first, rows[i].more);
        memset(Mb, 0, sizeof Mb);
        Mb[rows[i].size - 1] = 3;
        bool taken = client_takes(&login, dhx2_challenge(2, prime, (struct span){Mb, prime.size}));
        check(taken == (rows[i].text == NULL), "row %zu: %s", i, error.message);
        if (!taken) {
            check_error(&error, ERROR_PROTOCOL, rows[i].text);
        }
    }
    struct login login = advance(&uam_dhx2, 1);
    assert_false(client_takes(&login, bytes("00000002 0000")));
    check_error(&error, ERROR_PROTOCOL, "has 0 bits in 0 bytes");
}

static void dhx2_values(void **state)
{
    static const struct {
        uint32_t g;
        const char *end; /* Mb's last byte; before it are zeros */
        bool of_prime;   /* before it are the prime's bytes */
        const char *text;
    } rows[] = {
        {0, "03", false, "generator is below 2"},
        {1, "03", false, "generator is below 2"},
        {2, "03", false, NULL},
        {UINT32_MAX, "03", false, NULL},
        {2, "00", false, "public value is not within 2 and p-2"},
        {2, "01", false, "public value is not within 2 and p-2"},
        {2, "02", false, NULL},
        {2, "fd", true, NULL}, /* p - 2 */
        {2, "fe", true, "public value is not within 2 and p-2"},
        {2, "ff", true, "public value is not within 2 and p-2"},
    };
    uint8_t p[128];
    uint8_t Mb[128];
    assert_int_equal(bytes_from_text(OAKLEY_2, p, sizeof p), sizeof p);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct login login = advance(&uam_dhx2, 1);
        memcpy(Mb, p, sizeof p);
        if (!rows[i].of_prime) {
            memset(Mb, 0, sizeof Mb);
        }
        bytes_from_text(rows[i].end, Mb + sizeof Mb - 1, 1);
        bool taken = client_takes(&login, dhx2_challenge(rows[i].g, (struct span){p, sizeof p},
                                                         (struct span){Mb, sizeof Mb}));
        check(taken == (rows[i].text == NULL), "row %zu: %s", i, error.message);
        if (!taken) {
            check_error(&error, ERROR_PROTOCOL, rows[i].text);
        }
        /* The server looks at Ma the same way. */
        if (rows[i].g == 2) {
            memcpy(message, Mb, sizeof Mb);
            memset(message + sizeof Mb, 7, 16);
            check(server_takes(&login, (struct span){message, sizeof Mb + 16}) ==
                      (rows[i].text == NULL ? UAM_CONTINUE : UAM_MALFORMED),
                  "row %zu", i);
        }
    }
}

/* ---- SRP ---- */

static void srp_offers(void **state)
{
    static const struct {
        const char *mark, *N, *g, *salt, *B, *text;
    } rows[] = {
#define N_BYTES "00c0" GROUP_1536
#define SALT    "0010 000102030405060708090a0b0c0d0e0f"
        {"0002", N_BYTES, "0001 02", SALT, "0001 03", NULL},
        {"0002", "00c1 00" GROUP_1536, "0004 00000002", SALT, "0002 0003", NULL},
        {"0002", N_BYTES, "0001 02", "0000", "0001 03", NULL},
        {"0002", N_BYTES, "0001 02", "0001 ff", "00c0" OAKLEY_2 OAKLEY_2, "ends too early"},
        {"0001", N_BYTES, "0001 02", SALT, "0001 03", "(number 1, 1536 bits)"},
        {"0003", N_BYTES, "0001 02", SALT, "0001 03", "(number 3, 1536 bits)"},
        {"0002", "0080" OAKLEY_2, "0001 02", SALT, "0001 03", "(number 2, 1024 bits)"},
        {"0002", "0000", "0001 02", SALT, "0001 03", "(number 2, 0 bits)"},
        {"0002", N_BYTES, "0001 05", SALT, "0001 03", "not safe"},
        {"0002", N_BYTES, "0000", SALT, "0001 03", "not safe"},
        {"0002", N_BYTES, "0001 02", SALT, "0000", "B is 0 modulo N"},
        {"0002", N_BYTES, "0001 02", SALT, "0003 000000", "B is 0 modulo N"},
        {"0002", N_BYTES, "0001 02", SALT, N_BYTES, "B is 0 modulo N"},
        {"0002", N_BYTES, "0001 02", SALT, "00c1 01" GROUP_1536, "or above N"},
        {"0002", N_BYTES, "0001 02", SALT, "0100" OAKLEY_2 OAKLEY_2, "or above N"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[2000];
        struct login login = advance(&uam_srp, 1);
        snprintf(text, sizeof text, "%s %s %s %s %s", rows[i].mark, rows[i].N, rows[i].g,
                 rows[i].salt, rows[i].B);
        struct span offer = bytes(text);
        if (i == 3) {
            offer.size = 300; /* the length of B says more than there is */
        }
        bool taken = client_takes(&login, offer);
        check(taken == (rows[i].text == NULL), "row %zu: %s", i, error.message);
        if (!taken) {
            check_error(&error, ERROR_PROTOCOL, rows[i].text);
        }
    }
}

static void srp_answers(void **state)
{
#define M1 "0014 000102030405060708090a0b0c0d0e0f10111213"
    static const struct {
        const char *text;
        enum uam_verdict verdict;
    } rows[] = {
        {"0003 0001 03" M1, UAM_BAD_PROOF},
        {"0003 00c0" GROUP_1536 M1, UAM_MALFORMED},
        {"0003 0000" M1, UAM_MALFORMED},
        {"0003 0001 00" M1, UAM_MALFORMED},
        {"0003 0100" OAKLEY_2 OAKLEY_2 M1, UAM_MALFORMED},
        {"0004 0001 03" M1, UAM_MALFORMED},
        {"0001", UAM_MALFORMED},
        {"0003 0001 03 0000", UAM_MALFORMED},
        {"0003 0001 03 0013 000102030405060708090a0b0c0d0e0f101112", UAM_MALFORMED},
        {"0003 0001 03" M1 "00", UAM_MALFORMED},
    };
    struct login login = advance(&uam_srp, 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        check(server_takes(&login, bytes(rows[i].text)) == rows[i].verdict, "row %zu", i);
    }
    static const char *const begins[] = {"0000", "0002", "0003", "0100", "00010001"};
    for (size_t i = 0; i < COUNT(begins); i++) {
        login = login_with(&uam_srp);
        check(server_takes(&login, bytes(begins[i])) == UAM_MALFORMED, "row %zu", i);
    }
}

/* ---- Anything at all ---- */

/* Random bytes at every step: no answer but an error, and nothing that the sanitizer sees. */
static void noise(void **state)
{
    uint32_t random = 1;
    for (size_t i = 0; i < uam_count; i++) {
        for (unsigned turns = 0; turns < step_count(uam_table[i]); turns++) {
            struct login login = advance(uam_table[i], turns);
            for (unsigned round = 0; round < 200; round++) {
                size_t size = next_random(&random) % 500;
                for (size_t at = 0; at < size; at++) {
                    message[at] = (uint8_t)next_random(&random);
                }
                struct span in = {message, size};
                bool first = turns == 0; /* the client's first step reads nothing */
                bool loose = login.uam == &uam_randnum || login.uam == &uam_two_way ||
                             login.uam == &uam_dhx; /* any eight bytes are a challenge */
                check(client_takes(&login, in) <= (first || loose), "%s", login.uam->name);
                enum uam_verdict verdict = server_takes(&login, in);
                check(login.uam == &uam_guest || verdict != UAM_ACCEPTED, "%s", login.uam->name);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_have_as_many_steps),
        cmocka_unit_test(accepting_too_early),
        cmocka_unit_test(messages_too_many),
        cmocka_unit_test(cut_challenges),
        cmocka_unit_test(cut_answers),
        cmocka_unit_test(flipped_answers),
        cmocka_unit_test(flipped_proofs),
        cmocka_unit_test(no_random_bytes),
        cmocka_unit_test(dhx_public_values),
        cmocka_unit_test(dhx2_primes),
        cmocka_unit_test(dhx2_values),
        cmocka_unit_test(srp_offers),
        cmocka_unit_test(srp_answers),
        cmocka_unit_test(noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
