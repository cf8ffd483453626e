/* afp_speedtest: throughput of Read, Write, Copy and ServerCopy over AFP. */
#include "afp/name.h"
#include "base/claim.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "base/version.h"
#include "cli/embedded_server.h"
#include "cli/environment.h"
#include "cli/process_guard.h"
#include "cli/progress.h"
#include "cli/trace.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/text.h"
#include "speedtest/info.h"
#include "speedtest/mark_observer.h"
#include "speedtest/sessions.h"
#include "speedtest/settings.h"
#include "workload/speed.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct program {
    struct speedtest_settings settings;
    struct interrupt interrupt;
    struct trace trace;
    struct progress progress;
    struct text_report text;
    struct csv_report csv;
    struct json_report json;
    struct claim claim; /* on the document's name */
    struct mark_observer marks;
    struct observers observers;
    struct embedded_server embedded;
    struct speedtest_sessions sessions;
    struct result result;
};

/* ---- What the tests tell, beside the reports ---- */

static bool on_begin(void *context, const struct result_case *result_case, struct error *error)
{
    struct program *program = context;
    progress_clear(&program->progress);
    return true;
}

static bool on_sample(void *context, const struct result_case *result_case,
                      const struct sample *sample, struct error *error)
{
    struct program *program = context;
    progress_clear(&program->progress);
    progress_done(&program->progress, sample->spoiled ? 0 : sample->size_bytes);
    if ((sample->warmup || sample->spoiled) && program->trace.calls) {
        fprintf(stderr, "%s %s %u: %.0f microsec%s\n", result_case->test.name,
                sample->warmup ? "warm-up" : "run", (unsigned)sample->number,
                (double)sample->duration_ns / (double)NS_PER_US,
                sample->spoiled ? ", spoiled: made again" : "");
    }
    return true;
}

static void on_note(void *context, const char *text)
{
    struct program *program = context;
    progress_clear(&program->progress);
    fprintf(stderr, "%s: %s\n", speedtest_program.name, text);
}

static void on_progress(void *context, const struct result_case *result_case, uint32_t number,
                        bool warmup, uint64_t pause_left_ns)
{
    struct program *program = context;
    const struct test_case *test = &result_case->test;
    char size[SIZE_TEXT_LENGTH];
    char pause[40] = "";
    if (pause_left_ns > 0) {
        snprintf(pause, sizeof pause, " in %.0f s", ceil((double)pause_left_ns / (double)NS_PER_S));
    }
    progress_show(&program->progress, "%s %s: %s %u of %u%s", test->name,
                  size_text(test->size_bytes, size), warmup ? "warm-up" : "run", (unsigned)number,
                  (unsigned)(warmup ? test->warmups : test->iterations), pause);
}

/* Who waits for the marks hears of a run at once; then the terminal's line, so that it is gone
 * before a report prints. */
static void add_observers(struct program *program)
{
    const struct speedtest_settings *settings = &program->settings;
    bool json_only = settings->json_path != NULL && strcmp(settings->json_path, "-") == 0;
    struct observer screen = {.on_begin = on_begin,
                              .on_sample = on_sample,
                              .on_note = on_note,
                              .on_progress = on_progress,
                              .context = program};
    program->marks = (struct mark_observer){.fd = (int)settings->mark_fd,
                                            .sessions = &program->sessions,
                                            .timeout_ns = settings->timeout_s * NS_PER_S};
    struct observer marks = mark_observer(&program->marks);
    if (settings->mark) {
        observers_add(&program->observers, &marks);
    }
    observers_add(&program->observers, &screen);
    program->text =
        (struct text_report){.out = stdout,
                             .statistics = settings->statistics || settings->sweep_count > 0};
    program->csv.out = stdout;
    program->json.path = settings->json_path;
    struct observer report =
        settings->csv ? csv_observer(&program->csv) : text_observer(&program->text);
    struct observer json = json_observer(&program->json);
    if (!json_only) {
        observers_add(&program->observers, &report);
    }
    if (settings->json_path != NULL) {
        observers_add(&program->observers, &json);
    }
}

/* ---- Interactive mode ---- */

/* Waits for a line on standard input, keeping every session alive in turn. */
static bool await_enter(struct program *program, const char *test, struct error *error)
{
    fprintf(stderr, "Next: %s. Press Enter to start.\n", test);
    for (;;) {
        bool readable;
        char c;
        if (!speedtest_sessions_await(&program->sessions, STDIN_FILENO, UINT64_MAX, &readable,
                                      error)) {
            return false;
        }
        ssize_t got = read(STDIN_FILENO, &c, 1);
        if (got <= 0) {
            return error_set(error, ERROR_CLOSED, 0, "end of input before %s", test);
        }
        if (c == '\n') {
            return true;
        }
    }
}

