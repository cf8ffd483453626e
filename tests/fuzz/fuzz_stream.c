#include "fuzz_stream.h"

#include "base/connect.h"
#include "base/stream.h"
#include "dsi/frame.h"
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    uint8_t *bytes; /* to be received */
    size_t at, end, capacity;
    uint32_t random; /* 0: nothing is cut */
    bool blocked;    /* the last call failed with EAGAIN: the next one does not */
    bool full;       /* sending may fail with EAGAIN too */
    fuzz_sent *sent;
    void *context;
} stream;

void fuzz_stream_begin(uint8_t cut, fuzz_sent *sent, void *context)
{
    stream.at = stream.end = 0;
    stream.random = cut;
    stream.blocked = false;
    stream.full = (cut & 0x80) != 0;
    stream.sent = sent;
    stream.context = context;
}

void fuzz_stream_end(void)
{
    free(stream.bytes);
    stream.bytes = NULL;
    stream.at = stream.end = stream.capacity = 0;
}

void fuzz_stream_feed(struct span bytes)
{
    if (stream.capacity - stream.end < bytes.size) {
        stream.capacity = (stream.end + bytes.size) * 2;
        stream.bytes = realloc(stream.bytes, stream.capacity);
        fuzz_require(stream.bytes != NULL, "no memory for the fuzz target itself");
    }
    if (bytes.size > 0) {
        memcpy(stream.bytes + stream.end, bytes.data, bytes.size);
        stream.end += bytes.size;
    }
}

void fuzz_stream_feed_frame(uint8_t flags, uint8_t command, uint16_t request_id,
                            uint32_t offset_or_result, struct span payload)
{
    uint8_t bytes[DSI_HEADER_SIZE];
    struct dsi_header header = {.flags = flags,
                                .command = command,
                                .request_id = request_id,
                                .offset_or_result = offset_or_result,
                                .length = (uint32_t)payload.size};
    dsi_header_encode(bytes, &header);
    fuzz_stream_feed((struct span){bytes, sizeof bytes});
    fuzz_stream_feed(payload);
}

/* ---- Pieces ---- */

static uint32_t next_random(void)
{
    stream.random = stream.random * 1664525 + 1013904223;
    stream.random += stream.random == 0;
    return stream.random >> 16;
}

/* How much of `size` one call moves; -1 with EAGAIN, but never twice in a row. */
static ssize_t step(size_t size, bool may_block)
{
    if (stream.random == 0 || size == 0) {
        return (ssize_t)size;
    }
    if (may_block && !stream.blocked && next_random() % 8 == 0) {
        stream.blocked = true;
        errno = EAGAIN;
        return -1;
    }
    stream.blocked = false;
    size_t most = (size_t)1 << next_random() % 12;
    return (ssize_t)(size < most ? size : most);
}

/* The next bytes for the program, where one call takes at most `size`: 0 at the end. */
static ssize_t take(const uint8_t **from, size_t size)
{
    size_t left = stream.end - stream.at;
    ssize_t taken = step(size < left ? size : left, true);
    if (taken > 0) {
        *from = stream.bytes + stream.at;
        stream.at += (size_t)taken;
    }
    return taken;
}

/* ---- base/stream.h ---- */

ssize_t stream_send(int socket, const struct iovec *pieces, size_t count, bool more)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += pieces[i].iov_len;
    }
    ssize_t taken = step(size, stream.full);
    size_t left = taken > 0 ? (size_t)taken : 0;
    for (size_t i = 0; i < count && left > 0; i++) {
        size_t part = left < pieces[i].iov_len ? left : pieces[i].iov_len;
        if (stream.sent != NULL) {
            stream.sent(stream.context, pieces[i].iov_base, part);
        }
        left -= part;
    }
    return taken;
}

ssize_t stream_send_file(int socket, int file, uint64_t offset, size_t size)
{
    struct stat status;
    fuzz_require(fstat(file, &status) == 0, "a file that is sent is not open");
    uint64_t length = (uint64_t)status.st_size;
    uint64_t left = offset < length ? length - offset : 0;
    return step(size < left ? size : (size_t)left, stream.full);
}

ssize_t stream_receive(int socket, const struct iovec *pieces, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += pieces[i].iov_len;
    }
    const uint8_t *from;
    ssize_t taken = take(&from, size);
    size_t left = taken > 0 ? (size_t)taken : 0;
    for (size_t i = 0; i < count && left > 0; i++) {
        size_t part = left < pieces[i].iov_len ? left : pieces[i].iov_len;
        if (part == 0) {
            continue;
        }
        memcpy(pieces[i].iov_base, from, part);
        from += part;
        left -= part;
    }
    return taken;
}

ssize_t stream_discard(int socket, size_t size)
{
    const uint8_t *from;
    return take(&from, size);
}

/* A pipe takes 64 KiB at least without blocking. */
ssize_t stream_splice_in(int socket, int pipe, size_t size)
{
    const uint8_t *from;
    ssize_t taken = take(&from, size < 65536 ? size : 65536);
    if (taken > 0) {
        fuzz_require(write(pipe, from, (size_t)taken) == taken, "the pipe is full");
    }
    return taken;
}

ssize_t stream_splice_out(int pipe, int file, uint64_t offset, size_t size)
{
    loff_t to = (loff_t)offset;
    return splice(pipe, NULL, file, &to, size, 0);
}

/* The stream is always ready: at its end it has that to tell. Where sending may stand still there
 * is sometimes no room while there are bytes. */
int stream_poll(struct pollfd *descriptors, size_t count, uint64_t deadline_ns)
{
    for (size_t i = 0; i < count; i++) {
        bool ours = descriptors[i].fd == FUZZ_SOCKET;
        bool bytes_only = stream.full && (descriptors[i].events & POLLIN) && next_random() % 2 == 0;
        descriptors[i].revents = !ours ? 0 : bytes_only ? POLLIN : descriptors[i].events;
    }
    return 1;
}

bool stream_prepare_tcp(int socket, struct error *error)
{
    return true;
}

bool stream_limit_receive(int socket, uint64_t limit_ns, struct error *error)
{
    return true;
}

bool stream_limit_send(int socket, uint64_t limit_ns, struct error *error)
{
    return true;
}

void stream_end_sending(int socket)
{
}

void stream_reset(int socket)
{
}

void stream_shut_down(int socket)
{
}

bool stream_own_address(int socket, struct sockaddr_storage *address)
{
    return false;
}

/* ---- base/connect.h ---- */

bool connect_tcp(const struct connect_request *request, int *socket_fd,
                 char address[ADDRESS_TEXT_LENGTH], struct error *error)
{
    *socket_fd = FUZZ_SOCKET;
    snprintf(address, ADDRESS_TEXT_LENGTH, "%.40s:%u", request->host, (unsigned)request->port);
    return true;
}
