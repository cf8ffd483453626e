#include "workload/flow.h"

#include "base/limits.h"
#include "base/memory.h"
#include "base/units.h"

#include <inttypes.h>
#include <string.h>

/* Of pages, always: O_DIRECT wants it, and the kernel's copy out of a socket took a third of the
 * time when source and destination lay alike within their pages (doc/performance.md). */
#define BUFFER_ALIGNMENT ((size_t)4096)

/* What a buffer holds before a read: if it is still there afterwards, nothing was read. */
#define UNREAD_BYTE 0xA5

const char *const flow_sink_names[] = {
    [SINK_COPY] = "copy", [SINK_DISCARD] = "discard", [SINK_VERIFY] = "verify"};

/* One request in flight: its tag is its index, its buffer its share of flow->buffers. */
struct flow_lane {
    uint64_t offset; /* of the chunk that it moves */
    size_t have;     /* of the chunk, read already: by replies that were short */
    bool writing;    /* FLOW_COPY: the chunk was read and is being written */
};

/* ---- Preparation ---- */

static uint64_t chunk_count(const struct flow_plan *plan)
{
    return plan->size_bytes / plan->chunk_bytes + (plan->size_bytes % plan->chunk_bytes != 0);
}

static bool keeps_data(const struct flow_plan *plan)
{
    return plan->direction == FLOW_COPY ||
           (plan->direction == FLOW_READ && plan->sink != SINK_DISCARD);
}

/* At most so much for buffers: where a container's limit lies below, it would end the process. */
static uint64_t memory_limit_bytes(void)
{
    struct limits limits;
    limits_read(&limits);
    uint64_t allowed = limits.memory_left_bytes - limits.memory_left_bytes / 4;
    bool less = limits.memory_bytes != 0 && allowed < FLOW_MEMORY_LIMIT;
    return less ? allowed : FLOW_MEMORY_LIMIT;
}

