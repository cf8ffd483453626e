#include "harness/write_json.h"

#include "base/memory.h"
#include "harness/figures.h"
#include "report/json_build.h"
#include "version.h"

#include <string.h>

static const char *const way_keys[LINK_WAYS] = {
    [LINK_TO_SERVER] = "to_server", [LINK_TO_CLIENT] = "to_client"};
static const char *const side_keys[LAB_SIDES] = {[LAB_CLIENT] = "client", [LAB_SERVER] = "server"};

static json_t *count_or_null(uint64_t value)
{
    return value > 0 ? json_count(value) : json_null();
}

/* ---- What crossed ---- */

static json_t *sizes_json(struct json_builder *builder, const struct packet_counts *counts)
{
    json_t *array = json_array();
    for (size_t i = 0; i < PACKET_SIZE_STEPS; i++) {
        if (counts->sizes[i] > 0) {
            json_t *step = json_object();
            json_set(builder, step, "up_to_bytes", json_count((i + 1) * PACKET_SIZE_STEP));
            json_set(builder, step, "packets", json_count(counts->sizes[i]));
            json_append(builder, array, step);
        }
    }
    return array;
}

static json_t *kinds_json(struct json_builder *builder, const struct packet_counts *counts)
{
    if (!harness_kinds_known(counts)) {
        return json_null();
    }
    json_t *object = json_object();
    for (size_t kind = 0; kind < PACKET_KINDS; kind++) {
        json_set(builder, object, packet_kind_names[kind], json_count(counts->kinds[kind]));
    }
    return object;
}

static json_t *way_json(struct json_builder *builder, const struct harness_traffic *traffic,
                        enum link_way way)
{
    const struct packet_counts *counts = &traffic->ways[way];
    json_t *object = json_object();
    json_set(builder, object, "packets", json_count(counts->packets));
    json_set(builder, object, "bytes", json_count(counts->bytes));
    json_set(builder, object, "payload_bytes", json_count(counts->payload_bytes));
    json_set(builder, object, "lost", json_count(traffic->lost[way]));
    json_set(builder, object, "dropped", json_count(traffic->dropped[way]));
    json_set(builder, object, "kinds", kinds_json(builder, counts));
    json_set(builder, object, "sizes", sizes_json(builder, counts));
    return object;
}

static json_t *end_json(struct json_builder *builder, const struct harness_traffic *traffic,
                        enum lab_side side)
{
    const struct harness_end *end = &traffic->ends[side];
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {
        {"namespace_segments_out", traffic->segments_out[side]},
        {"connections", end->connections},
        {"bytes_sent", end->bytes_sent},
        {"segments_out", end->segments_out},
        {"data_segments_out", end->data_segments_out},
        {"retransmits", end->retransmits},
        {"busy_us", end->busy_us},
        {"receive_window_us", end->receive_window_us},
        {"send_buffer_us", end->send_buffer_us},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_set(builder, object, rows[i].key, json_count(rows[i].value));
    }
    json_set(builder, object, "segment_bytes", count_or_null(end->segment_bytes));
    json_set(builder, object, "tcp", json_tcp_snapshot(builder, &end->tcp));
    return object;
}

static json_t *traffic_json(struct json_builder *builder, const struct harness_traffic *traffic)
{
    json_t *object = json_object();
    for (unsigned way = 0; way < LINK_WAYS; way++) {
        json_set(builder, object, way_keys[way], way_json(builder, traffic, (enum link_way)way));
    }
    for (unsigned side = 0; side < LAB_SIDES; side++) {
        json_set(builder, object, side_keys[side], end_json(builder, traffic, (enum lab_side)side));
    }
    return object;
}

/* Small: the rest is in the sample of the same number. */
static json_t *run_json(struct json_builder *builder, const struct harness_result *result,
                        const struct harness_run *run)
{
    json_t *object = json_object();
    json_set(builder, object, "number", json_count(run->number));
    json_set(builder, object, "warmup", json_boolean(run->warmup));
    json_set(builder, object, "duration_ns", json_count(run->duration_ns));
    json_set(builder, object, "bound_ns", json_count(harness_bound_ns(run, &result->link)));
    for (size_t way = 0; way < LINK_WAYS; way++) {
        const struct packet_counts *counts = &run->traffic.ways[way];
        json_t *crossed = json_object();
        json_set(builder, crossed, "packets", json_count(counts->packets));
        json_set(builder, crossed, "bytes", json_count(counts->bytes));
        json_set(builder, crossed, "payload_bytes", json_count(counts->payload_bytes));
        json_set(builder, object, way_keys[way], crossed);
    }
    return object;
}

