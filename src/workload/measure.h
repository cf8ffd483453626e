/*
 * measure.h - the one place where a run is timed.
 *
 * A workload is three steps. prepare and restore happen outside the clock; only timed() lies
 * between the two clock readings. Warm-ups go first and are marked; between runs the targets idle,
 * so that sessions stay alive in pauses. TCP's account is taken before and after, outside the clock
 * too.
 *
 * Several sessions run one workload each, in a thread each. A barrier releases their timed sections
 * together; the run lasts from the first start to the last end.
 *
 * A run that an observer calls spoiled counts for nothing and is made again with the same number,
 * of one case at most as often as there are iterations (doc/method.md, "The link").
 */
#ifndef AFPBENCH_WORKLOAD_MEASURE_H
#define AFPBENCH_WORKLOAD_MEASURE_H

#include "result/result.h"
#include "target/target.h"

struct workload {
    /* Brings everything to where the clock may start; `fresh`: with new files. */
    MUST_CHECK bool (*prepare)(void *context, bool fresh, struct error *error);
    MUST_CHECK bool (*timed)(void *context, struct sample_counts *counts, struct error *error);
    /* Undoes what the next run must not find. */
    MUST_CHECK bool (*restore)(void *context, struct error *error);
};

/* One session: its target and the context of its workload. Used by one thread at a time. */
struct measure_session {
    struct target *target;
    void *context;
};

struct measure_plan {
    uint32_t warmups;
    uint32_t iterations;
    uint64_t pause_ns; /* between runs */
    bool fresh_files;  /* a new file for each run, not only for the first */
};

/* Runs the warm-ups and the iterations of one case; samples go into it and to the observers as they
 * come. Stops at the first failure: samples until then stay valid, the broken run has none. */
MUST_CHECK bool measure_run(const struct measure_plan *plan, const struct workload *workload,
                            const struct measure_session *sessions, size_t session_count,
                            struct result_case *result_case, const struct observers *observers,
                            struct error *error);

#endif
