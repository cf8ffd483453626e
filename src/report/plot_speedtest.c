#include "report/plot_speedtest.h"

#include "base/memory.h"
#include "base/units.h"
#include "report/figures.h"
#include "result/tests.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_LIMIT 190 /* characters that fit across the picture */

/* ---- What is drawn ---- */

static const char *colour(const char *test)
{
    const struct test_facts *facts = known_test(test);
    return facts != NULL ? facts->colour : "7f7f7f";
}

static int compare_series(const void *a, const void *b)
{
    const struct plot_series *first = a;
    const struct plot_series *second = b;
    return test_order(first->test, second->test);
}

static int compare_points(const void *a, const void *b)
{
    const struct plot_point *first = a;
    const struct plot_point *second = b;
    return (first->size_bytes > second->size_bytes) - (first->size_bytes < second->size_bytes);
}

/* The series of a test, added if it is new. */
static struct plot_series *find_series(struct plot_lines *lines, const char *test, size_t points,
                                       struct error *error)
{
    size_t i = 0;
    while (i < lines->count && strcmp(lines->series[i].test, test) != 0) {
        i++;
    }
    if (i == lines->count) {
        if (i == PLOT_SERIES_LIMIT) {
            error_set(error, ERROR_LIMIT, 0, "more than %d tests in one picture",
                      PLOT_SERIES_LIMIT);
            return NULL;
        }
        struct plot_series *series = &lines->series[i];
        *series = (struct plot_series){.count = 0};
        snprintf(series->test, sizeof series->test, "%s", test);
        series->points = memory_allocate(points, sizeof *series->points);
        if (series->points == NULL) {
            memory_error(error, "for a picture");
            return NULL;
        }
        lines->count++;
    }
    return &lines->series[i];
}

/* False: there is no rate. A run that took no time counts in the mean only. */
static bool make_point(const struct stored_case *stored, struct plot_point *point)
{
    double sum = 0;
    double slowest = 0;
    double fastest = INFINITY;
    for (size_t i = 0; i < stored->count; i++) {
        double duration = stored->durations_ns[i];
        sum += duration;
        slowest = fmax(slowest, duration);
        fastest = duration > 0 ? fmin(fastest, duration) : fastest;
    }
    if (!(sum > 0) || stored->size_bytes == 0) {
        return false;
    }
    double bytes = (double)stored->run_bytes;
    point->size_bytes = stored->size_bytes;
    point->mean = rate_mib(bytes, sum / (double)stored->count);
    point->minimum = rate_mib(bytes, slowest);
    point->maximum = fmax(rate_mib(bytes, fastest), point->mean);
    return true;
}

bool plot_lines_read(struct plot_lines *lines, const struct stored_result *result,
                     struct error *error)
{
    lines->count = 0;
    for (size_t i = 0; i < result->case_count; i++) {
        struct plot_point point;
        if (!make_point(&result->cases[i], &point)) {
            continue;
        }
        struct plot_series *series =
            find_series(lines, result->cases[i].test, result->case_count, error);
        if (series == NULL) {
            return false;
        }
        series->points[series->count++] = point;
    }
    for (size_t i = 0; i < lines->count; i++) {
        qsort(lines->series[i].points, lines->series[i].count, sizeof(struct plot_point),
              compare_points);
    }
    qsort(lines->series, lines->count, sizeof lines->series[0], compare_series);
    return true;
}

void plot_lines_release(struct plot_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        memory_release(lines->series[i].points);
    }
    *lines = (struct plot_lines){.count = 0};
}

/* ---- Texts ---- */

/* A number with up to two decimals, without zeros at its end. */
static void put_short(char *text, size_t size, double value, const char *unit)
{
    int length = snprintf(text, size, "%.2f", value);
    while (length > 0 && text[length - 1] == '0') {
        length--;
    }
    length -= length > 0 && text[length - 1] == '.';
    snprintf(text + length, size - (size_t)length, "%s", unit);
}

const char *plot_size(uint64_t size_bytes, char text[PLOT_SIZE_LENGTH])
{
    static const struct {
        uint64_t bytes;
        const char *name;
    } units[] = {{GIB * 1024, "T"}, {GIB, "G"}, {MIB, "M"}, {KIB, "K"}, {1, ""}};
    size_t i = 0;
    while (units[i].bytes > 1 && size_bytes < units[i].bytes) {
        i++;
    }
    put_short(text, PLOT_SIZE_LENGTH, (double)size_bytes / (double)units[i].bytes, units[i].name);
    return text;
}

