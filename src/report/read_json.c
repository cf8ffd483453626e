/* Our JSON document, doc/result.schema.json. What a comparison needs is checked by tables of keys;
 * other keys may be there. */
#include "base/clock.h"
#include "base/memory.h"
#include "report/json.h"
#include "report/read_internal.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define PLACE_LENGTH 128

/* ---- Keys ---- */

static bool is_any_text(const json_t *value)
{
    return json_is_string(value);
}

static bool is_text_or_null(const json_t *value)
{
    return json_is_string(value) || json_is_null(value);
}

static bool is_flag(const json_t *value)
{
    return json_is_boolean(value);
}

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_positive(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 1;
}

static bool is_list(const json_t *value)
{
    return json_is_array(value);
}

static bool is_group(const json_t *value)
{
    return json_is_object(value);
}

static bool is_group_or_null(const json_t *value)
{
    return json_is_object(value) || json_is_null(value);
}

/* What the condition's words call it: 0 is null, their end a text that is none of them. */
static uint64_t word_value(enum stored_case_condition condition, const json_t *value)
{
    const char *const *words = stored_case_condition_rows[condition].words;
    uint64_t word = 1;
    if (value == NULL || json_is_null(value)) {
        return 0;
    }
    while (words[word] != NULL && strcmp(words[word], json_string_value(value)) != 0) {
        word++;
    }
    return word;
}

static bool is_word(enum stored_case_condition condition, const json_t *value)
{
    return is_text_or_null(value) &&
           stored_case_condition_rows[condition].words[word_value(condition, value)] != NULL;
}

static bool is_sink(const json_t *value)
{
    return is_word(STORED_SINK, value);
}

static bool is_cache(const json_t *value)
{
    return is_word(STORED_CLIENT_CACHE, value);
}

enum kind { TEXT, TEXT_OR_NULL, FLAG, NUMBER, POSITIVE, LIST, GROUP, GROUP_OR_NULL, SINK, CACHE };

static const struct {
    const char *expected;
    bool (*holds)(const json_t *value);
} kinds[] = {
    [TEXT] = {"a text", is_any_text},
    [TEXT_OR_NULL] = {"a text or null", is_text_or_null},
    [FLAG] = {"true or false", is_flag},
    [NUMBER] = {"a whole number from 0 on", is_count},
    [POSITIVE] = {"a whole number from 1 on", is_positive},
    [LIST] = {"an array", is_list},
    [GROUP] = {"an object", is_group},
    [GROUP_OR_NULL] = {"an object or null", is_group_or_null},
    [SINK] = {"copy, discard, verify or null", is_sink},
    [CACHE] = {"cold, warm, bypassed or null", is_cache},
};

struct key {
    const char *name;
    enum kind kind;
    bool may_be_missing; /* older documents are without it */
};

enum {
    SCHEMA,
    SCHEMA_VERSION,
    COMPLETE,
    FAILURE,
    RUN,
    HOST,
    SERVER,
    FILE_SYSTEM,
    CASES,
    DOCUMENT_KEYS
};
static const struct key document_keys[DOCUMENT_KEYS] = {
    [SCHEMA] = {"schema", TEXT},
    [SCHEMA_VERSION] = {"schema_version", NUMBER},
    [COMPLETE] = {"complete", FLAG},
    [FAILURE] = {"failure", TEXT_OR_NULL},
    [RUN] = {"run", GROUP},
    [HOST] = {"host", GROUP},
    [SERVER] = {"server", GROUP_OR_NULL},
    [FILE_SYSTEM] = {"file_system", GROUP_OR_NULL},
    [CASES] = {"cases", LIST},
};

enum { PROGRAM, VERSION, ARGUMENTS, STARTED, RUN_KEYS };
static const struct key run_keys[RUN_KEYS] = {
    [PROGRAM] = {"program", TEXT},
    [VERSION] = {"version", TEXT},
    [ARGUMENTS] = {"arguments", LIST},
    [STARTED] = {"started", TEXT},
};

enum { KERNEL, MACHINE, CPU, CPU_COUNT, HOST_KEYS };
static const struct key host_keys[HOST_KEYS] = {
    [KERNEL] = {"kernel", TEXT},
    [MACHINE] = {"machine", TEXT},
    [CPU] = {"cpu", TEXT},
    [CPU_COUNT] = {"cpu_count", NUMBER},
};

