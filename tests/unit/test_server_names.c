/* Names in MacRoman and UTF-8, and the replay cache: the pure parts of the server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/names.h"
#include "server/replay.h"

#include <stdio.h>
#include <string.h>

static void check_mac(const char *utf8, const char *mac)
{
    uint8_t buffer[AFP_NAME_LIMIT_MAC];
    struct span got = name_to_mac(buffer, span_from_string(utf8), 0xAB12);
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)got.size, (const char *)got.data);
    assert_string_equal(text, mac);
}

static void every_mac_character_returns(void **state)
{
    (void)state;
    for (unsigned i = 1; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        uint8_t buffer[AFP_NAME_LIMIT_MAC];
        struct name_buffer name;
        assert_true(name_from_mac(&name, (struct span){&byte, 1}));
        struct span back = name_to_mac(buffer, (struct span){name.bytes, name.size}, 1);
        assert_int_equal(back.size, 1);
        assert_int_equal(back.data[0], i);
    }
}

static void names_that_do_not_fit(void **state)
{
    (void)state;
    check_mac("1234567890123456789012345678901", "1234567890123456789012345678901");
    check_mac("12345678901234567890123456789012", "12345678901234567890123456#AB12");
    check_mac("a\xE4\xB8\xAD"
              "b",
              "a_b#AB12");
    assert_int_equal(name_mangled_id(span_from_string("a_b#AB12")), 0xAB12);
    assert_int_equal(name_mangled_id(span_from_string("a_b#AG12")), 0);
    assert_int_equal(name_mangled_id(span_from_string("ab12")), 0);
    assert_int_equal(name_mangled_id(span_from_string("x#123456789")), 0);
    struct name_buffer name;
    assert_false(name_from_mac(&name, span_from_string("12345678901234567890123456789012")));
}

static void replay(void **state)
{
    (void)state;
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
        cmocka_unit_test(every_mac_character_returns),
        cmocka_unit_test(names_that_do_not_fit),
        cmocka_unit_test(replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
