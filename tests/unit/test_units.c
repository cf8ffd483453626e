/* base/units and base/error: numbers as people type and read them, whatever the locale. */
#include "unit.h"

#include "base/clock.h"
#include "base/units.h"

#include <errno.h>
#include <locale.h>

#define ANY UINT64_MAX

static void whole_numbers(void **state)
{
    static const struct {
        const char *text;
        uint64_t minimum, maximum;
        bool ok;
        uint64_t value;
    } rows[] = {
        {"0", 0, 10, true, 0},
        {"10", 0, 10, true, 10},
        {"0010", 0, 10, true, 10},
        {"11", 0, 10, false, 0},
        {"0", 1, 10, false, 0},
        {"18446744073709551615", 0, ANY, true, UINT64_MAX},
        {"18446744073709551616", 0, ANY, false, 0},
        {"99999999999999999999", 0, ANY, false, 0},
        {"", 0, 10, false, 0},
        {"-1", 0, ANY, false, 0},
        {"+1", 0, 10, false, 0},
        {" 1", 0, 10, false, 0},
        {"1 ", 0, 10, false, 0},
        {"1x", 0, 10, false, 0},
        {"0x1", 0, 10, false, 0},
        {"1.0", 0, 10, false, 0},
        {"1e1", 0, 10, false, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t value = 77;
        struct error error;
        bool ok =
            parse_unsigned(rows[i].text, "-n", rows[i].minimum, rows[i].maximum, &value, &error);
        check(ok == rows[i].ok, "'%s'", rows[i].text);
        check(value == (ok ? rows[i].value : 77), "'%s'", rows[i].text);
        if (!ok) {
            check_error(&error, ERROR_USAGE, "-n '");
        }
    }
    uint64_t value;
    struct error error;
    assert_false(parse_unsigned("65536", "-p", 1, 65535, &value, &error));
    assert_string_equal(error.message, "-p '65536' is not a whole number from 1 to 65535");
}

static const struct size_row {
    const char *text;
    uint64_t unit, minimum, maximum;
    bool ok;
    uint64_t bytes;
} size_rows[] = {
    {"0.004", MIB, 1, ANY, true, 4194},
    {"64", MIB, 1, ANY, true, 67108864},
    {"4k", MIB, 1, ANY, true, 4096},
    {"4K", MIB, 1, ANY, true, 4096},
    {"1.5M", MIB, 1, ANY, true, 1572864},
    {"2g", MIB, 1, ANY, true, UINT64_C(2) << 30},
    {"3T", MIB, 1, ANY, true, UINT64_C(3) << 40},
    {"1048556b", KIB, 1, ANY, true, 1048556},
    {"1024", KIB, 1, ANY, true, 1048576},
    {".5k", MIB, 1, ANY, true, 512},
    {"5.k", MIB, 1, ANY, true, 5120},
    {"1.9b", MIB, 1, ANY, true, 1},
    {"0.1", MIB, 1, ANY, true, 104857},
    {"100b", MIB, 1, 100, true, 100},
    {"100.99b", MIB, 1, 100, true, 100},
    {"101b", MIB, 1, 100, false, 0},
    {"0", MIB, 1, ANY, false, 0},
    {"0.0000001", MIB, 1, ANY, false, 0}, /* no whole byte */
    {"0", MIB, 0, ANY, true, 0},
    {"16777215T", MIB, 1, ANY, true, UINT64_C(16777215) << 40},
    {"16777216T", MIB, 1, ANY, false, 0}, /* 2^64 */
    {"999999999999999999T", MIB, 1, ANY, false, 0},
    {"9999999999999999999", MIB, 1, ANY, false, 0}, /* 19 digits */
    {"", MIB, 0, ANY, false, 0},
    {".", MIB, 0, ANY, false, 0},
    {"k", MIB, 0, ANY, false, 0},
    {"1.2.3", MIB, 0, ANY, false, 0},
    {"1,5M", MIB, 0, ANY, false, 0},
    {"1kk", MIB, 0, ANY, false, 0},
    {"1kB", MIB, 0, ANY, false, 0},
    {"1x", MIB, 0, ANY, false, 0},
    {"1 k", MIB, 0, ANY, false, 0},
    {" 1", MIB, 0, ANY, false, 0},
    {"-1", MIB, 0, ANY, false, 0},
    {"+1", MIB, 0, ANY, false, 0},
    {"1e3", MIB, 0, ANY, false, 0},
    {"inf", MIB, 0, ANY, false, 0},
    {"nan", MIB, 0, ANY, false, 0},
};

static void sizes(void **state)
{
    for (size_t i = 0; i < COUNT(size_rows); i++) {
        const struct size_row *row = &size_rows[i];
        uint64_t bytes = 77;
        struct error error;
        bool ok =
            parse_size(row->text, "-d", row->unit, row->minimum, row->maximum, &bytes, &error);
        check(ok == row->ok, "'%s'", row->text);
        check(bytes == (ok ? row->bytes : 77), "'%s': %llu", row->text, (unsigned long long)bytes);
        if (!ok) {
            check_error(&error, ERROR_USAGE, "-d '");
        }
    }
    uint64_t bytes;
    struct error error;
    assert_false(parse_size("5M", "-q", KIB, 1, 4 * MIB, &bytes, &error));
    check_error(&error, ERROR_USAGE, "-q '5M' is not a size from 1 byte to 4 MiB");
}

static void sizes_as_text(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 bytes"},
        {1, "1 byte"},
        {2, "2 bytes"},
        {1023, "1023 bytes"},
        {1024, "1 KiB"},
        {1536, "1.5 KiB"},
        {1025, "1.0 KiB"},
        {MIB - 1, "1023.9 KiB"},
        {MIB, "1 MiB"},
        {3 * GIB, "3 GiB"},
        {GIB << 10, "1 TiB"},
        {GIB << 20, "1024 TiB"},
        {UINT64_MAX, "16777215.9 TiB"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[SIZE_TEXT_LENGTH];
        assert_string_equal(size_text(rows[i].bytes, text), rows[i].text);
    }
}

static void rates_as_text(void **state)
{
    static const struct {
        uint64_t bytes, duration_ns;
        const char *text;
    } rows[] = {
        {67108864, 251577000, "260500.76"},
        {67108864, 0, "0.00"},
        {0, 1, "0.00"},
        {1024, NS_PER_S, "1.00"},
        {1, NS_PER_S, "0.00"},
        {5, NS_PER_S, "0.00"}, /* 0.0049 */
        {6, NS_PER_S, "0.01"}, /* 0.0059 */
        {1, UINT64_MAX, "0.00"},
        {UINT64_C(1) << 50, NS_PER_S, "1099511627776.00"},
        {UINT64_C(188894659314785), 1000, "184467440737094726.56"},
        {UINT64_C(188894659314786), 1000, "184467440737095516.15"}, /* the most that is printed */
        {UINT64_C(1) << 50, 1, "184467440737095516.15"},
        {UINT64_MAX, 1, "184467440737095516.15"},
        {UINT64_MAX, UINT64_MAX, "976562.50"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[RATE_TEXT_LENGTH];
        assert_string_equal(rate_kib_text(rows[i].bytes, rows[i].duration_ns, text), rows[i].text);
    }
}

/* A locale whose decimal separator is a comma; NULL if this machine has none. */
static const char *comma_locale(void)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < COUNT(locales); i++) {
        if (setlocale(LC_ALL, locales[i]) != NULL) {
            setlocale(LC_ALL, "C");
            return locales[i];
        }
    }
    return NULL;
}

