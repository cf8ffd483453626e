/* afp/server_info: the description of a server, from the live one of doc/protocol.md 2.1 to those
 * of servers that know fewer fields, cut or broken ones. */
#include "unit.h"

#include "afp/afp.h"
#include "afp/server_info.h"

#define LIMIT 1024

#define ZEROS_32 "0000000000000000000000000000000000000000000000000000000000000000"

/* 2.1: 471 bytes of Netatalk 4.5.1; the icon is zeros here, and the signature counts. */
static size_t live_bytes(uint8_t bytes[LIMIT])
{
    return bytes_from_text(
        "001c 002a 0055 00b2 8f79 09\"chkserver\" 01b2 01c2 01cb 01cc"
        "| 0d\"Netatalk4.5.1\""
        "| 06 06\"AFP2.2\" 06\"AFPX03\" 06\"AFP3.1\" 06\"AFP3.2\" 06\"AFP3.3\" 06\"AFP3.4\""
        "| 07 03\"SRP\" 16\"2-Way Randnum exchange\" 10\"Randnum exchange\" 0f\"No User Authent\""
        " 04\"DHX2\" 09\"DHCAST128\" 10\"Cleartxt Passwrd\"" ZEROS_32 ZEROS_32 ZEROS_32 ZEROS_32
            ZEROS_32 ZEROS_32 ZEROS_32 ZEROS_32
        "| 000102030405060708090a0b0c0d0e0f | 01 08 02 7f000001 176f | 00 | 0009 \"chkserver\"",
        bytes, LIMIT);
}

static void check_list(const struct afp_info_list *list, const char *const *names, size_t count)
{
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++) {
        check(span_is(list->items[i], names[i]), "'%.*s' is not '%s'", (int)list->items[i].size,
              (const char *)list->items[i].data, names[i]);
    }
}

static void netatalk(void **state)
{
    static const char *const versions[] = {"AFP2.2", "AFPX03", "AFP3.1",
                                           "AFP3.2", "AFP3.3", "AFP3.4"};
    static const char *const uams[] = {
        "SRP",       "2-Way Randnum exchange", "Randnum exchange", "No User Authent", "DHX2",
        "DHCAST128", "Cleartxt Passwrd"};
    uint8_t bytes[LIMIT];
    size_t size = live_bytes(bytes);
    assert_int_equal(size, 471);
    struct afp_server_info info;
    struct wire in = wire_decoder(bytes, size);
    afp_server_info(&in, &info);
    assert_true(wire_ok(&in));
    assert_int_equal(info.flags, 0x8f79);
    assert_true(span_is(info.server_name, "chkserver"));
    assert_true(span_is(info.machine_type, "Netatalk4.5.1"));
    check_list(&info.versions, versions, COUNT(versions));
    check_list(&info.uams, uams, COUNT(uams));
    assert_int_equal(info.signature.size, 16);
    assert_int_equal(info.signature.data[15], 15);
    assert_true(span_is(info.utf8_name, "chkserver"));
    assert_int_equal(info.addresses.count, 1);
    assert_int_equal(info.addresses.items[0].size, 7);
    assert_memory_equal(info.addresses.items[0].data, "\x02\x7f\0\0\1\x17\x6f", 7);
}

/* ---- Cut and broken ones ---- */

/* Decodes from a block of exactly that size, and looks at every byte of what was found. */
static bool decode(const uint8_t *bytes, size_t size)
{
    static uint8_t again[1 << 16];
    uint8_t *block = exact_copy(bytes, size);
    struct afp_server_info info;
    struct wire in = wire_decoder(block, size);
    afp_server_info(&in, &info);
    struct wire out = wire_encoder(again, sizeof again);
    afp_server_info(&out, &info);
    assert_true(in.at <= size);
    free(block);
    return wire_ok(&in);
}

static void never_reads_past_a_cut(void **state)
{
    uint8_t bytes[LIMIT];
    size_t size = live_bytes(bytes);
    assert_true(decode(bytes, size));
    for (size_t cut = 0; cut < size; cut++) {
        check(!decode(bytes, cut), "taken for whole with %zu bytes", cut);
    }
}

