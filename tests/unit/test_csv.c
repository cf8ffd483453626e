/* report/csv: the exact bytes that other people's scripts read (doc/formats.md, "CSV"). */
#include "unit.h"

#include "base/clock.h"
#include "made_result.h"
#include "report/csv.h"

#include <errno.h>
#include <stdio.h>

#define MS     NS_PER_MS
#define HEADER "test_name,iteration,file_size_mb,microseconds,throughput_mbs\n"

/* Tells the whole result, compares, releases it. */
static void check_csv(struct result *result, const char *expected)
{
    struct made_output output;
    struct error error;
    made_output_open(&output);
    struct csv_report report = {.out = output.file};
    struct observer csv = csv_observer(&report);
    check(made_told(&csv, result, &error), "%s", error.message);
    fflush(output.file);
    for (size_t i = 0; i + 1 < output.size; i++) {
        check(memcmp(output.text + i, "-0", 2) != 0 || output.text[i + 2] == '.',
              "a negative zero: %s", output.text + i);
    }
    assert_null(strstr(output.text, "-0.00"));
    made_output_check(&output, expected);
    result_release(result);
}

static struct test_case test_of(const char *name, uint64_t size_bytes, uint32_t iterations)
{
    return (struct test_case){.name = name,
                              .size_bytes = size_bytes,
                              .depth = 1,
                              .sessions = 1,
                              .iterations = iterations};
}

/* One run needs no summary. */
static void one_run(void **state)
{
    static const uint64_t durations[] = {500 * MS};
    struct test_case test = test_of("Write", 1 << 20, 1);
    struct result result = {0};
    made_case(&result, &test, durations);
    check_csv(&result, HEADER "Write,1,1.000,500000,2.00\n");
}

/* 61, 63 and 70 µs and two warm-ups, which are nowhere: the mean is 64.67 (60.41 MiB/s, as it is
 * not truncated), the deviation sqrt(22.33) = 4.73. _min is the least time, so the highest rate. */
static void three_runs(void **state)
{
    static const uint64_t durations[] = {MS, MS, 61 * NS_PER_US, 63 * NS_PER_US, 70 * NS_PER_US};
    struct test_case test = test_of("Read", 4096, 3);
    struct result result = {0};
    test.warmups = 2;
    made_case(&result, &test, durations);
    check_csv(&result, HEADER "Read,1,0.004,61,64.04\n"
                              "Read,2,0.004,63,62.00\n"
                              "Read,3,0.004,70,55.80\n"
                              "Read_mean,,0.004,65,60.41\n"
                              "Read_median,,0.004,63,62.00\n"
                              "Read_stddev,,0.004,5,\n"
                              "Read_min,,0.004,61,64.04\n"
                              "Read_max,,0.004,70,55.80\n");
}

/* Rounded to nearest; the rate comes from the nanoseconds. */
static void rounding(void **state)
{
    static const uint64_t durations[] = {1499, 1500};
    struct test_case test = test_of("Copy", 1000000, 2);
    struct result result = {0};
    made_case(&result, &test, durations);
    check_csv(&result, HEADER "Copy,1,0.954,1,636207.02\n"
                              "Copy,2,0.954,2,635782.88\n"
                              "Copy_mean,,0.954,1,635994.88\n"
                              "Copy_median,,0.954,1,635994.88\n"
                              "Copy_stddev,,0.954,0,\n"
                              "Copy_min,,0.954,1,636207.02\n"
                              "Copy_max,,0.954,2,635782.88\n");
}

static void runs_without_duration(void **state)
{
    static const uint64_t durations[] = {0, 0};
    struct test_case test = test_of("Read", 1, 2);
    struct result result = {.sweep = true};
    made_case(&result, &test, durations);
    check_csv(&result,
              HEADER "Read,1,0.000,0,0.00\n"
                     "Read,2,0.000,0,0.00\n"
                     "Read_mean,,0.000,0,0.00\n"
                     "Read_median,,0.000,0,0.00\n"
                     "Read_stddev,,0.000,0,\n"
                     "Read_min,,0.000,0,0.00\n"
                     "Read_max,,0.000,0,0.00\n"
                     "\n# File Size Performance Summary for Read\n"
                     "file_size_bytes,file_size_mb,mean_throughput_mbs,median_throughput_mbs,"
                     "min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms\n"
                     "1,0.000,0.00,0.00,0.00,0.00,0.0,0.0\n");
}

/* The size and the rate are of all sessions' files together. */
static void several_sessions(void **state)
{
    static const uint64_t durations[] = {500 * MS, 500 * MS};
    struct test_case test = test_of("Write", 1 << 20, 2);
    struct result result = {.sweep = true};
    test.sessions = 4;
    made_case(&result, &test, durations);
    check_csv(&result,
              HEADER "Write,1,4.000,500000,8.00\n"
                     "Write,2,4.000,500000,8.00\n"
                     "Write_mean,,4.000,500000,8.00\n"
                     "Write_median,,4.000,500000,8.00\n"
                     "Write_stddev,,4.000,0,\n"
                     "Write_min,,4.000,500000,8.00\n"
                     "Write_max,,4.000,500000,8.00\n"
                     "\n# File Size Performance Summary for Write\n"
                     "file_size_bytes,file_size_mb,mean_throughput_mbs,median_throughput_mbs,"
                     "min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms\n"
                     "4194304,4.000,8.00,8.00,8.00,8.00,0.0,500.0\n");
}

