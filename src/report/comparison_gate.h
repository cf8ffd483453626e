/*
 * comparison_gate.h - pass or fail: the expressions of --fail-if.
 *
 * Grammar: gate[,gate...], where a gate is slower or faster, with >NUMBER% behind it or not; the
 * number has digits and an optional fraction. A case fails a gate if its verdict is the gate's word
 * and the difference is larger than the number: the time after ÷ the time before above 1.05 for
 * slower>5%, the time before ÷ the time after for faster>5%. A difference that was not shown fails
 * no gate, however large it looks. Pure.
 */
#ifndef AFPBENCH_REPORT_COMPARISON_GATE_H
#define AFPBENCH_REPORT_COMPARISON_GATE_H

#include "stats/compare.h"

#define GATE_LIMIT       16
#define GATE_TEXT_LENGTH 32

struct comparison_gate {
    char text[GATE_TEXT_LENGTH]; /* as it was given */
    enum compare_verdict verdict;
    double threshold; /* 0.05 is 5 % */
};

struct comparison_gates {
    struct comparison_gate list[GATE_LIMIT];
    size_t count;
};

/* Adds the gates of an expression. A bad one is ERROR_USAGE and shows the grammar. */
MUST_CHECK bool comparison_gates_parse(const char *expression, struct comparison_gates *gates,
                                       struct error *error);

/* Whether a comparison, decided by compare_decide(), fails the gate. */
bool comparison_gate_fails(const struct comparison_gate *gate, const struct comparison *comparison);

#endif
