/*
 * shape.h - the shape of a link as people type it and as its two directions keep it.
 *
 * Rates and times are read as tc(8) reads them. Pure functions; errors are ERROR_USAGE and name the
 * key and what it takes.
 */
#ifndef AFPBENCH_NETLAB_SHAPE_H
#define AFPBENCH_NETLAB_SHAPE_H

#include "base/error.h"

#include <stdint.h>

/* The two directions: "tx" of every output is the first, "rx" the second. */
enum link_way { LINK_TO_SERVER, LINK_TO_CLIENT, LINK_WAYS };

/* What a frame takes on an Ethernet line beyond its 14-byte header: preamble 8, checksum 4, gap 12.
 */
#define LINK_LINE_OVERHEAD 24
#define LINK_HEADER        14

/* One direction. */
struct link_shape {
    uint64_t rate_bits_per_s; /* of the line; 0: no limit */
    uint64_t delay_ns;        /* one way */
    uint64_t jitter_ns;       /* the delay varies evenly by up to this, more and less; at most the
                                 delay */
    uint32_t loss_ppm;        /* of a million packets, how many are lost */
    uint64_t queue_bytes;     /* line bytes that may wait to leave; 0: no bound */
};

/* "10gbit", "100mbit", "1.5mbit", "12500kbps" (bytes per second), "1gibit"; a bare number is bit/s;
 * 1 kbit to 1 tbit. */
MUST_CHECK bool link_parse_rate(const char *text, const char *key, uint64_t *rate_bits_per_s,
                                struct error *error);

/* "2ms", "500us", "1s", "100ns"; a bare number is microseconds; 0 to 10 s. */
MUST_CHECK bool link_parse_time(const char *text, const char *key, uint64_t *time_ns,
                                struct error *error);

/* "1%", "0.05%", "0"; a bare number is in percent; 0 to 100 %, in steps of 0.0001 %. */
MUST_CHECK bool link_parse_loss(const char *text, const char *key, uint32_t *loss_ppm,
                                struct error *error);

/* A queue in which no packet is dropped that the link did not mean to lose, in line bytes: four
 * times what a round trip holds (the windows that lab.h gives both ends), twice `requests` whole
 * quanta for their headers, and LINK_QUEUE_MARGIN for windows that no setting bounds. */
#define LINK_QUEUE_MARGIN (UINT64_C(16) << 20)
uint64_t link_queue_bytes(uint64_t rate_bits_per_s, uint64_t delay_ns, uint64_t quantum_bytes,
                          uint32_t requests);

/* What the MTU holds beside data: IPv4, TCP and its timestamps. */
#define LINK_SEGMENT_HEADERS 52

/* The most payload bits per second that a rate carries in full segments: rate × mss ÷ (mtu + 38).
 * `segment_bytes` is what TCP said, which at an MTU beyond its first window is half of that window;
 * it fills packets later all the same. */
double link_capacity_bits_per_s(uint64_t rate_bits_per_s, uint32_t mtu, uint32_t segment_bytes);

#endif
