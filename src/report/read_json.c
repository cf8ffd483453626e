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

enum kind {
    TEXT,
    TEXT_OR_NULL,
    FLAG,
    NUMBER,
    NUMBER_OR_NULL,
    POSITIVE,
    LIST,
    GROUP,
    GROUP_OR_NULL,
    SINK,
    CACHE
};

#define TYPE(type) (1U << (type))

static const struct {
    const char *expected;
    unsigned types;
    json_int_t least;                     /* of integers */
    enum stored_case_condition condition; /* whose words it has, where it has words */
    bool has_words;
} kinds[] = {
    [TEXT] = {"a text", TYPE(JSON_STRING)},
    [TEXT_OR_NULL] = {"a text or null", TYPE(JSON_STRING) | TYPE(JSON_NULL)},
    [FLAG] = {"true or false", TYPE(JSON_TRUE) | TYPE(JSON_FALSE)},
    [NUMBER] = {"a whole number from 0 on", TYPE(JSON_INTEGER)},
    [NUMBER_OR_NULL] = {"a whole number from 0 on or null", TYPE(JSON_INTEGER) | TYPE(JSON_NULL)},
    [POSITIVE] = {"a whole number from 1 on", TYPE(JSON_INTEGER), .least = 1},
    [LIST] = {"an array", TYPE(JSON_ARRAY)},
    [GROUP] = {"an object", TYPE(JSON_OBJECT)},
    [GROUP_OR_NULL] = {"an object or null", TYPE(JSON_OBJECT) | TYPE(JSON_NULL)},
    [SINK] = {"copy, discard, verify or null", TYPE(JSON_STRING) | TYPE(JSON_NULL),
              .condition = STORED_SINK, .has_words = true},
    [CACHE] = {"cold, warm, bypassed or null", TYPE(JSON_STRING) | TYPE(JSON_NULL),
               .condition = STORED_CLIENT_CACHE, .has_words = true},
};

static bool holds(enum kind kind, const json_t *value)
{
    enum stored_case_condition condition = kinds[kind].condition;
    return (kinds[kind].types & TYPE(json_typeof(value))) != 0 &&
           (!json_is_integer(value) || json_integer_value(value) >= kinds[kind].least) &&
           (!kinds[kind].has_words ||
            stored_case_condition_rows[condition].words[word_value(condition, value)] != NULL);
}

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

static const struct key host_conditions[STORED_CONDITIONS] = {
    [STORED_KERNEL] = {"kernel", TEXT},
    [STORED_MACHINE] = {"machine", TEXT},
    [STORED_CPU] = {"cpu", TEXT},
    [STORED_CPU_COUNT] = {"cpu_count", NUMBER},
    [STORED_CPUS_ALLOWED] = {"cpus_allowed", NUMBER, .may_be_missing = true},
    [STORED_CPU_QUOTA] = {"cpu_quota_percent", NUMBER_OR_NULL, .may_be_missing = true},
    [STORED_MEMORY_LIMIT] = {"memory_limit_bytes", NUMBER_OR_NULL, .may_be_missing = true},
};

enum { HOST_WARNING, HOST_KEYS };
static const struct key host_keys[HOST_KEYS] = {
    [HOST_WARNING] = {"warning", TEXT_OR_NULL, .may_be_missing = true},
};

static const struct key server_conditions[STORED_CONDITIONS] = {
    [STORED_SERVER_TYPE] = {"machine_type", TEXT},
    [STORED_QUANTUM] = {"quantum_offered_bytes", NUMBER},
    [STORED_AFP_VERSION] = {"afp_version", TEXT_OR_NULL},
    [STORED_REFERENCE_STORE] = {"reference_store", TEXT_OR_NULL},
    [STORED_SECOND_PLACE] = {"second_volume", FLAG, .may_be_missing = true},
};

enum { DIRECTORY, SECOND_DIRECTORY, FILE_SYSTEM_KEYS };
static const struct key file_system_keys[FILE_SYSTEM_KEYS] = {
    [DIRECTORY] = {"directory", TEXT},
    [SECOND_DIRECTORY] = {"second_directory", TEXT_OR_NULL},
};
static const struct key file_system_conditions[STORED_CONDITIONS] = {
    [STORED_FILE_SYSTEM] = {"type", TEXT},
    [STORED_DIRECT] = {"direct", FLAG},
};

