/* calibration_judge() at its boundaries, and how much the bulk probe keeps on its way. */
#include "unit.h"

#include "netlab/calibration.h"
#include "netlab/calibration_bulk.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

static struct link_config link_of(uint64_t rate, uint64_t delay_ns)
{
    struct link_shape shape = {.rate_bits_per_s = rate, .delay_ns = delay_ns};
    return (struct link_config){.shapes = {shape, shape}, .mtu = 1500};
}

static void judged(const struct link_config *config, uint64_t rtt_ns, double to_server,
                   double to_client, enum calibration_verdict wanted, const char *text)
{
    struct calibration found = {
        .rtt_ns = rtt_ns, .goodput_bits_per_s = {to_server, to_client}, .segment_bytes = 1448};
    struct error error = {.domain = ERROR_NONE};
    enum calibration_verdict verdict = calibration_judge(&found, config, &error);
    check(verdict == wanted, "verdict %d, not %d, for %llu ns, %f and %f", (int)verdict,
          (int)wanted, (unsigned long long)rtt_ns, to_server, to_client);
    if (wanted == CALIBRATION_TRUE) {
        check(error.domain == ERROR_NONE, "an error without a fault: %s", error.message);
    } else {
        check_error(&error, ERROR_LIMIT, text);
    }
}

