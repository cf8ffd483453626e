/* target/posix_io: reads and writes against a real directory, one after the other and through a
 * ring. The system calls go through this program (--wrap), so that they can move less than asked,
 * take their time, or be refused. */
#include "posix_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <time.h>

#define MIB_BYTES ((uint64_t)1 << 20)

/* ---- System calls that do less ---- */

static size_t most_moved;   /* by one call; 0: as asked */
static bool no_ring;        /* the kernel refuses io_uring */
static unsigned calls;      /* of pread and pwrite */
static unsigned ring_calls; /* requests that went through a ring */
static unsigned seen[2][2]; /* of both, by kind and O_DIRECT */
static unsigned misaligned;
static unsigned interrupt_at; /* the transfer that Ctrl-C follows; slow from there on; 0: none */
static struct posix_fixture *interrupted;

ssize_t __real_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __real_pwrite64(int fd, const void *buffer, size_t size, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *buffer, size_t size, off_t offset);
int __real_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);
int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);
int __real_io_uring_submit_and_wait_timeout(struct io_uring *ring, struct io_uring_cqe **event,
                                            unsigned count, struct __kernel_timespec *limit,
                                            sigset_t *signals);
int __wrap_io_uring_submit_and_wait_timeout(struct io_uring *ring, struct io_uring_cqe **event,
                                            unsigned count, struct __kernel_timespec *limit,
                                            sigset_t *signals);

static size_t clipped(size_t size)
{
    return most_moved != 0 && size > most_moved ? most_moved : size;
}

/* A direct call must be whole blocks at whole blocks; some disks forgive less than that. */
static void note_call(enum target_kind kind, int fd, size_t size, uint64_t offset)
{
    bool direct = (fcntl(fd, F_GETFL) & O_DIRECT) != 0;
    misaligned += direct && (size % POSIX_ALIGNMENT != 0 || offset % POSIX_ALIGNMENT != 0);
    seen[kind][direct]++;
}

static void disturb(unsigned count)
{
    if (interrupt_at == 0 || count < interrupt_at) {
        return;
    }
    if (interrupted != NULL) {
        posix_interrupt(interrupted);
        interrupted = NULL;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset)
{
    disturb(++calls);
    note_call(TARGET_READ, fd, size, (uint64_t)offset);
    return __real_pread64(fd, buffer, clipped(size), offset);
}

ssize_t __wrap_pwrite64(int fd, const void *buffer, size_t size, off_t offset)
{
    disturb(++calls);
    note_call(TARGET_WRITE, fd, size, (uint64_t)offset);
    return __real_pwrite64(fd, buffer, clipped(size), offset);
}

int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
    return no_ring ? -EPERM : __real_io_uring_queue_init(entries, ring, flags);
}

int __wrap_io_uring_submit_and_wait_timeout(struct io_uring *ring, struct io_uring_cqe **event,
                                            unsigned count, struct __kernel_timespec *limit,
                                            sigset_t *signals)
{
    for (unsigned at = ring->sq.sqe_head; at != ring->sq.sqe_tail; at++) {
        struct io_uring_sqe *entry = &ring->sq.sqes[at & *ring->sq.kring_mask];
        note_call(entry->opcode == IORING_OP_READ ? TARGET_READ : TARGET_WRITE, entry->fd,
                  entry->len, entry->off);
        entry->len = (unsigned)clipped(entry->len);
        disturb(++ring_calls);
    }
    return __real_io_uring_submit_and_wait_timeout(ring, event, count, limit, signals);
}

static void undisturbed(void)
{
    most_moved = 0;
    no_ring = false;
    calls = ring_calls = interrupt_at = misaligned = 0;
    memset(seen, 0, sizeof seen);
    interrupted = NULL;
}

/* ---- Whole passes ---- */

struct pass_case {
    uint32_t chunk;
    uint32_t depth;
    enum flow_policy policy;
};

static void expect_content(const struct posix_fixture *fixture, const char *name,
                           const struct payload *payload, uint64_t size)
{
    char path[3 * SCRATCH_SIZE];
    size_t length;
    snprintf(path, sizeof path, "%s/%s", own_directory(fixture->first), name);
    uint8_t *bytes = file_bytes(path, &length);
    struct error error;
    assert_int_equal(length, size);
    for (uint64_t at = 0; at < size; at += payload->chunk_limit) {
        size_t left = (size_t)(size - at);
        size_t piece = left < payload->chunk_limit ? left : payload->chunk_limit;
        must(payload_verify(payload, false, bytes + at, at, piece, &error));
    }
    free(bytes);
}