/* ---- The tests ---- */

/* For the record: the first failure is the reason of the others. */
static void keep_failure(struct program *program, const struct error *error)
{
    if (program->result.failure.domain == ERROR_NONE) {
        program->result.failure = *error;
    }
}

static int report(struct program *program, const struct error *error, enum exit_status otherwise)
{
    progress_clear(&program->progress);
    keep_failure(program, error);
    return options_report(&speedtest_program, error, otherwise);
}

/* One that is interrupted begins again, in a hurry: a second interrupt ends that too. */
static bool clean_up_target(struct program *program, struct target *target, uint64_t *deadline_ns,
                            struct error *error)
{
    bool done = target->ops->clean_up(target, *deadline_ns, error);
    if (done || *deadline_ns != TARGET_PATIENT || error->domain != ERROR_INTERRUPTED) {
        return done;
    }
    interrupt_acknowledge(&program->interrupt);
    *deadline_ns = clock_now_ns() + TARGET_HURRY_NS;
    if (target->ops->clean_up(target, *deadline_ns, error)) {
        error_set(error, ERROR_INTERRUPTED, 0, "interrupted");
    }
    error->domain = ERROR_INTERRUPTED; /* whatever came of it */
    return false;
}

/* In a hurry all sessions share one deadline: a mute server is waited for once. */
static int clean_up(struct program *program, bool hurry, int status)
{
    struct speedtest_sessions *sessions = &program->sessions;
    uint64_t deadline_ns = hurry ? clock_now_ns() + TARGET_HURRY_NS : TARGET_PATIENT;
    for (size_t i = 0; i < sessions->count; i++) {
        struct error error;
        if (!clean_up_target(program, sessions->targets[i], &deadline_ns, &error)) {
            int later = report(program, &error, EXIT_TEST_FAILED);
            status = status == EXIT_DONE ? later : status;
        }
    }
    return status;
}

/* -F is for tests that read what was there. */
static void tell_ignored_file(struct program *program, const struct speed_test *test)
{
    const struct target_facts *facts = &program->sessions.targets[0]->facts;
    bool copies = (test->facts->requests & REQUEST_BIT(REQUEST_COPY)) != 0;
    bool skipped = copies && !facts->server_copy;
    if (program->settings.existing_file != NULL && !test->uses_existing_file && !skipped) {
        char text[80];
        snprintf(text, sizeof text, "%s ignores -F: it makes its own file", test->facts->name);
        on_note(program, text);
    }
}

/* One test on one size, and the clean-up after it, whatever came of it. */
static int run_test(struct program *program, const struct speed_test *test,
                    const struct speed_options *options)
{
    struct speedtest_sessions *sessions = &program->sessions;
    struct error error;
    int status = EXIT_DONE;
    tell_ignored_file(program, test);
    bool ok = (!program->settings.interactive || await_enter(program, test->facts->name, &error)) &&
              speed_test_run(sessions->runs, test, options, sessions->targets, sessions->count,
                             &program->result, &program->observers, &error);
    if (!ok) {
        if (error.domain == ERROR_INTERRUPTED && speedtest_sessions_busy(sessions)) {
            keep_failure(program, &error); /* the record has the reason, not what a person may do */
            error_set(&error, ERROR_INTERRUPTED, error.code,
                      "interrupted: waiting a few seconds for the server's answer to clean up; "
                      "once more stops at once");
        }
        status = report(program, &error, EXIT_TEST_FAILED);
        interrupt_acknowledge(&program->interrupt);
    }
    status = clean_up(program, !ok, status);
    for (size_t i = 0; i < sessions->count; i++) {
        speed_run_release(&sessions->runs[i]);
    }
    return status;
}

/* What the progress line counts: all bytes of all runs. */
static uint64_t planned_bytes(const struct speedtest_settings *settings)
{
    uint64_t runs = (uint64_t)settings->warmups + settings->iterations;
    uint64_t sum = 0;
    for (size_t i = 0; i < speedtest_size_count(settings); i++) {
        struct speed_options options = speedtest_speed_options(settings, i);
        sum += options.size_bytes * settings->test_count * settings->sessions * runs;
    }
    return sum;
}

/* What the file system refused, and what its cache did: beside the numbers. */
static void tell_notes(struct program *program)
{
    char text[160];
    bool warm = false;
    const struct target *target = program->sessions.targets[0];
    for (size_t i = 0; target->ops->note != NULL && target->ops->note(target, i, text, sizeof text);
         i++) {
        on_note(program, text);
    }
    for (size_t i = 0; i < program->result.case_count; i++) {
        warm = warm || program->result.cases[i]->cache == CACHE_CLIENT_WARM;
    }
    if (warm) {
        on_note(program, "the file stayed in this machine's own cache: Read shows memory, not the "
                         "file system (-D bypasses it)");
    }
}

