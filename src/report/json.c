#include "report/json.h"

#include "base/clock.h"
#include "base/memory.h"
#include "report/figures.h"
#include "report/json_build.h"
#include "result/shares.h"

#include <stdio.h>
#include <string.h>

/* 0: the clock saw no time pass. */
static json_t *rate_json(double rate)
{
    return rate > 0 ? json_real_or_null(rate) : json_null();
}

static json_t *failure(const struct error *error)
{
    return error->domain == ERROR_NONE ? json_null() : json_text(error->message);
}

/* ---- Samples ---- */

static json_t *requests_json(struct json_builder *builder, const struct sample_counts *counts)
{
    json_t *object = json_object();
    for (size_t kind = 0; kind < REQUEST_KINDS; kind++) {
        json_set(builder, object, request_kind_names[kind], json_count(counts->requests[kind]));
    }
    return object;
}

static json_t *tcp_json(struct json_builder *builder, const struct sample_tcp *tcp)
{
    json_t *object = json_object();
    for (size_t i = 0; i < TCP_COUNTS; i++) {
        json_set(builder, object, tcp_count_names[i],
                 tcp->known[i] ? json_count(tcp->counts[i]) : json_null());
    }
    return object;
}

static json_t *shares_json(struct json_builder *builder, const uint64_t shares_ns[SHARES])
{
    json_t *object = json_object();
    for (size_t i = 0; i < SHARES; i++) {
        char key[40];
        snprintf(key, sizeof key, "%s_ns", share_names[i]);
        json_set(builder, object, key, json_count(shares_ns[i]));
    }
    return object;
}

static json_t *sessions_json(struct json_builder *builder, const struct result_case *result_case,
                             size_t index)
{
    json_t *array = json_array();
    uint32_t sessions = result_case->test.sessions;
    for (uint32_t i = 0; i < sessions; i++) {
        json_append(builder, array, json_count(result_case->session_ns[index * sessions + i]));
    }
    return array;
}

static json_t *sample_json(struct json_builder *builder, const struct result_case *result_case,
                           size_t index)
{
    const struct sample *sample = &result_case->samples[index];
    json_t *object = json_object();
    json_set(builder, object, "number", json_count(sample->number));
    json_set(builder, object, "warmup", json_boolean(sample->warmup));
    json_set(builder, object, "duration_ns", json_count(sample->duration_ns));
    json_set(builder, object, "session_duration_ns", sessions_json(builder, result_case, index));
    json_set(builder, object, "bytes", json_count(sample->size_bytes));
    json_set(builder, object, "rate_bytes_per_s",
             rate_json(result_rate((double)sample->size_bytes, (double)sample->duration_ns)));
    json_set(builder, object, "requests", requests_json(builder, &sample->counts));
    json_set(builder, object, "runt_requests", json_count(sample->counts.runts));
    json_set(builder, object, "round_trips", json_count(sample->counts.round_trips));
    json_set(builder, object, "payload_bytes", json_count(sample->counts.bytes));
    json_set(builder, object, "client_cpu_ns", json_count(sample->cpu_ns));
    json_set(builder, object, "waited_ns", json_count(sample->waited_ns));
    json_set(builder, object, "time_shares", shares_json(builder, sample->shares_ns));
    json_set(builder, object, "wire", tcp_json(builder, &sample->tcp));
    json_set(builder, object, "tcp_before", json_tcp_snapshot(builder, &sample->tcp_before));
    json_set(builder, object, "tcp_after", json_tcp_snapshot(builder, &sample->tcp_after));
    return object;
}

/* ---- Cases ---- */

