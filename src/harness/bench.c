#include "harness/bench.h"

#include "afp/client.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "harness/figures.h"
#include "harness/files.h"
#include "harness/invocation.h"
#include "harness/write_json.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define STILL_LIMIT_NS (25 * NS_PER_S) /* the test program waits 30 s for an answer */
#define PROBE_LIMIT_NS (10 * NS_PER_S)
#define LOGIN_LIMIT_NS (10 * NS_PER_S)

static struct lab *lab_of(const struct harness_bench *bench)
{
    return bench->rig != NULL ? &bench->rig->lab : NULL;
}

/* A guest has none. */
static const char *password_of(const struct harness_bench *bench)
{
    const struct harness_elsewhere *elsewhere = &bench->setup->settings->elsewhere;
    return elsewhere->wanted && elsewhere->user[0] != '\0' ? elsewhere->password : NULL;
}

/* ---- The server ---- */

/* With room for three files: Copy has two, and one may be on its way out. */
static bool start_server(struct harness_bench *bench, struct error *error)
{
    const struct harness_setup *setup = bench->setup;
    const struct harness_settings *settings = setup->settings;
    struct server_request request = {
        .quantum_bytes = bench->result->quantum_asked_bytes,
        .read_ahead = bench->result->read_ahead_asked,
        .afpd = settings->afpd,
        .netatalk_root = settings->netatalk_root,
        .volume_bytes = 3 * harness_largest_size(settings),
        .users = setup->supervisor->users,
    };
    if (!server_under_test_start(&bench->server, setup->server, &bench->rig->lab, &request,
                                 setup->interrupt->fd, error)) {
        return false;
    }
    snprintf(bench->result->server_how, sizeof bench->result->server_how, "%s", bench->server.how);
    snprintf(bench->result->server_version, sizeof bench->result->server_version, "%s",
             bench->server.version);
    return true;
}

/* A session as guest, as the test program will have it, to read the quantum back. */
static bool read_quantum(void *context, struct error *error)
{
    struct harness_bench *bench = context;
    struct afp_client *client = NULL;
    struct afp_client_config config = {.dsi = {.host = LAB_SERVER_ADDRESS,
                                               .port = bench->server.port,
                                               .timeout_ns = LOGIN_LIMIT_NS,
                                               .interrupt = bench->setup->interrupt},
                                       .version = AFP_3_4,
                                       .uam = &uam_guest,
                                       .credentials = {.user = "", .password = ""}};
    if (!afp_client_open(&client, &config, error)) {
        return error_prefix(error, "the server under test refuses a guest");
    }
    bench->result->quantum_offered_bytes = afp_client_quantum(client);
    afp_client_close(client);
    return true;
}

/* What a server elsewhere says of itself before anybody logs in. */
static bool ask_elsewhere(struct harness_bench *bench, struct error *error)
{
    const struct harness_elsewhere *elsewhere = &bench->setup->settings->elsewhere;
    struct harness_result *result = bench->result;
    struct dsi_config config = {.host = elsewhere->location.host,
                                .port = elsewhere->location.port,
                                .timeout_ns = LOGIN_LIMIT_NS,
                                .interrupt = bench->setup->interrupt};
    struct afp_description description;
    struct dsi_session *session = NULL;
    bool ok = afp_describe_server(&description, &config, error) &&
              dsi_connect(&session, &config, error) &&
              dsi_open(session, &result->quantum_offered_bytes, error);
    dsi_close(session);
    if (ok) {
        struct span type = description.info.machine_type;
        snprintf(result->server_version, sizeof result->server_version, "%.*s", (int)type.size,
                 (const char *)type.data);
        snprintf(result->server_how, sizeof result->server_how, "port %u, volume %.60s, %s%.60s",
                 (unsigned)config.port, elsewhere->volume, elsewhere->user[0] != '\0' ? "as " : "",
                 elsewhere->user[0] != '\0' ? elsewhere->user : "as a guest");
    }
    return ok;
}

/* Whether the test program knows --mark-fd: told by doing. */
static bool probe_test_program(struct harness_bench *bench, struct error *error)
{
    char *const arguments[] = {(char *)bench->setup->test_program, "--mark-fd",
                               INVOCATION_MARK_FD_TEXT, "--version", NULL};
    struct harness_invocation probe = {.lab = lab_of(bench),
                                       .interrupt = bench->setup->interrupt,
                                       .arguments = arguments,
                                       .marks = true,
                                       .limit_ns = PROBE_LIMIT_NS};
    struct error unknown;
    bool ok = harness_invocation_run(&probe, error);
    bench->result->test_program_marks = ok && harness_invocation_check(&probe, &unknown);
    memory_release(probe.output);
    memory_release(probe.messages);
    return ok;
}

