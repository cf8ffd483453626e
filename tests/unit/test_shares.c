/* result/shares: where the time of a run went, from accounts made by hand; the parts sum to the
 * duration whatever the accounts say. */
#include "unit.h"

#include "base/clock.h"
#include "made_result.h"
#include "result/shares.h"
#include "stats/random.h"

#define US NS_PER_US

/* ---- Accounts ---- */

/* What a section adds to the accounts of one session. */
struct section {
    uint64_t duration_us, cpu_us, waited_us;
    uint64_t round_trips, rtt_us;
    uint64_t window_us, buffer_us; /* by the kernel's count */
};

static void add(struct sample *sample, const struct section *section)
{
    struct target_account before = {.waited_ns = 777 * US};
    struct target_account after = {.waited_ns = 777 * US + section->waited_us * US};
    made_tcp_field(&before.tcp, TCP_RECEIVE_WINDOW_LIMITED, 5000);
    made_tcp_field(&before.tcp, TCP_SEND_BUFFER_LIMITED, 6000);
    made_tcp_field(&after.tcp, TCP_RECEIVE_WINDOW_LIMITED, 5000 + section->window_us);
    made_tcp_field(&after.tcp, TCP_SEND_BUFFER_LIMITED, 6000 + section->buffer_us);
    made_tcp_field(&before.tcp, TCP_MINIMUM_RTT, 12345);
    made_tcp_field(&after.tcp, TCP_MINIMUM_RTT, section->rtt_us);
    sample_add_account(sample, section->duration_us * US, section->cpu_us * US,
                       section->round_trips, &before, &after);
}

static uint64_t sum_of(const struct sample *sample)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < SHARES; i++) {
        sum += sample->shares_ns[i];
    }
    return sum;
}

/* ---- By hand ---- */

static const struct {
    const char *name;
    struct section section;
    uint64_t shares_us[SHARES]; /* window, buffer, server, client, rest */
} rows[] = {
    {"nothing known", {.duration_us = 1000}, {0, 0, 0, 0, 1000}},
    {"all of it our own", {.duration_us = 1000, .cpu_us = 1000}, {0, 0, 0, 1000, 0}},
    {"the server, at a depth of 1",
     {.duration_us = 1000, .cpu_us = 100, .waited_us = 900, .round_trips = 4, .rtt_us = 50},
     {0, 0, 700, 100, 200}},
    {"the server, at a depth of 8: an eighth of the round trips",
     {.duration_us = 1000, .cpu_us = 300, .waited_us = 650, .round_trips = 1, .rtt_us = 50},
     {0, 0, 600, 300, 100}},
    {"everything at once",
     {.duration_us = 1000,
      .cpu_us = 200,
      .waited_us = 700,
      .round_trips = 10,
      .rtt_us = 10,
      .window_us = 300,
      .buffer_us = 150},
     {300, 150, 150, 200, 200}},
    {"another process had the CPU",
     {.duration_us = 1000, .cpu_us = 200, .waited_us = 300},
     {0, 0, 300, 200, 500}},
    {"more CPU than time: the clocks are not the same",
     {.duration_us = 1000, .cpu_us = 1003, .waited_us = 20},
     {0, 0, 0, 1000, 0}},
    {"CPU and waiting overlap",
     {.duration_us = 1000, .cpu_us = 600, .waited_us = 500},
     {0, 0, 400, 600, 0}},
    {"the window closed for longer than we waited",
     {.duration_us = 1000, .cpu_us = 100, .waited_us = 400, .window_us = 5000, .buffer_us = 9},
     {400, 0, 0, 100, 500}},
    {"the buffer was full for longer than what is left",
     {.duration_us = 1000, .cpu_us = 100, .waited_us = 400, .window_us = 300, .buffer_us = 300},
     {300, 100, 0, 100, 500}},
    {"more travelling than waiting",
     {.duration_us = 1000, .cpu_us = 100, .waited_us = 400, .round_trips = 100, .rtt_us = 50},
     {0, 0, 0, 100, 900}},
    {"no time at all",
     {.cpu_us = 5, .waited_us = 5, .round_trips = 5, .rtt_us = 5, .window_us = 5},
     {0, 0, 0, 0, 0}},
};

static void by_hand(void **state)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sample sample = {0};
        add(&sample, &rows[i].section);
        for (size_t share = 0; share < SHARES; share++) {
            check(sample.shares_ns[share] == rows[i].shares_us[share] * US, "%s: %s is %llu",
                  rows[i].name, share_names[share],
                  (unsigned long long)sample.shares_ns[share] / US);
        }
        assert_int_equal(sample.elapsed_ns, rows[i].section.duration_us * US);
        assert_int_equal(sum_of(&sample), sample.elapsed_ns);
        assert_int_equal(sample.cpu_ns, rows[i].section.cpu_us * US);
    }
}

/* Each session's parts are cut to its own duration, then added up. */
static void sessions_add_up(void **state)
{
    struct sample together = {0};
    uint64_t shares_ns[SHARES] = {0};
    uint64_t elapsed_ns = 0;
    uint64_t waited_ns = 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sample alone = {0};
        add(&alone, &rows[i].section);
        add(&together, &rows[i].section);
        elapsed_ns += alone.elapsed_ns;
        waited_ns += alone.waited_ns;
        for (size_t share = 0; share < SHARES; share++) {
            shares_ns[share] += alone.shares_ns[share];
        }
    }
    assert_memory_equal(together.shares_ns, shares_ns, sizeof shares_ns);
    assert_int_equal(together.elapsed_ns, elapsed_ns);
    assert_int_equal(together.waited_ns, waited_ns);
    assert_int_equal(sum_of(&together), elapsed_ns);
}

