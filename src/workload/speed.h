/*
 * speed.h - the throughput tests.
 *
 * Each test is one file, speed_<name>.c, with a `struct speed_test`, and one row in
 * result/test_rows.h. A test works on files "Source" and "Destination" in the target's working
 * directory. What is timed is in its timed() alone (doc/method.md, "What is timed"): Write with the
 * flush, Read and Copy the requests, ServerCopy the one command; never opening, creating, filling,
 * deleting.
 */
#ifndef AFPBENCH_WORKLOAD_SPEED_H
#define AFPBENCH_WORKLOAD_SPEED_H

#include "result/result.h"
#include "result/tests.h"
#include "workload/flow.h"
#include "workload/measure.h"

struct speed_options {
    uint64_t size_bytes;  /* of the file */
    bool size_given;      /* else a test that reads existing_file takes that file's size */
    uint32_t chunk_bytes; /* data per request; 0: the target's own */
    enum flow_policy policy;
    uint32_t depth;
    enum flow_sink sink;
    bool sparse;
    bool flush;                /* after a write */
    const char *existing_file; /* to read from; NULL: a temporary file */
    struct measure_plan measure;
};

struct speed_test;

/* The state of one test while it runs. */
struct speed_run {
    const struct speed_test *test;
    const struct speed_options *options;
    struct target *target;
    struct payload payload;
    uint64_t size_bytes;
    struct target_file *source;      /* NULL: not open */
    struct target_file *destination; /* NULL: not open */
    bool made;                       /* the test's own files exist */
    enum cache_state cache;          /* of what Read reads */
    struct flow fill;                /* writes the source */
    struct flow flow;                /* what is timed; unused by ServerCopy */
};

struct speed_test {
    const struct test_facts *facts;
    bool uses_existing_file; /* reads a file that was there */
    bool has_source;         /* reads a file that must be filled first */
    bool has_destination;    /* writes a file */
    /* As in struct workload; the context is the struct speed_run. */
    MUST_CHECK bool (*prepare)(void *run, bool fresh, struct error *error);
    MUST_CHECK bool (*timed)(void *run, struct sample_counts *counts, struct error *error);
    MUST_CHECK bool (*restore)(void *run, struct error *error);
};

/* In the order of known_tests[], as many. */
extern const struct speed_test *const speed_tests[];
extern const size_t speed_test_count;

/* By name in any case; NULL if there is none. */
const struct speed_test *speed_test_by_name(const char *name, size_t length);

/* Whether the options fit the target: ERROR_LIMIT for a chunk above the target's limit or a size
 * that its calls do not reach. Nothing is created. */
MUST_CHECK bool speed_options_check(const struct speed_options *options,
                                    const struct target *target, struct error *error);

/* Checks free space, then runs one test with one session for each target: `runs` is an array of as
 * many as there are targets, provided by the caller. The case is added to `result` and told to the
 * observers; a failure is noted in it. A test that the server cannot run is skipped, with a note.
 * The caller cleans the targets up afterwards, whatever the outcome, and then calls
 * speed_run_release() on each run. */
MUST_CHECK bool speed_test_run(struct speed_run *runs, const struct speed_test *test,
                               const struct speed_options *options, struct target *const *targets,
                               size_t target_count, struct result *result,
                               const struct observers *observers, struct error *error);

/* Releases the buffers; only when the target has no operation outstanding. */
void speed_run_release(struct speed_run *run);

/* ---- Steps that the tests share ---- */

#define SPEED_SOURCE      "Source"
#define SPEED_DESTINATION "Destination"

/* Brings the test's files into being, open and filled; with `fresh` anew. */
MUST_CHECK bool speed_make_files(void *run, bool fresh, struct error *error);

/* Closes a file and forgets it; fine if it is not open. */
MUST_CHECK bool speed_close(struct speed_run *run, struct target_file **file, struct error *error);

/* A restore step with nothing to restore. */
MUST_CHECK bool speed_nothing(void *run, struct error *error);

#endif