/* The header line has no place for it, and a good run says nothing unasked. */
static void tell_sizes(struct program *program)
{
    const struct speedtest_settings *settings = &program->settings;
    char text[160];
    if (settings->sessions > 1 && program->trace.calls) {
        snprintf(text, sizeof text,
                 "a header's size is that of one session's file; times and rates are those of all "
                 "%u sessions together",
                 (unsigned)settings->sessions);
        on_note(program, text);
    }
}

/* All sizes are checked first: hours of the small ones must not end at the largest. */
static int run_tests(struct program *program)
{
    const struct speedtest_settings *settings = &program->settings;
    size_t sizes = speedtest_size_count(settings);
    struct error error;
    int status = EXIT_DONE;
    for (size_t i = 0; i < sizes; i++) {
        struct speed_options options = speedtest_speed_options(settings, i);
        if (!speed_options_check(&options, program->sessions.targets[0], &error)) {
            return report(program, &error, EXIT_CANNOT_RUN);
        }
    }
    tell_sizes(program);
    progress_plan(&program->progress, planned_bytes(settings));
    for (size_t i = 0; i < sizes && status == EXIT_DONE; i++) {
        struct speed_options options = speedtest_speed_options(settings, i);
        for (size_t test = 0; test < settings->test_count && status == EXIT_DONE; test++) {
            status = run_test(program, settings->tests[test], &options);
        }
    }
    progress_clear(&program->progress);
    tell_notes(program);
    return status;
}

/* ---- --clean and --info ---- */

static void report_leftover(void *context, const char *name, bool removed, const char *reason)
{
    bool *all = context;
    *all = *all && removed;
    fprintf(stderr, "%s '%s'%s%s\n", removed ? "removed" : "kept", name, reason != NULL ? ": " : "",
            reason != NULL ? reason : "");
}

static int clean(struct program *program)
{
    bool all_removed = true;
    struct error error;
    struct target *target = program->sessions.targets[0];
    const struct leftover_sweep sweep = {program->settings.clean_age_s, report_leftover,
                                         &all_removed};
    if (!target->ops->remove_leftovers(target, &sweep, &error)) {
        return report(program, &error, EXIT_TEST_FAILED);
    }
    return all_removed ? EXIT_DONE : EXIT_TEST_FAILED;
}

static int info(const struct dsi_config *config, bool as_json)
{
    struct afp_description description;
    struct error error;
    if (!afp_describe_server(&description, config, &error)) {
        return options_report(&speedtest_program, &error, EXIT_CANNOT_RUN);
    }
    if (as_json) {
        info_print_json(stdout, &description.info);
    } else {
        info_print(stdout, &description.info);
    }
    return EXIT_DONE;
}

/* ---- From options to sessions ---- */

/* The server gets the user of this run, so that every login method can be tested with it. */
static bool start_embedded(struct program *program, struct error *error)
{
    struct speedtest_settings *settings = &program->settings;
    if (settings->refserver_store == NULL) {
        return true;
    }
    const char *password = settings->volume_password[0] != '\0' ? settings->volume_password : NULL;
    struct server_volume volumes[] = {
        {.name = settings->volume,
         .password = password,
         .store = settings->refserver_store,
         .path = settings->refserver_path},
        {.name = settings->second_volume, .password = password, .store = settings->refserver_store},
    };
    bool two =
        settings->second_volume != NULL &&
        !name_equals(span_from_string(settings->second_volume), span_from_string(settings->volume));
    struct server_user user = {settings->user, settings->password};
    const char *const address = "127.0.0.1";
    struct server_config config = server_config_default();
    config.listen_addresses = &address;
    config.listen_count = 1;
    config.port = 0;
    config.volumes = volumes;
    config.volume_count = two ? 2 : 1;
    config.users = &user;
    config.user_count = settings->user[0] != '\0';
    if (!embedded_server_start(&program->embedded, &config, error)) {
        return false;
    }
    snprintf(settings->location.host, sizeof settings->location.host, "%s", address);
    settings->location.port = program->embedded.port;
    return true;
}

