/*
 * marks.h - a mark: the line that tells of the begin or the end of a run (doc/formats.md, "Marks").
 *
 * afp_speedtest writes it to --mark-fd, afp_perftest reads it there; both go by one table of the
 * line's fields. Pure.
 *
 * To add a field: a row in the table of marks.c.
 */
#ifndef AFPBENCH_RESULT_MARKS_H
#define AFPBENCH_RESULT_MARKS_H

#include "result/result.h"

#define MARK_LENGTH      400 /* of a line, with its end */
#define MARK_TEST_LENGTH 24  /* of a test's name, with its end */

/* The answer to an end that wants the run made again; any other line means: go on. */
#define MARK_AGAIN "again"

struct mark {
    bool begin; /* else the end */
    char test[MARK_TEST_LENGTH];
    uint64_t size_bytes; /* of one session's file */
    uint32_t number;
    bool warmup;
    /* Of an end only: */
    struct sample_counts counts; /* no histogram */
    uint64_t duration_ns;
};

/* The mark as a line with its newline; returns its length. */
size_t mark_write(const struct mark *mark, char line[MARK_LENGTH]);

/* A line without its end, read strictly. ERROR_PROTOCOL for any other text. */
MUST_CHECK bool mark_read(const char *line, struct mark *mark, struct error *error);

/* Whether an end belongs to a begin. */
bool mark_ends(const struct mark *end, const struct mark *begin);

#endif