/* Writes a file, reads it back with verification, copies it; then both files are looked at. */
static void three_passes(struct posix_fixture *fixture, uint64_t size, const struct pass_case *row)
{
    struct target *target = fixture->target;
    struct target_file *source;
    struct target_file *copy;
    struct payload payload;
    struct error error;
    must(payload_make(&payload, target->facts.alignment, row->chunk, row->chunk, &error));
    must(fixture->ops->create_file(target, TARGET_FIRST, "a", &error));
    must(fixture->ops->create_file(target, TARGET_SECOND, "b", &error));
    must(fixture->ops->open_file(target, TARGET_FIRST, "a", &source, &error));
    must(fixture->ops->open_file(target, TARGET_SECOND, "b", &copy, &error));
    struct flow_plan plan = {.target = target,
                             .payload = &payload,
                             .policy = row->policy,
                             .sink = SINK_VERIFY,
                             .depth = row->depth,
                             .chunk_bytes = row->chunk,
                             .size_bytes = size,
                             .direction = FLOW_WRITE};
    run_flow(&plan, NULL, source);
    plan.direction = FLOW_READ;
    run_flow(&plan, source, NULL);
    plan.direction = FLOW_COPY;
    run_flow(&plan, source, copy);
    expect_content(fixture, "a", &payload, size);
    expect_content(fixture, "b", &payload, size);
    must(fixture->ops->clean_up(target, TARGET_PATIENT, &error));
    assert_string_equal(tree(fixture->first), "");
    payload_release(&payload);
}

static const uint64_t sizes[] = {
    1, 4095, 4096, 4097, 4194, MIB_BYTES - 1, MIB_BYTES, MIB_BYTES + 1, 2 * MIB_BYTES + 4097};

static const struct pass_case passes[] = {
    {4096, 1, FLOW_WINDOW},
    {4096, 3, FLOW_WINDOW},
    {4096, 8, FLOW_WINDOW},
    {4096, 3, FLOW_BATCH},
    {4096, 8, FLOW_BATCH},
    {(uint32_t)MIB_BYTES, 1, FLOW_WINDOW},
    {(uint32_t)MIB_BYTES, 3, FLOW_WINDOW},
    {(uint32_t)MIB_BYTES, 8, FLOW_BATCH},
};

static void every_size_and_depth(bool direct)
{
    struct posix_fixture fixture;
    posix_begin(&fixture, NULL, direct);
    if (direct && !fixture.conditions.direct) {
        print_message("# without O_DIRECT: %s refuses it\n", fixture.conditions.file_system);
    }
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (size_t p = 0; p < COUNT(passes); p++) {
            three_passes(&fixture, sizes[s], &passes[p]);
        }
    }
    posix_end(&fixture);
}

static void buffered_passes(void **state)
{
    undisturbed();
    every_size_and_depth(false);
    assert_true(calls > 0 && ring_calls > 0);
}

static void direct_passes(void **state)
{
    undisturbed();
    every_size_and_depth(true);
    assert_int_equal(misaligned, 0);
}

/* What is read bypasses the cache to its last byte; an odd end is written through it. */
static void direct_tails(void **state)
{
    struct posix_fixture fixture;
    struct target_file *file;
    struct payload payload;
    struct error error;
    undisturbed();
    posix_begin(&fixture, NULL, true);
    if (!fixture.conditions.direct) {
        print_message("# skipped: %s refuses O_DIRECT\n", fixture.conditions.file_system);
        posix_end(&fixture);
        skip();
    }
    must(payload_make(&payload, POSIX_ALIGNMENT, 4096, 4096, &error));
    must(fixture.ops->create_file(fixture.target, TARGET_FIRST, "a", &error));
    must(fixture.ops->open_file(fixture.target, TARGET_FIRST, "a", &file, &error));
    for (uint32_t depth = 1; depth <= 3; depth += 2) {
        struct flow_plan plan = {.target = fixture.target,
                                 .payload = &payload,
                                 .direction = FLOW_WRITE,
                                 .sink = SINK_VERIFY,
                                 .depth = depth,
                                 .chunk_bytes = 4096,
                                 .size_bytes = 20580};
        undisturbed();
        run_flow(&plan, NULL, file);
        plan.direction = FLOW_READ;
        run_flow(&plan, file, NULL);
        plan.size_bytes = 5000; /* the block goes on beyond what is asked for */
        run_flow(&plan, file, NULL);
        assert_int_equal(seen[TARGET_WRITE][true], 5);
        assert_int_equal(seen[TARGET_WRITE][false], 1);
        assert_int_equal(seen[TARGET_READ][true], 6 + 2);
        assert_int_equal(seen[TARGET_READ][false], 0);
        assert_int_equal(misaligned, 0);
    }
    payload_release(&payload);
    posix_end(&fixture);
}

