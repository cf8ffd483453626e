/*
 * write_csv.h - NAME.csv: what the test program printed for each size, as the CSV of one sweep.
 *
 * One header; all rows of the runs in order, without blank lines; then for each test, as first
 * seen, its summary block with the rows of all sizes; then the TCP block of the last invocation.
 * The layout is that of a single sweep (report/csv_layout.h). It is the test program's own text
 * and not made from its document: one that knows no marks (TOOL=) writes none. Pure.
 */
#ifndef AFPBENCH_HARNESS_WRITE_CSV_H
#define AFPBENCH_HARNESS_WRITE_CSV_H

#include "harness/result.h"

#include <stdio.h>

/* ERROR_CONTENT names the size and line that is none of such a CSV. A size without output is left
 * out. */
MUST_CHECK bool harness_write_csv(FILE *out, const struct harness_result *result,
                                  struct error *error);

#endif
