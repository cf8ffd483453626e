#include "netlab/link_model.h"

#define PS_PER_NS UINT64_C(1000)
#define PS_PER_S  UINT64_C(1000000000000)

__extension__ typedef unsigned __int128 wide;

void link_direction_start(struct link_direction *direction, const struct link_shape *shape,
                          uint64_t seed)
{
    *direction = (struct link_direction){.shape = *shape, .random = {seed}};
}

static uint64_t line_bytes(const struct link_frame *frame)
{
    return frame->bytes + (uint64_t)frame->packets * LINK_LINE_OVERHEAD;
}

static uint64_t serialisation_ps(const struct link_shape *shape, uint64_t bytes)
{
    if (shape->rate_bits_per_s == 0) {
        return 0;
    }
    wide rate = shape->rate_bits_per_s;
    return (uint64_t)(((wide)bytes * 8 * PS_PER_S + rate - 1) / rate);
}

/* The bytes that have not left yet. */
static uint64_t waiting_bytes(const struct link_direction *direction, uint64_t now_ps)
{
    if (direction->free_ps <= now_ps) {
        return 0;
    }
    wide waiting_ps = direction->free_ps - now_ps;
    return (uint64_t)(waiting_ps * direction->shape.rate_bits_per_s / 8 / PS_PER_S);
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
    uint64_t now_ps = now_ns * PS_PER_NS;
    uint64_t bytes = line_bytes(frame);
    direction->offered += frame->packets;
    if (shape->queue_bytes > 0 && waiting_bytes(direction, now_ps) + bytes > shape->queue_bytes) {
        direction->dropped += frame->packets;
        return LINK_DROPPED;
    }
    uint64_t start_ps = direction->free_ps > now_ps ? direction->free_ps : now_ps;
    direction->free_ps = start_ps + serialisation_ps(shape, bytes);
    if (shape->loss_ppm > 0 && stats_random_below(&direction->random, 1000000) < shape->loss_ppm) {
        direction->lost += frame->packets; /* it took its time on the line all the same */
        return LINK_LOST;
    }
    uint64_t arrival = (direction->free_ps + PS_PER_NS - 1) / PS_PER_NS + delay_ns(direction);
    if (arrival < direction->last_arrival_ns) {
        arrival = direction->last_arrival_ns;
    }
    direction->last_arrival_ns = arrival;
    direction->delivered += frame->packets;
    *arrival_ns = arrival;
    return LINK_DELIVERED;
}
