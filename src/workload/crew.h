/*
 * crew.h - a fixed number of workers that take steps together.
 *
 * crew_step() lets every worker call the same function once, each in a thread of its own, all
 * released by one barrier, and returns when the last has finished. A worker that waits, for the
 * others or for the next step, is cared for meanwhile in its own thread, so that its connection
 * stays alive. One worker alone needs no thread: its step runs in the caller's.
 */
#ifndef AFPBENCH_WORKLOAD_CREW_H
#define AFPBENCH_WORKLOAD_CREW_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* One worker's part of a step; the error is the worker's own. */
typedef bool crew_function(void *worker, struct error *error);

struct crew;

/* What is done for a worker that waits, each time it has waited so long. After a failed step there
 * is no care; when the care fails, the worker's next step fails with that error. */
struct crew_care {
    crew_function *function;
    uint64_t interval_ns;
};

/* `workers` is an array of `count` items of `size` bytes that the functions get a pointer into; it
 * stays the caller's. */
MUST_CHECK bool crew_start(struct crew **crew, void *workers, size_t count, size_t size,
                           const struct crew_care *care, struct error *error);

/* False with the first worker's error if any failed; all have finished in any case. */
MUST_CHECK bool crew_step(struct crew *crew, crew_function *function, struct error *error);

/* Ends the threads. NULL is fine. */
void crew_end(struct crew *crew);

#endif
