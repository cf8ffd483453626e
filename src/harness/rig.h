/*
 * rig.h - what lies between the test program and the server: a lab with its link, calibrated.
 *
 * Made inside supervisor_run(), and gone with it at the latest. Against a server that is elsewhere
 * there is none. One thread.
 */
#ifndef AFPBENCH_HARNESS_RIG_H
#define AFPBENCH_HARNESS_RIG_H

#include "base/interrupt.h"
#include "cli/progress.h"
#include "harness/result.h"
#include "harness/settings.h"
#include "netlab/supervisor.h"

/* What all that is measured with the same settings shares. */
struct harness_setup {
    const struct harness_settings *settings;
    const struct supervisor *supervisor; /* NULL: the server is elsewhere */
    struct interrupt *interrupt;
    struct progress *progress;
    const struct server_kind *server; /* as settings->server, or the one that auto chose; NULL:
                                         elsewhere */
    const char *test_program;         /* its path */
    const char *const *arguments;     /* our own command line, for the record */
    size_t argument_count;
    struct link_fault fault;
};

struct harness_rig {
    struct lab lab;
    struct link link;
};

/* One that is not there. */
#define HARNESS_NO_RIG                                                                             \
    {                                                                                              \
        .lab = {.namespaces = {-1, -1, -1} }                                                       \
    }

/* Makes the lab and the link that `result` asks for, measures them, and fills what the result says
 * of both. ERROR_LIMIT and the like where they are not what they should be: nothing is measured
 * over a false link, and with STRICT=1 not on a machine that is too slow. `rig` is HARNESS_NO_RIG
 * before; harness_rig_down() in any case. */
MUST_CHECK bool harness_rig_up(struct harness_rig *rig, const struct harness_setup *setup,
                               struct harness_result *result, struct error *error);

/* How late the link sent its packets so far. */
void harness_rig_lateness(struct harness_rig *rig, struct harness_result *result);

/* Fine for one that is half made, or not there. */
void harness_rig_down(struct harness_rig *rig);

#endif
