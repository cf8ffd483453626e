#include "harness/write_json.h"

#include "base/memory.h"
#include "base/version.h"
#include "harness/figures.h"
#include "report/fields.h"
#include "report/json_build.h"

#include <string.h>

static const char *const way_keys[LINK_WAYS] = {
    [LINK_TO_SERVER] = "to_server", [LINK_TO_CLIENT] = "to_client"};
static const char *const side_keys[LAB_SIDES] = {[LAB_CLIENT] = "client", [LAB_SERVER] = "server"};

/* ---- What crossed ---- */

static json_t *sizes_json(struct json_builder *builder, const void *member, const void *whole)
{
    const uint64_t *sizes = member;
    json_t *array = json_array();
    for (size_t i = 0; i < PACKET_SIZE_STEPS; i++) {
        if (sizes[i] > 0) {
            json_t *step = json_object();
            json_set(builder, step, "up_to_bytes", json_count((i + 1) * PACKET_SIZE_STEP));
            json_set(builder, step, "packets", json_count(sizes[i]));
            json_append(builder, array, step);
        }
    }
    return array;
}

static bool has_kinds(const void *counts)
{
    return harness_kinds_known(counts);
}

static const struct field crossed_fields[] = {
    {FIELD("packets", struct packet_counts, packets)},
    {FIELD("bytes", struct packet_counts, bytes)},
    {FIELD("payload_bytes", struct packet_counts, payload_bytes)},
    {NULL},
};

static const struct field distribution_fields[] = {
    {FIELD("kinds", struct packet_counts, kinds), .names = packet_kind_names, .present = has_kinds},
    {FIELD("sizes", struct packet_counts, sizes), .make = sizes_json},
    {NULL},
};

static json_t *way_json(struct json_builder *builder, const struct harness_traffic *traffic,
                        size_t way)
{
    const struct packet_counts *counts = &traffic->ways[way];
    json_t *object = fields_json(builder, crossed_fields, counts, NULL);
    json_set(builder, object, "lost", json_count(traffic->lost[way]));
    json_set(builder, object, "dropped", json_count(traffic->dropped[way]));
    fields_set(builder, object, distribution_fields, counts, NULL);
    return object;
}

static const struct field end_fields[] = {
    {FIELD("connections", struct harness_end, connections)},
    {FIELD("bytes_sent", struct harness_end, bytes_sent)},
    {FIELD("segments_out", struct harness_end, segments_out)},
    {FIELD("data_segments_out", struct harness_end, data_segments_out)},
    {FIELD("retransmits", struct harness_end, retransmits)},
    {FIELD("busy_us", struct harness_end, busy_us)},
    {FIELD("receive_window_us", struct harness_end, receive_window_us)},
    {FIELD("send_buffer_us", struct harness_end, send_buffer_us)},
    {FIELD("segment_bytes", struct harness_end, segment_bytes), .rule = FIELD_POSITIVE},
    {FIELD("tcp", struct harness_end, tcp)},
    {NULL},
};

static json_t *traffic_json(struct json_builder *builder, const void *member, const void *whole)
{
    const struct harness_traffic *traffic = member;
    json_t *object = json_object();
    for (size_t way = 0; way < LINK_WAYS; way++) {
        json_set(builder, object, way_keys[way], way_json(builder, traffic, way));
    }
    for (size_t side = 0; side < LAB_SIDES; side++) {
        json_t *end = json_object();
        json_set(builder, end, "namespace_segments_out", json_count(traffic->segments_out[side]));
        fields_set(builder, end, end_fields, &traffic->ends[side], NULL);
        json_set(builder, object, side_keys[side], end);
    }
    return object;
}

static json_t *bound_json(struct json_builder *builder, const void *run, const void *whole)
{
    return json_count(harness_bound_ns(run, &((const struct harness_result *)whole)->link));
}

static json_t *late_json(struct json_builder *builder, const void *late_ns, const void *whole)
{
    bool known = ((const struct harness_result *)whole)->has_lateness;
    return known ? json_count(*(const uint64_t *)late_ns) : json_null();
}

/* Small: the rest is in the sample of the same number. */
static const struct field run_fields[] = {
    {FIELD("number", struct harness_run, number)},
    {FIELD("warmup", struct harness_run, warmup)},
    {FIELD("duration_ns", struct harness_run, duration_ns)},
    {"bound_ns", .make = bound_json},
    {FIELD("late_ns", struct harness_run, late_ns), .make = late_json},
    {FIELD("spoiled", struct harness_run, spoiled)},
    {FIELD("to_server", struct harness_run, traffic.ways[LINK_TO_SERVER]), .table = crossed_fields},
    {FIELD("to_client", struct harness_run, traffic.ways[LINK_TO_CLIENT]), .table = crossed_fields},
    {NULL},
};

