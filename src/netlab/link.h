/*
 * link.h - the wire between client and server, whatever makes it: the back ends' table and what the
 * harness asks of them.
 *
 * A back end shapes and counts what crosses between the two ends of a lab (lab.h). link_up() proves
 * by doing that the machine can; an error names the step, the reason and the remedy. link_counts()
 * may be called from any thread at any time; the counts are consistent in themselves.
 *
 * To add a back end: its file link_<name>.c with a `struct link_backend`, and a row in link.c.
 */
#ifndef AFPBENCH_NETLAB_LINK_H
#define AFPBENCH_NETLAB_LINK_H

#include "netlab/packet.h"
#include "stats/histogram.h"

struct lab;

/* What the emulator shall do wrong, for tests that want it caught (CONTRIBUTING.md). */
struct link_fault {
    bool no_delay;
    bool no_lateness; /* tells of none: for tests of other things on a busy machine */
    /* It stands still at the first frame after its lateness was taken so many times; 0: never. */
    uint64_t stall_at;
    bool stall_again; /* and after each later time */
    uint64_t stall_ns;
};

struct link_config {
    struct link_shape shapes[LINK_WAYS];
    uint32_t mtu;
    uint64_t seed; /* of jitter and loss */
    struct link_fault fault;
};

/* Since the link is up. */
struct link_counts {
    struct packet_counts ways[LINK_WAYS];
    uint64_t lost[LINK_WAYS];    /* packets that LOSS took */
    uint64_t dropped[LINK_WAYS]; /* packets that found no room: nobody asked for that. Where the
                                    kernel had none, super-packets count as one */
    uint64_t last_packet_ns;     /* monotonic; 0: none yet */
    bool idle;                   /* nothing is on its way */
};

struct link {
    const struct link_backend *backend;
    struct link_config config;
    void *state; /* the back end's */
};

struct link_backend {
    const char *name;    /* of LINK=, and in every label */
    const char *purpose; /* one line for --help */
    bool automatic;      /* LINK=auto tries it, in the table's order */
    MUST_CHECK bool (*up)(struct link *link, struct lab *lab, struct error *error);
    void (*counts)(struct link *link, struct link_counts *counts);
    /* How late packets were sent, time sent − time due; NULL where the back end cannot tell. */
    void (*lateness)(struct link *link, struct histogram *lateness);
    /* The most of it since it was last taken, or since the link is up; NULL with the one above. */
    uint64_t (*take_lateness)(struct link *link);
    /* As text for the record, what else shapes and counts the packets: "super-packets cross
     * whole, counted by their segments". Lives as long as the link is up. */
    const char *(*conditions)(struct link *link);
    void (*down)(struct link *link);
};

extern const struct link_backend link_emulator; /* user space, between two veth pairs */
extern const struct link_backend link_none;     /* one veth pair, as fast as it goes */

extern const struct link_backend *const link_backends[];
extern const size_t link_backend_count;

const struct link_backend *link_backend_by_name(const char *name);

/* Brings the lab's two ends together, before lab_connect(). `backend` NULL: the first automatic one
 * that comes up. */
MUST_CHECK bool link_up(struct link *link, const struct link_backend *backend,
                        const struct link_config *config, struct lab *lab, struct error *error);
void link_down(struct link *link);

void link_counts(struct link *link, struct link_counts *counts);

/* How late a packet was at the most since the last call, what has arrived by now included; 0 where
 * the back end cannot tell. One caller. */
uint64_t link_take_lateness(struct link *link);

/* "no-delay", "stall=TIME@N" (once) or "stall=TIME@N+". ERROR_USAGE for anything else. */
MUST_CHECK bool link_parse_fault(const char *text, const char *key, struct link_fault *fault,
                                 struct error *error);

/* Returns when nothing has crossed for `still_ns` and nothing is on its way, with the counts of
 * that moment. ERROR_TIMEOUT after `limit_ns`; ERROR_INTERRUPTED when `interrupt_fd` (−1: none)
 * becomes readable. */
MUST_CHECK bool link_await_still(struct link *link, uint64_t still_ns, uint64_t limit_ns,
                                 int interrupt_fd, struct link_counts *counts, struct error *error);

/* How long still is still: twice the round trip, at least 250 ms (delayed acknowledgements). */
uint64_t link_still_ns(const struct link_config *config);

#endif
