/*
 * calibration.h - what the link really is, measured before anything is labelled with its shape.
 *
 * The probes are plain TCP connections across the lab, not AFP: the round trip is the median of 200
 * single-byte exchanges, the rate the payload of one bulk transfer in each direction after it has
 * settled. calibration_judge() is a pure function.
 */
#ifndef AFPBENCH_NETLAB_CALIBRATION_H
#define AFPBENCH_NETLAB_CALIBRATION_H

#include "netlab/lab.h"
#include "netlab/link.h"

#define CALIBRATION_EXCHANGES 200

/* Over a long link fewer do: as many as fit into that time, and at least that many. */
#define CALIBRATION_EXCHANGES_LEAST 20
#define CALIBRATION_EXCHANGES_NS    UINT64_C(20000000000)

/* How far off the link may be. */
#define CALIBRATION_RTT_TOLERANCE_NS 300000.0 /* or a tenth, if that is more */
#define CALIBRATION_RATE_TOLERANCE   0.01

struct calibration {
    uint32_t exchanges;
    uint64_t rtt_ns; /* median */
    uint64_t rtt_minimum_ns, rtt_p99_ns;
    double goodput_bits_per_s[LINK_WAYS];
    uint32_t segment_bytes; /* of the probe's connection */
    uint64_t dropped;       /* packets during the probes */
};

/* So often the round trip and each rate are asked for: a busy moment of the machine is not the
 * link's fault. */
#define CALIBRATION_TRIES 3

/* A question that is asked until the answer is what the link should give. */
struct calibration_question {
    void *context;
    MUST_CHECK bool (*ask)(void *context, struct calibration *answer, struct error *error);
    /* How far off the answer is, in tolerances: up to 1 it is as it should be. */
    double (*off)(const void *context, const struct calibration *answer);
};

/* Asks at most CALIBRATION_TRIES times; the answer that is the least off stays. False with the
 * error of ask(). */
MUST_CHECK bool calibration_ask(struct calibration *calibration,
                                const struct calibration_question *question, struct error *error);

/* Takes 200 round trips and, in each direction, a second or ten round trips, each as often as
 * calibration_ask() says. */
MUST_CHECK bool calibration_measure(struct calibration *calibration, struct lab *lab,
                                    struct link *link, int interrupt_fd, struct error *error);

enum calibration_verdict {
    CALIBRATION_TRUE,     /* the link is what was asked for */
    CALIBRATION_TOO_SLOW, /* the machine does not keep the rate: said in every label */
    CALIBRATION_FALSE, /* wrong delay, or a rate above the one asked for: nothing may be labelled so
                        */
};

/* The delay may be off by 10 % or 0.3 ms, the larger; the rate is kept within 1 %, and what jitter
 * does to the time of a transfer. A round trip is the two delays and the time that the probe's own
 * bits take. Fills `error` with the figures unless
 * the verdict is true. Jitter widens the delay's bound by half of it (the median of 200 stays
 * within that); with LOSS the rate is not judged from below. */
enum calibration_verdict calibration_judge(const struct calibration *calibration,
                                           const struct link_config *config, struct error *error);

#endif
