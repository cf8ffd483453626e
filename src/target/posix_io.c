#include "target/posix_io.h"

#include "base/clock.h"
#include "base/memory.h"
#include "target/posix_target.h"

#include <errno.h>
#include <inttypes.h>
#include <liburing.h>
#include <string.h>
#include <unistd.h>

/* How often a wait looks at the interrupt, and a row of quick calls too. */
#define LOOK_NS (100 * NS_PER_MS)

struct pending {
    struct target_operation operation;
    size_t done; /* bytes moved so far */
    uint64_t submitted_ns;
};

struct posix_io {
    const struct interrupt *interrupt;
    bool has_ring;
    bool uses_ring; /* not for one request at a time, though an earlier test may have had more */
    struct io_uring ring;
    struct pending *pending; /* by tag */
    uint32_t depth;
    uint32_t outstanding;
    uint64_t waited_ns;
    uint64_t looked_ns; /* when the interrupt was last looked at */
    /* Without a ring an operation is complete when submit returns; its completions wait here, in
     * order. */
    struct target_completion *ready;
    uint32_t ready_first;
    uint32_t ready_count;
};

bool posix_io_open(struct posix_io **result, const struct interrupt *interrupt, struct error *error)
{
    struct posix_io *io = memory_allocate(1, sizeof *io);
    if (io == NULL) {
        return memory_error(error, "for a target");
    }
    io->interrupt = interrupt;
    *result = io;
    return true;
}

static void end_ring(struct posix_io *io)
{
    if (io->has_ring) {
        io_uring_queue_exit(&io->ring);
        io->has_ring = false;
    }
}

bool posix_io_reserve(struct posix_io *io, uint32_t depth, bool *refused, struct error *error)
{
    io->uses_ring = io->has_ring && depth > 1;
    if (depth <= io->depth) {
        return true;
    }
    /* Each is kept at once: the old block is gone even when the next one cannot be had. */
    struct pending *pending = memory_resize(io->pending, depth, sizeof *pending);
    if (pending != NULL) {
        io->pending = pending;
    }
    struct target_completion *ready = memory_resize(io->ready, depth, sizeof *ready);
    if (ready != NULL) {
        io->ready = ready;
    }
    if (pending == NULL || ready == NULL) {
        return memory_error(error, "for outstanding requests");
    }
    io->depth = depth;
    end_ring(io);
    if (depth > 1) {
        io->has_ring = io_uring_queue_init(depth, &io->ring, 0) == 0;
        *refused = !io->has_ring;
    }
    io->uses_ring = io->has_ring;
    return true;
}

/* With O_DIRECT a read may ask for the rest of a block beyond the file's end, and gets what is
 * there; an odd write goes through the cache, so that the length is exact. */
static void direct_form(const struct target_operation *operation, size_t done, int *fd,
                        size_t *size)
{
    const struct target_file *file = operation->file;
    *size = operation->size - done;
    *fd = file->direct;
    bool aligned = (operation->offset + done) % POSIX_ALIGNMENT == 0;
    bool whole = *size % POSIX_ALIGNMENT == 0;
    if (file->direct == file->buffered || (aligned && whole)) {
        return;
    }
    if (aligned && operation->kind == TARGET_READ) {
        *size += POSIX_ALIGNMENT - *size % POSIX_ALIGNMENT;
    } else {
        *fd = file->buffered;
    }
}

static bool transfer_failed(const struct target_operation *operation, size_t done, ssize_t moved,
                            struct error *error)
{
    const char *what = operation->kind == TARGET_READ ? "read" : "write";
    if (moved < 0) {
        return error_set_errno(error, (int)-moved, "%s of %zu bytes at offset %" PRIu64, what,
                               operation->size, operation->offset);
    }
    return error_set(error, ERROR_CLOSED, 0,
                     "%s of %zu bytes at offset %" PRIu64 " ended after %zu: the file ended early",
                     what, operation->size, operation->offset, done);
}

/* Adds what a call moved. A rounded-up read may bring no more than was asked for. */
static bool progress(struct pending *pending, ssize_t moved, struct error *error)
{
    const struct target_operation *operation = &pending->operation;
    if (moved <= 0) {
        return transfer_failed(operation, pending->done, moved, error);
    }
    size_t left = operation->size - pending->done;
    pending->done += (size_t)moved < left ? (size_t)moved : left;
    return true;
}

static bool look_at_interrupt(struct posix_io *io, uint64_t now_ns, struct error *error)
{
    if (now_ns - io->looked_ns < LOOK_NS) {
        return true;
    }
    io->looked_ns = now_ns;
    return interrupt_check(io->interrupt, error);
}

/* ---- One after the other ---- */

static ssize_t call_once(const struct pending *pending)
{
    const struct target_operation *operation = &pending->operation;
    int fd;
    size_t size;
    direct_form(operation, pending->done, &fd, &size);
    off_t offset = (off_t)(operation->offset + pending->done);
    ssize_t moved;
    do {
        moved =
            operation->kind == TARGET_READ
                ? pread(fd, (char *)operation->read_buffer + pending->done, size, offset)
                : pwrite(fd, (const char *)operation->write_buffer + pending->done, size, offset);
    } while (moved < 0 && errno == EINTR);
    return moved < 0 ? -errno : moved;
}

