/*
 * marks.h - the lines that a test program writes to --mark-fd, read strictly
 * (doc/formats.md, "Marks"). Pure.
 */
#ifndef AFPBENCH_HARNESS_MARKS_H
#define AFPBENCH_HARNESS_MARKS_H

#include "harness/result.h"

#define MARK_LENGTH 400

struct harness_mark {
    bool begin; /* else the end */
    char test[HARNESS_TEST_LENGTH];
    uint64_t size_bytes;
    struct harness_run run; /* an end has its counts; no traffic */
};

/* A line without its end. ERROR_PROTOCOL for any other text. */
bool harness_mark_parse(const char *line, struct harness_mark *mark, struct error *error);

/* Whether an end belongs to a begin. */
bool harness_mark_ends(const struct harness_mark *end, const struct harness_mark *begin);

#endif
