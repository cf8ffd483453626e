/* workload/flow: windows, batches and the copy loop against a target that completes in any order.
 */
#include "unit.h"

#include "fake_target.h"
#include "workload/flow.h"

#include <stdio.h>

#define CHUNK 1000U

/* One way to move a file, with the target and the files that it needs. */
struct fixture {
    struct fake_target *fake;
    struct target_file *source;
    struct target_file *destination;
    struct payload payload;
    struct flow flow;
    struct sample_counts counts;
    struct error error;
};

static void fixture_open(struct fixture *fixture, uint64_t size)
{
    *fixture = (struct fixture){.fake = fake_target_new()};
    assert_true(payload_make(&fixture->payload, 1, CHUNK, CHUNK, &fixture->error));
    fixture->source = fake_file(fixture->fake, TARGET_FIRST, "Source", size);
    fixture->destination = fake_file(fixture->fake, TARGET_SECOND, "Destination", 0);
    fixture->source->open = fixture->destination->open = true;
    for (uint64_t at = 0; at < size; at++) {
        fixture->source->bytes[at] = *(const uint8_t *)payload_at(&fixture->payload, at);
    }
}

static void fixture_close(struct fixture *fixture)
{
    payload_release(&fixture->payload);
    fake_target_free(fixture->fake);
}

/* Prepares, runs and releases a flow. */
static bool move(struct fixture *fixture, const struct flow_plan *plan)
{
    fixture->counts = (struct sample_counts){0};
    bool ok = flow_prepare(&fixture->flow, plan, &fixture->error) &&
              flow_run(&fixture->flow, fixture->source, fixture->destination, &fixture->counts,
                       &fixture->error);
    fixture->fake->pending_count = 0;
    flow_release(&fixture->flow);
    return ok;
}

static struct flow_plan plan_of(struct fixture *fixture, enum flow_direction direction,
                                enum flow_policy policy, uint32_t depth, uint64_t size)
{
    return (struct flow_plan){.target = &fixture->fake->target,
                              .payload = &fixture->payload,
                              .direction = direction,
                              .policy = policy,
                              .sink = SINK_VERIFY,
                              .depth = depth,
                              .chunk_bytes = CHUNK,
                              .size_bytes = size};
}

static const uint64_t sizes[] = {1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 10 * CHUNK + 1};
static const uint32_t depths[] = {1, 2, 3, 8, 1000};
static const char *const directions[] = {"read", "write", "copy"};
static const char *const policies[] = {"window", "batch"};

/* ---- Every combination ---- */

static void check_result(const struct fixture *fixture, const struct flow_plan *plan,
                         const char *name)
{
    const struct fake_target *fake = fixture->fake;
    uint64_t chunks = (plan->size_bytes + CHUNK - 1) / CHUNK;
    uint64_t passes = plan->direction == FLOW_COPY ? 2 : 1;
    uint64_t width = chunks < plan->depth ? chunks : plan->depth;

    check(fixture->counts.bytes == plan->size_bytes, "%s: bytes", name);
    const uint64_t *requests = fixture->counts.requests;
    bool reads = plan->direction != FLOW_WRITE;
    bool writes = plan->direction != FLOW_READ;
    check(requests[REQUEST_READ] == (reads ? chunks : 0), "%s: reads", name);
    check(requests[REQUEST_WRITE] == (writes ? chunks : 0), "%s: writes", name);
    check(sample_requests(&fixture->counts) == chunks * passes, "%s: requests", name);
    uint64_t window_trips = (chunks * passes + width - 1) / width;
    uint64_t batch_trips = (chunks + width - 1) / width * passes; /* the last batch may be short */
    check(fixture->counts.round_trips == (plan->policy == FLOW_BATCH ? batch_trips : window_trips),
          "%s: %llu round trips", name, (unsigned long long)fixture->counts.round_trips);
    check(fixture->counts.runts == (plan->size_bytes % CHUNK != 0) * passes, "%s: runts", name);
    check(fake->submits == chunks * passes && fake->reaps == fake->submits, "%s: operations", name);
    check(fake->most_pending == width, "%s: %u outstanding", name, fake->most_pending);
    if (plan->policy == FLOW_BATCH) {
        check(!fake->submitted_in_drain, "%s: a request left before the batch was answered", name);
    } else if (plan->direction != FLOW_COPY) {
        /* Only the last answers find the window less than full. */
        check(fake->short_reaps == width - 1, "%s: the window was not kept full", name);
    }
    for (uint64_t at = 0; at < plan->size_bytes; at++) {
        bool once = (plan->direction == FLOW_WRITE || fixture->source->moved[at] == 1) &&
                    (plan->direction == FLOW_READ || fixture->destination->moved[at] == 1);
        check(once, "%s: byte %llu was not moved once", name, (unsigned long long)at);
    }
    if (plan->direction != FLOW_READ) {
        const struct target_file *written = fixture->destination;
        check(written->size == plan->size_bytes &&
                  memcmp(written->bytes, fixture->source->bytes, plan->size_bytes) == 0,
              "%s: the content differs", name);
    }
}

