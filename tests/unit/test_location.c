/* tools/location: where a server is, as people write it (-h). */
#include "unit.h"

#include "cli/location.h"

static void understands(void **state)
{
    static const struct {
        const char *text;
        struct location location;
    } rows[] = {
        {"name", {.host = "name"}},
        {"nas.example.org", {.host = "nas.example.org"}},
        {"192.0.2.1", {.host = "192.0.2.1"}},
        {"::1", {.host = "::1"}},
        {"[::1]", {.host = "::1"}},
        {"2001:db8::1", {.host = "2001:db8::1"}},
        {"fe80::1%eth0", {.host = "fe80::1%eth0"}},
        {"[fe80::1%eth0]", {.host = "fe80::1%eth0"}},
        {"afp://host", {.host = "host"}},
        {"afp://host/", {.host = "host"}},
        {"AFP://host/vol", {.host = "host", .volume = "vol"}},
        {"afp://host/vol/", {.host = "host", .volume = "vol"}},
        {"afp://host:1548/vol", {.host = "host", .port = 1548, .volume = "vol"}},
        {"afp://host:1", {.host = "host", .port = 1}},
        {"afp://host:65535", {.host = "host", .port = 65535}},
        {"afp://joe@host/vol", {.host = "host", .user = "joe", .volume = "vol"}},
        {"afp://joe@host:548/vol", {.host = "host", .port = 548, .user = "joe", .volume = "vol"}},
        {"afp://@host/vol", {.host = "host", .volume = "vol"}},
        {"afp://[::1]/vol", {.host = "::1", .volume = "vol"}},
        {"afp://joe@[fe80::1%eth0]:549/vol",
         {.host = "fe80::1%eth0", .port = 549, .user = "joe", .volume = "vol"}},
        {"afp://j%6fe%40home@host/Time%20Machine",
         {.host = "host", .user = "joe@home", .volume = "Time Machine"}},
        {"afp://host/a%2Fb", {.host = "host", .volume = "a/b"}},
        {"afp://host/100%25", {.host = "host", .volume = "100%"}},
        {"afp://host/a:b@c", {.host = "host", .volume = "a:b@c"}},
        {"afp://joe%3Ay@host", {.host = "host", .user = "joe:y"}},
        {"afp://joe;AUTH=DHX2@host/vol",
         {.host = "host", .user = "joe", .login = "DHX2", .volume = "vol"}},
        {"afp://;auth=No%20User%20Authent@host:1/vol",
         {.host = "host", .port = 1, .login = "No User Authent", .volume = "vol"}},
        {"afp://joe;AUTH=*@[::1]", {.host = "::1", .user = "joe", .login = "*"}},
        {"afp://joe%3BAUTH=x@host", {.host = "host", .user = "joe;AUTH=x"}},
        {"afp://[fe80::1%25eth0]/vol", {.host = "fe80::1%eth0", .volume = "vol"}},
        {"afp://[fe80::1%25en%2D1]:5", {.host = "fe80::1%en-1", .port = 5}},
        {"afp://[fe80::1%25]", {.host = "fe80::1%25"}}, /* the 25th interface */
        {"[fe80::1%25eth0]", {.host = "fe80::1%eth0"}},
        {"afp://host/caf%C3%A9", {.host = "host", .volume = "caf\xC3\xA9"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct location location;
        struct error error;
        memset(&location, 0xff, sizeof location);
        check(location_parse(rows[i].text, &location, &error), "'%s': %s", rows[i].text,
              error.message);
        assert_string_equal(location.host, rows[i].location.host);
        assert_string_equal(location.user, rows[i].location.user);
        assert_string_equal(location.login, rows[i].location.login);
        assert_string_equal(location.volume, rows[i].location.volume);
        check(location.port == rows[i].location.port, "'%s': port %u", rows[i].text, location.port);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {"", "not a host name"},
        {"host/vol", "not a host name"},
        {"smb://host/vol", "not a host name"},
        {"host:548", "the port goes to -p: -h 'host' -p 548"},
        {"192.0.2.1:10548", "the port goes to -p: -h '192.0.2.1' -p 10548"},
        {"[::1]:10548", "the port goes to -p: -h '[::1]' -p 10548"},
        {"host:afp", "the port goes to -p"},
        {"host:65536", "not an address"},
        {"[::1]:x", "follows the bracket"},
        {"[::1]x", "follows the bracket"},
        {"[::1", "a bracket is not closed"},
        {"[]", "no host"},
        {"afp://", "no host"},
        {"afp:///vol", "no host"},
        {"afp://joe@/vol", "no host"},
        {"afp://:548/vol", "no host"},
        {"afp://[::1/vol", "bracket"},
        {"afp://[]/vol", "no host"},
        {"afp://[::1]x/vol", "no port"},
        {"afp://host:/vol", "port '' is not"},
        {"afp://host:0/vol", "port '0' is not a whole number from 1 to 65535"},
        {"afp://host:65536/vol", "port '65536' is not"},
        {"afp://host:-1", "port '-1' is not"},
        {"afp://host:548x", "port '548x' is not"},
        {"afp://host:99999999999", "no port"},
        {"afp://fe80::1/vol", "port"},
        {"afp://host/vol/sub", "no volume name"},
        {"afp://host/a%2", "no volume name"},
        {"afp://host/a%", "no volume name"},
        {"afp://host/a%zz", "no volume name"},
        {"afp://host/a%00b", "no volume name"},
        {"afp://j%2@host/vol", "user name"},
        {"afp://joe;AUTH=@host/vol", ";AUTH="},
        {"afp://joe;AUTH@host/vol", ";AUTH="},
        {"afp://joe;TOKEN=x@host/vol", ";AUTH="},
        {"afp://joe;AUTH=%zz@host/vol", ";AUTH="},
        {"afp://[fe80::1%25%zz]/vol", "no host"},
        {"afp://j%00@host/vol", "user name"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct location location;
        struct error error;
        check(!location_parse(rows[i].text, &location, &error), "'%s' is taken", rows[i].text);
        check_error(&error, ERROR_USAGE, rows[i].message);
    }
}

/* Other users see the argument list, and logs keep messages: neither may hold a password. */
static void never_shows_a_password(void **state)
{
    static const char *const urls[] = {
        "afp://joe:hunter2@host/vol",
        "afp://joe:hunter2@host:548",
        "afp://joe:hun%ter2@host",
        "afp://joe:hunter2@",
        "afp://:hunter2@host/vol",
        "afp://joe:hunter2:x@host/vol",
        "afp://joe:x@hunter2@host/vol",
        "afp://joe:hunter2/x@host/vol",
        "afp://joe:x/hunter2@host/vol",
        "joe:hunter2@host",
        "joe:hunter2@host/vol",
        "afp://joe;AUTH=DHX2:hunter2@host",
        "afp://joe:hunter2;AUTH=DHX2@host",
        "afp://joe:1/hunter2@host/vol/",
        "afp://joe:12/hunter2/x@host",
    };
    for (size_t i = 0; i < COUNT(urls); i++) {
        struct location location;
        struct error error;
        check(!location_parse(urls[i], &location, &error), "'%s' is taken", urls[i]);
        check(error.domain == ERROR_USAGE, "'%s'", urls[i]);
        check(strstr(error.message, "hunter2") == NULL, "'%s': %s", urls[i], error.message);
    }
    struct location location;
    struct error error;
    assert_false(location_parse("afp://joe:hunter2@host/vol", &location, &error));
    check_error(&error, ERROR_USAGE, "--password-file or AFP_PASSWORD");
}

/* Each part up to its buffer's size, and not one character more. */
static void long_parts(void **state)
{
    static const struct {
        const char *before, *after;
    } forms[] = {{"", ""},         {"[", "]"},          {"afp://", ""},   {"afp://", "@h"},
                 {"afp://h/", ""}, {"afp://h/%41", ""}, {"afp://[", "]"}, {"afp://", ":1/vol"}};
    for (size_t f = 0; f < COUNT(forms); f++) {
        for (size_t length = 250; length < 260; length++) {
            char text[400];
            char name[300];
            struct location location;
            struct error error;
            memset(name, 'n', length);
            name[length] = '\0';
            strcpy(text, forms[f].before);
            strcat(text, name);
            strcat(text, forms[f].after);
            size_t whole = length + (strstr(forms[f].before, "%41") != NULL);
            check(location_parse(text, &location, &error) == (whole <= 255), "form %zu, %zu", f,
                  length);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(understands),
        cmocka_unit_test(refuses),
        cmocka_unit_test(never_shows_a_password),
        cmocka_unit_test(long_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
