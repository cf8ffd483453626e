/*
 * perf_snapshot.h - all counters of a lab at one moment at which its link is still, and what
 * happened between two of them.
 */
#ifndef AFPBENCH_NETLAB_PERF_SNAPSHOT_H
#define AFPBENCH_NETLAB_PERF_SNAPSHOT_H

#include "netlab/connection.h"
#include "netlab/perf_result.h"

/* As many as afp_speedtest has sessions. */
#define PERF_CONNECTION_LIMIT 256

struct perf_snapshot {
    struct link_counts link;
    uint64_t segments_out[LAB_SIDES];
    struct connection connections[LAB_SIDES][PERF_CONNECTION_LIMIT];
    size_t connection_counts[LAB_SIDES];
};

/* Waits until the link is still, at most `limit_ns`, then reads everything. */
bool perf_snapshot_take(struct perf_snapshot *snapshot, struct lab *lab, struct link *link,
                        uint16_t server_port, uint64_t limit_ns, int interrupt_fd,
                        struct error *error);

/* after − before. Connections are told by the client's port; one that is new counts whole, one that
 * has gone not at all. Pure. */
void perf_snapshot_difference(const struct perf_snapshot *before, const struct perf_snapshot *after,
                              struct perf_traffic *traffic);

#endif
