/* netlab/shape: rates, times and shares as tc(8) reads them, by hand. */
#include "unit.h"

#include "netlab/link.h"
#include "netlab/shape.h"

#include <stdio.h>

struct row {
    const char *text;
    bool ok;
    uint64_t value;
};

static void check_rows(bool (*parse)(const char *text, uint64_t *value, struct error *error),
                       const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 77;
        struct error error;
        bool ok = parse(rows[i].text, &value, &error);
        check(ok == rows[i].ok, "'%s'", rows[i].text);
        check(value == (ok ? rows[i].value : 77), "'%s': %llu", rows[i].text,
              (unsigned long long)value);
        if (!ok) {
            char start[64];
            snprintf(start, sizeof start, "KEY '%s' is not a ", rows[i].text);
            check_error(&error, ERROR_USAGE, start);
        }
    }
}

static bool parse_rate(const char *text, uint64_t *value, struct error *error)
{
    return link_parse_rate(text, "KEY", value, error);
}

static void rates(void **state)
{
    static const struct row rows[] = {
        {"10gbit", true, 10000000000},
        {"100mbit", true, 100000000},
        {"1.5mbit", true, 1500000},
        {"1500", true, 1500},
        {"1500bit", true, 1500},
        {"64kbit", true, 64000},
        {"1Gbit", true, 1000000000},
        {"1gibit", true, 1073741824},
        {"1mibit", true, 1048576},
        {"2kibit", true, 2048},
        {"12500kbps", true, 100000000}, /* bytes per second */
        {"125mbps", true, 1000000000},
        {"1gbps", true, 8000000000},
        {"1mibps", true, 8388608},
        {"1kibps", true, 8192},
        {"1gibps", true, 8589934592},
        {"125bps", true, 1000},
        {"0.001mbit", true, 1000},
        {"1tbit", true, 1000000000000},
        {"0.125tbps", true, 1000000000000},
        {"1001gbit", false, 0},
        {"999", false, 0},
        {"0", false, 0},
        {"", false, 0},
        {"gbit", false, 0},
        {"10 gbit", false, 0},
        {"10gbit ", false, 0},
        {"10g", false, 0},
        {"10gb", false, 0},
        {"-1gbit", false, 0},
        {"1e9", false, 0},
        {"1,5mbit", false, 0},
        {"10gbit,1gbit", false, 0},
        {"9999999999999999999", false, 0},
    };
    check_rows(parse_rate, rows, COUNT(rows));
}

static bool parse_time(const char *text, uint64_t *value, struct error *error)
{
    return link_parse_time(text, "KEY", value, error);
}

static void times(void **state)
{
    static const struct row rows[] = {
        {"2ms", true, 2000000},
        {"0.5ms", true, 500000},
        {"500us", true, 500000},
        {"500usec", true, 500000},
        {"500usecs", true, 500000},
        {"1s", true, 1000000000},
        {"1sec", true, 1000000000},
        {"10secs", true, 10000000000},
        {"20msec", true, 20000000},
        {"20msecs", true, 20000000},
        {"100ns", true, 100},
        {"100nsec", true, 100},
        {"100nsecs", true, 100},
        {"250", false, 0},
        {"2.5", false, 0},
        {"0", true, 0},
        {"0ms", true, 0},
        {"2MS", true, 2000000},
        {"10.001s", false, 0},
        {"11s", false, 0},
        {"1m", false, 0},
        {"ms", false, 0},
        {"2 ms", false, 0},
        {"-2ms", false, 0},
        {"", false, 0},
    };
    check_rows(parse_time, rows, COUNT(rows));
}

static bool parse_loss(const char *text, uint64_t *value, struct error *error)
{
    uint32_t ppm = 77;
    bool ok = link_parse_loss(text, "KEY", &ppm, error);
    *value = ppm;
    return ok;
}

static void losses(void **state)
{
    static const struct row rows[] = {
        {"1%", true, 10000},     {"0.05%", true, 500},
        {"0", true, 0},          {"0%", true, 0},
        {"0.000%", true, 0},     {"2", false, 0},
        {"100%", true, 1000000}, {"0.0001%", true, 1},
        {"0.00009%", false, 0}, /* it would become none */
        {"100.0001%", false, 0}, {"101%", false, 0},
        {"%", false, 0},         {"1%%", false, 0},
        {"-1%", false, 0},       {"1ppm", false, 0},
    };
    check_rows(parse_loss, rows, COUNT(rows));
}

/* 10 Gbit/s × 4 ms round trip = 5,000,000 bytes, four times; 2 × 3 × 1 MiB; 16 MiB. */
static void queues(void **state)
{
    assert_int_equal(link_queue_bytes(10000000000, 2000000, 1048576, 3),
                     20000000 + 6291456 + 16777216);
    assert_int_equal(link_queue_bytes(0, 2000000, 0, 1), 16777216);
    assert_int_equal(link_queue_bytes(100000000, 0, 1000, 1), 2000 + 16777216);
    /* 1 Tbit/s × 20 s × 4 = 10^13 bytes; nothing wraps. */
    assert_int_equal(link_queue_bytes(1000000000000, 10000000000, 0, 0), 10000000000000 + 16777216);
    assert_true(link_queue_bytes(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX) == UINT64_MAX);
}

static void capacities(void **state)
{
    /* 1448 ÷ 1538 and 8948 ÷ 9038 of a gigabit */
    double small = link_capacity_bits_per_s(1000000000, 1500, 1448);
    double large = link_capacity_bits_per_s(1000000000, 9000, 8948);
    check(small > 941482444 && small < 941482445, "%f", small);
    /* 65483 ÷ 65573, whatever TCP says before its window has opened */
    double largest = link_capacity_bits_per_s(1000000000, 65535, 32741);
    check(largest > 998627483 && largest < 998627484, "%f", largest);
    check(large > 990042044 && large < 990042045, "%f", large);
}

/* AFPBENCH_EMULATOR_FAULT. */
static void faults(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        struct link_fault fault;
    } rows[] = {
        {"no-delay", true, {.no_delay = true}},
        {"no-lateness", true, {.no_lateness = true}},
        {"stall=2s@4", true, {.stall_ns = 2000000000, .stall_at = 4}},
        {"stall=50ms@1+", true, {.stall_ns = 50000000, .stall_at = 1, .stall_again = true}},
        {"", false, {0}},
        {"no-delays", false, {0}},
        {"stall", false, {0}},
        {"stall=2s", false, {0}},
        {"stall=2s@", false, {0}},
        {"stall=2s@0", false, {0}},
        {"stall=2s@4x", false, {0}},
        {"stall=2x@4", false, {0}},
        {"stall=@4", false, {0}},
        {"stall=2s@4+x", false, {0}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct link_fault fault;
        struct error error;
        bool ok = link_parse_fault(rows[i].text, "KEY", &fault, &error);
        check(ok == rows[i].ok, "'%s'", rows[i].text);
        if (!ok) {
            check_error(&error, ERROR_USAGE, "expected no-delay, no-lateness, stall");
            continue;
        }
        assert_int_equal(fault.no_delay, rows[i].fault.no_delay);
        assert_int_equal(fault.no_lateness, rows[i].fault.no_lateness);
        assert_int_equal(fault.stall_ns, rows[i].fault.stall_ns);
        assert_int_equal(fault.stall_at, rows[i].fault.stall_at);
        assert_int_equal(fault.stall_again, rows[i].fault.stall_again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates),  cmocka_unit_test(times),      cmocka_unit_test(losses),
        cmocka_unit_test(queues), cmocka_unit_test(capacities), cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
