/*
 * perftest_plan.h - what afp_perftest is going to do: one run for each combination of the listed
 * values, its name, its commands and how long it may take. Pure but for printing.
 */
#ifndef AFPBENCH_TOOLS_PERFTEST_PLAN_H
#define AFPBENCH_TOOLS_PERFTEST_PLAN_H

#include "tools/perftest_settings.h"

#define PLAN_NAME_LENGTH 160
#define PLAN_RUN_LIMIT   1024

struct perftest_run_plan {
    char name[PLAN_NAME_LENGTH]; /* SUITE-RATE-DELAY, then every other swept key */
    const struct perftest_value *values[PERFTEST_AXES];
};

struct perftest_plan {
    struct perftest_run_plan *runs;
    size_t count;
};

/* Points into the settings. ERROR_USAGE for more than PLAN_RUN_LIMIT combinations. */
bool perftest_plan_make(struct perftest_plan *plan, const struct perftest_settings *settings,
                        struct error *error);
void perftest_plan_release(struct perftest_plan *plan);

/* The shape that a run asks for; `seed` stays 0. */
struct link_config perftest_link_config(const struct perftest_settings *settings,
                                        const struct perftest_run_plan *run);

/* What is only known when the server runs, or as words in a dry run. */
struct perftest_place {
    const char *tool, *port, *volume;
    const char *mark_fd;   /* NULL: the test program knows no marks and writes no document */
    const char *json_path; /* with mark_fd */
};

/* The command line for one size; numbers are kept in it. */
struct perftest_command {
    const char *words[WORD_LIMIT + 40];
    size_t count; /* words[count] is NULL */
    char size[24], iterations[12], warmups[12];
    char tests[64];
};

void perftest_command_make(struct perftest_command *command,
                           const struct perftest_settings *settings,
                           const struct perftest_run_plan *run, uint64_t size_bytes,
                           const struct perftest_place *place);

/* At least so long: lower bounds, login, and the waits for a still link; of one size, and of all
 * with what comes before them. */
uint64_t perftest_estimate_size_ns(const struct perftest_settings *settings,
                                   const struct perftest_run_plan *run, uint64_t size_bytes);
uint64_t perftest_estimate_ns(const struct perftest_settings *settings,
                              const struct perftest_run_plan *run);

/* Runs, commands, time: for --dry-run. */
void perftest_plan_print(FILE *out, const struct perftest_plan *plan,
                         const struct perftest_settings *settings,
                         const struct perftest_place *place);

#endif
