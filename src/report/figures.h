/*
 * figures.h - what the text and CSV reports both print: rates, sizes, and TCP's values at the
 * beginning and end of everything. Pure, but for report_written().
 */
#ifndef AFPBENCH_REPORT_FIGURES_H
#define AFPBENCH_REPORT_FIGURES_H

#include "result/result.h"

#include <stdio.h>

/* Flushes; false if not all that was printed could be written. */
MUST_CHECK bool report_written(FILE *out, struct error *error);

/* MiB/s; 0 for a duration of 0. */
double rate_mib(double bytes, double duration_ns);

/* "4 KB", "64 MB": whole units, as Netatalk's tools print sizes. */
#define SIZE_LABEL_LENGTH 24
const char *size_label(uint64_t size_bytes, char label[SIZE_LABEL_LENGTH]);

/* Whether a test has a measured run. */
bool result_has_runs(const struct result *result, const char *name);

/* One line of the TCP tables. Values are scaled integers; `decimals` of them are behind the point.
 */
struct tcp_row {
    const char *key;   /* of the CSV block */
    const char *label; /* of the text table */
    const char *unit;  /* of the text table, with a leading space, or "" */
    int decimals;
    int64_t initial, final, change;
};

#define TCP_ROW_LIMIT 16

/* From the first sample's beginning to the last one's end; rows that the kernel does not know are
 * left out. */
size_t tcp_rows(const struct result *result, struct tcp_row rows[TCP_ROW_LIMIT]);

/* A scaled integer as text, without a negative zero. */
#define SCALED_TEXT_LENGTH 32
const char *scaled_text(int64_t value, int decimals, char text[SCALED_TEXT_LENGTH]);

#endif