static json_t *case_json(struct json_builder *builder, const struct harness_result *result,
                         const struct harness_case *harness_case)
{
    const struct harness_figures *figures = &harness_case->figures;
    json_t *runs = json_array();
    for (size_t i = 0; i < harness_case->count; i++) {
        json_append(builder, runs, run_json(builder, result, &harness_case->runs[i]));
    }
    json_t *object = json_object();
    json_set(builder, object, "test", json_text(harness_case->test));
    json_set(builder, object, "requests", json_count(figures->all_requests));
    json_set(builder, object, "runt_requests", json_count(figures->runts));
    json_set(builder, object, "goodput_bits_per_s", json_real_or_null(figures->goodput));
    json_set(builder, object, "link_share",
             figures->share >= 0 ? json_real_or_null(figures->share) : json_null());
    json_set(builder, object, "traffic", traffic_json(builder, &figures->traffic));
    json_set(builder, object, "runs", runs);
    return object;
}

static json_t *size_json(struct json_builder *builder, const struct harness_result *result,
                         const struct harness_size *size)
{
    json_t *cases = json_array();
    for (size_t i = 0; i < size->case_count; i++) {
        json_append(builder, cases, case_json(builder, result, &size->cases[i]));
    }
    json_t *object = json_object();
    json_set(builder, object, "size_bytes", json_count(size->size_bytes));
    json_set(builder, object, "complete", json_boolean(size->complete));
    json_set(builder, object, "traffic", traffic_json(builder, &size->whole));
    json_set(builder, object, "cases", cases);
    return object;
}

/* ---- The link ---- */

static json_t *asked_json(struct json_builder *builder, const struct harness_result *result)
{
    const struct link_shape *shape = &result->link.shapes[LINK_TO_SERVER];
    json_t *object = json_object();
    json_set(builder, object, "rate", json_text(result->rate));
    json_set(builder, object, "rate_bits_per_s", count_or_null(shape->rate_bits_per_s));
    json_set(builder, object, "delay", json_text(result->delay));
    json_set(builder, object, "delay_ns", json_count(shape->delay_ns));
    json_set(builder, object, "jitter_ns", json_count(shape->jitter_ns));
    json_set(builder, object, "loss_ppm", json_count(shape->loss_ppm));
    json_set(builder, object, "queue_bytes", count_or_null(shape->queue_bytes));
    json_set(builder, object, "mtu", json_count(result->link.mtu));
    json_set(builder, object, "quantum_bytes", count_or_null(result->quantum_asked_bytes));
    json_set(builder, object, "read_ahead", count_or_null(result->read_ahead_asked));
    json_set(builder, object, "congestion_control", json_text(result->congestion_control));
    return object;
}

static json_t *calibration_json(struct json_builder *builder, const struct harness_result *result)
{
    const struct calibration *measured = &result->calibration;
    if (!result->calibrated) {
        return json_null();
    }
    json_t *object = json_object();
    json_set(builder, object, "verdict", json_text(harness_verdict_names[result->verdict]));
    json_set(builder, object, "rtt_median_ns", json_count(measured->rtt_ns));
    json_set(builder, object, "rtt_minimum_ns", json_count(measured->rtt_minimum_ns));
    json_set(builder, object, "rtt_p99_ns", json_count(measured->rtt_p99_ns));
    json_set(builder, object, "goodput_to_server_bits_per_s",
             json_real_or_null(measured->goodput_bits_per_s[LINK_TO_SERVER]));
    json_set(builder, object, "goodput_to_client_bits_per_s",
             json_real_or_null(measured->goodput_bits_per_s[LINK_TO_CLIENT]));
    json_set(builder, object, "segment_bytes", json_count(measured->segment_bytes));
    json_set(builder, object, "dropped", json_count(measured->dropped));
    return object;
}

