/* tools/harness_tables, harness_net, harness_json, harness_files: what a made result looks like
 * to people and to programs. The figures are those of made_harness.h, by hand. */
#include "unit.h"

#include "base/units.h"
#include "harness/files.h"
#include "harness/write_json.h"
#include "harness/write_net.h"
#include "harness/write_tables.h"
#include "made_harness.h"
#include "made_result.h"
#include "report/csv_layout.h"
#include "scratch.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Tables ---- */

static void banner(void **state)
{
    struct harness_result result;
    struct made_output output;
    made_harness(&result);
    result.backend_chosen = true;
    result.server_chosen = true;
    result.quantum_asked_bytes = 1049764;
    result.extra_flags = "-R 4";
    made_output_open(&output);
    harness_write_banner(output.file, &result);
    made_output_check(
        &output,
        "speed-1gbit-2ms\n"
        "rate         1gbit, measured payload 941.0 Mbit/s to the server, 940.0 to the client\n"
        "delay        2ms one way, RTT 4.000 ms, measured median 4.100 ms, p99 4.300 ms\n"
        "jitter, loss 0, 0\n"
        "MTU          1500, MSS 1448\n"
        "link         emulator (chosen by LINK=auto); whole super-packets\n"
        "congestion   cubic on the client, cubic on the server\n"
        "server       refserver: afpbench, afp_refserver (chosen by SERVER=auto)\n"
        "quantum      asked 1049764, offered 1048576\n"
        "read-ahead   the server's\n"
        "runs         Read,Write; 2 after 1 warm-ups, 1 outstanding; EXTRA_FLAGS -R 4\n\n");
    harness_result_release(&result);
}

/* Widths 22, 6, 6, 12, 12, 8, 8. */
static void summary(void **state)
{
    struct harness_result result;
    struct harness_result slow;
    struct made_output output;
    struct error error;
    made_harness(&result);
    made_harness(&slow);
    snprintf(slow.name, sizeof slow.name, "speed-10gbit-2ms");
    slow.rate = "10gbit";
    slow.link.shapes[LINK_TO_SERVER].rate_bits_per_s = UINT64_C(10000000000);
    slow.verdict = CALIBRATION_TOO_SLOW;
    slow.calibration.goodput_bits_per_s[0] = 7.9e9;
    slow.calibration.goodput_bits_per_s[1] = 8e9;
    slow.complete = false;
    assert_true(harness_result_add_fault(&slow, &error, "a fault"));
    result.drawn = true;
    result.sizes[0].cases[0].figures.spoiled = 1;
    slow.test_program_marks = false;
    const struct harness_result *const results[] = {&result, &slow};
    made_output_open(&output);
    harness_write_summary(output.file, results, 2);
    /* tx: 3 × (106 + 660) + 724 × 1514 + 102 + 90 = 1098626 in 759; rx: 3 × (724 × 1514 + 102) +
     * 2 × 82 + 8 × 66 = 3289406 in 2185 */
    made_output_check(
        &output,
        "run                       mss    mtu   tx-packets   rx-packets   avg-tx   avg-rx  spoiled "
        "plot\n"
        "speed-1gbit-2ms          1448   1500          759         2185     1447     1505        1 "
        "speed-1gbit-2ms.png\n"
        "speed-10gbit-2ms (machine: 7.9) INVALID INCOMPLETE   1448   1500          759         "
        "2185 "
        "    1447     1505        - -\n\n");
    harness_result_release(&result);
    harness_result_release(&slow);
}

