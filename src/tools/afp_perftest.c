/* afp_perftest: an AFP server measured over a link of known shape. */
#include "base/clock.h"
#include "base/find_program.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/gnuplot.h"
#include "cli/process_guard.h"
#include "harness/configuration.h"
#include "harness/files.h"
#include "harness/plot.h"
#include "harness/write_tables.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program {
    struct harness_settings settings;
    struct harness_plan plan;
    struct interrupt interrupt;
    struct progress progress;
    char test_program[PROGRAM_PATH_LENGTH];
    char gnuplot[PROGRAM_PATH_LENGTH]; /* "": there is none */
    char **arguments;
    size_t argument_count;
    struct link_fault fault;
};

/* ---- Before the namespaces ---- */

static bool find_test_program(struct program *program, struct error *error)
{
    const char *name = program->settings.test_program;
    if (name == NULL) {
        return program_find_ours("afp_speedtest", program->test_program) ||
               error_set(error, ERROR_SYSTEM, ENOENT,
                         "no afp_speedtest beside this program and none in PATH: name one with "
                         "TOOL=");
    }
    const char *search = getenv("PATH");
    return program_find(name, search != NULL ? search : "", "", program->test_program) ||
           error_set(error, ERROR_USAGE, 0, "TOOL '%s' is no program", name);
}

/* The volume lies in memory: Copy has two files, and one may be on its way out. */
static bool check_memory(const struct harness_settings *settings, struct error *error)
{
    char have[SIZE_TEXT_LENGTH];
    char need[SIZE_TEXT_LENGTH];
    uint64_t needed = 3 * harness_largest_size(settings);
    struct limits limits;
    limits_read(&limits);
    uint64_t available = limits.memory_left_bytes;
    return available == 0 || needed <= available ||
           error_set(error, ERROR_LIMIT, 0,
                     "too little memory for the server's volume: %s free, the largest size needs "
                     "3 times itself, %s; leave it out of SWEEP",
                     size_text(available, have), size_text(needed, need));
}

static int print_plan(struct program *program)
{
    struct harness_place here;
    harness_place_fill(&here, &program->settings, NULL);
    here.test_program = program->test_program;
    here.json_path = "FILE";
    harness_plan_print(stdout, &program->plan, &program->settings, &here);
    return EXIT_DONE;
}

/* ---- Inside ---- */

/* The first that is there, or why the one that was asked for is not. A named afpd asks for it. */
static const struct server_kind *choose_server(const struct harness_settings *settings,
                                               const struct supervisor *supervisor,
                                               struct error *error)
{
    struct server_request request = {.afpd = settings->afpd,
                                     .netatalk_root = settings->netatalk_root,
                                     .users = supervisor->users};
    if (settings->server != NULL) {
        return settings->server->found(&request, error) ? settings->server : NULL;
    }
    for (size_t i = 0; i < server_kind_count; i++) {
        if (server_kinds[i]->found(&request, error)) {
            return server_kinds[i];
        }
        if (settings->afpd != NULL || settings->netatalk_root != NULL) {
            return NULL;
        }
    }
    return NULL;
}

static bool check_read_ahead(const struct harness_settings *settings,
                             const struct server_kind *server, struct error *error)
{
    const struct harness_values *values = &settings->axes[AXIS_READ_AHEAD];
    bool asked = values->count > 1 || values->items[0].number > 0;
    return !asked || server->takes_read_ahead ||
           error_set(error, ERROR_USAGE, 0,
                     "READAHEAD is afpd's: SERVER=auto found only %s, which has none",
                     server->name);
}

static int report(const struct error *error, enum exit_status otherwise)
{
    return options_report(&harness_program, error, otherwise);
}

static void report_faults(const struct harness_result *result)
{
    for (size_t i = 0; i < result->fault_count && i < HARNESS_FAULT_LIMIT; i++) {
        fprintf(stderr, "%s: invalid: %s: %s\n", harness_program.name, result->name,
                result->faults[i]);
    }
}

static void print_tables(struct harness_result *const *results, size_t count)
{
    if (count == 0) {
        return;
    }
    harness_write_summary(stdout, (const struct harness_result *const *)results, count);
    for (size_t i = 0; i < count; i++) {
        harness_write_tables(stdout, results[i]);
    }
}

/* A run of which only the files are left. Pictures are an extra: a failure is said, no more. */
static void draw(struct program *program, struct harness_result *result)
{
    struct error error;
    const char *gnuplot = program->gnuplot[0] != '\0' ? program->gnuplot : NULL;
    if (!harness_draw(program->settings.output_directory, result, gnuplot, &program->interrupt,
                      &error) &&
        error.domain != ERROR_INTERRUPTED) {
        fprintf(stderr, "%s: no picture of %s: %s\n", harness_program.name, result->name,
                error.message);
    }
}