/* ---- Counting ---- */

/* Nothing where nothing can be counted. */
static bool take_snapshot(struct harness_bench *bench, struct harness_snapshot *snapshot,
                          struct error *error)
{
    return bench->rig == NULL ||
           harness_snapshot_take(snapshot, &bench->rig->lab, &bench->rig->link, bench->server.port,
                                 STILL_LIMIT_NS, bench->setup->interrupt->fd, error);
}

static uint64_t take_lateness(struct harness_bench *bench)
{
    return bench->rig != NULL ? link_take_lateness(&bench->rig->link) : 0;
}

/* One that was to be made again and was not counts after all, as the test program counts it. */
static void check_again(struct harness_bench *bench, const struct mark *next)
{
    const struct mark *asked = &bench->asked;
    bool repeated = next != NULL && strcmp(next->test, asked->test) == 0 &&
                    next->number == asked->number && next->warmup == asked->warmup;
    if (asked->begin && !repeated) {
        const struct harness_case *last = harness_size_case(bench->size, asked->test);
        last->runs[last->count - 1].spoiled = false;
    }
    bench->asked.begin = false;
}

static bool begin_run(struct harness_bench *bench, const struct mark *mark, struct error *error)
{
    const struct harness_settings *settings = bench->setup->settings;
    char size[SIZE_TEXT_LENGTH];
    check_again(bench, mark);
    bench->begun = *mark;
    progress_show(bench->setup->progress, "%s %s: %s %s %" PRIu32 " of %" PRIu32,
                  bench->result->name, size_text(mark->size_bytes, size), mark->test,
                  mark->warmup ? "warm-up" : "run", mark->number,
                  mark->warmup ? settings->warmups : settings->iterations);
    if (!take_snapshot(bench, bench->before, error)) {
        return false;
    }
    (void)take_lateness(bench); /* of what was before */
    return true;
}

/* The lateness first: nothing of what follows belongs to the run. */
static bool end_run(struct harness_bench *bench, const struct mark *mark, bool *again,
                    struct error *error)
{
    uint64_t late_ns = take_lateness(bench);
    if (!take_snapshot(bench, bench->after, error)) {
        return false;
    }
    *again =
        !mark->warmup && harness_spoils(bench->result, harness_size_case(bench->size, mark->test),
                                        mark->duration_ns, late_ns);
    struct harness_run *run = harness_size_add_run(bench->size, mark->test, error);
    if (run == NULL) {
        return false;
    }
    run->number = mark->number;
    run->warmup = mark->warmup;
    run->counts = mark->counts;
    run->duration_ns = mark->duration_ns;
    run->late_ns = late_ns;
    run->spoiled = *again;
    bench->asked = bench->begun;
    bench->asked.begin = *again;
    harness_snapshot_difference(bench->before, bench->after, &run->traffic);
    bench->begun.begin = false;
    return true;
}

static bool on_mark(void *context, const struct mark *mark, bool *again, struct error *error)
{
    struct harness_bench *bench = context;
    if (mark->size_bytes != bench->size->size_bytes) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "the test program marks a run of %" PRIu64
                         " bytes, asked for were %" PRIu64,
                         mark->size_bytes, bench->size->size_bytes);
    }
    if (mark->begin && !bench->begun.begin) {
        return begin_run(bench, mark, error);
    }
    if (mark_ends(mark, &bench->begun)) {
        return end_run(bench, mark, again, error);
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
static bool take_messages(struct harness_bench *bench, const char *messages, bool failed,
                          struct error *error)
{
    if (messages == NULL) {
        return true;
    }
    if (failed && messages[0] != '\0') {
        progress_clear(bench->setup->progress);
        fputs(messages, stderr);
    }
    return append(&bench->result->messages, messages, error);
}

static bool take_document(struct harness_bench *bench, const char *path, struct error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return error_set(error, ERROR_CONTENT, 0, "the test program wrote no '%s'", path);
    }
    char *text = harness_read_file(file, path, error);
    close(file);
    bool ok =
        text != NULL && harness_json_join(bench->result, text, bench->size->size_bytes, error);
    memory_release(text);
    return ok;
}