/* Two sizes of two tests as they run, size by size; the blocks are in Netatalk's order. One run is
 * enough for a row of its own. A test without
 * a measured run has no block. */
static void a_sweep(void **state)
{
    static const uint64_t one[] = {500 * MS};
    static const uint64_t three[] = {58004 * NS_PER_US, 59527 * NS_PER_US, 61033 * NS_PER_US};
    struct test_case write_small = test_of("Write", 1 << 20, 1);
    struct test_case read_small = test_of("Read", 4096, 1);
    struct test_case read_large = test_of("Read", 64 << 20, 3);
    struct test_case server_copy = test_of("ServerCopy", 4096, 1);
    struct result result = {.sweep = true};
    struct result_case *first = made_case(&result, &write_small, one);
    made_case(&result, &read_small, one);
    made_case(&result, &server_copy, one)->sample_count = 0;
    struct result_case *last = made_case(&result, &read_large, three);
    made_tcp(&first->samples[0].tcp_before, 2565 << 10, 10, 2147483647, 4114, 424);
    made_tcp(&first->samples[0].tcp_after, 1, 1, 1, 1, 1);
    made_tcp(&last->samples[2].tcp_after, 4096 << 10, 812, 640, 4110, 76);
    check_csv(&result,
              HEADER "Write,1,1.000,500000,2.00\n"
                     "Read,1,0.004,500000,0.01\n"
                     "Read,1,64.000,58004,1103.37\n"
                     "Read,2,64.000,59527,1075.14\n"
                     "Read,3,64.000,61033,1048.61\n"
                     "Read_mean,,64.000,59521,1075.24\n"
                     "Read_median,,64.000,59527,1075.14\n"
                     "Read_stddev,,64.000,1515,\n"
                     "Read_min,,64.000,58004,1103.37\n"
                     "Read_max,,64.000,61033,1048.61\n"
                     "\n# File Size Performance Summary for Read\n"
                     "file_size_bytes,file_size_mb,mean_throughput_mbs,median_throughput_mbs,"
                     "min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms\n"
                     "4096,0.004,0.01,0.01,0.01,0.01,0.0,500.0\n"
                     "67108864,64.000,1075.24,1075.14,1048.61,1103.37,1.5,59.5\n"
                     "\n# File Size Performance Summary for Write\n"
                     "file_size_bytes,file_size_mb,mean_throughput_mbs,median_throughput_mbs,"
                     "min_throughput_mbs,max_throughput_mbs,stddev_ms,mean_time_ms\n"
                     "1048576,1.000,2.00,2.00,2.00,2.00,0.0,500.0\n"
                     "\n# TCP Metrics Evolution Summary\n"
                     "metric,initial,final,delta\n"
                     "tcp_send_buffer_kb,2565,4096,1531\n"
                     "tcp_mss_bytes,1448,1448,0\n"
                     "tcp_cwnd_segments,10,812,802\n"
                     "tcp_ssthresh_segments,2147483647,640,-2147483007\n"
                     "tcp_rtt_ms,4.11,4.11,0.00\n" /* -4 µs: no negative zero */
                     "tcp_rtt_variance_ms,0.42,0.08,-0.35\n"
                     "tcp_retrans_current,0,0,0\n"
                     "tcp_lost_packets,0,0,0\n");
}

/* Only what a sweep is asked for; and not even a header before a test begins. */
static void no_summary_without_a_sweep(void **state)
{
    static const uint64_t one[] = {500 * MS};
    struct test_case test = test_of("Read", 4096, 1);
    struct result result = {0};
    check_csv(&result, "");
    made_case(&result, &test, one);
    made_case(&result, &test, one);
    made_tcp(&result.cases[0]->samples[0].tcp_before, 1024, 1, 1, 1, 1);
    check_csv(&result, HEADER "Read,1,0.004,500000,0.01\nRead,1,0.004,500000,0.01\n");
}

static void a_full_disk_is_reported(void **state)
{
    static const uint64_t two[] = {MS, MS};
    struct test_case test = test_of("Read", 4096, 2);
    struct result result = {.sweep = true};
    const struct result_case *told = made_case(&result, &test, two);
    struct csv_report report = {.out = fopen("/dev/full", "w")};
    struct observer csv = csv_observer(&report);
    struct error error;
    assert_non_null(report.out);
    assert_false(csv.on_begin(csv.context, told, &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the results: No space left on device");
    assert_int_equal(error.code, ENOSPC);
    assert_false(csv.on_sample(csv.context, told, &told->samples[0], &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the results");
    assert_false(csv.on_end(csv.context, &result, told, &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the results");
    assert_false(csv.on_finish(csv.context, &result, &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the results");
    fclose(report.out);
    result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run),
        cmocka_unit_test(three_runs),
        cmocka_unit_test(rounding),
        cmocka_unit_test(runs_without_duration),
        cmocka_unit_test(several_sessions),
        cmocka_unit_test(a_sweep),
        cmocka_unit_test(no_summary_without_a_sweep),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
