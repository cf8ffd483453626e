/* Write: first request to last reply, and the flush unless -a. The first run extends the file,
 * later ones overwrite it. */
#include "workload/speed.h"

static bool timed(void *context, struct sample_counts *counts, struct error *error)
{
    struct speed_run *run = context;
    if (!flow_run(&run->flow, NULL, run->destination, counts, error)) {
        return false;
    }
    if (!run->options->flush) {
        return true;
    }
    counts->requests[REQUEST_FLUSH]++;
    counts->round_trips++;
    return run->target->ops->flush(run->target, run->destination, error);
}

const struct speed_test speed_write = {
    .facts = &known_tests[TEST_WRITE],
    .has_destination = true,
    .prepare = speed_make_files,
    .timed = timed,
    .restore = speed_nothing,
};
