#include "report/plot_speedtest.h"

#include "base/memory.h"
#include "base/units.h"
#include "report/figures.h"
#include "result/tests.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH  1430
#define HEIGHT 676

/* The plot's frame, in shares of the picture. */
#define LEFT   0.065
#define RIGHT  0.945
#define BOTTOM 0.105
#define TOP    0.81

#define BOX_ROOM   0.055 /* of the frame's width, left of the smallest size, for the boxes */
#define BOX_STEP   0.047 /* of the frame's height, at least, from box to box */
#define BOX_HIGH   0.92  /* below the heading */
#define BOX_LOW    0.025
#define LABEL_STEP 0.035 /* of the frame's width, at least, from one size's label to the next */
#define HEADROOM   1.06  /* of the highest rate */
#define TEXT_LIMIT 190   /* characters that fit across the picture */
#define GREY       "555555"

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

/* ---- The axes ---- */

struct axes {
    double left, right; /* log2 of bytes */
    double top;         /* MiB/s */
    uint64_t smallest, largest;
};

static void widen(struct axes *axes, const struct plot_lines *lines)
{
    for (size_t i = 0; lines != NULL && i < lines->count; i++) {
        const struct plot_series *series = &lines->series[i];
        uint64_t first = series->points[0].size_bytes;
        uint64_t last = series->points[series->count - 1].size_bytes;
        axes->smallest = first < axes->smallest ? first : axes->smallest;
        axes->largest = last > axes->largest ? last : axes->largest;
        for (size_t k = 0; k < series->count; k++) {
            axes->top = fmax(axes->top, series->points[k].maximum);
        }
    }
}

/* From the smallest size to the largest, with room for the boxes at its left; of one size, an
 * octave around it. */
static struct axes find_axes(const struct plot_speedtest *plot)
{
    struct axes axes = {.smallest = UINT64_MAX};
    widen(&axes, plot->lines);
    widen(&axes, plot->baseline);
    axes.left = log2((double)axes.smallest);
    axes.right = log2((double)axes.largest * 1.001);
    if (axes.smallest == axes.largest) {
        axes.left -= 1;
        axes.right = axes.left + 2;
    } else {
        axes.left -= (axes.right - axes.left) * BOX_ROOM / (1 - BOX_ROOM);
    }
    axes.top *= HEADROOM;
    return axes;
}

/* Where a size is on the axis: 0 at its left, 1 at its right end. */
static double across(const struct axes *axes, uint64_t size_bytes)
{
    return (log2((double)size_bytes) - axes->left) / (axes->right - axes->left);
}

/* The smallest size above this one; 0: none. */
static uint64_t next_size(const struct plot_speedtest *plot, uint64_t after)
{
    const struct plot_lines *const both[] = {plot->lines, plot->baseline};
    uint64_t next = UINT64_MAX;
    for (size_t which = 0; which < 2; which++) {
        for (size_t i = 0; both[which] != NULL && i < both[which]->count; i++) {
            const struct plot_series *series = &both[which]->series[i];
            size_t k = 0;
            while (k < series->count && series->points[k].size_bytes <= after) {
                k++;
            }
            if (k < series->count && series->points[k].size_bytes < next) {
                next = series->points[k].size_bytes;
            }
        }
    }
    return next != UINT64_MAX ? next : 0;
}

/* One tick for each size; a label where it does not touch the one before. */
static void write_ticks(FILE *out, const struct plot_speedtest *plot, const struct axes *axes)
{
    double last = -1;
    const char *separator = "";
    fputs("set xtics scale 0.75,0 nomirror (", out);
    for (uint64_t size = next_size(plot, 0); size > 0; size = next_size(plot, size)) {
        char text[PLOT_SIZE_LENGTH] = "";
        double at = across(axes, size);
        if (at - last >= LABEL_STEP) {
            plot_size(size, text);
            last = at;
        }
        fprintf(out, "%s'%s' %" PRIu64, separator, text, size);
        separator = ", ";
    }
    fputs(")\n", out);
}

static void write_axes(FILE *out, const struct plot_speedtest *plot, const struct axes *axes)
{
    fprintf(out,
            "set lmargin at screen %g\nset rmargin at screen %g\n"
            "set bmargin at screen %g\nset tmargin at screen %g\n",
            LEFT, RIGHT, BOTTOM, TOP);
    fputs("set border 3 lc rgb '#" GREY "'\n"
          "set grid back lt 1 lw 1 lc rgb '#e4e4e4'\n"
          "set logscale x 2\n",
          out);
    fprintf(out, "set xrange [%.10g:%.10g]\nset yrange [0:%.6g]\n", exp2(axes->left),
            exp2(axes->right), axes->top);
    write_ticks(out, plot, axes);
    fputs("set ytics nomirror\nset format y '%g'\n"
          "set xlabel 'File size'\nset ylabel 'Throughput (MiB/s)'\n",
          out);
}

/* ---- Averages over all sizes ---- */

/* A value and where its box is, in shares of the frame's height. */
struct box {
    const char *test;
    double value, at;
};

