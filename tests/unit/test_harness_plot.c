/* tools/harness_plot, plotting: the script of a made result, and programs that pass for gnuplot.
 */
#include "unit.h"

#include "base/clock.h"
#include "base/units.h"
#include "cli/gnuplot.h"
#include "harness/files.h"
#include "harness/plot.h"
#include "harness/write_json.h"
#include "made_harness.h"
#include "made_result.h"
#include "report/csv_layout.h"
#include "report/json.h"
#include "scratch.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "speed-1gbit-2ms"

static char directory[SCRATCH_SIZE];
static struct interrupt interrupt;

static int make_directory(void **state)
{
    struct error error;
    scratch_make(directory);
    check(interrupt_open(&interrupt, &error), "%s", error.message);
    return 0;
}

static int remove_directory(void **state)
{
    interrupt_close(&interrupt);
    scratch_remove(directory);
    return 0;
}

/* ---- The script ---- */

/* A result of 1 MiB, in 20 and 25 ms, from a test program that writes no document. */
static void make_result(struct harness_result *result)
{
    struct error error;
    made_harness(result);
    result->sizes[0].csv =
        strdup(CSV_RUN_HEADER "\nRead,1,1.000,20000,50.00\nRead,2,1.000,25000,40.00\n");
    check(harness_files_write(directory, result, &error), "%s", error.message);
}

static void check_lines(const char *const *lines, size_t count)
{
    char *script = scratch_content(directory, NAME ".gnuplot");
    check(script != NULL, "no script");
    for (size_t i = 0; i < count; i++) {
        check(strstr(script, lines[i]) != NULL, "no '%s' in: %s", lines[i], script);
    }
    free(script);
}

static void script_of_a_result(void **state)
{
    struct harness_result result;
    struct error error;
    make_result(&result);
    check(harness_draw(directory, &result, NULL, &interrupt, &error), "%s", error.message);
    assert_false(result.drawn);
    /* 1 MiB in the mean of 22.5 ms */
    static const char *const lines[] = {
        "picture = 'speed-1gbit-2ms.png'\n",
        "'AFP throughput against file size: refserver over 1gbit, 2ms one way, MTU 1500'",
        "+1 warmup · Ops: Read,Write · Quantum: 1024 KiB · Rate: 1gbit · Delay: 2ms'",
        "\n1048576 44.4444 40 50\nEND\n",
    };
    check_lines(lines, COUNT(lines));
    harness_result_release(&result);
}

/* With a document the runs are as exact as it has them: a second and a quarter. */
static void a_document_goes_before_the_csv(void **state)
{
    struct harness_result result;
    struct error error;
    struct result measured = {
        .conditions = {.program = "afp_speedtest", .version = "1", .afp_version = "AFP3.4"},
        .complete = true};
    const struct test_case test = {.name = "Read",
                                   .chunk_bytes = MIB,
                                   .size_bytes = MIB,
                                   .depth = 1,
                                   .sessions = 1,
                                   .warmups = 1,
                                   .iterations = 2};
    char path[SCRATCH_SIZE + 20];
    snprintf(path, sizeof path, "%s/document", directory);
    struct json_report json = {path};
    struct observer observer = json_observer(&json);
    make_result(&result);
    made_case(&measured, &test, (const uint64_t[]){NS_PER_MS, NS_PER_S, NS_PER_S / 4});
    check(made_told(&observer, &measured, &error), "%s", error.message);
    char *text = scratch_content(directory, "document");
    check(harness_json_join(&result, text, MIB, &error), "%s", error.message);
    check(harness_draw(directory, &result, NULL, &interrupt, &error), "%s", error.message);
    static const char *const lines[] = {
        "· Ops: Read,Write · AFP: 3.4 · Quantum: ",
        "\n1048576 1.6 1 4\nEND\n",
    };
    check_lines(lines, COUNT(lines));
    free(text);
    result_release(&measured);
    harness_result_release(&result);
}

