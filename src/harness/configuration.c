#include "harness/configuration.h"

#include "afp/client.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "harness/figures.h"
#include "harness/files.h"
#include "harness/invocation.h"
#include "harness/snapshot.h"
#include "harness/write_json.h"
#include "harness/write_tables.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STILL_LIMIT_NS (25 * NS_PER_S) /* the test program waits 30 s for an answer */
#define PROBE_LIMIT_NS (10 * NS_PER_S)
#define LOGIN_LIMIT_NS (10 * NS_PER_S)
#define LINK_SEED      1

struct harness {
    const struct harness_setup *setup;
    const struct harness_configuration *configuration;
    struct harness_result *result;
    struct lab lab;
    struct link link;
    struct server_under_test server;
    int exit_code; /* with which the test program failed; 0: it did not, or by a signal */
    /* The size at work. */
    struct harness_size *size;
    struct mark begun; /* `begin` while a run is under way */
    struct mark asked; /* `begin` while a run is to be made again */
    struct harness_snapshot *whole, *before, *after;
};

/* ---- What is asked for ---- */

static uint32_t axis(const struct harness_configuration *configuration, enum harness_axis axis)
{
    return (uint32_t)configuration->values[axis]->number;
}

static void describe_request(const struct harness_setup *setup,
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
        .backend_chosen = settings->link == NULL,
        .shaped = settings->shaped,
        .server = setup->server->name,
        .server_chosen = settings->server == NULL,
        .test_program = setup->test_program,
    };
    result->link.seed = LINK_SEED;
    result->link.fault = setup->fault;
    snprintf(result->name, sizeof result->name, "%s", configuration->name);
    if (gmtime_r(&now, &utc) != NULL) {
        strftime(result->started, sizeof result->started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
}

/* ---- Lab, link, server ---- */

/* The ends are connected last: it is the link that makes their interfaces. */
static bool make_link(struct harness *harness, struct error *error)
{
    struct harness_result *result = harness->result;
    const struct link_shape *shape = &result->link.shapes[LINK_TO_SERVER];
    struct lab_config config = {.mtu = result->link.mtu,
                                .rate_bits_per_s = shape->rate_bits_per_s,
                                .delay_ns = shape->delay_ns,
                                .congestion_control = result->congestion_control};
    if (!lab_up(&harness->lab, &config, error) ||
        !link_up(&harness->link, harness->setup->settings->link, &result->link, &harness->lab,
                 error) ||
        !lab_connect(&harness->lab, &config, error)) {
        return false;
    }
    result->backend = harness->link.backend->name;
    snprintf(result->link_conditions, sizeof result->link_conditions, "%s",
             harness->link.backend->conditions(&harness->link));
    memcpy(result->settings, harness->lab.settings, sizeof result->settings);
    return true;
}

/* A machine that is too slow changes the label; over a false link nothing is measured. */
static bool calibrate(struct harness *harness, struct error *error)
{
    struct harness_result *result = harness->result;
    struct error why;
    if (!calibration_measure(&result->calibration, &harness->lab, &harness->link,
                             harness->setup->interrupt->fd, error)) {
        return false;
    }
    result->calibrated = true;
    result->verdict = CALIBRATION_TRUE;
    if (result->shaped) {
        result->verdict = calibration_judge(&result->calibration, &result->link, &why);
    }
    if (result->verdict == CALIBRATION_FALSE) {
        *error = why;
        return error_prefix(error, "%s: the link is not what it should be", result->name);
    }
    if (result->verdict == CALIBRATION_TOO_SLOW && harness->setup->settings->strict) {
        *error = why;
        return error_prefix(error, "%s: the machine does not keep the rate (STRICT=1)",
                            result->name);
    }
    return true;
}

/* With room for three files: Copy has two, and one may be on its way out. */
static bool start_server(struct harness *harness, struct error *error)
{
    const struct harness_setup *setup = harness->setup;
    const struct harness_settings *settings = setup->settings;
    struct server_request request = {
        .quantum_bytes = harness->result->quantum_asked_bytes,
        .read_ahead = harness->result->read_ahead_asked,
        .afpd = settings->afpd,
        .netatalk_root = settings->netatalk_root,
        .volume_bytes = 3 * harness_largest_size(settings),
        .users = setup->supervisor->users,
    };
    if (!server_under_test_start(&harness->server, setup->server, &harness->lab, &request,
                                 setup->interrupt->fd, error)) {
        return false;
    }
    snprintf(harness->result->server_how, sizeof harness->result->server_how, "%s",
             harness->server.how);
    snprintf(harness->result->server_version, sizeof harness->result->server_version, "%s",
             harness->server.version);
    return true;
}

/* A session as guest, as the test program will have it, to read the quantum back. */
static bool read_quantum(void *context, struct error *error)
{
    struct harness *harness = context;
    struct afp_client *client = NULL;
    struct afp_client_config config = {.dsi = {.host = LAB_SERVER_ADDRESS,
                                               .port = harness->server.port,
                                               .timeout_ns = LOGIN_LIMIT_NS,
                                               .interrupt = harness->setup->interrupt},
                                       .version = AFP_3_4,
                                       .uam = &uam_guest,
                                       .credentials = {.user = "", .password = ""}};
    if (!afp_client_open(&client, &config, error)) {
        return error_prefix(error, "the server under test refuses a guest");
    }
    harness->result->quantum_offered_bytes = afp_client_quantum(client);
    afp_client_close(client);
    return true;
}

/* Whether the test program knows --mark-fd: told by doing. */
static bool probe_test_program(struct harness *harness, struct error *error)
{
    char *const arguments[] = {(char *)harness->setup->test_program, "--mark-fd",
                               INVOCATION_MARK_FD_TEXT, "--version", NULL};
    struct harness_invocation probe = {.lab = &harness->lab,
                                       .interrupt = harness->setup->interrupt,
                                       .arguments = arguments,
                                       .marks = true,
                                       .limit_ns = PROBE_LIMIT_NS};
    struct error unknown;
    bool ok = harness_invocation_run(&probe, error);
    harness->result->test_program_marks = ok && harness_invocation_check(&probe, &unknown);
    memory_release(probe.output);
    memory_release(probe.messages);
    return ok;
}

/* ---- Counting ---- */

static bool take_snapshot(struct harness *harness, struct harness_snapshot *snapshot,
                          struct error *error)
{
    return harness_snapshot_take(snapshot, &harness->lab, &harness->link, harness->server.port,
                                 STILL_LIMIT_NS, harness->setup->interrupt->fd, error);
}

/* One that was to be made again and was not counts after all, as the test program counts it. */
static void check_again(struct harness *harness, const struct mark *next)
{
    const struct mark *asked = &harness->asked;
    bool repeated = next != NULL && strcmp(next->test, asked->test) == 0 &&
                    next->number == asked->number && next->warmup == asked->warmup;
    if (asked->begin && !repeated) {
        const struct harness_case *last = harness_size_case(harness->size, asked->test);
        last->runs[last->count - 1].spoiled = false;
    }
    harness->asked.begin = false;
}

static bool begin_run(struct harness *harness, const struct mark *mark, struct error *error)
{
    const struct harness_settings *settings = harness->setup->settings;
    char size[SIZE_TEXT_LENGTH];
    check_again(harness, mark);
    harness->begun = *mark;
    progress_show(harness->setup->progress, "%s %s: %s %s %" PRIu32 " of %" PRIu32,
                  harness->result->name, size_text(mark->size_bytes, size), mark->test,
                  mark->warmup ? "warm-up" : "run", mark->number,
                  mark->warmup ? settings->warmups : settings->iterations);
    if (!take_snapshot(harness, harness->before, error)) {
        return false;
    }
    (void)link_take_lateness(&harness->link); /* of what was before */
    return true;
}

/* The lateness first: nothing of what follows belongs to the run. */
static bool end_run(struct harness *harness, const struct mark *mark, bool *again,
                    struct error *error)
{
    uint64_t late_ns = link_take_lateness(&harness->link);
    if (!take_snapshot(harness, harness->after, error)) {
        return false;
    }
    *again = !mark->warmup &&
             harness_spoils(harness->result, harness_size_case(harness->size, mark->test),
                            mark->duration_ns, late_ns);
    struct harness_run *run = harness_size_add_run(harness->size, mark->test, error);
    if (run == NULL) {
        return false;
    }
    run->number = mark->number;
    run->warmup = mark->warmup;
    run->counts = mark->counts;
    run->duration_ns = mark->duration_ns;
    run->late_ns = late_ns;
    run->spoiled = *again;
    harness->asked = harness->begun;
    harness->asked.begin = *again;
    harness_snapshot_difference(harness->before, harness->after, &run->traffic);
    harness->begun.begin = false;
    return true;
}

static bool on_mark(void *context, const struct mark *mark, bool *again, struct error *error)
{
    struct harness *harness = context;
    if (mark->size_bytes != harness->size->size_bytes) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "the test program marks a run of %" PRIu64
                         " bytes, asked for were %" PRIu64,
                         mark->size_bytes, harness->size->size_bytes);
    }
    if (mark->begin && !harness->begun.begin) {
        return begin_run(harness, mark, error);
    }
    if (mark_ends(mark, &harness->begun)) {
        return end_run(harness, mark, again, error);
    }
    return error_set(error, ERROR_PROTOCOL, 0,
                     "the test program's marks are out of order: %s %s %" PRIu32,
                     mark->begin ? "begin" : "end", mark->test, mark->number);
}

