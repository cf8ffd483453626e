/*
 * write_net.h - NAME-net.csv and NAME-net.txt of afp_perftest (doc/formats.md, "Shaped link").
 * Reads the result model only; the caller checks the stream.
 */
#ifndef AFPBENCH_HARNESS_WRITE_NET_H
#define AFPBENCH_HARNESS_WRITE_NET_H

#include "harness/result.h"

#include <stdio.h>

/* A row for each size: the seven columns of Netatalk's harness, the packets of the size by kind,
 * then the figures of each test. */
void harness_write_net_csv(FILE *out, const struct harness_result *result);

/* "key: value" lines: first those of Netatalk's harness, then ours. */
void harness_write_net_text(FILE *out, const struct harness_result *result);

#endif
