/* report/json: the document as jansson reads it back, and the files it goes through. That it fits
 * the schema is tests/integration's to check. */
#include "unit.h"

#include "base/clock.h"
#include "made_result.h"
#include "report/json.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS NS_PER_MS

/* ---- A directory of its own ---- */

static char directory[SCRATCH_SIZE];

static const char *path_of(const char *name)
{
    static char paths[4][SCRATCH_SIZE + 32];
    static unsigned next;
    char *path = paths[next++ % COUNT(paths)];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static int make_directory(void **state)
{
    scratch_make(directory);
    return 0;
}

static int remove_directory(void **state)
{
    int result = rmdir(directory); /* every test leaves it empty */
    scratch_remove(directory);
    return result;
}

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

/* ---- Looking into a document ---- */

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    check(document != NULL, "%s: line %d: %s", path, error.line, error.text);
    return document;
}

/* What lies at "cases.0.samples.1": it has to be there. */
static json_t *at(json_t *value, const char *where)
{
    char copy[128];
    char *rest;
    snprintf(copy, sizeof copy, "%s", where);
    for (char *word = strtok_r(copy, ".", &rest); word != NULL; word = strtok_r(NULL, ".", &rest)) {
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(word))
                                     : json_object_get(value, word);
        check(value != NULL, "there is no '%s' in %s", word, where);
    }
    return value;
}

static void check_integer(json_t *document, const char *where, json_int_t wanted)
{
    json_t *value = at(document, where);
    check(json_is_integer(value), "%s is no integer", where);
    check(json_integer_value(value) == wanted, "%s is %lld", where,
          (long long)json_integer_value(value));
}

static void check_real(json_t *document, const char *where, double wanted)
{
    json_t *value = at(document, where);
    check(json_is_number(value), "%s is no number", where);
    check(fabs(json_number_value(value) - wanted) <= 1e-9 * fmax(1, fabs(wanted)), "%s is %.17g",
          where, json_number_value(value));
}

static void check_string(json_t *document, const char *where, const char *wanted)
{
    json_t *value = at(document, where);
    check(json_is_string(value), "%s is no string", where);
    assert_string_equal(json_string_value(value), wanted);
}

static void check_null(json_t *document, const char *where)
{
    check(json_is_null(at(document, where)), "%s is not null", where);
}

static void check_boolean(json_t *document, const char *where, bool wanted)
{
    check(at(document, where) == (wanted ? json_true() : json_false()), "%s is not %s", where,
          wanted ? "true" : "false");
}

/* ---- A result ---- */

static const struct test_case read_test = {.name = "Read",
                                           .chunk_bytes = 1048576,
                                           .size_bytes = 67108864,
                                           .depth = 4,
                                           .sessions = 1,
                                           .warmups = 1,
                                           .iterations = 3};

/* The whole document of a result, and no file left behind. */
static json_t *document_of(const struct result *result)
{
    struct json_report report = {path_of("result.json")};
    struct observer json = json_observer(&report);
    struct error error;
    check(made_told(&json, result, &error), "%s", error.message);
    json_t *document = load(path_of("result.json"));
    assert_false(exists(path_of("result.json.part")));
    assert_int_equal(unlink(path_of("result.json")), 0);
    return document;
}

/* ---- What is in it ---- */