/* Widths 10, 12, 14, 12, 14, 8, 8; then a row for each size and test. */
static const char tables[] =
    "speed-1gbit-2ms\n"
    "      size   tx-packets       tx-bytes   rx-packets       rx-bytes   avg-tx   avg-rx\n"
    "     1 MiB          759        1098626         2185        3289406     1447     1505\n"
    "\n"
    "Packets by kind, all measured runs together\n"
    "      size test          tx-ack   tx-full  tx-short   tx-retr   tx-ctrl  tx-other    rx-ack   "
    "rx-full  rx-short   rx-retr   rx-ctrl  rx-other\n"
    "     1 MiB Read              20         0         2         0         0         0         0   "
    "   1448         2         0         0         0\n"
    "     1 MiB Write              0       724         2         0         0         0         8   "
    "      0         2         0         0         0\n"
    "\n"
    "Requests and segments, all measured runs together\n"
    "      size test            runs   spoiled  requests     runts short/req    fill-%       mss  "
    "avg-data   avg-all     ack-%\n"
    "     1 MiB Read               2         0         2         0      1.00     99.87      1448   "
    " "
    "1512.1    1490.5       1.4\n"
    "     1 MiB Write              1         0         2         0      1.00     99.73      1448   "
    " "
    "1510.1    1490.5       1.1\n"
    "\n"
    "Time of a run, its lower bound, and what the sender's TCP waited for\n"
    "      size test         time-ms  bound-ms   bound-%    Mbit/s    link-%   rwnd-ms sndbuf-ms   "
    "busy-ms\n"
    "     1 MiB Read          20.000    12.909      64.5     419.4      44.5       8.0       1.0   "
    "   36.0\n"
    "     1 MiB Write         25.000    16.910      67.6     335.5      35.6       1.5       0.2   "
    "   20.0\n"
    "\n"
    "totals: tx 759 packets, 1447.5 bytes each; rx 2185 packets, 1505.4 bytes each\n\n";

static void tables_of_a_run(void **state)
{
    struct harness_result result;
    struct made_output output;
    made_harness(&result);
    made_output_open(&output);
    harness_write_tables(output.file, &result);
    made_output_check(&output, tables);
    harness_result_release(&result);
}

static void tables_without_marks(void **state)
{
    struct harness_result result;
    struct made_output output;
    made_harness(&result);
    result.test_program_marks = false;
    result.test_program = "other";
    made_output_open(&output);
    harness_write_tables(output.file, &result);
    made_output_check(
        &output,
        "speed-1gbit-2ms\n"
        "      size   tx-packets       tx-bytes   rx-packets       rx-bytes   avg-tx   avg-rx\n"
        "     1 MiB          759        1098626         2185        3289406     1447     1505\n"
        "\nother does not tell of its runs (--mark-fd): packets by size only\n"
        "\ntotals: tx 759 packets, 1447.5 bytes each; rx 2185 packets, 1505.4 bytes each\n\n");
    harness_result_release(&result);
}

/* ---- NAME-net.csv ---- */

#define TEST_COLUMNS(test)                                                                         \
    "," test "_tx_pure_ack," test "_tx_full," test "_tx_short," test "_tx_retransmit," test        \
    "_tx_control," test "_tx_other," test "_rx_pure_ack," test "_rx_full," test "_rx_short," test  \
    "_rx_retransmit," test "_rx_control," test "_rx_other," test "_runs," test                     \
    "_spoiled_runs," test "_requests," test "_runt_requests," test "_short_per_request," test      \
    "_segment_fill_percent," test "_mss," test "_avg_data_packet_bytes," test                      \
    "_avg_packet_bytes," test "_ack_percent," test "_mean_ms," test "_bound_ms," test              \
    "_bound_percent," test "_goodput_mbit_s," test "_link_percent," test                           \
    "_receive_window_ms," test "_send_buffer_ms," test "_busy_ms"

