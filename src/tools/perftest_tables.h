/*
 * perftest_tables.h - what afp_perftest prints for people: the banner before a run, and the tables
 * after all of them. Reads the result model only; writes to the stream that it is given.
 */
#ifndef AFPBENCH_TOOLS_PERFTEST_TABLES_H
#define AFPBENCH_TOOLS_PERFTEST_TABLES_H

#include "netlab/perf_result.h"

#include <stdio.h>

/* The conditions: rate asked and measured, delay, RTT, MTU, MSS, quantum asked and offered,
 * read-ahead, iterations, server, link, congestion control. */
void perftest_write_banner(FILE *out, const struct perf_result *result);

/* One line for each run: run, mss, mtu, packets, mean sizes, the picture's file or "-". */
void perftest_write_summary(FILE *out, const struct perf_result *const *results, size_t count);

/* Of one run: the packets of each size, then the figures of each size and test, then the totals. */
void perftest_write_tables(FILE *out, const struct perf_result *result);

#endif
