/*
 * snapshot.h - all counters of a lab at one moment at which its link is still, and what
 * happened between two of them.
 */
#ifndef AFPBENCH_HARNESS_SNAPSHOT_H
#define AFPBENCH_HARNESS_SNAPSHOT_H

#include "harness/result.h"
#include "netlab/connection.h"

/* As many as afp_speedtest has sessions. */
#define HARNESS_CONNECTION_LIMIT 256

struct harness_snapshot {
    struct link_counts link;
    uint64_t segments_out[LAB_SIDES];
    struct connection connections[LAB_SIDES][HARNESS_CONNECTION_LIMIT];
    size_t connection_counts[LAB_SIDES];
};

/* Waits until the link is still, at most `limit_ns`, then reads everything. */
MUST_CHECK bool harness_snapshot_take(struct harness_snapshot *snapshot, struct lab *lab,
                                      struct link *link, uint16_t server_port, uint64_t limit_ns,
                                      int interrupt_fd, struct error *error);

/* after − before. Connections are told by the client's port; one that is new counts whole, one that
 * has gone not at all. Pure. */
void harness_snapshot_difference(const struct harness_snapshot *before,
                                 const struct harness_snapshot *after,
                                 struct harness_traffic *traffic);

#endif
