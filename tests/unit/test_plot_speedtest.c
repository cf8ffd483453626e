/* report/plot_speedtest, data/speedtest.gnuplot: the script that gnuplot gets, what it makes of it,
 * and how a stored result becomes its model. */
#include "unit.h"

#include "base/clock.h"
#include "base/units.h"
#include "made_result.h"
#include "report/plot_speedtest.h"
#include "scratch.h"

#include <stdio.h>

/* The script, to be freed. */
static char *script_of(const struct plot_speedtest *plot)
{
    struct made_output output;
    made_output_open(&output);
    plot_speedtest_write(output.file, plot);
    fclose(output.file);
    return output.text;
}

static void check_has(const char *text, const char *line)
{
    check(strstr(text, line) != NULL, "no '%s' in: %s", line, text);
}

static void check_lacks(const char *text, const char *line)
{
    const char *found = strstr(text, line);
    check(found == NULL, "there is '%.60s'", found);
}

/* What gnuplot says of the script and of these lines after it, and its exit status; to be freed.
 * Skips where there is no gnuplot. */
static char *said_by(const struct plot_speedtest *plot, const char *lines, int *status)
{
    char directory[SCRATCH_SIZE];
    char path[SCRATCH_SIZE + 20];
    char command[2 * SCRATCH_SIZE + 80];
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        skip();
    }
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/script", directory);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    plot_speedtest_write(file, plot);
    fputs(lines, file);
    fclose(file);
    snprintf(command, sizeof command,
             "cd '%s' && LC_ALL=C gnuplot -d -c script /dev/null >said 2>&1 </dev/null", directory);
    *status = system(command);
    char *said = scratch_content(directory, "said");
    assert_non_null(said);
    scratch_remove(directory);
    return said;
}

/* What gnuplot has set after it has run the script; to be freed. */
static char *set_by(const struct plot_speedtest *plot)
{
    int status;
    char *said = said_by(plot,
                         "show xrange; show yrange; show xtics; show label; show arrow\n"
                         "print 'bands'.bands.' bars'.bars.' dashes'.dashes.' points'.points\n",
                         &status);
    check(status == 0, "gnuplot: %s", said);
    return said;
}

/* ---- The variables and the data ---- */

static const char small_data[] =
    "# Throughput against file size, for gnuplot 5.4 or later with pngcairo.\n"
    "picture = 'small.png'\n"
    "heading = 'a title'\n"
    "conditions = 'conditions'\n"
    "quantum = 1049764\n"
    "quantum_kib = '1025.16'\n"
    "sizes = ' 1048576 4194304'\n"
    "names = ' 1M 4M'\n"
    "tests = ' Read'\n"
    "colours = ' 1f77b4'\n"
    "runs = 1 # of the tests; the others are of the baseline\n"
    "$rates << END\n"
    "# Read: size in bytes; mean, slowest, fastest run in MiB/s\n"
    "1048576 50 40 64\n"
    "4194304 80 70.25 100\n"
    "END\n";

static struct plot_point small_points[] = {{MIB, 50, 40, 64}, {4 * MIB, 80, 70.25, 100}};

static const struct plot_lines small_lines = {
    .series = {{.test = "Read", .points = small_points, .count = 2}}, .count = 1};

static struct plot_speedtest small_plot(void)
{
    return (struct plot_speedtest){.picture = "small.png",
                                   .title = "a title",
                                   .conditions = "conditions",
                                   .quantum_bytes = 1049764,
                                   .lines = &small_lines};
}

/* Then data/speedtest.gnuplot. */
static void the_script_holds_its_data(void **state)
{
    static const char fixed[] = "\n# ---- What follows is the same in each script ----\n";
    static const char last[] = "fonts-dejavu-core'\n}\n";
    struct plot_speedtest plot = small_plot();
    char *script = script_of(&plot);
    size_t length = sizeof small_data - 1;
    assert_memory_equal(script, small_data, length);
    assert_memory_equal(script + length, fixed, sizeof fixed - 1);
    assert_string_equal(script + strlen(script) - (sizeof last - 1), last);
    free(script);
}

