/* Read: first request to last byte of a file that was just written. */
#include "workload/speed.h"

static bool prepare(void *context, bool fresh, struct error *error)
{
    struct speed_run *run = context;
    enum cache_state state = CACHE_UNKNOWN;
    if (!speed_make_files(run, fresh, error) ||
        !run->target->ops->cool(run->target, run->source, &state, error)) {
        return false;
    }
    /* One warm run makes the test warm. */
    if (run->cache != CACHE_CLIENT_WARM) {
        run->cache = state;
    }
    return true;
}

static bool timed(void *context, struct sample_counts *counts, struct error *error)
{
    struct speed_run *run = context;
    return flow_run(&run->flow, run->source, NULL, counts, error);
}

const struct speed_test speed_read = {
    .facts = &known_tests[TEST_READ],
    .uses_existing_file = true,
    .has_source = true,
    .prepare = prepare,
    .timed = timed,
    .restore = speed_nothing,
};
