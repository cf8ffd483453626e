/*
 * plan.h - what afp_perftest is going to do: one configuration for each combination of the listed
 * values, its name, its commands and how long it may take. Pure but for printing.
 */
#ifndef AFPBENCH_HARNESS_PLAN_H
#define AFPBENCH_HARNESS_PLAN_H

#include "base/claim.h"
#include "harness/settings.h"

#define PLAN_NAME_LENGTH 160
#define PLAN_LIMIT       1024

/* "Run" to the person at the keyboard; here a run is one of a test. */
struct harness_configuration {
    char name[PLAN_NAME_LENGTH]; /* SUITE-RATE-DELAY, then every other swept key */
    const struct harness_value *values[HARNESS_AXES];
};

struct harness_plan {
    struct harness_configuration *configurations;
    size_t count;
    struct claim *claims; /* on the names of all, from harness_files_prepare() on; NULL: none */
};

/* Points into the settings. ERROR_USAGE for more than PLAN_LIMIT combinations. */
MUST_CHECK bool harness_plan_make(struct harness_plan *plan,
                                  const struct harness_settings *settings, struct error *error);
/* Gives the claims back too. */
void harness_plan_release(struct harness_plan *plan);

/* The shape that a configuration asks for; `seed` stays 0. */
struct link_config harness_link_config(const struct harness_settings *settings,
                                       const struct harness_configuration *configuration);

/* What is only known when the server runs, or as words in a dry run. */
struct harness_place {
    const char *test_program;
    char host[256], port[12];
    const char *volume, *user;
    const char *json_path; /* NULL: the test program knows no marks and writes no document */
};

/* Where the server is that runs at the end of our link (NULL: words in its place), or elsewhere. */
void harness_place_fill(struct harness_place *place, const struct harness_settings *settings,
                        const struct server_under_test *server);

/* The command line for one size; numbers are kept in it. */
struct harness_command {
    const char *words[WORD_LIMIT + 40];
    size_t count; /* words[count] is NULL */
    char size[24], iterations[12], warmups[12];
    char tests[64];
};

void harness_command_make(struct harness_command *command, const struct harness_settings *settings,
                          const struct harness_configuration *configuration, uint64_t size_bytes,
                          const struct harness_place *place);

/* At least so long: lower bounds, login, and the waits for a still link; of one size, and of all
 * with what comes before them. */
uint64_t harness_estimate_size_ns(const struct harness_settings *settings,
                                  const struct harness_configuration *configuration,
                                  uint64_t size_bytes);
uint64_t harness_estimate_ns(const struct harness_settings *settings,
                             const struct harness_configuration *configuration);

/* Configurations, commands, time: for --dry-run. */
void harness_plan_print(FILE *out, const struct harness_plan *plan,
                        const struct harness_settings *settings, const struct harness_place *place);

#endif