static bool run_now(struct posix_io *io, const struct target_operation *operation,
                    struct error *error)
{
    struct pending pending = {.operation = *operation, .submitted_ns = clock_now_ns()};
    while (pending.done < operation->size) {
        if (!progress(&pending, call_once(&pending), error)) {
            return false;
        }
    }
    uint64_t now = clock_now_ns();
    io->waited_ns += now - pending.submitted_ns;
    uint32_t last = (io->ready_first + io->ready_count) % io->depth;
    io->ready[last] = (struct target_completion){.tag = operation->tag,
                                                 .submitted_ns = pending.submitted_ns,
                                                 .sent_ns = pending.submitted_ns,
                                                 .completed_ns = now};
    io->ready_count++;
    return look_at_interrupt(io, now, error);
}

/* ---- Through the ring ---- */

/* Also what is left of a transfer that came back short. */
static bool queue(struct posix_io *io, uint32_t tag, struct error *error)
{
    struct pending *pending = &io->pending[tag];
    const struct target_operation *operation = &pending->operation;
    struct io_uring_sqe *entry = io_uring_get_sqe(&io->ring);
    int fd;
    size_t size;
    if (entry == NULL) {
        return error_set(error, ERROR_LIMIT, 0, "a request does not fit into the ring");
    }
    direct_form(operation, pending->done, &fd, &size);
    uint64_t offset = operation->offset + pending->done;
    if (operation->kind == TARGET_READ) {
        io_uring_prep_read(entry, fd, (char *)operation->read_buffer + pending->done,
                           (unsigned)size, offset);
    } else {
        io_uring_prep_write(entry, fd, (const char *)operation->write_buffer + pending->done,
                            (unsigned)size, offset);
    }
    io_uring_sqe_set_data64(entry, tag);
    return true;
}

/* The next event of the ring; `found` is false after a while without one. */
static bool await_event(struct posix_io *io, uint32_t *tag, ssize_t *moved, bool *found,
                        struct error *error)
{
    struct io_uring_cqe *event = NULL;
    struct __kernel_timespec limit = {.tv_nsec = (long long)LOOK_NS};
    uint64_t before = clock_now_ns();
    int code = io_uring_submit_and_wait_timeout(&io->ring, &event, 1, &limit, NULL);
    io->waited_ns += clock_now_ns() - before;
    *found = event != NULL;
    if (*found) {
        *tag = (uint32_t)io_uring_cqe_get_data64(event);
        *moved = event->res;
        io_uring_cqe_seen(&io->ring, event);
        return true;
    }
    return code >= 0 || code == -ETIME || code == -EINTR || code == -EAGAIN ||
           error_set_errno(error, -code, "io_uring");
}

/* Waits for an operation to be whole; short ones go back into the ring. */
static bool await_whole(struct posix_io *io, uint32_t *tag, bool *found, struct error *error)
{
    ssize_t moved = 0;
    if (!await_event(io, tag, &moved, found, error)) {
        return false;
    }
    if (!*found) {
        return true;
    }
    struct pending *pending = &io->pending[*tag];
    if (moved == -EINTR || moved == -EAGAIN) {
        *found = false;
        return queue(io, *tag, error);
    }
    if (!progress(pending, moved, error)) {
        io->outstanding--;
        return false;
    }
    if (pending->done < pending->operation.size) {
        *found = false;
        return queue(io, *tag, error);
    }
    io->outstanding--;
    return true;
}

/* ---- Both ---- */

bool posix_io_submit(struct posix_io *io, const struct target_operation *operation,
                     struct error *error)
{
    if (!io->uses_ring) {
        return run_now(io, operation, error);
    }
    io->pending[operation->tag] =
        (struct pending){.operation = *operation, .submitted_ns = clock_now_ns()};
    io->outstanding++;
    return queue(io, operation->tag, error);
}

bool posix_io_reap(struct posix_io *io, struct target_completion *completion, struct error *error)
{
    if (!io->uses_ring) { /* done when it was submitted */
        *completion = io->ready[io->ready_first];
        io->ready_first = (io->ready_first + 1) % io->depth;
        io->ready_count--;
        return true;
    }
    bool found = false;
    uint32_t tag = 0;
    while (!found) {
        if (!await_whole(io, &tag, &found, error) ||
            !look_at_interrupt(io, clock_now_ns(), error)) {
            return false;
        }
    }
    *completion = (struct target_completion){.tag = tag,
                                             .submitted_ns = io->pending[tag].submitted_ns,
                                             .sent_ns = io->pending[tag].submitted_ns,
                                             .completed_ns = clock_now_ns()};
    return true;
}

bool posix_io_settle(struct posix_io *io, uint64_t deadline_ns, struct error *error)
{
    io->ready_count = 0;
    while (io->has_ring && io->outstanding > 0) {
        bool found;
        uint32_t tag;
        struct error ignored; /* the operation failed, but it has ended */
        best_effort(await_whole(io, &tag, &found, &ignored));
        if (clock_now_ns() > deadline_ns) {
            return error_set(error, ERROR_TIMEOUT, 0,
                             "%" PRIu32 " requests to the file system do not end", io->outstanding);
        }
    }
    return true;
}

uint64_t posix_io_waited_ns(const struct posix_io *io)
{
    return io->waited_ns;
}

void posix_io_close(struct posix_io *io)
{
    if (io == NULL) {
        return;
    }
    end_ring(io);
    memory_release(io->pending);
    memory_release(io->ready);
    memory_release(io);
}
