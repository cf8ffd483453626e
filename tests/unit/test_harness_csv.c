/* harness/write_csv: what the test program writes, joined. The merged CSV is that of a single sweep
 * of the same samples. */
#include "unit.h"

#include "base/clock.h"
#include "base/units.h"
#include "harness/write_csv.h"
#include "made_result.h"
#include "report/csv.h"
#include "report/csv_layout.h"

#include <stdio.h>

/* ---- CSV ---- */

#define SIZES 3

static const uint64_t sizes[SIZES] = {4 * KIB, MIB, 64 * MIB};
static const char *const names[] = {"Write", "Read", "Copy"}; /* the order of -f */

/* The cases of the sizes from `first` to before `last`, as afp_speedtest -c -z prints them. */
static char *sweep(size_t first, size_t last, uint32_t iterations)
{
    struct result result = {.sweep = true, .complete = true};
    struct csv_report csv = {.out = NULL};
    struct error error;
    char *text = NULL;
    size_t length;
    for (size_t i = first; i < last; i++) {
        for (size_t k = 0; k < COUNT(names); k++) {
            struct test_case test = {.name = names[k],
                                     .size_bytes = sizes[i],
                                     .sessions = 1,
                                     .warmups = 1,
                                     .iterations = iterations};
            uint64_t durations[4];
            for (size_t run = 0; run < COUNT(durations); run++) {
                durations[run] = (uint64_t)(61 + 7 * run + 13 * k) * NS_PER_US * (i * i * 1000 + 1);
            }
            struct result_case *made = made_case(&result, &test, durations);
            for (uint32_t run = 0; run < made->sample_count; run++) {
                made_tcp(&made->samples[run].tcp_before, 87040, 10, 20, 4110, 420);
                made_tcp(&made->samples[run].tcp_after, 87040, 12, 20, 4110, 420);
            }
        }
    }
    csv.out = open_memstream(&text, &length);
    struct observer observer = csv_observer(&csv);
    check(made_told(&observer, &result, &error), "%s", error.message);
    fclose(csv.out);
    result_release(&result);
    return text;
}

/* With an output for each size; NULL: none. */
static bool merge(FILE *out, const char *const *fragments, size_t count, struct error *error)
{
    static struct harness_size sizes_of[SIZES];
    struct harness_result result = {.sizes = sizes_of, .size_count = count};
    assert_true(count <= SIZES);
    for (size_t i = 0; i < count; i++) {
        sizes_of[i].csv = (char *)fragments[i];
    }
    return harness_write_csv(out, &result, error);
}

static char *merged(const char *const *fragments, size_t count)
{
    char *text = NULL;
    size_t length;
    struct error error;
    FILE *out = open_memstream(&text, &length);
    check(merge(out, fragments, count, &error), "%s", error.message);
    fclose(out);
    return text;
}

static void merges_to_a_single_sweep(void **state)
{
    for (uint32_t iterations = 1; iterations <= 3; iterations++) {
        char *fragments[SIZES];
        char *single = sweep(0, SIZES, iterations);
        for (size_t i = 0; i < SIZES; i++) {
            fragments[i] = sweep(i, i + 1, iterations);
        }
        char *joined = merged((const char *const *)fragments, SIZES);
        assert_string_equal(joined, single);
        free(joined);
        free(single);
        for (size_t i = 0; i < SIZES; i++) {
            free(fragments[i]);
        }
    }
}

static void sizes_that_did_not_finish_are_left_out(void **state)
{
    char *first = sweep(0, 1, 2);
    char *second = sweep(1, 2, 2);
    char *single = sweep(0, 2, 2);
    const char *const fragments[] = {first, second, NULL};
    char *joined = merged(fragments, 3);
    assert_string_equal(joined, single);
    free(joined);
    joined = merged(fragments + 2, 1);
    assert_string_equal(joined, CSV_RUN_HEADER "\n");
    free(joined);
    free(first);
    free(second);
    free(single);
}

/* Netatalk's tool prints the same layout; by hand. */
static void merges_by_hand(void **state)
{
#define BLOCK(name, row) "\n" CSV_SUMMARY_TITLE name "\n" CSV_SUMMARY_HEADER "\n" row
#define TCP(value)       "\n" CSV_TCP_TITLE "\n" CSV_TCP_HEADER "\ntcp_mss_bytes," value "\n"
    static const char *const fragments[] = {
        CSV_RUN_HEADER "\nRead,1,0.004,61,64.04\n" BLOCK("Read", "4096,a\n") TCP("1,1,0"),
        CSV_RUN_HEADER "\nRead,1,1.000,900,1.00\nCopy,1,1.000,9,9.00\n" BLOCK("Read", "1048576,b\n")
            BLOCK("Copy", "1048576,c\n") TCP("2,2,0"),
    };
    char *joined = merged(fragments, 2);
    assert_string_equal(joined, CSV_RUN_HEADER "\nRead,1,0.004,61,64.04\nRead,1,1.000,900,1.00\n"
                                               "Copy,1,1.000,9,9.00\n" //
                        BLOCK("Read", "4096,a\n1048576,b\n") BLOCK("Copy", "1048576,c\n")
                            TCP("2,2,0"));
    free(joined);
}

static void refuses_other_text(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "expected the header"},
        {"Connected to server.\n", "expected the header, not 'Connected to server.'"},
        {CSV_RUN_HEADER "\nRead,1,0.004,61\n", "a row of five fields, not 'Read,1,0.004,61'"},
        {CSV_RUN_HEADER "\n\n" CSV_SUMMARY_TITLE "Read\nsomething\n", "the header of a summary"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error error;
        char *text = (char *)exact_copy(rows[i].text, strlen(rows[i].text) + 1);
        FILE *out = fopen("/dev/null", "w");
        check(!merge(out, (const char *const *)&text, 1, &error), "taken: %s", text);
        check_error(&error, ERROR_CONTENT, rows[i].message);
        fclose(out);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_to_a_single_sweep),
        cmocka_unit_test(sizes_that_did_not_finish_are_left_out),
        cmocka_unit_test(merges_by_hand),
        cmocka_unit_test(refuses_other_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