static void samples_and_summary(void **state)
{
    static const uint64_t durations[] = {9 * MS, 100 * MS, 150 * MS, 110 * MS};
    struct result result = {.complete = true};
    struct result_case *made = made_case(&result, &read_test, durations);
    struct sample *sample = &made->samples[2];
    sample->counts.requests[REQUEST_READ] = 64;
    sample->counts.bytes = 67108864;
    sample->counts.runts = 1;
    sample->counts.round_trips = 16;
    sample->cpu_ns = 5;
    sample->waited_ns = 6;
    sample->shares_ns[SHARE_SERVER] = 7;
    histogram_add(&made->service, 50);
    histogram_add(&made->service, 60);
    uint32_t spoiled = result_spoiled(made);
    made->samples[spoiled] =
        (struct sample){.number = 2, .spoiled = true, .duration_ns = 2000 * MS};
    made->session_ns[spoiled] = 2000 * MS;
    made->spoiled_count = 1;
    json_t *document = document_of(&result);

    check_string(document, "schema", "afpbench-result");
    check_integer(document, "schema_version", 1);
    check_boolean(document, "complete", true);
    check_null(document, "failure");
    assert_int_equal(json_array_size(at(document, "cases")), 1);
    check_string(document, "cases.0.test", "Read");
    check_integer(document, "cases.0.size_bytes", 67108864);
    check_integer(document, "cases.0.chunk_bytes", 1048576);
    check_integer(document, "cases.0.outstanding", 4);
    check_boolean(document, "cases.0.interleaved", true);
    check_boolean(document, "cases.0.sparse", false);
    check_boolean(document, "cases.0.complete", true);
    check_null(document, "cases.0.failure");

    assert_int_equal(json_array_size(at(document, "cases.0.samples")), 5);
    check_boolean(document, "cases.0.samples.0.warmup", true);
    check_boolean(document, "cases.0.samples.0.spoiled", false);
    check_boolean(document, "cases.0.samples.4.spoiled", true);
    check_integer(document, "cases.0.samples.4.number", 2);
    check_integer(document, "cases.0.samples.4.session_duration_ns.0", 2000 * (json_int_t)MS);
    check_integer(document, "cases.0.samples.0.number", 1);
    check_boolean(document, "cases.0.samples.1.warmup", false);
    check_integer(document, "cases.0.samples.1.number", 1);
    check_integer(document, "cases.0.samples.2.duration_ns", 150 * (json_int_t)MS);
    check_integer(document, "cases.0.samples.2.bytes", 67108864);
    check_real(document, "cases.0.samples.2.rate_bytes_per_s", 67108864 / 0.15);
    check_integer(document, "cases.0.samples.2.requests.read", 64);
    check_integer(document, "cases.0.samples.2.requests.server_copy", 0);
    check_integer(document, "cases.0.samples.2.runt_requests", 1);
    check_integer(document, "cases.0.samples.2.round_trips", 16);
    check_integer(document, "cases.0.samples.2.payload_bytes", 67108864);
    check_integer(document, "cases.0.samples.2.client_cpu_ns", 5);
    check_integer(document, "cases.0.samples.2.waited_ns", 6);
    check_integer(document, "cases.0.samples.2.time_shares.server_ns", 7);
    check_integer(document, "cases.0.time_shares.server_ns", 7);

    /* Without the warm-up and the spoiled run: 100, 110 and 150 ms. */
    check_integer(document, "cases.0.summary.count", 3);
    check_real(document, "cases.0.summary.mean_ns", 120e6);
    check_real(document, "cases.0.summary.mean_low_ns", 54270589.282016702);
    check_real(document, "cases.0.summary.mean_high_ns", 185729410.71798328);
    check_real(document, "cases.0.summary.median_ns", 110e6);
    check_real(document, "cases.0.summary.deviation_ns", sqrt(700) * 1e6);
    check_real(document, "cases.0.summary.minimum_ns", 100e6);
    check_real(document, "cases.0.summary.maximum_ns", 150e6);
    check_real(document, "cases.0.summary.p95_ns", 146e6);
    check_real(document, "cases.0.summary.p99_ns", 149.2e6);
    check_integer(document, "cases.0.summary.outliers", 0);
    check_real(document, "cases.0.summary.mean_rate_bytes_per_s", 67108864 / 0.12);
    check_real(document, "cases.0.summary.median_rate_bytes_per_s", 67108864 / 0.11);

    check_integer(document, "cases.0.service_times.count", 2);
    check_real(document, "cases.0.service_times.relative_error", 1 / 64.0);
    check_real(document, "cases.0.service_times.mean_ns", 55);
    check_integer(document, "cases.0.service_times.minimum_ns", 50);
    check_integer(document, "cases.0.service_times.median_ns", 50);
    check_integer(document, "cases.0.service_times.p99_ns", 60);
    check_integer(document, "cases.0.service_times.maximum_ns", 60);
    json_decref(document);
    result_release(&result);
}

