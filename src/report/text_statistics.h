/* text_statistics.h - what -T adds to the text: a block after each test, tables at the end. */
#ifndef AFPBENCH_REPORT_TEXT_STATISTICS_H
#define AFPBENCH_REPORT_TEXT_STATISTICS_H

#include "result/result.h"

#include <stdio.h>

/* Nothing for a case without measured runs. */
void text_statistics_block(FILE *out, const struct result_case *result_case);

void text_statistics_tables(FILE *out, const struct result *result);

#endif