static bool allocate_buffers(struct flow *flow, struct error *error)
{
    const struct flow_plan *plan = &flow->plan;
    uint64_t largest = plan->size_bytes < plan->chunk_bytes ? plan->size_bytes : plan->chunk_bytes;
    uint64_t limit_bytes = memory_limit_bytes();
    if (flow->lane_count * largest > limit_bytes) {
        char limit[SIZE_TEXT_LENGTH];
        return error_set(error, ERROR_LIMIT, 0,
                         "%" PRIu32 " requests of %" PRIu64
                         " bytes need more than the %s kept for buffers%s",
                         flow->lane_count, largest, size_text(limit_bytes, limit),
                         limit_bytes < FLOW_MEMORY_LIMIT
                             ? " (what the memory limit of this process's group leaves)"
                             : "") ||
               error_remedy(error, REMEDY_WINDOW);
    }
    /* Whole pages for each lane: a direct read of an odd tail may fill the rest of its block. */
    size_t pages = ((size_t)largest + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT;
    flow->stride_bytes = pages * BUFFER_ALIGNMENT;
    size_t bytes = flow->lane_count * flow->stride_bytes;
    flow->buffer_block = memory_allocate(bytes + BUFFER_ALIGNMENT, 1);
    if (flow->buffer_block == NULL) {
        return memory_error(error, "for the buffers of outstanding requests");
    }
    flow->buffers = memory_align(flow->buffer_block, BUFFER_ALIGNMENT);
    /* Touched now, so that no page fault is timed. */
    memset(flow->buffers, UNREAD_BYTE, bytes);
    return true;
}

bool flow_prepare(struct flow *flow, const struct flow_plan *plan, struct error *error)
{
    uint64_t chunks = chunk_count(plan);
    *flow = (struct flow){.plan = *plan};
    flow->lane_count = chunks < plan->depth ? (uint32_t)chunks : plan->depth;
    flow->lanes = memory_allocate(flow->lane_count, sizeof *flow->lanes);
    if (flow->lanes == NULL) {
        return memory_error(error, "for outstanding requests");
    }
    if (keeps_data(plan) && !allocate_buffers(flow, error)) {
        return false;
    }
    return plan->target->ops->reserve(plan->target, flow->lane_count, error);
}

void flow_release(struct flow *flow)
{
    memory_release(flow->lanes);
    memory_release(flow->buffer_block);
    flow->lanes = NULL;
    flow->buffer_block = flow->buffers = NULL;
}

/* ---- One pass over the file ---- */

struct pass {
    struct flow *flow;
    struct target_file *source;
    struct target_file *destination;
    struct sample_counts *counts;
    uint64_t next_offset; /* of the chunk that starts next */
    uint64_t requests;
    uint64_t batches; /* -R: times that all outstanding requests were awaited */
};

static size_t chunk_size(const struct flow_plan *plan, uint64_t offset)
{
    uint64_t left = plan->size_bytes - offset;
    return left < plan->chunk_bytes ? (size_t)left : plan->chunk_bytes;
}

static uint8_t *lane_buffer(const struct flow *flow, uint32_t index)
{
    return flow->buffers != NULL ? flow->buffers + index * flow->stride_bytes : NULL;
}

/* Sends a lane's write of its chunk, or its read of what it does not have yet. */
static bool submit(struct pass *pass, uint32_t index, enum target_kind kind, struct error *error)
{
    struct flow *flow = pass->flow;
    const struct flow_plan *plan = &flow->plan;
    struct flow_lane *lane = &flow->lanes[index];
    struct target_operation operation = {
        .kind = kind, .offset = lane->offset, .size = chunk_size(plan, lane->offset), .tag = index};
    uint8_t *buffer = lane_buffer(flow, index);
    if (kind == TARGET_WRITE) {
        lane->writing = true;
        operation.file = pass->destination;
        operation.write_buffer =
            plan->direction == FLOW_COPY ? buffer : payload_at(plan->payload, lane->offset);
    } else {
        operation.file = pass->source;
        operation.offset += lane->have;
        operation.size -= lane->have;
        operation.read_buffer = buffer != NULL ? buffer + lane->have : NULL;
        if (plan->direction == FLOW_READ && plan->sink == SINK_VERIFY) {
            memset(operation.read_buffer, UNREAD_BYTE, operation.size);
        }
    }
    pass->counts->requests[kind == TARGET_READ ? REQUEST_READ : REQUEST_WRITE]++;
    pass->counts->runts += operation.size < plan->chunk_bytes;
    pass->requests++;
    return plan->target->ops->submit(plan->target, &operation, error);
}

static bool more_chunks(const struct pass *pass)
{
    return pass->next_offset < pass->flow->plan.size_bytes;
}

/* Gives the next chunk to a lane and sends its first request. */
static bool start_chunk(struct pass *pass, uint32_t index, struct error *error)
{
    struct flow *flow = pass->flow;
    flow->lanes[index] = (struct flow_lane){.offset = pass->next_offset};
    pass->next_offset += chunk_size(&flow->plan, pass->next_offset);
    return submit(pass, index, flow->plan.direction == FLOW_WRITE ? TARGET_WRITE : TARGET_READ,
                  error);
}

/* Waits for any request that does all that its lane still wants. Some servers answer a read with
 * less than was asked for: the rest is a request of its own. */
static bool reap_whole(struct pass *pass, uint32_t *index, struct error *error)
{
    struct target *target = pass->flow->plan.target;
    struct target_completion completion;
    for (;;) {
        if (!target->ops->reap(target, &completion, error)) {
            return false;
        }
        *index = completion.tag;
        if (pass->counts->service != NULL) {
            histogram_add(pass->counts->service, completion.completed_ns - completion.submitted_ns);
        }
        if (completion.missing == 0) {
            return true;
        }
        struct flow_lane *lane = &pass->flow->lanes[*index];
        lane->have = chunk_size(&pass->flow->plan, lane->offset) - completion.missing;
        pass->counts->short_replies++;
        if (!submit(pass, *index, TARGET_READ, error)) {
            return false;
        }
    }
}

/* Waits for any lane, and looks at what it moved. */
static bool await_one(struct pass *pass, uint32_t *index, struct error *error)
{
    struct flow *flow = pass->flow;
    const struct flow_plan *plan = &flow->plan;
    if (!reap_whole(pass, index, error)) {
        return false;
    }
    const struct flow_lane *lane = &flow->lanes[*index];
    size_t size = chunk_size(plan, lane->offset);
    if (plan->direction != FLOW_COPY || lane->writing) {
        pass->counts->bytes += size;
    }
    return plan->direction != FLOW_READ || plan->sink != SINK_VERIFY ||
           payload_verify(plan->payload, plan->zeros, lane_buffer(flow, *index), lane->offset, size,
                          error);
}

/* -r: each answer makes room for the next request at once. */
static bool run_window(struct pass *pass, struct error *error)
{
    struct flow *flow = pass->flow;
    uint32_t busy = 0;
    while (busy < flow->lane_count) {
        if (!start_chunk(pass, busy++, error)) {
            return false;
        }
    }
    while (busy > 0) {
        uint32_t index;
        bool ok = await_one(pass, &index, error);
        if (ok && flow->plan.direction == FLOW_COPY && !flow->lanes[index].writing) {
            ok = submit(pass, index, TARGET_WRITE, error);
        } else if (ok && more_chunks(pass)) {
            ok = start_chunk(pass, index, error);
        } else {
            busy--;
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

static bool await_all(struct pass *pass, uint32_t count, struct error *error)
{
    pass->batches++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index;
        if (!await_one(pass, &index, error)) {
            return false;
        }
    }
    return true;
}

/* -R: all of a batch leave, then all of it is awaited. */
static bool run_batches(struct pass *pass, struct error *error)
{
    while (more_chunks(pass)) {
        uint32_t count = 0;
        while (count < pass->flow->lane_count && more_chunks(pass)) {
            if (!start_chunk(pass, count++, error)) {
                return false;
            }
        }
        if (!await_all(pass, count, error)) {
            return false;
        }
        if (pass->flow->plan.direction != FLOW_COPY) {
            continue;
        }
        for (uint32_t index = 0; index < count; index++) {
            if (!submit(pass, index, TARGET_WRITE, error)) {
                return false;
            }
        }
        if (!await_all(pass, count, error)) {
            return false;
        }
    }
    return true;
}

bool flow_run(struct flow *flow, struct target_file *source, struct target_file *destination,
              struct sample_counts *counts, struct error *error)
{
    struct pass pass = {
        .flow = flow, .source = source, .destination = destination, .counts = counts};
    bool ok =
        flow->plan.policy == FLOW_BATCH ? run_batches(&pass, error) : run_window(&pass, error);
    /* In a window of n one round trip answers n requests at best. */
    counts->round_trips +=
        pass.batches > 0 ? pass.batches : (pass.requests + flow->lane_count - 1) / flow->lane_count;
    return ok;
}