/* Past 2^53, where a double has no more odd numbers. */
static void integers_stay_integers(void **state)
{
    static const uint64_t durations[] = {9007199254740993};
    struct test_case test = read_test;
    struct result result = {.complete = true};
    test.warmups = 0;
    test.iterations = 1;
    test.size_bytes = 9007199254740995;
    struct result_case *made = made_case(&result, &test, durations);
    made->samples[0].tcp.known[TCP_COUNT_SENT_BYTES] = true;
    made->samples[0].tcp.counts[TCP_COUNT_SENT_BYTES] = 9007199254740997;
    json_t *document = document_of(&result);
    check_integer(document, "cases.0.size_bytes", 9007199254740995);
    check_integer(document, "cases.0.samples.0.duration_ns", 9007199254740993);
    check_integer(document, "cases.0.samples.0.session_duration_ns.0", 9007199254740993);
    check_integer(document, "cases.0.samples.0.wire.sent_bytes", 9007199254740997);
    json_decref(document);
    result_release(&result);
}

/* Nothing where there is nothing: no 0, no NaN, no Infinity. */
static void figures_that_do_not_exist(void **state)
{
    static const uint64_t durations[] = {0};
    struct test_case test = read_test;
    struct result result = {.complete = true, .conditions = {.steal_percent = -1}};
    test.warmups = 0;
    test.iterations = 1;
    struct result_case *made = made_case(&result, &test, durations);
    /* One snapshot of a connection whose pacing has no limit, and none before. */
    for (size_t i = 0; i < tcp_field_count; i++) {
        if (strcmp(tcp_fields[i].name, "maximum_pacing_rate_bytes_per_s") == 0) {
            made_tcp_field(&made->samples[0].tcp_after, i, UINT64_MAX);
        }
    }
    made_tcp_field(&made->samples[0].tcp_after, TCP_RTT, 123);
    json_t *document = document_of(&result);
    check_integer(document, "cases.0.samples.0.duration_ns", 0);
    check_null(document, "cases.0.samples.0.rate_bytes_per_s");
    check_null(document, "cases.0.samples.0.tcp_before");
    check_integer(document, "cases.0.samples.0.tcp_after.rtt_us", 123);
    check_null(document, "cases.0.samples.0.tcp_after.maximum_pacing_rate_bytes_per_s");
    assert_null(json_object_get(at(document, "cases.0.samples.0.tcp_after"), "send_window_bytes"));
    check_null(document, "cases.0.samples.0.wire.sent_bytes");
    check_null(document, "cases.0.summary.deviation_ns");
    check_null(document, "cases.0.summary.mean_rate_bytes_per_s");
    check_null(document, "cases.0.summary.median_rate_bytes_per_s");
    check_null(document, "cases.0.service_times");
    check_null(document, "host.steal_percent");
    check_null(document, "server.afp_version");
    json_decref(document);
    result_release(&result);
}

static void several_sessions(void **state)
{
    static const uint64_t durations[] = {MS, 500 * MS};
    static const uint64_t sessions[] = {1, 2, 500 * MS, 400 * MS};
    struct test_case test = read_test;
    struct result result = {.complete = true};
    test.sessions = 2;
    test.iterations = 1;
    struct result_case *made = made_case(&result, &test, durations);
    memcpy(made->session_ns, sessions, sizeof sessions);
    json_t *document = document_of(&result);
    check_integer(document, "cases.0.sessions", 2);
    check_integer(document, "cases.0.size_bytes", 67108864);
    check_integer(document, "cases.0.samples.1.bytes", 2 * 67108864);
    check_integer(document, "cases.0.samples.0.session_duration_ns.1", 2);
    check_integer(document, "cases.0.samples.1.session_duration_ns.0", 500 * (json_int_t)MS);
    check_integer(document, "cases.0.samples.1.session_duration_ns.1", 400 * (json_int_t)MS);
    assert_int_equal(json_array_size(at(document, "cases.0.samples.1.session_duration_ns")), 2);
    check_real(document, "cases.0.summary.mean_rate_bytes_per_s", 2 * 67108864 / 0.5);
    json_decref(document);
    result_release(&result);
}

