/*
 * comparison_format.h - the forms in which a comparison is written, and what they share. A form is
 * one file and one row of the table. Writers read the report and nothing else; they write UTF-8 and
 * escape what came from files.
 */
#ifndef AFPBENCH_REPORT_COMPARISON_FORMAT_H
#define AFPBENCH_REPORT_COMPARISON_FORMAT_H

#include "report/comparison_escape.h"
#include "report/comparison_report.h"

#include <stdio.h>

struct comparison_format {
    const char *name; /* of --format */
    void (*write)(FILE *out, const struct comparison_report *report);
};

/* NULL: there is none of this name. */
const struct comparison_format *comparison_format_by_name(const char *name);

/* "text, markdown, junit" */
const char *comparison_format_names(void);

/* Writes and flushes; ERROR_SYSTEM if not everything could be written. */
MUST_CHECK bool comparison_write(const struct comparison_format *format, FILE *out,
                                 const struct comparison_report *report, struct error *error);

/* The rows of the table. */
void comparison_text_write(FILE *out, const struct comparison_report *report);
void comparison_markdown_write(FILE *out, const struct comparison_report *report);
void comparison_junit_write(FILE *out, const struct comparison_report *report);

/* ---- What the forms share ---- */

/* "A.json (afpbench JSON, started 2026-11-30T10:00:00Z, directory /mnt on nfs4; incomplete: …;
 * warning: …)" */
void comparison_write_source(FILE *out, enum escape escape, const char *name,
                             const struct stored_result *result);
/* "chunk in bytes: 1048576 in A, 65536 in B (Read 64 KiB and 5 more)" */
void comparison_write_difference(FILE *out, enum escape escape,
                                 const struct comparison_difference *difference);
/* "6 cases: 1 slower, 0 faster, 5 no difference shown, 2 not compared" */
void comparison_write_count(FILE *out, const struct comparison_report *report);

/* "Read 64 KiB: A is still warming up, …", one call for each doubt; false: no more. */
bool comparison_doubt(const struct comparison_report *report, size_t index,
                      char text[VERDICT_TEXT_LENGTH]);

/* What ratio, interval and p mean, a sentence or two each. */
#define COMPARISON_LEGEND_LINES 2
extern const char *const comparison_legend[COMPARISON_LEGEND_LINES];

#define CELL_LENGTH VERDICT_TEXT_LENGTH

/* The table, column by column. Cells are ASCII; a figure that does not exist is "-". */
struct comparison_column {
    const char *heading;
    const char *unit; /* "": none */
    bool left;        /* aligned to the left */
    void (*cell)(const struct comparison_report *report, const struct comparison_row *row,
                 char text[CELL_LENGTH]);
};

extern const struct comparison_column comparison_columns[];
extern const size_t comparison_column_count;

#endif