enum { MACHINE_TYPE, QUANTUM_OFFERED, AFP_VERSION, REFERENCE_STORE, SECOND_VOLUME, SERVER_KEYS };
static const struct key server_keys[SERVER_KEYS] = {
    [MACHINE_TYPE] = {"machine_type", TEXT},
    [QUANTUM_OFFERED] = {"quantum_offered_bytes", NUMBER},
    [AFP_VERSION] = {"afp_version", TEXT_OR_NULL},
    [REFERENCE_STORE] = {"reference_store", TEXT_OR_NULL},
    [SECOND_VOLUME] = {"second_volume", FLAG, .may_be_missing = true},
};

enum { DIRECTORY, SECOND_DIRECTORY, TYPE, DIRECT, FILE_SYSTEM_KEYS };
static const struct key file_system_keys[FILE_SYSTEM_KEYS] = {
    [DIRECTORY] = {"directory", TEXT},
    [SECOND_DIRECTORY] = {"second_directory", TEXT_OR_NULL},
    [TYPE] = {"type", TEXT},
    [DIRECT] = {"direct", FLAG},
};

enum {
    CASE_TEST,
    CASE_SIZE,
    CASE_CHUNK,
    CASE_SPARSE,
    CASE_OUTSTANDING,
    CASE_INTERLEAVED,
    CASE_SESSIONS,
    CASE_SINK,
    CASE_FLUSH,
    CASE_NEW_FILES,
    CASE_EXISTING_FILE,
    CASE_CLIENT_CACHE,
    CASE_COMPLETE,
    CASE_FAILURE,
    CASE_SAMPLES,
    CASE_KEYS
};
static const struct key case_keys[CASE_KEYS] = {
    [CASE_TEST] = {"test", TEXT},
    [CASE_SIZE] = {"size_bytes", POSITIVE},
    [CASE_CHUNK] = {"chunk_bytes", POSITIVE},
    [CASE_SPARSE] = {"sparse", FLAG},
    [CASE_OUTSTANDING] = {"outstanding", POSITIVE},
    [CASE_INTERLEAVED] = {"interleaved", FLAG},
    [CASE_SESSIONS] = {"sessions", POSITIVE},
    [CASE_SINK] = {"sink", SINK},
    [CASE_FLUSH] = {"flush", FLAG},
    [CASE_NEW_FILES] = {"new_files", FLAG},
    [CASE_EXISTING_FILE] = {"existing_file", FLAG},
    [CASE_CLIENT_CACHE] = {"client_cache", CACHE, .may_be_missing = true},
    [CASE_COMPLETE] = {"complete", FLAG},
    [CASE_FAILURE] = {"failure", TEXT_OR_NULL},
    [CASE_SAMPLES] = {"samples", LIST},
};

enum { SAMPLE_NUMBER, SAMPLE_WARMUP, SAMPLE_DURATION, SAMPLE_BYTES, SAMPLE_REQUESTS, SAMPLE_KEYS };
static const struct key sample_keys[SAMPLE_KEYS] = {
    [SAMPLE_NUMBER] = {"number", POSITIVE},      [SAMPLE_WARMUP] = {"warmup", FLAG},
    [SAMPLE_DURATION] = {"duration_ns", NUMBER}, [SAMPLE_BYTES] = {"bytes", NUMBER},
    [SAMPLE_REQUESTS] = {"requests", GROUP},
};

/* Takes the keys of an object, which must have the right kind of value and, unless they may be
 * missing (then the value is NULL), be there. `place` is
 * what leads to the object: "cases[2]", or "" for the document. */
static bool take(const json_t *object, const char *place, const struct key *keys, size_t count,
                 const json_t **values, struct error *error)
{
    const char *dot = place[0] != '\0' ? "." : "";
    if (!json_is_object(object)) {
        return error_set(error, ERROR_CONTENT, 0, "%s: expected an object", place);
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = json_object_get(object, keys[i].name);
        if (values[i] == NULL && keys[i].may_be_missing) {
            continue;
        }
        if (values[i] == NULL || !kinds[keys[i].kind].holds(values[i])) {
            return error_set(error, ERROR_CONTENT, 0, "%s%s%s: expected %s%s", place, dot,
                             keys[i].name, kinds[keys[i].kind].expected,
                             values[i] == NULL ? ", but it is not there" : "");
        }
    }
    return true;
}

static uint64_t number(const json_t *value)
{
    return (uint64_t)json_integer_value(value);
}

