#include "netlab/link_model.h"

#include "base/clock.h"

typedef unsigned __int128 wide;

void link_direction_start(struct link_direction *direction, const struct link_shape *shape,
                          uint64_t seed)
{
    *direction = (struct link_direction){.shape = *shape, .random = {seed}};
}

static uint64_t line_bytes(const struct link_frame *frame)
{
    return frame->bytes + (uint64_t)frame->packets * LINK_LINE_OVERHEAD;
}

static wide divide_up(wide dividend, wide divisor)
{
    return (dividend + divisor - 1) / divisor;
}

/* Lets what has left since the last time leave the backlog. */
static void advance(struct link_direction *direction, uint64_t now_ns)
{
    if (now_ns > direction->clock_ns) {
        wide left = (wide)(now_ns - direction->clock_ns) * direction->shape.rate_bits_per_s;
        direction->backlog -= left < direction->backlog ? left : direction->backlog;
        direction->clock_ns = now_ns;
    }
}

/* Without a rate all leaves at once, and nothing waits. */
static bool fits(const struct link_direction *direction, uint64_t bytes)
{
    const struct link_shape *shape = &direction->shape;
    wide waiting = divide_up(direction->backlog, (wide)NS_PER_S * 8);
    return shape->queue_bytes == 0 || shape->rate_bits_per_s == 0 ||
           waiting + bytes <= shape->queue_bytes;
}

/* Time until the backlog has left. */
static uint64_t wait_ns(const struct link_direction *direction)
{
    uint64_t rate = direction->shape.rate_bits_per_s;
    return rate == 0 ? 0 : (uint64_t)divide_up(direction->backlog, rate);
}

static uint64_t delay_ns(struct link_direction *direction)
{
    const struct link_shape *shape = &direction->shape;
    uint64_t jitter = shape->jitter_ns < shape->delay_ns ? shape->jitter_ns : shape->delay_ns;
    if (jitter == 0) {
        return shape->delay_ns;
    }
    return shape->delay_ns - jitter + stats_random_next(&direction->random) % (2 * jitter + 1);
}

enum link_fate link_offer(struct link_direction *direction, uint64_t now_ns,
                          const struct link_frame *frame, uint64_t *arrival_ns)
{
    const struct link_shape *shape = &direction->shape;
    uint64_t bytes = line_bytes(frame);
    direction->offered += frame->packets;
    advance(direction, now_ns);
    if (!fits(direction, bytes)) {
        direction->dropped += frame->packets;
        return LINK_DROPPED;
    }
    if (shape->rate_bits_per_s > 0) {
        direction->backlog += (wide)bytes * 8 * NS_PER_S;
    }
    if (shape->loss_ppm > 0 && stats_random_below(&direction->random, 1000000) < shape->loss_ppm) {
        direction->lost += frame->packets; /* it took its time on the line all the same */
        return LINK_LOST;
    }
    uint64_t arrival = direction->clock_ns + wait_ns(direction) + delay_ns(direction);
    if (arrival < direction->last_arrival_ns) {
        arrival = direction->last_arrival_ns; /* jitter does not reorder */
    }
    direction->last_arrival_ns = arrival;
    direction->delivered += frame->packets;
    *arrival_ns = arrival;
    return LINK_DELIVERED;
}
