/*
 * calibration_bulk.h - one direction's bulk transfer of the calibration.
 *
 * Both ends of the connection are in this process and in one thread: what has been sent and not yet
 * received is known, and is kept below a window, so that the probe fills the link and overflows no
 * queue, whatever the congestion control does. The rate is taken between two arrivals, after the
 * start has settled.
 */
#ifndef AFPBENCH_NETLAB_CALIBRATION_BULK_H
#define AFPBENCH_NETLAB_CALIBRATION_BULK_H

#include "base/error.h"
#include "base/interrupt.h"
#include "netlab/shape.h"

struct calibration_bulk {
    int sender, receiver; /* non-blocking */
    struct interrupt interrupt;
    uint64_t rtt_ns;
    uint64_t window_bytes;
};

/* How much may be on its way: what fills the delay and the shape's queue for a moment, and always
 * fits into its queue. Pure. */
uint64_t calibration_window_bytes(const struct link_shape *shape, uint32_t segment_bytes);

/* Nothing is on its way when it returns true. */
/* How long a transfer is measured at the least, once it has settled. */
uint64_t calibration_bulk_least_ns(uint64_t rtt_ns);

MUST_CHECK bool calibration_bulk_run(const struct calibration_bulk *bulk,
                                     double *goodput_bits_per_s, struct error *error);

#endif