static void moves_every_byte_once(void **state)
{
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (uint32_t i = 0; i < COUNT(depths) * 2 * 3 * FAKE_ORDERS; i++) {
            uint32_t depth = depths[i % COUNT(depths)];
            enum flow_policy policy = (enum flow_policy)(i / COUNT(depths) % 2);
            enum flow_direction direction = (enum flow_direction)(i / COUNT(depths) / 2 % 3);
            struct fixture fixture;
            fixture_open(&fixture, sizes[s]);
            fake_target_reset(fixture.fake);
            fixture.fake->order = (enum fake_order)(i / COUNT(depths) / 6);
            struct flow_plan plan = plan_of(&fixture, direction, policy, depth, sizes[s]);
            char name[80];
            snprintf(name, sizeof name, "%s, %s of %u, %llu bytes, order %d", directions[direction],
                     policies[policy], depth, (unsigned long long)sizes[s],
                     (int)fixture.fake->order);
            check(move(&fixture, &plan), "%s: %s", name, fixture.error.message);
            check_result(&fixture, &plan, name);
            fixture_close(&fixture);
        }
    }
}

/* Each short reply is one request more, and nothing is written before its chunk is whole. */
static void asks_for_the_rest_of_short_replies(void **state)
{
    for (uint32_t i = 0; i < COUNT(depths) * 2 * 2 * FAKE_ORDERS; i++) {
        bool copies = i / COUNT(depths) / 2 % 2;
        struct fixture fixture;
        fixture_open(&fixture, 3 * CHUNK + 1);
        fake_target_reset(fixture.fake);
        fixture.fake->short_reads = true;
        fixture.fake->order = (enum fake_order)(i / COUNT(depths) / 4);
        struct flow_plan plan = plan_of(&fixture, copies ? FLOW_COPY : FLOW_READ,
                                        (enum flow_policy)(i / COUNT(depths) % 2),
                                        depths[i % COUNT(depths)], 3 * CHUNK + 1);
        plan.sink = SINK_VERIFY;
        check(move(&fixture, &plan), "%s", fixture.error.message);
        uint64_t replies = 0; /* of a chunk: halved until one byte is left */
        for (size_t left = CHUNK; left > 1; left /= 2) {
            replies += 3;
        }
        assert_int_equal(fixture.counts.short_replies, replies);
        assert_int_equal(fixture.counts.requests[REQUEST_READ], 4 + replies);
        assert_int_equal(fixture.counts.requests[REQUEST_WRITE], copies ? 4 : 0);
        assert_int_equal(fixture.counts.bytes, 3 * CHUNK + 1);
        assert_int_equal(fixture.fake->submits, fixture.fake->reaps);
        for (uint64_t at = 0; at < plan.size_bytes; at++) {
            assert_int_equal(fixture.source->moved[at], 1);
        }
        if (copies) {
            assert_memory_equal(fixture.destination->bytes, fixture.source->bytes, plan.size_bytes);
        }
        fixture_close(&fixture);
    }
}

