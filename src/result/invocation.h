/*
 * invocation.h - one run of the test program among others: the unit of comparing (doc/method.md,
 * "Comparing"). Runs inside one invocation agree with each other, not with the next process.
 */
#ifndef AFPBENCH_RESULT_INVOCATION_H
#define AFPBENCH_RESULT_INVOCATION_H

#include <stdint.h>

#define INVOCATIONS_SCHEMA_NAME    "afpbench-invocations"
#define INVOCATIONS_SCHEMA_VERSION 1

/* Where an invocation stands. */
struct invocation_place {
    char side;      /* 'A', 'B'; 0: of no comparison */
    uint32_t pair;  /* from 1; 0: none */
    uint32_t place; /* in its pair: 1 ran first, 2 second; 0: none */
};

/* What was to be measured. */
struct invocation_plan {
    uint64_t seed;          /* of the coin that chose the order in each pair */
    uint32_t planned_pairs; /* N; 0: invocations that are no pairs */
};

#endif