static void net_csv(void **state)
{
    struct harness_result result;
    struct made_output output;
    struct error error;
    made_harness(&result);
    /* a size of which nothing is known by test */
    struct harness_size *size = harness_result_add_size(&result, 4 * KIB, &error);
    assert_non_null(size);
    size->complete = true;
    /* one that did not end */
    assert_non_null(harness_result_add_size(&result, 8 * KIB, &error));
    made_output_open(&output);
    harness_write_net_csv(output.file, &result);
    made_output_check(
        &output,
        "size_mb,tx_packets,tx_bytes,rx_packets,rx_bytes,avg_tx_bytes,avg_rx_bytes,tx_pure_ack,"
        "tx_full,tx_short,tx_retransmit,tx_control,tx_other,tx_payload_bytes,tx_lost,tx_dropped,"
        "rx_pure_ack,rx_full,rx_short,rx_retransmit,rx_control,rx_other,rx_payload_bytes,rx_lost,"
        "rx_dropped,client_segments_out,server_segments_out" TEST_COLUMNS("read") TEST_COLUMNS(
            "write") "\n"
                     "1,759,1098626,2185,3289406,1447,1505,30,724,5,0,0,0,1048532,0,0,"
                     "8,2172,5,0,0,0,3145196,0,"
                     "0,758,2185"
                     ",20,0,2,0,0,0,0,1448,2,0,0,0,2,0,2,0,1.00,99.87,1448,1512.1,1490."
                     "5,1.4,20.000,12.909,64.5,"
                     "419.4,44.5,8.0,1.0,36.0"
                     ",0,724,2,0,0,0,8,0,2,0,0,0,1,0,2,0,1.00,99.73,1448,1510.1,1490.5,"
                     "1.1,25.000,16.910,67.6,"
                     "335.5,35.6,1.5,0.2,20.0\n"
                     "0.00390625,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
                     ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"
                     ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n");
    harness_result_release(&result);
}

/* ---- NAME-net.txt ---- */

static void net_text(void **state)
{
    struct harness_result result;
    struct made_output output;
    struct error error;
    made_harness(&result);
    assert_true(harness_result_add_fault(&result, &error, "it is too good"));
    made_output_open(&output);
    harness_write_net_text(output.file, &result);
    fflush(output.file);
    static const char begin[] = "suite: speed\nrate: 1gbit\ndelay: 2ms\nmtu: 1500\niterations: 2\n"
                                "quantum: 1048576\nreadahead: default\nmss: 1448\n"
                                "tx_packets_total: 759\ntx_bytes_total: 1098626\n"
                                "rx_packets_total: 2185\nrx_bytes_total: 3289406\n"
                                "avg_tx_bytes: 1447\navg_rx_bytes: 1505\n"
                                "client_out_segs: 758\nserver_out_segs: 2185\n";
    check(strncmp(output.text, begin, sizeof begin - 1) == 0, "%s", output.text);
    static const char *const lines[] = {
        "\nrate_asked: 1gbit\n",
        "\ndelay_ns: 2000000\n",
        "\nlink: emulator\n",
        "\ncalibration: true\n",
        "\nrtt_median_ns: 4100000\n",
        "\ntx_goodput_bits_per_s: 941000000\n",
        "\nclient_offloads: tso gso\n",
        "\nserver_congestion_control: cubic\n",
        "\ncomplete: yes\n",
        "\nspoiled_runs: 0\nvalid: no\nfault: it is too good\n",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        check(strstr(output.text, lines[i]) != NULL, "no line %zu: %s", i, lines[i]);
    }
    fclose(output.file);
    free(output.text);
    harness_result_release(&result);
}

/* ---- NAME.json ---- */

#define DOCUMENT(size, test, load)                                                                 \
    "{\"schema\": \"afpbench-result\", \"schema_version\": 1, \"complete\": true, \"failure\": "   \
    "null, \"run\": {\"program\": \"afp_speedtest\"}, \"host\": {\"load_before\": 0.5, "           \
    "\"load_after\": " load ", \"steal_percent\": null, \"warning\": null}, \"cases\": [{\"test\"" \
    ": \"" test "\", \"size_bytes\": " size "}]}"

static int64_t at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    check(json_is_integer(value), "no integer %s", key);
    return json_integer_value(value);
}

static void join(struct harness_result *result, const char *text)
{
    struct error error;
    check(harness_json_join(result, text, MIB, &error), "%s", error.message);
}

