/* dsi/frame: headers and options, with the live frames of doc/protocol.md 1.4. */
#include "unit.h"

#include "dsi/frame.h"

static void headers(void **state)
{
    static const struct {
        const char *bytes;
        struct dsi_header header;
    } rows[] = {
        {"00 04 0065 00000000 00000006 00000000", {DSI_REQUEST, DSI_OPEN_SESSION, 0x65, 0, 6}},
        {"01 04 0065 00000000 0000000c 00000000", {DSI_REPLY, DSI_OPEN_SESSION, 0x65, 0, 12}},
        {"00 05 0000 00000000 00000000 00000000", {DSI_REQUEST, DSI_TICKLE, 0, 0, 0}},
        {"00 06 ffff 00000014 00100014 00000000",
         {DSI_REQUEST, DSI_WRITE, 0xffff, 20, (1 << 20) + 20}},
        {"01 02 1234 ffffec77 ffffffff 00000000",
         {DSI_REPLY, DSI_COMMAND, 0x1234, 0xffffec77, UINT32_MAX}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t expected[DSI_HEADER_SIZE];
        uint8_t bytes[DSI_HEADER_SIZE];
        assert_int_equal(bytes_from_text(rows[i].bytes, expected, sizeof expected),
                         DSI_HEADER_SIZE);
        dsi_header_encode(bytes, &rows[i].header);
        assert_memory_equal(bytes, expected, sizeof bytes);
        struct dsi_header header = dsi_header_decode(bytes);
        assert_int_equal(header.flags, rows[i].header.flags);
        assert_int_equal(header.command, rows[i].header.command);
        assert_int_equal(header.request_id, rows[i].header.request_id);
        assert_int_equal(header.offset_or_result, rows[i].header.offset_or_result);
        assert_int_equal(header.length, rows[i].header.length);
    }
}

static void the_reserved_field_is_ignored(void **state)
{
    uint8_t bytes[DSI_HEADER_SIZE] = {1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff};
    struct dsi_header header = dsi_header_decode(bytes);
    assert_int_equal(header.length, 5);
    dsi_header_encode(bytes, &header);
    assert_memory_equal(bytes + 12, "\0\0\0\0", 4);
}

static void results(void **state)
{
    static const struct {
        uint32_t raw;
        int32_t result;
        const char *name;
    } rows[] = {
        {0, 0, NULL},
        {0x0000fbd1, -1071, "server busy"}, /* without its sign, as Netatalk sends it */
        {0xfffffbd1, -1071, "server busy"},
        {0x0000fbd4, -1068, "no more sessions"},
        {0x0000fbd2, -1070, "parameter error"},
        {0x0000fb00, -1280, NULL},
        {0x0000fbff, -1025, NULL},
        {0x0000faff, 0xfaff, NULL}, /* outside of DSI's codes: taken as it is */
        {0x0000fc00, 0xfc00, NULL},
        {0x0001fbd1, 0x1fbd1, NULL},
        {0xffffec78, -5000, NULL},
        {0x80000000, INT32_MIN, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct dsi_header header = {.offset_or_result = rows[i].raw};
        int32_t result = dsi_result(&header);
        check(result == rows[i].result, "%08x: %d", rows[i].raw, result);
        const char *name = dsi_result_name(result);
        check((name == NULL) == (rows[i].name == NULL), "%d", result);
        if (name != NULL) {
            assert_string_equal(name, rows[i].name);
        }
    }
}

static void command_names(void **state)
{
    assert_string_equal(dsi_command_name(DSI_COMMAND), "DSICommand");
    assert_string_equal(dsi_command_name(DSI_ATTENTION), "DSIAttention");
    static const uint8_t unknown[] = {0, 7, 9, 255};
    for (size_t i = 0; i < COUNT(unknown); i++) {
        assert_string_equal(dsi_command_name(unknown[i]), "unknown DSI command");
    }
}

/* ---- Options ---- */

static void options_are_written_in_order(void **state)
{
    static const struct {
        struct dsi_options options;
        const char *bytes;
    } rows[] = {
        {{.attention_quantum = 2}, "01 04 00000002"},
        {{.server_quantum = 0x100000, .replay_cache_size = 128}, "00 04 00100000 02 04 00000080"},
        {{0}, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t expected[32];
        uint8_t bytes[32];
        size_t size = bytes_from_text(rows[i].bytes, expected, sizeof expected);
        struct dsi_options options = rows[i].options;
        struct wire out = wire_encoder(bytes, sizeof bytes);
        dsi_options(&out, &options);
        assert_true(wire_ok(&out));
        assert_int_equal(out.at, size);
        assert_memory_equal(bytes, expected, size);
        for (size_t room = 0; room < size; room++) {
            out = wire_encoder(bytes, room);
            dsi_options(&out, &options);
            assert_false(wire_ok(&out));
        }
    }
}

static void options_are_read(void **state)
{
    static const struct {
        const char *bytes;
        bool ok;
        struct dsi_options options;
    } rows[] = {
        {"", true, {false, 0, 0, 0}},
        {"01 04 00000002", true, {false, 0, 2, 0}},
        {"00 04 00100000 02 04 00000080", true, {true, 0x100000, 0, 128}},
        {"02 04 00000080 00 04 00100000", true, {true, 0x100000, 0, 128}},
        {"00 04 00000000", true, {true, 0, 0, 0}},
        {"00 04 00000001 00 04 00000002", true, {true, 2, 0, 0}},
        {"07 03 \"abc\" 00 04 00100000 ff 00", true, {true, 0x100000, 0, 0}},
        {"00", false, {0}},
        {"00 04 001000", false, {0}},
        {"00 04 00100000 02", false, {0}},
        {"00 04 00100000 07 05 \"abc\"", false, {0}},
        {"00 02 1000", false, {0}},
        {"00 08 0010000000100000", false, {0}},
        {"00 06 00100000 0700", false, {0}}, /* its rest is no option of its own */
        {"01 00", false, {0}},
        {"02 05 0000008000", false, {0}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[32];
        size_t size = bytes_from_text(rows[i].bytes, bytes, sizeof bytes);
        uint8_t *block = exact_copy(bytes, size);
        struct dsi_options options;
        struct wire in = wire_decoder(block, size);
        memset(&options, 0xff, sizeof options);
        dsi_options(&in, &options);
        check(wire_ok(&in) == rows[i].ok, "row %zu", i);
        if (rows[i].ok) {
            assert_int_equal(options.has_server_quantum, rows[i].options.has_server_quantum);
            assert_int_equal(options.server_quantum, rows[i].options.server_quantum);
            assert_int_equal(options.attention_quantum, rows[i].options.attention_quantum);
            assert_int_equal(options.replay_cache_size, rows[i].options.replay_cache_size);
        }
        free(block);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers),
        cmocka_unit_test(the_reserved_field_is_ignored),
        cmocka_unit_test(results),
        cmocka_unit_test(command_names),
        cmocka_unit_test(options_are_written_in_order),
        cmocka_unit_test(options_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