/* What was measured before a failure is shown all the same. */
static int run_all(struct program *program, const struct supervisor *supervisor,
                   const struct server_kind *server, struct harness_result **results)
{
    const struct harness_setup setup = {.settings = &program->settings,
                                        .supervisor = supervisor,
                                        .interrupt = &program->interrupt,
                                        .progress = &program->progress,
                                        .server = server,
                                        .test_program = program->test_program,
                                        .arguments = (const char *const *)program->arguments,
                                        .argument_count = program->argument_count,
                                        .fault = program->fault};
    int status = EXIT_DONE;
    size_t ran = 0;
    size_t shown = 0;
    for (size_t i = 0; i < program->plan.count; i++) {
        struct error error;
        enum exit_status otherwise;
        bool ok = harness_configuration_run(&setup, &program->plan.configurations[i], results[i],
                                            &otherwise, &error);
        ran++;
        draw(program, results[i]);
        shown = results[i]->size_count > 0 ? ran : shown;
        report_faults(results[i]);
        if (results[i]->fault_count > 0) {
            status = EXIT_TEST_FAILED;
        }
        if (!ok) {
            status = report(&error, otherwise);
            break;
        }
    }
    print_tables(results, shown);
    return status;
}

static struct harness_result **make_results(size_t count)
{
    struct harness_result **results = memory_allocate(count, sizeof *results);
    for (size_t i = 0; results != NULL && i < count; i++) {
        results[i] = memory_allocate(1, sizeof **results);
        if (results[i] == NULL) {
            return NULL; /* the process ends */
        }
    }
    return results;
}

static void release_results(struct harness_result **results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        harness_result_release(results[i]);
        memory_release(results[i]);
    }
    memory_release(results);
}

static int flush_stdout(int status)
{
    struct error error;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_DONE) {
        error_set_errno(&error, errno, "cannot write to stdout");
        return report(&error, EXIT_TEST_FAILED);
    }
    return status;
}

static int inside(const struct supervisor *supervisor, void *context)
{
    struct program *program = context;
    struct error error;
    const struct server_kind *server = NULL;
    if (supervisor != NULL) {
        server = choose_server(&program->settings, supervisor, &error);
        if (server == NULL || !check_read_ahead(&program->settings, server, &error)) {
            return report(&error, EXIT_CANNOT_RUN);
        }
    }
    struct harness_result **results = make_results(program->plan.count);
    if (results == NULL) {
        memory_error(&error, "for the results");
        return report(&error, EXIT_CANNOT_RUN);
    }
    int status = run_all(program, supervisor, server, results);
    release_results(results, program->plan.count);
    harness_plan_release(&program->plan);
    harness_settings_release(&program->settings);
    return flush_stdout(status);
}

/* ---- The program ---- */

static bool read_fault(struct program *program, struct error *error)
{
    static const char key[] = "AFPBENCH_EMULATOR_FAULT";
    const char *text = getenv(key);
    return text == NULL || text[0] == '\0' || link_parse_fault(text, key, &program->fault, error);
}

static uint64_t estimate_ns(const struct program *program)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < program->plan.count; i++) {
        sum += harness_estimate_ns(&program->settings, &program->plan.configurations[i]);
    }
    return sum;
}

/* Whatever can be refused is refused before a lab is made or a file is written. */
static int run(struct program *program)
{
    const struct harness_settings *settings = &program->settings;
    struct error error;
    int status = EXIT_DONE;
    if (!read_fault(program, &error) || !find_test_program(program, &error)) {
        return report(&error, EXIT_CANNOT_RUN);
    }
    if (settings->dry_run) {
        return print_plan(program);
    }
    if (!settings->elsewhere.wanted && !check_memory(settings, &error)) {
        return report(&error, EXIT_TEST_FAILED);
    }
    if (!harness_settings_password(&program->settings, &error)) {
        return report(&error, EXIT_CANNOT_RUN);
    }
    if (!harness_files_prepare(settings->output_directory, &program->plan, settings->force,
                               &error) ||
        !interrupt_open(&program->interrupt, &error)) {
        return report(&error, EXIT_CANNOT_RUN);
    }
    if (!plotting_find(program->gnuplot, &error)) {
        program->gnuplot[0] = '\0';
        fprintf(stderr, "%s: no pictures: %s\n", harness_program.name, error.message);
    }
    progress_start(&program->progress);
    progress_plan(&program->progress, estimate_ns(program));
    if (settings->elsewhere.wanted) {
        status = inside(NULL, program);
    } else if (!supervisor_run(inside, program, &status, &error)) {
        status = report(&error, EXIT_CANNOT_RUN);
    }
    interrupt_close(&program->interrupt);
    return status;
}

int main(int argc, char **argv)
{
    struct program program = {.arguments = argv, .argument_count = (size_t)argc};
    enum options_outcome outcome;
    struct error error;
    process_guard();
    int status = EXIT_DONE;
    if (!harness_settings_parse(&program.settings, argc, argv, &outcome, &error)) {
        /* a back end that is not there, or help that cannot be printed */
        status = report(&error, error.domain == ERROR_LIMIT ? EXIT_CANNOT_RUN : EXIT_TEST_FAILED);
    } else if (outcome == OPTIONS_RUN) {
        status = harness_plan_make(&program.plan, &program.settings, &error)
                     ? run(&program)
                     : report(&error, EXIT_CANNOT_RUN);
    }
    harness_plan_release(&program.plan);
    harness_settings_release(&program.settings);
    return flush_stdout(status);
}
