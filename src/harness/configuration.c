#include "harness/configuration.h"

#include "harness/bench.h"
#include "harness/figures.h"
#include "harness/files.h"
#include "harness/write_tables.h"

#include <string.h>
#include <time.h>

#define LINK_SEED 1

/* ---- What is asked for ---- */

static uint32_t axis(const struct harness_configuration *configuration, enum harness_axis axis)
{
    return (uint32_t)configuration->values[axis]->number;
}

void harness_describe(const struct harness_setup *setup,
                      const struct harness_configuration *configuration,
                      struct harness_result *result)
{
    const struct harness_settings *settings = setup->settings;
    time_t now = time(NULL);
    struct tm utc;
    *result = (struct harness_result){
        .suite = settings->suite,
        .rate = configuration->values[AXIS_RATE]->text,
        .delay = configuration->values[AXIS_DELAY]->text,
        .tests = settings->operations,
        .jitter = settings->jitter,
        .loss = settings->loss,
        .quantum_asked_bytes = axis(configuration, AXIS_QUANTUM),
        .read_ahead_asked = axis(configuration, AXIS_READ_AHEAD),
        .outstanding = axis(configuration, AXIS_REQUESTS),
        .iterations = settings->iterations,
        .warmups = settings->warmups,
        .congestion_control = settings->congestion_control,
        .extra_flags = settings->extra_text,
        .arguments = setup->arguments,
        .argument_count = setup->argument_count,
        .link = harness_link_config(settings, configuration),
        .backend_chosen = settings->link == NULL && !settings->elsewhere.wanted,
        .backend = settings->elsewhere.wanted ? "host" : NULL,
        .counted = !settings->elsewhere.wanted,
        .shaped = settings->shaped,
        .server =
            settings->elsewhere.wanted ? settings->elsewhere.location.host : setup->server->name,
        .server_chosen = settings->server == NULL && !settings->elsewhere.wanted,
        .test_program = setup->test_program,
    };
    result->link.seed = LINK_SEED;
    result->link.fault = setup->fault;
    snprintf(result->name, sizeof result->name, "%s", configuration->name);
    if (gmtime_r(&now, &utc) != NULL) {
        strftime(result->started, sizeof result->started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
}

/* ---- One configuration ---- */

static bool prepare(struct harness_bench *bench, struct error *error)
{
    progress_show(bench->setup->progress, "%s: link, calibration, server", bench->result->name);
    return (bench->rig == NULL || harness_rig_up(bench->rig, bench->setup, bench->result, error)) &&
           harness_bench_open(bench, error);
}

static bool run_sizes(struct harness_bench *bench, struct error *error)
{
    const struct harness_settings *settings = bench->setup->settings;
    for (size_t i = 0; i < settings->size_count; i++) {
        if (!harness_bench_size(bench, settings->sizes[i], error)) {
            return false;
        }
    }
    return true;
}

/* The test program's codes mean what ours do. */
static enum exit_status exit_status_of(int code)
{
    return code == EXIT_CANNOT_RUN || code == EXIT_USAGE ? (enum exit_status)code
                                                         : EXIT_TEST_FAILED;
}

bool harness_configuration_run(const struct harness_setup *setup,
                               const struct harness_configuration *configuration,
                               struct harness_result *result, enum exit_status *status,
                               struct error *error)
{
    struct harness_rig rig = HARNESS_NO_RIG;
    struct harness_bench bench = {.setup = setup,
                                  .configuration = configuration,
                                  .rig = setup->settings->elsewhere.wanted ? NULL : &rig,
                                  .result = result};
    harness_describe(setup, configuration, result);
    *status = EXIT_CANNOT_RUN;
    bool ok = prepare(&bench, error);
    if (ok) {
        progress_clear(setup->progress);
        harness_write_banner(stdout, result);
        *status = EXIT_TEST_FAILED;
        ok = run_sizes(&bench, error);
        result->complete = ok;
        if (!ok) {
            snprintf(result->failure, sizeof result->failure, "%s", error->message);
            *status = exit_status_of(bench.exit_code);
        }
        harness_rig_lateness(&rig, result);
        harness_figures(result);
        /* After a failure what there is stays, marked as incomplete. */
        struct error later;
        ok = harness_files_write(setup->settings->output_directory, result, ok ? error : &later) &&
             ok;
    }
    progress_clear(setup->progress);
    harness_bench_close(&bench);
    harness_rig_down(&rig);
    return ok;
}