/* ---- Conditions ---- */

static bool set_text(char **field, const char *text, struct error *error)
{
    memory_release(*field);
    *field = memory_copy_string(text);
    return *field != NULL || memory_error(error, "for a stored result");
}

static bool set_number(char **field, const json_t *value, struct error *error)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number(value));
    return set_text(field, text, error);
}

static bool set_flag(char **field, bool value, struct error *error)
{
    return set_text(field, value ? "yes" : "no", error);
}

static bool set_text_or_none(char **field, const json_t *value, struct error *error)
{
    return set_text(field, json_is_null(value) ? "none" : json_string_value(value), error);
}

static bool read_server(const json_t *object, struct stored_result *result, struct error *error)
{
    const json_t *server[SERVER_KEYS];
    char **conditions = result->conditions;
    return take(object, "server", server_keys, SERVER_KEYS, server, error) &&
           set_text(&conditions[STORED_TARGET], "AFP server", error) &&
           set_text(&conditions[STORED_SERVER_TYPE], json_string_value(server[MACHINE_TYPE]),
                    error) &&
           set_number(&conditions[STORED_QUANTUM], server[QUANTUM_OFFERED], error) &&
           set_text_or_none(&conditions[STORED_AFP_VERSION], server[AFP_VERSION], error) &&
           set_text_or_none(&conditions[STORED_REFERENCE_STORE], server[REFERENCE_STORE], error) &&
           (server[SECOND_VOLUME] == NULL ||
            set_flag(&conditions[STORED_SECOND_PLACE], json_is_true(server[SECOND_VOLUME]), error));
}

static bool read_file_system(const json_t *object, struct stored_result *result,
                             struct error *error)
{
    const json_t *values[FILE_SYSTEM_KEYS];
    char **conditions = result->conditions;
    return take(object, "file_system", file_system_keys, FILE_SYSTEM_KEYS, values, error) &&
           set_text(&result->directory, json_string_value(values[DIRECTORY]), error) &&
           set_text(&conditions[STORED_TARGET], "directory", error) &&
           set_text(&conditions[STORED_FILE_SYSTEM], json_string_value(values[TYPE]), error) &&
           set_flag(&conditions[STORED_SECOND_PLACE], !json_is_null(values[SECOND_DIRECTORY]),
                    error) &&
           set_flag(&conditions[STORED_DIRECT], json_is_true(values[DIRECT]), error);
}

static bool read_target(const json_t *server, const json_t *file_system,
                        struct stored_result *result, struct error *error)
{
    if (json_is_null(server) == json_is_null(file_system)) {
        return error_set(error, ERROR_CONTENT, 0,
                         "server and file_system: expected one to be an object, the other null");
    }
    return json_is_null(server) ? read_file_system(file_system, result, error)
                                : read_server(server, result, error);
}

static bool read_conditions(const json_t *const *document, struct stored_result *result,
                            struct error *error)
{
    const json_t *run[RUN_KEYS];
    const json_t *host[HOST_KEYS];
    if (!take(document[RUN], "run", run_keys, RUN_KEYS, run, error) ||
        !take(document[HOST], "host", host_keys, HOST_KEYS, host, error)) {
        return false;
    }
    char **conditions = result->conditions;
    result->has_conditions = true;
    return set_text(&result->started, json_string_value(run[STARTED]), error) &&
           set_text(&conditions[STORED_KERNEL], json_string_value(host[KERNEL]), error) &&
           set_text(&conditions[STORED_MACHINE], json_string_value(host[MACHINE]), error) &&
           set_text(&conditions[STORED_CPU], json_string_value(host[CPU]), error) &&
           set_number(&conditions[STORED_CPU_COUNT], host[CPU_COUNT], error) &&
           read_target(document[SERVER], document[FILE_SYSTEM], result, error);
}

/* The first reason that there is, from the whole or from a case. */
static bool note_incomplete(const json_t *complete, const json_t *failure,
                            struct stored_result *result, struct error *error)
{
    const char *reason = json_string_value(failure);
    if (json_is_true(complete)) {
        return true;
    }
    result->incomplete = true;
    return reason == NULL || result->why_incomplete != NULL ||
           set_text(&result->why_incomplete, reason, error);
}

/* ---- The link of afp_perftest ---- */