static void whatever_the_accounts_say(void **state)
{
    struct stats_random random = {1};
    for (int i = 0; i < 10000; i++) {
        struct sample sample = {0};
        uint64_t elapsed_ns = 0;
        uint32_t sessions = 1 + stats_random_below(&random, 3);
        for (uint32_t session = 0; session < sessions; session++) {
            struct section section = {.duration_us = stats_random_below(&random, 1000),
                                      .cpu_us = stats_random_below(&random, 600),
                                      .waited_us = stats_random_below(&random, 1200),
                                      .round_trips = stats_random_below(&random, 20),
                                      .rtt_us = stats_random_below(&random, 50),
                                      .window_us = stats_random_below(&random, 700),
                                      .buffer_us = stats_random_below(&random, 700)};
            add(&sample, &section);
            elapsed_ns += section.duration_us * US;
        }
        check(sum_of(&sample) == elapsed_ns && sample.elapsed_ns == elapsed_ns, "round %d", i);
    }
}

/* ---- What kernels do not say ---- */

/* Before the first measurement the smallest RTT is all ones; an old kernel has none at all: the
 * smoothed one stands in. Without a connection nothing travels. */
static void which_rtt(void **state)
{
    static const struct {
        bool minimum_known;
        uint64_t minimum_us;
        bool smoothed_known;
        uint64_t rest_us;
    } cases[] = {
        {true, 20, true, 100},
        {true, UINT32_MAX, true, 200},
        {false, 0, true, 200},
        {false, 0, false, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct target_account before = {0};
        struct target_account after = {.waited_ns = 1000 * US};
        if (cases[i].smoothed_known) {
            made_tcp_field(&after.tcp, TCP_RTT, 40);
        }
        if (cases[i].minimum_known) {
            made_tcp_field(&after.tcp, TCP_MINIMUM_RTT, cases[i].minimum_us);
        }
        struct sample sample = {0};
        sample_add_account(&sample, 1000 * US, 0, 5, &before, &after);
        check(sample.shares_ns[SHARE_REST] == cases[i].rest_us * US, "row %zu", i);
        assert_int_equal(sample.shares_ns[SHARE_SERVER], (1000 - cases[i].rest_us) * US);
    }
}

static void tcp_counts(void **state)
{
    static const enum tcp_field_id fields[TCP_COUNTS] = {
        TCP_BYTES_SENT,  TCP_BYTES_RECEIVED,    TCP_SEGMENTS_OUT,
        TCP_SEGMENTS_IN, TCP_DATA_SEGMENTS_OUT, TCP_DATA_SEGMENTS_IN};
    struct sample sample = {0};
    for (uint64_t session = 1; session <= 2; session++) {
        struct target_account before = {0};
        struct target_account after = {0};
        for (size_t i = 0; i < TCP_COUNTS; i++) {
            made_tcp_field(&before.tcp, fields[i], 1000 * i);
            made_tcp_field(&after.tcp, fields[i], 1000 * i + 10 * session + i);
        }
        sample_add_account(&sample, US, 0, 0, &before, &after);
    }
    for (size_t i = 0; i < TCP_COUNTS; i++) {
        assert_true(sample.tcp.known[i]);
        assert_int_equal(sample.tcp.counts[i], 30 + 2 * i);
        assert_string_equal(tcp_count_names[i], tcp_fields[fields[i]].name);
    }
    /* An old kernel knows the bytes received, but not yet those sent. */
    struct target_account old = {0};
    made_tcp_field(&old.tcp, TCP_BYTES_RECEIVED, 5);
    struct sample unknown = {0};
    sample_add_account(&unknown, US, 0, 0, &old, &old);
    assert_true(unknown.tcp.known[TCP_COUNT_RECEIVED_BYTES]);
    assert_false(unknown.tcp.known[TCP_COUNT_SENT_BYTES]);
    struct target_account none = {0};
    sample_add_account(&unknown, US, 0, 0, &none, &none);
    assert_false(unknown.tcp.known[TCP_COUNT_RECEIVED_BYTES]);
}

/* ---- A case ---- */

static void warm_ups_do_not_count(void **state)
{
    static const struct test_case test = {.sessions = 1, .warmups = 1, .iterations = 2};
    static const uint64_t durations[] = {9, 1, 1};
    struct result result = {0};
    struct result_case *made = made_case(&result, &test, durations);
    for (uint32_t i = 0; i < 3; i++) {
        for (size_t share = 0; share < SHARES; share++) {
            made->samples[i].shares_ns[share] = i == 0 ? 1000 : i * (share + 1);
        }
    }
    struct error error;
    const uint64_t *shares_ns = made->summary.shares_ns;
    assert_true(result_summarize(made, &error));
    for (size_t share = 0; share < SHARES; share++) {
        assert_int_equal(shares_ns[share], 3 * (share + 1));
    }
    made->sample_count = 1;
    assert_true(result_summarize(made, &error));
    assert_int_equal(shares_ns[SHARE_REST], 0);
    result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(sessions_add_up),
        cmocka_unit_test(whatever_the_accounts_say),
        cmocka_unit_test(which_rtt),
        cmocka_unit_test(tcp_counts),
        cmocka_unit_test(warm_ups_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
