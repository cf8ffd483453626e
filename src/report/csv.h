/*
 * csv.h - results as CSV (csv_layout.h): a row for each measured run, five summary rows after a
 * test of two runs or more; at the end of a sweep a block for each test and one for TCP.
 *
 * Where Netatalk's number is wrong the right one stands in the same place: the deviation divides by
 * n - 1, means are not truncated before a rate is made of them. "throughput_mbs" is MiB/s, as
 * theirs. A rate without a duration is 0.00. Microseconds are rounded to nearest.
 */
#ifndef AFPBENCH_REPORT_CSV_H
#define AFPBENCH_REPORT_CSV_H

#include "result/result.h"

#include <stdio.h>

struct csv_report {
    FILE *out; /* the caller's */
    bool header_written;
};

/* An observer that writes to csv->out; `csv` must stay where it is. */
struct observer csv_observer(struct csv_report *csv);

#endif
