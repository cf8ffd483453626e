/* The login methods step by step: the vectors of doc/protocol.md appendix B on both sides, then
 * client against server with all kinds of names and passwords. */
#include "uam_fixture.h"

#include <stdio.h>

#define USER     "afpchk"
#define PASSWORD "secretpw"

static const struct uam *const with_password[] = {&uam_srp,     &uam_dhx2,    &uam_dhx,
                                                  &uam_two_way, &uam_randnum, &uam_cleartext};

static struct script client_random, server_random;
static struct side client, server;
static struct error error;

/* A login of the vectors' user with these random bytes. */
static struct login vector(const struct uam *uam, const char *client_bytes,
                           const char *server_bytes)
{
    client = server = (struct side){0};
    script_write(&client_random, client_bytes);
    script_write(&server_random, server_bytes);
    return (struct login){
        uam, USER, PASSWORD, USER, PASSWORD, &client_random.source, &server_random.source};
}

static void client_says(const struct login *login, const char *text, const char *what)
{
    check(client_step(login, &client, said(&server), &error), "%s: %s", what, error.message);
    if (text != NULL) {
        expect_said(&client, text, what);
    }
}

static void server_says(const struct login *login, enum uam_verdict verdict, const char *text,
                        const char *what)
{
    enum uam_verdict given = server_step(login, &server, said(&client));
    check(given == verdict, "%s: verdict %d, not %d", what, (int)given, (int)verdict);
    if (text != NULL) {
        expect_said(&server, text, what);
    }
}

static void client_agrees(const struct login *login)
{
    check(uam_client_end(login->uam, &client.state, said(&server), &error), "%s", error.message);
}

/* ---- Appendix B ---- */

static void randnum(void **state)
{
    struct login login = vector(&uam_randnum, "", seq(0, 8));
    client_says(&login, "", "name");
    server_says(&login, UAM_CONTINUE, "0001020304050607", "challenge");
    client_says(&login, "e9ffea1e6dd55c23", "answer");
    server_says(&login, UAM_ACCEPTED, "", "end");
    client_agrees(&login);
}

static void two_way(void **state)
{
    struct login login = vector(&uam_two_way, seq(8, 8), seq(0, 8));
    client_says(&login, "", "name");
    server_says(&login, UAM_CONTINUE, "0001020304050607", "challenge");
    client_says(&login, "cd1b13c2401c813d 08090a0b0c0d0e0f", "answer");
    server_says(&login, UAM_ACCEPTED, "39cdf40406e1c7f4", "answer to the client");
    client_agrees(&login);
}

/* Exponents whose public value or key begins with a zero byte were looked for, and their messages
 * computed, with another program (Python's integers, OpenSSL's CAST5). */
