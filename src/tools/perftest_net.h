/*
 * perftest_net.h - NAME-net.csv and NAME-net.txt of afp_perftest (doc/formats.md, "Shaped link").
 * Reads the result model only; the caller checks the stream.
 */
#ifndef AFPBENCH_TOOLS_PERFTEST_NET_H
#define AFPBENCH_TOOLS_PERFTEST_NET_H

#include "netlab/perf_result.h"

#include <stdio.h>

/* A row for each size: the seven columns of Netatalk's harness, the packets of the size by kind,
 * then the figures of each test. */
void perftest_write_net_csv(FILE *out, const struct perf_result *result);

/* "key: value" lines: first those of Netatalk's harness, then ours. */
void perftest_write_net_text(FILE *out, const struct perf_result *result);

#endif
