/*
 * read_result.h - results that were stored in a file, read back for comparing.
 *
 * Reads what afp_speedtest and Netatalk's tool of the same name write: our JSON document
 * (doc/result.schema.json), the CSV that both print, and Netatalk's older CSV, also inside a log.
 * The format is told from the content. What comes out is small: the conditions that must agree
 * before two results compare, and for each test and size the durations of its measured runs;
 * warm-ups are left out.
 *
 * The files are untrusted: sizes, line lengths and counts are bounded, numbers are strict, nothing
 * recurses over the input, and an error names the file, the place and what was expected there.
 * Texts may hold any character that UTF-8 has; writers escape them (comparison_escape.h).
 *
 * A result owns all that it points to and is released with stored_result_release(). Times are
 * nanoseconds, sizes bytes. Pure but for read_result_file(); one result is used by one thread.
 */
#ifndef AFPBENCH_REPORT_READ_RESULT_H
#define AFPBENCH_REPORT_READ_RESULT_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct json_t; /* jansson.h */

#define STORED_FILE_LIMIT  (UINT64_C(64) << 20) /* bytes of one file */
#define STORED_CASE_LIMIT  1024                 /* tests × sizes in one file */
#define STORED_RUN_LIMIT   1000000              /* measured runs in one file */
#define STORED_TEST_LENGTH 32                   /* of a test's name, with its end */

/* What must agree between two results as a whole. What only servers have, or only directories, says
 * nothing where the targets differ. */
enum stored_condition {
    STORED_KERNEL,
    STORED_MACHINE,
    STORED_CPU,
    STORED_CPU_COUNT,
    STORED_CPUS_ALLOWED,
    STORED_CPU_QUOTA,
    STORED_MEMORY_LIMIT,
    STORED_TARGET, /* "AFP server", or "directory" with POSIX calls */
    STORED_LINK,   /* its shape, of afp_perftest; "none": no link of ours between them */
    /* Of a server: */
    STORED_SERVER_TYPE,
    STORED_QUANTUM,
    STORED_AFP_VERSION,
    STORED_REFERENCE_STORE, /* "none": no embedded reference server */
    /* Of a directory: */
    STORED_FILE_SYSTEM,
    STORED_DIRECT,
    /* Of either: */
    STORED_SECOND_PLACE, /* "yes": copies went to a second volume or directory */
    STORED_CONDITIONS
};

/* "kernel", "machine", … */
extern const char *const stored_condition_names[STORED_CONDITIONS];

/* What must agree between two cases. */
enum stored_case_condition {
    STORED_CHUNK,
    STORED_OUTSTANDING,
    STORED_INTERLEAVED,
    STORED_SESSIONS,
    STORED_SPARSE,
    STORED_SINK, /* what becomes of data read */
    STORED_FLUSH,
    STORED_NEW_FILES,
    STORED_EXISTING_FILE,
    STORED_CLIENT_CACHE, /* what a Read over POSIX calls found in the client's own cache */
    STORED_CASE_CONDITIONS
};

extern const struct stored_case_condition_row {
    const char *name;         /* "chunk in bytes", … */
    const char *const *words; /* that the values 0, 1, … stand for, then NULL; NULL: a number */
    bool may_be_absent;       /* 0 agrees with everything: the target says why it has none */
} stored_case_condition_rows[STORED_CASE_CONDITIONS];

/* A test on one size. */
struct stored_case {
    char test[STORED_TEST_LENGTH]; /* a letter, then letters and digits */
    uint64_t size_bytes;           /* of one session's file */
    bool size_exact;               /* false: known to a thousandth of a MiB, as CSV prints it */
    uint64_t run_bytes;            /* of all sessions' files: what a rate is made of */
    uint64_t conditions[STORED_CASE_CONDITIONS]; /* meaningless without has_conditions */
    double *durations_ns;                        /* of the measured runs, in their order */
    size_t count, capacity;
};

struct stored_result {
    const char *format;                  /* "afpbench JSON"; static */
    char *started;                       /* "2026-11-30T10:00:00Z"; NULL: not recorded */
    char *directory;                     /* the target, which may differ; NULL: not a directory */
    bool has_conditions;                 /* false: the format carries none */
    char *conditions[STORED_CONDITIONS]; /* NULL: not recorded, or of the other target */
    bool incomplete;                     /* not all that was asked for ran */
    char *why_incomplete;                /* NULL: nobody knows */
    char *warning;                       /* what made the figures doubtful; NULL: nothing */
    struct stored_case *cases;           /* in the file's order; no two of the same test and size */
    size_t case_count, case_capacity;
    size_t run_count; /* of all cases */
};

/* Reads a file whole. Errors: ERROR_SYSTEM, ERROR_LIMIT (too large), ERROR_CONTENT (not readable as
 * a result). `result` is to be released after a failure too. */
MUST_CHECK bool read_result_file(const char *path, struct stored_result *result,
                                 struct error *error);

/* The same for bytes in memory; `name` stands for the file in messages. */
MUST_CHECK bool read_result_buffer(const char *name, const char *bytes, size_t size,
                                   struct stored_result *result, struct error *error);

/* The same for a JSON document in memory, which stays as it is. */
MUST_CHECK bool read_result_document(const struct json_t *document, struct stored_result *result,
                                     struct error *error);

void stored_result_release(struct stored_result *result);

/* The same test on the same size; a size that is not exact matches by what CSV prints of it. */
bool stored_case_matches(const struct stored_case *a, const struct stored_case *b);

/* MiB in thousandths, rounded as printf does with "%.3f": what CSV prints of a size. */
uint64_t stored_size_thousandths(uint64_t size_bytes);

#endif