enum { CASE_TEST, CASE_SIZE, CASE_KEYS };
static const struct key case_keys[CASE_KEYS] = {
    [CASE_TEST] = {"test", TEXT},
    [CASE_SIZE] = {"size_bytes", POSITIVE},
};
static const struct key case_conditions[STORED_CASE_CONDITIONS] = {
    [STORED_CHUNK] = {"chunk_bytes", POSITIVE},
    [STORED_OUTSTANDING] = {"outstanding", POSITIVE},
    [STORED_INTERLEAVED] = {"interleaved", FLAG},
    [STORED_SESSIONS] = {"sessions", POSITIVE},
    [STORED_SPARSE] = {"sparse", FLAG},
    [STORED_SINK] = {"sink", SINK},
    [STORED_FLUSH] = {"flush", FLAG},
    [STORED_NEW_FILES] = {"new_files", FLAG},
    [STORED_EXISTING_FILE] = {"existing_file", FLAG},
    [STORED_CLIENT_CACHE] = {"client_cache", CACHE, .may_be_missing = true},
};

enum { CASE_COMPLETE, CASE_FAILURE, CASE_SAMPLES, CASE_OUTCOMES };
static const struct key case_outcomes[CASE_OUTCOMES] = {
    [CASE_COMPLETE] = {"complete", FLAG},
    [CASE_FAILURE] = {"failure", TEXT_OR_NULL},
    [CASE_SAMPLES] = {"samples", LIST},
};

