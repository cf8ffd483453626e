/* report/read_*: stored results from JSON and CSV, strictly, whatever the bytes. */
#include "unit.h"

#include "failing_memory.h"
#include "report/read_result.h"

#include <stdio.h>
#include <unistd.h>

/* ---- Inputs ---- */

#define SAMPLE(number, warmup, duration)                                                           \
    "{\"number\": " number ", \"warmup\": " warmup ", \"duration_ns\": " duration                  \
    ", \"bytes\": 4096, \"requests\": {\"read\": 0, \"write\": 1, \"flush\": 1, "                  \
    "\"server_copy\": 0}}"

#define CASE(test, size, sink, flush, samples)                                                     \
    "{\"test\": \"" test "\", \"size_bytes\": " size ", \"chunk_bytes\": 1048576, "                \
    "\"sparse\": false, \"outstanding\": 4, \"interleaved\": true, \"sessions\": 2, "              \
    "\"sink\": " sink ", \"flush\": " flush ", \"new_files\": false, "                             \
    "\"existing_file\": false, \"complete\": true, \"failure\": null, \"samples\": [" samples "]}"

#define SERVER                                                                                     \
    "{\"machine_type\": \"Netatalk4.5.1\", \"reference_store\": null, "                            \
    "\"quantum_offered_bytes\": 1048576, \"afp_version\": \"AFP3.4\"}"

#define FILE_SYSTEM                                                                                \
    "{\"directory\": \"/mnt/a\", \"second_directory\": null, \"type\": \"nfs4\", "                 \
    "\"direct\": true}"

static const char document[] =
    "{\"schema\": \"afpbench-result\", \"schema_version\": 1, \"complete\": true, "
    "\"failure\": null, \"run\": {\"program\": \"afp_speedtest\", \"version\": \"0.1\", "
    "\"arguments\": [\"afp_speedtest\", \"-n\", \"2\"], \"started\": \"2026-11-30T10:00:00Z\"}, "
    "\"host\": {\"kernel\": \"Linux 6\", \"machine\": \"x86_64\", \"cpu\": \"Some CPU\", "
    "\"cpu_count\": 2, \"cpus_allowed\": 1, \"cpu_quota_percent\": null, "
    "\"memory_limit_bytes\": 7, \"warning\": \"busy\"}, \"server\": " SERVER
    ", \"file_system\": null, \"cases\": [" //
    CASE("Write", "4096", "null", "true",
         SAMPLE("1", "true, \"spoiled\": false", "999") ", " SAMPLE("1", "false", "100") ", " //
         SAMPLE("2", "false", "0") ", "                                                       //
         SAMPLE("2", "false, \"spoiled\": true", "777")) ", "                                 //
    CASE("Read", "4096", "\"copy\"", "false", SAMPLE("1", "false", "300")) "]}";

#define CSV_HEADER "test_name,iteration,file_size_mb,microseconds,throughput_mbs\n"
#define SUMMARY_HEADER                                                                             \
    "file_size_bytes,file_size_mb,mean_throughput_mbs,median_throughput_mbs,"                      \
    "min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms\n"
#define SHORT_HEADER                                                                               \
    "file_size_mb,mean_throughput_mbs,median_throughput_mbs,"                                      \
    "min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms\n"

static const char sweep[] = CSV_HEADER //
    "Read,1,0.004,61,64.04\n"
    "Read,2,0.004,63,62.00\n"
    "Read_mean,,0.004,62,63.00\n"
    "Read_stddev,,0.004,1,\n"
    "Write,1,64.000,58004,1103.37\n"
    "\n"
    "# File Size Performance Summary for Read\n" SUMMARY_HEADER
    "4194,0.004,60.41,62.00,55.80,64.04,0.0,0.1\n"
    "\n"
    "# TCP Metrics Evolution Summary\n"
    "metric,initial,final,delta\n"
    "tcp_rtt_ms,4.11,4.62,0.51\n";

static const char netatalk[] = "Starting afpd...\n"
                               "a, b\n" CSV_HEADER "Read,1,0.062,61,1024.04\n"
                               "some noise, in between\n"
                               "\n"
                               "Read,2,0.062,63,1000.00\n"
                               "\n"
                               "# File Size Performance Summary for Read\n" SHORT_HEADER
                               "0.062,60.41,62.00,55.80,64.04,0.0,0.1\n"
                               "done\n";

static bool read_bytes(const char *bytes, size_t size, struct stored_result *result,
                       struct error *error)
{
    char *copy = (char *)exact_copy(bytes, size);
    bool ok = read_result_buffer("file", copy, size, result, error);
    free(copy);
    return ok;
}

static bool read_text(const char *text, struct stored_result *result, struct error *error)
{
    return read_bytes(text, strlen(text), result, error);
}