static int compare_boxes(const void *a, const void *b)
{
    const struct box *first = a;
    const struct box *second = b;
    return (first->value > second->value) - (first->value < second->value);
}

/* Moves boxes apart that would cover each other: up, and from the heading on down again. */
static void place_boxes(struct box *boxes, size_t count, double top)
{
    qsort(boxes, count, sizeof boxes[0], compare_boxes);
    for (size_t i = 0; i < count; i++) {
        double lowest = i > 0 ? boxes[i - 1].at + BOX_STEP : BOX_LOW;
        boxes[i].at = fmax(boxes[i].value / top, lowest);
    }
    double highest = BOX_HIGH;
    for (size_t i = count; i-- > 0; highest -= BOX_STEP) {
        highest = fmin(highest, boxes[i].at);
        boxes[i].at = highest;
    }
}

/* What one edge of the frame shows. */
static const struct edge {
    const char *heading, *dash, *x;
    bool maxima;
} edges[] = {{"avg mean", "solid", "0.006", false}, {"avg max", "3", "1.006", true}};

static double average(const struct plot_series *series, bool maxima)
{
    double sum = 0;
    for (size_t i = 0; i < series->count; i++) {
        sum += maxima ? series->points[i].maximum : series->points[i].mean;
    }
    return sum / (double)series->count;
}

/* Lines across, boxed values at the edge. Whole numbers, but for small ones. */
static void write_averages(FILE *out, const struct plot_speedtest *plot, const struct edge *edge,
                           double top)
{
    struct box boxes[PLOT_SERIES_LIMIT];
    const struct plot_lines *lines = plot->lines;
    fprintf(out, "set label '%s' at graph %s,0.975 left font ',9' tc rgb '#" GREY "' front\n",
            edge->heading, edge->x);
    for (size_t i = 0; i < lines->count; i++) {
        double value = average(&lines->series[i], edge->maxima);
        boxes[i] = (struct box){.test = lines->series[i].test, .value = value};
        fprintf(out,
                "set arrow from graph 0,first %.6g to graph 1,first %.6g nohead back lw 1 dt %s "
                "lc rgb '#80%s'\n",
                value, value, edge->dash, colour(boxes[i].test));
    }
    place_boxes(boxes, lines->count, top);
    for (size_t i = 0; i < lines->count; i++) {
        fprintf(out, "set label '%.*f' at graph %s,%.4f left boxed font ',10' tc rgb '#%s' front\n",
                boxes[i].value < 9.95 ? 1 : 0, boxes[i].value, edge->x, boxes[i].at,
                colour(boxes[i].test));
    }
}

/* ---- The quantum ---- */

static const struct plot_point *nearest(const struct plot_series *series, uint64_t size_bytes)
{
    const struct plot_point *best = &series->points[0];
    double wanted = log2((double)size_bytes);
    for (size_t i = 1; i < series->count; i++) {
        if (fabs(log2((double)series->points[i].size_bytes) - wanted) <
            fabs(log2((double)best->size_bytes) - wanted)) {
            best = &series->points[i];
        }
    }
    return best;
}

/* A line where it is, a ring around the nearest point of the first test, and their values; nothing
 * where the sizes do not reach it. */
static void write_quantum(FILE *out, const struct plot_speedtest *plot, const struct axes *axes)
{
    char kib[PLOT_SIZE_LENGTH];
    char size[PLOT_SIZE_LENGTH];
    double at = plot->quantum_bytes > 0 ? across(axes, plot->quantum_bytes) : -1;
    if (at < 0 || at > 1) {
        return;
    }
    const struct plot_series *series = &plot->lines->series[0];
    const struct plot_point *point = nearest(series, plot->quantum_bytes);
    fprintf(out,
            "set arrow from first %" PRIu64 ",graph 0 to first %" PRIu64
            ",graph 1 nohead back lw 1.2 dt 2 lc rgb '#" GREY "'\n",
            plot->quantum_bytes, plot->quantum_bytes);
    fprintf(out,
            "set label 'quantum %s KiB (%s of %s: %.2f MiB/s)' at first %" PRIu64
            ",graph 1.025 %s font ',10' tc rgb '#" GREY "'\n",
            plot_kib(plot->quantum_bytes, kib), series->test, plot_size(point->size_bytes, size),
            point->mean, plot->quantum_bytes,
            at < 0.15   ? "left"
            : at > 0.85 ? "right"
                        : "center");
    fprintf(out,
            "set label '' at first %" PRIu64 ",first %.6g point pt 6 ps 2.4 lw 1.5 lc rgb '#" GREY
            "' front\n",
            point->size_bytes, point->mean);
}

/* ---- Curves ---- */

static void write_data(FILE *out, const char *kind, const struct plot_lines *lines)
{
    for (size_t i = 0; lines != NULL && i < lines->count; i++) {
        fprintf(out, "$%s%zu << END\n# %s: size in bytes; mean, slowest, fastest run in MiB/s\n",
                kind, i + 1, lines->series[i].test);
        for (size_t k = 0; k < lines->series[i].count; k++) {
            const struct plot_point *point = &lines->series[i].points[k];
            fprintf(out, "%" PRIu64 " %.6g %.6g %.6g\n", point->size_bytes, point->mean,
                    point->minimum, point->maximum);
        }
        fputs("END\n", out);
    }
}