static void documents_are_joined(void **state)
{
    struct harness_result result;
    struct error error;
    made_harness(&result);
    join(&result, DOCUMENT("1048576", "Read", "0.75"));
    struct harness_size *size = harness_result_add_size(&result, 4 * MIB, &error);
    assert_non_null(size);
    join(&result, DOCUMENT("4194304", "Write", "1.25"));
    check(harness_json_finish(&result, &error), "%s", error.message);
    const json_t *document = result.document;
    const json_t *cases = json_object_get(document, "cases");
    assert_int_equal(json_array_size(cases), 2);
    assert_int_equal(at(json_array_get(cases, 0), "size_bytes"), 1048576);
    assert_int_equal(at(json_array_get(cases, 1), "size_bytes"), 4194304);
    const json_t *host = json_object_get(document, "host");
    assert_true(json_real_value(json_object_get(host, "load_before")) == 0.5);
    assert_true(json_real_value(json_object_get(host, "load_after")) == 1.25);
    const json_t *run = json_object_get(document, "run");
    assert_string_equal(json_string_value(json_object_get(run, "program")), "afp_perftest");
    assert_int_equal(json_array_size(json_object_get(run, "arguments")), 2);
    const json_t *link = json_object_get(document, "link");
    assert_int_equal(at(json_object_get(link, "asked"), "rate_bits_per_s"), 1000000000);
    assert_int_equal(at(link, "spoiled_runs"), 0);
    const json_t *sizes = json_object_get(link, "sizes");
    assert_int_equal(json_array_size(sizes), 2);
    const json_t *read = json_array_get(json_object_get(json_array_get(sizes, 0), "cases"), 0);
    assert_int_equal(at(read, "requests"), 2);
    assert_int_equal(json_array_size(json_object_get(read, "runs")), 3);
    const json_t *first = json_array_get(json_object_get(read, "runs"), 1);
    assert_true(json_is_false(json_object_get(first, "spoiled")));
    assert_true(json_is_null(json_object_get(first, "late_ns"))); /* nobody told it */
    assert_int_equal(at(first, "bound_ns"), 4000000 + (724 * 1538 + 126) * 8);
    const json_t *rx = json_object_get(json_object_get(read, "traffic"), "to_client");
    assert_int_equal(at(json_object_get(rx, "kinds"), "full"), 1448);
    /* only the steps that have packets: 102 bytes up to 128, 1514 up to 1536 */
    const json_t *steps = json_object_get(rx, "sizes");
    assert_int_equal(json_array_size(steps), 2);
    assert_int_equal(at(json_array_get(steps, 0), "up_to_bytes"), 128);
    assert_int_equal(at(json_array_get(steps, 0), "packets"), 2);
    assert_int_equal(at(json_array_get(steps, 1), "up_to_bytes"), 1536);
    assert_int_equal(at(json_array_get(steps, 1), "packets"), 1448);
    harness_result_release(&result);
}

static void documents_that_are_none(void **state)
{
    static const char *const texts[] = {"", "{", "[]", "{\"cases\": []}", "{\"cases\": 1}"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct harness_result result;
        struct error error;
        made_harness(&result);
        assert_false(harness_json_join(&result, texts[i], MIB, &error));
        check_error(&error, ERROR_CONTENT, "document for 1048576 bytes is no result");
        assert_null(result.document);
        join(&result, DOCUMENT("1048576", "Read", "0.75"));
        assert_false(harness_json_join(&result, texts[i], 2 * MIB, &error));
        check_error(&error, ERROR_CONTENT, "document for 2097152 bytes is no result");
        assert_int_equal(json_array_size(json_object_get(result.document, "cases")), 1);
        harness_result_release(&result);
    }
}

/* ---- Files ---- */

static char directory[SCRATCH_SIZE];

static int make_directory(void **state)
{
    scratch_make(directory);
    return 0;
}