static json_t *summary_json(struct json_builder *builder, const struct result_summary *summary)
{
    const struct stats_summary *times = &summary->times;
    if (times->count == 0) {
        return json_null();
    }
    json_t *object = json_object();
    json_set(builder, object, "count", json_count(times->count));
    json_set(builder, object, "mean_ns", json_real_or_null(times->mean));
    json_set(builder, object, "mean_low_ns", json_real_or_null(times->mean_low));
    json_set(builder, object, "mean_high_ns", json_real_or_null(times->mean_high));
    json_set(builder, object, "median_ns", json_real_or_null(times->median));
    json_set(builder, object, "deviation_ns",
             times->has_deviation ? json_real_or_null(times->deviation) : json_null());
    json_set(builder, object, "minimum_ns", json_real_or_null(times->minimum));
    json_set(builder, object, "maximum_ns", json_real_or_null(times->maximum));
    json_set(builder, object, "p95_ns", json_real_or_null(times->p95));
    json_set(builder, object, "p99_ns", json_real_or_null(times->p99));
    json_set(builder, object, "outliers", json_count(times->outliers));
    json_set(builder, object, "mean_rate_bytes_per_s", rate_json(summary->mean_rate));
    json_set(builder, object, "median_rate_bytes_per_s", rate_json(summary->median_rate));
    return object;
}

static json_t *service_json(struct json_builder *builder, const struct histogram_summary *service)
{
    if (service->count == 0) {
        return json_null();
    }
    json_t *object = json_object();
    json_set(builder, object, "count", json_count(service->count));
    json_set(builder, object, "relative_error", json_real(1.0 / HISTOGRAM_STEPS));
    json_set(builder, object, "mean_ns", json_real(service->mean));
    json_set(builder, object, "minimum_ns", json_count(service->minimum));
    json_set(builder, object, "median_ns", json_count(service->median));
    json_set(builder, object, "p95_ns", json_count(service->p95));
    json_set(builder, object, "p99_ns", json_count(service->p99));
    json_set(builder, object, "maximum_ns", json_count(service->maximum));
    return object;
}

static const char *const server_caches[] = {[CACHE_SERVER_WARM] = "warm", [CACHE_BYPASSED] = NULL};

static const char *const client_caches[] = {
    [CACHE_CLIENT_COLD] = "cold", [CACHE_CLIENT_WARM] = "warm", [CACHE_BYPASSED] = "bypassed"};

static json_t *case_json(struct json_builder *builder, const struct result_case *result_case)
{
    const struct test_case *test = &result_case->test;
    const struct result_summary *summary = &result_case->summary;
    json_t *samples = json_array();
    for (uint32_t i = 0; i < result_case->sample_count; i++) {
        json_append(builder, samples, sample_json(builder, result_case, i));
    }
    json_t *object = json_object();
    json_set(builder, object, "test", json_text(test->name));
    json_set(builder, object, "size_bytes", json_count(test->size_bytes));
    json_set(builder, object, "chunk_bytes", json_count(test->chunk_bytes));
    json_set(builder, object, "sparse", json_boolean(test->sparse));
    json_set(builder, object, "outstanding", json_count(test->depth));
    json_set(builder, object, "interleaved", json_boolean(!test->batched));
    json_set(builder, object, "sessions", json_count(test->sessions));
    json_set(builder, object, "sink", json_text(test->sink));
    json_set(builder, object, "flush", json_boolean(test->flush));
    json_set(builder, object, "new_files", json_boolean(test->new_files));
    json_set(builder, object, "existing_file", json_boolean(test->existing_file));
    json_set(builder, object, "warmups", json_count(test->warmups));
    json_set(builder, object, "iterations", json_count(test->iterations));
    json_set(builder, object, "server_cache", json_text(server_caches[result_case->cache]));
    json_set(builder, object, "client_cache", json_text(client_caches[result_case->cache]));
    json_set(builder, object, "complete", json_boolean(result_case->ended));
    json_set(builder, object, "failure", failure(&result_case->failure));
    json_set(builder, object, "samples", samples);
    json_set(builder, object, "summary", summary_json(builder, summary));
    json_set(builder, object, "service_times", service_json(builder, &summary->service));
    json_set(builder, object, "time_shares", shares_json(builder, summary->shares_ns));
    return object;
}

/* ---- Conditions ---- */

static json_t *run_json(struct json_builder *builder, const struct conditions *conditions)
{
    json_t *object = json_object();
    json_set(builder, object, "program", json_text(conditions->program));
    json_set(builder, object, "version", json_text(conditions->version));
    json_set(builder, object, "arguments",
             json_texts(builder, conditions->arguments, conditions->argument_count));
    json_set(builder, object, "started", json_text(conditions->started));
    return object;
}