const char *plot_kib(uint64_t size_bytes, char text[PLOT_SIZE_LENGTH])
{
    put_short(text, PLOT_SIZE_LENGTH, (double)size_bytes / (double)KIB, "");
    return text;
}

/* A string of gnuplot's in single quotes: nothing is expanded in it, two quotes are one. What would
 * end the line becomes a blank; what does not fit across the picture is cut off, between
 * characters. */
static void put_text(FILE *out, const char *text)
{
    size_t characters = 0;
    fputc('\'', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        bool begins = (*c & 0xc0) != 0x80;
        if (begins && ++characters > TEXT_LIMIT) {
            fputs("…", out);
            break;
        }
        if (*c == '\'') {
            fputc('\'', out);
        }
        fputc(*c < ' ' || *c == 0x7f ? ' ' : *c, out);
    }
    fputc('\'', out);
}

/* ---- The script ---- */

/* data/speedtest.gnuplot; the build makes a C file of it. */
extern const char plot_speedtest_script[];

/* The series of the run, then those of the baseline. */
struct all_series {
    const struct plot_series *series[2 * PLOT_SERIES_LIMIT];
    size_t count;
};

static void add_series(struct all_series *all, const struct plot_lines *lines)
{
    for (size_t i = 0; lines != NULL && i < lines->count; i++) {
        all->series[all->count++] = &lines->series[i];
    }
}

/* The smallest size above this one; 0: none. */
static uint64_t next_size(const struct all_series *all, uint64_t after)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < all->count; i++) {
        const struct plot_series *series = all->series[i];
        size_t k = 0;
        while (k < series->count && series->points[k].size_bytes <= after) {
            k++;
        }
        if (k < series->count && series->points[k].size_bytes < next) {
            next = series->points[k].size_bytes;
        }
    }
    return next != UINT64_MAX ? next : 0;
}

static void put_variable(FILE *out, const char *name, const char *text)
{
    fprintf(out, "%s = ", name);
    put_text(out, text);
    fputc('\n', out);
}

/* gnuplot's lists are strings of words. */
static void write_lists(FILE *out, const struct all_series *all)
{
    char text[PLOT_SIZE_LENGTH];
    fputs("sizes = '", out);
    for (uint64_t size = next_size(all, 0); size > 0; size = next_size(all, size)) {
        fprintf(out, " %" PRIu64, size);
    }
    fputs("'\nnames = '", out);
    for (uint64_t size = next_size(all, 0); size > 0; size = next_size(all, size)) {
        fprintf(out, " %s", plot_size(size, text));
    }
    fputs("'\ntests = '", out);
    for (size_t i = 0; i < all->count; i++) {
        fprintf(out, " %s", all->series[i]->test);
    }
    fputs("'\ncolours = '", out);
    for (size_t i = 0; i < all->count; i++) {
        fprintf(out, " %s", colour(all->series[i]->test));
    }
    fputs("'\n", out);
}

/* Two blank lines end a series. */
static void write_rates(FILE *out, const struct all_series *all)
{
    fputs("$rates << END\n", out);
    for (size_t i = 0; i < all->count; i++) {
        const struct plot_series *series = all->series[i];
        fprintf(out, "%s# %s: size in bytes; mean, slowest, fastest run in MiB/s\n",
                i > 0 ? "\n\n" : "", series->test);
        for (size_t k = 0; k < series->count; k++) {
            const struct plot_point *point = &series->points[k];
            fprintf(out, "%" PRIu64 " %.6g %.6g %.6g\n", point->size_bytes, point->mean,
                    point->minimum, point->maximum);
        }
    }
    fputs("END\n", out);
}

void plot_speedtest_write(FILE *out, const struct plot_speedtest *plot)
{
    char kib[PLOT_SIZE_LENGTH];
    struct all_series all = {.count = 0};
    add_series(&all, plot->lines);
    add_series(&all, plot->baseline);
    fputs("# Throughput against file size, for gnuplot 5.4 or later with pngcairo.\n", out);
    put_variable(out, "picture", plot->picture);
    put_variable(out, "heading", plot->title);
    put_variable(out, "conditions", plot->conditions);
    fprintf(out, "quantum = %" PRIu64 "\n", plot->quantum_bytes);
    put_variable(out, "quantum_kib", plot_kib(plot->quantum_bytes, kib));
    write_lists(out, &all);
    fprintf(out, "runs = %zu # of the tests; the others are of the baseline\n", plot->lines->count);
    write_rates(out, &all);
    fputs(plot_speedtest_script, out);
}
