/*
 * link_model.h - one direction of a link as a pure function: when does a frame that is offered now
 * arrive?
 *
 * A frame waits until those before it have left, takes its bits' time at the rate, then the delay;
 * a bounded queue drops what does not fit, and chance loses what it should. Frames never overtake
 * each other. The caller brings the time, so tests need no clock. Bits are counted as Ethernet
 * carries them: each packet with its header and LINK_LINE_OVERHEAD, also where the kernel hands
 * over many as one super-packet. One thread for each direction.
 */
#ifndef AFPBENCH_NETLAB_LINK_MODEL_H
#define AFPBENCH_NETLAB_LINK_MODEL_H

#include "netlab/shape.h"
#include "stats/random.h"

/* What is offered: a packet, or a super-packet of several. */
struct link_frame {
    uint32_t packets; /* on the line */
    uint64_t bytes;   /* all of them with Ethernet headers, without LINK_LINE_OVERHEAD */
};

struct link_direction {
    struct link_shape shape;
    struct stats_random random;
    uint64_t clock_ns; /* the latest time told */
    /* What had not left then, in bits × 10⁹: exact at any rate, so nothing drifts. */
    unsigned __int128 backlog;
    uint64_t last_arrival_ns;
    /* In packets on the line: offered = delivered + lost + dropped. */
    uint64_t offered, delivered, lost, dropped;
};

enum link_fate { LINK_DELIVERED, LINK_LOST, LINK_DROPPED };

/* Seeded: the same frames at the same times have the same fate. */
void link_direction_start(struct link_direction *direction, const struct link_shape *shape,
                          uint64_t seed);

/* `arrival_ns` is set for a frame that is delivered: its last bit has left, and the delay has
 * passed; never before now + delay − jitter. Bits that are on their way out count as waiting in
 * the queue; a super-packet is delivered, lost or dropped whole. A time before the last one told
 * counts as that one. */
enum link_fate link_offer(struct link_direction *direction, uint64_t now_ns,
                          const struct link_frame *frame, uint64_t *arrival_ns);

#endif