static void must_read(const char *text, struct stored_result *result)
{
    struct error error;
    check(read_text(text, result, &error), "%s", error.message);
}

/* The text with the first `old` replaced; the caller frees it. */
static char *replaced(const char *text, const char *old, const char *with)
{
    const char *place = strstr(text, old);
    check(place != NULL, "'%s' is not in the text", old);
    size_t before = (size_t)(place - text);
    size_t size = strlen(text) + strlen(with) + 1;
    char *result = malloc(size);
    snprintf(result, size, "%.*s%s%s", (int)before, text, with, place + strlen(old));
    return result;
}

/* What is replaced in a good text, and what is said of it then. */
struct refused {
    const char *old, *with, *message; /* message NULL: it is still good */
};

static void must_refuse(const char *text, const struct refused *row)
{
    struct stored_result result;
    struct error error = {0};
    char *changed = replaced(text, row->old, row->with);
    bool ok = read_text(changed, &result, &error);
    check(ok == (row->message == NULL), "%s: %s", row->with, error.message);
    if (!ok) {
        check_error(&error, ERROR_CONTENT, row->message);
    }
    stored_result_release(&result);
    free(changed);
}

/* ---- JSON ---- */

static void json_is_read(void **state)
{
    static const char *const conditions[] = {"Linux 6", "x86_64",        "Some CPU", "2",
                                             "1",       "none",          "7",        "AFP server",
                                             "none",    "Netatalk4.5.1", "1048576",  "AFP3.4",
                                             "none"};
    static const uint64_t case_conditions[] = {1048576, 4, 1, 2, 0, 0, 1, 0, 0, 0};
    struct stored_result result;
    must_read(document, &result);
    assert_string_equal(result.format, "afpbench JSON");
    assert_string_equal(result.started, "2026-11-30T10:00:00Z");
    assert_true(result.has_conditions);
    assert_string_equal(result.warning, "busy");
    assert_false(result.incomplete);
    assert_null(result.directory);
    for (size_t i = 0; i < COUNT(conditions); i++) {
        assert_string_equal(result.conditions[i], conditions[i]);
    }
    for (size_t i = COUNT(conditions); i < STORED_CONDITIONS; i++) {
        assert_null(result.conditions[i]);
    }
    assert_int_equal(result.case_count, 2);
    assert_int_equal(result.run_count, 3);
    const struct stored_case *write = &result.cases[0];
    assert_string_equal(write->test, "Write");
    assert_int_equal(write->size_bytes, 4096);
    assert_true(write->size_exact);
    assert_int_equal(write->run_bytes, 8192);
    assert_int_equal(write->count, 2); /* the warm-up does not count */
    assert_true(write->durations_ns[0] == 100 && write->durations_ns[1] == 0);
    assert_memory_equal(write->conditions, case_conditions, sizeof case_conditions);
    assert_int_equal(result.cases[1].conditions[STORED_FLUSH], 0);
    assert_int_equal(result.cases[1].conditions[STORED_SINK], 1);
    stored_result_release(&result);
}

static void json_sinks(void **state)
{
    static const struct {
        const char *json, *word;
    } rows[] = {{"null", "none"},
                {"\"copy\"", "copy"},
                {"\"discard\"", "discard"},
                {"\"verify\"", "verify"}};
    const char *const *words = stored_case_condition_rows[STORED_SINK].words;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stored_result result;
        char sink[32];
        snprintf(sink, sizeof sink, "\"sink\": %s", rows[i].json);
        /* what the arguments say does not matter */
        char *arguments = replaced(document, "\"-n\", \"2\"", "\"--sink\", \"discard\", 4");
        char *text = replaced(arguments, "\"sink\": \"copy\"", sink);
        must_read(text, &result);
        assert_string_equal(words[result.cases[1].conditions[STORED_SINK]], rows[i].word);
        stored_result_release(&result);
        free(text);
        free(arguments);
    }
}

static void json_reference_store(void **state)
{
    struct stored_result result;
    char *text = replaced(document, "\"reference_store\": null", "\"reference_store\": \"null\"");
    must_read(text, &result);
    assert_string_equal(result.conditions[STORED_REFERENCE_STORE], "null");
    stored_result_release(&result);
    free(text);
}

