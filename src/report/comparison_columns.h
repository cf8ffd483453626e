/*
 * comparison_columns.h - the table of a comparison, column by column, as text and Markdown print
 * it. Cells are ASCII; a figure that does not exist is "-". Pure.
 */
#ifndef AFPBENCH_REPORT_COMPARISON_COLUMNS_H
#define AFPBENCH_REPORT_COMPARISON_COLUMNS_H

#include "report/comparison_report.h"

#define CELL_LENGTH 80

struct comparison_column {
    const char *heading;
    const char *unit; /* "": none */
    bool left;        /* aligned to the left */
    void (*cell)(const struct comparison_row *row, char text[CELL_LENGTH]);
};

extern const struct comparison_column comparison_columns[];
extern const size_t comparison_column_count;

/* "12.3 % slower", "4.0 % faster": the ratio of a row with COMPARISON_MADE in words. */
const char *comparison_change_text(const struct comparison_row *row, char text[CELL_LENGTH]);

#endif
