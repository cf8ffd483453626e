/*
 * write_csv.h - the CSV of several invocations, a size each, as the CSV of one sweep.
 *
 * One header; all rows of the runs in order, without blank lines; then for each test, as first
 * seen, its summary block with the rows of all sizes; then the TCP block of the last invocation.
 * The layout is that of a single sweep (report/csv.h). Pure.
 */
#ifndef AFPBENCH_HARNESS_WRITE_CSV_H
#define AFPBENCH_HARNESS_WRITE_CSV_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

/* ERROR_CONTENT names the fragment and line that is none of such a CSV. A fragment that is NULL is
 * left out. */
bool harness_write_csv(FILE *out, const char *const *fragments, size_t count, struct error *error);

#endif
