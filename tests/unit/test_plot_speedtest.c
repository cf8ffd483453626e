/* report/plot_speedtest: the script that gnuplot gets, and how a stored result becomes its model.
 */
#include "unit.h"

#include "base/clock.h"
#include "base/units.h"
#include "made_result.h"
#include "report/plot_speedtest.h"

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

/* ---- The whole script ---- */

/* Two sizes of one test, by hand. The axis: log2 of 1M is 20, of 4M × 1.001 22.00144; the boxes
 * have 5.5 % of the whole at its left, so it begins at 20 - 2.00144 × 0.055 ÷ 0.945 = 19.88351.
 * Its top is 100 × 1.06. The averages are (50 + 80) ÷ 2 = 65 and (64 + 100) ÷ 2 = 82, at 0.6132 and
 * 0.7736 of the height. */
static const char small_script[] =
    "# Throughput against file size, for gnuplot 5.4 or later with pngcairo.\n"
    "picture = 'small.png'\n"
    "if (exists('ARG1') && strlen(ARG1) > 0) picture = ARG1\n"
    "set terminal pngcairo size 1430,676 noenhanced font 'DejaVu Sans,11' background rgb "
    "'#ffffff'\n"
    "set encoding utf8\n"
    "set decimalsign '.'\n"
    "set output picture\n"
    "$run1 << END\n"
    "# Read: size in bytes; mean, slowest, fastest run in MiB/s\n"
    "1048576 50 40 64\n"
    "4194304 80 70.25 100\n"
    "END\n"
    "set label 'a title' at screen 0.5,0.963 center noenhanced font ',14'\n"
    "set label 'conditions' at screen 0.5,0.92 center noenhanced font ',10' tc rgb '#555555'\n"
    "set label 'band: slowest to fastest run · dotted: fastest · across: averages of all sizes' at "
    "screen 0.945,0.037 right font ',9' tc rgb '#555555'\n"
    "set key at screen 0.065,0.9 left top horizontal Left reverse maxrows 2 samplen 2.5 "
    "noenhanced font ',10'\n"
    "set lmargin at screen 0.065\n"
    "set rmargin at screen 0.945\n"
    "set bmargin at screen 0.105\n"
    "set tmargin at screen 0.81\n"
    "set border 3 lc rgb '#555555'\n"
    "set grid back lt 1 lw 1 lc rgb '#e4e4e4'\n"
    "set logscale x 2\n"
    "set xrange [967239.7161:4198498.304]\n"
    "set yrange [0:106]\n"
    "set xtics scale 0.75,0 nomirror ('1M' 1048576, '4M' 4194304)\n"
    "set ytics nomirror\n"
    "set format y '%g'\n"
    "set xlabel 'File size'\n"
    "set ylabel 'Throughput (MiB/s)'\n"
    "set style textbox opaque fillcolor rgb '#ffffff' border rgb '#555555' margins 0.8,0.8\n"
    "set label 'avg mean' at graph 0.006,0.975 left font ',9' tc rgb '#555555' front\n"
    "set arrow from graph 0,first 65 to graph 1,first 65 nohead back lw 1 dt solid lc rgb "
    "'#801f77b4'\n"
    "set label '65' at graph 0.006,0.6132 left boxed font ',10' tc rgb '#1f77b4' front\n"
    "set label 'avg max' at graph 1.006,0.975 left font ',9' tc rgb '#555555' front\n"
    "set arrow from graph 0,first 82 to graph 1,first 82 nohead back lw 1 dt 3 lc rgb "
    "'#801f77b4'\n"
    "set label '82' at graph 1.006,0.7736 left boxed font ',10' tc rgb '#1f77b4' front\n"
    "set arrow from first 1049764,graph 0 to first 1049764,graph 1 nohead back lw 1.2 dt 2 lc rgb "
    "'#555555'\n"
    "set label 'quantum 1025.16 KiB (Read of 1M: 50.00 MiB/s)' at first 1049764,graph 1.025 left "
    "font ',10' tc rgb '#555555'\n"
    "set label '' at first 1048576,first 50 point pt 6 ps 2.4 lw 1.5 lc rgb '#555555' front\n"
    "plot keyentry with linespoints lw 2.2 pt 7 ps 0.9 lc rgb '#1f77b4' title 'Read (mean)', \\\n"
    "     $run1 using 1:3:4 with filledcurves fs transparent solid 0.12 noborder lc rgb '#1f77b4' "
    "notitle, \\\n"
    "     $run1 using 1:4 with lines lw 1.5 dt 3 lc rgb '#801f77b4' notitle, \\\n"
    "     $run1 using 1:2 with linespoints lw 2.2 pt 7 ps 0.9 lc rgb '#1f77b4' notitle\n"
    "set output\n";

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

static void small(void **state)
{
    (void)state;
    struct plot_speedtest plot = small_plot();
    struct made_output output;
    made_output_open(&output);
    plot_speedtest_write(output.file, &plot);
    made_output_check(&output, small_script);
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
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        char line[200];
        struct plot_speedtest plot = small_plot();
        plot.picture = plot.title = plot.conditions = texts[i].text;
        char *script = script_of(&plot);
        snprintf(line, sizeof line, "\npicture = %s\n", texts[i].string);
        check_has(script, line);
        snprintf(line, sizeof line, "\nset label %s at screen 0.5,0.963", texts[i].string);
        check_has(script, line);
        snprintf(line, sizeof line, "\nset label %s at screen 0.5,0.92 ", texts[i].string);
        check_has(script, line);
        free(script);
    }
}

