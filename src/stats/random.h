/*
 * random.h - a small seeded generator for resampling: the same seed gives the same result on every
 * machine. SplitMix64; not for secrets.
 */
#ifndef AFPBENCH_STATS_RANDOM_H
#define AFPBENCH_STATS_RANDOM_H

#include <stdint.h>

struct stats_random {
    uint64_t state; /* set it to the seed */
};

uint64_t stats_random_next(struct stats_random *random);

/* Uniform in [0, limit), without bias; limit above 0. */
uint32_t stats_random_below(struct stats_random *random, uint32_t limit);

#endif
