/*
 * lab.h - a small network in namespaces of its own: client, middle and server side.
 *
 * supervisor_run() (supervisor.h) has entered the user, mount, PID and network namespaces; the
 * network namespace that it made is the middle. lab_up() adds the two others. A side is a network
 * namespace only: a socket made on it stays there, a program started on it sees nothing else.
 * Nothing is named in the host; all is gone with the supervisor. Both ends: IPv6 off, permanent
 * neighbours, the same MTU, windows for rate × round trip, no metrics saved between connections,
 * slow start after idle off (the counters are read on an idle link; a pause for that must not slow
 * what follows), one congestion control; all read back into `struct lab_settings`.
 *
 * Used by one thread: the calling thread visits the side and comes back.
 */
#ifndef AFPBENCH_NETLAB_LAB_H
#define AFPBENCH_NETLAB_LAB_H

#include "base/child.h"
#include "netlab/shape.h"

#include <stddef.h>
#include <sys/types.h>

enum lab_side { LAB_CLIENT, LAB_SERVER, LAB_SIDES, LAB_MIDDLE = LAB_SIDES };

#define LAB_CLIENT_ADDRESS "10.99.0.2"
#define LAB_SERVER_ADDRESS "10.99.0.1"
#define LAB_INTERFACE      "link" /* the name of the link's end, on the client as on the server */

struct lab_config {
    uint32_t mtu;
    uint64_t rate_bits_per_s, delay_ns; /* for the windows */
    const char *congestion_control;     /* NULL: the kernel's */
};

/* As read back. */
struct lab_settings {
    uint32_t mtu;
    char congestion_control[16];
    uint64_t receive_window_bytes, send_window_bytes; /* the maxima */
    bool metrics_saved;
    bool slow_start_after_idle;
    char offloads[64]; /* "tso gso gro" that are on */
};

struct lab {
    int namespaces[LAB_SIDES + 1]; /* descriptors */
    uint32_t mtu;
    struct lab_settings settings[LAB_SIDES];
};

/* The two sides without a wire between them: that is the link's business. */
MUST_CHECK bool lab_up(struct lab *lab, const struct lab_config *config, struct error *error);
void lab_down(struct lab *lab);

/* What back ends need: a pair of virtual interfaces with one end on each given place, named there.
 * Those on the two sides are called LAB_INTERFACE. Both have the lab's MTU; an end in the middle is
 * up when this returns, without IPv6 and without an address. */
MUST_CHECK bool lab_make_pair(struct lab *lab, enum lab_side first_side, const char *first,
                              enum lab_side second_side, const char *second, struct error *error);
/* Removes a pair by one of its ends. */
MUST_CHECK bool lab_remove_pair(struct lab *lab, enum lab_side side, const char *name,
                                struct error *error);

/* After link_up(): gives LAB_INTERFACE of both sides its address, MTU, permanent neighbour and
 * route, brings it up and reads everything back. */
MUST_CHECK bool lab_connect(struct lab *lab, const struct lab_config *config, struct error *error);

/* Runs `visit` on a side, on the calling thread; comes back whatever it returns. */
MUST_CHECK bool lab_visit(struct lab *lab, enum lab_side side,
                          bool (*visit)(void *context, struct error *), void *context,
                          struct error *error);

/* Where a program runs: `prepare` and `context` of its struct child_program. It then sees nothing
 * but that side, and is looked for in PATH inside `root`. */
struct lab_place {
    const struct lab *lab;
    enum lab_side side;
    const char *root; /* chroot there; NULL: none */
};
const char *lab_enter(const void *place);

/* OutSegs of a side's network namespace. */
MUST_CHECK bool lab_segments_out(struct lab *lab, enum lab_side side, uint64_t *segments,
                                 struct error *error);

#endif