/* ---- One size ---- */

static bool append(char **text, const char *more, struct error *error)
{
    size_t length = *text != NULL ? strlen(*text) : 0;
    char *longer = memory_resize(*text, length + strlen(more) + 1, 1);
    if (longer == NULL) {
        return memory_error(error, "for the test program's messages");
    }
    memcpy(longer + length, more, strlen(more) + 1);
    *text = longer;
    return true;
}

/* What it said goes to the log, and where it failed also to the person. */
static bool take_messages(struct harness *harness, const char *messages, bool failed,
                          struct error *error)
{
    if (messages == NULL) {
        return true;
    }
    if (failed && messages[0] != '\0') {
        progress_clear(harness->setup->progress);
        fputs(messages, stderr);
    }
    return append(&harness->result->messages, messages, error);
}

static bool take_document(struct harness *harness, const char *path, struct error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return error_set(error, ERROR_CONTENT, 0, "the test program wrote no '%s'", path);
    }
    char *text = harness_read_file(file, path, error);
    close(file);
    bool ok =
        text != NULL && harness_json_join(harness->result, text, harness->size->size_bytes, error);
    memory_release(text);
    return ok;
}

/* Runs the test program and takes what it wrote, but for its document. */
static bool invoke(struct harness *harness, const struct harness_command *command,
                   struct error *error)
{
    struct harness_invocation invocation = {.lab = &harness->lab,
                                            .interrupt = harness->setup->interrupt,
                                            .arguments = (char *const *)command->words,
                                            .marks = harness->result->test_program_marks,
                                            .on_mark = on_mark,
                                            .context = harness};
    struct error later;
    harness->begun.begin = false;
    harness->asked.begin = false;
    bool ok = harness_invocation_run(&invocation, error);
    if (ok && !harness_invocation_check(&invocation, error)) {
        ok = false;
        harness->exit_code = error->code;
    }
    ok = take_messages(harness, invocation.messages, !ok, ok ? error : &later) && ok;
    memory_release(invocation.messages);
    check_again(harness, NULL);
    if (ok) {
        harness->size->csv = invocation.output;
        return !harness->begun.begin ||
               error_set(error, ERROR_PROTOCOL, 0,
                         "the test program did not mark the end of %s %" PRIu32,
                         harness->begun.test, harness->begun.number);
    }
    memory_release(invocation.output);
    return server_under_test_check(&harness->server, &later) || error->domain == ERROR_INTERRUPTED
               ? false
               : error_set(error, ERROR_SYSTEM, 0, "%.120s; %.270s", error->message, later.message);
}