static json_t *host_json(struct json_builder *builder, const struct conditions *conditions)
{
    json_t *object = json_object();
    double steal = conditions->steal_percent;
    json_set(builder, object, "name", json_text(conditions->host_name));
    json_set(builder, object, "kernel", json_text(conditions->kernel));
    json_set(builder, object, "machine", json_text(conditions->machine));
    json_set(builder, object, "cpu", json_text(conditions->cpu));
    json_set(builder, object, "cpu_count", json_count(conditions->cpu_count));
    json_set(builder, object, "load_before", json_real_or_null(conditions->load_before));
    json_set(builder, object, "load_after", json_real_or_null(conditions->load_after));
    json_set(builder, object, "steal_percent", steal >= 0 ? json_real_or_null(steal) : json_null());
    json_set(builder, object, "warning",
             conditions->warning[0] != '\0' ? json_text(conditions->warning) : json_null());
    return object;
}

static json_t *server_json(struct json_builder *builder, const struct conditions *conditions)
{
    if (conditions->directory != NULL) {
        return json_null();
    }
    json_t *versions = json_array();
    json_t *methods = json_array();
    for (size_t i = 0; i < conditions->version_count; i++) {
        json_append(builder, versions, json_text(conditions->versions[i].text));
    }
    for (size_t i = 0; i < conditions->login_method_count; i++) {
        json_append(builder, methods, json_text(conditions->login_methods[i].text));
    }
    json_t *object = json_object();
    json_set(builder, object, "address", json_text(conditions->peer));
    json_set(builder, object, "name", json_text(conditions->server_name));
    json_set(builder, object, "machine_type", json_text(conditions->machine_type));
    json_set(builder, object, "versions", versions);
    json_set(builder, object, "login_methods", methods);
    json_set(builder, object, "reference_store", json_text(conditions->reference_store));
    json_set(builder, object, "flags", json_count(conditions->server_flags));
    json_set(builder, object, "quantum_offered_bytes",
             json_count(conditions->quantum_offered_bytes));
    json_set(builder, object, "afp_version", json_text(conditions->afp_version));
    json_set(builder, object, "login_method", json_text(conditions->login_method));
    json_set(builder, object, "second_volume", json_boolean(conditions->second_volume));
    return object;
}

static json_t *file_system_json(struct json_builder *builder, const struct conditions *conditions)
{
    if (conditions->directory == NULL) {
        return json_null();
    }
    json_t *object = json_object();
    json_set(builder, object, "directory", json_text(conditions->directory));
    json_set(builder, object, "second_directory", json_text(conditions->second_directory));
    json_set(builder, object, "type", json_text(conditions->file_system));
    json_set(builder, object, "direct", json_boolean(conditions->direct));
    return object;
}

/* ---- The document ---- */

static json_t *build(const struct result *result, bool finished, struct error *error)
{
    struct json_builder builder = {0};
    json_t *cases = json_array();
    for (size_t i = 0; i < result->case_count; i++) {
        json_append(&builder, cases, case_json(&builder, result->cases[i]));
    }
    json_t *document = json_object();
    json_set(&builder, document, "schema", json_text(RESULT_SCHEMA_NAME));
    json_set(&builder, document, "schema_version", json_count(RESULT_SCHEMA_VERSION));
    json_set(&builder, document, "complete", json_boolean(finished && result->complete));
    json_set(&builder, document, "failure", failure(&result->failure));
    json_set(&builder, document, "run", run_json(&builder, &result->conditions));
    json_set(&builder, document, "host", host_json(&builder, &result->conditions));
    json_set(&builder, document, "server", server_json(&builder, &result->conditions));
    json_set(&builder, document, "file_system", file_system_json(&builder, &result->conditions));
    json_set(&builder, document, "cases", cases);
    if (builder.failed) {
        json_decref(document);
        memory_error(error, "for the JSON document");
        return NULL;
    }
    return document;
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
    bool ok = to_stdout ? json_write(document, stdout, "stdout", error)
                        : json_write_file(document, json->path, finished, error);
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
