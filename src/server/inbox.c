#include "server/inbox.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* How much more than needed one receive may take: a handful of small requests. Not more, since data
 * that lands in the buffer is copied once more than data that does not. */
#define READ_AHEAD ((size_t)512)

#define BUFFER_SIZE (INBOX_BLOCK_LIMIT + READ_AHEAD)

/* Room for one receive of bytes that are only stored. */
#define STORE_STEP ((size_t)256 * 1024)

/* What travels through the pipe at once; measured best between 64 KiB and 1 MiB. */
#define PIPE_SIZE ((size_t)256 * 1024)

bool inbox_open(struct inbox *inbox, int socket, uint64_t tick_ns, inbox_idle *idle, void *context,
                struct error *error)
{
    *inbox = (struct inbox){
        .socket = socket, .tick_ns = tick_ns, .idle = idle, .context = context, .pipe = {-1, -1}};
    if (!stream_limit_receive(socket, tick_ns, error)) {
        return false;
    }
    inbox->buffer = memory_allocate(BUFFER_SIZE, 1);
    inbox->capacity = BUFFER_SIZE;
    return inbox->buffer != NULL || memory_error(error, "for a session's requests");
}

static void close_pipe(struct inbox *inbox)
{
    for (int i = 0; i < 2; i++) {
        if (inbox->pipe[i] >= 0) {
            close(inbox->pipe[i]);
            inbox->pipe[i] = -1;
        }
    }
}

void inbox_close(struct inbox *inbox)
{
    close_pipe(inbox);
    memory_release(inbox->buffer);
    inbox->buffer = NULL;
}

/* Judges the outcome of one receiving call: true to go on, also when nothing came and the owner
 * wants to wait on; *size is what came. */
static bool arrived(struct inbox *inbox, ssize_t received, size_t *size, struct error *error)
{
    *size = 0;
    if (received > 0) {
        *size = (size_t)received;
        inbox->silent_ns = 0;
        return true;
    }
    if (received == 0) {
        return error_set(error, ERROR_CLOSED, 0, "the client closed the connection");
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
        return error_set_errno(error, errno, "receive");
    }
    inbox->silent_ns += inbox->tick_ns;
    return inbox->idle(inbox->context, inbox->silent_ns, error);
}

static void move_to_front(struct inbox *inbox)
{
    size_t have = inbox->end - inbox->begin;
    memmove(inbox->buffer, inbox->buffer + inbox->begin, have);
    inbox->begin = 0;
    inbox->end = have;
}

static bool resize_buffer(struct inbox *inbox, size_t capacity)
{
    uint8_t *buffer = memory_resize(inbox->buffer, capacity, 1);
    if (buffer != NULL) {
        inbox->buffer = buffer;
        inbox->capacity = capacity;
    }
    return buffer != NULL;
}

bool inbox_can_store(const struct inbox *inbox)
{
    return !inbox->ended && inbox->end - inbox->begin < inbox->store_limit;
}

bool inbox_store(struct inbox *inbox, struct error *error)
{
    size_t have = inbox->end - inbox->begin;
    if (inbox->capacity - inbox->end < STORE_STEP && inbox->begin >= have) {
        move_to_front(inbox);
    }
    if (inbox->capacity - inbox->end < STORE_STEP &&
        !resize_buffer(inbox, inbox->capacity * 2 + STORE_STEP)) {
        return memory_error(error, "for requests that are read ahead");
    }
    struct iovec room = {inbox->buffer + inbox->end, inbox->capacity - inbox->end};
    room.iov_len = room.iov_len < STORE_STEP ? room.iov_len : STORE_STEP;
    ssize_t received = stream_receive(inbox->socket, &room, 1);
    if (received < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
        return error_set_errno(error, errno, "receive");
    }
    inbox->ended = received == 0; /* the next ordinary receive meets it again */
    inbox->end += received > 0 ? (size_t)received : 0;
    return true;
}

/* Makes `size` bytes available in one piece at inbox->begin. */
static bool fill(struct inbox *inbox, size_t size, struct error *error)
{
    size_t have = inbox->end - inbox->begin;
    if (have >= size) {
        return true;
    }
    if (have == 0 && inbox->capacity > BUFFER_SIZE) {
        resize_buffer(inbox, BUFFER_SIZE);
    }
    if (inbox->capacity - inbox->begin < size + READ_AHEAD) {
        move_to_front(inbox);
    }
    inbox->silent_ns = 0;
    while (inbox->end - inbox->begin < size) {
        struct iovec room = {inbox->buffer + inbox->end,
                             inbox->begin + size + READ_AHEAD - inbox->end};
        size_t received;
        if (!arrived(inbox, stream_receive(inbox->socket, &room, 1), &received, error)) {
            return false;
        }
        inbox->end += received;
    }
    return true;
}

/* Up to `size` bytes that are already here, and are taken now. */
static struct span take_buffered(struct inbox *inbox, uint64_t size)
{
    size_t have = inbox->end - inbox->begin;
    struct span span = {inbox->buffer + inbox->begin, size < have ? (size_t)size : have};
    inbox->begin += span.size;
    if (inbox->begin == inbox->end) {
        inbox->begin = inbox->end = 0;
    }
    return span;
}