/* A layer: what it draws of each series. In each style %s is the colour. */
struct layer {
    const char *kind, *columns, *style;
    const char *alone_columns, *alone_style; /* of a single size; NULL: the same */
    const char *title;                       /* of the legend, behind the test; NULL: none */
};

enum { LAYER_BAND, LAYER_FASTEST, LAYER_BASELINE, LAYER_MEANS, LAYER_COUNT };

static const struct layer layers[LAYER_COUNT] = {
    [LAYER_BAND] = {"run", "1:3:4", "filledcurves fs transparent solid 0.12 noborder lc rgb '#%s'",
                    "1:2:3:4", "yerrorbars lw 8 pt 0 lc rgb '#e0%s'", NULL},
    [LAYER_FASTEST] = {"run", "1:4", "lines lw 1.5 dt 3 lc rgb '#80%s'", NULL, NULL, NULL},
    [LAYER_BASELINE] = {"base", "1:2", "lines lw 1.8 dt 2 lc rgb '#%s'", "1:2",
                        "points pt 4 ps 1.4 lc rgb '#%s'", "baseline"},
    [LAYER_MEANS] = {"run", "1:2", "linespoints lw 2.2 pt 7 ps 0.9 lc rgb '#%s'", NULL, NULL,
                     "mean"},
};

/* A style with its colour. */
static void put_style(FILE *out, const char *style, const char *test)
{
    const char *gap = strstr(style, "%s");
    fprintf(out, "%.*s%s%s", (int)(gap - style), style, colour(test), gap + 2);
}

static void write_layer(FILE *out, const struct layer *layer, const struct plot_lines *lines)
{
    for (size_t i = 0; lines != NULL && i < lines->count; i++) {
        bool alone = lines->series[i].count == 1 && layer->alone_style != NULL;
        fprintf(out, ", \\\n     $%s%zu using %s with ", layer->kind, i + 1,
                alone ? layer->alone_columns : layer->columns);
        put_style(out, alone ? layer->alone_style : layer->style, lines->series[i].test);
        fputs(" notitle", out);
    }
}

/* The legend: the tests of a layer. */
static void write_entries(FILE *out, const struct layer *layer, const struct plot_lines *lines,
                          const char *separator)
{
    for (size_t i = 0; lines != NULL && i < lines->count; i++) {
        fprintf(out, "%skeyentry with ", separator);
        put_style(out, layer->style, lines->series[i].test);
        fprintf(out, " title '%s (%s)'", lines->series[i].test, layer->title);
        separator = ", \\\n     ";
    }
}

/* The layers from bottom to top, their legend the other way round. */
static void write_curves(FILE *out, const struct plot_speedtest *plot)
{
    write_entries(out, &layers[LAYER_MEANS], plot->lines, "plot ");
    write_entries(out, &layers[LAYER_BASELINE], plot->baseline, ", \\\n     ");
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        write_layer(out, &layers[i], i == LAYER_BASELINE ? plot->baseline : plot->lines);
    }
    fputc('\n', out);
}

void plot_speedtest_write(FILE *out, const struct plot_speedtest *plot)
{
    struct axes axes = find_axes(plot);
    fputs("# Throughput against file size, for gnuplot 5.4 or later with pngcairo.\n"
          "picture = ",
          out);
    put_text(out, plot->picture);
    fprintf(out,
            "\nif (exists('ARG1') && strlen(ARG1) > 0) picture = ARG1\n"
            "set terminal pngcairo size %d,%d noenhanced font 'DejaVu Sans,11' "
            "background rgb '#ffffff'\n"
            "set encoding utf8\nset decimalsign '.'\nset output picture\n",
            WIDTH, HEIGHT);
    write_data(out, "run", plot->lines);
    write_data(out, "base", plot->baseline);
    fputs("set label ", out);
    put_text(out, plot->title);
    fputs(" at screen 0.5,0.963 center noenhanced font ',14'\nset label ", out);
    put_text(out, plot->conditions);
    fputs(" at screen 0.5,0.92 center noenhanced font ',10' tc rgb '#" GREY "'\n", out);
    fprintf(out,
            "set label 'band: slowest to fastest run · dotted: fastest · across: averages of all "
            "sizes' at screen %g,0.037 right font ',9' tc rgb '#" GREY "'\n"
            "set key at screen %g,0.9 left top horizontal Left reverse maxrows 2 samplen 2.5 "
            "noenhanced font ',10'\n",
            RIGHT, LEFT);
    write_axes(out, plot, &axes);
    fputs("set style textbox opaque fillcolor rgb '#ffffff' border rgb '#" GREY
          "' margins 0.8,0.8\n",
          out);
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        write_averages(out, plot, &edges[i], axes.top);
    }
    write_quantum(out, plot, &axes);
    write_curves(out, plot);
    fputs("set output\n", out);
}
