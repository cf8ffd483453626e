#include "report/json.h"

#include "base/memory.h"
#include "report/fields.h"
#include "report/json_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Samples ---- */

static json_t *sessions_json(struct json_builder *builder, const void *sample, const void *whole)
{
    const struct result_case *result_case = whole;
    uint32_t sessions = result_case->test.sessions;
    size_t first = (size_t)((const struct sample *)sample - result_case->samples) * sessions;
    json_t *array = json_array();
    for (uint32_t i = 0; i < sessions; i++) {
        json_append(builder, array, json_count(result_case->session_ns[first + i]));
    }
    return array;
}

/* NAN: the clock saw no time pass. */
static double rate_or_nan(const void *member)
{
    const struct sample *sample = member;
    double rate = result_rate((double)sample->size_bytes, (double)sample->duration_ns);
    return rate > 0 ? rate : NAN;
}

static json_t *tcp_json(struct json_builder *builder, const void *member, const void *whole)
{
    const struct sample_tcp *tcp = member;
    json_t *object = json_object();
    for (size_t i = 0; i < TCP_COUNTS; i++) {
        json_set(builder, object, tcp_count_names[i],
                 tcp->known[i] ? json_count(tcp->counts[i]) : json_null());
    }
    return object;
}

static const struct field sample_fields[] = {
    {FIELD("number", struct sample, number)},
    {FIELD("warmup", struct sample, warmup)},
    {FIELD("spoiled", struct sample, spoiled)},
    {FIELD("duration_ns", struct sample, duration_ns)},
    {"session_duration_ns", .make = sessions_json},
    {FIELD("bytes", struct sample, size_bytes)},
    {"rate_bytes_per_s", .compute = rate_or_nan},
    {FIELD("requests", struct sample, counts.requests), .names = request_kind_names},
    {FIELD("runt_requests", struct sample, counts.runts)},
    {FIELD("short_replies", struct sample, counts.short_replies)},
    {FIELD("round_trips", struct sample, counts.round_trips)},
    {FIELD("payload_bytes", struct sample, counts.bytes)},
    {FIELD("client_cpu_ns", struct sample, cpu_ns)},
    {FIELD("waited_ns", struct sample, waited_ns)},
    {FIELD("time_shares", struct sample, shares_ns), .names = share_names},
    {FIELD("wire", struct sample, tcp), .make = tcp_json},
    {FIELD("tcp_before", struct sample, tcp_before)},
    {FIELD("tcp_after", struct sample, tcp_after)},
    {NULL},
};

/* Those that count, then the spoiled ones. */
static json_t *samples_json(struct json_builder *builder, const void *member, const void *whole)
{
    const struct result_case *result_case = member;
    json_t *array = json_array();
    for (uint32_t i = 0; i < result_case->sample_count + result_case->spoiled_count; i++) {
        uint32_t index = i < result_case->sample_count
                             ? i
                             : result_spoiled(result_case) + i - result_case->sample_count;
        json_append(builder, array,
                    fields_json(builder, sample_fields, &result_case->samples[index], whole));
    }
    return array;
}

/* ---- Cases ---- */

static double deviation_or_nan(const void *member)
{
    const struct stats_summary *times = member;
    return times->has_deviation ? times->deviation : NAN;
}

static double low_or_nan(const void *member)
{
    const struct stats_summary *times = member;
    return times->has_deviation ? times->mean_low : NAN;
}

static double high_or_nan(const void *member)
{
    const struct stats_summary *times = member;
    return times->has_deviation ? times->mean_high : NAN;
}

static const struct field summary_fields[] = {
    {FIELD("count", struct result_summary, times.count)},
    {FIELD("mean_ns", struct result_summary, times.mean)},
    {FIELD("mean_low_ns", struct result_summary, times), .compute = low_or_nan},
    {FIELD("mean_high_ns", struct result_summary, times), .compute = high_or_nan},
    {FIELD("median_ns", struct result_summary, times.median)},
    {FIELD("deviation_ns", struct result_summary, times), .compute = deviation_or_nan},
    {FIELD("minimum_ns", struct result_summary, times.minimum)},
    {FIELD("maximum_ns", struct result_summary, times.maximum)},
    {FIELD("p95_ns", struct result_summary, times.p95)},
    {FIELD("p99_ns", struct result_summary, times.p99)},
    {FIELD("outliers", struct result_summary, times.outliers)},
    {FIELD("mean_rate_bytes_per_s", struct result_summary, mean_rate), .rule = FIELD_POSITIVE},
    {FIELD("median_rate_bytes_per_s", struct result_summary, median_rate), .rule = FIELD_POSITIVE},
    {NULL},
};

static bool has_times(const void *result_case)
{
    return ((const struct result_case *)result_case)->summary.times.count > 0;
}

static double relative_error(const void *member)
{
    return 1.0 / HISTOGRAM_STEPS;
}

static const struct field service_fields[] = {
    {FIELD("count", struct histogram_summary, count)},
    {"relative_error", .compute = relative_error},
    {FIELD("mean_ns", struct histogram_summary, mean)},
    {FIELD("minimum_ns", struct histogram_summary, minimum)},
    {FIELD("median_ns", struct histogram_summary, median)},
    {FIELD("p95_ns", struct histogram_summary, p95)},
    {FIELD("p99_ns", struct histogram_summary, p99)},
    {FIELD("maximum_ns", struct histogram_summary, maximum)},
    {NULL},
};

static bool has_service(const void *result_case)
{
    return ((const struct result_case *)result_case)->summary.service.count > 0;
}

static const char *const server_caches[] = {[CACHE_SERVER_WARM] = "warm", [CACHE_BYPASSED] = NULL};

