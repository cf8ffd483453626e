/* uam: choosing a method, and both sides of guest and clear-text logins (doc/protocol.md 4). */
#include "unit.h"

#include "uam/uam.h"

static const struct uam_credentials nobody = {"", ""};

/* ---- Choosing ---- */

static struct afp_info_list list_of(const char *const names[3])
{
    struct afp_info_list list = {0};
    for (size_t i = 0; i < 3 && names[i] != NULL; i++) {
        list.items[list.count++] = span_from_string(names[i]);
    }
    return list;
}

static void chooses_the_strongest(void **state)
{
    (void)state;
    static const struct {
        const char *offered[3];
        const struct uam *chosen; /* NULL: none */
    } rows[] = {
        {{"No User Authent", "Cleartxt Passwrd"}, &uam_cleartext},
        {{"Cleartxt Passwrd", "No User Authent"}, &uam_cleartext},
        {{"CLEARTXT PASSWRD"}, &uam_cleartext},
        {{"Kerberos", "Cleartxt Passwrd"}, &uam_cleartext},
        {{"No User Authent"}, NULL}, /* never chosen for a person */
        {{"Cleartxt Passwr"}, NULL},
        {{"Kerberos", "Recon1"}, NULL},
        {{""}, NULL},
        {{NULL}, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct afp_server_info info = {.uams = list_of(rows[i].offered)};
        const struct uam *chosen = &uam_guest;
        struct error error;
        bool ok = uam_choose(&chosen, &info, &error);
        check(ok == (rows[i].chosen != NULL), "row %zu", i);
        check(chosen == rows[i].chosen, "row %zu", i);
    }
}

static void names_both_lists_when_none_fits(void **state)
{
    (void)state;
    struct afp_server_info info = {.uams = list_of((const char *const[3]){"Kerberos", "Recon1"})};
    const struct uam *chosen;
    struct error error;
    assert_false(uam_choose(&chosen, &info, &error));
    check_error(&error, ERROR_LIMIT, "the server takes Kerberos, Recon1;");
    check_error(&error, ERROR_LIMIT, "Cleartxt Passwrd");
    info.uams.count = 0;
    assert_false(uam_choose(&chosen, &info, &error));
    check_error(&error, ERROR_LIMIT, "the server takes none;");
}

/* Long lists are cut in the message, never written past its end. */
static void long_lists(void **state)
{
    (void)state;
    static uint8_t name[255];
    memset(name, 'x', sizeof name);
    struct afp_server_info info = {.uams = {.count = AFP_INFO_LIST_LIMIT}};
    for (size_t i = 0; i < AFP_INFO_LIST_LIMIT; i++) {
        info.uams.items[i] = (struct span){name, sizeof name};
    }
    const struct uam *chosen;
    struct error error;
    assert_false(uam_choose(&chosen, &info, &error));
    check_error(&error, ERROR_LIMIT, "xxxx");
}

static void finds_by_name_and_option(void **state)
{
    (void)state;
    assert_ptr_equal(uam_by_name(span_from_string("no user authent")), &uam_guest);
    assert_null(uam_by_name(span_from_string("guest")));
    assert_null(uam_by_name((struct span){0}));
    assert_ptr_equal(uam_by_option("GUEST"), &uam_guest);
    assert_ptr_equal(uam_by_option("cleartxt"), &uam_cleartext);
    assert_null(uam_by_option(""));
    assert_null(uam_by_option("auto"));
    for (size_t i = 1; i < uam_count; i++) {
        assert_true(uam_table[i - 1]->rank >= uam_table[i]->rank);
    }
}

/* ---- The server's passwords ---- */

static const char *find_password(void *context, struct span user)
{
    (void)context;
    return span_is(user, "joe")     ? "secret"
           : span_is(user, "eight") ? "secretpw"
           : span_is(user, "long")  ? "secretpw9"
           : span_is(user, "empty") ? ""
                                    : NULL;
}

static const struct uam_directory directory = {find_password, NULL};

/* ---- Guest ---- */

static void guest(void **state)
{
    (void)state;
    uint8_t bytes[8];
    struct uam_state client = {0};
    struct uam_state server = {0};
    struct error error;
    struct wire out = wire_encoder(bytes, sizeof bytes);
    assert_true(uam_guest.client_step(&client, &nobody, (struct span){0}, &out, &error));
    assert_int_equal(out.at, 0);
    struct span none = {0};
    assert_int_equal(uam_guest.server_step(&server, &directory, none, none, &out), UAM_ACCEPTED);
    assert_int_equal(uam_guest.server_step(&server, &directory, none, none, &out), UAM_MALFORMED);
    assert_false(uam_guest.client_step(&client, &nobody, span_from_string("?"), &out, &error));
    check_error(&error, ERROR_PROTOCOL, "guest");
}

/* ---- Clear text ---- */

static void cleartext_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *password;
        const char *bytes;
    } rows[] = {
        {"", "000000000000000000"},
        {"secret", "\"secret\" 000000"},
        {"secretpw", "\"secretpw\" 00"}, /* FPLoginExt wants one byte more than the eight */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t expected[16];
        uint8_t bytes[16];
        size_t size = bytes_from_text(rows[i].bytes, expected, sizeof expected);
        struct uam_credentials credentials = {"joe", rows[i].password};
        struct uam_state state_of_client = {0};
        struct error error;
        struct wire out = wire_encoder(bytes, sizeof bytes);
        assert_true(uam_cleartext.client_step(&state_of_client, &credentials, (struct span){0},
                                              &out, &error));
        assert_true(wire_ok(&out));
        assert_int_equal(out.at, size);
        assert_memory_equal(bytes, expected, size);
        assert_false(uam_cleartext.client_step(&state_of_client, &credentials,
                                               span_from_string("?"), &out, &error));
        check_error(&error, ERROR_PROTOCOL, "challenge");
    }
    assert_int_equal(uam_cleartext.password_limit, 8);
    assert_true(uam_cleartext.needs_password);
}

