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
    const struct harness_configuration *job;
    struct harness_result *result;
    struct lab lab;
    struct link link;
    struct server_under_test server;
    char *messages; /* of the test program, all sizes */
    int tool_code;  /* with which it failed; 0: it did not, or by a signal */
    /* The size at work. */
    struct harness_size *size;
    struct mark begun; /* `begin` while a run is under way */
    struct harness_snapshot *whole, *before, *after;
};

/* ---- What is asked for ---- */

static uint32_t axis(const struct harness_configuration *job, enum harness_axis axis)
{
    return (uint32_t)job->run->values[axis]->number;
}

static void describe_request(const struct harness_configuration *job, struct harness_result *result)
{
    const struct harness_settings *settings = job->settings;
    time_t now = time(NULL);
    struct tm utc;
    *result = (struct harness_result){
        .suite = settings->suite,
        .rate = job->run->values[AXIS_RATE]->text,
        .delay = job->run->values[AXIS_DELAY]->text,
        .tests = settings->operations,
        .jitter = settings->jitter,
        .loss = settings->loss,
        .quantum_asked_bytes = axis(job, AXIS_QUANTUM),
        .read_ahead_asked = axis(job, AXIS_READ_AHEAD),
        .outstanding = axis(job, AXIS_REQUESTS),
        .iterations = settings->iterations,
        .warmups = settings->warmups,
        .congestion_control = settings->congestion_control,
        .extra_flags = settings->extra_text,
        .arguments = job->arguments,
        .argument_count = job->argument_count,
        .link = harness_link_config(settings, job->run),
        .backend_chosen = settings->link == NULL,
        .shaped = settings->shaped,
        .server = job->server->name,
        .server_chosen = settings->server == NULL,
        .tool = job->tool,
    };
    result->link.seed = LINK_SEED;
    result->link.skip_delay = job->delay_skipped;
    snprintf(result->name, sizeof result->name, "%s", job->run->name);
    if (gmtime_r(&now, &utc) != NULL) {
        strftime(result->started, sizeof result->started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
}

/* ---- Lab, link, server ---- */

static bool make_link(struct harness *harness, struct error *error)
{
    struct harness_result *result = harness->result;
    const struct link_shape *shape = &result->link.shapes[LINK_TO_SERVER];
    struct lab_config config = {.mtu = result->link.mtu,
                                .rate_bits_per_s = shape->rate_bits_per_s,
                                .delay_ns = shape->delay_ns,
                                .congestion_control = result->congestion_control};
    if (!lab_up(&harness->lab, &config, error) ||
        !link_up(&harness->link, harness->job->settings->link, &result->link, &harness->lab,
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

static bool calibrate(struct harness *harness, struct error *error)
{
    struct harness_result *result = harness->result;
    struct error why;
    if (!calibration_measure(&result->calibration, &harness->lab, &harness->link,
                             harness->job->interrupt->fd, error)) {
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
    if (result->verdict == CALIBRATION_TOO_SLOW && harness->job->settings->strict) {
        *error = why;
        return error_prefix(error, "%s: the machine does not keep the rate (STRICT=1)",
                            result->name);
    }
    return true;
}

static bool start_server(struct harness *harness, struct error *error)
{
    const struct harness_configuration *job = harness->job;
    const struct harness_settings *settings = job->settings;
    struct server_request request = {
        .quantum_bytes = harness->result->quantum_asked_bytes,
        .read_ahead = harness->result->read_ahead_asked,
        .afpd = settings->afpd,
        .netatalk_root = settings->netatalk_root,
        .volume_bytes = 3 * harness_largest_size(settings),
        .users = job->supervisor->users,
    };
    if (!server_under_test_start(&harness->server, job->server, &harness->lab, &request,
                                 job->interrupt->fd, error)) {
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
                                               .interrupt = harness->job->interrupt},
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
static bool probe_tool(struct harness *harness, struct error *error)
{
    char fd[12];
    snprintf(fd, sizeof fd, "%d", INVOCATION_MARK_FD);
    char *const arguments[] = {(char *)harness->job->tool, "--mark-fd", fd, "--version", NULL};
    struct harness_invocation tool = {.lab = &harness->lab,
                                      .interrupt = harness->job->interrupt,
                                      .arguments = arguments,
                                      .marks = true,
                                      .limit_ns = PROBE_LIMIT_NS};
    struct error unknown;
    bool ok = harness_invocation_run(&tool, error);
    harness->result->tool_marks = ok && harness_invocation_check(&tool, &unknown);
    memory_release(tool.output);
    memory_release(tool.messages);
    return ok;
}

/* ---- Counting ---- */

static bool take_snapshot(struct harness *harness, struct harness_snapshot *snapshot,
                          struct error *error)
{
    return harness_snapshot_take(snapshot, &harness->lab, &harness->link, harness->server.port,
                                 STILL_LIMIT_NS, harness->job->interrupt->fd, error);
}

static bool begin_run(struct harness *harness, const struct mark *mark, struct error *error)
{
    const struct harness_settings *settings = harness->job->settings;
    char size[SIZE_TEXT_LENGTH];
    harness->begun = *mark;
    progress_show(harness->job->progress, "%s %s: %s %s %" PRIu32 " of %" PRIu32,
                  harness->result->name, size_text(mark->size_bytes, size), mark->test,
                  mark->warmup ? "warm-up" : "run", mark->number,
                  mark->warmup ? settings->warmups : settings->iterations);
    return take_snapshot(harness, harness->before, error);
}

static bool end_run(struct harness *harness, const struct mark *mark, struct error *error)
{
    if (!take_snapshot(harness, harness->after, error)) {
        return false;
    }
    struct harness_run *run = harness_size_add_run(harness->size, mark->test, error);
    if (run == NULL) {
        return false;
    }
    run->number = mark->number;
    run->warmup = mark->warmup;
    run->counts = mark->counts;
    run->duration_ns = mark->duration_ns;
    harness_snapshot_difference(harness->before, harness->after, &run->traffic);
    harness->begun.begin = false;
    return true;
}

static bool on_mark(void *context, const struct mark *mark, struct error *error)
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
        return end_run(harness, mark, error);
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
static bool take_messages(struct harness *harness, const struct harness_invocation *tool,
                          bool failed, struct error *error)
{
    if (tool->messages == NULL) {
        return true;
    }
    if (failed && tool->messages[0] != '\0') {
        progress_clear(harness->job->progress);
        fputs(tool->messages, stderr);
    }
    return append(&harness->messages, tool->messages, error);
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

/* Starts the test program and takes all that it leaves. */
static bool invoke(struct harness *harness, const char *path, char *const *arguments,
                   struct error *error)
{
    struct harness_invocation tool = {.lab = &harness->lab,
                                      .interrupt = harness->job->interrupt,
                                      .arguments = arguments,
                                      .marks = harness->result->tool_marks,
                                      .on_mark = on_mark,
                                      .context = harness};
    harness->begun.begin = false;
    bool ok = harness_invocation_run(&tool, error);
    if (ok && !harness_invocation_check(&tool, error)) {
        ok = false;
        harness->tool_code = error->code;
    }
    struct error later;
    ok = take_messages(harness, &tool, !ok, ok ? error : &later) && ok;
    memory_release(tool.messages);
    harness->size->csv = ok ? tool.output : NULL;
    if (!ok) {
        memory_release(tool.output);
        return server_under_test_check(&harness->server, &later) ||
                       error->domain == ERROR_INTERRUPTED
                   ? false
                   : error_set(error, ERROR_SYSTEM, 0, "%.120s; %.270s", error->message,
                               later.message);
    }
    if (harness->begun.begin) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "the test program did not mark the end of %s %" PRIu32,
                         harness->begun.test, harness->begun.number);
    }
    return !harness->result->tool_marks || take_document(harness, path, error);
}

static bool run_command(struct harness *harness, uint64_t size_bytes, struct error *error)
{
    const struct harness_configuration *job = harness->job;
    char path[HARNESS_PATH_LENGTH];
    char port[12];
    char fd[12];
    struct harness_command command;
    if (!harness_fragment_path(job->settings->output_directory, job->run->name, path, error)) {
        return false;
    }
    snprintf(port, sizeof port, "%u", (unsigned)harness->server.port);
    snprintf(fd, sizeof fd, "%d", INVOCATION_MARK_FD);
    struct harness_place place = {.tool = job->tool,
                                  .port = port,
                                  .volume = harness->server.volume,
                                  .mark_fd = harness->result->tool_marks ? fd : NULL,
                                  .json_path = path};
    harness_command_make(&command, job->settings, job->run, size_bytes, &place);
    bool ok = invoke(harness, path, (char *const *)command.words, error);
    harness_fragment_remove(path);
    return ok;
}

static bool run_size(struct harness *harness, uint64_t size_bytes, struct error *error)
{
    struct harness_result *result = harness->result;
    char size[SIZE_TEXT_LENGTH];
    progress_show(harness->job->progress, "%s %s", result->name, size_text(size_bytes, size));
    harness->size = harness_result_add_size(result, size_bytes, error);
    if (harness->size == NULL || !take_snapshot(harness, harness->whole, error) ||
        !run_command(harness, size_bytes, error) ||
        !take_snapshot(harness, harness->after, error)) {
        return false;
    }
    harness_snapshot_difference(harness->whole, harness->after, &harness->size->whole);
    harness->size->complete = true;
    progress_done(harness->job->progress,
                  harness_estimate_size_ns(harness->job->settings, harness->job->run, size_bytes));
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
    progress_show(harness->job->progress, "%s: link, calibration, server", harness->result->name);
    return make_link(harness, error) && calibrate(harness, error) && start_server(harness, error) &&
           lab_visit(&harness->lab, LAB_CLIENT, read_quantum, harness, error) &&
           probe_tool(harness, error);
}

static bool run_sizes(struct harness *harness, struct error *error)
{
    const struct harness_settings *settings = harness->job->settings;
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
    memory_release(harness->messages);
}

/* The test program's codes mean what ours do. */
static enum exit_status exit_of_tool(int code)
{
    return code == EXIT_CANNOT_RUN || code == EXIT_USAGE ? (enum exit_status)code
                                                         : EXIT_TEST_FAILED;
}

/* After a failure what there is stays, marked as incomplete. */
static bool write_files(struct harness *harness, struct error *error)
{
    return harness_files_write(harness->job->settings->output_directory, harness->result,
                               harness->messages, error);
}

bool harness_configuration_run(const struct harness_configuration *job,
                               struct harness_result *result, enum exit_status *status,
                               struct error *error)
{
    struct harness harness = {.job = job, .result = result, .lab = {.namespaces = {-1, -1, -1}}};
    describe_request(job, result);
    *status = EXIT_CANNOT_RUN;
    bool ok = prepare(&harness, error);
    if (ok) {
        progress_clear(job->progress);
        harness_write_banner(stdout, result);
        *status = EXIT_TEST_FAILED;
        ok = run_sizes(&harness, error);
        result->complete = ok;
        if (!ok) {
            snprintf(result->failure, sizeof result->failure, "%s", error->message);
            *status = exit_of_tool(harness.tool_code);
        }
        read_lateness(&harness);
        harness_figures(result);
        struct error later;
        ok = write_files(&harness, ok ? error : &later) && ok;
    }
    progress_clear(job->progress);
    take_down(&harness);
    return ok;
}
