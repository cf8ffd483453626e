/* netlab/link_model: properties of any shape and any traffic, with a fake clock, and a few figures
 * by hand. A full frame of 1514 bytes takes 1538 on the line, 12304 bits. */
#include "unit.h"

#include "base/clock.h"
#include "netlab/link_model.h"

#include <math.h>

#define GBIT  UINT64_C(1000000000)
#define SEEDS 300
#define MOST  400

static const struct link_frame full = {1, 1514};

static uint64_t bits_of(struct link_frame frame)
{
    return (frame.bytes + 24 * (uint64_t)frame.packets) * 8;
}

/* ---- By hand ---- */

static void check_offer(struct link_direction *direction, uint64_t now_ns, uint64_t expected_ns)
{
    uint64_t arrival = 0;
    assert_int_equal(link_offer(direction, now_ns, &full, &arrival), LINK_DELIVERED);
    check(arrival == expected_ns, "offered at %llu: %llu, not %llu", (unsigned long long)now_ns,
          (unsigned long long)arrival, (unsigned long long)expected_ns);
}

static void figures_by_hand(void **state)
{
    struct link_shape shape = {.rate_bits_per_s = GBIT, .delay_ns = 2 * NS_PER_MS};
    struct link_direction direction;
    link_direction_start(&direction, &shape, 1);
    check_offer(&direction, 1000, 2013304);   /* alone: 12,304 ns and the delay */
    check_offer(&direction, 1000, 2025608);   /* behind the first */
    check_offer(&direction, 20000, 2037912);  /* still behind */
    check_offer(&direction, 100000, 2112304); /* the line was free */

    shape.rate_bits_per_s = 10 * GBIT; /* 1230.4 ns each: rounded up, but not added up */
    shape.delay_ns = 0;
    link_direction_start(&direction, &shape, 1);
    check_offer(&direction, 0, 1231);
    check_offer(&direction, 0, 2461);
    check_offer(&direction, 0, 3692);
    check_offer(&direction, 0, 4922);
    check_offer(&direction, 0, 6152);

    shape = (struct link_shape){.delay_ns = 500};
    link_direction_start(&direction, &shape, 1);
    check_offer(&direction, 7, 507); /* no rate: no time on the line */
    check_offer(&direction, 7, 507);
}

/* At 3 Gbit/s a frame takes 4101 1/3 ns. A million of them neither drift nor wrap, however long the
 * machine has been up. */
static void nothing_drifts(void **state)
{
    static const uint64_t starts[] = {0, 1, UINT64_C(1) << 55, UINT64_C(1) << 62};
    const struct link_shape shape = {.rate_bits_per_s = 3 * GBIT};
    for (size_t i = 0; i < COUNT(starts); i++) {
        struct link_direction direction;
        uint64_t arrival = 0;
        link_direction_start(&direction, &shape, 1);
        for (int frame = 0; frame < 1000000; frame++) {
            assert_int_equal(link_offer(&direction, starts[i], &full, &arrival), LINK_DELIVERED);
        }
        assert_int_equal(arrival - starts[i], UINT64_C(4101333334));
    }
}

/* A queue for exactly two full frames at 1 Gbit/s. */
static void queue_by_hand(void **state)
{
    const struct link_shape shape = {.rate_bits_per_s = GBIT, .queue_bytes = 3076};
    struct link_direction direction;
    uint64_t arrival;
    link_direction_start(&direction, &shape, 1);
    check_offer(&direction, 0, 12304);
    check_offer(&direction, 0, 24608);
    assert_int_equal(link_offer(&direction, 0, &full, &arrival), LINK_DROPPED);
    assert_int_equal(link_offer(&direction, 12303, &full, &arrival), LINK_DROPPED);
    check_offer(&direction, 12304, 36912); /* the first one has left */
    assert_int_equal(direction.dropped, 2);
    assert_int_equal(direction.delivered, 3);

    const struct link_frame larger = {3, 3 * 1514};
    link_direction_start(&direction, &shape, 1);
    assert_int_equal(link_offer(&direction, 0, &larger, &arrival), LINK_DROPPED);
    assert_int_equal(direction.dropped, 3);
}

/* ---- Traffic ---- */

static struct sent {
    uint64_t offered_ns, arrival_ns;
    struct link_frame frame;
    enum link_fate fate;
} sent[MOST];

/* Single packets and super-packets, in bursts and pauses, around what the link can carry. */
static struct link_frame draw_frame(struct stats_random *random)
{
    uint32_t packets = stats_random_below(random, 3) > 0 ? 1 : 1 + stats_random_below(random, 45);
    uint64_t last = 54 + stats_random_below(random, 1461);
    return (struct link_frame){packets, (packets - 1) * 1514U + last};
}