static json_t *lateness_json(struct json_builder *builder, const struct harness_result *result)
{
    if (!result->has_lateness) {
        return json_null();
    }
    json_t *object = json_object();
    json_set(builder, object, "median_ns", json_count(result->lateness_median_ns));
    json_set(builder, object, "p99_ns", json_count(result->lateness_p99_ns));
    json_set(builder, object, "maximum_ns", json_count(result->lateness_maximum_ns));
    return object;
}

static json_t *settings_json(struct json_builder *builder, const struct lab_settings *settings)
{
    json_t *object = json_object();
    json_set(builder, object, "mtu", json_count(settings->mtu));
    json_set(builder, object, "congestion_control", json_text(settings->congestion_control));
    json_set(builder, object, "receive_window_bytes", json_count(settings->receive_window_bytes));
    json_set(builder, object, "send_window_bytes", json_count(settings->send_window_bytes));
    json_set(builder, object, "metrics_saved", json_boolean(settings->metrics_saved));
    json_set(builder, object, "slow_start_after_idle",
             json_boolean(settings->slow_start_after_idle));
    json_set(builder, object, "offloads", json_text(settings->offloads));
    return object;
}

static json_t *server_json(struct json_builder *builder, const struct harness_result *result)
{
    json_t *object = json_object();
    json_set(builder, object, "kind", json_text(result->server));
    json_set(builder, object, "chosen", json_boolean(result->server_chosen));
    json_set(builder, object, "how", json_text(result->server_how));
    json_set(builder, object, "version", json_text(result->server_version));
    return object;
}

static json_t *faults_json(struct json_builder *builder, const struct harness_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->fault_count && i < HARNESS_FAULT_LIMIT; i++) {
        json_append(builder, array, json_text(result->faults[i]));
    }
    return array;
}

static json_t *link_json(struct json_builder *builder, const struct harness_result *result)
{
    char label[HARNESS_LABEL_LENGTH];
    json_t *sizes = json_array();
    for (size_t i = 0; i < result->size_count; i++) {
        json_append(builder, sizes, size_json(builder, result, &result->sizes[i]));
    }
    json_t *object = json_object();
    json_set(builder, object, "name", json_text(result->name));
    json_set(builder, object, "rate_label", json_text(harness_rate_label(result, label)));
    json_set(builder, object, "asked", asked_json(builder, result));
    json_set(builder, object, "shaped", json_boolean(result->shaped));
    json_set(builder, object, "backend", json_text(result->backend));
    json_set(builder, object, "backend_chosen", json_boolean(result->backend_chosen));
    json_set(builder, object, "conditions", json_text(result->link_conditions));
    json_set(builder, object, "calibration", calibration_json(builder, result));
    json_set(builder, object, "lateness", lateness_json(builder, result));
    for (size_t side = 0; side < LAB_SIDES; side++) {
        json_set(builder, object, side_keys[side], settings_json(builder, &result->settings[side]));
    }
    json_set(builder, object, "server_under_test", server_json(builder, result));
    json_set(builder, object, "quantum_offered_bytes",
             count_or_null(result->quantum_offered_bytes));
    json_set(builder, object, "valid", json_boolean(result->fault_count == 0));
    json_set(builder, object, "faults", faults_json(builder, result));
    json_set(builder, object, "sizes", sizes);
    return object;
}

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

static json_t *program_json(struct json_builder *builder, const struct harness_result *result)
{
    json_t *object = json_object();
    json_set(builder, object, "program", json_text("afp_perftest"));
    json_set(builder, object, "version", json_text(AFPBENCH_VERSION));
    json_set(builder, object, "arguments",
             json_texts(builder, result->arguments, result->argument_count));
    json_set(builder, object, "started", json_text(result->started));
    return object;
}

bool harness_json_finish(const struct harness_result *result, struct error *error)
{
    struct json_builder builder = {false};
    json_t *document = result->document;
    json_set(&builder, document, "complete", json_boolean(result->complete));
    json_set(&builder, document, "failure",
             json_text(result->failure[0] != '\0' ? result->failure : NULL));
    json_set(&builder, document, "run", program_json(&builder, result));
    json_set(&builder, document, "link", link_json(&builder, result));
    return !builder.failed || memory_error(error, "for the JSON document");
}
