/* ServerCopy: the one command that lets the server copy the file (doc/protocol.md 6). */
#include "workload/speed.h"

/* The source is closed before the copy: by the protocol the server opens it and denies writers. */
static bool prepare(void *context, bool fresh, struct error *error)
{
    struct speed_run *run = context;
    const struct target_ops *ops = run->target->ops;
    return speed_make_files(run, fresh, error) && speed_close(run, &run->source, error) &&
           (ops->prepare_copy == NULL ||
            ops->prepare_copy(run->target, SPEED_SOURCE, TARGET_SECOND, SPEED_DESTINATION, error));
}

static bool timed(void *context, struct sample_counts *counts, struct error *error)
{
    struct speed_run *run = context;
    counts->requests[REQUEST_COPY]++;
    counts->round_trips++;
    counts->bytes += run->size_bytes;
    return run->target->ops->server_copy(run->target, SPEED_SOURCE, TARGET_SECOND,
                                         SPEED_DESTINATION, error);
}

/* An existing file is never overwritten by the command. */
static bool restore(void *context, struct error *error)
{
    struct speed_run *run = context;
    return run->target->ops->remove_file(run->target, TARGET_SECOND, SPEED_DESTINATION, error);
}

const struct speed_test speed_server_copy = {
    .facts = &known_tests[TEST_SERVER_COPY],
    .has_source = true,
    .prepare = prepare,
    .timed = timed,
    .restore = restore,
};
