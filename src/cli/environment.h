/* environment.h - the machine a run ran on: what the conditions of a result record of it. */
#ifndef AFPBENCH_CLI_ENVIRONMENT_H
#define AFPBENCH_CLI_ENVIRONMENT_H

#include "result/result.h"

/* CPU time of the whole machine at one moment, in ticks. */
struct environment_clock {
    uint64_t total_ticks;
    uint64_t steal_ticks;
    bool known;
};

/* Fills host, kernel, CPU, start time and load before. */
void environment_begin(struct conditions *conditions, struct environment_clock *clock);

/* Fills load after, steal since environment_begin(), and the warning that belongs beside the
 * numbers: more than 1 % of the CPU time stolen, or a load at the start above the number of CPUs.
 */
void environment_end(struct conditions *conditions, const struct environment_clock *clock);

#endif