/* Each value that may differ goes to its own condition. */
static void json_conditions_of_cases(void **state)
{
    (void)state;
    static const struct {
        const char *old, *with;
        enum stored_case_condition condition;
        uint64_t value;
    } rows[] = {
        {"\"chunk_bytes\": 1048576", "\"chunk_bytes\": 65536", STORED_CHUNK, 65536},
        {"\"outstanding\": 4", "\"outstanding\": 1", STORED_OUTSTANDING, 1},
        {"\"interleaved\": true", "\"interleaved\": false", STORED_INTERLEAVED, 0},
        {"\"sessions\": 2", "\"sessions\": 1", STORED_SESSIONS, 1},
        {"\"sparse\": false", "\"sparse\": true", STORED_SPARSE, 1},
        {"\"flush\": true", "\"flush\": false", STORED_FLUSH, 0},
        {"\"new_files\": false", "\"new_files\": true", STORED_NEW_FILES, 1},
        {"\"existing_file\": false", "\"existing_file\": true", STORED_EXISTING_FILE, 1},
        {"\"sparse\": false", "\"sparse\": false, \"client_cache\": \"cold\"", STORED_CLIENT_CACHE,
         1},
        {"\"sparse\": false", "\"sparse\": false, \"client_cache\": \"warm\"", STORED_CLIENT_CACHE,
         2},
    };
    struct stored_result plain;
    must_read(document, &plain);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stored_result result;
        char *text = replaced(document, rows[i].old, rows[i].with);
        must_read(text, &result);
        uint64_t *conditions = result.cases[0].conditions;
        check(conditions[rows[i].condition] == rows[i].value, "%s", rows[i].with);
        conditions[rows[i].condition] = plain.cases[0].conditions[rows[i].condition];
        assert_memory_equal(conditions, plain.cases[0].conditions,
                            sizeof plain.cases[0].conditions);
        stored_result_release(&result);
        free(text);
    }
    stored_result_release(&plain);
}

/* A document from before it was written has none. */
static void json_second_place(void **state)
{
    (void)state;
    struct stored_result result;
    char *text = replaced(document, "\"reference_store\": null",
                          "\"reference_store\": null, \"second_volume\": true");
    must_read(text, &result);
    assert_string_equal(result.conditions[STORED_SECOND_PLACE], "yes");
    stored_result_release(&result);
    free(text);
}