/* A flow that was prepared once runs as often as it is asked to. */
static void runs_again(void **state)
{
    struct fixture fixture;
    fixture_open(&fixture, 10 * CHUNK + 1);
    struct flow_plan plan = plan_of(&fixture, FLOW_COPY, FLOW_WINDOW, 3, 10 * CHUNK + 1);
    assert_true(flow_prepare(&fixture.flow, &plan, &fixture.error));
    for (int run = 1; run <= 3; run++) {
        assert_true(flow_run(&fixture.flow, fixture.source, fixture.destination, &fixture.counts,
                             &fixture.error));
        assert_int_equal(fixture.counts.bytes, run * (10 * (int)CHUNK + 1));
        assert_memory_equal(fixture.destination->bytes, fixture.source->bytes, 10 * CHUNK + 1);
        memset(fixture.destination->bytes, 0, fixture.destination->size);
    }
    flow_release(&fixture.flow);
    fixture_close(&fixture);
}

/* In a batch of a copy no write leaves before all reads came, and the next reads wait likewise. */
static void copy_batches_read_then_write(void **state)
{
    struct fixture fixture;
    fixture_open(&fixture, 10 * CHUNK + 1);
    fixture.fake->order = FAKE_LIFO;
    struct flow_plan plan = plan_of(&fixture, FLOW_COPY, FLOW_BATCH, 4, 10 * CHUNK + 1);
    assert_true(move(&fixture, &plan));
    assert_int_equal(fixture.fake->most_reads, 4);
    assert_int_equal(fixture.fake->most_pending, 4);
    assert_false(fixture.fake->submitted_in_drain);
    fixture_close(&fixture);
}

/* ---- Failures ---- */

static void any_failing_call_ends_it(void **state)
{
    for (uint32_t i = 0; i < 6; i++) {
        enum flow_direction direction = (enum flow_direction)(i % 3);
        enum flow_policy policy = (enum flow_policy)(i / 3);
        struct fixture fixture;
        fixture_open(&fixture, 10 * CHUNK + 1);
        struct flow_plan plan = plan_of(&fixture, direction, policy, 3, 10 * CHUNK + 1);
        assert_true(move(&fixture, &plan));
        unsigned calls = fixture.fake->calls;
        assert_in_range(calls, 23, 45);
        for (unsigned k = 1; k <= calls; k++) {
            fake_target_reset(fixture.fake);
            fixture.fake->order = FAKE_RANDOM;
            fixture.fake->fail_at = k;
            check(!move(&fixture, &plan), "%s, %s: call %u failed unnoticed", directions[direction],
                  policies[policy], k);
            assert_string_equal(fixture.error.message, FAKE_MESSAGE);
            check(fixture.fake->calls == k, "%s, %s: went on after call %u", directions[direction],
                  policies[policy], k);
        }
        fixture_close(&fixture);
    }
}

static void verify_finds_a_wrong_byte(void **state)
{
    static const uint64_t wrong[] = {0, CHUNK - 1, CHUNK, 5 * CHUNK + 7, 10 * CHUNK};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct fixture fixture;
        fixture_open(&fixture, 10 * CHUNK + 1);
        fixture.fake->order = FAKE_LIFO;
        fixture.source->bytes[wrong[i]] ^= 0x01;
        struct flow_plan plan = plan_of(&fixture, FLOW_READ, FLOW_WINDOW, 4, 10 * CHUNK + 1);
        char where[32];
        snprintf(where, sizeof where, "at offset %llu:", (unsigned long long)wrong[i]);
        assert_false(move(&fixture, &plan));
        check_error(&fixture.error, ERROR_CONTENT, where);
        plan.sink = SINK_COPY;
        check(move(&fixture, &plan), "only verify looks at the bytes");
        fixture_close(&fixture);
    }
}

