/*
 * text.h - results as the manual page of afp_speedtest shows them: a header for each test, a row
 * for each measured run, TAB between columns, nothing else.
 *
 *     Read quantum 1048576, size 67108864
 *     run	 microsec	  KB/s
 *     1	   251577	260500.76
 *
 * Microseconds are rounded to nearest; KB is 1024 bytes; the rate is made from the nanoseconds.
 */
#ifndef AFPBENCH_REPORT_TEXT_H
#define AFPBENCH_REPORT_TEXT_H

#include "result/result.h"

#include <stdio.h>

struct text_report {
    FILE *out; /* the caller's */
};

/* The observer functions; the context is the struct text_report. Each row is flushed, so that it
 * stays valid whatever comes next; an output that cannot be written is ERROR_SYSTEM. */
bool text_begin(void *context, const struct test_case *test, struct error *error);
bool text_sample(void *context, const struct test_case *test, const struct sample *sample,
                 struct error *error);

#endif