static void dhx(void **state)
{
    static const struct {
        const char *a_end; /* the last two bytes of a; the others count up from 1 */
        const char *Ma, *sealed_nonce, *sealed_password;
    } rows[] = {
        {"1f20", "9e86549d55222e64a9b93684c13a4021",
         "d545e04718b31a4d45145ad3a1ce463c9f10f47699089e9b5f770639c9deee59",
         "71727f637b3cce288c37b8f6566e19d6771bd643485f4be1168c324fda69dc0f"
         "d00be7d8b496140721d7720fc6cefa5faaa3535264047d1af9b93a21ae4d580b"
         "7fb9c3befea7a6fc0c47bfe9b4d61c06"},
        {"0044", "00dc7f8da7555a13b0d3304de3c5a869", /* Ma begins with a zero */
         "d92d7f44918c63ffa29d98ecfd6d9ca0fd7a9418baa5f965a045a4566340a846",
         "6e92cadd9339a22a3de61cb7b647f37f742cdd1c811116470d0c3e3f442ae31d"
         "1a71df1cc6fe5ec9e783be37383aed04e6b9698fb40fe7eabe29ba73a49b1f4b"
         "b598e4a0c41acfefb5f963e81045861b"},
        {"0031", "312785baa4efe149807961e69f4a4a17", /* K does */
         "9a187577c64808cdc484d936e276ceda4dbc76b72b6029b3428d8ea431b3607e",
         "3c8b43bc66196afcba6f4b66b5ea42a0bdde0b944c7faddc48da4bb116a3b639"
         "d3d7beb37bcb128eca7eb0b8dc4eba985bc3bf76237bf7943193c7f38654304c"
         "f700197884bde56e0519f878fd93308e"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char a[80], random[120], challenge[120];
        snprintf(a, sizeof a, "%s %s", seq(1, 30), rows[i].a_end);
        snprintf(random, sizeof random, "%s %s", seq(0x21, 32), seq(0, 16));
        snprintf(challenge, sizeof challenge, "659c259164e46a7c52bdc373c75bcf5f %s",
                 rows[i].sealed_nonce);
        struct login login = vector(&uam_dhx, a, random);
        client_says(&login, rows[i].Ma, "Ma");
        server_says(&login, UAM_CONTINUE, challenge, "Mb and nonce");
        client_says(&login, rows[i].sealed_password, "password");
        server_says(&login, UAM_ACCEPTED, "", "end");
        client_agrees(&login);
    }
}

static void dhx2(void **state)
{
    static const struct {
        const char *a_end; /* the last two bytes */
        const char *sha1_of_Ma, *sealed_nonce;
    } rows[] = {
        {"7f80", "39c9c0ce4b2c0c42ff16ef4ac89cef1baa2b025b", "d8351219e599d737ac406e3fbbfb542d"},
        /* the shared secret begins with a zero: K is the hash of all 128 bytes */
        {"0120", "6bb85a900efe83ad4cd22b06fb66f1f24bb378c5", "9e492c2fd6146af860012447e27656aa"},
    };
    uint8_t wanted[16];
    for (size_t i = 0; i < COUNT(rows); i++) {
        char a[320], b[320];
        snprintf(a, sizeof a, "%s %s %s", seq(1, 126), rows[i].a_end, seq(0, 16));
        snprintf(b, sizeof b, "%s %s", seq(0x80, 128), seq(0xf0, 16));
        struct login login = vector(&uam_dhx2, a, b);
        client_says(&login, "", "name");
        server_says(&login, UAM_CONTINUE, NULL, "group");
        assert_int_equal(server.size, 4 + 2 + 128 + 128); /* 264 with the ID */
        expect_sha1((struct span){server.bytes + 134, 128},
                    "30d996c14765fac85a17ab7697c85e84a5d13f76", "Mb");
        server.size = 134;
        expect_said(&server, "00000002 0080" OAKLEY_2, "g, length and p");
        server.size = 4 + 2 + 128 + 128;

        client_says(&login, NULL, "Ma and nonce");
        assert_int_equal(client.size, 128 + 16);
        expect_sha1((struct span){client.bytes, 128}, rows[i].sha1_of_Ma, "Ma");
        bytes_from_text(rows[i].sealed_nonce, wanted, sizeof wanted);
        assert_memory_equal(client.bytes + 128, wanted, 16);

        server_says(&login, UAM_CONTINUE,
                    i == 0 ? "1249fa8df9234a863f3201faa496e35dce72bc85a5c0553176e4588dafcfac0e"
                           : NULL,
                    "nonces");
        client_says(&login, NULL, "password");
        assert_int_equal(client.size, 272);
        if (i == 0) {
            expect_sha1(said(&client), "1884df2efbce8f645a0051ca45b1cb4b6698f646", "password");
            bytes_from_text("9415123aaade080ab913fd98a6461f56", wanted, sizeof wanted);
            assert_memory_equal(client.bytes, wanted, 16);
            bytes_from_text("7856233eb2ac098b81307c11023c2a6e", wanted, sizeof wanted);
            assert_memory_equal(client.bytes + 16, wanted, 16);
            bytes_from_text("afba83c3b8270550705d4d529ce9c397", wanted, sizeof wanted);
            assert_memory_equal(client.bytes + 256, wanted, 16);
        }
        server_says(&login, UAM_ACCEPTED, "", "end");
        client_agrees(&login);
    }
}

/* Messages of the rows without an appendix were computed with another program (Python). */
static void srp(void **state)
{
    static const char zero_A[] = "0004"; /* the end of an a whose A begins with a zero byte */
    static const char zero_B[] = "0009"; /* the same of a b */
    static const struct {
        const char *user, *password;
        const char *a_end; /* the last two bytes of a; the others count up from 1 */
        const char *M1, *M2;
    } rows[] = {
        {USER, PASSWORD, "1f20", "7e56ea42e21d968230ec9cc1b16b7760774ca380",
         "0c647f1401eda9e62f735616daf525d781876e39"},
        {USER, PASSWORD, "003d", /* S begins with a zero byte, which is left out of K */
         "f4d9fab9421340ca545a956b064a0ad33827ce0c", "f0cc3289dc53c7c2ac31b9a92752b46441849489"},
        {"zo\xc3\xab", "p\xc3\xa4\x35\x35 w\xc3\xb6rd", "1f20",
         "4314c48c3ab00185d06d7a846198d75d482584f9", "1e70419010f46564d9499c225137762de670fdce"},
        {USER, "", "1f20", "f31e771da58c115375574109d987267b237b9025", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char a[160], b[200], proof[100];
        /* public values with a leading zero byte are dropped, by both sides */
        snprintf(a, sizeof a, "%s %s %s %s", seq(1, 30), zero_A, seq(1, 30), rows[i].a_end);
        snprintf(b, sizeof b, "%s %s %s %s", seq(0, 16), i == 0 ? seq(0x21, 30) : "",
                 i == 0 ? zero_B : "", seq(0x21, 32));
        struct login login = vector(&uam_srp, a, b);
        login.user = login.known_user = rows[i].user;
        login.password = login.known_password = rows[i].password;
        client_says(&login, "0001", "begin");
        server_says(&login, UAM_CONTINUE, NULL, "offer");
        assert_int_equal(server.size, 411); /* 413 with the context */
        if (i == 0) {
            expect_sha1((struct span){server.bytes + 219, 192},
                        "805a6f78748db2c848e2e3b4cbcaf5edd5c95a71", "B");
        }
        server.size = 219;
        snprintf(a, sizeof a, "%s", seq(0, 16));
        char offer[600];
        snprintf(offer, sizeof offer, "0002 00c0 %s 0001 02 0010 %s 00c0", GROUP_1536, a);
        expect_said(&server, offer, "N, g, salt");
        server.size = 411;

        client_says(&login, NULL, "A and M1");
        assert_int_equal(client.size, 2 + 2 + 192 + 2 + 20);
        if (i == 0) {
            expect_sha1((struct span){client.bytes + 4, 192},
                        "4215854f0ccaae2ce867243bfa7c0db48af8af1b", "A");
        }
        struct side proof_only = {.size = 22};
        memcpy(proof_only.bytes, client.bytes + 196, 22);
        snprintf(proof, sizeof proof, "0014 %s", rows[i].M1);
        expect_said(&proof_only, proof, "M1");
        snprintf(proof, sizeof proof, "0004 0014 %s", rows[i].M2 != NULL ? rows[i].M2 : "");
        server_says(&login, UAM_ACCEPTED, rows[i].M2 != NULL ? proof : NULL, "M2");
        client_agrees(&login);
    }
}

/* 64 values with a leading zero byte in a row are no chance: the source is broken. */
static void srp_gives_up(void **state)
{
    static char many[64 * 66 + 1];
    for (size_t i = 0; i < 16; i++) {
        snprintf(many + strlen(many), sizeof many - strlen(many), "%s0004", seq(1, 30));
    }
    struct login login = vector(&uam_srp, many, "");
    login.server = NULL;
    client_says(&login, "0001", "begin");
    server_says(&login, UAM_CONTINUE, NULL, "offer");
    assert_false(client_step(&login, &client, said(&server), &error));
    check_error(&error, ERROR_SYSTEM, "random");
}

/* ---- Client against server ---- */

static struct login agreed_login(const struct uam *uam, const char *user, const char *password)
{
    return (struct login){uam, user, password, user, password, NULL, NULL};
}

static void expect_verdict(const struct login *login, enum uam_verdict wanted)
{
    bool agreed;
    enum uam_verdict verdict = converse(login, &client, &server, &agreed, &error);
    check(verdict == wanted, "%s, '%s' with '%s': verdict %d, not %d", login->uam->name,
          login->user, login->password, (int)verdict, (int)wanted);
    check(agreed == (wanted == UAM_ACCEPTED), "%s: the client does not agree: %s", login->uam->name,
          error.message);
}

static void names_and_passwords(void **state)
{
    static char long_name[256];
    memset(long_name, 'n', 255);
    const char *const users[] = {"joe", "", "zo\xc3\xab", "\x8e\xff\x80:", long_name};
    const char *const passwords[] = {"", "x", "secretpw", "\xff\xfe\x80\x01\x7f\xc3\xa4",
                                     "p\xc3\xa4"};
    for (size_t i = 0; i < COUNT(with_password); i++) {
        for (size_t u = 0; u < COUNT(users); u++) {
            for (size_t p = 0; p < COUNT(passwords); p++) {
                struct login login = agreed_login(with_password[i], users[u], passwords[p]);
                expect_verdict(&login, UAM_ACCEPTED);
            }
        }
    }
    struct login guest = agreed_login(&uam_guest, "", "");
    expect_verdict(&guest, UAM_ACCEPTED);
}

/* Random numbers of all kinds: leading zeros of every value among them. */
static void many_logins(void **state)
{
    for (size_t i = 0; i < 600; i++) {
        struct login login = agreed_login(&uam_dhx, USER, PASSWORD);
        expect_verdict(&login, UAM_ACCEPTED);
    }
}

static void passwords_of_every_length(void **state)
{
    static const struct {
        const struct uam *uam;
        size_t limit;
    } rows[] = {
        {&uam_cleartext, 8}, {&uam_randnum, 8}, {&uam_two_way, 8}, {&uam_dhx, 64}, {&uam_dhx2, 256},
    };
    char password[400] = "";
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t limit = rows[i].limit;
        assert_int_equal(rows[i].uam->password_limit, limit);
        memset(password, 'p', sizeof password);
        password[limit] = '\0';
        struct login login = agreed_login(rows[i].uam, USER, password);
        struct uam_credentials credentials = {USER, password, NULL};
        expect_verdict(&login, UAM_ACCEPTED);
        assert_true(uam_password_fits(rows[i].uam, &credentials, &error));
        /* One more: not carried, and what is carried of it is not it. */
        password[limit] = 'p';
        password[limit + 1] = '\0';
        char text[40];
        snprintf(text, sizeof text, "at most %zu", limit);
        assert_false(uam_password_fits(rows[i].uam, &credentials, &error));
        check_error(&error, ERROR_LIMIT, text);
        snprintf(text, sizeof text, "has %zu bytes", limit + 1);
        check_error(&error, ERROR_LIMIT, text);
        bool agreed;
        assert_int_equal(converse(&login, &client, &server, &agreed, &error), UAM_VERDICT_COUNT);
        check_error(&error, ERROR_LIMIT, "longer than");
        char shorter[400];
        snprintf(shorter, sizeof shorter, "%.*s", (int)limit, password);
        login.password = shorter;
        expect_verdict(&login, UAM_REFUSED);
    }
    memset(password, 'p', sizeof password);
    password[sizeof password - 1] = '\0';
    struct uam_credentials credentials = {USER, password, NULL};
    assert_true(uam_password_fits(&uam_srp, &credentials, &error));
    assert_true(uam_password_fits(&uam_guest, &credentials, &error));
    struct login login = agreed_login(&uam_srp, USER, password);
    expect_verdict(&login, UAM_ACCEPTED);
}

static void wrong_names_and_passwords(void **state)
{
    static const char *const wrong[] = {"", "secretp", "secretpx", "Secretpw", "secretp\xf7"};
    for (size_t i = 0; i < COUNT(with_password); i++) {
        const struct uam *uam = with_password[i];
        for (size_t j = 0; j < COUNT(wrong); j++) {
            struct login login = agreed_login(uam, USER, PASSWORD);
            login.password = wrong[j];
            /* DES leaves bit 0 of each byte out, and the shift of 2-Way bit 7 (4.4, 4.5). */
            bool same = uam == &uam_two_way && j == 4;
            enum uam_verdict refused = uam == &uam_srp ? UAM_BAD_PROOF : UAM_REFUSED;
            expect_verdict(&login, same ? UAM_ACCEPTED : refused);
        }
        struct login login = agreed_login(uam, USER, PASSWORD);
        login.known_user = "somebody";
        expect_verdict(&login, UAM_REFUSED);
    }
    struct login login = agreed_login(&uam_randnum, USER, PASSWORD);
    login.password = "rdbsduqv"; /* each with bit 0 the other way */
    expect_verdict(&login, UAM_ACCEPTED);
}

/* ---- What is left of a login ---- */

/* After the last step the state holds no key, exponent or nonce; what SRP's and 2-Way's client
 * still expect is the server's public answer. */
static void states_after_the_login(void **state)
{
    static const struct uam_state zeros;
    for (size_t i = 0; i < COUNT(with_password); i++) {
        struct login login = agreed_login(with_password[i], USER, PASSWORD);
        expect_verdict(&login, UAM_ACCEPTED);
        if (login.uam == &uam_dhx || login.uam == &uam_dhx2) {
            assert_memory_equal(client.state.data, zeros.data, UAM_STATE_LIMIT);
        }
        if (login.uam == &uam_srp || login.uam == &uam_dhx || login.uam == &uam_dhx2) {
            assert_memory_equal(server.state.data, zeros.data, UAM_STATE_LIMIT);
        }
        if (login.uam == &uam_srp) {
            assert_memory_equal(client.state.data, server.bytes + 4, SHA1_SIZE);
            assert_memory_equal(client.state.data + SHA1_SIZE, zeros.data,
                                UAM_STATE_LIMIT - SHA1_SIZE);
        }
        uam_state_wipe(&client.state);
        uam_state_wipe(&server.state);
        assert_memory_equal(&client.state, &zeros, sizeof zeros);
        assert_memory_equal(&server.state, &zeros, sizeof zeros);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(randnum),
        cmocka_unit_test(two_way),
        cmocka_unit_test(dhx),
        cmocka_unit_test(dhx2),
        cmocka_unit_test(srp),
        cmocka_unit_test(srp_gives_up),
        cmocka_unit_test(names_and_passwords),
        cmocka_unit_test(many_logins),
        cmocka_unit_test(passwords_of_every_length),
        cmocka_unit_test(wrong_names_and_passwords),
        cmocka_unit_test(states_after_the_login),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
