/* report/text: the exact bytes of the output (tools.md, "Text output"). */
#include "unit.h"

#include "base/clock.h"
#include "report/text.h"

#include <errno.h>

static const struct test_case read_64m = {
    .name = "Read", .chunk_bytes = 1048576, .size_bytes = 67108864};
static const struct test_case copy_sparse = {
    .name = "Copy", .chunk_bytes = 4294967231, .size_bytes = UINT64_C(1) << 40, .sparse = true};

static void header_and_rows(void **state)
{
    (void)state;
    static const struct {
        const struct test_case *test;
        struct sample samples[4];
        const char *text;
    } rows[] = {
        {&read_64m,
         {{.number = 1, .size_bytes = 67108864, .duration_ns = 251577000}},
         "Read quantum 1048576, size 67108864\n"
         "run\t microsec\t  KB/s\n"
         "1\t   251577\t260500.76\n"},
        {&copy_sparse,
         {{.number = 1, .warmup = true, .size_bytes = 1024, .duration_ns = NS_PER_S},
          {.number = 1, .size_bytes = 1024, .duration_ns = NS_PER_S},
          {.number = 2, .size_bytes = 1024, .duration_ns = 0},
          {.number = 4000000000,
           .size_bytes = UINT64_C(1) << 40,
           .duration_ns = UINT64_C(12345678901234567890)}},
         "Copy quantum 4294967231, size 1099511627776 sparse file\n"
         "run\t microsec\t  KB/s\n"
         "1\t  1000000\t     1.00\n"
         "2\t        0\t     0.00\n"
         "4000000000\t12345678901234568\t     0.09\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = NULL;
        size_t size = 0;
        struct text_report report = {open_memstream(&text, &size)};
        struct error error;
        assert_non_null(report.out);
        assert_true(text_begin(&report, rows[i].test, &error));
        for (size_t k = 0; k < 4 && rows[i].samples[k].number != 0; k++) {
            assert_true(text_sample(&report, rows[i].test, &rows[i].samples[k], &error));
        }
        fclose(report.out);
        assert_string_equal(text, rows[i].text);
        free(text);
    }
}

/* Microseconds are rounded to nearest; the rate is made from the nanoseconds. */
static void rounding(void **state)
{
    (void)state;
    static const struct {
        uint64_t duration_ns;
        const char *text;
    } rows[] = {
        {499, "1\t        0\t1957039.08\n"},
        {500, "1\t        1\t1953125.00\n"},
        {1499, "1\t        1\t651475.98\n"},
        {1500, "1\t        2\t651041.67\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = NULL;
        size_t size = 0;
        struct text_report report = {open_memstream(&text, &size)};
        struct sample sample = {
            .number = 1, .size_bytes = 1000, .duration_ns = rows[i].duration_ns};
        struct error error;
        assert_true(text_sample(&report, &read_64m, &sample, &error));
        fclose(report.out);
        assert_string_equal(text, rows[i].text);
        free(text);
    }
}

/* What was reported stands, whatever comes next. */
static void each_row_is_flushed(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    struct text_report report = {open_memstream(&text, &size)};
    struct sample sample = {.number = 1, .size_bytes = 1024, .duration_ns = NS_PER_S};
    struct error error;
    assert_true(text_begin(&report, &read_64m, &error));
    size_t header = size;
    assert_true(header > 0);
    assert_true(text_sample(&report, &read_64m, &sample, &error));
    assert_true(size > header);
    fclose(report.out);
    free(text);
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    struct text_report report = {fopen("/dev/full", "w")};
    struct sample sample = {.number = 1, .size_bytes = 1024, .duration_ns = NS_PER_S};
    struct error error;
    assert_non_null(report.out);
    assert_false(text_begin(&report, &read_64m, &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the results: No space left on device");
    assert_int_equal(error.code, ENOSPC);
    assert_false(text_sample(&report, &read_64m, &sample, &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the results");
    fclose(report.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_and_rows),
        cmocka_unit_test(rounding),
        cmocka_unit_test(each_row_is_flushed),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