/* What a slow machine, a fault and unusual settings say. */
static void conditions_of_a_result(void **state)
{
    struct harness_result result;
    struct error error;
    make_result(&result);
    result.rate = "10gbit";
    result.link.shapes[LINK_TO_SERVER].rate_bits_per_s = UINT64_C(10000000000);
    result.verdict = CALIBRATION_TOO_SLOW;
    result.calibration.goodput_bits_per_s[0] = 7.9e9;
    result.calibration.goodput_bits_per_s[1] = 8e9;
    result.complete = false;
    result.quantum_offered_bytes = 1049764;
    result.outstanding = 4;
    result.read_ahead_asked = 12;
    result.jitter = "1ms";
    result.loss = "0.1%";
    assert_true(harness_result_add_fault(&result, &error, "a fault"));
    check(harness_draw(directory, &result, NULL, &interrupt, &error), "%s", error.message);
    static const char *const lines[] = {
        "refserver over 10gbit (machine: 7.9), 2ms one way, MTU 1500 INVALID INCOMPLETE'",
        " · Quantum: 1025.16 KiB · Rate: 10gbit (machine: 7.9) · Delay: 2ms · Outstanding: 4 · "
        "Read-ahead: 12 · Jitter: 1ms · Loss: 0.1%'",
    };
    check_lines(lines, COUNT(lines));
    harness_result_release(&result);
}

static void a_link_without_a_shape(void **state)
{
    struct harness_result result;
    struct error error;
    make_result(&result);
    result.shaped = false;
    result.quantum_offered_bytes = 0;
    check(harness_draw(directory, &result, NULL, &interrupt, &error), "%s", error.message);
    static const char *const lines[] = {
        "refserver over a link without a shape, MTU 1500'",
        "'Iterations: 2 +1 warmup · Ops: Read,Write'\n",
    };
    check_lines(lines, COUNT(lines));
    harness_result_release(&result);
}

/* No size that ended, no rows in the CSV, no CSV, no result. */
static void nothing_to_draw(void **state)
{
    struct harness_result result;
    struct error error;
    make_result(&result);
    result.sizes[0].complete = false;
    check(harness_draw(directory, &result, NULL, &interrupt, &error), "%s", error.message);
    result.sizes[0].complete = true;
    free(result.sizes[0].csv);
    result.sizes[0].csv = strdup(CSV_RUN_HEADER "\n");
    check(harness_files_write(directory, &result, &error), "%s", error.message);
    check(harness_draw(directory, &result, NULL, &interrupt, &error), "%s", error.message);
    scratch_check_absent(directory, NAME ".gnuplot");
    free(result.sizes[0].csv);
    result.sizes[0].csv = NULL;
    check(harness_draw(directory, &result, NULL, &interrupt, &error), "%s", error.message);
    scratch_check_absent(directory, NAME ".gnuplot");
    check(harness_json_join(&result, "{\"cases\": [], \"host\": {}}", MIB, &error), "%s",
          error.message);
    assert_false(harness_draw(directory, &result, NULL, &interrupt, &error));
    check_error(&error, ERROR_CONTENT, NAME ".json: schema");
    harness_result_release(&result);
}

/* ---- gnuplot ---- */

/* A program for the shell; `path` has room for SCRATCH_SIZE + 20. */
static void make_program(char *path, const char *text)
{
    snprintf(path, SCRATCH_SIZE + 20, "%s/gnuplot", directory);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    assert_int_equal(chmod(path, 0700), 0);
}

