/* made_result.h - results made by hand, for the reports: durations and TCP's values as a test wants
 * them. Allocated like any result; result_release() frees them. */
#ifndef AFPBENCH_TESTS_MADE_RESULT_H
#define AFPBENCH_TESTS_MADE_RESULT_H

#include "result/result.h"

#include <stdio.h>

/* Adds a case whose samples have these durations, warm-ups first. */
struct result_case *made_case(struct result *result, const struct test_case *test,
                              const uint64_t *durations_ns);

/* Lets the snapshot have a field; those before it in the kernel's structure are then known too. */
void made_tcp_field(struct tcp_snapshot *snapshot, size_t field, uint64_t value);

/* What the TCP tables need, up to the RTT's variance; what lies between is known too and 0. */
void made_tcp(struct tcp_snapshot *tcp, uint32_t send_buffer, uint32_t window, uint32_t threshold,
              uint32_t rtt_us, uint32_t variance_us);

/* The whole life of a case and of a result, as the bench tells it; false if an observer fails. */
bool made_told(const struct observer *observer, const struct result *result, struct error *error);

/* What an observer printed, to be freed. */
struct made_output {
    FILE *file;
    char *text;
    size_t size;
};

void made_output_open(struct made_output *output);
/* Closes the file and compares, then frees. */
void made_output_check(struct made_output *output, const char *expected);

#endif