static const struct field case_fields[] = {
    {FIELD("test", struct harness_case, test)},
    {FIELD("requests", struct harness_case, figures.all_requests)},
    {FIELD("runt_requests", struct harness_case, figures.runts)},
    {FIELD("goodput_bits_per_s", struct harness_case, figures.goodput)},
    {FIELD("link_share", struct harness_case, figures.share), .rule = FIELD_NOT_NEGATIVE},
    {FIELD("traffic", struct harness_case, figures.traffic), .make = traffic_json},
    {FIELD_LIST("runs", FIELD_KIND_OBJECTS, struct harness_case, runs, count), .table = run_fields},
    {NULL},
};

static const struct field size_fields[] = {
    {FIELD("size_bytes", struct harness_size, size_bytes)},
    {FIELD("complete", struct harness_size, complete)},
    {FIELD("traffic", struct harness_size, whole), .make = traffic_json},
    {FIELD_LIST("cases", FIELD_KIND_OBJECTS, struct harness_size, cases, case_count),
     .table = case_fields},
    {NULL},
};

/* ---- The link ---- */

static const struct field shape_fields[] = {
    {FIELD("rate", struct harness_result, rate)},
    {FIELD("rate_bits_per_s", struct harness_result, link.shapes[LINK_TO_SERVER].rate_bits_per_s),
     .rule = FIELD_POSITIVE},
    {FIELD("delay", struct harness_result, delay)},
    {FIELD("delay_ns", struct harness_result, link.shapes[LINK_TO_SERVER].delay_ns)},
    {FIELD("jitter_ns", struct harness_result, link.shapes[LINK_TO_SERVER].jitter_ns)},
    {FIELD("loss_ppm", struct harness_result, link.shapes[LINK_TO_SERVER].loss_ppm)},
    {FIELD("queue_bytes", struct harness_result, link.shapes[LINK_TO_SERVER].queue_bytes),
     .rule = FIELD_POSITIVE},
    {FIELD("mtu", struct harness_result, link.mtu)},
    {FIELD("quantum_bytes", struct harness_result, quantum_asked_bytes), .rule = FIELD_POSITIVE},
    {FIELD("read_ahead", struct harness_result, read_ahead_asked), .rule = FIELD_POSITIVE},
    {FIELD("congestion_control", struct harness_result, congestion_control)},
    {NULL},
};

static const struct field calibration_fields[] = {
    {FIELD("verdict", struct harness_result, verdict), .names = harness_verdict_names},
    {FIELD("rtt_median_ns", struct harness_result, calibration.rtt_ns)},
    {FIELD("rtt_minimum_ns", struct harness_result, calibration.rtt_minimum_ns)},
    {FIELD("rtt_p99_ns", struct harness_result, calibration.rtt_p99_ns)},
    {FIELD("goodput_to_server_bits_per_s", struct harness_result,
           calibration.goodput_bits_per_s[LINK_TO_SERVER])},
    {FIELD("goodput_to_client_bits_per_s", struct harness_result,
           calibration.goodput_bits_per_s[LINK_TO_CLIENT])},
    {FIELD("segment_bytes", struct harness_result, calibration.segment_bytes)},
    {FIELD("dropped", struct harness_result, calibration.dropped)},
    {NULL},
};

static bool is_calibrated(const void *result)
{
    return ((const struct harness_result *)result)->calibrated;
}

const struct field harness_lateness_fields[] = {
    {FIELD("median_ns", struct harness_result, lateness_median_ns)},
    {FIELD("p99_ns", struct harness_result, lateness_p99_ns)},
    {FIELD("maximum_ns", struct harness_result, lateness_maximum_ns)},
    {NULL},
};

static bool has_lateness(const void *result)
{
    return ((const struct harness_result *)result)->has_lateness;
}

const struct field harness_settings_fields[] = {
    {FIELD("receive_window_bytes", struct lab_settings, receive_window_bytes)},
    {FIELD("send_window_bytes", struct lab_settings, send_window_bytes)},
    {FIELD("metrics_saved", struct lab_settings, metrics_saved)},
    {FIELD("slow_start_after_idle", struct lab_settings, slow_start_after_idle)},
    {FIELD("offloads", struct lab_settings, offloads)},
    {NULL},
};

static json_t *settings_json(struct json_builder *builder, const void *member, const void *whole)
{
    const struct lab_settings *settings = member;
    json_t *object = json_object();
    json_set(builder, object, "mtu", json_count(settings->mtu));
    json_set(builder, object, "congestion_control", json_text(settings->congestion_control));
    fields_set(builder, object, harness_settings_fields, settings, whole);
    return object;
}

static const struct field server_fields[] = {
    {FIELD("kind", struct harness_result, server)},
    {FIELD("chosen", struct harness_result, server_chosen)},
    {FIELD("how", struct harness_result, server_how)},
    {FIELD("version", struct harness_result, server_version)},
    {NULL},
};

