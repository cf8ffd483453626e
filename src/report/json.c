#include "report/json.h"

#include "base/clock.h"
#include "base/memory.h"
#include "report/figures.h"
#include "result/shares.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* jansson's setters take over the value and say -1 when there was no memory for it; the document
 * then lacks it, and build() notices by the flag. */
struct builder {
    bool failed;
};

static void set(struct builder *builder, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) < 0) {
        builder->failed = true;
    }
}

static void append(struct builder *builder, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) < 0) {
        builder->failed = true;
    }
}

static json_t *integer(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Servers may send names in any charset; what is no UTF-8 becomes '?'. */
static json_t *text(const char *value)
{
    json_t *string = value != NULL ? json_string(value) : json_null();
    if (string != NULL) {
        return string;
    }
    char replaced[256];
    size_t length = strnlen(value, sizeof replaced - 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)value[i];
        replaced[i] = c < 0x80 ? (char)c : '?';
    }
    replaced[length] = '\0';
    return json_string(replaced);
}

static json_t *rate(uint64_t bytes, double duration_ns)
{
    return duration_ns > 0 ? real_or_null((double)bytes / (duration_ns / (double)NS_PER_S))
                           : json_null();
}

static json_t *failure(const struct error *error)
{
    return error->domain == ERROR_NONE ? json_null() : text(error->message);
}

/* ---- Samples ---- */

static json_t *tcp_snapshot_json(struct builder *builder, const struct tcp_snapshot *snapshot)
{
    if (snapshot->length == 0) {
        return json_null();
    }
    json_t *object = json_object();
    set(builder, object, "send_buffer_bytes", integer(snapshot->send_buffer_bytes));
    set(builder, object, "receive_buffer_bytes", integer(snapshot->receive_buffer_bytes));
    set(builder, object, "segment_bytes", integer(snapshot->segment_bytes));
    set(builder, object, "congestion_control", text(snapshot->congestion_control));
    for (size_t i = 0; i < tcp_field_count; i++) {
        uint64_t value;
        if (tcp_snapshot_value(snapshot, i, &value)) {
            /* Rates without a limit are all ones in the kernel. */
            set(builder, object, tcp_fields[i].name,
                value <= INT64_MAX ? integer(value) : json_null());
        }
    }
    return object;
}

static json_t *requests_json(struct builder *builder, const struct sample_counts *counts)
{
    json_t *object = json_object();
    for (size_t kind = 0; kind < REQUEST_KINDS; kind++) {
        set(builder, object, request_kind_names[kind], integer(counts->requests[kind]));
    }
    return object;
}

static json_t *wire_json(struct builder *builder, const struct sample_wire *wire)
{
    json_t *object = json_object();
    for (size_t i = 0; i < WIRE_COUNTS; i++) {
        set(builder, object, wire_count_names[i],
            wire->known[i] ? integer(wire->counts[i]) : json_null());
    }
    return object;
}

static json_t *shares_json(struct builder *builder, const uint64_t shares_ns[SHARES])
{
    json_t *object = json_object();
    for (size_t i = 0; i < SHARES; i++) {
        char key[40];
        snprintf(key, sizeof key, "%s_ns", share_names[i]);
        set(builder, object, key, integer(shares_ns[i]));
    }
    return object;
}

static json_t *sessions_json(struct builder *builder, const struct result_case *result_case,
                             size_t index)
{
    json_t *array = json_array();
    uint32_t sessions = result_case->test.sessions;
    for (uint32_t i = 0; i < sessions; i++) {
        append(builder, array, integer(result_case->session_ns[index * sessions + i]));
    }
    return array;
}

