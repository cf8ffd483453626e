/* The loops around the single calls: blocking, until all is done. Apart from stream.c, because
 * tests/fuzz/fuzz_stream.c takes the place of the single calls alone. */
#include "base/stream.h"

#include <errno.h>

void stream_advance(struct iovec **pieces, size_t *count, size_t sent)
{
    while (*count > 0 && sent >= (*pieces)->iov_len) {
        sent -= (*pieces)->iov_len;
        (*pieces)++;
        (*count)--;
    }
    if (*count > 0) {
        (*pieces)->iov_base = (char *)(*pieces)->iov_base + sent;
        (*pieces)->iov_len -= sent;
    }
}

bool stream_send_all(int socket, struct iovec *pieces, size_t count, bool more, struct error *error)
{
    while (count > 0) {
        if (pieces->iov_len == 0) {
            pieces++;
            count--;
            continue;
        }
        ssize_t sent = stream_send(socket, pieces, count, more);
        if (sent < 0) {
            return error_set_errno(error, errno, "send");
        }
        stream_advance(&pieces, &count, (size_t)sent);
    }
    return true;
}

bool stream_send_file_all(int socket, int file, uint64_t offset, uint64_t size, struct error *error)
{
    while (size > 0) {
        size_t step = size < (1U << 30) ? (size_t)size : (1U << 30);
        ssize_t sent = stream_send_file(socket, file, offset, step);
        if (sent < 0) {
            return error_set_errno(error, errno, "sendfile");
        }
        if (sent == 0) {
            return error_set(error, ERROR_SYSTEM, 0, "sendfile: the file ended early");
        }
        offset += (uint64_t)sent;
        size -= (uint64_t)sent;
    }
    return true;
}

bool stream_receive_all(int socket, void *buffer, size_t size, struct error *error)
{
    char *at = buffer;
    while (size > 0) {
        struct iovec piece = {at, size};
        ssize_t received = stream_receive(socket, &piece, 1);
        if (received < 0) {
            return error_set_errno(error, errno, "receive");
        }
        if (received == 0) {
            return error_set(error, ERROR_CLOSED, 0, "the peer closed the connection");
        }
        at += received;
        size -= (size_t)received;
    }
    return true;
}

bool stream_discard_all(int socket, uint64_t size, struct error *error)
{
    while (size > 0) {
        size_t step = size < STREAM_RECEIVE_BYTES ? (size_t)size : STREAM_RECEIVE_BYTES;
        ssize_t received = stream_discard(socket, step);
        if (received < 0) {
            return error_set_errno(error, errno, "receive");
        }
        if (received == 0) {
            return error_set(error, ERROR_CLOSED, 0, "the peer closed the connection");
        }
        size -= (uint64_t)received;
    }
    return true;
}
