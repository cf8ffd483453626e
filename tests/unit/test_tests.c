/* result/tests: the table, and that a test which is one row and one implementation is everywhere.
 * This program has five tests: Touch is in five_tests/result/test_rows.h and here, nowhere else. */
#include "unit.h"

#include "base/clock.h"
#include "base/units.h"
#include "cli/lists.h"
#include "fake_target.h"
#include "harness/figures.h"
#include "harness/write_net.h"
#include "harness/write_tables.h"
#include "made_harness.h"
#include "made_result.h"
#include "report/comparison_format.h"
#include "report/csv.h"
#include "report/plot_speedtest.h"
#include "report/text.h"
#include "result/tests.h"
#include "speedtest/settings.h"
#include "workload/speed.h"

#include <stdio.h>

/* ---- The fifth test ---- */

static bool timed(void *context, struct sample_counts *counts, struct error *error)
{
    struct speed_run *run = context;
    counts->requests[REQUEST_READ]++;
    counts->bytes += run->size_bytes;
    return true;
}

extern const struct speed_test speed_touch;
const struct speed_test speed_touch = {
    .facts = &known_tests[TEST_TOUCH],
    .has_source = true,
    .prepare = speed_make_files,
    .timed = timed,
    .restore = speed_nothing,
};

/* ---- The table ---- */

static void every_test_is_whole(void **state)
{
    assert_int_equal(known_test_count, 5);
    assert_int_equal(speed_test_count, known_test_count);
    for (size_t i = 0; i < known_test_count; i++) {
        const struct test_facts *facts = &known_tests[i];
        assert_ptr_equal(known_test(facts->name), facts);
        assert_ptr_equal(speed_tests[i]->facts, facts);
        assert_int_equal(strspn(facts->colour, "0123456789abcdef"), 6);
        assert_int_equal(strlen(facts->colour), 6);
        assert_true(facts->requests != 0);
        assert_true(strlen(facts->name) < MARK_TEST_LENGTH);
    }
    assert_null(known_test("read"));
    assert_null(known_test(""));
}

static void the_order(void **state)
{
    static const char *const order[] = {"Read",  "Write", "Copy", "ServerCopy",
                                        "Touch", "Alien", "Beast"};
    for (size_t a = 0; a < COUNT(order); a++) {
        for (size_t b = 0; b < COUNT(order); b++) {
            int found = test_order(order[a], order[b]);
            check((found > 0) - (found < 0) == (a > b) - (a < b), "%s, %s", order[a], order[b]);
        }
    }
}

static void the_names(void **state)
{
    char text[64];
    assert_string_equal(test_names(", ", text, sizeof text),
                        "Read, Write, Copy, ServerCopy, Touch");
    assert_string_equal(test_names(",", text, 13), "Read,Write,C");
    assert_string_equal(test_names(",", text, 1), "");
}

/* ---- Everywhere ---- */

static void lists(void **state)
{
    struct error error;
    const struct speed_test *tests[TEST_LIMIT];
    size_t count;
    check(list_of_tests("touch,Read", "-f", tests, &count, &error), "%s", error.message);
    assert_int_equal(count, 2);
    assert_ptr_equal(tests[0], &speed_touch);
    assert_false(list_of_tests("Tuch", "-f", tests, &count, &error));
    assert_string_equal(error.message, "-f: 'Tuch' is no test; there are Read, Write, Copy, "
                                       "ServerCopy, Touch");
    for (size_t i = 0; i < speedtest_program.count; i++) {
        const struct option_row *row = &speedtest_program.rows[i];
        char names[100];
        if (row->letter == 'f') {
            assert_string_equal(row->choices(",", names, sizeof names),
                                "Read,Write,Copy,ServerCopy,Touch");
        }
    }
}

static void it_runs(void **state)
{
    struct fake_target *fake = fake_target_new();
    struct target *target = &fake->target;
    struct speed_options options = {
        .size_bytes = 1000, .size_given = true, .depth = 1, .measure = {.iterations = 2}};
    struct speed_run run;
    struct result result = {0};
    struct observers observers = {.count = 0};
    struct error error;
    check(speed_test_run(&run, &speed_touch, &options, &target, 1, &result, &observers, &error),
          "%s", error.message);
    assert_int_equal(result.case_count, 1);
    assert_string_equal(result.cases[0]->test.name, "Touch");
    assert_string_equal(result.cases[0]->test.sink, "copy"); /* its data come to the client */
    assert_false(result.cases[0]->test.flush);
    assert_int_equal(result.cases[0]->sample_count, 2);
    speed_run_release(&run);
    result_release(&result);
    fake_target_free(fake);
}