static void draw_traffic(struct stats_random *random, const struct link_shape *shape)
{
    uint64_t now = stats_random_next(random) >> 20;
    for (size_t i = 0; i < MOST; i++) {
        sent[i] = (struct sent){.offered_ns = now, .frame = draw_frame(random)};
        uint64_t rate = shape->rate_bits_per_s > 0 ? shape->rate_bits_per_s : GBIT;
        uint64_t pause = (uint64_t)((double)bits_of(sent[i].frame) * 1e9 / (double)rate);
        now +=
            stats_random_below(random, 4) == 0 ? 0 : pause * stats_random_below(random, 300) / 100;
    }
}

static struct link_shape draw_shape(struct stats_random *random)
{
    static const uint64_t rates[] = {0, 64000, 1500001, 100000000, GBIT, 3 * GBIT, 10 * GBIT};
    static const uint64_t queues[] = {0, 1538, 20000, 100003, 1000000};
    return (struct link_shape){
        .rate_bits_per_s = rates[stats_random_below(random, COUNT(rates))],
        .delay_ns = stats_random_below(random, 3) == 0 ? 0 : stats_random_below(random, 5000000),
        .jitter_ns = stats_random_below(random, 2) == 0 ? 0 : stats_random_below(random, 6000000),
        .loss_ppm = stats_random_below(random, 2) == 0 ? 0 : stats_random_below(random, 1000001),
        .queue_bytes = queues[stats_random_below(random, COUNT(queues))],
    };
}

/* One whose arrivals tell when the line was free, and that drops nothing. */
static struct link_shape draw_plain_shape(struct stats_random *random)
{
    struct link_shape shape = draw_shape(random);
    shape.jitter_ns = 0;
    shape.loss_ppm = 0;
    shape.queue_bytes = 0;
    return shape;
}

static void run(struct link_direction *direction, const struct link_shape *shape, uint64_t seed)
{
    link_direction_start(direction, shape, seed);
    for (size_t i = 0; i < MOST; i++) {
        sent[i].fate =
            link_offer(direction, sent[i].offered_ns, &sent[i].frame, &sent[i].arrival_ns);
    }
}

/* Draws a shape and traffic from the seed and runs it. */
static struct link_shape run_seed(struct link_direction *direction, uint64_t seed)
{
    struct stats_random random = {seed};
    struct link_shape shape = draw_shape(&random);
    draw_traffic(&random, &shape);
    run(direction, &shape, seed);
    return shape;
}

/* ---- Properties ---- */

static void nothing_gets_lost_uncounted(void **state)
{
    uint64_t all[3] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct link_direction direction;
        struct link_shape shape = run_seed(&direction, seed);
        uint64_t offered = 0;
        uint64_t fates[3] = {0};
        for (size_t i = 0; i < MOST; i++) {
            offered += sent[i].frame.packets;
            fates[sent[i].fate] += sent[i].frame.packets;
            all[sent[i].fate]++;
        }
        assert_int_equal(direction.offered, offered);
        assert_int_equal(direction.delivered, fates[LINK_DELIVERED]);
        assert_int_equal(direction.lost, fates[LINK_LOST]);
        assert_int_equal(direction.dropped, fates[LINK_DROPPED]);
        assert_int_equal(offered, direction.delivered + direction.lost + direction.dropped);
        check(shape.loss_ppm > 0 || direction.lost == 0, "seed %d", (int)seed);
        bool bounded = shape.queue_bytes > 0 && shape.rate_bits_per_s > 0;
        check(bounded || direction.dropped == 0, "seed %d", (int)seed);
    }
    /* The traffic is such that each of the three happens, often. */
    for (size_t i = 0; i < COUNT(all); i++) {
        check(all[i] > 1000, "fate %zu: %d", i, (int)all[i]);
    }
}

static void order_and_delay(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct link_direction direction;
        struct link_shape shape = run_seed(&direction, seed);
        uint64_t jitter = shape.jitter_ns < shape.delay_ns ? shape.jitter_ns : shape.delay_ns;
        uint64_t last = 0;
        for (size_t i = 0; i < MOST; i++) {
            if (sent[i].fate != LINK_DELIVERED) {
                continue;
            }
            uint64_t least = sent[i].offered_ns + shape.delay_ns - jitter;
            if (shape.rate_bits_per_s > 0) {
                least += (uint64_t)((double)bits_of(sent[i].frame) * 1e9 /
                                    (double)shape.rate_bits_per_s);
            }
            check(sent[i].arrival_ns >= least, "seed %d frame %zu is early", (int)seed, i);
            check(sent[i].arrival_ns >= last, "seed %d frame %zu overtakes", (int)seed, i);
            last = sent[i].arrival_ns;
        }
    }
}

/* Of any window between two arrivals: what came after the first, up to the second, had time to pass
 * the line. Jitter shifts either end. */