/* The shape that was asked for is one condition. */
static void json_link(void **state)
{
    static const struct {
        const char *link, *condition, *message;
    } rows[] = {
        {"{\"backend\": \"emulator\", \"shaped\": true, \"asked\": {\"rate_bits_per_s\": "
         "1000000000, \"delay_ns\": 2000000, \"jitter_ns\": 0, \"loss_ppm\": 5, \"mtu\": 9000}}",
         "emulator, 1000000000 bit/s, delay 2000000 ns, jitter 0 ns, loss 5 ppm, MTU 9000", NULL},
        {"{\"backend\": \"none\", \"shaped\": false, \"asked\": {\"rate_bits_per_s\": null, "
         "\"delay_ns\": 0, \"jitter_ns\": 0, \"loss_ppm\": 0, \"mtu\": 1500}}",
         "none, 0 bit/s, delay 0 ns, jitter 0 ns, loss 0 ppm, MTU 1500", NULL},
        {"{\"backend\": \"emulator\", \"shaped\": true, \"asked\": {\"rate_bits_per_s\": "
         "null, \"delay_ns\": 0, \"jitter_ns\": 0, \"loss_ppm\": 0, \"mtu\": 1500}}",
         NULL, "link.asked.rate_bits_per_s: expected a whole number from 1 on"},
        {"{\"backend\": 5, \"shaped\": true}", NULL, "link.asked: expected an object"},
        {"[]", NULL, "link: expected an object"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stored_result result;
        struct error error;
        char link[400];
        snprintf(link, sizeof link, "\"link\": %s, \"cases\": [", rows[i].link);
        char *text = replaced(document, "\"cases\": [", link);
        bool ok = read_text(text, &result, &error);
        check(ok == (rows[i].message == NULL), "%s: %s", rows[i].link, error.message);
        if (ok) {
            assert_string_equal(result.conditions[STORED_LINK], rows[i].condition);
        } else {
            check_error(&error, ERROR_CONTENT, rows[i].message);
        }
        stored_result_release(&result);
        free(text);
    }
}

/* A result of POSIX calls; the caller frees it. */
static char *directory_document(void)
{
    char *headless = replaced(document, "\"server\": " SERVER, "\"server\": null");
    char *text = replaced(headless, "\"file_system\": null", "\"file_system\": " FILE_SYSTEM);
    free(headless);
    return text;
}

static void json_of_a_directory(void **state)
{
    struct stored_result result;
    char *text = directory_document();
    must_read(text, &result);
    assert_string_equal(result.directory, "/mnt/a");
    assert_string_equal(result.conditions[STORED_TARGET], "directory");
    assert_string_equal(result.conditions[STORED_FILE_SYSTEM], "nfs4");
    assert_string_equal(result.conditions[STORED_DIRECT], "yes");
    assert_string_equal(result.conditions[STORED_SECOND_PLACE], "no");
    for (size_t i = STORED_SERVER_TYPE; i < STORED_FILE_SYSTEM; i++) {
        assert_null(result.conditions[i]);
    }
    assert_int_equal(result.run_count, 3);
    stored_result_release(&result);
    char *second = replaced(text, "\"second_directory\": null", "\"second_directory\": \"/mnt/b\"");
    must_read(second, &result);
    assert_string_equal(result.conditions[STORED_SECOND_PLACE], "yes");
    stored_result_release(&result);
    free(second);
    free(text);
}

static void json_of_a_directory_is_strict(void **state)
{
    static const struct refused rows[] = {
        {"\"directory\": \"/mnt/a\"", "\"directory\": null",
         "file_system.directory: expected a text"},
        {"\"type\": \"nfs4\"", "\"type\": 4", "file_system.type: expected a text"},
        {"\"direct\": true", "\"direct\": 1", "file_system.direct: expected true or false"},
        {"\"direct\": true", "\"x\": true",
         "file_system.direct: expected true or false, but it is"},
        {"\"file_system\": {", "\"file_system\": null, \"x\": {",
         "server and file_system: expected"},
    };
    char *directory = directory_document();
    for (size_t i = 0; i < COUNT(rows); i++) {
        must_refuse(directory, &rows[i]);
    }
    free(directory);
}

static void json_incomplete(void **state)
{
    static const struct {
        const char *old, *with, *why;
    } rows[] = {
        {"\"complete\": true, \"failure\": null, \"run\"",
         "\"complete\": false, \"failure\": null, \"run\"", NULL},
        {"\"complete\": true, \"failure\": null, \"run\"",
         "\"complete\": false, \"failure\": \"no space\", \"run\"", "no space"},
        {"\"complete\": true, \"failure\": null, \"samples\"",
         "\"complete\": false, \"failure\": \"-5019\", \"samples\"", "-5019"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stored_result result;
        char *text = replaced(document, rows[i].old, rows[i].with);
        must_read(text, &result);
        assert_true(result.incomplete);
        if (rows[i].why == NULL) {
            assert_null(result.why_incomplete);
        } else {
            assert_string_equal(result.why_incomplete, rows[i].why);
        }
        stored_result_release(&result);
        free(text);
    }
}

static void json_case_that_ran_twice(void **state)
{
    struct stored_result result;
    struct error error;
    char *text = replaced(document, "\"Read\"", "\"Write\"");
    /* the other one flushed */
    assert_false(read_text(text, &result, &error));
    check_error(&error, ERROR_CONTENT, "file: cases[1]: expected the conditions");
    stored_result_release(&result);
    char *flushed = replaced(text, "\"flush\": false", "\"flush\": true");
    /* that one read */
    assert_false(read_text(flushed, &result, &error));
    check_error(&error, ERROR_CONTENT, "file: cases[1]: expected the conditions");
    stored_result_release(&result);
    char *same = replaced(flushed, "\"sink\": \"copy\"", "\"sink\": null");
    must_read(same, &result);
    assert_int_equal(result.case_count, 1);
    assert_int_equal(result.cases[0].count, 3);
    stored_result_release(&result);
    free(same);
    free(flushed);
    free(text);
}

static const struct refused refused_json[] = {
    {"\"schema\":", "\"scheme\":", "file: this JSON is no result: its \"schema\" is missing"},
    {"afpbench-result", "other", "schema: expected \"afpbench-result\""},
    {"\"schema_version\": 1", "\"schema_version\": 2", "schema_version: expected 1, not 2"},
    {"\"schema_version\": 1", "\"schema_version\": 1.0", "schema_version: expected a whole number"},
    {"\"complete\": true", "\"complete\": 1", "complete: expected true or false"},
    {"\"failure\": null", "\"failure\": {}", "failure: expected a text or null"},
    {"\"host\": {", "\"host\": [], \"x\": {", "host: expected an object"},
    {"\"kernel\": \"Linux 6\"", "\"kernel\": null", "host.kernel: expected a text"},
    {"\"cpu_count\": 2", "\"cpu_count\": -2", "host.cpu_count: expected a whole number from 0"},
    {"\"arguments\": [", "\"arguments\": {}, \"x\": [", "run.arguments: expected an array"},
    {"\"AFP3.4\"", "34", "server.afp_version: expected a text or null"},
    {"\"cases\": [", "\"cases\": [7, ", "cases[0]: expected an object"},
    {"\"Write\"", "\"W<b>\"", "cases[0].test: expected the name of a test"},
    {"\"Write\"", "\"\"", "cases[0].test: expected the name of a test"},
    {"\"size_bytes\": 4096", "\"size_bytes\": 0", "cases[0].size_bytes: expected a whole number"},
    {"\"size_bytes\": 4096", "\"size_bytes\": 9223372036854775807", NULL},
    {"\"size_bytes\": 4096", "\"size_bytes\": 9223372036854775808", "line 1, column"},
    {"\"sessions\": 2", "\"sessions\": 9223372036854775807", "cases[0].sessions"},
    {"\"sparse\": false", "\"sparse\": \"no\"", "cases[0].sparse: expected true or false"},
    {"\"warmup\": true", "\"warmup\": 0", "cases[0].samples[0].warmup: expected true"},
    {"\"spoiled\": true", "\"spoiled\": 1", "cases[0].samples[3].spoiled: expected true"},
    {"\"duration_ns\": 100", "\"duration_ns\": -1", "cases[0].samples[1].duration_ns: expected"},
    {"\"duration_ns\": 100", "\"duration_ns\": 1e2", "cases[0].samples[1].duration_ns: expected"},
    {"\"duration_ns\": 100", "\"duration_ns\": NaN", "line 1, column"},
    {"\"duration_ns\": 100, ", "", "duration_ns: expected a whole number from 0 on, but it is not"},
    {"\"requests\": {", "\"requests\": 1, \"x\": {", "cases[0].samples[0].requests: expected"},
    {"\"sink\": null", "\"sink\": \"tape\"",
     "cases[0].sink: expected copy, discard, verify or null"},
    {"\"sink\": null", "\"sink\": \"none\"",
     "cases[0].sink: expected copy, discard, verify or null"},
    {"\"sink\": null", "\"sink\": \"\"", "cases[0].sink: expected copy, discard, verify or null"},
    {"\"sink\": null", "\"sink\": 1", "cases[0].sink: expected copy, discard, verify or null"},
    {"\"sink\": null, ", "", "cases[0].sink: expected copy, discard, verify or null, but it is"},
    {"\"flush\": true", "\"flush\": 1", "cases[0].flush: expected true or false"},
    {"\"flush\": true, ", "", "cases[0].flush: expected true or false, but it is not there"},
    {"\"new_files\": false", "\"new_files\": null", "cases[0].new_files: expected true or false"},
    {"\"existing_file\": false", "\"existing_file\": \"x\"",
     "cases[0].existing_file: expected true"},
    {"\"server\": {", "\"server\": [], \"x\": {", "server: expected an object or null"},
    {"\"server\": {", "\"server\": null, \"x\": {", "server and file_system: expected one"},
    {"\"file_system\": null", "\"file_system\": " FILE_SYSTEM,
     "server and file_system: expected one"},
    {"\"file_system\": null, ", "", "file_system: expected an object or null, but it is not there"},
    {"\"reference_store\": null", "\"reference_store\": 1",
     "server.reference_store: expected a text"},
    {"\"complete\": true", "\"complete\": true, \"complete\": true", "duplicate object key"},
    {"]}", "]", "line 1, column"},
    {"\"Some CPU\"", "\"\\u0000\"", "expected JSON"},
    {"\"Some CPU\"", "\"\xff\"", "expected JSON"},
};

static void json_is_strict(void **state)
{
    for (size_t i = 0; i < COUNT(refused_json); i++) {
        must_refuse(document, &refused_json[i]);
    }
}

static void deep_json_is_refused(void **state)
{
    size_t size = 100000;
    char *text = malloc(size + 1);
    memset(text, '[', size);
    text[0] = '{';
    text[size] = '\0';
    memcpy(text, "{\"a\":", 5);
    struct stored_result result;
    struct error error;
    assert_false(read_text(text, &result, &error));
    check_error(&error, ERROR_CONTENT, "maximum parsing depth");
    free(text);
}

/* ---- CSV ---- */

static void csv_is_read(void **state)
{
    struct stored_result result;
    must_read(sweep, &result);
    assert_string_equal(result.format, "speed test CSV");
    assert_false(result.has_conditions);
    assert_null(result.conditions[0]);
    assert_false(result.incomplete);
    assert_int_equal(result.case_count, 2);
    assert_string_equal(result.cases[0].test, "Read");
    assert_int_equal(result.cases[0].size_bytes, 4194); /* as the summary says */
    assert_int_equal(result.cases[0].run_bytes, 4194);
    assert_true(result.cases[0].size_exact);
    assert_int_equal(result.cases[0].count, 2);
    assert_true(result.cases[0].durations_ns[1] == 63000);
    assert_int_equal(result.cases[1].size_bytes, 64 << 20);
    assert_false(result.cases[1].size_exact);
    stored_result_release(&result);
}

static void csv_of_windows(void **state)
{
    struct stored_result result;
    must_read("test_name,iteration,file_size_mb,microseconds,throughput_mbs\r\n"
              "Read,1,0.004,61,64.04\r\n",
              &result);
    assert_int_equal(result.run_count, 1);
    stored_result_release(&result);
}

static void csv_of_netatalk(void **state)
{
    struct stored_result result;
    must_read(netatalk, &result);
    assert_string_equal(result.format, "Netatalk CSV");
    assert_int_equal(result.case_count, 1);
    assert_int_equal(result.cases[0].count, 2);
    assert_int_equal(result.cases[0].size_bytes, 65536);
    assert_false(result.cases[0].size_exact);
    stored_result_release(&result);
    /* nothing but the CSV itself */
    must_read(strstr(netatalk, "test_name"), &result);
    assert_string_equal(result.format, "Netatalk CSV");
    stored_result_release(&result);
}

static void csv_that_was_cut_off(void **state)
{
    static const struct {
        const char *text;
        size_t runs;
        bool incomplete;
    } rows[] = {
        {CSV_HEADER "Read,1,0.004,61,64.04\nRead,2,0.00", 1, true},
        {CSV_HEADER "Read,1,0.004,61,64.04", 1, false}, /* an editor took the last newline */
        {CSV_HEADER "Read,1,0.004,61,64.04\nRe", 1, true},
        {CSV_HEADER, 0, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stored_result result;
        must_read(rows[i].text, &result);
        assert_int_equal(result.run_count, rows[i].runs);
        check(result.incomplete == rows[i].incomplete, "row %zu", i);
        stored_result_release(&result);
    }
}

static const struct refused refused_csv[] = {
    {"Read,1,0.004", "Read,0,0.004", "file: line 2: expected a whole number from 1 to 1000000"},
    {"Read,1,0.004", "Read,x,0.004", "line 2: expected a whole number from 1 to 1000000"},
    {"Read,1,0.004", "Read,1000001,0.004", "line 2: expected a whole number from 1 to 1000000"},
    {"Read,1,0.004", "Re/ad,1,0.004", "line 2: expected the name of a test"},
    {"Read,1,0.004", ",1,0.004", "line 2: expected the name of a test"},
    {"Read,2,0.004", "Read,2,0.04", "line 3: expected a number with three decimals in column 3"},
    {"Read,2,0.004", "Read,2,0,004", "line 3: expected the 5 columns"},
    {"Read,2,0.004", "Read,2,-.004", "line 3: expected a number with three decimals"},
    {",63,", ",63.5,", "line 3: expected a whole number in column 4"},
    {",63,", ",,", "line 3: expected a whole number in column 4"},
    {",63,", ",99999999999999999999999,", "line 3: expected a whole number in column 4"},
    {",62.00", ",nan", "line 3: expected a number with two decimals in column 5"},
    {",62.00", ",62.00,1", "line 3: expected the 5 columns"},
    {"Read_mean", "Read", "line 4: expected a whole number in column 2"},
    {",1,\n", ",1,x\n", "line 5: expected a number with two decimals"},
    {"\n\n", "\nx\n", "line 7: expected the 5 columns"},
    {"4194,0.004", "4194,0.005", "line 10: expected the MiB of column 1"},
    {"4194,0.004", "0,0.000", "line 10: expected a whole number from 1 on"},
    {"0.0,0.1\n", "0.0\n", "line 10: expected the 8 columns"},
    {"0.0,0.1\n", "0.0,0.1\n4096,0.004,60.41,62.00,55.80,64.04,0.0,0.1\n",
     "line 11: expected one size for each file_size_mb"},
    {"tcp_rtt_ms,4.11", "tcp_rtt_ms", "line 14: expected the 4 columns"},
    {"metric,", "metrics,", "line 13: expected a heading"},
};

static void csv_is_strict(void **state)
{
    for (size_t i = 0; i < COUNT(refused_csv); i++) {
        must_refuse(sweep, &refused_csv[i]);
    }
}

static void what_is_no_result(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "file is no result, it is empty"},
        {" \r\n", "it is empty"},
        {"\xEF\xBB\xBF", "it is empty"},
        {"hello\n", "file is no result, it is other text"},
        {"[1]", "it is JSON, but no object"},
        {"\n<!DOCTYPE html>\n<html>", "it is an HTML page"},
        {"<HTML>", "it is an HTML page"},
        {"<?xml version=\"1.0\"?>", "it is XML"},
        {"PK\x03\x04", "it is a ZIP archive or a workbook"},
        {"\x1F\x8B\x08", "it is compressed"},
        {"\x89PNG\r\n", "it is a picture"},
        {"\xFF\xFEt", "it is UTF-16 text"},
        {"\x7F"
         "ELF\x02\x01\x01",
         "it is a binary file"},
        {"test_name;iteration;file_size_mb\r\nRead;1;0,004\r\n", "it is CSV with semicolons"},
        {"{\"a\": 1}", "this JSON is no result"},
        {"{\"schema\": \"other\", \"schema_version\": 1}", "schema: expected \"afpbench-result\""},
        {"{\"schema\": [", "this JSON ends in its middle"},
        {"{\"schema\" 1}", "line 1, column 11: expected JSON"},
        {"Test,Time_ms,Time±,Min_ms,Max_ms,Median_ms,MB/s\n", "only their summaries"},
        {"# File Size Performance Summary for Read\n" SUMMARY_HEADER, "only their summaries"},
        {"{", "this JSON ends in its middle"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stored_result result;
        struct error error;
        check(!read_text(rows[i].text, &result, &error), "%s", rows[i].text);
        check_error(&error, ERROR_CONTENT, rows[i].message);
        stored_result_release(&result);
    }
}

/* What editors, mail and spreadsheets make of the same two runs, of which one took 64 and the other
 * 65 us, for a size of 1 MiB. */
static void what_others_make_of_it(void **state)
{
    static const char *const texts[] = {
        CSV_HEADER "Read,1,1.000,64,60.40\nRead,2,1.000,65,59.00\n",
        "\xEF\xBB\xBF" CSV_HEADER "Read,1,1.000,64,60.40\nRead,2,1.000,65,59.00\n",
        "\xEF\xBB\xBFtest_name,iteration,file_size_mb,microseconds,throughput_mbs\r\n"
        "Read,1,1,64,60.4\r\nRead,2,1,65,59\r\n",
        "\"test_name\",\"iteration\",\"file_size_mb\",\"microseconds\",\"throughput_mbs\"\n"
        "\"Read\",\"1\",\"1.000\",\"64\",\"60.40\"\n\"Read\",\"2\",\"1.0\",\"65\",\"59.00\"",
        "test_name,iteration,file_size_mb,microseconds,throughput_mbs,,,\r\n"
        "Read,1,1,64,60.4,,,\r\nRead,2,1,65,59,,,\r\nRead_stddev,,1,1,,,,\r\n,,,,,,,\r\n"
        "# File Size Performance Summary for Read,,,,,,,\r\n"
        "file_size_bytes,file_size_mb,mean_throughput_mbs,median_throughput_mbs,"
        "min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms\r\n"
        "1048576,1,1,1,1,1,0,0\r\n",
        "a log\r\n" CSV_HEADER "Read,1,1.000,64,60.40\r\nRead,2,1.000,65,59.00\r\n",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct stored_result result;
        struct error error;
        check(read_text(texts[i], &result, &error), "text %zu: %s", i, error.message);
        check(result.case_count == 1, "text %zu", i);
        const struct stored_case *only = &result.cases[0];
        check(strcmp(only->test, "Read") == 0 && only->size_bytes == 1048576, "text %zu", i);
        check(only->count == 2 && only->durations_ns[0] == 64000 && only->durations_ns[1] == 65000,
              "text %zu", i);
        assert_false(result.incomplete);
        stored_result_release(&result);
    }
    char marked[sizeof document + 8];
    snprintf(marked, sizeof marked, "\xEF\xBB\xBF\r\n%s", document);
    struct stored_result result;
    struct error error;
    check(read_text(marked, &result, &error), "%s", error.message);
    stored_result_release(&result);
}

/* ---- Limits ---- */

static void limits(void **state)
{
    struct stored_result result;
    struct error error;
    assert_false(read_result_buffer("file", "", STORED_FILE_LIMIT + 1, &result, &error));
    check_error(&error, ERROR_LIMIT, "at most 64 MiB");

    size_t size = 64 * (STORED_CASE_LIMIT + 2);
    char *text = malloc(size);
    size_t used = (size_t)snprintf(text, size, CSV_HEADER);
    for (int i = 0; i <= STORED_CASE_LIMIT; i++) {
        used += (size_t)snprintf(text + used, size - used, "Read,1,%d.000,1,1.00\n", i + 1);
    }
    assert_false(read_text(text, &result, &error));
    check_error(&error, ERROR_LIMIT, "line 1026: more than 1024 tests and sizes");
    stored_result_release(&result);

    used = (size_t)snprintf(text, size, CSV_HEADER "Read,1,1.000,1,");
    memset(text + used, '1', 2000);
    strcpy(text + used + 2000, ".00\n");
    assert_false(read_text(text, &result, &error));
    check_error(&error, ERROR_CONTENT, "line 2: expected a line of at most 1024 bytes");
    stored_result_release(&result);
    free(text);
}

static void files(void **state)
{
    struct stored_result result;
    struct error error;
    assert_false(read_result_file("/nonexistent/file", &result, &error));
    check_error(&error, ERROR_SYSTEM, "cannot open '/nonexistent/file': No such file");
    assert_false(read_result_file("/", &result, &error));
    check_error(&error, ERROR_SYSTEM, "cannot read it: Is a directory");
    assert_false(read_result_file("/dev/zero", &result, &error));
    check_error(&error, ERROR_LIMIT, "/dev/zero: a result has at most 64 MiB");

    char path[] = "/tmp/test_read_results.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, sweep, strlen(sweep)), strlen(sweep));
    close(file);
    bool ok = read_result_file(path, &result, &error);
    unlink(path);
    check(ok, "%s", error.message);
    assert_int_equal(result.run_count, 3);
    stored_result_release(&result);
}

/* ---- Anything at all ---- */

static void every_prefix(void **state)
{
    static const char *const texts[] = {document, sweep, netatalk};
    for (size_t i = 0; i < COUNT(texts); i++) {
        for (size_t size = 0; size < strlen(texts[i]); size++) {
            struct stored_result result;
            struct error error;
            if (!read_bytes(texts[i], size, &result, &error)) {
                check_error(&error, ERROR_CONTENT, "file");
            }
            stored_result_release(&result);
        }
    }
}

static void random_changes(void **state)
{
    static const char *const texts[] = {document, sweep, netatalk};
    static const char bytes[] = "0123456789,.\n\r#-_\"{}[]:\0\xff Rea";
    uint32_t random = 1;
    for (size_t round = 0; round < 30000; round++) {
        const char *text = texts[round % COUNT(texts)];
        size_t size = strlen(text);
        char *copy = (char *)exact_copy(text, size);
        for (uint32_t i = next_random(&random) % 4; i < 4; i++) {
            copy[next_random(&random) % size] = bytes[next_random(&random) % (sizeof bytes - 1)];
        }
        struct stored_result result;
        struct error error;
        if (!read_result_buffer("file", copy, size, &result, &error)) {
            check_error(&error, ERROR_CONTENT, "file");
        }
        stored_result_release(&result);
        free(copy);
    }
}

static void out_of_memory(void **state)
{
    char *directory = directory_document();
    const char *const texts[] = {document, directory, sweep, netatalk,
                                 CSV_HEADER "Read,1,0.004,61,64.04\nRead,2,0.00"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        bool ok = false;
        for (unsigned number = 1; !ok; number++) {
            struct stored_result result;
            struct error error;
            memory_fail_at(number);
            ok = read_text(texts[i], &result, &error);
            unsigned asked = memory_asked();
            memory_fail_at(0);
            if (!ok) {
                check_error(&error, ERROR_SYSTEM, "out of memory");
            }
            check(ok == (asked < number), "allocation %u of text %zu", number, i);
            stored_result_release(&result);
        }
    }
    free(directory);
}

/* ---- Sizes ---- */

static void sizes_as_csv_prints_them(void **state)
{
    uint32_t random = 7;
    for (int i = 0; i < 20000; i++) {
        uint64_t size = i < 4096 ? (uint64_t)i * 16 : (uint64_t)next_random(&random) * 64;
        char printed[32];
        snprintf(printed, sizeof printed, "%.3f", (double)size / 1048576);
        uint64_t value = stored_size_thousandths(size);
        char own[32];
        snprintf(own, sizeof own, "%u.%03u", (unsigned)(value / 1000), (unsigned)(value % 1000));
        assert_string_equal(own, printed);
    }
}

static void sizes_from_csv(void **state)
{
    static const struct {
        const char *printed;
        uint64_t size_bytes;
    } rows[] = {
        {"0.004", 4096},    {"0.008", 8192},    {"0.016", 16384},      {"0.031", 32768},
        {"0.062", 65536},   {"0.125", 131072},  {"0.250", 262144},     {"0.500", 524288},
        {"1.000", 1048576}, {"1.500", 1572864}, {"256.000", 1 << 28},  {"100.000", 104857600},
        {"0.000", 0},       {"0.001", 1024},    {"0.977", 1000 << 10},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[200];
        struct stored_result result;
        snprintf(text, sizeof text, CSV_HEADER "Read,1,%s,61,64.04\n", rows[i].printed);
        must_read(text, &result);
        check(result.cases[0].size_bytes == rows[i].size_bytes, "%s: %llu", rows[i].printed,
              (unsigned long long)result.cases[0].size_bytes);
        stored_result_release(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read),
        cmocka_unit_test(json_sinks),
        cmocka_unit_test(json_reference_store),
        cmocka_unit_test(json_conditions_of_cases),
        cmocka_unit_test(json_second_place),
        cmocka_unit_test(json_link),
        cmocka_unit_test(json_of_a_directory),
        cmocka_unit_test(json_of_a_directory_is_strict),
        cmocka_unit_test(json_incomplete),
        cmocka_unit_test(json_case_that_ran_twice),
        cmocka_unit_test(json_is_strict),
        cmocka_unit_test(deep_json_is_refused),
        cmocka_unit_test(csv_is_read),
        cmocka_unit_test(csv_of_windows),
        cmocka_unit_test(csv_of_netatalk),
        cmocka_unit_test(csv_that_was_cut_off),
        cmocka_unit_test(csv_is_strict),
        cmocka_unit_test(what_is_no_result),
        cmocka_unit_test(what_others_make_of_it),
        cmocka_unit_test(limits),
        cmocka_unit_test(files),
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(random_changes),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(sizes_as_csv_prints_them),
        cmocka_unit_test(sizes_from_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
