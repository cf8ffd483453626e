/*
 * configuration.h - one configuration of afp_perftest from the lab to the result files.
 *
 * Runs inside supervisor_run(). The lab, its link and its server are made anew and are gone at the
 * end; the result stays for the tables.
 */
#ifndef AFPBENCH_HARNESS_CONFIGURATION_H
#define AFPBENCH_HARNESS_CONFIGURATION_H

#include "harness/plan.h"
#include "harness/rig.h"

/* Fills `result`, new, with what is asked for. */
void harness_describe(const struct harness_setup *setup,
                      const struct harness_configuration *configuration,
                      struct harness_result *result);

/* Prints banner and progress; fills `result`, which is to be released in any case. False: it could
 * not run or did not run to its end; `status` is the exit code then. Invalid figures are faults of
 * the result, not failures. */
MUST_CHECK bool harness_configuration_run(const struct harness_setup *setup,
                                          const struct harness_configuration *configuration,
                                          struct harness_result *result, enum exit_status *status,
                                          struct error *error);

#endif
