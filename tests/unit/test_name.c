/* afp/name: MacRoman, composed and decomposed UTF-8, limits (doc/protocol.md 3.1). */
#include "unit.h"

#include "afp/name.h"

#include <stdio.h>

static struct span text(const char *string)
{
    return span_from_string(string);
}

/* ---- MacRoman ---- */

/* Apple's table, by hand from the published mapping: byte and character for one byte of each row
 * and for those that are often got wrong. */
static void characters_of_the_table(void **state)
{
    static const struct {
        uint8_t byte;
        const char *composed;
    } rows[] = {
        {0x41, "A"},      {0x7F, "\x7F"},   {0x80, "\u00C4"}, {0x81, "\u00C5"}, {0x8A, "\u00E4"},
        {0x9A, "\u00F6"}, {0x9F, "\u00FC"}, {0xA0, "\u2020"}, {0xA7, "\u00DF"}, {0xAD, "\u2260"},
        {0xB5, "\u00B5"}, {0xB6, "\u2202"}, {0xBD, "\u03A9"}, {0xC5, "\u2248"}, {0xCA, "\u00A0"},
        {0xD7, "\u25CA"}, {0xD9, "\u0178"}, {0xDB, "\u20AC"}, {0xDE, "\uFB01"}, {0xE5, "\u00C2"},
        {0xF0, "\uF8FF"}, {0xF5, "\u0131"}, {0xFF, "\u02C7"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct name_buffer name, composed;
        assert_true(name_from_mac(&name, (struct span){&rows[i].byte, 1}));
        assert_true(name_compose(&composed, name_span(&name)));
        check(span_is(name_span(&composed), rows[i].composed), "byte 0x%02X", rows[i].byte);
    }
}

static void every_byte_returns(void **state)
{
    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        uint8_t back[2];
        struct name_buffer name, composed;
        bool exact;
        assert_true(name_from_mac(&name, (struct span){&byte, 1}));
        assert_int_equal(name_to_mac(back, sizeof back, name_span(&name), &exact), 1);
        check(exact && back[0] == byte, "0x%02X came back as 0x%02X", i, back[0]);
        assert_true(name_compose(&composed, name_span(&name)));
        assert_int_equal(name_to_mac(back, sizeof back, name_span(&composed), &exact), 1);
        check(exact && back[0] == byte, "0x%02X came back as 0x%02X", i, back[0]);
    }
}

static void what_mac_lacks(void **state)
{
    uint8_t mac[8];
    bool exact;
    assert_int_equal(name_to_mac(mac, sizeof mac, text("a\u65E5z"), &exact), 3);
    assert_false(exact);
    assert_memory_equal(mac, "a_z", 3);
    assert_int_equal(name_to_mac(mac, sizeof mac, text("12345678"), &exact), 8);
    assert_true(exact);
    assert_int_equal(name_to_mac(mac, sizeof mac, text("123456789"), &exact), 8);
    assert_false(exact);
    assert_int_equal(name_to_mac(mac, sizeof mac, text("\xC3"), &exact), 0);
    assert_false(exact);
}

/* ---- Forms ---- */

