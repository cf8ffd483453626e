/*
 * verdict.h - is B slower or faster than A, and does a gate hold? (doc/method.md, "Comparing")
 *
 * The unit is a pair: one invocation of A and one of B, back to back, in an order that a seeded
 * coin chose. Of each pair and each case (a test on a size) comes one d = log(time of B ÷ time of
 * A), with the median time of the runs inside the invocation. If A and B are alike, the coin makes
 * each sign of d a fair toss, however the machine drifts: the interval from the k-th smallest to
 * the k-th largest d misses "no difference" in at most 5 % of comparisons, all cases, both
 * directions and all three looks (at N, 2N and 4N pairs) together.
 *
 * Everything here is pure: no I/O, no memory of its own, no clock. Ratios are times of B by those
 * of A: above 1 is slower.
 */
#ifndef AFPBENCH_STATS_VERDICT_H
#define AFPBENCH_STATS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#define VERDICT_LEVEL 0.05 /* false alarms per comparison */
#define VERDICT_WORDS 0.01 /* differences up to 1 % are not called slower or faster */
#define VERDICT_LOOKS 3    /* at N, 2N and 4N pairs; each takes a third of the level */

enum verdict_kind {
    VERDICT_NOT_DECIDED, /* too few pairs for an interval */
    VERDICT_NO_DIFFERENCE,
    VERDICT_FASTER,
    VERDICT_SLOWER
};

/* A case. */
struct verdict {
    enum verdict_kind kind;
    size_t pairs, cases;
    size_t k;         /* 0: no interval */
    double ratio;     /* exp(median d) */
    double low, high; /* the interval of the ratio; only with k above 0 */
    double p;         /* at most VERDICT_LEVEL exactly when the interval excludes 1 */
};

/* What a time may not be: slower, or faster, than `margin` (0.05 is 5 %). */
struct verdict_gate {
    bool faster;
    double margin;
};

enum gate_outcome { GATE_PASSED, GATE_NOT_DECIDED, GATE_FAILED };

/* What would decide a gate. */
enum verdict_remedy {
    VERDICT_DECIDED,
    VERDICT_MORE_PAIRS, /* `total` pairs, within the plan */
    VERDICT_PLAN_ENDS,  /* `total` pairs, which are more than the plan's last look */
    VERDICT_NO_REMEDY   /* more pairs will not help: the change is as large as the gate */
};

struct verdict_answer {
    enum gate_outcome outcome;
    enum verdict_remedy remedy;
    size_t total; /* pairs in all that it would take, the median of the guess; 0: unknown */
};

/* The largest k with 2·P(fewer than k heads in `pairs` tosses) at most the level by 3 · cases. */
size_t verdict_k(size_t pairs, size_t cases);

/* The fewest pairs that reach k in so many cases. */
size_t verdict_fewest_pairs(size_t cases, size_t k);

/* Whether this number of pairs is one that may be looked at: N, 2N or 4N. */
bool verdict_is_look(size_t pairs, size_t planned);

/* Sorts `d` (pairs values, pairs and cases above 0) and judges it. */
struct verdict verdict_decide(double *d, size_t pairs, size_t cases);

/* A gate on one case; `d` as verdict_decide() sorted it, `planned` the plan's N. Fails when the
 * interval lies wholly above the margin, passes when wholly at or below it. */
struct verdict_answer verdict_ask(const struct verdict_gate *gate, const struct verdict *verdict,
                                  const double *d, size_t planned);

/* Of a gate on several cases: failed if one failed, passed if all passed. */
enum gate_outcome verdict_worse(enum gate_outcome a, enum gate_outcome b);

/* "Still warming up": `d` are the log(first run ÷ median of the others), one of each invocation;
 * sorts them. True when their interval lies wholly above 1. */
bool verdict_still_warming(double *d, size_t invocations, size_t cases);

/* Whether a side drifted: the medians of the halves of its times, in order of measuring, differ by
 * over half the margin. Sorts each half. False below four. */
bool verdict_drifted(double *times, size_t count, double margin);

#define VERDICT_TEXT_LENGTH 160

/* "slower", "faster", "no difference shown", "not decided". */
const char *verdict_kind_text(enum verdict_kind kind);
/* "passed", "failed", "not decided". */
const char *verdict_outcome_text(enum gate_outcome outcome);

/* "slower, by 7.9 to 13.1 %", "no difference shown: 6.3 % faster to 7.1 % slower",
 * "not decided: 8 pairs cannot decide 7 cases; needs 2 more". */
const char *verdict_text(const struct verdict *verdict, char text[VERDICT_TEXT_LENGTH]);

/* "not decided: 1.7 to 2.6 % slower, gate 2 %; needs about 98 pairs more", or of a gate that is
 * decided "passed: …", "failed: …". */
const char *verdict_answer_text(const struct verdict_answer *answer,
                                const struct verdict_gate *gate, const struct verdict *verdict,
                                char text[VERDICT_TEXT_LENGTH]);

#endif
