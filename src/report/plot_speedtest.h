/*
 * plot_speedtest.h - the picture of a speed test: throughput against file size, as a script for
 * gnuplot (5.4, terminal pngcairo) with its data inside, so that a person can run it again: a few
 * variables and the rates, then data/speedtest.gnuplot, which draws.
 *
 * Bottom to top: the band from the slowest to the fastest run, the fastest runs dotted, the means
 * of a baseline dashed, the means with points; across, the averages over all sizes of the means
 * (solid) and of the fastest runs (dotted) with their boxed values; the quantum as a vertical line.
 * Rates are MiB/s. Texts may hold anything: they reach gnuplot as single-quoted strings, in which
 * it expands nothing, and its enhanced mode is off. Numbers do not depend on the locale.
 *
 * Pure; one thread.
 */
#ifndef AFPBENCH_REPORT_PLOT_SPEEDTEST_H
#define AFPBENCH_REPORT_PLOT_SPEEDTEST_H

#include "report/read_result.h"

#include <stdio.h>

#define PLOT_SERIES_LIMIT 16 /* tests in one picture */

/* A test on one size. */
struct plot_point {
    uint64_t size_bytes;
    double mean, minimum, maximum; /* MiB/s */
};

struct plot_series {
    char test[STORED_TEST_LENGTH]; /* letters and digits */
    struct plot_point *points;     /* by ascending size, each size once */
    size_t count;                  /* above 0 */
};

/* What one result shows, by test_order(). */
struct plot_lines {
    struct plot_series series[PLOT_SERIES_LIMIT];
    size_t count; /* 0: there is nothing to draw */
};

/* From a stored result. A case without a run, or whose runs took no time that a clock can tell, has
 * no rate and no point. ERROR_LIMIT for more than PLOT_SERIES_LIMIT tests. To be released after a
 * failure too. */
MUST_CHECK bool plot_lines_read(struct plot_lines *lines, const struct stored_result *result,
                                struct error *error);
void plot_lines_release(struct plot_lines *lines);

struct plot_speedtest {
    const char *picture; /* the file that the script makes when it has no argument */
    const char *title, *conditions;
    uint64_t quantum_bytes;            /* 0: unknown */
    const struct plot_lines *lines;    /* count above 0 */
    const struct plot_lines *baseline; /* NULL: none */
};

/* Writes the script. With an argument (`gnuplot -c SCRIPT FILE`) it makes that file instead. */
void plot_speedtest_write(FILE *out, const struct plot_speedtest *plot);

/* "4K", "1.5M", "1025.16K": at most two decimals. */
#define PLOT_SIZE_LENGTH 32
const char *plot_size(uint64_t size_bytes, char text[PLOT_SIZE_LENGTH]);

/* "1024", "1025.16": KiB with as many of two decimals as say something. */
const char *plot_kib(uint64_t size_bytes, char text[PLOT_SIZE_LENGTH]);

#endif
