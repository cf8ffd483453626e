/*
 * comparison_gate.h - pass or fail: the expressions of --fail-if.
 *
 * Grammar: gate[,gate...], where a gate is slower or faster, with >NUMBER% behind it or not (then 1
 * %); the number has digits and an optional fraction. What a gate says of a case is
 * verdict_ask()'s. Pure.
 */
#ifndef AFPBENCH_REPORT_COMPARISON_GATE_H
#define AFPBENCH_REPORT_COMPARISON_GATE_H

#include "base/error.h"
#include "stats/verdict.h"

#define GATE_LIMIT       16
#define GATE_TEXT_LENGTH 32

struct comparison_gate {
    char text[GATE_TEXT_LENGTH]; /* as it was given */
    struct verdict_gate asks;
};

struct comparison_gates {
    struct comparison_gate list[GATE_LIMIT];
    size_t count;
};

/* Adds the gates of an expression. A bad one is ERROR_USAGE and shows the grammar. */
MUST_CHECK bool comparison_gates_parse(const char *expression, struct comparison_gates *gates,
                                       struct error *error);

#endif