/* A sweep of two tests, the fifth one first; two sizes. */
static void made(struct result *result)
{
    static const uint64_t durations[] = {1000000, 2000000, 3000000};
    *result = (struct result){.sweep = true, .complete = true};
    for (size_t i = 0; i < 4; i++) {
        struct test_case test = {.name = i % 2 == 0 ? "Touch" : "Write",
                                 .size_bytes = (i < 2 ? 1 : 4) * MIB,
                                 .chunk_bytes = MIB,
                                 .depth = 1,
                                 .sessions = 1,
                                 .iterations = 3};
        made_case(result, &test, durations);
    }
}

/* What an observer prints of it, to be freed. */
static char *told(struct made_output *output, const struct observer *observer)
{
    struct result result;
    struct error error;
    made(&result);
    check(made_told(observer, &result, &error), "%s", error.message);
    result_release(&result);
    fclose(output->file);
    return output->text;
}

static char *csv_of(void)
{
    struct made_output output;
    made_output_open(&output);
    struct csv_report csv = {.out = output.file};
    struct observer observer = csv_observer(&csv);
    return told(&output, &observer);
}

/* `first` stands in the text, and `second` behind it. */
static void check_in_order(const char *text, const char *first, const char *second)
{
    const char *found = strstr(text, first);
    check(found != NULL, "no '%s' in: %s", first, text);
    check(strstr(found, second) != NULL, "no '%s' behind '%s' in: %s", second, first, text);
}

static void csv_and_text(void **state)
{
    char *csv = csv_of();
    check_in_order(csv, "Touch,3,1.000,3000,333.33\nTouch_mean,", "# File Size Performance");
    check_in_order(csv, "Summary for Write\n", "Summary for Touch\nfile_size_bytes,");
    free(csv);
    struct made_output output;
    made_output_open(&output);
    struct text_report report = {.out = output.file, .statistics = true};
    struct observer observer = text_observer(&report);
    char *text = told(&output, &observer);
    check_in_order(text, "Statistics for Touch", "Summary for Write");
    check_in_order(text, "Summary for Write", "Summary for Touch");
    free(text);
}

static void picture_and_comparison(void **state)
{
    struct stored_result stored = {.case_count = 0};
    struct plot_lines lines;
    struct comparison_report report;
    struct made_output output;
    struct error error;
    char *csv = csv_of();
    check(read_result_buffer("made", csv, strlen(csv), &stored, &error), "%s", error.message);
    free(csv);
    check(plot_lines_read(&lines, &stored, &error), "%s", error.message);
    made_output_open(&output);
    struct plot_speedtest plot = {
        .picture = "x.png", .title = "t", .conditions = "c", .lines = &lines};
    plot_speedtest_write(output.file, &plot);
    fclose(output.file);
    check_in_order(output.text, "\ntests = ' Write", " Touch'\n");
    check_in_order(output.text, "\ncolours = ' ", " abcdef'\n");
    check_in_order(output.text, "# Write: size in bytes", "# Touch: size in bytes");
    free(output.text);
    plot_lines_release(&lines);
    const struct stored_result *list = &stored;
    const struct comparison_request request = {
        .names = {"a", "b"}, .results = {&list, &list}, .counts = {1, 1}};
    check(comparison_report_make(&report, &request, &error), "%s", error.message);
    made_output_open(&output);
    comparison_text_write(output.file, &report);
    fclose(output.file);
    check_in_order(output.text, "\nWrite ", "\nTouch ");
    free(output.text);
    comparison_report_release(&report);
    stored_result_release(&stored);
}

/* The made-up Read, under the fifth test's name: its data come to the client. */
static void over_the_link(void **state)
{
    struct harness_result result;
    struct harness_figures read;
    struct harness_figures touch;
    struct made_output output;
    made_harness(&result);
    struct harness_case *made_read = &result.sizes[0].cases[0];
    read = made_read->figures;
    snprintf(made_read->test, sizeof made_read->test, "Touch");
    harness_figures(&result);
    touch = made_read->figures;
    assert_true(touch.carries[LINK_TO_CLIENT] && !touch.carries[LINK_TO_SERVER]);
    assert_true(touch.share > 0 && touch.share == read.share && touch.fill == read.fill);
    made_output_open(&output);
    harness_write_net_csv(output.file, &result);
    fclose(output.file);
    check_in_order(output.text, ",write_", ",touch_");
    free(output.text);
    made_output_open(&output);
    harness_write_tables(output.file, &result);
    fclose(output.file);
    check_in_order(output.text, "Touch", "Write"); /* as measured */
    free(output.text);
    harness_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_test_is_whole),
        cmocka_unit_test(the_order),
        cmocka_unit_test(the_names),
        cmocka_unit_test(lists),
        cmocka_unit_test(it_runs),
        cmocka_unit_test(csv_and_text),
        cmocka_unit_test(picture_and_comparison),
        cmocka_unit_test(over_the_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
