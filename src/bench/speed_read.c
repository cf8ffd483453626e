/* Read: first request to last byte of a file that the server was just given. */
#include "bench/speed.h"

static bool timed(void *context, struct sample_counts *counts, struct error *error)
{
    struct speed_run *run = context;
    return flow_run(&run->flow, run->source, NULL, counts, error);
}

const struct speed_test speed_read = {
    .name = "Read",
    .direction = FLOW_READ,
    .uses_existing_file = true,
    .has_source = true,
    .prepare = speed_make_files,
    .timed = timed,
    .restore = speed_nothing,
};
