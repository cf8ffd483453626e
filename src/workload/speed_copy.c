/* Copy: the client reads each chunk from one file and writes it to another; no flush. */
#include "workload/speed.h"

static bool timed(void *context, struct sample_counts *counts, struct error *error)
{
    struct speed_run *run = context;
    return flow_run(&run->flow, run->source, run->destination, counts, error);
}

const struct speed_test speed_copy = {
    .facts = &known_tests[TEST_COPY],
    .uses_existing_file = true,
    .has_source = true,
    .has_destination = true,
    .prepare = speed_make_files,
    .timed = timed,
    .restore = speed_nothing,
};
