/*
 * csv.h - the CSV layout that Netatalk's plot scripts, dashboards and merge scripts read
 * (doc/formats.md): a row for each measured run, five summary rows after a test of two runs or
 * more; at the end of a sweep a block for each test and one for TCP.
 *
 * Where Netatalk's number is wrong the right one stands in the same place: the deviation divides by
 * n - 1, means are not truncated before a rate is made of them. "throughput_mbs" is MiB/s, as
 * theirs. A rate without a duration is 0.00. Microseconds are rounded to nearest.
 */
#ifndef AFPBENCH_REPORT_CSV_H
#define AFPBENCH_REPORT_CSV_H

#include "result/result.h"

#include <stdio.h>

/* The lines that are the same in every file, for those that read or join them. */
#define CSV_RUN_HEADER    "test_name,iteration,file_size_mb,microseconds,throughput_mbs"
#define CSV_SUMMARY_TITLE "# File Size Performance Summary for " /* and the test's name */
#define CSV_SUMMARY_HEADER                                                                         \
    "file_size_bytes,file_size_mb,mean_throughput_mbs,median_throughput_mbs,"                      \
    "min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms"
#define CSV_TCP_TITLE  "# TCP Metrics Evolution Summary"
#define CSV_TCP_HEADER "metric,initial,final,delta"

struct csv_report {
    FILE *out; /* the caller's */
    bool header_written;
};

/* An observer that writes to csv->out; `csv` must stay where it is. */
struct observer csv_observer(struct csv_report *csv);

#endif
