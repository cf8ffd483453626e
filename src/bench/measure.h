/*
 * measure.h - the one place where a run is timed.
 *
 * A workload is three steps. prepare and restore happen outside the clock; only timed() lies
 * between the two clock readings. Warm-ups go first and are marked; between runs the target idles,
 * so that sessions stay alive in pauses. Samples go to the observer as they come.
 */
#ifndef AFPBENCH_BENCH_MEASURE_H
#define AFPBENCH_BENCH_MEASURE_H

#include "result/result.h"
#include "target/target.h"

struct workload {
    /* Brings everything to where the clock may start; `fresh`: with new files. */
    bool (*prepare)(void *context, bool fresh, struct error *error);
    bool (*timed)(void *context, struct sample_counts *counts, struct error *error);
    /* Undoes what the next run must not find. */
    bool (*restore)(void *context, struct error *error);
    void *context;
};

struct measure_plan {
    uint32_t warmups;
    uint32_t iterations;
    uint64_t pause_ns; /* between runs */
    bool fresh_files;  /* a new file for each run, not only for the first */
};

/* Runs the warm-ups and the iterations of one test. Stops at the first failure: samples reported
 * until then stay valid, the broken run has none. */
bool measure_run(const struct measure_plan *plan, struct target *target,
                 const struct workload *workload, const struct test_case *test,
                 const struct observer *observer, struct error *error);

#endif