static int remove_directory(void **state)
{
    scratch_remove(directory);
    return 0;
}

static void files_are_written(void **state)
{
    struct harness_result result;
    struct error error;
    made_harness(&result);
    result.sizes[0].csv = strdup(CSV_RUN_HEADER "\nRead,1,1.000,20000,50.00\n");
    join(&result, DOCUMENT("1048576", "Read", "0.75"));
    result.messages = strdup("a word\n");
    check(harness_files_write(directory, &result, &error), "%s", error.message);
    scratch_check(directory, "speed-1gbit-2ms.csv", CSV_RUN_HEADER "\nRead,1,1.000,20000,50.00\n");
    scratch_check(directory, "speed-1gbit-2ms-stderr.log", "a word\n");
    static const char *const names[] = {"speed-1gbit-2ms-net.csv", "speed-1gbit-2ms-net.txt",
                                        "speed-1gbit-2ms.json"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char *text = scratch_content(directory, names[i]);
        check(text != NULL && text[0] != '\0', "no %s", names[i]);
        free(text);
    }
    /* a later run without a document must not leave the earlier one's */
    json_decref(result.document);
    result.document = NULL;
    free(result.messages);
    result.messages = NULL;
    check(harness_files_write(directory, &result, &error), "%s", error.message);
    scratch_check_absent(directory, "speed-1gbit-2ms.json");
    scratch_check(directory, "speed-1gbit-2ms-stderr.log", "");
    /* what cannot be written leaves nothing half done, and the others are written */
    free(result.sizes[0].csv);
    result.sizes[0].csv = strdup("junk\n");
    result.messages = strdup("again\n");
    assert_false(harness_files_write(directory, &result, &error));
    check_error(&error, ERROR_CONTENT, "not 'junk'");
    scratch_check(directory, "speed-1gbit-2ms.csv", CSV_RUN_HEADER "\nRead,1,1.000,20000,50.00\n");
    scratch_check(directory, "speed-1gbit-2ms-stderr.log", "again\n");
    scratch_check_absent(directory, "speed-1gbit-2ms.csv.part");
    harness_result_release(&result);
}

static void existing_results(void **state)
{
    static const char *const suffixes[] = {".csv",  "-stderr.log", "-net.csv", "-net.txt",
                                           ".json", ".gnuplot",    ".png"};
    struct harness_configuration configurations[] = {{.name = "speed-a"}, {.name = "speed-b"}};
    struct harness_plan plan = {configurations, COUNT(configurations)};
    struct error error;
    char deep[SCRATCH_SIZE + 20];
    snprintf(deep, sizeof deep, "%s/x/y", directory);
    assert_true(harness_files_prepare(deep, &plan, false, &error));
    assert_true(harness_files_prepare(deep, &plan, false, &error)); /* it is empty */
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        char path[SCRATCH_SIZE + 60];
        snprintf(path, sizeof path, "%s/speed-b%s", deep, suffixes[i]);
        close(open(path, O_CREAT | O_WRONLY, 0600));
        assert_false(harness_files_prepare(deep, &plan, false, &error));
        check_error(&error, ERROR_USAGE, "--force");
        assert_true(harness_files_prepare(deep, &plan, true, &error));
        unlink(path);
    }
    assert_true(harness_files_prepare(deep, &plan, false, &error));
    assert_false(harness_files_prepare("/dev/null/x", &plan, false, &error));
    check_error(&error, ERROR_SYSTEM, "OUTDIR");
    plan.configurations = NULL; /* they are no memory of the plan's */
    harness_plan_release(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(banner),
        cmocka_unit_test(summary),
        cmocka_unit_test(tables_of_a_run),
        cmocka_unit_test(tables_without_marks),
        cmocka_unit_test(net_csv),
        cmocka_unit_test(net_text),
        cmocka_unit_test(documents_are_joined),
        cmocka_unit_test(documents_that_are_none),
        cmocka_unit_test_setup_teardown(files_are_written, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(existing_results, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
