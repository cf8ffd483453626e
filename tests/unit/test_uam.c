/* uam: choosing a method, and both sides of guest and clear-text logins (doc/protocol.md 4). */
#include "afp/login_method.h"
#include "uam_fixture.h"

#include <errno.h>

static struct error error;

/* ---- Choosing ---- */

#define LISTED 7

static struct afp_info_list list_of(const char *const names[LISTED])
{
    struct afp_info_list list = {0};
    for (size_t i = 0; i < LISTED && names[i] != NULL; i++) {
        list.items[list.count++] = span_from_string(names[i]);
    }
    return list;
}

static void chooses_the_strongest(void **state)
{
    static const struct {
        const char *offered[LISTED];
        const struct uam *chosen; /* NULL: none */
    } rows[] = {
        {{"No User Authent", "Cleartxt Passwrd"}, &uam_cleartext},
        {{"Cleartxt Passwrd", "No User Authent"}, &uam_cleartext},
        {{"CLEARTXT PASSWRD"}, &uam_cleartext},
        {{"Kerberos", "Cleartxt Passwrd"}, &uam_cleartext},
        {{"Cleartxt Passwrd", "Randnum exchange"}, &uam_randnum},
        {{"Randnum Exchange", "2-Way Randnum exchange"}, &uam_two_way},
        {{"Randnum Exchange", "2-way randnum"}, &uam_two_way},
        {{"2-Way Randnum", "DHCAST128"}, &uam_dhx},
        {{"DHX2", "DHCAST128"}, &uam_dhx2},
        {{"SRP", "2-Way Randnum exchange", "Randnum exchange", "No User Authent", "DHX2",
          "DHCAST128", "Cleartxt Passwrd"},
         &uam_srp},                  /* Netatalk's list (2.1) */
        {{"No User Authent"}, NULL}, /* never chosen for a person */
        {{"Cleartxt Passwr"}, NULL},
        {{"Kerberos", "Recon1"}, NULL},
        {{""}, NULL},
        {{NULL}, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct afp_server_info info = {.uams = list_of(rows[i].offered)};
        const struct uam *chosen = &uam_guest;
        bool ok = login_method_choose(&chosen, &info, &error);
        check(ok == (rows[i].chosen != NULL), "row %zu", i);
        check(chosen == rows[i].chosen, "row %zu", i);
    }
}

static void names_both_lists_when_none_fits(void **state)
{
    struct afp_server_info info = {.uams =
                                       list_of((const char *const[LISTED]){"Kerberos", "Recon1"})};
    const struct uam *chosen;
    assert_false(login_method_choose(&chosen, &info, &error));
    check_error(&error, ERROR_LIMIT, "the server takes Kerberos, Recon1;");
    check_error(&error, ERROR_LIMIT,
                "this program has SRP, DHX2, DHCAST128, 2-Way Randnum exchange, Randnum exchange, "
                "Cleartxt Passwrd");
    assert_int_equal(error.remedy, REMEDY_GUEST);
    info.uams.count = 0;
    assert_false(login_method_choose(&chosen, &info, &error));
    check_error(&error, ERROR_LIMIT, "the server takes none;");
}

/* A server's names may hold what a terminal obeys; UTF-8 stays as it is. */
static void control_characters_in_names(void **state)
{
    struct afp_server_info info = {
        .uams = list_of((const char *const[LISTED]){"A\nB\x1b[2J", "C\x7f\xc3\xa4\t"})};
    const struct uam *chosen;
    assert_false(login_method_choose(&chosen, &info, &error));
    check_error(&error, ERROR_LIMIT, "the server takes A?B?[2J, C?\xc3\xa4?;");
    error_prefix(&error, "a\rb");
    check_error(&error, ERROR_LIMIT, "a?b: no login method");
    error_set_errno(&error, ENOENT, "'x\ny'");
    check_error(&error, ERROR_SYSTEM, "'x?y': No such file");
}

/* Long lists are cut in the message, never written past its end. */
static void long_lists(void **state)
{
    static uint8_t name[255];
    memset(name, 'x', sizeof name);
    struct afp_server_info info = {.uams = {.count = AFP_INFO_LIST_LIMIT}};
    for (size_t i = 0; i < AFP_INFO_LIST_LIMIT; i++) {
        info.uams.items[i] = (struct span){name, sizeof name};
    }
    const struct uam *chosen;
    assert_false(login_method_choose(&chosen, &info, &error));
    check_error(&error, ERROR_LIMIT, "xxxx");
}

static void finds_by_name_and_option(void **state)
{
    assert_ptr_equal(uam_by_name(span_from_string("no user authent")), &uam_guest);
    assert_null(uam_by_name(span_from_string("guest")));
    assert_null(uam_by_name(span_from_string("No User Authen")));
    assert_null(uam_by_name(span_from_string("No User Authent ")));
    assert_null(uam_by_name((struct span){0}));
    assert_ptr_equal(uam_by_option("GUEST"), &uam_guest);
    assert_ptr_equal(uam_by_option("cleartxt"), &uam_cleartext);
    assert_null(uam_by_option(""));
    assert_null(uam_by_option("auto"));
    for (size_t i = 0; i < uam_count; i++) {
        const struct uam *uam = uam_table[i];
        assert_true(i == 0 || uam_table[i - 1]->rank > uam->rank);
        assert_ptr_equal(uam_by_name(span_from_string(uam->name)), uam);
        assert_ptr_equal(uam_by_option(uam->option), uam);
    }
    char words[100] = "";
    uam_append_options(", ", words, sizeof words);
    assert_string_equal(words, "srp, dhx2, dhx, 2way, randnum, cleartxt, guest");
}

/* 4.1: to a server goes the name that it lists, to the letter. */
static void names_as_the_server_lists_them(void **state)
{
    struct afp_server_info info = {
        .uams = list_of((const char *const[LISTED]){"dhx2", "2-WAY RANDNUM", "RandNum Exchange"})};
    assert_true(span_is(login_method_name(&uam_dhx2, &info), "dhx2"));
    assert_true(span_is(login_method_name(&uam_two_way, &info), "2-WAY RANDNUM"));
    assert_true(span_is(login_method_name(&uam_randnum, &info), "RandNum Exchange"));
    assert_true(span_is(login_method_name(&uam_srp, &info), "SRP"));
}

/* ---- The server's passwords ---- */

static const char *find_password(void *context, struct span user)
{
    return span_is(user, "joe")     ? "secret"
           : span_is(user, "eight") ? "secretpw"
           : span_is(user, "long")  ? "secretpw9"
           : span_is(user, "empty") ? ""
                                    : NULL;
}

static const struct uam_directory directory = {.password = find_password};

/* ---- Guest ---- */

static void guest(void **state)
{
    static const struct login login = {.uam = &uam_guest, .user = ""};
    struct side client;
    struct side server;
    bool agreed;
    assert_int_equal(converse(&login, &client, &server, &agreed, &error), UAM_ACCEPTED);
    assert_true(agreed);
    assert_int_equal(client.size + server.size, 0);
}

/* ---- Clear text ---- */

static void cleartext_bytes(void **state)
{
    static const char *const rows[][2] = {
        {"", "000000000000000000"},
        {"secret", "\"secret\" 000000"},
        {"secretpw", "\"secretpw\" 00"}, /* FPLoginExt wants one byte more than the eight */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct login login = {.uam = &uam_cleartext, .user = "joe", .password = rows[i][0]};
        struct side client = {0};
        assert_true(client_step(&login, &client, (struct span){0}, &error));
        expect_said(&client, rows[i][1], rows[i][0]);
    }
    assert_int_equal(uam_cleartext.password_limit, 8);
    assert_true(uam_cleartext.needs_password);
}

static void cleartext_verdicts(void **state)
{
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
        const struct uam *uam = &uam_cleartext;
        check(uam_server_turn(uam, &server, &directory, user, in, &out) == rows[i].verdict,
              "row %zu", i);
        assert_int_equal(out.at, 0);
        check(uam_server_turn(uam, &server, &directory, user, in, &out) == UAM_MALFORMED,
              "row %zu: a second message", i);
        free(block);
    }
}

static void wiping(void **state)
{
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
        cmocka_unit_test(control_characters_in_names),
        cmocka_unit_test(long_lists),
        cmocka_unit_test(finds_by_name_and_option),
        cmocka_unit_test(names_as_the_server_lists_them),
        cmocka_unit_test(guest),
        cmocka_unit_test(cleartext_bytes),
        cmocka_unit_test(cleartext_verdicts),
        cmocka_unit_test(wiping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
