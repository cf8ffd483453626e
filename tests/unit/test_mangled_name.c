/* Names that MacRoman cannot hold, and the replay cache: the pure parts of the server. */
#include "unit.h"

#include "server/mangled_name.h"
#include "server/replay.h"

static void check_mangled(const char *utf8, const char *mac)
{
    uint8_t buffer[AFP_NAME_LIMIT_MAC];
    struct span got = name_mangle(buffer, sizeof buffer, span_from_string(utf8), 0xAB12);
    check(span_is(got, mac), "'%s' became '%.*s'", utf8, (int)got.size, (const char *)got.data);
}

static void names_that_do_not_fit(void **state)
{
    check_mangled("1234567890123456789012345678901", "1234567890123456789012345678901");
    check_mangled("12345678901234567890123456789012", "12345678901234567890123456#AB12");
    check_mangled("a\u4E2D"
                  "b",
                  "a_b#AB12");
    check_mangled("Gro\u0308\u00DFe", "Gr\x9A\xA7\x65");
    assert_int_equal(name_mangled_id(span_from_string("a_b#AB12")), 0xAB12);
    assert_int_equal(name_mangled_id(span_from_string("a_b#AG12")), 0);
    assert_int_equal(name_mangled_id(span_from_string("ab12")), 0);
    assert_int_equal(name_mangled_id(span_from_string("x#123456789")), 0);
}

static void volume_names_are_shorter(void **state)
{
    uint8_t buffer[AFP_NAME_LIMIT_MAC];
    struct span name = span_from_string("this is a very long volume name of thirty");
    struct span got = name_mangle(buffer, AFP_VOLUME_NAME_LIMIT_MAC, name, 5);
    assert_true(span_is(got, "this is a very long volum#5")); /* as Netatalk 4.5.1 lists it */
}

static void replay(void **state)
{
    static struct replay_cache cache;
    static const uint8_t payload[9] = {1, 2, 3, 4};
    assert_null(replay_find(&cache, 0, 0));
    replay_store(&cache, 5, AFP_CREATE_DIRECTORY, -7, (struct span){payload, 4});
    const struct replay_entry *entry = replay_find(&cache, 5, AFP_CREATE_DIRECTORY);
    assert_non_null(entry);
    assert_int_equal(entry->result, -7);
    assert_memory_equal(entry->payload, payload, 4);
    assert_null(replay_find(&cache, 5, AFP_DELETE)); /* and that cleared the slot */
    assert_null(replay_find(&cache, 5, AFP_CREATE_DIRECTORY));
    replay_store(&cache, 6, AFP_DELETE, 0, (struct span){0});
    replay_forget(&cache, 6 + 128);
    assert_null(replay_find(&cache, 6, AFP_DELETE));
    replay_store(&cache, 7, AFP_DELETE, 0, (struct span){payload, 9});
    assert_null(replay_find(&cache, 7, AFP_DELETE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_do_not_fit),
        cmocka_unit_test(volume_names_are_shorter),
        cmocka_unit_test(replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
