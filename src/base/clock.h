/* clock.h - the monotonic clock in nanoseconds, and the units of time. */
#ifndef AFPBENCH_BASE_CLOCK_H
#define AFPBENCH_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

/* CLOCK_MONOTONIC: not moved by a step of the wall clock. */
static inline uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