static int test_server(struct program *program, const struct afp_client_config *config)
{
    struct speedtest_settings *settings = &program->settings;
    struct environment_clock clock;
    struct error error;
    int status = EXIT_DONE;
    add_observers(program);
    environment_begin(&program->result.conditions, &clock);
    bool ok = speedtest_sessions_open(&program->sessions, config, settings, &error);
    memory_wipe(settings->password, sizeof settings->password);
    memory_wipe(settings->volume_password, sizeof settings->volume_password);
    if (ok) {
        const struct target *target = program->sessions.targets[0];
        target->ops->describe(target, &program->result.conditions);
        program->result.conditions.reference_store = settings->refserver_store;
        ok = settings->json_path == NULL ||
             json_report_begin(&program->json, &program->result, &error);
    }
    if (!ok) {
        status = report(program, &error, EXIT_CANNOT_RUN);
    } else {
        status = run_tests(program);
    }
    interrupt_acknowledge(&program->interrupt);
    speedtest_sessions_close(&program->sessions);
    environment_end(&program->result.conditions, &clock);
    program->result.complete = status == EXIT_DONE;
    /* After a failure the same output may fail once more: said once. */
    if (!observers_finish(&program->observers, &program->result, &error) && status == EXIT_DONE) {
        status = report(program, &error, EXIT_TEST_FAILED);
    }
    if (program->trace.calls && program->result.conditions.warning[0] != '\0') {
        on_note(program, program->result.conditions.warning);
    }
    result_release(&program->result);
    return status;
}

static int clean_server(struct program *program, const struct afp_client_config *config)
{
    struct speedtest_settings *settings = &program->settings;
    struct error error;
    settings->sessions = 1;
    bool ok = speedtest_sessions_open(&program->sessions, config, settings, &error);
    memory_wipe(settings->password, sizeof settings->password);
    memory_wipe(settings->volume_password, sizeof settings->volume_password);
    int status = ok ? clean(program) : report(program, &error, EXIT_CANNOT_RUN);
    interrupt_acknowledge(&program->interrupt);
    speedtest_sessions_close(&program->sessions);
    return status;
}

/* The document's name is this run's until it has ended. */
static bool claim_document(struct program *program, struct error *error)
{
    const char *path = program->settings.json_path;
    program->claim = (struct claim){.file = -1};
    return path == NULL || strcmp(path, "-") == 0 || claim_take(&program->claim, path, error);
}

static int run(struct program *program)
{
    struct speedtest_settings *settings = &program->settings;
    struct error error;
    if (!start_embedded(program, &error) || !interrupt_open(&program->interrupt, &error)) {
        return options_report(&speedtest_program, &error, EXIT_CANNOT_RUN);
    }
    trace_start(&program->trace, speedtest_program.name, settings->verbose, settings->very_verbose);
    progress_start(&program->progress);
    struct connect_choice address = {.size = 0}; /* all connections of a run go to the same one */
    struct afp_client_config config = {
        .dsi = {.host = settings->location.host,
                .port = settings->location.port,
                .timeout_ns = settings->timeout_s * NS_PER_S,
                .interrupt = &program->interrupt,
                .observer = &program->trace.observer,
                .address = &address},
        .version = settings->version,
        .uam = settings->uam,
        .credentials = {.user = settings->user, .password = settings->password},
    };
    int status;
    if (settings->info) {
        status = info(&config.dsi, settings->json_path != NULL);
    } else if (settings->clean) {
        status = clean_server(program, &config);
    } else if (!claim_document(program, &error)) {
        status = options_report(&speedtest_program, &error, EXIT_CANNOT_RUN);
    } else {
        status = test_server(program, &config);
        claim_give_back(&program->claim);
    }
    interrupt_close(&program->interrupt);
    return status;
}

int main(int argc, char **argv)
{
    struct program program = {0};
    enum options_outcome outcome;
    struct error error;
    process_guard();
    if (!speedtest_settings_parse(&program.settings, argc, argv, &outcome, &error) ||
        (outcome == OPTIONS_RUN && program.settings.mark &&
         !mark_observer_check((int)program.settings.mark_fd, &error))) {
        return options_report(&speedtest_program, &error, EXIT_TEST_FAILED);
    }
    program.result.sweep = program.settings.sweep_count > 0;
    program.result.conditions.program = speedtest_program.name;
    program.result.conditions.version = afpbench_version;
    program.result.conditions.arguments = (const char *const *)argv;
    program.result.conditions.argument_count = (size_t)argc;
    int status = outcome == OPTIONS_PRINTED ? EXIT_DONE : run(&program);
    embedded_server_stop(&program.embedded);
    if ((fflush(stdout) != 0 || ferror(stdout) || fclose(stdout) != 0) && status == EXIT_DONE) {
        error_set_errno(&error, errno, "cannot write to stdout");
        status = options_report(&speedtest_program, &error, EXIT_TEST_FAILED);
    }
    return status;
}