static void no_locale_matters(void **state)
{
    assert_non_null(setlocale(LC_ALL, comma_locale()));
    sizes(state);
    whole_numbers(state);
    sizes_as_text(state);
    rates_as_text(state);
    setlocale(LC_ALL, "C");
}

/* ---- base/error ---- */

static void errors(void **state)
{
    struct error error;
    assert_false(error_set(&error, ERROR_LIMIT, 7, "%s %d", "seven", 7));
    assert_int_equal(error.code, 7);
    assert_int_equal(error.remedy, REMEDY_NONE);
    check_error(&error, ERROR_LIMIT, "seven 7");
    assert_false(error_remedy(&error, REMEDY_WINDOW));
    assert_false(error_prefix(&error, "in step %d", 3));
    assert_string_equal(error.message, "in step 3: seven 7");
    assert_int_equal(error.domain, ERROR_LIMIT);
    assert_int_equal(error.remedy, REMEDY_WINDOW);
    assert_false(error_set_errno(&error, ENOENT, "cannot open '%s'", "x"));
    assert_int_equal(error.remedy, REMEDY_NONE);
    assert_string_equal(error.message, "cannot open 'x': No such file or directory");
    assert_int_equal(error.code, ENOENT);
}

/* Too long messages are cut, never written past their end. */
static void long_errors(void **state)
{
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct error *error = malloc(sizeof *error);
    error_set(error, ERROR_LIMIT, 0, "%s", text);
    assert_int_equal(strlen(error->message), sizeof error->message - 1);
    error_prefix(error, "p");
    assert_int_equal(strlen(error->message), sizeof error->message - 1);
    assert_memory_equal(error->message, "p: x", 4);
    error_prefix(error, "%s", text);
    error_set_errno(error, ENOENT, "%s", text);
    assert_int_equal(strlen(error->message), sizeof error->message - 1);
    free(error);
}

static void exit_codes(void **state)
{
    struct error error = {.domain = ERROR_USAGE};
    assert_int_equal(error_exit_status(&error, EXIT_TEST_FAILED), 64);
    error.domain = ERROR_INTERRUPTED;
    assert_int_equal(error_exit_status(&error, EXIT_TEST_FAILED), 130);
    error.domain = ERROR_AFP;
    assert_int_equal(error_exit_status(&error, EXIT_TEST_FAILED), 1);
    assert_int_equal(error_exit_status(&error, EXIT_CANNOT_RUN), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers), cmocka_unit_test(sizes),
        cmocka_unit_test(sizes_as_text), cmocka_unit_test(rates_as_text),
        cmocka_unit_test(errors),        cmocka_unit_test(long_errors),
        cmocka_unit_test(exit_codes),    cmocka_unit_test(no_locale_matters),
    };
    size_t count = COUNT(tests) - (comma_locale() == NULL); /* the last one needs it */
    return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}