static void rate_is_never_exceeded(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct link_direction direction;
        struct link_shape shape = run_seed(&direction, seed);
        if (shape.rate_bits_per_s == 0) {
            continue;
        }
        uint64_t jitter = shape.jitter_ns < shape.delay_ns ? shape.jitter_ns : shape.delay_ns;
        for (size_t i = 0; i < MOST; i++) {
            uint64_t bits = 0;
            for (size_t j = i + 1; sent[i].fate == LINK_DELIVERED && j < MOST; j++) {
                if (sent[j].fate != LINK_DELIVERED) {
                    continue;
                }
                bits += bits_of(sent[j].frame);
                double window = (double)(sent[j].arrival_ns - sent[i].arrival_ns + 2 * jitter + 1);
                check((double)bits <= window * (double)shape.rate_bits_per_s / 1e9,
                      "seed %d: %llu bits in %.0f ns", (int)seed, (unsigned long long)bits, window);
            }
        }
    }
}

/* What waits behind a frame that was let in is within the bound, and what was turned away would
 * have passed it. Without jitter the arrivals tell when the line is free. */
static void queue_is_bounded_and_used(void **state)
{
    size_t dropped = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stats_random random = {seed};
        struct link_shape shape = draw_plain_shape(&random);
        struct link_direction direction;
        shape.queue_bytes = 1538 + stats_random_below(&random, 1000000);
        shape.rate_bits_per_s += GBIT / 7;
        draw_traffic(&random, &shape);
        run(&direction, &shape, seed);
        double free_ns = 0;
        double slack = (double)shape.rate_bits_per_s / 8e9 + 1; /* a nanosecond and a byte */
        for (size_t i = 0; i < MOST; i++) {
            double now = (double)(sent[i].offered_ns - sent[0].offered_ns);
            if (sent[i].fate == LINK_DELIVERED) {
                free_ns = (double)(sent[i].arrival_ns - shape.delay_ns - sent[0].offered_ns);
            }
            double wait_ns = free_ns > now ? free_ns - now : 0;
            double waiting = wait_ns * (double)shape.rate_bits_per_s / 8e9;
            if (sent[i].fate == LINK_DELIVERED) {
                check(waiting <= (double)shape.queue_bytes + slack, "seed %d: %.0f bytes wait",
                      (int)seed, waiting);
            } else {
                dropped++;
                check(waiting + (double)bits_of(sent[i].frame) / 8 >
                          (double)shape.queue_bytes - slack,
                      "seed %d: frame %zu had room", (int)seed, i);
            }
        }
    }
    check(dropped > 1000, "%zu dropped", dropped);
}

/* A link that is never left alone carries its rate, to the bit. */
static void line_is_never_idle_while_something_waits(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stats_random random = {seed};
        struct link_shape shape = draw_plain_shape(&random);
        struct link_direction direction;
        shape.rate_bits_per_s += 1000;
        draw_traffic(&random, &shape);
        uint64_t start = sent[0].offered_ns;
        unsigned __int128 bits = 0;
        for (size_t i = 0; i < MOST; i++) {
            sent[i].offered_ns = start;
            bits += bits_of(sent[i].frame);
        }
        run(&direction, &shape, seed);
        uint64_t needed_ns =
            (uint64_t)((bits * NS_PER_S + shape.rate_bits_per_s - 1) / shape.rate_bits_per_s);
        assert_int_equal(sent[MOST - 1].arrival_ns, start + needed_ns + shape.delay_ns);
    }
}

static void super_packet_is_its_packets(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct stats_random random = {seed};
        struct link_shape shape = draw_plain_shape(&random);
        struct link_direction whole;
        struct link_direction single;
        draw_traffic(&random, &shape);
        run(&whole, &shape, seed);
        link_direction_start(&single, &shape, seed);
        for (size_t i = 0; i < MOST; i++) {
            uint64_t arrival = 0;
            uint32_t packets = sent[i].frame.packets;
            for (uint32_t left = packets; left > 0; left--) {
                uint64_t bytes = left > 1 ? 1514 : sent[i].frame.bytes - (packets - 1) * 1514U;
                struct link_frame frame = {1, bytes};
                assert_int_equal(link_offer(&single, sent[i].offered_ns, &frame, &arrival),
                                 LINK_DELIVERED);
            }
            check(arrival == sent[i].arrival_ns, "seed %d frame %zu", (int)seed, i);
        }
        assert_int_equal(whole.delivered, single.delivered);
    }
}

static void same_seed_same_fate(void **state)
{
    static struct sent first[MOST];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct link_direction direction;
        run_seed(&direction, seed);
        memcpy(first, sent, sizeof first);
        run_seed(&direction, seed);
        assert_memory_equal(first, sent, sizeof first);
    }
}