enum {
    SAMPLE_NUMBER,
    SAMPLE_WARMUP,
    SAMPLE_SPOILED,
    SAMPLE_DURATION,
    SAMPLE_BYTES,
    SAMPLE_REQUESTS,
    SAMPLE_KEYS
};
static const struct key sample_keys[SAMPLE_KEYS] = {
    [SAMPLE_NUMBER] = {"number", POSITIVE},      [SAMPLE_WARMUP] = {"warmup", FLAG},
    [SAMPLE_DURATION] = {"duration_ns", NUMBER}, [SAMPLE_BYTES] = {"bytes", NUMBER},
    [SAMPLE_REQUESTS] = {"requests", GROUP},     [SAMPLE_SPOILED] = {"spoiled", FLAG, true},
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
        values[i] = keys[i].name != NULL ? json_object_get(object, keys[i].name) : NULL;
        if (values[i] == NULL && (keys[i].name == NULL || keys[i].may_be_missing)) {
            continue;
        }
        if (values[i] == NULL || !holds(keys[i].kind, values[i])) {
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

static const char *condition_text(const json_t *value, char number_text[24])
{
    if (json_is_boolean(value)) {
        return json_is_true(value) ? "yes" : "no";
    }
    if (json_is_integer(value)) {
        snprintf(number_text, 24, "%" PRIu64, number(value));
        return number_text;
    }
    return json_is_null(value) ? "none" : json_string_value(value);
}

static bool take_conditions(const json_t *object, const char *place,
                            const struct key keys[STORED_CONDITIONS], struct stored_result *result,
                            struct error *error)
{
    const json_t *values[STORED_CONDITIONS];
    if (!take(object, place, keys, STORED_CONDITIONS, values, error)) {
        return false;
    }
    for (size_t i = 0; i < STORED_CONDITIONS; i++) {
        char text[24];
        if (values[i] != NULL &&
            !set_text(&result->conditions[i], condition_text(values[i], text), error)) {
            return false;
        }
    }
    return true;
}

static bool read_server(const json_t *object, struct stored_result *result, struct error *error)
{
    return take_conditions(object, "server", server_conditions, result, error) &&
           set_text(&result->conditions[STORED_TARGET], "AFP server", error);
}

static bool read_file_system(const json_t *object, struct stored_result *result,
                             struct error *error)
{
    const json_t *values[FILE_SYSTEM_KEYS];
    char **conditions = result->conditions;
    return take(object, "file_system", file_system_keys, FILE_SYSTEM_KEYS, values, error) &&
           take_conditions(object, "file_system", file_system_conditions, result, error) &&
           set_text(&result->directory, json_string_value(values[DIRECTORY]), error) &&
           set_text(&conditions[STORED_TARGET], "directory", error) &&
           set_text(&conditions[STORED_SECOND_PLACE],
                    json_is_null(values[SECOND_DIRECTORY]) ? "no" : "yes", error);
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
    const json_t *host[HOST_KEYS] = {NULL};
    if (!take(document[RUN], "run", run_keys, RUN_KEYS, run, error) ||
        !take(document[HOST], "host", host_keys, HOST_KEYS, host, error) ||
        !take_conditions(document[HOST], "host", host_conditions, result, error)) {
        return false;
    }
    result->has_conditions = true;
    if (json_is_string(host[HOST_WARNING]) &&
        !set_text(&result->warning, json_string_value(host[HOST_WARNING]), error)) {
        return false;
    }
    return set_text(&result->started, json_string_value(run[STARTED]), error) &&
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
        if (json_is_true(sample[SAMPLE_WARMUP]) || json_is_true(sample[SAMPLE_SPOILED])) {
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

static uint64_t condition_value(enum stored_case_condition condition, const json_t *value)
{
    if (stored_case_condition_rows[condition].words == NULL) {
        return number(value);
    }
    return json_is_boolean(value) ? json_is_true(value) : word_value(condition, value);
}

static bool read_case(const json_t *object, size_t index, struct stored_result *result,
                      struct error *error)
{
    const json_t *values[CASE_KEYS];
    const json_t *settings[STORED_CASE_CONDITIONS];
    const json_t *outcome[CASE_OUTCOMES];
    char place[PLACE_LENGTH];
    uint64_t run_bytes;
    snprintf(place, sizeof place, "cases[%zu]", index);
    if (!take(object, place, case_keys, CASE_KEYS, values, error) ||
        !take(object, place, case_conditions, STORED_CASE_CONDITIONS, settings, error) ||
        !take(object, place, case_outcomes, CASE_OUTCOMES, outcome, error)) {
        return false;
    }
    const char *test = json_string_value(values[CASE_TEST]);
    if (!stored_test_name_ok(test, strlen(test))) {
        return error_set(error, ERROR_CONTENT, 0, "%s.test: expected the name of a test", place);
    }
    uint64_t size_bytes = number(values[CASE_SIZE]);
    if (__builtin_mul_overflow(size_bytes, number(settings[STORED_SESSIONS]), &run_bytes)) {
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
    if (!read_samples(outcome[CASE_SAMPLES], place, result, stored_case, error)) {
        return false;
    }
    uint64_t conditions[STORED_CASE_CONDITIONS];
    for (size_t i = 0; i < STORED_CASE_CONDITIONS; i++) {
        conditions[i] = condition_value((enum stored_case_condition)i, settings[i]);
    }
    return set_case(stored_case, is_new, run_bytes, conditions, place, error) &&
           note_incomplete(outcome[CASE_COMPLETE], outcome[CASE_FAILURE], result, error);
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
        if (json_error_code(&where) == json_error_premature_end_of_input) {
            return error_set(error, ERROR_CONTENT, 0,
                             "this JSON ends in its middle: it was cut off");
        }
        const char *near = strstr(where.text, " near ");
        int length = near != NULL ? (int)(near - where.text) : (int)strlen(where.text);
        return error_set(error, ERROR_CONTENT, 0, "line %d, column %d: expected JSON: %.*s",
                         where.line, where.column, length, where.text);
    }
    bool ok = json_object_get(root, "schema") != NULL
                  ? read_document(root, result, error)
                  : error_set(error, ERROR_CONTENT, 0,
                              "this JSON is no result: its \"schema\" is missing");
    json_decref(root);
    return ok;
}

bool read_result_document(const json_t *document, struct stored_result *result, struct error *error)
{
    *result = (struct stored_result){.format = json_result_reader.name};
    return read_document(document, result, error);
}

const struct result_reader json_result_reader = {"afpbench JSON", recognises, read_json};