bool inbox_header(struct inbox *inbox, struct dsi_header *header, struct error *error)
{
    if (!fill(inbox, DSI_HEADER_SIZE, error)) {
        return false;
    }
    *header = dsi_header_decode(take_buffered(inbox, DSI_HEADER_SIZE).data);
    inbox->frame_left = header->length;
    return true;
}

bool inbox_peek(struct inbox *inbox, uint8_t *byte, struct error *error)
{
    if (!fill(inbox, 1, error)) {
        return false;
    }
    *byte = inbox->buffer[inbox->begin];
    return true;
}

bool inbox_block(struct inbox *inbox, size_t size, struct span *block, struct error *error)
{
    if (size > INBOX_BLOCK_LIMIT || size > inbox->frame_left) {
        return error_set(error, ERROR_PROTOCOL, 0, "a request block of %zu bytes", size);
    }
    if (!fill(inbox, size, error)) {
        return false;
    }
    *block = take_buffered(inbox, size);
    inbox->frame_left -= size;
    return true;
}

void inbox_forget(struct inbox *inbox, struct span block)
{
    memory_wipe(inbox->buffer + (block.data - inbox->buffer), block.size);
}

bool inbox_discard(struct inbox *inbox, uint64_t size, struct error *error)
{
    size = size < inbox->frame_left ? size : inbox->frame_left;
    inbox->frame_left -= size;
    size -= take_buffered(inbox, size).size;
    inbox->silent_ns = 0;
    while (size > 0) {
        size_t step = size < STREAM_RECEIVE_BYTES ? (size_t)size : STREAM_RECEIVE_BYTES;
        size_t received;
        if (!arrived(inbox, stream_discard(inbox->socket, step), &received, error)) {
            return false;
        }
        size -= received;
    }
    return true;
}

bool inbox_finish(struct inbox *inbox, struct error *error)
{
    return inbox->frame_left == 0 || inbox_discard(inbox, inbox->frame_left, error);
}

static bool open_pipe(struct inbox *inbox)
{
    if (inbox->pipe[0] >= 0) {
        return true;
    }
    if (pipe2(inbox->pipe, O_CLOEXEC) < 0) {
        inbox->pipe[0] = inbox->pipe[1] = -1;
        return false;
    }
    /* A smaller pipe only costs calls. */
    (void)fcntl(inbox->pipe[0], F_SETPIPE_SZ, (int)PIPE_SIZE);
    return true;
}

static bool bytes_to_file(struct span bytes, int file, uint64_t offset, uint64_t *moved,
                          int *file_error)
{
    while (bytes.size > 0) {
        ssize_t written = pwrite(file, bytes.data, bytes.size, (off_t)offset);
        if (written < 0 && errno != EINTR) {
            *file_error = errno;
            return false;
        }
        size_t step = written > 0 ? (size_t)written : 0;
        bytes.data += step;
        bytes.size -= step;
        offset += step;
        *moved += step;
    }
    return true;
}

/* A piece of what is in the pipe, to a file that takes no splice. The buffer is free: nothing goes
 * into the pipe while it holds bytes. Returns what splice would. */
static ssize_t copy_out(struct inbox *inbox, int file, uint64_t offset, size_t size)
{
    uint64_t moved = 0;
    int code = 0;
    ssize_t got = read(inbox->pipe[0], inbox->buffer, size < BUFFER_SIZE ? size : BUFFER_SIZE);
    if (got > 0 &&
        !bytes_to_file((struct span){inbox->buffer, (size_t)got}, file, offset, &moved, &code)) {
        errno = code;
        return -1;
    }
    return got;
}

/* Empties the pipe into the file. */
static bool pipe_to_file(struct inbox *inbox, int file, uint64_t offset, size_t size,
                         uint64_t *moved, int *file_error)
{
    while (size > 0) {
        ssize_t written = stream_splice_out(inbox->pipe[0], file, offset, size);
        if (written < 0 && errno == EINVAL) {
            written = copy_out(inbox, file, offset, size);
        }
        if (written <= 0) {
            *file_error = written < 0 ? errno : EIO;
            close_pipe(inbox); /* what is in it is lost; the next transfer gets a new one */
            return false;
        }
        offset += (uint64_t)written;
        size -= (size_t)written;
        *moved += (uint64_t)written;
    }
    return true;
}

bool inbox_to_file(struct inbox *inbox, int file, uint64_t offset, uint64_t size, uint64_t *moved,
                   int *file_error, struct error *error)
{
    *moved = 0;
    *file_error = 0;
    struct span came = take_buffered(inbox, size); /* with the header */
    inbox->frame_left -= came.size;
    if (!bytes_to_file(came, file, offset, moved, file_error)) {
        return true;
    }
    if (*moved < size && !open_pipe(inbox)) {
        *file_error = errno;
        return true;
    }
    inbox->silent_ns = 0;
    while (*moved < size) {
        size_t step = size - *moved < PIPE_SIZE ? (size_t)(size - *moved) : PIPE_SIZE;
        size_t received;
        if (!arrived(inbox, stream_splice_in(inbox->socket, inbox->pipe[1], step), &received,
                     error)) {
            return false;
        }
        inbox->frame_left -= received;
        if (!pipe_to_file(inbox, file, offset + *moved, received, moved, file_error)) {
            return true;
        }
    }
    return true;
}