/* A time before the last one told counts as that one. */
static void time_does_not_run_backwards(void **state)
{
    const struct link_shape shape = {.rate_bits_per_s = GBIT, .delay_ns = 10};
    struct link_direction direction;
    link_direction_start(&direction, &shape, 1);
    check_offer(&direction, 100000, 112314);
    check_offer(&direction, 50000, 124618);
    check_offer(&direction, 200000, 212314);
    check_offer(&direction, 0, 224618);
}

/* ---- Chance ---- */

#define DRAWS 100000

/* Within five standard deviations of a binomial distribution, and exact at both ends. */
static void share_of_losses(void **state)
{
    static const uint32_t losses_ppm[] = {0, 1, 100, 10000, 500000, 999999, 1000000};
    for (size_t i = 0; i < COUNT(losses_ppm); i++) {
        const struct link_shape shape = {.rate_bits_per_s = GBIT, .loss_ppm = losses_ppm[i]};
        double p = losses_ppm[i] / 1e6;
        double bound = 5 * sqrt(DRAWS * p * (1 - p)) + (p > 0 && p < 1 ? 1 : 0);
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct link_direction direction;
            uint64_t arrival;
            link_direction_start(&direction, &shape, seed);
            for (int draw = 0; draw < DRAWS; draw++) {
                link_offer(&direction, 0, &full, &arrival);
            }
            double off = fabs((double)direction.lost - DRAWS * p);
            check(off <= bound, "%u ppm, seed %d: %d lost", losses_ppm[i], (int)seed,
                  (int)direction.lost);
        }
    }
}

/* A lost frame took its time on the line. */
static void loss_does_not_make_the_link_faster(void **state)
{
    const struct link_shape lossy = {.rate_bits_per_s = GBIT, .loss_ppm = 500000};
    struct link_direction direction;
    uint64_t arrival;
    int delivered = 0;
    link_direction_start(&direction, &lossy, 7);
    for (uint64_t frame = 1; frame <= 1000; frame++) {
        if (link_offer(&direction, 0, &full, &arrival) == LINK_DELIVERED) {
            assert_int_equal(arrival, frame * 12304);
            delivered++;
        }
    }
    check(delivered > 400 && delivered < 600, "%d delivered", delivered);
}

/* Frames so far apart that none is held up: even over delay ± jitter, both ends come near. */
static void jitter_is_even_and_bounded(void **state)
{
    static const struct {
        uint64_t delay_ns, jitter_ns, least, most;
    } rows[] = {
        {2000000, 500000, 1500000, 2500000},
        {1000000, 1000000, 0, 2000000},
        {1000000, 5000000, 0, 2000000}, /* never before it was sent */
        {1000000, 0, 1000000, 1000000},
        {0, 1000000, 0, 0},
        {100, 1, 99, 101},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct link_shape shape = {.delay_ns = rows[i].delay_ns,
                                         .jitter_ns = rows[i].jitter_ns};
        struct link_direction direction;
        uint64_t least = UINT64_MAX;
        uint64_t most = 0;
        double sum = 0;
        link_direction_start(&direction, &shape, i);
        for (uint64_t draw = 0; draw < DRAWS; draw++) {
            uint64_t now = draw * 20 * NS_PER_MS;
            uint64_t arrival = 0;
            link_offer(&direction, now, &full, &arrival);
            uint64_t delay = arrival - now;
            least = delay < least ? delay : least;
            most = delay > most ? delay : most;
            sum += (double)delay;
        }
        double width = (double)(rows[i].most - rows[i].least);
        assert_true(least >= rows[i].least && most <= rows[i].most);
        check((double)least <= (double)rows[i].least + width / 1000, "row %zu: least %d", i,
              (int)least);
        check((double)most >= (double)rows[i].most - width / 1000, "row %zu: most %d", i,
              (int)most);
        /* The mean of an even distribution: its standard deviation is width ÷ √12. */
        double bound = 5 * width / sqrt(12.0 * DRAWS) + 0.01;
        check(fabs(sum / DRAWS - (double)rows[i].delay_ns) <= bound, "row %zu: mean %f", i,
              sum / DRAWS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_by_hand),
        cmocka_unit_test(nothing_drifts),
        cmocka_unit_test(queue_by_hand),
        cmocka_unit_test(nothing_gets_lost_uncounted),
        cmocka_unit_test(order_and_delay),
        cmocka_unit_test(rate_is_never_exceeded),
        cmocka_unit_test(queue_is_bounded_and_used),
        cmocka_unit_test(line_is_never_idle_while_something_waits),
        cmocka_unit_test(super_packet_is_its_packets),
        cmocka_unit_test(same_seed_same_fate),
        cmocka_unit_test(time_does_not_run_backwards),
        cmocka_unit_test(share_of_losses),
        cmocka_unit_test(loss_does_not_make_the_link_faster),
        cmocka_unit_test(jitter_is_even_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