/* Runs the test program and takes what it wrote, but for its document. */
static bool invoke(struct harness_bench *bench, const struct harness_command *command,
                   struct error *error)
{
    struct harness_invocation invocation = {.lab = lab_of(bench),
                                            .password = password_of(bench),
                                            .interrupt = bench->setup->interrupt,
                                            .arguments = (char *const *)command->words,
                                            .marks = bench->result->test_program_marks,
                                            .on_mark = on_mark,
                                            .context = bench};
    struct error later;
    bench->begun.begin = false;
    bench->asked.begin = false;
    bool ok = harness_invocation_run(&invocation, error);
    if (ok && !harness_invocation_check(&invocation, error)) {
        ok = false;
        bench->exit_code = error->code;
    }
    ok = take_messages(bench, invocation.messages, !ok, ok ? error : &later) && ok;
    memory_release(invocation.messages);
    check_again(bench, NULL);
    if (ok) {
        bench->size->csv = invocation.output;
        return !bench->begun.begin ||
               error_set(error, ERROR_PROTOCOL, 0,
                         "the test program did not mark the end of %s %" PRIu32, bench->begun.test,
                         bench->begun.number);
    }
    memory_release(invocation.output);
    return server_under_test_check(&bench->server, &later) || error->domain == ERROR_INTERRUPTED
               ? false
               : error_set(error, ERROR_SYSTEM, 0, "%.120s; %.270s", error->message, later.message);
}

/* A test program that knows no marks is not asked for a document either. */
static bool run_command(struct harness_bench *bench, uint64_t size_bytes, struct error *error)
{
    const struct harness_settings *settings = bench->setup->settings;
    const struct harness_configuration *configuration = bench->configuration;
    bool marks = bench->result->test_program_marks;
    char path[HARNESS_PATH_LENGTH];
    struct harness_place place;
    struct harness_command command;
    if (!harness_fragment_path(settings->output_directory, configuration->name, path, error)) {
        return false;
    }
    harness_place_fill(&place, settings, &bench->server);
    place.test_program = bench->setup->test_program;
    place.json_path = marks ? path : NULL;
    harness_command_make(&command, settings, configuration, size_bytes, &place);
    bool ok = invoke(bench, &command, error) && (!marks || take_document(bench, path, error));
    harness_fragment_remove(path);
    return ok;
}

bool harness_bench_size(struct harness_bench *bench, uint64_t size_bytes, struct error *error)
{
    struct harness_result *result = bench->result;
    char size[SIZE_TEXT_LENGTH];
    progress_show(bench->setup->progress, "%s %s", result->name, size_text(size_bytes, size));
    bench->size = harness_result_add_size(result, size_bytes, error);
    uint64_t start_ns = clock_now_ns();
    (void)take_lateness(bench); /* of what was before */
    if (bench->size == NULL || !take_snapshot(bench, bench->whole, error) ||
        !run_command(bench, size_bytes, error) || !take_snapshot(bench, bench->after, error)) {
        return false;
    }
    bench->size->late_ns = take_lateness(bench);
    bench->size->duration_ns = clock_now_ns() - start_ns;
    harness_snapshot_difference(bench->whole, bench->after, &bench->size->whole);
    bench->size->complete = true;
    progress_done(bench->setup->progress,
                  harness_estimate_size_ns(bench->setup->settings, bench->configuration,
                                           size_bytes));
    return harness_judge_size(result, bench->size, error);
}

/* ---- From begin to end ---- */

bool harness_bench_open(struct harness_bench *bench, struct error *error)
{
    bench->whole = memory_allocate(1, sizeof *bench->whole);
    bench->before = memory_allocate(1, sizeof *bench->before);
    bench->after = memory_allocate(1, sizeof *bench->after);
    if (bench->whole == NULL || bench->before == NULL || bench->after == NULL) {
        return memory_error(error, "for counters");
    }
    bool ok = bench->rig == NULL
                  ? ask_elsewhere(bench, error)
                  : start_server(bench, error) &&
                        lab_visit(&bench->rig->lab, LAB_CLIENT, read_quantum, bench, error);
    return ok && probe_test_program(bench, error);
}

void harness_bench_close(struct harness_bench *bench)
{
    server_under_test_stop(&bench->server);
    memory_release(bench->whole);
    memory_release(bench->before);
    memory_release(bench->after);
}
