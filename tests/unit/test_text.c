/* report/text: the exact bytes of the output (doc/formats.md, "Text"). */
#include "unit.h"

#include "base/clock.h"
#include "made_result.h"
#include "report/text.h"
#include "result/shares.h"

#include <errno.h>
#include <stdio.h>

#define MS NS_PER_MS

static const struct test_case read_64m = {.name = "Read",
                                          .chunk_bytes = 1048576,
                                          .size_bytes = 67108864,
                                          .depth = 1,
                                          .sessions = 1,
                                          .iterations = 1};
static const struct test_case copy_sparse = {.name = "Copy",
                                             .chunk_bytes = 4294967231,
                                             .size_bytes = UINT64_C(1) << 40,
                                             .sparse = true,
                                             .depth = 1,
                                             .sessions = 1,
                                             .iterations = 3};

static const struct result no_result;

/* ---- Header and rows ---- */

static void header_and_rows(void **state)
{
    static const struct {
        const struct test_case *test;
        struct sample samples[5];
        const char *text;
    } rows[] = {
        {&read_64m,
         {{.number = 1, .size_bytes = 67108864, .duration_ns = 251577000}},
         "Read quantum 1048576, size 67108864\n"
         "run\t microsec\t  KB/s\n"
         "1\t   251577\t260500.76\n"},
        {&copy_sparse,
         {{.number = 1, .warmup = true, .size_bytes = 1024, .duration_ns = NS_PER_S},
          {.number = 1, .size_bytes = 1024, .duration_ns = NS_PER_S},
          {.number = 2, .size_bytes = 1024, .duration_ns = 5 * NS_PER_S, .spoiled = true},
          {.number = 2, .size_bytes = 1024, .duration_ns = 0},
          {.number = 4000000000,
           .size_bytes = UINT64_C(1) << 40,
           .duration_ns = UINT64_C(12345678901234567890)}},
         "Copy quantum 4294967231, size 1099511627776 sparse file\n"
         "run\t microsec\t  KB/s\n"
         "1\t  1000000\t     1.00\n"
         "2\t        0\t     0.00\n"
         "4000000000\t12345678901234568\t     0.09\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_output output;
        struct result_case told = {.test = *rows[i].test};
        struct error error;
        made_output_open(&output);
        struct text_report report = {.out = output.file};
        struct observer text = text_observer(&report);
        assert_true(text.on_begin(text.context, &told, &error));
        for (size_t k = 0; k < 5 && rows[i].samples[k].number != 0; k++) {
            assert_true(text.on_sample(text.context, &told, &rows[i].samples[k], &error));
        }
        assert_true(text.on_end(text.context, &no_result, &told, &error));
        assert_true(text.on_finish(text.context, &no_result, &error));
        made_output_check(&output, rows[i].text);
    }
}

/* Microseconds are rounded to nearest; the rate is made from the nanoseconds. */
static void rounding(void **state)
{
    static const struct {
        uint64_t duration_ns;
        const char *text;
    } rows[] = {
        {499, "1\t        0\t1957039.08\n"},
        {500, "1\t        1\t1953125.00\n"},
        {1499, "1\t        1\t651475.98\n"},
        {1500, "1\t        2\t651041.67\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_output output;
        struct result_case told = {.test = read_64m};
        struct sample sample = {
            .number = 1, .size_bytes = 1000, .duration_ns = rows[i].duration_ns};
        struct error error;
        made_output_open(&output);
        struct text_report report = {.out = output.file};
        struct observer text = text_observer(&report);
        assert_true(text.on_sample(text.context, &told, &sample, &error));
        made_output_check(&output, rows[i].text);
    }
}

/* What was reported stands, whatever comes next. */
static void each_row_is_flushed(void **state)
{
    struct made_output output;
    struct result_case told = {.test = read_64m};
    struct sample sample = {.number = 1, .size_bytes = 1024, .duration_ns = NS_PER_S};
    struct error error;
    made_output_open(&output);
    struct text_report report = {.out = output.file};
    struct observer text = text_observer(&report);
    assert_true(text.on_begin(text.context, &told, &error));
    size_t header = output.size;
    assert_true(header > 0);
    assert_true(text.on_sample(text.context, &told, &sample, &error));
    assert_true(output.size > header);
    fclose(output.file);
    free(output.text);
}

static void a_full_disk_is_reported(void **state)
{
    static const uint64_t durations[] = {MS};
    struct text_report report = {.out = fopen("/dev/full", "w"), .statistics = true};
    struct observer text = text_observer(&report);
    struct result result = {0};
    const struct result_case *told = made_case(&result, &read_64m, durations);
    struct error error;
    assert_non_null(report.out);
    assert_false(text.on_begin(text.context, told, &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the results: No space left on device");
    assert_int_equal(error.code, ENOSPC);
    assert_false(text.on_sample(text.context, told, &told->samples[0], &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the results");
    assert_false(text.on_end(text.context, &result, told, &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the results");
    assert_false(text.on_finish(text.context, &result, &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the results");
    fclose(report.out);
    result_release(&result);
}

/* ---- The block of -T ---- */

/* Only the block of one case, with statistics on. */
static void check_block(struct result *result, const char *expected)
{
    struct made_output output;
    struct error error;
    made_output_open(&output);
    struct text_report report = {.out = output.file, .statistics = true};
    struct observer text = text_observer(&report);
    check(result_summarize(result->cases[0], &error), "%s", error.message);
    check(text.on_end(text.context, result, result->cases[0], &error), "%s", error.message);
    made_output_check(&output, expected);
    result_release(result);
}

/* One run has no spread: what does not exist is left out. */
static void block_of_one_run(void **state)
{
    static const struct test_case test = {
        .name = "Write", .size_bytes = 64 << 20, .depth = 1, .sessions = 1, .iterations = 1};
    static const uint64_t durations[] = {500 * MS};
    struct result result = {0};
    struct sample *sample = made_case(&result, &test, durations)->samples;
    sample->counts.requests[REQUEST_WRITE] = 64;
    sample->counts.requests[REQUEST_FLUSH] = 1;
    sample->counts.round_trips = 65;
    check_block(&result, "\n===== Statistics for Write =====\n"
                         "File Size:      64 MB\n"
                         "Iterations:     1\n"
                         "Mean:           500000 \u03bcs (128.00 MB/s)\n"
                         "Median:         500000 \u03bcs (128.00 MB/s)\n"
                         "Min:            500000 \u03bcs (128.00 MB/s)\n"
                         "Max:            500000 \u03bcs (128.00 MB/s)\n"
                         "Requests:       64 write, 1 flush a run, 0 runts, 65 round trips\n"
                         "\n");
}

/* Three runs and a warm-up that is in none of the figures: 100, 110 and 150 ms for 1 MiB. The mean
 * is 120, the deviation sqrt((400 + 100 + 900) / 2) = 26.458; the interval of a bootstrap of three
 * values reaches from the least to the greatest, each with a chance of 1/27. */
static void block_of_three_runs(void **state)
{
    static const struct test_case test = {.name = "Read",
                                          .size_bytes = 1 << 20,
                                          .depth = 4,
                                          .sessions = 1,
                                          .warmups = 1,
                                          .iterations = 3};
    static const uint64_t durations[] = {9000 * MS, 100 * MS, 150 * MS, 110 * MS};
    struct result result = {0};
    struct result_case *made = made_case(&result, &test, durations);
    made->cache = CACHE_SERVER_WARM;
    made->spoiled_count = 2;
    for (uint32_t i = 0; i < 4; i++) {
        struct sample *sample = &made->samples[i];
        sample->counts.requests[REQUEST_READ] = i == 0 ? 999 : 2;
        sample->counts.runts = i == 0 ? 999 : 1;
        sample->counts.round_trips = i == 0 ? 999 : 1;
        /* 360 ms in all: 36, 18, 180, 90 and 36 */
        sample->shares_ns[SHARE_RECEIVE_WINDOW] = i == 0 ? 9000 * MS : 12 * MS;
        sample->shares_ns[SHARE_SEND_BUFFER] = i == 0 ? 0 : 6 * MS;
        sample->shares_ns[SHARE_SERVER] = i == 0 ? 0 : 60 * MS;
        sample->shares_ns[SHARE_CLIENT_CPU] = i == 0 ? 0 : 30 * MS;
        sample->shares_ns[SHARE_REST] = i == 0 ? 0 : 12 * MS;
    }
    /* exact in the histogram: its buckets begin at these values, and the greatest caps them */
    histogram_add(&made->service, 64000);
    histogram_add(&made->service, 64000);
    check_block(&result,
                "\n===== Statistics for Read =====\n"
                "File Size:      1 MB\n"
                "Iterations:     3\n"
                "Spoiled runs:   2, made again and left out\n"
                "Mean:           120000 \u03bcs (8.33 MB/s)\n"
                "95% of mean:    54271 to 185729 \u03bcs (5.38 to 18.43 MB/s)\n"
                "Median:         110000 \u03bcs (9.09 MB/s)\n"
                "Std Dev:        26458 \u03bcs (22.05%)\n"
                "Min:            100000 \u03bcs (10.00 MB/s)\n"
                "Max:            150000 \u03bcs (6.67 MB/s)\n"
                "Requests:       2 read a run, 1 runt, 1 round trip\n"
                "Service time:   median 64, p95 64, p99 64, max 64 \u03bcs a request\n"
                "Time went to:   10.0% the receive window, 5.0% the send buffer, 50.0% the server, "
                "25.0% our own CPU, 10.0% the rest\n"
                "Server cache:   warm: the file was just written\n"
                "\n");
}

/* P95 from 20 runs on: 19 of 10 ms and one of 30 give 10 + 0.05 × 20 at rank 18.05. */
static void block_of_twenty_runs(void **state)
{
    for (uint32_t count = 19; count <= 20; count++) {
        struct test_case test = {
            .name = "Copy", .size_bytes = 4096, .depth = 1, .sessions = 1, .iterations = count};
        uint64_t durations[20];
        for (uint32_t i = 0; i < count; i++) {
            durations[i] = i == 3 ? 30 * MS : 10 * MS;
        }
        struct result result = {0};
        struct made_output output;
        struct error error;
        made_case(&result, &test, durations);
        made_output_open(&output);
        struct text_report report = {.out = output.file, .statistics = true};
        struct observer text = text_observer(&report);
        assert_true(text.on_end(text.context, &result, result.cases[0], &error));
        fclose(output.file);
        bool found = strstr(output.text, "P95:            11000 \u03bcs (0.36 MB/s)\n") != NULL;
        check(found == (count == 20), "%u runs: %s", count, output.text);
        char outliers[80];
        snprintf(outliers, sizeof outliers,
                 "\nOutliers:       1 of %u runs stand out; none is left out\n", count);
        check(strstr(output.text, outliers) != NULL, "%s", output.text);
        free(output.text);
        result_release(&result);
    }
}

static void block_of_runs_without_duration(void **state)
{
    static const struct test_case test = {
        .name = "Write", .size_bytes = 1, .depth = 1, .sessions = 1, .iterations = 2};
    static const uint64_t durations[] = {0, 0};
    struct result result = {0};
    made_case(&result, &test, durations);
    check_block(&result, "\n===== Statistics for Write =====\n"
                         "File Size:      0 KB\n"
                         "Iterations:     2\n"
                         "Mean:           <1 \u03bcs (too fast to measure)\n"
                         "95% of mean:    0 to 0 \u03bcs (0.00 to 0.00 MB/s)\n"
                         "Median:         <1 \u03bcs (too fast to measure)\n"
                         "Std Dev:        0 \u03bcs (0.00%)\n"
                         "Min:            <1 \u03bcs (too fast to measure)\n"
                         "Max:            <1 \u03bcs (too fast to measure)\n"
                         "Requests:        a run, 0 runts, 0 round trips\n"
                         "\n");
}

/* The size is one session's file, the rate that of all of them together. */
static void block_of_two_sessions(void **state)
{
    static const struct test_case test = {.name = "Write",
                                          .size_bytes = 1 << 20,
                                          .depth = 1,
                                          .sessions = 2,
                                          .warmups = 1,
                                          .iterations = 2};
    static const uint64_t durations[] = {900 * MS, 200 * MS, 200 * MS};
    static const uint64_t sessions[] = {900 * MS, 900 * MS, 100 * MS, 200 * MS, 150 * MS, 200 * MS};
    struct result result = {0};
    struct result_case *made = made_case(&result, &test, durations);
    memcpy(made->session_ns, sessions, sizeof sessions);
    made->samples[1].counts.requests[REQUEST_WRITE] = 2;
    check_block(&result, "\n===== Statistics for Write =====\n"
                         "File Size:      1 MB\n"
                         "Sessions:       2, each with a file of that size\n"
                         "Iterations:     2\n"
                         "Mean:           200000 \u03bcs (10.00 MB/s)\n"
                         "95% of mean:    200000 to 200000 \u03bcs (10.00 to 10.00 MB/s)\n"
                         "Median:         200000 \u03bcs (10.00 MB/s)\n"
                         "Std Dev:        0 \u03bcs (0.00%)\n"
                         "Min:            200000 \u03bcs (10.00 MB/s)\n"
                         "Max:            200000 \u03bcs (10.00 MB/s)\n"
                         "Requests:       2 write a run, 0 runts, 0 round trips\n"
                         "Session 1:      125000 \u03bcs (8.00 MB/s)\n"
                         "Session 2:      200000 \u03bcs (5.00 MB/s)\n"
                         "\n");
}

/* A test that failed in its warm-up has nothing to say. */
static void no_block_without_measured_runs(void **state)
{
    struct test_case test = read_64m;
    static const uint64_t durations[] = {MS, MS};
    struct result result = {0};
    test.warmups = 1;
    struct result_case *made = made_case(&result, &test, durations);
    made->sample_count = 1;
    made->ended = false;
    error_set(&made->failure, ERROR_AFP, -5000, "refused");
    check_block(&result, "");
}

static void what_is_said_of_caches(void **state)
{
    static const char *const lines[] = {
        [CACHE_UNKNOWN] = "",
        [CACHE_SERVER_WARM] = "Server cache:   warm: the file was just written\n",
        [CACHE_CLIENT_COLD] = "Client cache:   cold: dropped before each run\n",
        [CACHE_CLIENT_WARM] =
            "Client cache:   warm: this is memory's speed, not the file system's\n",
        [CACHE_BYPASSED] = "Client cache:   bypassed (O_DIRECT)\n",
    };
    static const uint64_t durations[] = {500 * MS};
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct result result = {0};
        struct result_case *made = made_case(&result, &read_64m, durations);
        made->cache = (enum cache_state)i;
        made->samples[0].counts.requests[REQUEST_READ] = 1;
        char *expected;
        assert_true(asprintf(&expected,
                             "\n===== Statistics for Read =====\n"
                             "File Size:      64 MB\n"
                             "Iterations:     1\n"
                             "Mean:           500000 \u03bcs (128.00 MB/s)\n"
                             "Median:         500000 \u03bcs (128.00 MB/s)\n"
                             "Min:            500000 \u03bcs (128.00 MB/s)\n"
                             "Max:            500000 \u03bcs (128.00 MB/s)\n"
                             "Requests:       1 read a run, 0 runts, 0 round trips\n"
                             "%s\n",
                             lines[i]) > 0);
        check_block(&result, expected);
        free(expected);
    }
}

/* ---- The tables ---- */

/* Netatalk's tables, with the numbers of its own example; Read before Write whatever the
 * order they ran in; Min and Max are of the rate. */
static const char size_tables[] =
    "╔══════════════════════════════════════════════════════════════════════════════════════╗\n"
    "║                      File Size Performance Summary for Read                          ║\n"
    "╠══════════════════════════════════════════════════════════════════════════════════════╣\n"
    "║     Size │ Mean(MB/s) │ Median(MB/s) │ Min(MB/s) │ Max(MB/s) │ StdDev(ms) │ Mean(ms) ║\n"
    "╠══════════════════════════════════════════════════════════════════════════════════════╣\n"
    "║     4 KB │      60.41 │        62.00 │     55.80 │     64.04 │        0.0 │      0.1 ║\n"
    "║    64 MB │    1075.24 │      1075.14 │   1048.61 │   1103.37 │        1.5 │     59.5 ║\n"
    "╚══════════════════════════════════════════════════════════════════════════════════════╝\n"
    "\n"
    "╔══════════════════════════════════════════════════════════════════════════════════════╗\n"
    "║                      File Size Performance Summary for Write                         ║\n"
    "╠══════════════════════════════════════════════════════════════════════════════════════╣\n"
    "║     Size │ Mean(MB/s) │ Median(MB/s) │ Min(MB/s) │ Max(MB/s) │ StdDev(ms) │ Mean(ms) ║\n"
    "╠══════════════════════════════════════════════════════════════════════════════════════╣\n"
    "║     4 KB │       0.00 │         0.00 │      0.00 │      0.00 │        0.0 │      0.0 ║\n"
    "╚══════════════════════════════════════════════════════════════════════════════════════╝\n";

static const char tcp_table[] =
    "\n"
    "╔═════════════════════════════════════════════════════════════════════════╗\n"
    "║                 TCP Metrics Evolution Across All Tests                  ║\n"
    "╠═════════════════════════════════════════════════════════════════════════╣\n"
    "║ Metric                   │       Initial │         Final │      Total Δ ║\n"
    "╠═════════════════════════════════════════════════════════════════════════╣\n"
    "║ TCP Send Buffer          │       2565 KB │       4096 KB │      1531 KB ║\n"
    "║ TCP MSS                  │        1448 B │        1448 B │          0 B ║\n"
    "║ Cwnd (segments)          │            10 │           812 │          802 ║\n"
    "║ SSThresh (segments)      │    2147483647 │           640 │  -2147483007 ║\n"
    "║ RTT                      │       4.11 ms │       4.62 ms │      0.51 ms ║\n"
    "║ RTT Variance             │       0.42 ms │       0.08 ms │     -0.34 ms ║\n"
    "║ Retrans (current)        │             0 │             0 │            0 ║\n"
    "║ Lost Packets             │             0 │             0 │            0 ║\n"
    "╚═════════════════════════════════════════════════════════════════════════╝\n";

static void tables_of_a_sweep(void **state)
{
    static const uint64_t write_times[] = {0};
    static const uint64_t small_times[] = {61 * NS_PER_US, 63 * NS_PER_US, 70 * NS_PER_US};
    static const uint64_t large_times[] = {58004 * NS_PER_US, 59527 * NS_PER_US, 61033 * NS_PER_US};
    struct test_case test = {
        .name = "Write", .size_bytes = 4096, .depth = 1, .sessions = 1, .iterations = 1};
    struct result result = {.sweep = true};
    struct error error;
    for (int with_tcp = 0; with_tcp < 2; with_tcp++) {
        test.name = "Write";
        test.size_bytes = 4096;
        test.iterations = 1;
        struct result_case *first = made_case(&result, &test, write_times);
        test.name = "Read";
        test.iterations = 3;
        made_case(&result, &test, small_times);
        test.size_bytes = 64 << 20;
        struct result_case *last = made_case(&result, &test, large_times);
        if (with_tcp) {
            made_tcp(&first->samples[0].tcp_before, 2565 << 10, 10, 2147483647, 4110, 415);
            made_tcp(&first->samples[0].tcp_after, 99, 99, 99, 99, 99);
            made_tcp(&last->samples[2].tcp_after, 4096 << 10, 812, 640, 4615, 76);
        }
        char *expected;
        assert_true(asprintf(&expected, "%s%s", size_tables, with_tcp ? tcp_table : "") > 0);
        struct made_output output;
        made_output_open(&output);
        struct text_report report = {.out = output.file, .statistics = true};
        struct observer text = text_observer(&report);
        assert_true(text.on_finish(text.context, &result, &error));
        made_output_check(&output, expected);
        free(expected);
        result_release(&result);
    }
}

/* A case without measured runs has no row, and one session's file names a row of several. */
static void rows_of_the_tables(void **state)
{
    static const uint64_t times[] = {NS_PER_S, NS_PER_S};
    struct test_case test = {
        .name = "Copy", .size_bytes = 1 << 20, .depth = 1, .sessions = 3, .iterations = 1};
    struct result result = {0};
    struct made_output output;
    struct error error;
    made_case(&result, &test, times);
    struct result_case *unmeasured = made_case(&result, &test, times);
    unmeasured->sample_count = 0;
    assert_true(result_summarize(unmeasured, &error));
    made_output_open(&output);
    struct text_report report = {.out = output.file, .statistics = true};
    struct observer text = text_observer(&report);
    assert_true(text.on_finish(text.context, &result, &error));
    fclose(output.file);
    const char *row = strstr(output.text, "│ Mean(ms) ║\n");
    assert_non_null(row);
    row = strstr(row, "╣\n");
    assert_non_null(row);
    assert_string_equal(row + strlen("╣\n"),
                        "║     1 MB │       3.00 │         3.00 │      3.00 │      3.00 │        "
                        "0.0 │   1000.0 ║\n"
                        "╚══════════════════════════════════════════════════════════════════════"
                        "════════════════╝\n");
    free(output.text);
    result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_and_rows),        cmocka_unit_test(rounding),
        cmocka_unit_test(each_row_is_flushed),    cmocka_unit_test(a_full_disk_is_reported),
        cmocka_unit_test(block_of_one_run),       cmocka_unit_test(block_of_three_runs),
        cmocka_unit_test(block_of_twenty_runs),   cmocka_unit_test(block_of_runs_without_duration),
        cmocka_unit_test(block_of_two_sessions),  cmocka_unit_test(no_block_without_measured_runs),
        cmocka_unit_test(what_is_said_of_caches), cmocka_unit_test(tables_of_a_sweep),
        cmocka_unit_test(rows_of_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
