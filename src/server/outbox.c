#include "server/outbox.h"

#include "base/clock.h"
#include "base/stream.h"

#include <errno.h>

/* How long a send call may stand still before the outbox looks what the client says meanwhile. A
 * client that reads never makes it so long; one that does not loses this once for each reply. */
#define STALL_NS (20 * NS_PER_MS)

/* How often within the limit a wait looks whether the client's TCP took something: the socket
 * itself says so only when much of its buffer is free. */
#define LOOKS_PER_LIMIT 8

/* The most that one call is asked to move. */
#define FILE_STEP ((size_t)1 << 30)

bool outbox_open(struct outbox *outbox, int socket, uint64_t limit_ns, struct inbox *inbox,
                 struct error *error)
{
    *outbox = (struct outbox){.socket = socket, .limit_ns = limit_ns, .inbox = inbox};
    return stream_limit_send(socket, STALL_NS, error);
}

void outbox_count(struct outbox *outbox, bool counts)
{
    outbox->uncounted = !counts;
}

bool outbox_moved(struct outbox *outbox)
{
    return tcp_moved(outbox->socket, &outbox->progress);
}

/* Waits until the socket takes something, or has an error for the next call to tell. */
static bool wait_for_room(struct outbox *outbox, struct error *error)
{
    uint64_t give_up_ns = clock_now_ns() + outbox->limit_ns;
    (void)outbox_moved(outbox); /* from here on */
    for (;;) {
        short also = inbox_can_store(outbox->inbox) ? POLLIN : 0;
        struct pollfd waiting = {.fd = outbox->socket, .events = (short)(POLLOUT | also)};
        uint64_t look_ns = clock_now_ns() + outbox->limit_ns / LOOKS_PER_LIMIT;
        int ready = stream_poll(&waiting, 1, look_ns);
        if (ready < 0) {
            return error_set_errno(error, errno, "poll");
        }
        bool moved = ready == 0 && outbox_moved(outbox);
        if (ready == 0 && !moved && clock_now_ns() >= give_up_ns) {
            return error_set(error, ERROR_TIMEOUT, 0, "the client took nothing for %u s",
                             (unsigned)(outbox->limit_ns / NS_PER_S));
        }
        if (waiting.revents & ~POLLIN) {
            return true;
        }
        if (ready > 0 && !inbox_store(outbox->inbox, error)) {
            return false;
        }
        if (ready > 0 || moved) {
            give_up_ns = clock_now_ns() + outbox->limit_ns;
        }
    }
}

static bool is_stall(ssize_t sent)
{
    return sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool outbox_send(struct outbox *outbox, struct iovec *pieces, size_t count, bool more,
                 struct error *error)
{
    while (count > 0) {
        if (pieces->iov_len == 0) {
            pieces++;
            count--;
            continue;
        }
        ssize_t sent = stream_send(outbox->socket, pieces, count, more);
        if (sent < 0 && !is_stall(sent)) {
            return error_set_errno(error, errno, "send");
        }
        if (sent < 0 && !wait_for_room(outbox, error)) {
            return false;
        }
        size_t step = sent > 0 ? (size_t)sent : 0;
        tcp_handed(&outbox->progress, step, !outbox->uncounted);
        stream_advance(&pieces, &count, step);
    }
    return true;
}

/* Failures of the file are told apart from those of the connection, for a store that can read it
 * otherwise. */
bool outbox_send_file(struct outbox *outbox, int file, uint64_t offset, uint64_t size, size_t *sent,
                      int *file_error, struct error *error)
{
    size_t step = size < FILE_STEP ? (size_t)size : FILE_STEP;
    *file_error = 0;
    for (;;) {
        ssize_t moved = stream_send_file(outbox->socket, file, offset, step);
        if (moved >= 0) {
            *sent = (size_t)moved;
            tcp_handed(&outbox->progress, *sent, true);
            return true;
        }
        if (!is_stall(moved)) {
            *file_error = errno;
            return error_set_errno(error, errno, "sendfile");
        }
        if (!wait_for_room(outbox, error)) {
            return false;
        }
    }
}

bool outbox_has_room(const struct outbox *outbox)
{
    struct pollfd socket = {.fd = outbox->socket, .events = POLLOUT};
    return stream_poll(&socket, 1, 0) > 0;
}
