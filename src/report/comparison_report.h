/*
 * comparison_report.h - two stored results set against each other: one row for each test and size,
 * and the conditions that differ (doc/method.md, "Comparing").
 *
 * What may be said depends on how the results were measured. Of pairs in random order: verdicts,
 * and gates hold or not. Of sets of invocations that were measured one after the other the i-th
 * makes a pair with the i-th by the same rule; that is a hint, and decides no gate unless the
 * caller accepts the drift. Of one invocation a side: ratios only.
 *
 * A report owns its rows and differences and borrows the results and their names, which must live
 * as long. Errors are said, nothing is printed. Writers are in comparison_format.h.
 */
#ifndef AFPBENCH_REPORT_COMPARISON_REPORT_H
#define AFPBENCH_REPORT_COMPARISON_REPORT_H

#include "report/comparison_gate.h"
#include "report/read_result.h"
#include "result/invocation.h"
#include "stats/verdict.h"

#define COMPARISON_TEXT_LENGTH 160 /* of a condition's value */
#define COMPARISON_NAME_LENGTH 80  /* of a row: "Read 64 MiB" */

enum comparison_basis {
    COMPARISON_SINGLE, /* one invocation a side */
    COMPARISON_SETS,   /* several, measured one after the other */
    COMPARISON_PAIRS   /* in pairs in random order */
};

enum comparison_sides { COMPARISON_BEFORE, COMPARISON_AFTER, COMPARISON_SIDES };

/* What is compared: of each side its invocations, the i-th with the i-th; what one side has more is
 * left out. */
struct comparison_request {
    enum comparison_basis basis;
    uint32_t planned_pairs; /* with COMPARISON_PAIRS */
    const char *names[COMPARISON_SIDES];
    const struct stored_result *const *results[COMPARISON_SIDES];
    size_t counts[COMPARISON_SIDES];
    const struct comparison_gates *gates; /* NULL: none */
    bool accept_drift;                    /* sets decide gates too */
};

enum comparison_state {
    COMPARISON_MADE,
    COMPARISON_NO_RATIO,       /* a run of duration 0 */
    COMPARISON_NO_RUNS_BEFORE, /* the case is there, without a measured run */
    COMPARISON_NO_RUNS_AFTER,
    COMPARISON_GAPS,        /* not in every invocation */
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
    struct verdict figures;
    bool drifted[COMPARISON_SIDES], warming[COMPARISON_SIDES];
    /* Of the gates, the first with the worst outcome; NULL: none asked of this row. */
    const struct comparison_gate *gate;
    enum gate_outcome outcome;
    char reason[VERDICT_TEXT_LENGTH]; /* "failed: 7.9 to 13.1 % slower, gate 5 %" */
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
    enum comparison_basis basis;
    size_t pairs; /* invocations of each side that are compared */
    size_t planned_pairs;
    bool decides; /* gates may pass or fail */
    struct comparison_gates gates;
    enum gate_outcome outcome;            /* of all gates and rows; passed without a gate */
    size_t failed_count, undecided_count; /* rows with that outcome */
};

/* Sets up rows, figures, verdicts, differences and gates. It is for the caller to refuse a report
 * with differences. ERROR_CONTENT if no case is in both results, or if pairs are none of the looks
 * of their plan. The report is to be released after a failure too. */
MUST_CHECK bool comparison_report_make(struct comparison_report *report,
                                       const struct comparison_request *request,
                                       struct error *error);

void comparison_report_release(struct comparison_report *report);

/* Rows with this verdict. */
size_t comparison_report_count(const struct comparison_report *report, enum verdict_kind kind);

/* The verdict with its interval, or why there is none: "ratio only", "only in A", … */
const char *comparison_row_outcome(const struct comparison_report *report,
                                   const struct comparison_row *row,
                                   char text[VERDICT_TEXT_LENGTH]);

/* "Read 64 MiB", in the largest unit that divides the size; a size of 0 is "under 0.001 MiB". */
const char *comparison_row_name(const struct comparison_row *row,
                                char name[COMPARISON_NAME_LENGTH]);
const char *comparison_size_text(uint64_t size_bytes, char text[COMPARISON_NAME_LENGTH]);

/* How it was measured and what that allows to say, a sentence or two. */
const char *comparison_basis_text(const struct comparison_report *report);

#endif
