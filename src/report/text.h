/*
 * text.h - results as the manual page of afp_speedtest shows them: a header for each test, a row
 * for each measured run, TAB between columns, nothing else.
 *
 *     Read quantum 1048576, size 67108864
 *     run	 microsec	  KB/s
 *     1	   251577	260500.76
 *
 * Microseconds are rounded to nearest; KB is 1024 bytes; the rate is made from the nanoseconds.
 * With `statistics` a block follows each test, and at the end come tables over all sizes and TCP's
 * values (doc/formats.md); MB are 2^20 bytes there.
 */
#ifndef AFPBENCH_REPORT_TEXT_H
#define AFPBENCH_REPORT_TEXT_H

#include "result/result.h"

#include <stdio.h>

struct text_report {
    FILE *out; /* the caller's */
    bool statistics;
};

/* An observer that writes to text->out; `text` must stay where it is. Each row is flushed, so that
 * it stays valid whatever comes next; an output that cannot be written is ERROR_SYSTEM. */
struct observer text_observer(struct text_report *text);

#endif
