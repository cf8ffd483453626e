/*
 * read_set.h - several invocations of a test program, read back from files.
 *
 * A file is a result (read_result.h), or a document of the schema INVOCATIONS_SCHEMA_NAME that
 * holds the results of several invocations, with their places in pairs. Of a directory all files
 * whose names end in ".json" are read, in the order of their names.
 *
 * A set owns its results; it is to be released after a failure too. Used by one thread.
 */
#ifndef AFPBENCH_REPORT_READ_SET_H
#define AFPBENCH_REPORT_READ_SET_H

#include "report/read_result.h"
#include "result/invocation.h"

#define STORED_INVOCATION_LIMIT 100000

struct stored_invocation {
    struct invocation_place place; /* zeros: the file says none */
    struct stored_result result;
};

struct stored_set {
    struct invocation_plan plan; /* zeros: no plan */
    struct stored_invocation *list;
    size_t count, capacity;
};

/* Adds what is in a file or directory. Errors as read_result_file(); ERROR_CONTENT also for a
 * directory without a result. */
MUST_CHECK bool read_set(const char *path, struct stored_set *set, struct error *error);

/* By the start that each result states; those that state none, or the same, stay as they are. */
void stored_set_sort(struct stored_set *set);

void stored_set_release(struct stored_set *set);

#endif
