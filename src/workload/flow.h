/*
 * flow.h - moving a file through a target: windows, batches and the copy loop, in one place.
 *
 * FLOW_WINDOW (-r n): the next request leaves as soon as one is answered; at most n outstanding.
 * FLOW_BATCH (-R n): n requests leave, all n are awaited, then the next n.
 * In a copy each chunk is read and then written; a window holds n chunks, a batch is n reads and
 * then their n writes. Replies may come in any order. A file with fewer chunks than n uses fewer.
 *
 * A read that was answered in part is continued by a request for the rest, counted as one, before
 * anything else is done with its chunk.
 *
 * flow_run() allocates and opens nothing and reads no clock: the caller times it. After a failure
 * operations may still be outstanding: let the target's clean_up settle them before flow_release().
 * One thread per flow.
 */
#ifndef AFPBENCH_WORKLOAD_FLOW_H
#define AFPBENCH_WORKLOAD_FLOW_H

#include "result/result.h"
#include "target/target.h"
#include "workload/payload.h"

enum flow_policy { FLOW_WINDOW, FLOW_BATCH };

enum flow_direction { FLOW_READ, FLOW_WRITE, FLOW_COPY };

enum flow_sink {
    SINK_COPY,    /* what is read is copied to memory, as a real client does */
    SINK_DISCARD, /* the kernel drops it */
    SINK_VERIFY,  /* every byte is compared with the payload */
};

/* "copy", "discard", "verify" */
extern const char *const flow_sink_names[];

/* All buffers of a flow together, so that a deep window with large chunks fails early. */
#define FLOW_MEMORY_LIMIT (UINT64_C(256) << 20)

struct flow_plan {
    struct target *target;
    const struct payload *payload; /* what is written, and what SINK_VERIFY expects */
    enum flow_direction direction;
    enum flow_policy policy;
    enum flow_sink sink; /* FLOW_READ only */
    bool zeros;          /* SINK_VERIFY: the file is sparse */
    uint32_t depth;
    uint32_t chunk_bytes;
    uint64_t size_bytes; /* of the file */
};

struct flow_lane;

struct flow {
    struct flow_plan plan;
    uint32_t
        lane_count; /* requests in flight: the depth, or the number of chunks if that is less */
    struct flow_lane *lanes;
    void *buffer_block;  /* as allocated; NULL where nothing is kept */
    uint8_t *buffers;    /* whole pages for each lane */
    size_t stride_bytes; /* from one lane's to the next one's */
};

/* Allocates and touches what the plan needs and reserves the target's depth. ERROR_LIMIT names the
 * memory limit. The plan is copied. flow_release() is due in any case. */
MUST_CHECK bool flow_prepare(struct flow *flow, const struct flow_plan *plan, struct error *error);
void flow_release(struct flow *flow);

/* Moves the file from end to end. FLOW_READ has no destination, FLOW_WRITE no source. */
MUST_CHECK bool flow_run(struct flow *flow, struct target_file *source,
                         struct target_file *destination, struct sample_counts *counts,
                         struct error *error);

#endif
