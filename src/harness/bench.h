/*
 * bench.h - a configuration ready to be measured: its server, and the test program, invocation by
 * invocation, over a rig or against a server that is elsewhere.
 *
 * What it measures goes into its result. One thread.
 */
#ifndef AFPBENCH_HARNESS_BENCH_H
#define AFPBENCH_HARNESS_BENCH_H

#include "harness/plan.h"
#include "harness/rig.h"
#include "harness/snapshot.h"

struct harness_bench {
    /* The caller's, to be set before harness_bench_open(). */
    const struct harness_setup *setup;
    const struct harness_configuration *configuration;
    struct harness_rig *rig; /* NULL: the server is elsewhere */
    struct harness_result *result;
    /* With which the test program failed; 0: it did not, or by a signal. */
    int exit_code;
    /* Its own. */
    struct server_under_test server;
    struct harness_size *size; /* at work */
    struct mark begun;         /* `begin` while a run is under way */
    struct mark asked;         /* `begin` while a run is to be made again */
    struct harness_snapshot *whole, *before, *after;
};

/* Starts the server and reads what it offers, or asks the one that is elsewhere; finds out what the
 * test program knows. harness_bench_close() in any case. */
MUST_CHECK bool harness_bench_open(struct harness_bench *bench, struct error *error);

/* One invocation for one size, which is added to the result, judged, and counted as progress. */
MUST_CHECK bool harness_bench_size(struct harness_bench *bench, uint64_t size_bytes,
                                   struct error *error);

/* Ends the server. Fine for one that is half open. */
void harness_bench_close(struct harness_bench *bench);

#endif