static json_t *label_json(struct json_builder *builder, const void *result, const void *whole)
{
    char label[HARNESS_LABEL_LENGTH];
    return json_text(harness_rate_label(result, label));
}

static json_t *spoiled_json(struct json_builder *builder, const void *member, const void *whole)
{
    return json_count(harness_spoiled_runs(whole));
}

static json_t *valid_json(struct json_builder *builder, const void *fault_count, const void *whole)
{
    return json_boolean(*(const size_t *)fault_count == 0);
}

static json_t *faults_json(struct json_builder *builder, const void *member, const void *whole)
{
    const struct harness_result *result = member;
    json_t *array = json_array();
    for (size_t i = 0; i < result->fault_count && i < HARNESS_FAULT_LIMIT; i++) {
        json_append(builder, array, json_text(result->faults[i]));
    }
    return array;
}

static const struct field link_fields[] = {
    {FIELD("name", struct harness_result, name)},
    {"rate_label", .make = label_json},
    {"asked", .table = shape_fields},
    {FIELD("shaped", struct harness_result, shaped)},
    {FIELD("backend", struct harness_result, backend)},
    {FIELD("backend_chosen", struct harness_result, backend_chosen)},
    {FIELD("conditions", struct harness_result, link_conditions)},
    {"calibration", .table = calibration_fields, .present = is_calibrated},
    {"lateness", .table = harness_lateness_fields, .present = has_lateness},
    {FIELD("client", struct harness_result, settings[LAB_CLIENT]), .make = settings_json},
    {FIELD("server", struct harness_result, settings[LAB_SERVER]), .make = settings_json},
    {"server_under_test", .table = server_fields},
    {FIELD("quantum_offered_bytes", struct harness_result, quantum_offered_bytes),
     .rule = FIELD_POSITIVE},
    {"spoiled_runs", .make = spoiled_json},
    {FIELD("valid", struct harness_result, fault_count), .make = valid_json},
    {"faults", .make = faults_json},
    {FIELD_LIST("sizes", FIELD_KIND_OBJECTS, struct harness_result, sizes, size_count),
     .table = size_fields},
    {NULL},
};

/* ---- Joining the documents ---- */

/* Takes the cases of a later document over, and what has changed until its end. */
static bool join(json_t *document, const json_t *later)
{
    static const char *const host_keys[] = {"load_after", "steal_percent", "warning"};
    json_t *host = json_object_get(document, "host");
    const json_t *later_host = json_object_get(later, "host");
    for (size_t i = 0; i < sizeof host_keys / sizeof host_keys[0]; i++) {
        json_t *value = json_object_get(later_host, host_keys[i]);
        if (value != NULL && !json_is_null(value) &&
            json_object_set(host, host_keys[i], value) < 0) {
            return false;
        }
    }
    return json_array_extend(json_object_get(document, "cases"), json_object_get(later, "cases")) ==
           0;
}

static json_t *parse(const char *text, uint64_t size_bytes, struct error *error)
{
    json_error_t where;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_array(json_object_get(document, "cases")) ||
        !json_is_object(json_object_get(document, "host"))) {
        json_decref(document);
        error_set(error, ERROR_CONTENT, 0,
                  "the test program's document for %llu bytes is no result: line %d: %s",
                  (unsigned long long)size_bytes, where.line, where.text);
        return NULL;
    }
    return document;
}

bool harness_json_join(struct harness_result *result, const char *text, uint64_t size_bytes,
                       struct error *error)
{
    json_t *document = parse(text, size_bytes, error);
    if (document == NULL || result->document == NULL) {
        result->document = document != NULL ? document : result->document;
        return document != NULL;
    }
    bool joined = join(result->document, document);
    json_decref(document);
    return joined || memory_error(error, "for the JSON document");
}

/* ---- What the test program does not know ---- */

static const struct field program_fields[] = {
    {"program", .text = "afp_perftest"},
    {"version", .text = afpbench_version},
    {FIELD_LIST("arguments", FIELD_KIND_TEXTS, struct harness_result, arguments, argument_count)},
    {FIELD("started", struct harness_result, started)},
    {NULL},
};

static const struct field document_fields[] = {
    {FIELD("complete", struct harness_result, complete)},
    {FIELD("failure", struct harness_result, failure), .rule = FIELD_POSITIVE},
    {"run", .table = program_fields},
    {NULL},
};

static const struct field counted_fields[] = {
    {"link", .table = link_fields},
    {NULL},
};

bool harness_json_finish(const struct harness_result *result, struct error *error)
{
    struct json_builder builder = {false};
    fields_set(&builder, result->document, document_fields, result, result);
    if (result->counted) {
        fields_set(&builder, result->document, counted_fields, result, result);
    }
    return !builder.failed || memory_error(error, "for the JSON document");
}