static json_t *sample_json(struct builder *builder, const struct result_case *result_case,
                           size_t index)
{
    const struct sample *sample = &result_case->samples[index];
    json_t *object = json_object();
    set(builder, object, "number", integer(sample->number));
    set(builder, object, "warmup", json_boolean(sample->warmup));
    set(builder, object, "duration_ns", integer(sample->duration_ns));
    set(builder, object, "session_duration_ns", sessions_json(builder, result_case, index));
    set(builder, object, "bytes", integer(sample->size_bytes));
    set(builder, object, "rate_bytes_per_s", rate(sample->size_bytes, (double)sample->duration_ns));
    set(builder, object, "requests", requests_json(builder, &sample->counts));
    set(builder, object, "runt_requests", integer(sample->counts.runts));
    set(builder, object, "round_trips", integer(sample->counts.round_trips));
    set(builder, object, "payload_bytes", integer(sample->counts.bytes));
    set(builder, object, "client_cpu_ns", integer(sample->cpu_ns));
    set(builder, object, "waited_ns", integer(sample->waited_ns));
    set(builder, object, "time_shares", shares_json(builder, sample->shares_ns));
    set(builder, object, "wire", wire_json(builder, &sample->wire));
    set(builder, object, "tcp_before", tcp_snapshot_json(builder, &sample->tcp_before));
    set(builder, object, "tcp_after", tcp_snapshot_json(builder, &sample->tcp_after));
    return object;
}

/* ---- Cases ---- */

static json_t *summary_json(struct builder *builder, const struct result_case *result_case)
{
    struct stats_summary summary;
    struct error error;
    if (!case_summary(result_case, &summary, &error)) {
        builder->failed = true;
        return json_null();
    }
    if (summary.count == 0) {
        return json_null();
    }
    uint64_t bytes = result_case->test.size_bytes * result_case->test.sessions;
    json_t *object = json_object();
    set(builder, object, "count", integer(summary.count));
    set(builder, object, "mean_ns", real_or_null(summary.mean));
    set(builder, object, "mean_low_ns", real_or_null(summary.mean_low));
    set(builder, object, "mean_high_ns", real_or_null(summary.mean_high));
    set(builder, object, "median_ns", real_or_null(summary.median));
    set(builder, object, "deviation_ns",
        summary.has_deviation ? real_or_null(summary.deviation) : json_null());
    set(builder, object, "minimum_ns", real_or_null(summary.minimum));
    set(builder, object, "maximum_ns", real_or_null(summary.maximum));
    set(builder, object, "p95_ns", real_or_null(summary.p95));
    set(builder, object, "p99_ns", real_or_null(summary.p99));
    set(builder, object, "outliers", integer(summary.outliers));
    set(builder, object, "mean_rate_bytes_per_s", rate(bytes, summary.mean));
    set(builder, object, "median_rate_bytes_per_s", rate(bytes, summary.median));
    return object;
}

static json_t *service_json(struct builder *builder, const struct histogram *service)
{
    if (service->count == 0) {
        return json_null();
    }
    json_t *object = json_object();
    set(builder, object, "count", integer(service->count));
    set(builder, object, "relative_error", json_real(1.0 / HISTOGRAM_STEPS));
    set(builder, object, "mean_ns", json_real((double)service->sum / (double)service->count));
    set(builder, object, "minimum_ns", integer(service->minimum));
    set(builder, object, "median_ns", integer(histogram_percentile(service, 0.5)));
    set(builder, object, "p95_ns", integer(histogram_percentile(service, 0.95)));
    set(builder, object, "p99_ns", integer(histogram_percentile(service, 0.99)));
    set(builder, object, "maximum_ns", integer(service->maximum));
    return object;
}

static const char *const server_caches[] = {[CACHE_SERVER_WARM] = "warm", [CACHE_BYPASSED] = NULL};

static const char *const client_caches[] = {
    [CACHE_CLIENT_COLD] = "cold", [CACHE_CLIENT_WARM] = "warm", [CACHE_BYPASSED] = "bypassed"};