/* A chunk that is no multiple of the block is for buffered transfers only. */
static void odd_chunks(void **state)
{
    static const struct pass_case rows[] = {
        {1, 1, FLOW_WINDOW}, {1000, 3, FLOW_WINDOW}, {4097, 8, FLOW_BATCH}};
    struct posix_fixture fixture;
    undisturbed();
    posix_begin(&fixture, NULL, false);
    for (size_t i = 0; i < COUNT(rows); i++) {
        three_passes(&fixture, 10000, &rows[i]);
    }
    posix_end(&fixture);
}

static void short_transfers_go_on(void **state)
{
    static const struct {
        size_t most;
        bool direct;
        struct pass_case pass;
    } rows[] = {
        {1, false, {1000, 1, FLOW_WINDOW}},        {1, false, {1000, 3, FLOW_BATCH}},
        {999, false, {4096, 8, FLOW_WINDOW}},      {65535, false, {1 << 20, 3, FLOW_WINDOW}},
        {4096, true, {65536, 1, FLOW_WINDOW}},     {4096, true, {65536, 8, FLOW_WINDOW}},
        {512, true, {8192, 1, FLOW_WINDOW}},       {512, true, {8192, 8, FLOW_BATCH}},
        {1 << 16, true, {1 << 20, 8, FLOW_BATCH}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct posix_fixture fixture;
        undisturbed();
        posix_begin(&fixture, NULL, rows[i].direct);
        most_moved = rows[i].most;
        uint64_t size = rows[i].most == 1 ? 2500 : MIB_BYTES + 4097;
        three_passes(&fixture, size, &rows[i].pass);
        check(calls + ring_calls >= 4 * size / rows[i].pass.chunk, "row %zu", i);
        check(misaligned == 0, "row %zu: %u misaligned", i, misaligned);
        undisturbed();
        posix_end(&fixture);
    }
}

/* ---- Which way requests go ---- */

static void one_at_a_time_needs_no_ring(void **state)
{
    static const struct pass_case one = {4096, 1, FLOW_WINDOW}, eight = {4096, 8, FLOW_WINDOW};
    struct posix_fixture fixture;
    undisturbed();
    posix_begin(&fixture, NULL, false);
    three_passes(&fixture, MIB_BYTES, &one);
    assert_int_equal(calls, 4 * 256); /* write, read, copy */
    assert_int_equal(ring_calls, 0);
    calls = 0;
    three_passes(&fixture, MIB_BYTES, &eight);
    assert_int_equal(ring_calls, 4 * 256);
    assert_int_equal(calls, 0);
    assert_false(posix_notes(&fixture, "no io_uring"));
    assert_false(fixture.target->facts.in_turn);
    /* the same as before the deeper test: a sweep's sizes may come in any order */
    ring_calls = 0;
    three_passes(&fixture, MIB_BYTES, &one);
    assert_int_equal(calls, 4 * 256);
    assert_int_equal(ring_calls, 0);
    posix_end(&fixture);
}

static void without_a_ring_one_after_the_other(void **state)
{
    struct posix_fixture fixture;
    undisturbed();
    no_ring = true;
    posix_begin(&fixture, NULL, false);
    for (size_t p = 0; p < COUNT(passes); p++) {
        three_passes(&fixture, MIB_BYTES + 4097, &passes[p]);
    }
    assert_int_equal(ring_calls, 0);
    assert_true(posix_notes(&fixture, "no io_uring"));
    assert_true(fixture.target->facts.in_turn); /* and the record says a depth of 1 */
    posix_end(&fixture);
}

static void waiting_is_accounted(void **state)
{
    struct posix_fixture fixture;
    struct target_account before;
    struct target_account after;
    struct error error;
    undisturbed();
    posix_begin(&fixture, NULL, false);
    for (size_t p = 0; p < COUNT(passes); p++) {
        must(fixture.ops->account(fixture.target, &before, &error));
        three_passes(&fixture, MIB_BYTES, &passes[p]);
        must(fixture.ops->account(fixture.target, &after, &error));
        assert_true(after.waited_ns > before.waited_ns);
        assert_int_equal(after.tcp.length, 0);
    }
    posix_end(&fixture);
}

/* ---- What goes wrong ---- */

/* A flow that must fail; afterwards the target cleans up and nothing is left. */
static void failing_flow(struct posix_fixture *fixture, const struct flow_plan *wanted,
                         uint64_t length, enum error_domain domain, const char *message,
                         const char *offset)
{
    struct target *target = fixture->target;
    struct target_file *file;
    struct payload payload;
    struct flow flow;
    struct error error;
    struct flow_plan plan = *wanted;
    plan.target = target;
    plan.payload = &payload;
    must(payload_make(&payload, target->facts.alignment, plan.chunk_bytes, plan.chunk_bytes,
                      &error));
    must(fixture->ops->create_file(target, TARGET_FIRST, "file", &error));
    must(fixture->ops->open_file(target, TARGET_FIRST, "file", &file, &error));
    must(fixture->ops->set_length(target, file, length, &error));
    assert_false(try_flow(&flow, &plan, plan.direction == FLOW_WRITE ? NULL : file,
                          plan.direction == FLOW_WRITE ? file : NULL, &error));
    check_error(&error, domain, message);
    check_error(&error, domain, offset);
    must(fixture->ops->clean_up(target, clock_now_ns() + TARGET_HURRY_NS, &error));
    flow_release(&flow);
    payload_release(&payload);
    assert_string_equal(tree(fixture->first), "");
}

static void early_end_names_the_offset(void **state)
{
    static const struct {
        bool direct;
        uint32_t depth;
        uint64_t length;
        const char *offset;
    } rows[] = {
        {false, 1, 0, "offset 0 "},       {false, 1, 10000, "offset 8192 "},
        {false, 8, 8192, "offset 8192 "}, {false, 8, 12000, "offset 8192 "},
        {true, 1, 12000, "offset 8192 "}, {true, 8, 12000, "offset 8192 "},
    };
    undisturbed();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct posix_fixture fixture;
        struct flow_plan plan = {.direction = FLOW_READ,
                                 .policy = FLOW_BATCH,
                                 .depth = rows[i].depth,
                                 .chunk_bytes = 4096,
                                 .size_bytes = 12288};
        posix_begin(&fixture, NULL, rows[i].direct);
        failing_flow(&fixture, &plan, rows[i].length, ERROR_CLOSED, "the file ended early",
                     rows[i].offset);
        three_passes(&fixture, 12288, &passes[1]); /* the target works on */
        posix_end(&fixture);
    }
}