enum { LINK_ASKED, LINK_SHAPED, LINK_BACKEND, LINK_KEYS };
static const struct key link_keys[LINK_KEYS] = {
    [LINK_ASKED] = {"asked", GROUP},
    [LINK_SHAPED] = {"shaped", FLAG},
    [LINK_BACKEND] = {"backend", TEXT},
};

enum { SHAPE_DELAY, SHAPE_JITTER, SHAPE_LOSS, SHAPE_MTU, SHAPE_RATE, SHAPE_KEYS };
static const struct key shape_keys[SHAPE_KEYS] = {
    [SHAPE_DELAY] = {"delay_ns", NUMBER},         [SHAPE_JITTER] = {"jitter_ns", NUMBER},
    [SHAPE_LOSS] = {"loss_ppm", NUMBER},          [SHAPE_MTU] = {"mtu", POSITIVE},
    [SHAPE_RATE] = {"rate_bits_per_s", POSITIVE},
};

/* One condition, as what was asked for: measured figures differ from run to run. */
static bool read_link(const json_t *object, struct stored_result *result, struct error *error)
{
    const json_t *link[LINK_KEYS];
    const json_t *shape[SHAPE_KEYS];
    char text[200];
    char **condition = &result->conditions[STORED_LINK];
    if (object == NULL) {
        return set_text(condition, "none", error);
    }
    if (!take(object, "link", link_keys, LINK_KEYS, link, error)) {
        return false;
    }
    bool shaped = json_is_true(link[LINK_SHAPED]);
    if (!take(link[LINK_ASKED], "link.asked", shape_keys, shaped ? SHAPE_KEYS : SHAPE_RATE, shape,
              error)) {
        return false;
    }
    snprintf(text, sizeof text,
             "%.40s, %" PRIu64 " bit/s, delay %" PRIu64 " ns, jitter %" PRIu64 " ns, loss %" PRIu64
             " ppm, MTU %" PRIu64,
             json_string_value(link[LINK_BACKEND]), shaped ? number(shape[SHAPE_RATE]) : 0,
             number(shape[SHAPE_DELAY]), number(shape[SHAPE_JITTER]), number(shape[SHAPE_LOSS]),
             number(shape[SHAPE_MTU]));
    return set_text(condition, text, error);
}

/* ---- Cases ---- */

/* Adds the measured samples of a case. */
static bool read_samples(const json_t *samples, const char *place, struct stored_result *result,
                         struct stored_case *stored_case, struct error *error)
{
    for (size_t i = 0; i < json_array_size(samples); i++) {
        const json_t *sample[SAMPLE_KEYS];
        char here[PLACE_LENGTH];
        snprintf(here, sizeof here, "%.60s.samples[%zu]", place, i);
        if (!take(json_array_get(samples, i), here, sample_keys, SAMPLE_KEYS, sample, error)) {
            return false;
        }
        if (json_is_true(sample[SAMPLE_WARMUP])) {
            continue;
        }
        double duration_ns = (double)number(sample[SAMPLE_DURATION]);
        if (!stored_result_add_run(result, stored_case, duration_ns, error)) {
            return error_prefix(error, "%s", here);
        }
    }
    return true;
}

/* A test and size that ran twice (-f Read,Read) is one case with the runs of both. */
static bool set_case(struct stored_case *stored_case, bool is_new, uint64_t run_bytes,
                     const uint64_t *conditions, const char *place, struct error *error)
{
    size_t size = sizeof stored_case->conditions;
    if (!is_new && memcmp(stored_case->conditions, conditions, size) != 0) {
        return error_set(error, ERROR_CONTENT, 0,
                         "%s: expected the conditions of the earlier case of this test and size",
                         place);
    }
    memcpy(stored_case->conditions, conditions, size);
    stored_case->size_exact = true;
    stored_case->run_bytes = run_bytes;
    return true;
}