static void survives_broken_bytes(void **state)
{
    uint32_t random = 1;
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[LIMIT];
        size_t size = live_bytes(bytes);
        for (uint32_t k = next_random(&random) % 4 + 1; k > 0; k--) {
            uint32_t limit = next_random(&random) % 2 != 0 ? 28 : (uint32_t)size;
            bytes[next_random(&random) % limit] = (uint8_t)next_random(&random);
        }
        decode(bytes, size);
    }
}

/* A server may claim a signature and give none: then its offset is 0, also when encoded again. */
static void a_signature_that_is_not_there(void **state)
{
    uint8_t bytes[LIMIT];
    uint8_t again[LIMIT];
    size_t size = live_bytes(bytes);
    assert_memory_equal(bytes + 20, "\x01\xb2", 2);
    memset(bytes + 20, 0, 2);
    struct afp_server_info info;
    struct wire in = wire_decoder(bytes, size);
    afp_server_info(&in, &info);
    assert_true(wire_ok(&in));
    assert_true((info.flags & AFP_SERVER_SIGNATURE) != 0);
    assert_int_equal(info.signature.size, 0);
    struct wire out = wire_encoder(again, sizeof again);
    afp_server_info(&out, &info);
    assert_true(wire_ok(&out));
    assert_memory_equal(again + 20, "\0\0", 2);
    in = wire_decoder(again, out.at);
    afp_server_info(&in, &info);
    assert_true(wire_ok(&in));
    assert_int_equal(info.signature.size, 0);
    assert_int_equal(info.addresses.count, 1);
    assert_true(span_is(info.utf8_name, "chkserver"));
}

/* An address counts its own length byte, so 0 cannot be. */
static void an_address_of_no_length(void **state)
{
    uint8_t bytes[LIMIT];
    size_t size = live_bytes(bytes);
    assert_int_equal(bytes[0x1c3], 8);
    bytes[0x1c3] = 0;
    assert_false(decode(bytes, size));
    bytes[0x1c3] = 1;
    assert_true(decode(bytes, size));
}

static void long_lists_are_cut(void **state)
{
    uint8_t bytes[LIMIT];
    size_t size = bytes_from_text("0010 0000 0000 0000 0020 01\"s\" 0000 0000 | 03\"abc\" 14",
                                  bytes, sizeof bytes);
    bytes[3] = (uint8_t)(size - 1); /* versions: 20 of them */
    bytes[5] = (uint8_t)(size - 1); /* UAMs: the same list */
    bytes[15] = (uint8_t)(size + 40);
    for (uint8_t i = 0; i < 20; i++) {
        bytes[size++] = 1;
        bytes[size++] = (uint8_t)('a' + i);
    }
    bytes[size++] = 20; /* addresses */
    for (uint8_t i = 0; i < 20; i++) {
        bytes[size++] = 2;
        bytes[size++] = i;
    }
    struct afp_server_info info;
    struct wire in = wire_decoder(bytes, size);
    afp_server_info(&in, &info);
    assert_true(wire_ok(&in));
    assert_int_equal(info.versions.count, AFP_INFO_LIST_LIMIT);
    assert_true(span_is(info.versions.items[AFP_INFO_LIST_LIMIT - 1], "p"));
    assert_int_equal(info.addresses.count, AFP_INFO_LIST_LIMIT);
    for (uint8_t i = 0; i < AFP_INFO_LIST_LIMIT; i++) {
        assert_int_equal(info.addresses.items[i].size, 1);
        assert_int_equal(info.addresses.items[i].data[0], i);
    }
}

/* ---- Servers that know fewer fields ---- */