/* The axis: log2 of 1M is 20, of 4M × 1.001 22.00144; the boxes have 5.5 % of the whole at its
 * left, so it begins at 20 - 2.00144 × 0.055 ÷ 0.945 = 19.88351. Its top is 100 × 1.06. The
 * averages are (50 + 80) ÷ 2 = 65 and (64 + 100) ÷ 2 = 82, at 0.6132 and 0.7736 of the height. */
static void small(void **state)
{
    struct plot_speedtest plot = small_plot();
    char *said = set_by(&plot);
    check_has(said, "set xrange [ 967240. : 4.19850e+06 ]");
    check_has(said, "set yrange [ 0.00000 : 106.000 ]");
    check_has(said, "(\"1M\" 1.04858e+06, \"4M\" 4.19430e+06)");
    check_has(said, "\"a title\" at (screen 0.5, 0.963, 0)");
    check_has(said, "\"conditions\" at (screen 0.5, 0.92, 0)");
    check_has(said, "\"avg mean\" at (graph 0.006, 0.975, 0)");
    check_has(said, "linecolor rgb \"#801f77b4\"  linewidth 1.000 dashtype 1\n"
                    "\t  from (graph 0, first 65.0000, 0.00000) to (graph 1, first 65.0000, ");
    check_has(said, "\"65\" at (graph 0.006, 0.6132");
    check_has(said, "\"avg max\" at (graph 1.006, 0.975, 0)");
    check_has(said, "linecolor rgb \"#801f77b4\"  linewidth 1.000 dashtype 3\n"
                    "\t  from (graph 0, first 82.0000, 0.00000) to (graph 1, first 82.0000, ");
    check_has(said, "\"82\" at (graph 1.006, 0.7735");
    check_has(said, "\t  from (1.04976e+06, graph 0, 0) to (1.04976e+06, graph 1, 0)");
    check_has(said, "\"quantum 1025.16 KiB (Read of 1M: 50.00 MiB/s)\" at (1.04976e+06, "
                    "graph 1.025, 0) left ");
    check_has(said, "\"\" at (1.04858e+06, 50.0000, 0.00000) left not rotated front  point ");
    check_has(said, "\nbands 1 bars dashes points\n");
    free(said);
}

/* ---- Texts ---- */

static const struct {
    const char *text, *string;
} texts[] = {
    {"it's", "'it''s'"},
    {"''", "''''''"},
    {"a\\nb\\", "'a\\nb\\'"},
    {"`date` $(date) \"x\" @y {/Bold z}_2", "'`date` $(date) \"x\" @y {/Bold z}_2'"},
    {"two\nlines\ttab\x7f", "'two lines tab '"},
    {"ü · 漢", "'ü · 漢'"},
};

static void texts_are_quoted(void **state)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        char line[200];
        struct plot_speedtest plot = small_plot();
        plot.picture = plot.title = plot.conditions = texts[i].text;
        char *script = script_of(&plot);
        snprintf(line, sizeof line, "\npicture = %s\n", texts[i].string);
        check_has(script, line);
        snprintf(line, sizeof line, "\nheading = %s\n", texts[i].string);
        check_has(script, line);
        snprintf(line, sizeof line, "\nconditions = %s\n", texts[i].string);
        check_has(script, line);
        free(script);
    }
}

/* 190 characters of two bytes stay whole. */
static void long_texts_are_cut(void **state)
{
    char title[2 * 200 + 1] = "";
    char expected[2 * 190 + 40] = "heading = '";
    for (size_t i = 0; i < 200; i++) {
        memcpy(title + 2 * i, "ü", 3);
    }
    memcpy(expected + strlen(expected), title, 2 * 190);
    expected[11 + 2 * 190] = '\0';
    strcat(expected, "…'\n");
    struct plot_speedtest plot = small_plot();
    plot.title = title;
    char *script = script_of(&plot);
    check_has(script, expected);
    free(script);
}