static json_t *case_json(struct builder *builder, const struct result_case *result_case)
{
    const struct test_case *test = &result_case->test;
    uint64_t shares_ns[SHARES];
    case_shares(result_case, shares_ns);
    json_t *samples = json_array();
    for (uint32_t i = 0; i < result_case->sample_count; i++) {
        append(builder, samples, sample_json(builder, result_case, i));
    }
    json_t *object = json_object();
    set(builder, object, "test", text(test->name));
    set(builder, object, "size_bytes", integer(test->size_bytes));
    set(builder, object, "chunk_bytes", integer(test->chunk_bytes));
    set(builder, object, "sparse", json_boolean(test->sparse));
    set(builder, object, "outstanding", integer(test->depth));
    set(builder, object, "interleaved", json_boolean(!test->batched));
    set(builder, object, "sessions", integer(test->sessions));
    set(builder, object, "sink", text(test->sink));
    set(builder, object, "flush", json_boolean(test->flush));
    set(builder, object, "new_files", json_boolean(test->new_files));
    set(builder, object, "existing_file", json_boolean(test->existing_file));
    set(builder, object, "warmups", integer(test->warmups));
    set(builder, object, "iterations", integer(test->iterations));
    set(builder, object, "server_cache", text(server_caches[result_case->cache]));
    set(builder, object, "client_cache", text(client_caches[result_case->cache]));
    set(builder, object, "complete", json_boolean(result_case->ended));
    set(builder, object, "failure", failure(&result_case->failure));
    set(builder, object, "samples", samples);
    set(builder, object, "summary", summary_json(builder, result_case));
    set(builder, object, "service_times", service_json(builder, &result_case->service));
    set(builder, object, "time_shares", shares_json(builder, shares_ns));
    return object;
}

/* ---- Conditions ---- */

static json_t *run_json(struct builder *builder, const struct conditions *conditions)
{
    json_t *arguments = json_array();
    for (size_t i = 0; i < conditions->argument_count; i++) {
        append(builder, arguments, text(conditions->arguments[i]));
    }
    json_t *object = json_object();
    set(builder, object, "program", text(conditions->program));
    set(builder, object, "version", text(conditions->version));
    set(builder, object, "arguments", arguments);
    set(builder, object, "started", text(conditions->started));
    return object;
}

static json_t *host_json(struct builder *builder, const struct conditions *conditions)
{
    json_t *object = json_object();
    double steal = conditions->steal_percent;
    set(builder, object, "name", text(conditions->host_name));
    set(builder, object, "kernel", text(conditions->kernel));
    set(builder, object, "machine", text(conditions->machine));
    set(builder, object, "cpu", text(conditions->cpu));
    set(builder, object, "cpu_count", integer(conditions->cpu_count));
    set(builder, object, "load_before", real_or_null(conditions->load_before));
    set(builder, object, "load_after", real_or_null(conditions->load_after));
    set(builder, object, "steal_percent", steal >= 0 ? real_or_null(steal) : json_null());
    set(builder, object, "warning",
        conditions->warning[0] != '\0' ? text(conditions->warning) : json_null());
    return object;
}

static json_t *server_json(struct builder *builder, const struct conditions *conditions)
{
    if (conditions->directory != NULL) {
        return json_null();
    }
    json_t *versions = json_array();
    json_t *methods = json_array();
    for (size_t i = 0; i < conditions->version_count; i++) {
        append(builder, versions, text(conditions->versions[i].text));
    }
    for (size_t i = 0; i < conditions->login_method_count; i++) {
        append(builder, methods, text(conditions->login_methods[i].text));
    }
    json_t *object = json_object();
    set(builder, object, "address", text(conditions->peer));
    set(builder, object, "name", text(conditions->server_name));
    set(builder, object, "machine_type", text(conditions->machine_type));
    set(builder, object, "versions", versions);
    set(builder, object, "login_methods", methods);
    set(builder, object, "reference_store", text(conditions->reference_store));
    set(builder, object, "flags", integer(conditions->server_flags));
    set(builder, object, "quantum_offered_bytes", integer(conditions->quantum_offered_bytes));
    set(builder, object, "afp_version", text(conditions->afp_version));
    set(builder, object, "login_method", text(conditions->login_method));
    set(builder, object, "second_volume", json_boolean(conditions->second_volume));
    return object;
}

static json_t *file_system_json(struct builder *builder, const struct conditions *conditions)
{
    if (conditions->directory == NULL) {
        return json_null();
    }
    json_t *object = json_object();
    set(builder, object, "directory", text(conditions->directory));
    set(builder, object, "second_directory", text(conditions->second_directory));
    set(builder, object, "type", text(conditions->file_system));
    set(builder, object, "direct", json_boolean(conditions->direct));
    return object;
}