/* The second case broke in its warm-up; what the first one has stays. */
static void failures(void **state)
{
    static const uint64_t durations[] = {MS, MS, MS, MS};
    struct result result = {0};
    made_case(&result, &read_test, durations);
    struct result_case *broken = made_case(&result, &read_test, durations);
    broken->sample_count = 1;
    broken->ended = false;
    error_set(&broken->failure, ERROR_AFP, -5000, "opening \"x\": AccessDenied");
    result.failure = broken->failure;
    json_t *document = document_of(&result);
    check_boolean(document, "complete", false);
    check_string(document, "failure", "opening \"x\": AccessDenied");
    check_boolean(document, "cases.0.complete", true);
    check_null(document, "cases.0.failure");
    check_boolean(document, "cases.1.complete", false);
    check_string(document, "cases.1.failure", "opening \"x\": AccessDenied");
    assert_int_equal(json_array_size(at(document, "cases.1.samples")), 1);
    check_null(document, "cases.1.summary");
    json_decref(document);
    result_release(&result);
}

/* Servers name themselves in MacRoman and worse: the document stays UTF-8. */
static void names_in_any_charset(void **state)
{
    static const struct {
        const char *name;
        const char *shown;
    } rows[] = {
        {"", ""},
        {"Café", "Café"},
        {"Caf\xe9", "Caf?"},
        {"\xff\xfe\x80", "???"},
        {"\xc3", "?"},
        {"tab\tquote\"slash\\\x01", "tab\tquote\"slash\\\x01"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const arguments[] = {"afp_speedtest", "-s", rows[i].name};
        struct result result = {.conditions = {.program = "afp_speedtest",
                                               .arguments = arguments,
                                               .argument_count = 3,
                                               .version_count = 1,
                                               .login_method_count = 1}};
        struct conditions *conditions = &result.conditions;
        snprintf(conditions->server_name, sizeof conditions->server_name, "%s", rows[i].name);
        snprintf(conditions->machine_type, sizeof conditions->machine_type, "%s", rows[i].name);
        snprintf(conditions->versions[0].text, 32, "%s", rows[i].name);
        snprintf(conditions->login_methods[0].text, 32, "%s", rows[i].name);
        json_t *document = document_of(&result);
        check_string(document, "server.name", rows[i].shown);
        check_string(document, "server.machine_type", rows[i].shown);
        check_string(document, "server.versions.0", rows[i].shown);
        check_string(document, "server.login_methods.0", rows[i].shown);
        check_string(document, "run.arguments.2", rows[i].shown);
        check_string(document, "run.program", "afp_speedtest");
        json_decref(document);
    }
}

/* ---- Files ---- */

/* At each moment the document is whole, under its temporary name, and says that it is not complete;
 * under its own name at the end only. */
static void from_part_to_whole(void **state)
{
    static const uint64_t durations[] = {MS, MS, MS, MS};
    const char *path = path_of("result.json");
    const char *part = path_of("result.json.part");
    struct json_report report = {path};
    struct observer json = json_observer(&report);
    struct result result = {.complete = true};
    struct error error;
    FILE *leftover = fopen(part, "w"); /* of a killed run, and longer */
    for (int i = 0; i < 10000; i++) {
        fputs("garbage ", leftover);
    }
    fclose(leftover);

    assert_true(json_report_begin(&report, &result, &error));
    assert_false(exists(path));
    json_t *document = load(part);
    check_boolean(document, "complete", false);
    assert_int_equal(json_array_size(at(document, "cases")), 0);
    json_decref(document);

    for (size_t count = 1; count <= 2; count++) {
        const struct result_case *made = made_case(&result, &read_test, durations);
        assert_true(json.on_end(json.context, &result, made, &error));
        assert_false(exists(path));
        document = load(part);
        check_boolean(document, "complete", false);
        assert_int_equal(json_array_size(at(document, "cases")), count);
        json_decref(document);
    }

    assert_true(json.on_finish(json.context, &result, &error));
    assert_false(exists(part));
    document = load(path);
    check_boolean(document, "complete", true);
    assert_int_equal(json_array_size(at(document, "cases")), 2);
    json_decref(document);
    assert_int_equal(unlink(path), 0);
    result_release(&result);
}

/* What is there from before stays as it is until the new document is whole. */
static void an_older_document_stays_until_the_end(void **state)
{
    const char *path = path_of("result.json");
    struct json_report report = {path};
    struct observer json = json_observer(&report);
    struct result result = {.complete = true};
    struct error error;
    FILE *older = fopen(path, "w");
    fputs("{\"older\": 1}", older);
    fclose(older);
    assert_true(json_report_begin(&report, &result, &error));
    json_t *document = load(path);
    check_integer(document, "older", 1);
    json_decref(document);
    assert_true(json.on_finish(json.context, &result, &error));
    document = load(path);
    check_boolean(document, "complete", true);
    json_decref(document);
    assert_int_equal(unlink(path), 0);
}

static void paths_that_cannot_be_written(void **state)
{
    char long_path[5000];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(mkdir(path_of("taken"), 0700), 0);
    const struct {
        const char *path;
        enum error_domain domain;
        const char *message;
    } rows[] = {
        {path_of("none/result.json"), ERROR_SYSTEM, "cannot write '"},
        {"/proc/none/result.json", ERROR_SYSTEM, "cannot write '/proc/none/result.json"},
        {long_path, ERROR_LIMIT, "the name 'xxxx"} /* too long to be repeated whole */,
        {path_of("taken"), ERROR_LIMIT, "it is no regular file; '-' is stdout"},
        {"/dev/null", ERROR_LIMIT, "cannot write '/dev/null': it is no regular file"},
    };
    struct result result = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct json_report report = {rows[i].path};
        struct error error;
        check(!json_report_begin(&report, &result, &error), "'%s' is taken", rows[i].path);
        check_error(&error, rows[i].domain, rows[i].message);
    }
    assert_int_equal(rmdir(path_of("taken")), 0);
}