static const struct {
    uint64_t bytes;
    const char *size, *kib;
} sizes[] = {
    {1, "1", "0"},
    {1000, "1000", "0.98"},
    {4096, "4K", "4"},
    {1049764, "1M", "1025.16"},
    {3 * MIB / 2, "1.5M", "1536"},
    {256 * MIB, "256M", "262144"},
    {100 * GIB, "100G", "104857600"},
};

static void sizes_have_short_names(void **state)
{
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char text[PLOT_SIZE_LENGTH];
        assert_string_equal(plot_size(sizes[i].bytes, text), sizes[i].size);
        assert_string_equal(plot_kib(sizes[i].bytes, text), sizes[i].kib);
    }
}

/* ---- What may be on a picture ---- */

/* An octave each side; a bar instead of the band, a point instead of the dashed line. */
static void one_size_only(void **state)
{
    struct plot_lines lines = small_lines;
    struct plot_speedtest plot = small_plot();
    lines.series[0].count = 1;
    plot.lines = plot.baseline = &lines;
    char *said = set_by(&plot);
    check_has(said, "set xrange [ 524288. : 2.09715e+06 ]");
    check_has(said, " (\"1M\" 1.04858e+06)\n");
    check_has(said, "graph 1.025, 0) centre ");
    check_has(said, "\nbands bars 1 dashes points 2\n");
    free(said);
}

/* Its sizes count on the axes; the averages are those of the run. */
static void a_baseline(void **state)
{
    struct plot_point points[] = {{2 * MIB, 200, 190, 300}, {8 * MIB, 40, 30, 50}};
    struct plot_lines baseline = {.series = {{.test = "Write", .points = points, .count = 2}},
                                  .count = 1};
    struct plot_speedtest plot = small_plot();
    plot.baseline = &baseline;
    char *script = script_of(&plot);
    check_has(script, "\nsizes = ' 1048576 2097152 4194304 8388608'\nnames = ' 1M 2M 4M 8M'\n"
                      "tests = ' Read Write'\ncolours = ' 1f77b4 d62728'\nruns = 1 ");
    check_has(script, "4194304 80 70.25 100\n\n\n# Write: size in bytes; mean, slowest, fastest "
                      "run in MiB/s\n2097152 200 190 300\n8388608 40 30 50\nEND\n");
    free(script);
    char *said = set_by(&plot);
    check_has(said, "set yrange [ 0.00000 : 318.000 ]");
    check_has(said, "\nbands 1 bars dashes 2 points\n");
    check_has(said, "\"65\" at (graph 0.006, ");
    check_lacks(said, "\"120\"");
    free(said);
}

/* Where the sizes do not reach it, or nobody knows it; and at the right end. */
static void a_quantum_elsewhere(void **state)
{
    static const uint64_t quanta[] = {0, 4096, 5 * MIB};
    struct plot_speedtest plot = small_plot();
    for (size_t i = 0; i < COUNT(quanta); i++) {
        plot.quantum_bytes = quanta[i];
        char *said = set_by(&plot);
        check_lacks(said, "quantum");
        check_lacks(said, "pointtype 6");
        free(said);
    }
    plot.quantum_bytes = 4 * MIB;
    char *said = set_by(&plot);
    check_has(said, "\"quantum 4096 KiB (Read of 4M: 80.00 MiB/s)\" at (4.19430e+06, graph 1.025, "
                    "0) right ");
    free(said);
}