static void full_file_system(void **state)
{
    struct posix_fixture fixture;
    undisturbed();
    if (!posix_begin_mounted(&fixture, "tmpfs", "size=1m")) {
        skip();
    }
    for (uint32_t depth = 1; depth <= 8; depth += 7) {
        struct flow_plan plan = {.direction = FLOW_WRITE,
                                 .depth = depth,
                                 .chunk_bytes = 65536,
                                 .size_bytes = 4 * MIB_BYTES};
        failing_flow(&fixture, &plan, 0, ERROR_SYSTEM, "No space left", "write of 65536 bytes at ");
        three_passes(&fixture, 4097, &passes[1]);
    }
    posix_end(&fixture);
}

/* Ctrl-C in a transfer of 16384 requests, a millisecond each from there on. */
static void interrupts_stop_a_transfer(void **state)
{
    static const struct {
        uint32_t depth;
        enum flow_policy policy;
        enum flow_direction direction;
        bool no_ring;
    } rows[] = {
        {1, FLOW_WINDOW, FLOW_READ, false}, {1, FLOW_WINDOW, FLOW_WRITE, false},
        {8, FLOW_WINDOW, FLOW_READ, false}, {8, FLOW_WINDOW, FLOW_WRITE, false},
        {8, FLOW_BATCH, FLOW_WRITE, false}, {8, FLOW_WINDOW, FLOW_WRITE, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct posix_fixture fixture;
        struct flow_plan plan = {.direction = rows[i].direction,
                                 .policy = rows[i].policy,
                                 .depth = rows[i].depth,
                                 .chunk_bytes = 4096,
                                 .size_bytes = 64 * MIB_BYTES};
        undisturbed();
        no_ring = rows[i].no_ring;
        posix_begin(&fixture, NULL, false);
        calls = 0;
        interrupt_at = 100;
        interrupted = &fixture;
        failing_flow(&fixture, &plan, 64 * MIB_BYTES, ERROR_INTERRUPTED, "interrupted", "");
        check(calls + ring_calls < 10000, "row %zu: %u calls", i, calls + ring_calls);
        undisturbed();
        posix_end(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffered_passes),
        cmocka_unit_test(direct_passes),
        cmocka_unit_test(direct_tails),
        cmocka_unit_test(odd_chunks),
        cmocka_unit_test(short_transfers_go_on),
        cmocka_unit_test(one_at_a_time_needs_no_ring),
        cmocka_unit_test(without_a_ring_one_after_the_other),
        cmocka_unit_test(waiting_is_accounted),
        cmocka_unit_test(early_end_names_the_offset),
        cmocka_unit_test(full_file_system),
        cmocka_unit_test(interrupts_stop_a_transfer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