/* Without a rate only the delays count: 0.3 ms off at 2 × 0.5 ms, a tenth at 2 × 20 ms. */
static void test_delay(void **state)
{
    static const struct {
        uint64_t delay_ns, rtt_ns;
        bool good;
    } rows[] = {
        {500 * US, 1000 * US, true},      {500 * US, 1300 * US, true},
        {500 * US, 1300 * US + 1, false}, {500 * US, 700 * US, true},
        {500 * US, 700 * US - 1, false},  {20 * MS, 44 * MS, true},
        {20 * MS, 44 * MS + 1, false},    {20 * MS, 36 * MS, true},
        {20 * MS, 36 * MS - 1, false},    {0, 300 * US, true},
        {0, 300 * US + 1, false},         {2 * MS, 4400 * US, true},
        {2 * MS, 4400 * US + 1, false},   {2 * MS, 20 * US, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct link_config config = link_of(0, rows[i].delay_ns);
        judged(&config, rows[i].rtt_ns, 1e12, 1e12,
               rows[i].good ? CALIBRATION_TRUE : CALIBRATION_FALSE, "round trip");
    }
}

/* One byte of data with its headers is 91 bytes on the line, 0.728 ms each way at 1 Mbit/s: the
 * round trip of a link of 2 × 2 ms is 5.456 ms there, with a tenth either way. */
static void test_slow_line(void **state)
{
    struct link_config config = link_of(1000000, 2 * MS);
    double payload = 1e6 * 1448 / 1538;
    judged(&config, 5456 * US, payload, payload, CALIBRATION_TRUE, "");
    judged(&config, 6001 * US, payload, payload, CALIBRATION_TRUE, "");
    judged(&config, 6002 * US, payload, payload, CALIBRATION_FALSE, "round trip is 6.002 ms");
    judged(&config, 4000 * US, payload, payload, CALIBRATION_FALSE, "instead of 5.456 ms");
}

/* 1 Gbit/s at MTU 1500 carries 1448 / 1538 of it: 941,482,444 bit/s; 1 % is 9,414,824. */
static void test_rate(void **state)
{
    struct link_config config = link_of(1000000000, 2 * MS);
    judged(&config, 4 * MS, 941482444, 941482444, CALIBRATION_TRUE, "");
    judged(&config, 4 * MS, 932067621, 941482444, CALIBRATION_TRUE, "");
    judged(&config, 4 * MS, 932067619, 941482444, CALIBRATION_TOO_SLOW, "to the server");
    judged(&config, 4 * MS, 941482444, 932067619, CALIBRATION_TOO_SLOW, "to the client");
    judged(&config, 4 * MS, 941482444, 950897268, CALIBRATION_TRUE, "");
    judged(&config, 4 * MS, 941482444, 950897270, CALIBRATION_FALSE, "to the client");
    /* a rate that was not kept is the worse fault in whichever direction */
    judged(&config, 4 * MS, 950897270, 1, CALIBRATION_FALSE, "to the server");
    judged(&config, 4 * MS, 1, 950897270, CALIBRATION_FALSE, "to the client");
    /* and a wrong delay before any rate */
    judged(&config, 5 * MS, 1, 1, CALIBRATION_FALSE, "round trip");
}

static void test_loss_and_jitter(void **state)
{
    struct link_config lossy = link_of(1000000000, 2 * MS);
    lossy.shapes[LINK_TO_CLIENT].loss_ppm = 1;
    judged(&lossy, 4 * MS, 941482444, 1, CALIBRATION_TRUE, "");
    judged(&lossy, 4 * MS, 1, 941482444, CALIBRATION_TOO_SLOW, "to the server");
    judged(&lossy, 4 * MS, 941482444, 2e9, CALIBRATION_FALSE, "to the client");

    struct link_config unsteady = link_of(0, 10 * MS);
    unsteady.shapes[LINK_TO_SERVER].jitter_ns = 4 * MS;
    unsteady.shapes[LINK_TO_CLIENT].jitter_ns = 4 * MS;
    judged(&unsteady, 24 * MS, 0, 0, CALIBRATION_TRUE, "");
    judged(&unsteady, 24 * MS + 1, 0, 0, CALIBRATION_FALSE, "round trip");
    judged(&unsteady, 16 * MS - 1, 0, 0, CALIBRATION_FALSE, "round trip");

    /* Two arrivals of half a second's transfer, 5 ms off each: 2 % beside the 1 %. */
    struct link_config jittery = link_of(1000000000, 10 * MS);
    jittery.shapes[LINK_TO_CLIENT].jitter_ns = 5 * MS;
    judged(&jittery, 20 * MS, 941482444, 969726918, CALIBRATION_TRUE, "");
    judged(&jittery, 20 * MS, 941482444, 969726919, CALIBRATION_FALSE, "to the client");
    judged(&jittery, 20 * MS, 941482444, 913237972, CALIBRATION_TRUE, "");
    judged(&jittery, 20 * MS, 941482444, 913237971, CALIBRATION_TOO_SLOW, "to the client");
    judged(&jittery, 20 * MS, 950897270, 941482444, CALIBRATION_FALSE, "to the server");
}

/* 1 Gbit/s: 250,000 bytes fill 2 ms, 1,250,000 the hundredth of a second that may wait, and 32
 * segments of 1448 are 46,336. A queue takes no more than 8 tenths of itself. */
static void test_window(void **state)
{
    struct link_shape shape = {.rate_bits_per_s = 1000000000, .delay_ns = 2 * MS};
    assert_int_equal(calibration_window_bytes(&shape, 1448), 1546336);
    shape.queue_bytes = 10000000;
    assert_int_equal(calibration_window_bytes(&shape, 1448), 1546336);
    shape.queue_bytes = 1000000;
    assert_int_equal(calibration_window_bytes(&shape, 1448), 800000);
    shape.rate_bits_per_s = 0;
    assert_true(calibration_window_bytes(&shape, 1448) > 0);
}

/* ---- Asking again ---- */

/* Answers in turn; the last one stays. */
struct answers {
    const uint64_t *rtts_ns;
    size_t count, asked, fails_at; /* from 1; 0: never */
};

static bool ask(void *context, struct calibration *answer, struct error *error)
{
    struct answers *answers = context;
    answer->rtt_ns = answers->rtts_ns[answers->asked++];
    return answers->asked != answers->fails_at || error_set(error, ERROR_CLOSED, 0, "gone");
}

/* 4 ms are wanted, 0.4 ms allowed. */
static double off(const void *context, const struct calibration *answer)
{
    return (double)(answer->rtt_ns > 4 * MS ? answer->rtt_ns - 4 * MS : 4 * MS - answer->rtt_ns) /
           (double)(400 * US);
}

static void test_three_tries(void **state)
{
    (void)state;
    static const struct {
        uint64_t rtts_ns[4];
        size_t asked;
        uint64_t kept_ns;
    } rows[] = {
        {{4 * MS}, 1, 4 * MS},
        {{4400 * US}, 1, 4400 * US},
        {{5 * MS, 4100 * US}, 2, 4100 * US},
        {{5 * MS, 9 * MS, 4 * MS}, 3, 4 * MS},
        {{5 * MS, 9 * MS, 7 * MS, 4 * MS}, 3, 5 * MS}, /* a false link stays false */
        {{9 * MS, 4401 * US, 7 * MS, 4 * MS}, 3, 4401 * US},
        {{20 * US, 20 * US, 20 * US, 4 * MS}, 3, 20 * US},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct answers answers = {rows[i].rtts_ns, COUNT(rows[i].rtts_ns), 0, 0};
        const struct calibration_question question = {&answers, ask, off};
        struct calibration found = {.segment_bytes = 1448};
        struct error error;
        assert_true(calibration_ask(&found, &question, &error));
        check(answers.asked == rows[i].asked, "row %zu: asked %zu times", i, answers.asked);
        assert_int_equal(found.rtt_ns, rows[i].kept_ns);
        assert_int_equal(found.segment_bytes, 1448);
    }
}

static void test_no_answer(void **state)
{
    (void)state;
    static const uint64_t rtts_ns[] = {9 * MS, 9 * MS, 4 * MS};
    struct answers answers = {rtts_ns, COUNT(rtts_ns), 0, 2};
    const struct calibration_question question = {&answers, ask, off};
    struct calibration found = {0};
    struct error error;
    assert_false(calibration_ask(&found, &question, &error));
    check_error(&error, ERROR_CLOSED, "gone");
    assert_int_equal(answers.asked, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delay),     cmocka_unit_test(test_slow_line),
        cmocka_unit_test(test_rate),      cmocka_unit_test(test_loss_and_jitter),
        cmocka_unit_test(test_window),    cmocka_unit_test(test_three_tries),
        cmocka_unit_test(test_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
