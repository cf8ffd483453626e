/*
 * perftest_marks.h - the lines that a test program writes to --mark-fd, read strictly
 * (doc/formats.md, "Marks"). Pure.
 */
#ifndef AFPBENCH_TOOLS_PERFTEST_MARKS_H
#define AFPBENCH_TOOLS_PERFTEST_MARKS_H

#include "netlab/perf_result.h"

#define MARK_LENGTH 400

struct perftest_mark {
    bool begin; /* else the end */
    char test[PERF_TEST_LENGTH];
    uint64_t size_bytes;
    struct perf_run run; /* an end has its counts; no traffic */
};

/* A line without its end. ERROR_PROTOCOL for any other text. */
bool perftest_mark_parse(const char *line, struct perftest_mark *mark, struct error *error);

/* Whether an end belongs to a begin. */
bool perftest_mark_ends(const struct perftest_mark *end, const struct perftest_mark *begin);

#endif