/* On an axis of 16.94 octaves labels are 0.59 apart at least: 5000 is 0.29 behind 4096. */
static void labels_that_would_touch(void **state)
{
    struct plot_point points[] = {
        {4096, 1, 1, 1}, {5000, 1, 1, 1}, {8192, 1, 1, 1}, {256 * MIB, 2, 2, 2}};
    struct plot_lines lines = {.series = {{.test = "Copy", .points = points, .count = 4}},
                               .count = 1};
    struct plot_speedtest plot = small_plot();
    plot.lines = &lines;
    char *said = set_by(&plot);
    check_has(said, "(\"4K\" 4096.00, \"\" 5000.00, \"8K\" 8192.00, \"256M\" 2.68435e+08)");
    free(said);
}

/* Boxes 4.7 % apart: at the bottom upwards from 2.5 %, at the top downwards from 92 %. */
static void boxes_that_would_touch(void **state)
{
    struct plot_point high[] = {{MIB, 1000, 1000, 1000}};
    struct plot_point higher[] = {{MIB, 999, 999, 1000}};
    struct plot_point low[] = {{MIB, 0.04, 0, 1}};
    struct plot_point lower[] = {{MIB, 9.94, 9, 11}};
    struct plot_lines lines = {.series = {{.test = "Read", .points = high, .count = 1},
                                          {.test = "Write", .points = higher, .count = 1},
                                          {.test = "Copy", .points = low, .count = 1},
                                          {.test = "Other", .points = lower, .count = 1}},
                               .count = 4};
    struct plot_speedtest plot = small_plot();
    plot.lines = &lines;
    char *script = script_of(&plot);
    check_has(script, "\ncolours = ' 1f77b4 d62728 2ca02c 7f7f7f'\n");
    free(script);
    char *said = set_by(&plot);
    check_has(said, "\"1000\" at (graph 0.006, 0.92, 0) left not rotated front  font \",10\" "
                    "textcolor rgb \"#1f77b4\"  nopoint boxed");
    check_has(said, "\"999\" at (graph 0.006, 0.873, 0) left not rotated front  font \",10\" "
                    "textcolor rgb \"#d62728\"");
    check_has(said, "\"0.0\" at (graph 0.006, 0.025, 0) left not rotated front  font \",10\" "
                    "textcolor rgb \"#2ca02c\"");
    check_has(said, "\"9.9\" at (graph 0.006, 0.072, 0) ");
    check_has(said, "\"11\" at (graph 1.006, 0.072, 0) ");
    free(said);
}

/* ---- From a stored result ---- */

#define CASE_DURATIONS 3

struct made_stored {
    struct stored_case cases[PLOT_SERIES_LIMIT + 1];
    double durations[PLOT_SERIES_LIMIT + 1][CASE_DURATIONS];
    struct stored_result result;
};

static void add(struct made_stored *made, const char *test, uint64_t size_bytes, size_t count,
                const double *durations_ms)
{
    size_t i = made->result.case_count++;
    made->cases[i] = (struct stored_case){.size_bytes = size_bytes,
                                          .run_bytes = size_bytes,
                                          .durations_ns = made->durations[i],
                                          .count = count};
    snprintf(made->cases[i].test, sizeof made->cases[i].test, "%s", test);
    for (size_t k = 0; k < count; k++) {
        made->durations[i][k] = durations_ms[k] * (double)NS_PER_MS;
    }
    made->result.cases = made->cases;
}

static void check_point(const struct plot_point *point, uint64_t size_bytes, double mean,
                        double minimum, double maximum)
{
    assert_int_equal(point->size_bytes, size_bytes);
    assert_float_equal(point->mean, mean, 1e-6);
    assert_float_equal(point->minimum, minimum, 1e-6);
    assert_float_equal(point->maximum, maximum, 1e-6);
}

