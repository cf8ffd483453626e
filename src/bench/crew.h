/*
 * crew.h - a fixed number of workers that take steps together.
 *
 * crew_step() lets every worker call the same function once, each in a thread of its own, all
 * released by one barrier, and returns when the last has finished. One worker alone needs no
 * thread: its step runs in the caller's.
 */
#ifndef AFPBENCH_BENCH_CREW_H
#define AFPBENCH_BENCH_CREW_H

#include "base/error.h"

#include <stddef.h>

/* One worker's part of a step; the error is the worker's own. */
typedef bool crew_function(void *worker, struct error *error);

struct crew;

/* `workers` is an array of `count` items of `size` bytes that the step functions get a pointer
 * into; it stays the caller's. */
bool crew_start(struct crew **crew, void *workers, size_t count, size_t size, struct error *error);

/* False with the first worker's error if any failed; all have finished in any case. */
bool crew_step(struct crew *crew, crew_function *function, struct error *error);

/* Ends the threads. NULL is fine. */
void crew_end(struct crew *crew);

#endif