/* ---- The document ---- */

static json_t *build(const struct result *result, bool finished, struct error *error)
{
    struct builder builder = {0};
    json_t *cases = json_array();
    for (size_t i = 0; i < result->case_count; i++) {
        append(&builder, cases, case_json(&builder, result->cases[i]));
    }
    json_t *document = json_object();
    set(&builder, document, "schema", text(RESULT_SCHEMA_NAME));
    set(&builder, document, "schema_version", integer(RESULT_SCHEMA_VERSION));
    set(&builder, document, "complete", json_boolean(finished && result->complete));
    set(&builder, document, "failure", failure(&result->failure));
    set(&builder, document, "run", run_json(&builder, &result->conditions));
    set(&builder, document, "host", host_json(&builder, &result->conditions));
    set(&builder, document, "server", server_json(&builder, &result->conditions));
    set(&builder, document, "file_system", file_system_json(&builder, &result->conditions));
    set(&builder, document, "cases", cases);
    if (builder.failed) {
        json_decref(document);
        memory_error(error, "for the JSON document");
        return NULL;
    }
    return document;
}

static bool dump(const json_t *document, FILE *out, const char *path, struct error *error)
{
    bool ok = json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0;
    ok = fputc('\n', out) != EOF && ok;
    if (!ok || fflush(out) != 0 || ferror(out)) {
        return error_set_errno(error, errno, "cannot write the results to '%s'", path);
    }
    return true;
}

/* A rename would put a file in the place of a device, and cannot replace a directory. */
static bool may_replace(const char *path, struct error *error)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return error_set(error, ERROR_LIMIT, 0,
                         "cannot write '%s': it is no regular file; '-' is stdout", path);
    }
    return true;
}

/* Under a third name until it is whole: a run may be killed while it writes. */
static bool write_file(const json_t *document, const char *path, bool finished, struct error *error)
{
    char part[4096];
    char fresh[4096];
    snprintf(part, sizeof part, "%s.part", path);
    int length = snprintf(fresh, sizeof fresh, "%s.part.new", path);
    if (length < 0 || (size_t)length >= sizeof fresh) {
        return error_set(error, ERROR_LIMIT, 0, "the name '%s' is too long", path);
    }
    if (!may_replace(path, error)) {
        return false;
    }
    FILE *out = fopen(fresh, "we");
    if (out == NULL) {
        return error_set_errno(error, errno, "cannot write '%s'", fresh);
    }
    bool ok = dump(document, out, fresh, error);
    if (fclose(out) != 0 && ok) {
        ok = error_set_errno(error, errno, "cannot write '%s'", fresh);
    }
    if (!ok) {
        unlink(fresh);
        return false;
    }
    if (rename(fresh, part) < 0 || (finished && rename(part, path) < 0)) {
        return error_set_errno(error, errno, "cannot rename '%s' to '%s'", fresh,
                               finished ? path : part);
    }
    return true;
}

static bool write_document(const struct json_report *json, const struct result *result,
                           bool finished, struct error *error)
{
    bool to_stdout = strcmp(json->path, "-") == 0;
    if (to_stdout && !finished) {
        return true;
    }
    json_t *document = build(result, finished, error);
    if (document == NULL) {
        return false;
    }
    bool ok = to_stdout ? dump(document, stdout, "stdout", error)
                        : write_file(document, json->path, finished, error);
    json_decref(document);
    return ok;
}

bool json_report_begin(const struct json_report *json, const struct result *result,
                       struct error *error)
{
    return write_document(json, result, false, error);
}

static bool on_end(void *context, const struct result *result,
                   const struct result_case *result_case, struct error *error)
{
    (void)result_case;
    return write_document(context, result, false, error);
}

static bool on_finish(void *context, const struct result *result, struct error *error)
{
    return write_document(context, result, true, error);
}

struct observer json_observer(struct json_report *json)
{
    return (struct observer){.on_end = on_end, .on_finish = on_finish, .context = json};
}
