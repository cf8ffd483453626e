/*
 * write_tables.h - what afp_perftest prints for people: the banner before a run, and the tables
 * after all of them. Reads the result model only; writes to the stream that it is given.
 */
#ifndef AFPBENCH_HARNESS_WRITE_TABLES_H
#define AFPBENCH_HARNESS_WRITE_TABLES_H

#include "harness/result.h"

#include <stdio.h>

/* The conditions: rate asked and measured, delay, RTT, MTU, MSS, quantum asked and offered,
 * read-ahead, iterations, server, link, congestion control. */
void harness_write_banner(FILE *out, const struct harness_result *result);

/* One line for each run: run, mss, mtu, packets, mean sizes, the picture's file or "-". */
void harness_write_summary(FILE *out, const struct harness_result *const *results, size_t count);

/* Of one run: the packets of each size, then the figures of each size and test, then the totals. */
void harness_write_tables(FILE *out, const struct harness_result *result);

#endif