/* 4 MiB in 100, 125 and 175 ms: 40, 32, 22.857 MiB/s; the mean time is 133.33 ms, 30 MiB/s. */
static void rates_of_a_result(void **state)
{
    struct made_stored made = {0};
    struct plot_lines lines;
    struct error error;
    add(&made, "Zebra", MIB, 1, (const double[]){10});
    add(&made, "Copy", MIB, 1, (const double[]){10});
    add(&made, "Read", 4 * MIB, 3, (const double[]){100, 125, 175});
    add(&made, "Ant", MIB, 1, (const double[]){10});
    add(&made, "Read", MIB, 2, (const double[]){20, 20});
    made.cases[4].run_bytes = 2 * MIB; /* of two sessions */
    assert_true(plot_lines_read(&lines, &made.result, &error));
    static const char *const order[] = {"Read", "Copy", "Ant", "Zebra"};
    assert_int_equal(lines.count, COUNT(order));
    for (size_t i = 0; i < COUNT(order); i++) {
        assert_string_equal(lines.series[i].test, order[i]);
    }
    assert_int_equal(lines.series[0].count, 2);
    check_point(&lines.series[0].points[0], MIB, 100, 100, 100);
    check_point(&lines.series[0].points[1], 4 * MIB, 30, 4 / 0.175, 40);
    plot_lines_release(&lines);
    assert_int_equal(lines.count, 0);
}

/* No time, no run, no byte: no rate. Of two runs one without time: the mean has it, 1 MiB in 5 ms,
 * and the fastest known is no slower than the mean. */
static void without_a_rate(void **state)
{
    struct made_stored made = {0};
    struct plot_lines lines;
    struct error error;
    add(&made, "Read", 4096, 2, (const double[]){0, 0});
    add(&made, "Read", 8192, 0, NULL);
    add(&made, "Write", 0, 1, (const double[]){1});
    assert_true(plot_lines_read(&lines, &made.result, &error));
    assert_int_equal(lines.count, 0);
    add(&made, "Copy", MIB, 2, (const double[]){0, 10});
    assert_true(plot_lines_read(&lines, &made.result, &error));
    assert_int_equal(lines.count, 1);
    check_point(&lines.series[0].points[0], MIB, 200, 100, 200);
    plot_lines_release(&lines);
}

static void too_many_tests(void **state)
{
    struct made_stored made = {0};
    struct plot_lines lines;
    struct error error;
    for (int i = 0; i <= PLOT_SERIES_LIMIT; i++) {
        char name[8];
        snprintf(name, sizeof name, "T%d", i);
        add(&made, name, MIB, 1, (const double[]){10});
    }
    assert_false(plot_lines_read(&lines, &made.result, &error));
    check_error(&error, ERROR_LIMIT, "more than 16 tests");
    plot_lines_release(&lines);
}

/* gnuplot itself leaves the text out and calls that a success. */
static void no_picture_without_fonts(void **state)
{
    static const char nothing[] = "<?xml version=\"1.0\"?><fontconfig></fontconfig>";
    char directory[SCRATCH_SIZE];
    char path[SCRATCH_SIZE + 20];
    int status;
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/fonts.conf", directory);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(nothing, file);
    fclose(file);
    setenv("FONTCONFIG_FILE", path, 1);
    struct plot_speedtest plot = small_plot();
    char *said = said_by(&plot, "", &status);
    unsetenv("FONTCONFIG_FILE");
    check(status != 0, "gnuplot: %s", said);
    check_has(said, "install the package fonts-dejavu-core");
    free(said);
    scratch_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_script_holds_its_data),
        cmocka_unit_test(small),
        cmocka_unit_test(texts_are_quoted),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(sizes_have_short_names),
        cmocka_unit_test(one_size_only),
        cmocka_unit_test(a_baseline),
        cmocka_unit_test(a_quantum_elsewhere),
        cmocka_unit_test(labels_that_would_touch),
        cmocka_unit_test(boxes_that_would_touch),
        cmocka_unit_test(rates_of_a_result),
        cmocka_unit_test(without_a_rate),
        cmocka_unit_test(too_many_tests),
        cmocka_unit_test(no_picture_without_fonts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
