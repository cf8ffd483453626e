/*
 * limits.h - how much of the machine this process may use: processors and memory, by affinity, by
 * control groups of either version (as containers have them) and by the machine itself; and how
 * many descriptors.
 *
 * Read anew at each call. What cannot be read is no limit. Any thread.
 */
#ifndef AFPBENCH_BASE_LIMITS_H
#define AFPBENCH_BASE_LIMITS_H

#include <stdint.h>

struct limits {
    uint32_t processors;        /* it may run on, by affinity */
    double processor_quota;     /* processors' worth of time that its groups get; 0: no quota */
    uint64_t memory_bytes;      /* the least limit of its groups; 0: none */
    uint64_t memory_left_bytes; /* what it can still take before a group or the machine is out of
                                 * memory; 0: unknown */
};

void limits_read(struct limits *limits);

/* The part that control groups have in it, added to `limits`: `groups` is the text of
 * /proc/self/cgroup, `mount` the directory that stands for /sys/fs/cgroup. Pure but for reading
 * below `mount`. */
void limits_read_groups(struct limits *limits, const char *groups, const char *mount);

/* Lets this process have as many descriptors at once as the system allows: for what serves files,
 * where each that has contents takes one. */
void limits_raise_descriptors(void);

#endif