/* 190 characters of two bytes stay whole. */
static void long_texts_are_cut(void **state)
{
    (void)state;
    char title[2 * 200 + 1] = "";
    char expected[2 * 190 + 40] = "set label '";
    for (size_t i = 0; i < 200; i++) {
        memcpy(title + 2 * i, "ü", 3);
    }
    memcpy(expected + strlen(expected), title, 2 * 190);
    expected[11 + 2 * 190] = '\0';
    strcat(expected, "…' at screen");
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
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char text[PLOT_SIZE_LENGTH];
        assert_string_equal(plot_size(sizes[i].bytes, text), sizes[i].size);
        assert_string_equal(plot_kib(sizes[i].bytes, text), sizes[i].kib);
    }
}

/* ---- What may be on a picture ---- */

/* An octave each side; a bar instead of the band. */
static void one_size_only(void **state)
{
    (void)state;
    struct plot_lines lines = small_lines;
    struct plot_speedtest plot = small_plot();
    lines.series[0].count = 1;
    plot.lines = plot.baseline = &lines;
    char *script = script_of(&plot);
    check_has(script, "\nset xrange [524288:2097152]\n");
    check_has(script, " nomirror ('1M' 1048576)\n");
    check_has(script, "$run1 using 1:2:3:4 with yerrorbars lw 8 pt 0 lc rgb '#e01f77b4' notitle");
    check_has(script, "$base1 using 1:2 with points pt 4 ps 1.4 lc rgb '#1f77b4' notitle");
    check_has(script, "graph 1.025 center ");
    check_lacks(script, "filledcurves");
    free(script);
}

/* Its sizes count on the axes, and it lies below the means. */
static void a_baseline(void **state)
{
    (void)state;
    struct plot_point points[] = {{2 * MIB, 200, 190, 300}, {8 * MIB, 40, 30, 50}};
    struct plot_lines baseline = {.series = {{.test = "Write", .points = points, .count = 2}},
                                  .count = 1};
    struct plot_speedtest plot = small_plot();
    plot.baseline = &baseline;
    char *script = script_of(&plot);
    check_has(script, "$base1 << END\n# Write: size in bytes; mean, slowest, fastest run in "
                      "MiB/s\n2097152 200 190 300\n8388608 40 30 50\nEND\n");
    check_has(script, "('1M' 1048576, '2M' 2097152, '4M' 4194304, '8M' 8388608)");
    check_has(script, "\nset yrange [0:318]\n");
    check_has(script, "title 'Read (mean)', \\\n     keyentry with lines lw 1.8 dt 2 lc rgb "
                      "'#d62728' title 'Write (baseline)', \\\n     $run1 using 1:3:4 ");
    const char *dashed = strstr(script, "$base1 using 1:2 with lines lw 1.8 dt 2 lc rgb '#d62728'");
    const char *means = strstr(script, "$run1 using 1:2 with linespoints");
    check(dashed != NULL && means != NULL && dashed < means, "order: %s", script);
    free(script);
}

/* Where the sizes do not reach it, or nobody knows it. */
static void a_quantum_elsewhere(void **state)
{
    (void)state;
    static const uint64_t quanta[] = {0, 4096, 5 * MIB};
    for (size_t i = 0; i < COUNT(quanta); i++) {
        struct plot_speedtest plot = small_plot();
        plot.quantum_bytes = quanta[i];
        char *script = script_of(&plot);
        check_lacks(script, "quantum");
        check_lacks(script, "point pt 6");
        free(script);
    }
}

/* On an axis of 16.94 octaves labels are 0.59 apart at least: 5000 is 0.29 behind 4096. */
static void labels_that_would_touch(void **state)
{
    (void)state;
    struct plot_point points[] = {
        {4096, 1, 1, 1}, {5000, 1, 1, 1}, {8192, 1, 1, 1}, {256 * MIB, 2, 2, 2}};
    struct plot_lines lines = {.series = {{.test = "Copy", .points = points, .count = 4}},
                               .count = 1};
    struct plot_speedtest plot = small_plot();
    plot.lines = &lines;
    char *script = script_of(&plot);
    check_has(script, "('4K' 4096, '' 5000, '8K' 8192, '256M' 268435456)");
    free(script);
}

/* Boxes 4.7 % apart: at the bottom upwards from 2.5 %, at the top downwards from 92 %. */
static void boxes_that_would_touch(void **state)
{
    (void)state;
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
    check_has(script, "set label '1000' at graph 0.006,0.9200 left boxed font ',10' tc rgb "
                      "'#1f77b4'");
    check_has(script, "set label '999' at graph 0.006,0.8730 left boxed font ',10' tc rgb "
                      "'#d62728'");
    check_has(script, "set label '0.0' at graph 0.006,0.0250 left boxed font ',10' tc rgb "
                      "'#2ca02c'");
    check_has(script, "set label '9.9' at graph 0.006,0.0720 left boxed font ',10' tc rgb "
                      "'#7f7f7f'");
    check_has(script, "set label '11' at graph 1.006,0.0720 ");
    free(script);
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
    (void)state;
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
    (void)state;
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
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