/* A test program that knows no marks is not asked for a document either. */
static bool run_command(struct harness *harness, uint64_t size_bytes, struct error *error)
{
    const struct harness_settings *settings = harness->setup->settings;
    const struct harness_configuration *configuration = harness->configuration;
    bool marks = harness->result->test_program_marks;
    char path[HARNESS_PATH_LENGTH];
    char port[12];
    struct harness_command command;
    if (!harness_fragment_path(settings->output_directory, configuration->name, path, error)) {
        return false;
    }
    snprintf(port, sizeof port, "%u", (unsigned)harness->server.port);
    struct harness_place place = {.test_program = harness->setup->test_program,
                                  .port = port,
                                  .volume = harness->server.volume,
                                  .json_path = marks ? path : NULL};
    harness_command_make(&command, settings, configuration, size_bytes, &place);
    bool ok = invoke(harness, &command, error) && (!marks || take_document(harness, path, error));
    harness_fragment_remove(path);
    return ok;
}

static bool run_size(struct harness *harness, uint64_t size_bytes, struct error *error)
{
    struct harness_result *result = harness->result;
    char size[SIZE_TEXT_LENGTH];
    progress_show(harness->setup->progress, "%s %s", result->name, size_text(size_bytes, size));
    harness->size = harness_result_add_size(result, size_bytes, error);
    uint64_t start_ns = clock_now_ns();
    (void)link_take_lateness(&harness->link); /* of what was before */
    if (harness->size == NULL || !take_snapshot(harness, harness->whole, error) ||
        !run_command(harness, size_bytes, error) ||
        !take_snapshot(harness, harness->after, error)) {
        return false;
    }
    harness->size->late_ns = link_take_lateness(&harness->link);
    harness->size->duration_ns = clock_now_ns() - start_ns;
    harness_snapshot_difference(harness->whole, harness->after, &harness->size->whole);
    harness->size->complete = true;
    progress_done(harness->setup->progress,
                  harness_estimate_size_ns(harness->setup->settings, harness->configuration,
                                           size_bytes));
    return harness_judge_size(result, harness->size, error);
}

