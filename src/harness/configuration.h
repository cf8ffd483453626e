/*
 * configuration.h - one configuration of afp_perftest from the lab to the result files.
 *
 * Runs inside supervisor_run(). The lab, its link and its server are made anew and are gone at the
 * end; the result stays for the tables.
 */
#ifndef AFPBENCH_HARNESS_CONFIGURATION_H
#define AFPBENCH_HARNESS_CONFIGURATION_H

#include "base/interrupt.h"
#include "cli/progress.h"
#include "harness/plan.h"
#include "harness/result.h"
#include "netlab/supervisor.h"

/* What all configurations of a program run share. */
struct harness_setup {
    const struct harness_settings *settings;
    const struct supervisor *supervisor;
    struct interrupt *interrupt;
    struct progress *progress;
    const struct server_kind *server; /* as settings->server, or the one that auto chose */
    const char *test_program;         /* its path */
    const char *const *arguments;     /* our own command line, for the record */
    size_t argument_count;
    struct link_fault fault;
};

/* Prints banner and progress; fills `result`, which is to be released in any case. False: it could
 * not run or did not run to its end; `status` is the exit code then. Invalid figures are faults of
 * the result, not failures. */
MUST_CHECK bool harness_configuration_run(const struct harness_setup *setup,
                                          const struct harness_configuration *configuration,
                                          struct harness_result *result, enum exit_status *status,
                                          struct error *error);

#endif