static const char *const client_caches[] = {
    [CACHE_CLIENT_COLD] = "cold", [CACHE_CLIENT_WARM] = "warm", [CACHE_BYPASSED] = "bypassed"};

static const struct field case_fields[] = {
    {FIELD("test", struct result_case, test.name)},
    {FIELD("size_bytes", struct result_case, test.size_bytes)},
    {FIELD("chunk_bytes", struct result_case, test.chunk_bytes)},
    {FIELD("sparse", struct result_case, test.sparse)},
    {FIELD("outstanding", struct result_case, test.depth)},
    {FIELD("interleaved", struct result_case, test.batched), .rule = FIELD_INVERTED},
    {FIELD("sessions", struct result_case, test.sessions)},
    {FIELD("sink", struct result_case, test.sink)},
    {FIELD("flush", struct result_case, test.flush)},
    {FIELD("new_files", struct result_case, test.new_files)},
    {FIELD("existing_file", struct result_case, test.existing_file)},
    {FIELD("warmups", struct result_case, test.warmups)},
    {FIELD("iterations", struct result_case, test.iterations)},
    {FIELD("server_cache", struct result_case, cache), .names = server_caches},
    {FIELD("client_cache", struct result_case, cache), .names = client_caches},
    {FIELD("complete", struct result_case, ended)},
    {FIELD("failure", struct result_case, failure)},
    {"samples", .make = samples_json},
    {FIELD("summary", struct result_case, summary), .table = summary_fields, .present = has_times},
    {FIELD("service_times", struct result_case, summary.service), .table = service_fields,
     .present = has_service},
    {FIELD("time_shares", struct result_case, summary.shares_ns), .names = share_names},
    {NULL},
};

/* ---- Conditions ---- */

static const struct field run_fields[] = {
    {FIELD("program", struct conditions, program)},
    {FIELD("version", struct conditions, version)},
    {FIELD_LIST("arguments", FIELD_KIND_TEXTS, struct conditions, arguments, argument_count)},
    {FIELD("started", struct conditions, started)},
    {NULL},
};

static const struct field host_fields[] = {
    {FIELD("name", struct conditions, host_name)},
    {FIELD("kernel", struct conditions, kernel)},
    {FIELD("machine", struct conditions, machine)},
    {FIELD("cpu", struct conditions, cpu)},
    {FIELD("cpu_count", struct conditions, cpu_count)},
    {FIELD("cpus_allowed", struct conditions, cpus_allowed)},
    {FIELD("cpu_quota_percent", struct conditions, cpu_quota_percent), .rule = FIELD_POSITIVE},
    {FIELD("memory_limit_bytes", struct conditions, memory_limit_bytes), .rule = FIELD_POSITIVE},
    {FIELD("load_before", struct conditions, load_before)},
    {FIELD("load_after", struct conditions, load_after)},
    {FIELD("steal_percent", struct conditions, steal_percent), .rule = FIELD_NOT_NEGATIVE},
    {FIELD("warning", struct conditions, warning), .rule = FIELD_POSITIVE},
    {NULL},
};

static const struct field server_fields[] = {
    {FIELD("address", struct conditions, peer)},
    {FIELD("name", struct conditions, server_name)},
    {FIELD("machine_type", struct conditions, machine_type)},
    {FIELD_LIST("versions", FIELD_KIND_INLINE_TEXTS, struct conditions, versions, version_count)},
    {FIELD_LIST("login_methods", FIELD_KIND_INLINE_TEXTS, struct conditions, login_methods,
                login_method_count)},
    {FIELD("reference_store", struct conditions, reference_store)},
    {FIELD("flags", struct conditions, server_flags)},
    {FIELD("quantum_offered_bytes", struct conditions, quantum_offered_bytes)},
    {FIELD("afp_version", struct conditions, afp_version)},
    {FIELD("login_method", struct conditions, login_method)},
    {FIELD("second_volume", struct conditions, second_volume)},
    {NULL},
};

static const struct field file_system_fields[] = {
    {FIELD("directory", struct conditions, directory)},
    {FIELD("second_directory", struct conditions, second_directory)},
    {FIELD("type", struct conditions, file_system)},
    {FIELD("direct", struct conditions, direct)},
    {NULL},
};

static bool is_directory(const void *result)
{
    return ((const struct result *)result)->conditions.directory != NULL;
}

static bool is_server(const void *result)
{
    return !is_directory(result);
}

/* ---- The document ---- */

static json_t *cases_json(struct json_builder *builder, const void *member, const void *whole)
{
    const struct result *result = member;
    json_t *array = json_array();
    for (size_t i = 0; i < result->case_count; i++) {
        json_append(builder, array,
                    fields_json(builder, case_fields, result->cases[i], result->cases[i]));
    }
    return array;
}

static const struct field document_fields[] = {
    {FIELD("failure", struct result, failure)},
    {FIELD("run", struct result, conditions), .table = run_fields},
    {FIELD("host", struct result, conditions), .table = host_fields},
    {FIELD("server", struct result, conditions), .table = server_fields, .present = is_server},
    {FIELD("file_system", struct result, conditions), .table = file_system_fields,
     .present = is_directory},
    {"cases", .make = cases_json},
    {NULL},
};

static json_t *build(const struct result *result, bool finished, struct error *error)
{
    struct json_builder builder = {0};
    json_t *document = json_object();
    json_set(&builder, document, "schema", json_text(RESULT_SCHEMA_NAME));
    json_set(&builder, document, "schema_version", json_count(RESULT_SCHEMA_VERSION));
    json_set(&builder, document, "complete", json_boolean(finished && result->complete));
    fields_set(&builder, document, document_fields, result, NULL);
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