/* The second pass must not find what the first one left in its buffer. */
static void verify_finds_a_read_that_brought_nothing(void **state)
{
    struct fixture fixture;
    fixture_open(&fixture, CHUNK);
    struct flow_plan plan = plan_of(&fixture, FLOW_READ, FLOW_WINDOW, 1, CHUNK);
    assert_true(flow_prepare(&fixture.flow, &plan, &fixture.error));
    assert_true(flow_run(&fixture.flow, fixture.source, NULL, &fixture.counts, &fixture.error));
    fixture.fake->reads_nothing = true;
    assert_false(flow_run(&fixture.flow, fixture.source, NULL, &fixture.counts, &fixture.error));
    check_error(&fixture.error, ERROR_CONTENT, "wrong data at offset ");
    flow_release(&fixture.flow);
    fixture_close(&fixture);
}

static void verify_knows_sparse_files(void **state)
{
    struct fixture fixture;
    fixture_open(&fixture, 3 * CHUNK);
    memset(fixture.source->bytes, 0, 3 * CHUNK);
    struct flow_plan plan = plan_of(&fixture, FLOW_READ, FLOW_WINDOW, 2, 3 * CHUNK);
    plan.zeros = true;
    assert_true(move(&fixture, &plan));
    fixture.source->bytes[2 * CHUNK] = 1;
    assert_false(move(&fixture, &plan));
    check_error(&fixture.error, ERROR_CONTENT, "at offset 2000: 0x01 was read, 0x00 expected");
    fixture_close(&fixture);
}

/* ---- Buffers ---- */

static void only_discard_reads_without_a_buffer(void **state)
{
    static const struct {
        enum flow_sink sink;
        bool discarded;
    } sinks[] = {{SINK_COPY, false}, {SINK_DISCARD, true}, {SINK_VERIFY, false}};
    for (size_t i = 0; i < COUNT(sinks); i++) {
        struct fixture fixture;
        fixture_open(&fixture, 3 * CHUNK);
        struct flow_plan plan = plan_of(&fixture, FLOW_READ, FLOW_WINDOW, 2, 3 * CHUNK);
        plan.sink = sinks[i].sink;
        assert_true(move(&fixture, &plan));
        assert_int_equal(fixture.fake->discarded, sinks[i].discarded);
        assert_int_equal(fixture.fake->buffered, !sinks[i].discarded);
        fixture_close(&fixture);
    }
}

static void memory_has_a_limit(void **state)
{
    const uint32_t mib = 1U << 20;
    static const struct {
        enum flow_direction direction;
        uint32_t depth;
        uint64_t mebibytes;
        bool ok;
    } rows[] = {
        {FLOW_READ, 257, 300, false},
        {FLOW_COPY, 257, 300, false},
        {FLOW_WRITE, 257, 300, true}, /* it keeps no data of its own */
        {FLOW_READ, 4096, 3, true},   /* only three chunks, so only three lanes */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct fixture fixture;
        fixture_open(&fixture, 1);
        struct flow_plan plan = plan_of(&fixture, rows[i].direction, FLOW_WINDOW, rows[i].depth,
                                        rows[i].mebibytes * mib);
        plan.chunk_bytes = mib;
        bool ok = flow_prepare(&fixture.flow, &plan, &fixture.error);
        check(ok == rows[i].ok, "row %zu", i);
        if (!ok) {
            check_error(&fixture.error, ERROR_LIMIT, "256 MiB");
        }
        flow_release(&fixture.flow);
        fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_every_byte_once),
        cmocka_unit_test(asks_for_the_rest_of_short_replies),
        cmocka_unit_test(runs_again),
        cmocka_unit_test(copy_batches_read_then_write),
        cmocka_unit_test(any_failing_call_ends_it),
        cmocka_unit_test(verify_finds_a_wrong_byte),
        cmocka_unit_test(verify_finds_a_read_that_brought_nothing),
        cmocka_unit_test(verify_knows_sparse_files),
        cmocka_unit_test(only_discard_reads_without_a_buffer),
        cmocka_unit_test(memory_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