/* Netatalk 4.5.1 lists and finds names in just these forms. */
static void forms(void **state)
{
    static const struct {
        const char *given, *decomposed, *composed;
    } rows[] = {
        {"", "", ""},
        {"plain", "plain", "plain"},
        {"Gr\u00F6\u00DFe", "Gro\u0308\u00DFe", "Gr\u00F6\u00DFe"},
        {"Gro\u0308\u00DFe", "Gro\u0308\u00DFe", "Gr\u00F6\u00DFe"},
        {"\u00C5ngstr\u00F6m\u2260", "A\u030Angstro\u0308m\u2260", "\u00C5ngstr\u00F6m\u2260"},
        /* two marks: both orders are the same name */
        {"a\u0301\u0323", "a\u0323\u0301", "\u1EA1\u0301"},
        {"\u1EA5", "a\u0302\u0301", "\u1EA5"},
        {"\uD55C", "\u1112\u1161\u11AB", "\uD55C"},
        /* what Macs leave alone */
        {"\u212BK", "\u212BK", "\u212BK"},
        {"\u00E9\u2126\u00E9", "e\u0301\u2126e\u0301", "\u00E9\u2126\u00E9"},
        {"\uF900", "\uF900", "\uF900"},
        {"\U0002F800", "\U0002F800", "\U0002F800"},
        {"x=\u0338y", "x=\u0338y", "x=\u0338y"},
        {"<\u0338>\u0338", "<\u0338>\u0338", "<\u0338>\u0338"},
        {"\u2203\u0338", "\u2203\u0338", "\u2203\u0338"},
        {"\u65E5\u672C", "\u65E5\u672C", "\u65E5\u672C"},
        {"\U0001F600", "\U0001F600", "\U0001F600"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct name_buffer name;
        assert_true(name_decompose(&name, text(rows[i].given)));
        check(span_is(name_span(&name), rows[i].decomposed), "row %zu: '%.*s'", i, (int)name.size,
              (const char *)name.bytes);
        assert_true(name_compose(&name, text(rows[i].given)));
        check(span_is(name_span(&name), rows[i].composed), "row %zu: '%.*s'", i, (int)name.size,
              (const char *)name.bytes);
    }
}

static void equality(void **state)
{
    assert_true(name_equals(text("Gr\u00F6\u00DFe"), text("Gro\u0308\u00DFe")));
    assert_true(name_equals(text("a\u0301\u0323"), text("\u1EA1\u0301")));
    assert_false(name_equals(text("Gr\u00F6\u00DFe"), text("Gro\u00DFe")));
    assert_false(name_equals(text("\u2260"), text("=\u0338")));
    assert_false(name_equals(text("\u212B"), text("\u00C5")));
    assert_false(name_equals(text("a"), text("A")));
    assert_false(name_equals(text("\xFF"), text("\xFF"))); /* not UTF-8: no name */
}

static void not_utf8(void **state)
{
    static const char *const rows[] = {
        "\xC3",           "a\x80",        "\xC0\x80",         "\xE2\x82",
        "\xED\xA0\x80",   "\xE0\x80\xAF", "\xF5\x80\x80\x80", "\xF4\x90\x80\x80",
        "Gr\x9A\xA7\x65", "\xFF",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct name_buffer name;
        struct error error;
        size_t size = strlen(rows[i]);
        uint8_t *bytes = exact_copy(rows[i], size);
        check(!name_decompose(&name, (struct span){bytes, size}), "row %zu", i);
        check(!name_compose(&name, (struct span){bytes, size}), "row %zu", i);
        free(bytes);
        assert_false(name_encode(&name, rows[i], NAME_OF_FILE, AFP_3_4, &error));
        check_error(&error, ERROR_USAGE, "is not UTF-8");
    }
}

/* ---- Limits ---- */

/* `count` times `part`. */
static const char *repeat(char *buffer, const char *part, size_t count)
{
    buffer[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        strcat(buffer, part);
    }
    return buffer;
}

static void limits(void **state)
{
    static const struct {
        const char *part;
        size_t count;
        enum name_use use;
        enum afp_version version;
        size_t size; /* 0: refused */
        const char *message;
    } rows[] = {
        {"n", 31, NAME_OF_FILE, AFP_2_1, 31, NULL},
        {"n", 32, NAME_OF_FILE, AFP_2_1, 0, "32 bytes in MacRoman, and AFP 2.1 takes 31"},
        {"\u00F6", 31, NAME_OF_FILE, AFP_2_2, 31, NULL},
        {"o\u0308", 31, NAME_OF_FILE, AFP_2_2, 31, NULL},
        {"\u00F6", 32, NAME_OF_FILE, AFP_2_2, 0, "32 bytes in MacRoman, and AFP 2.2 takes 31"},
        {"\u00F6", 27, NAME_OF_VOLUME, AFP_2_2, 27, NULL},
        {"\u00F6", 28, NAME_OF_VOLUME, AFP_2_2, 0, "the volume name"},
        {"n", 255, NAME_OF_USER, AFP_2_2, 255, NULL},
        {"n", 256, NAME_OF_USER, AFP_2_2, 0, "longer than the 255 bytes"},
        {"n", 255, NAME_OF_FILE, AFP_3_0, 255, NULL},
        {"n", 256, NAME_OF_FILE, AFP_3_0, 0, "longer than the 255 bytes"},
        {"u\u0308", 85, NAME_OF_FILE, AFP_3_4, 255, NULL},
        {"\u00FC", 85, NAME_OF_FILE, AFP_3_4, 255, NULL},
        {"\u00FC", 86, NAME_OF_FILE, AFP_3_4, 0, "longer than the 255 bytes"},
        {"\u1F82", 31, NAME_OF_FILE, AFP_3_4, 248, NULL}, /* one character into four */
        {"\u1F82", 85, NAME_OF_FILE, AFP_3_4, 0, "longer than the 255 bytes"},
        {"\u0390", 127, NAME_OF_FILE, AFP_3_4, 0, "longer than the 255 bytes"},
        {"\u65E5", 1, NAME_OF_FILE, AFP_3_0, 3, NULL},
        {"\u65E5", 1, NAME_OF_FILE, AFP_2_2, 0, "MacRoman lacks, and AFP 2.2 has no other"},
        {"\u65E5", 1, NAME_OF_USER, AFP_2_1, 0, "the user name '\u65E5'"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[1024];
        struct name_buffer encoded;
        struct error error;
        repeat(name, rows[i].part, rows[i].count);
        bool taken = name_encode(&encoded, name, rows[i].use, rows[i].version, &error);
        check(taken == (rows[i].size > 0), "row %zu", i);
        if (taken) {
            check(encoded.size == rows[i].size, "row %zu: %zu bytes", i, encoded.size);
        } else {
            check_error(&error, ERROR_USAGE, rows[i].message);
        }
    }
}

/* 255 bytes of MacRoman, as a hostile server may send them, are longer in UTF-8. */
static void long_mac_names(void **state)
{
    uint8_t mac[255];
    struct name_buffer name;
    memset(mac, 0x8A, sizeof mac);
    assert_true(name_from_mac(&name, (struct span){mac, 85}));
    assert_int_equal(name.size, 255);
    assert_false(name_from_mac(&name, (struct span){mac, 86}));
    assert_false(name_from_mac(&name, (struct span){mac, sizeof mac}));
}

/* Whatever comes: decomposing what was composed gives the same, and nothing is overrun. */
static void random_names(void **state)
{
    static const char *const parts[] = {"a",      "=",      "\u0338", "\u0308", "\u0323", "\u00E4",
                                        "\u212B", "\u2260", "\u1F82", "\uAC01", "\u11A8", "\uFB01",
                                        "\xC3",   "\u0345", "\u0390", "\u20D0", "\u0958", "\u65E5"};
    uint32_t seed = 7;
    size_t valid = 0;
    for (size_t i = 0; i < 20000; i++) {
        char given[400] = "";
        size_t count = next_random(&seed) % 24;
        for (size_t k = 0; k < count; k++) {
            strcat(given, parts[next_random(&seed) % COUNT(parts)]);
        }
        struct name_buffer decomposed, composed, again;
        if (!name_decompose(&decomposed, text(given))) {
            continue;
        }
        valid++;
        assert_true(name_compose(&composed, text(given)));
        check(name_decompose(&again, name_span(&composed)) &&
                  span_equals(name_span(&again), name_span(&decomposed)),
              "'%s'", given);
        check(name_compose(&again, name_span(&decomposed)) &&
                  span_equals(name_span(&again), name_span(&composed)),
              "'%s'", given);
    }
    assert_true(valid > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_of_the_table),
        cmocka_unit_test(every_byte_returns),
        cmocka_unit_test(what_mac_lacks),
        cmocka_unit_test(forms),
        cmocka_unit_test(equality),
        cmocka_unit_test(not_utf8),
        cmocka_unit_test(limits),
        cmocka_unit_test(long_mac_names),
        cmocka_unit_test(random_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
