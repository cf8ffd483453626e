/*
 * comparison_report.h - two stored results set against each other: one row for each test and size,
 * and the conditions that differ (doc/method.md, "Comparing").
 *
 * The unit is a run; the ratio is that of the medians of the times, after ÷ before, above 1 is
 * slower; the test is Mann-Whitney's with Holm's correction over all rows. Stored sets were
 * measured one after the other, so whatever drifted in between looks like a difference: the report
 * says so (comparison_closing).
 *
 * A report owns its rows and differences and borrows the two results and their names, which must
 * live as long. Errors are said, nothing is printed. Writers are in comparison_format.h.
 */
#ifndef AFPBENCH_REPORT_COMPARISON_REPORT_H
#define AFPBENCH_REPORT_COMPARISON_REPORT_H

#include "report/comparison_gate.h"
#include "report/read_result.h"
#include "stats/compare.h"

#define COMPARISON_NOISE_FLOOR 0.01 /* differences up to 1 % are none */

#define COMPARISON_TEXT_LENGTH 160 /* of a condition's value */
#define COMPARISON_NAME_LENGTH 80  /* of a row: "Read 64 MiB" */

enum comparison_state {
    COMPARISON_MADE,
    COMPARISON_NO_RATIO,       /* a run of duration 0 */
    COMPARISON_NO_RUNS_BEFORE, /* the case is there, without a measured run */
    COMPARISON_NO_RUNS_AFTER,
    COMPARISON_ONLY_BEFORE, /* not in the other result */
    COMPARISON_ONLY_AFTER,
    COMPARISON_STATES
};

/* One side of a row. */
struct comparison_side {
    size_t count; /* measured runs; 0: nothing else is known */
    double median_ns;
    double rate_mib; /* MiB/s at the median; 0: none */
};

struct comparison_row {
    const char *test;
    uint64_t size_bytes; /* of one session's file */
    enum comparison_state state;
    struct comparison_side before, after;
    /* Only with COMPARISON_MADE: */
    struct comparison figures;
    bool too_few_runs; /* so few that even the clearest difference could not have been shown */
    const struct comparison_gate *failed_gate; /* the first that the row fails, or NULL */
};

/* A condition that the two results do not share. */
struct comparison_difference {
    const char *condition;
    char before[COMPARISON_TEXT_LENGTH], after[COMPARISON_TEXT_LENGTH];
    char row[COMPARISON_NAME_LENGTH]; /* the first row that has it; "" for the whole result */
    size_t row_count;                 /* how many rows have it; 0 for the whole result */
};

struct comparison_report {
    const char *before_name, *after_name;
    const struct stored_result *before, *after;
    struct comparison_row *rows; /* by test, then by size */
    size_t row_count;
    size_t made_count; /* rows with COMPARISON_MADE */
    struct comparison_difference *differences;
    size_t difference_count;
    struct comparison_gates gates;
    size_t failed_count; /* rows that fail a gate */
};

/* Sets up rows, figures, verdicts, differences and gates. It is for the caller to refuse a report
 * with differences. `gates` may be NULL. ERROR_CONTENT if no case is in both results. The report is
 * to be released after a failure too. */
MUST_CHECK bool comparison_report_make(struct comparison_report *report, const char *before_name,
                                       const struct stored_result *before, const char *after_name,
                                       const struct stored_result *after,
                                       const struct comparison_gates *gates, double noise_floor,
                                       struct error *error);

void comparison_report_release(struct comparison_report *report);

/* Rows with this verdict. */
size_t comparison_report_count(const struct comparison_report *report,
                               enum compare_verdict verdict);

/* The smallest effect that the row's runs could have shown 9 times in 10, were it the only row:
 * 0.05 is 5 %. False: unknown, since there are too few runs. */
bool comparison_row_smallest_effect(const struct comparison_row *row, double *effect);

/* The verdict, or why there is none: "no ratio: a run of duration 0", "only in A", … */
const char *comparison_row_outcome(const struct comparison_row *row);

/* "Read 64 MiB", in the largest unit that divides the size; a size of 0 is "under 0.001 MiB". */
const char *comparison_row_name(const struct comparison_row *row,
                                char name[COMPARISON_NAME_LENGTH]);
const char *comparison_size_text(uint64_t size_bytes, char text[COMPARISON_NAME_LENGTH]);

/* The sentence that ends every report. */
extern const char comparison_closing[];

#endif