static void foreign_servers(void **state)
{
    static const struct {
        const char *bytes;
        const char *signature; /* "": none */
        const char *utf8_name;
        uint8_t addresses;
    } rows[] = {
        /* no trailing offsets at all: the machine type follows at once */
        {"000c 0010 0012 0000 0003 01\"s\" | 03\"Mac\" | 01 00 | 00", "", "", 0},
        /* the offset of the signature only */
        {"000e 0012 0013 0000 0013 01\"s\" 0014 | 03\"Mac\" | 00 | 00 | \"sixteen bytes ok\"",
         "sixteen bytes ok", "", 0},
        /* flags say no signature, so what stands in its place means nothing */
        {"0010 0014 0015 0000 0023 01\"s\" ffff 0016 | 03\"Mac\" | 00 | 00 | 01 06 01 7f000001", "",
         "", 1},
        /* a flag, but an offset of 0: none */
        {"0014 0018 0019 0000 0330 01\"s\" 0000 0000 0000 0000 | 03\"Mac\" | 00 | 00", "", "", 0},
        /* an odd name is padded, and only the UTF-8 name is there */
        {"0016 001a 001b 0000 0200 02\"se\" 00 0000 0000 0000 001c | 03\"Mac\" | 00 | 00 "
         "| 0002\"se\"",
         "", "se", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[128];
        size_t size = bytes_from_text(rows[i].bytes, bytes, sizeof bytes);
        uint8_t *block = exact_copy(bytes, size);
        struct afp_server_info info;
        struct wire in = wire_decoder(block, size);
        afp_server_info(&in, &info);
        check(wire_ok(&in), "row %zu", i);
        check(span_is(info.machine_type, "Mac"), "row %zu", i);
        check(span_is(info.signature, rows[i].signature), "row %zu", i);
        check(span_is(info.utf8_name, rows[i].utf8_name), "row %zu", i);
        check(info.addresses.count == rows[i].addresses, "row %zu", i);
        free(block);
    }
}

/* ---- Our own ---- */

static void round_trip(void **state)
{
    static const uint16_t flag_sets[] = {0, AFP_SERVER_TCP, 0x0239, 0x8f79};
    static const char *const server_names[] = {"odd", "even"};
    for (size_t i = 0; i < COUNT(flag_sets) * COUNT(server_names); i++) {
        uint8_t bytes[LIMIT];
        uint8_t again[LIMIT];
        struct afp_server_info info = {
            .flags = flag_sets[i / COUNT(server_names)],
            .server_name = span_from_string(server_names[i % COUNT(server_names)]),
            .machine_type = span_from_string("afpbench"),
            .versions = {2, {span_from_string("AFP2.2"), span_from_string("AFP3.4")}},
            .uams = {1, {span_from_string("No User Authent")}},
            .signature = span_from_string("0123456789abcdef"),
            .utf8_name = span_from_string("Grüße"),
            .addresses = {2,
                          {{(const uint8_t *)"\x01\x7f\0\0\1", 5}, span_from_string("\x04host")}},
        };
        struct wire out = wire_encoder(bytes, sizeof bytes);
        afp_server_info(&out, &info);
        assert_true(wire_ok(&out));
        assert_true(out.at < 512); /* 2.1: for ancient clients */

        uint8_t *block = exact_copy(bytes, out.at);
        struct wire in = wire_decoder(block, out.at);
        afp_server_info(&in, &info);
        assert_true(wire_ok(&in));
        assert_true(span_is(info.machine_type, "afpbench"));
        bool has_name = (info.flags & AFP_SERVER_UTF8_NAME) != 0;
        assert_true(span_is(info.utf8_name, has_name ? "Grüße" : ""));
        assert_int_equal(info.addresses.count, (info.flags & AFP_SERVER_TCP) != 0 ? 2 : 0);

        struct wire second = wire_encoder(again, sizeof again);
        afp_server_info(&second, &info);
        assert_int_equal(second.at, out.at);
        assert_memory_equal(again, bytes, out.at);
        for (size_t room = 0; room < out.at; room++) {
            uint8_t *small = malloc(room);
            second = wire_encoder(small, room);
            afp_server_info(&second, &info);
            assert_false(wire_ok(&second));
            free(small);
        }
        free(block);
    }
}

/* An address with its length byte has 255 bytes at most. */
static void addresses_too_long_to_encode(void **state)
{
    static uint8_t long_address[512];
    static const struct {
        size_t size;
        bool ok;
    } rows[] = {{254, true}, {255, false}, {256, false}, {300, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[LIMIT];
        struct afp_server_info info = {.flags = AFP_SERVER_TCP,
                                       .addresses = {1, {{long_address, rows[i].size}}}};
        struct wire out = wire_encoder(bytes, sizeof bytes);
        afp_server_info(&out, &info);
        check(wire_ok(&out) == rows[i].ok, "%zu bytes", rows[i].size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(netatalk),
        cmocka_unit_test(never_reads_past_a_cut),
        cmocka_unit_test(survives_broken_bytes),
        cmocka_unit_test(a_signature_that_is_not_there),
        cmocka_unit_test(an_address_of_no_length),
        cmocka_unit_test(long_lists_are_cut),
        cmocka_unit_test(foreign_servers),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(addresses_too_long_to_encode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