static bool read_case(const json_t *object, size_t index, struct stored_result *result,
                      struct error *error)
{
    const json_t *values[CASE_KEYS];
    char place[PLACE_LENGTH];
    uint64_t run_bytes;
    snprintf(place, sizeof place, "cases[%zu]", index);
    if (!take(object, place, case_keys, CASE_KEYS, values, error)) {
        return false;
    }
    const char *test = json_string_value(values[CASE_TEST]);
    if (!stored_test_name_ok(test, strlen(test))) {
        return error_set(error, ERROR_CONTENT, 0, "%s.test: expected the name of a test", place);
    }
    uint64_t size_bytes = number(values[CASE_SIZE]);
    if (__builtin_mul_overflow(size_bytes, number(values[CASE_SESSIONS]), &run_bytes)) {
        return error_set(error, ERROR_CONTENT, 0, "%s.sessions: size_bytes times that is too large",
                         place);
    }
    size_t cases_before = result->case_count;
    struct stored_case *stored_case =
        stored_result_case(result, test, strlen(test), size_bytes, error);
    if (stored_case == NULL) {
        return error_prefix(error, "%s", place);
    }
    bool is_new = result->case_count > cases_before;
    if (!read_samples(values[CASE_SAMPLES], place, result, stored_case, error)) {
        return false;
    }
    const uint64_t conditions[STORED_CASE_CONDITIONS] = {
        [STORED_CHUNK] = number(values[CASE_CHUNK]),
        [STORED_OUTSTANDING] = number(values[CASE_OUTSTANDING]),
        [STORED_INTERLEAVED] = json_is_true(values[CASE_INTERLEAVED]),
        [STORED_SESSIONS] = number(values[CASE_SESSIONS]),
        [STORED_SPARSE] = json_is_true(values[CASE_SPARSE]),
        [STORED_SINK] = word_value(STORED_SINK, values[CASE_SINK]),
        [STORED_FLUSH] = json_is_true(values[CASE_FLUSH]),
        [STORED_NEW_FILES] = json_is_true(values[CASE_NEW_FILES]),
        [STORED_EXISTING_FILE] = json_is_true(values[CASE_EXISTING_FILE]),
        [STORED_CLIENT_CACHE] = word_value(STORED_CLIENT_CACHE, values[CASE_CLIENT_CACHE]),
    };
    return set_case(stored_case, is_new, run_bytes, conditions, place, error) &&
           note_incomplete(values[CASE_COMPLETE], values[CASE_FAILURE], result, error);
}

/* ---- The document ---- */

static bool read_document(const json_t *root, struct stored_result *result, struct error *error)
{
    const json_t *document[DOCUMENT_KEYS];
    /* The version first: another one may have other keys. */
    if (!take(root, "", document_keys, SCHEMA_VERSION + 1, document, error)) {
        return false;
    }
    if (strcmp(json_string_value(document[SCHEMA]), RESULT_SCHEMA_NAME) != 0) {
        return error_set(error, ERROR_CONTENT, 0, "schema: expected \"" RESULT_SCHEMA_NAME "\"");
    }
    if (number(document[SCHEMA_VERSION]) != RESULT_SCHEMA_VERSION) {
        return error_set(error, ERROR_CONTENT, 0, "schema_version: expected %d, not %" PRIu64,
                         RESULT_SCHEMA_VERSION, number(document[SCHEMA_VERSION]));
    }
    if (!take(root, "", document_keys, DOCUMENT_KEYS, document, error) ||
        !read_conditions(document, result, error) ||
        !read_link(json_object_get(root, "link"), result, error) ||
        !note_incomplete(document[COMPLETE], document[FAILURE], result, error)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(document[CASES]); i++) {
        if (!read_case(json_array_get(document[CASES], i), i, result, error)) {
            return false;
        }
    }
    return true;
}

static bool recognises(const struct input *input)
{
    for (size_t i = 0; i < input->size; i++) {
        if (strchr(" \t\r\n", input->bytes[i]) == NULL || input->bytes[i] == '\0') {
            return input->bytes[i] == '{';
        }
    }
    return false;
}

static bool read_json(const struct input *input, struct stored_result *result, struct error *error)
{
    json_error_t where;
    json_t *root = json_loadb(input->bytes, input->size, JSON_REJECT_DUPLICATES, &where);
    if (root == NULL) {
        /* jansson goes on with what it stumbled over, which may be unprintable. */
        const char *near = strstr(where.text, " near ");
        int length = near != NULL ? (int)(near - where.text) : (int)strlen(where.text);
        return error_set(error, ERROR_CONTENT, 0, "line %d, column %d: expected JSON: %.*s",
                         where.line, where.column, length, where.text);
    }
    bool ok = read_document(root, result, error);
    json_decref(root);
    return ok;
}

bool read_result_document(const json_t *document, struct stored_result *result, struct error *error)
{
    *result = (struct stored_result){.format = json_result_reader.name};
    return read_document(document, result, error);
}

const struct result_reader json_result_reader = {"afpbench JSON", recognises, read_json};