/* ---- One configuration ---- */

static void read_lateness(struct harness *harness)
{
    struct harness_result *result = harness->result;
    if (harness->link.backend == NULL || harness->link.backend->lateness == NULL) {
        return;
    }
    struct histogram *lateness = memory_allocate(1, sizeof *lateness);
    if (lateness == NULL) {
        return; /* a figure less */
    }
    harness->link.backend->lateness(&harness->link, lateness);
    result->has_lateness = lateness->count > 0;
    result->lateness_median_ns = histogram_percentile(lateness, 0.5);
    result->lateness_p99_ns = histogram_percentile(lateness, 0.99);
    result->lateness_maximum_ns = lateness->count > 0 ? lateness->maximum : 0;
    memory_release(lateness);
}

static bool prepare(struct harness *harness, struct error *error)
{
    harness->whole = memory_allocate(1, sizeof *harness->whole);
    harness->before = memory_allocate(1, sizeof *harness->before);
    harness->after = memory_allocate(1, sizeof *harness->after);
    if (harness->whole == NULL || harness->before == NULL || harness->after == NULL) {
        return memory_error(error, "for counters");
    }
    progress_show(harness->setup->progress, "%s: link, calibration, server", harness->result->name);
    return make_link(harness, error) && calibrate(harness, error) && start_server(harness, error) &&
           lab_visit(&harness->lab, LAB_CLIENT, read_quantum, harness, error) &&
           probe_test_program(harness, error);
}

static bool run_sizes(struct harness *harness, struct error *error)
{
    const struct harness_settings *settings = harness->setup->settings;
    for (size_t i = 0; i < settings->size_count; i++) {
        if (!run_size(harness, settings->sizes[i], error)) {
            return false;
        }
    }
    return true;
}

static void take_down(struct harness *harness)
{
    server_under_test_stop(&harness->server);
    if (harness->link.backend != NULL) {
        link_down(&harness->link);
    }
    lab_down(&harness->lab);
    memory_release(harness->whole);
    memory_release(harness->before);
    memory_release(harness->after);
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
    struct harness harness = {.setup = setup,
                              .configuration = configuration,
                              .result = result,
                              .lab = {.namespaces = {-1, -1, -1}}};
    describe_request(setup, configuration, result);
    *status = EXIT_CANNOT_RUN;
    bool ok = prepare(&harness, error);
    if (ok) {
        progress_clear(setup->progress);
        harness_write_banner(stdout, result);
        *status = EXIT_TEST_FAILED;
        ok = run_sizes(&harness, error);
        result->complete = ok;
        if (!ok) {
            snprintf(result->failure, sizeof result->failure, "%s", error->message);
            *status = exit_status_of(harness.exit_code);
        }
        read_lateness(&harness);
        harness_figures(result);
        /* After a failure what there is stays, marked as incomplete. */
        struct error later;
        ok = harness_files_write(setup->settings->output_directory, result, ok ? error : &later) &&
             ok;
    }
    progress_clear(setup->progress);
    take_down(&harness);
    return ok;
}
