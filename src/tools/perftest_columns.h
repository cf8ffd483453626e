/*
 * perftest_columns.h - the figures of a test on one size as columns: each is described once, and
 * stands in a table on stdout and in NAME-net.csv.
 *
 * To add a figure: a row here; its value in perf_figures.c.
 */
#ifndef AFPBENCH_TOOLS_PERFTEST_COLUMNS_H
#define AFPBENCH_TOOLS_PERFTEST_COLUMNS_H

#include "netlab/perf_figures.h"

enum perftest_table { PERFTEST_PACKETS, PERFTEST_REQUESTS, PERFTEST_TIMES, PERFTEST_TABLES };

struct perftest_column {
    const char *key;     /* of the CSV, after the test's name */
    const char *heading; /* of the table */
    enum perftest_table table;
    int decimals;
    /* −1: there is none. */
    double (*value)(const struct perf_figures *figures, const struct perftest_column *column);
    enum link_way way; /* for the values that have one */
    enum packet_kind kind;
};

extern const struct perftest_column perftest_columns[];
extern const size_t perftest_column_count;

/* A value as text; `none` where there is none. */
#define PERFTEST_FIGURE_LENGTH 32
const char *perftest_figure(const struct perftest_column *column,
                            const struct perf_figures *figures, const char *none,
                            char text[PERFTEST_FIGURE_LENGTH]);

#endif
