/* afp_speedtest: throughput of Read, Write, Copy and ServerCopy over AFP. */
#include "afp/client.h"
#include "base/clock.h"
#include "base/memory.h"
#include "bench/speed.h"
#include "report/text.h"
#include "target/afp_target.h"
#include "tools/embedded_server.h"
#include "tools/info.h"
#include "tools/progress.h"
#include "tools/speedtest_settings.h"
#include "tools/trace.h"

#include <errno.h>
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
    struct embedded_server embedded;
    struct afp_client *client;
    struct target *target;
};

/* ---- What the tests tell ---- */

static bool on_begin(void *context, const struct test_case *test, struct error *error)
{
    struct program *program = context;
    progress_clear(&program->progress);
    return text_begin(&program->text, test, error);
}

static bool on_sample(void *context, const struct test_case *test, const struct sample *sample,
                      struct error *error)
{
    struct program *program = context;
    progress_clear(&program->progress);
    if (sample->warmup && program->trace.calls) {
        fprintf(stderr, "%s warm-up %u: %.0f microsec\n", test->name, (unsigned)sample->number,
                (double)sample->duration_ns / (double)NS_PER_US);
    }
    return text_sample(&program->text, test, sample, error);
}

static void on_note(void *context, const char *text)
{
    struct program *program = context;
    progress_clear(&program->progress);
    fprintf(stderr, "%s: %s\n", speedtest_program.name, text);
}

static void on_progress(void *context, const struct test_case *test, uint32_t number, bool warmup)
{
    struct program *program = context;
    progress_show(&program->progress, "%s: %s %u of %u", test->name, warmup ? "warm-up" : "run",
                  (unsigned)number, (unsigned)(warmup ? test->warmups : test->iterations));
}

/* ---- Interactive mode ---- */

/* Waits for a line on standard input, keeping the session alive. */
static bool await_enter(struct program *program, const char *test, struct error *error)
{
    fprintf(stderr, "Next: %s. Press Enter to start.\n", test);
    for (;;) {
        bool readable;
        char c;
        if (!program->target->ops->idle(program->target, UINT64_MAX, STDIN_FILENO, &readable,
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

/* One test and the clean-up after it, whatever came of it. */
static int run_test(struct program *program, const struct speed_test *test,
                    const struct speed_options *options, const struct observer *observer)
{
    struct speed_run run = {0};
    struct error error;
    int status = EXIT_DONE;
    bool ok = (!program->settings.interactive || await_enter(program, test->name, &error)) &&
              speed_test_run(&run, test, options, program->target, observer, &error);
    progress_clear(&program->progress);
    if (!ok) {
        bool waits = error.domain == ERROR_INTERRUPTED &&
                     dsi_outstanding(afp_client_session(program->client)) > 0;
        if (waits) {
            error_set(&error, ERROR_INTERRUPTED, error.code,
                      "interrupted: waiting a few seconds for the server's answer to clean up; "
                      "once more stops at once");
        }
        status = options_report(&speedtest_program, &error, EXIT_TEST_FAILED);
    }
    if (!program->target->ops->clean_up(program->target, !ok, &error)) {
        int later = options_report(&speedtest_program, &error, EXIT_TEST_FAILED);
        status = status == EXIT_DONE ? later : status;
    }
    speed_run_release(&run);
    return status;
}

static int run_tests(struct program *program)
{
    struct speed_options options = speedtest_speed_options(&program->settings);
    struct observer observer = {.on_begin = on_begin,
                                .on_sample = on_sample,
                                .on_note = on_note,
                                .on_progress = on_progress,
                                .context = program};
    struct error error;
    if (!speed_options_check(&options, program->target, &error)) {
        return options_report(&speedtest_program, &error, EXIT_CANNOT_RUN);
    }
    int status = EXIT_DONE;
    for (size_t i = 0; i < program->settings.test_count && status == EXIT_DONE; i++) {
        status = run_test(program, program->settings.tests[i], &options, &observer);
    }
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
    if (!afp_target_remove_leftovers(program->target, report_leftover, &all_removed, &error)) {
        return options_report(&speedtest_program, &error, EXIT_TEST_FAILED);
    }
    return all_removed ? EXIT_DONE : EXIT_TEST_FAILED;
}

static int info(const struct dsi_config *config)
{
    struct afp_description description;
    struct error error;
    if (!afp_describe_server(&description, config, &error)) {
        return options_report(&speedtest_program, &error, EXIT_CANNOT_RUN);
    }
    info_print(stdout, &description.info);
    return EXIT_DONE;
}

/* ---- From options to a session ---- */

static bool start_embedded(struct program *program, struct error *error)
{
    struct speedtest_settings *settings = &program->settings;
    if (settings->refserver_store == NULL) {
        return true;
    }
    struct server_volume volumes[] = {
        {.name = settings->volume, .store = settings->refserver_store},
        {.name = settings->second_volume, .store = settings->refserver_store},
    };
    bool two =
        settings->second_volume != NULL && strcmp(settings->second_volume, settings->volume) != 0;
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

static int with_session(struct program *program, const struct afp_client_config *config)
{
    struct speedtest_settings *settings = &program->settings;
    struct error error;
    int status;
    bool ok = afp_client_open(&program->client, config, &error);
    memory_wipe(settings->password, sizeof settings->password);
    ok = ok && afp_target_open(&program->target, program->client, settings->volume,
                               settings->second_volume, &error);
    if (ok) {
        status = settings->clean ? clean(program) : run_tests(program);
    } else {
        status = options_report(&speedtest_program, &error, EXIT_CANNOT_RUN);
    }
    afp_target_close(program->target);
    afp_client_close(program->client);
    return status;
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
    program->text.out = stdout;
    struct afp_client_config config = {
        .dsi = {.host = settings->location.host,
                .port = settings->location.port,
                .timeout_ns = settings->timeout_s * NS_PER_S,
                .interrupt = &program->interrupt,
                .observer = &program->trace.observer},
        .version = settings->version,
        .uam = settings->uam,
        .credentials = {.user = settings->user, .password = settings->password},
    };
    int status = settings->info ? info(&config.dsi) : with_session(program, &config);
    interrupt_close(&program->interrupt);
    return status;
}

int main(int argc, char **argv)
{
    struct program program = {0};
    enum options_outcome outcome;
    struct error error;
    signal(SIGPIPE, SIG_IGN);
    if (!speedtest_settings_parse(&program.settings, argc, argv, &outcome, &error)) {
        return options_report(&speedtest_program, &error, EXIT_TEST_FAILED);
    }
    int status = outcome == OPTIONS_PRINTED ? EXIT_DONE : run(&program);
    embedded_server_stop(&program.embedded);
    if ((fflush(stdout) != 0 || ferror(stdout) || fclose(stdout) != 0) && status == EXIT_DONE) {
        error_set_errno(&error, errno, "cannot write to stdout");
        status = options_report(&speedtest_program, &error, EXIT_TEST_FAILED);
    }
    return status;
}