static void cleartext_verdicts(void **state)
{
    (void)state;
    static const struct {
        const char *user;
        const char *bytes;
        enum uam_verdict verdict;
    } rows[] = {
        {"joe", "\"secret\" 0000", UAM_ACCEPTED},      {"joe", "\"secret\" 000000", UAM_ACCEPTED},
        {"joe", "\"secret\" 0001", UAM_REFUSED},       {"joe", "\"secreT\" 0000", UAM_REFUSED},
        {"joe", "\"secre\" 000000", UAM_REFUSED},      {"joe", "0000000000000000", UAM_REFUSED},
        {"joe", "\"secret\" 00", UAM_MALFORMED},       {"joe", "", UAM_MALFORMED},
        {"eight", "\"secretpw\"", UAM_ACCEPTED},       {"eight", "\"secretpx\"", UAM_REFUSED},
        {"long", "\"secretpw\"", UAM_REFUSED}, /* eight bytes do not prove nine */
        {"long", "\"secretpw9\"", UAM_REFUSED},        {"empty", "0000000000000000", UAM_ACCEPTED},
        {"empty", "\"x\"00000000000000", UAM_REFUSED}, {"who", "\"secret\" 0000", UAM_REFUSED},
        {"", "0000000000000000", UAM_REFUSED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[16];
        size_t size = bytes_from_text(rows[i].bytes, bytes, sizeof bytes);
        uint8_t *block = exact_copy(bytes, size);
        struct uam_state server = {0};
        struct wire out = wire_encoder(bytes, sizeof bytes);
        struct span in = {block, size};
        struct span user = span_from_string(rows[i].user);
        check(uam_cleartext.server_step(&server, &directory, user, in, &out) == rows[i].verdict,
              "row %zu", i);
        assert_int_equal(out.at, 0);
        check(uam_cleartext.server_step(&server, &directory, user, in, &out) == UAM_MALFORMED,
              "row %zu: a second message", i);
        free(block);
    }
}

/* What the client says, the server understands, for every length that the method carries. */
static void both_sides_agree(void **state)
{
    (void)state;
    static const char *const users[][2] = {{"joe", "secret"}, {"eight", "secretpw"}, {"empty", ""}};
    for (size_t i = 0; i < COUNT(users); i++) {
        uint8_t bytes[UAM_MESSAGE_LIMIT];
        struct uam_credentials credentials = {users[i][0], users[i][1]};
        struct uam_state client = {0};
        struct uam_state server = {0};
        struct error error;
        struct wire out = wire_encoder(bytes, sizeof bytes);
        struct wire none = wire_encoder(NULL, 0);
        assert_true(
            uam_cleartext.client_step(&client, &credentials, (struct span){0}, &out, &error));
        struct span in = {bytes, out.at};
        assert_int_equal(uam_cleartext.server_step(&server, &directory,
                                                   span_from_string(users[i][0]), in, &none),
                         UAM_ACCEPTED);
    }
}

static void wiping(void **state)
{
    (void)state;
    static const struct uam_state zeros;
    struct uam_state secret;
    memset(&secret, 0xff, sizeof secret);
    uam_state_wipe(&secret);
    assert_memory_equal(&secret, &zeros, sizeof secret);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_the_strongest),
        cmocka_unit_test(names_both_lists_when_none_fits),
        cmocka_unit_test(long_lists),
        cmocka_unit_test(finds_by_name_and_option),
        cmocka_unit_test(guest),
        cmocka_unit_test(cleartext_bytes),
        cmocka_unit_test(cleartext_verdicts),
        cmocka_unit_test(both_sides_agree),
        cmocka_unit_test(wiping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