/* "-" writes once, at the end, and nothing else ever. */
static void standard_output(void **state)
{
    static const uint64_t durations[] = {MS, MS, MS, MS};
    const char *path = path_of("stdout");
    struct json_report report = {"-"};
    struct observer json = json_observer(&report);
    struct result result = {.complete = true};
    struct error error;
    struct stat status;
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(kept >= 0 && file >= 0);
    dup2(file, STDOUT_FILENO);
    bool begun = json_report_begin(&report, &result, &error);
    const struct result_case *made = made_case(&result, &read_test, durations);
    bool ended = json.on_end(json.context, &result, made, &error);
    fflush(stdout);
    fstat(file, &status);
    bool finished = json.on_finish(json.context, &result, &error);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    assert_true(begun && ended && finished);
    assert_int_equal(status.st_size, 0);
    json_t *document = load(path);
    check_boolean(document, "complete", true);
    json_decref(document);
    assert_int_equal(unlink(path), 0);
    result_release(&result);
}

static void a_full_standard_output_is_reported(void **state)
{
    struct json_report report = {"-"};
    struct observer json = json_observer(&report);
    struct result result = {.complete = true};
    struct error error;
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    dup2(full, STDOUT_FILENO);
    bool finished = json.on_finish(json.context, &result, &error);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(full);
    clearerr(stdout);
    assert_false(finished);
    check_error(&error, ERROR_SYSTEM, "cannot write the results to 'stdout'");
    assert_int_equal(error.code, ENOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_and_summary),
        cmocka_unit_test(integers_stay_integers),
        cmocka_unit_test(figures_that_do_not_exist),
        cmocka_unit_test(several_sessions),
        cmocka_unit_test(failures),
        cmocka_unit_test(names_in_any_charset),
        cmocka_unit_test(from_part_to_whole),
        cmocka_unit_test(an_older_document_stays_until_the_end),
        cmocka_unit_test(paths_that_cannot_be_written),
        cmocka_unit_test(standard_output),
        cmocka_unit_test(a_full_standard_output_is_reported),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