static void a_picture_is_drawn(void **state)
{
    char program[SCRATCH_SIZE + 20];
    struct harness_result result;
    struct error error;
    make_result(&result);
    make_program(program,
                 "read x; echo noise; echo noise >&2; echo \"${*%.*} $LC_ALL $x\" >\"$4\"");
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    check(harness_draw(directory, &result, program, &interrupt, &error), "%s", error.message);
    unsetenv("LC_ALL");
    assert_true(result.drawn);
    scratch_check(directory, NAME ".png", "-d -c ./" NAME ".gnuplot ./" NAME ".png C \n");
    scratch_check_none(directory, NAME ".png.");
    /* results written anew do not keep the picture of the old ones */
    check(harness_files_write(directory, &result, &error), "%s", error.message);
    scratch_check_absent(directory, NAME ".png");
    scratch_check_absent(directory, NAME ".gnuplot");
    harness_result_release(&result);
}

static const struct {
    const char *program, *message;
    enum error_domain domain;
} failures[] = {
    {"touch \"$4\"; printf 'one\\n\\n\"x\" line 3: bad\\n\\n' >&2; exit 3",
     "ended with exit code 3: \"x\" line 3: bad", ERROR_SYSTEM},
    {"exit 1", "ended with exit code 1", ERROR_SYSTEM},
    {"kill -9 $$", "killed by signal 9", ERROR_SYSTEM},
    {"exit 0", "made no picture", ERROR_SYSTEM},
};

static void gnuplot_fails(void **state)
{
    for (size_t i = 0; i < COUNT(failures); i++) {
        char program[SCRATCH_SIZE + 20];
        struct harness_result result;
        struct error error;
        make_result(&result);
        make_program(program, failures[i].program);
        assert_false(harness_draw(directory, &result, program, &interrupt, &error));
        check_error(&error, failures[i].domain, failures[i].message);
        assert_false(result.drawn);
        scratch_check_absent(directory, NAME ".png");
        scratch_check_none(directory, NAME ".png.");
        char *script = scratch_content(directory, NAME ".gnuplot");
        assert_non_null(script);
        free(script);
        harness_result_release(&result);
    }
    struct error error;
    assert_false(plotting_draw("/nonexistent/gnuplot", directory, NAME, &interrupt, &error));
    check_error(&error, ERROR_SYSTEM, "cannot run /nonexistent/gnuplot");
}

/* The signal that this program waits for comes from the one that draws, which would not end. */
static void interrupted(void **state)
{
    char program[SCRATCH_SIZE + 20];
    struct error error;
    make_program(program, "touch \"$4\"; kill -TERM $PPID; sleep 50");
    uint64_t begin_ns = clock_now_ns();
    assert_false(plotting_draw(program, directory, NAME, &interrupt, &error));
    check_error(&error, ERROR_INTERRUPTED, "interrupted");
    assert_true(clock_now_ns() - begin_ns < 40 * NS_PER_S);
    scratch_check_none(directory, NAME ".png.");
    /* and it stays: nothing is started any more */
    make_program(program, "touch \"$4\"");
    assert_false(plotting_draw(program, directory, NAME, &interrupt, &error));
    check_error(&error, ERROR_INTERRUPTED, "interrupted");
    scratch_check_absent(directory, NAME ".png");
    interrupt_acknowledge(&interrupt);
}

static void no_gnuplot(void **state)
{
    char gnuplot[PROGRAM_PATH_LENGTH];
    struct error error;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", directory, 1);
    assert_false(plotting_find(gnuplot, &error));
    check_error(&error, ERROR_SYSTEM, "the package gnuplot-nox");
    make_program(gnuplot, "");
    char found[PROGRAM_PATH_LENGTH];
    assert_true(plotting_find(found, &error));
    assert_string_equal(found, gnuplot);
    setenv("PATH", path, 1);
    free(path);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(script_of_a_result),
        IN_DIRECTORY(a_document_goes_before_the_csv),
        IN_DIRECTORY(conditions_of_a_result),
        IN_DIRECTORY(a_link_without_a_shape),
        IN_DIRECTORY(nothing_to_draw),
        IN_DIRECTORY(a_picture_is_drawn),
        IN_DIRECTORY(gnuplot_fails),
        IN_DIRECTORY(interrupted),
        IN_DIRECTORY(no_gnuplot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
