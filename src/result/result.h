/*
 * result.h - what a benchmark measured: samples, and who is told about them.
 *
 * bench/ produces, observers consume: text, later CSV and JSON, each read this model only. Times
 * are nanoseconds of the monotonic clock, sizes are bytes. Plain values; strings are borrowed and
 * live as long as the program's options.
 */
#ifndef AFPBENCH_RESULT_RESULT_H
#define AFPBENCH_RESULT_RESULT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* What a timed section moved. */
struct sample_counts {
    uint64_t bytes;    /* payload: read + written for Copy counts the file once */
    uint64_t requests; /* AFP requests, the flush and the server copy included */
    uint64_t runts;    /* reads and writes smaller than the chunk */
};

struct sample {
    uint32_t number; /* from 1; warm-ups have their own count */
    bool warmup;
    uint64_t size_bytes; /* of the file: what the rate is made of */
    uint64_t duration_ns;
    struct sample_counts counts;
};

/* A test about to run on one size. */
struct test_case {
    const char *name;     /* "Read" */
    uint32_t chunk_bytes; /* data of one full request, as really used */
    uint64_t size_bytes;
    bool sparse;
    uint32_t warmups;
    uint32_t iterations;
};

/* Told in this order: begin, then any of sample, note, progress; then end or failure. Each may be
 * NULL. on_begin and on_sample return false when the output cannot be written, which ends the run.
 */
struct observer {
    bool (*on_begin)(void *context, const struct test_case *test, struct error *error);
    bool (*on_sample)(void *context, const struct test_case *test, const struct sample *sample,
                      struct error *error);
    /* Something a person should know: a test that is skipped, a file kept. One line, no newline. */
    void (*on_note)(void *context, const char *text);
    /* Before each run: what comes. */
    void (*on_progress)(void *context, const struct test_case *test, uint32_t number, bool warmup);
    void *context;
};

#endif
