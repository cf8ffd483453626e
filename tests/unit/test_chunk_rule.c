/* afp/server_info: the largest write that a server takes (doc/protocol.md 1.11; doc/method.md,
 * "Chunks"), and the tables of afp/afp. */
#include "unit.h"

#include "afp/afp.h"
#include "afp/server_info.h"

static void write_chunk(void **state)
{
    static const struct {
        const char *machine_type;
        bool refuses; /* block + data above the quantum */
    } rows[] = {
        {"Netatalk4.3.9", false},    {"Netatalk4.3.99", false},
        {"Netatalk4.4.0", true},     {"Netatalk4.4", true},
        {"Netatalk4.4.15", true},    {"Netatalk4.5.0", true},
        {"Netatalk4.5.1", true},     {"Netatalk4.5.1-foo", true},
        {"Netatalk4.5.1dev", true},  {"Netatalk4.5.2", false},
        {"Netatalk4.5.10", false},   {"Netatalk4.6.0", false},
        {"Netatalk4.6.0dev", false}, {"Netatalk4.10.0", false},
        {"Netatalk14.5.1", false},   {"Netatalk3.1.18", false},
        {"Netatalk2.2.5", false},    {"Netatalk5.0.0", false},
        {"Netatalk4", false},        {"Netatalk", false},
        {"Netatalk-4.5.1", false},   {"netatalk4.5.1", false},
        {"XNetatalk4.5.1", false},   {"Macintosh", false},
        {"TimeCapsule8,119", false}, {"", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct span type = span_from_string(rows[i].machine_type);
        uint32_t wide = afp_write_chunk(type, 1 << 20, AFP_3_4);
        uint32_t narrow = afp_write_chunk(type, 1 << 20, AFP_2_2);
        check(wide == (1U << 20) - (rows[i].refuses ? 20 : 0), "'%s': %u", rows[i].machine_type,
              wide);
        check(narrow == (1U << 20) - (rows[i].refuses ? 12 : 0), "'%s': %u", rows[i].machine_type,
              narrow);
    }
    assert_int_equal(afp_write_chunk((struct span){0}, 5, AFP_3_4), 5);
}

static void every_version_and_quantum(void **state)
{
    static const struct {
        enum afp_version version;
        uint32_t quantum, chunk;
    } rows[] = {
        {AFP_2_1, 32000, 31988},
        {AFP_2_2, 32000, 31988},
        {AFP_3_0, 32000, 31980},
        {AFP_3_4, 0xffffffff, 0xffffffeb},
        {AFP_3_4, 1052672, 1052652},
        {AFP_3_4, 21, 1},
        {AFP_3_4, 20, 20}, /* no room for a block: nothing that we do would help */
        {AFP_3_4, 1, 1},
        {AFP_2_2, 13, 1},
        {AFP_2_2, 12, 12},
    };
    struct span type = span_from_string("Netatalk4.5.1");
    for (size_t i = 0; i < COUNT(rows); i++) {
        check(afp_write_chunk(type, rows[i].quantum, rows[i].version) == rows[i].chunk, "row %zu",
              i);
        assert_int_equal(afp_write_chunk(span_from_string("Mac"), rows[i].quantum, rows[i].version),
                         rows[i].quantum);
    }
}

/* A machine type has no final zero, and may hold anything. */
static void machine_types_are_only_bytes(void **state)
{
    static const char text[] = "Netatalk4.5.1";
    for (size_t size = 0; size < sizeof text; size++) {
        uint8_t *block = exact_copy(text, size);
        struct span type = {block, size};
        bool refuses = size == 13 || size == 12 || size == 11; /* 4.5.1, "4.5." and "4.5" */
        check(afp_write_chunk(type, 1000, AFP_3_4) == (refuses ? 980 : 1000), "%zu bytes", size);
        free(block);
    }
    static const uint8_t zeros[40] = "Netatalk\0004.5.1";
    assert_int_equal(afp_write_chunk((struct span){zeros, sizeof zeros}, 1000, AFP_3_4), 1000);
}

/* ---- afp/afp ---- */

static void versions(void **state)
{
    static const struct {
        const char *string;
        enum afp_version version; /* 0: none */
    } rows[] = {
        {"AFPVersion 2.1", AFP_2_1},
        {"AFP2.2", AFP_2_2},
        {"AFPX03", AFP_3_0},
        {"AFP3.1", AFP_3_1},
        {"AFP3.2", AFP_3_2},
        {"AFP3.3", AFP_3_3},
        {"AFP3.4", AFP_3_4},
        {"AFP3.0", 0},
        {"AFP2.3", 0},
        {"AFP3.5", 0},
        {"afp3.4", 0},
        {"AFP3.4 ", 0},
        {"AFP3", 0},
        {"", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct afp_version_entry *entry =
            afp_version_by_string(span_from_string(rows[i].string));
        check((entry != NULL ? entry->version : 0) == rows[i].version, "'%s'", rows[i].string);
        if (entry != NULL) {
            assert_ptr_equal(afp_version_entry(entry->version), entry);
        }
    }
    for (size_t i = 1; i < AFP_VERSION_COUNT; i++) {
        assert_true(afp_versions[i - 1].version < afp_versions[i].version);
    }
}

static void commands_and_results(void **state)
{
    assert_string_equal(afp_command_name(61), "FPWriteExt");
    assert_string_equal(afp_command_name(255), "unknown AFP command");
    assert_null(afp_command_entry(0));
    assert_true(afp_command_entry(AFP_LOGIN)->before_login);
    assert_false(afp_command_entry(AFP_READ)->before_login);
    assert_int_equal(afp_command_entry(AFP_READ_EXT)->since, AFP_3_0);
    assert_int_equal(afp_command_entry(AFP_ENUMERATE_EXT2)->since, AFP_3_1);
    assert_string_equal(afp_result_name(-5008), "DiskFull");
    assert_string_equal(afp_result_name(-9999), "unknown result");

    struct error error;
    assert_false(afp_error(&error, -5008, "a write"));
    assert_string_equal(error.message, "a write: DiskFull (-5008)");
    assert_false(afp_error(&error, -5023, "login of '%s'", "joe"));
    check_error(&error, ERROR_AFP,
                "login of 'joe': UserNotAuth (-5023), wrong user name or password");
    assert_int_equal(error.code, -5023);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_chunk),
        cmocka_unit_test(every_version_and_quantum),
        cmocka_unit_test(machine_types_are_only_bytes),
        cmocka_unit_test(versions),
        cmocka_unit_test(commands_and_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
