/*
 * columns.h - the figures of a test on one size as columns: each is described once, and
 * stands in a table on stdout and in NAME-net.csv.
 *
 * To add a figure: a row here; its value in figures.c.
 */
#ifndef AFPBENCH_HARNESS_COLUMNS_H
#define AFPBENCH_HARNESS_COLUMNS_H

#include "harness/figures.h"

enum harness_table { HARNESS_PACKETS, HARNESS_REQUESTS, HARNESS_TIMES, HARNESS_TABLES };

struct harness_column {
    const char *key;     /* of the CSV, after the test's name */
    const char *heading; /* of the table */
    enum harness_table table;
    int decimals;
    /* −1: there is none. */
    double (*value)(const struct harness_figures *figures, const struct harness_column *column);
    enum link_way way; /* for the values that have one */
    enum packet_kind kind;
};

extern const struct harness_column harness_columns[];
extern const size_t harness_column_count;

/* A value as text; `none` where there is none. */
#define HARNESS_FIGURE_LENGTH 32
const char *harness_figure(const struct harness_column *column,
                           const struct harness_figures *figures, const char *none,
                           char text[HARNESS_FIGURE_LENGTH]);

#endif
