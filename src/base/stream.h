/*
 * stream.h - the socket calls of the project, thin and in one place.
 *
 * The functions in the first group are one system call each, restarted after EINTR, and return what
 * the call returned with errno set; they serve blocking and non-blocking sockets alike and never
 * raise SIGPIPE. Tests link others in the place of all but the second group, which loops over the
 * first until all is done on a blocking socket (stream_loops.c).
 */
#ifndef AFPBENCH_BASE_STREAM_H
#define AFPBENCH_BASE_STREAM_H

#include "base/error.h"

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* What one call may move: larger receives cost more in cache than they save in calls. */
#define STREAM_RECEIVE_BYTES ((size_t)256 * 1024)

/* Sends the pieces in one call; `more` says that the frame goes on (MSG_MORE). */
ssize_t stream_send(int socket, const struct iovec *pieces, size_t count, bool more);

/* Sends `size` bytes of a file from `offset` without copying (sendfile). */
ssize_t stream_send_file(int socket, int file, uint64_t offset, size_t size);

/* Receives into the pieces; 0 is the end of the stream. */
ssize_t stream_receive(int socket, const struct iovec *pieces, size_t count);

/* Drops up to `size` bytes in the kernel without copying them (MSG_TRUNC); TCP sockets only. */
ssize_t stream_discard(int socket, size_t size);

/* Moves up to `size` bytes from a socket into a pipe, or from a pipe into a file at `offset`,
 * without passing them through the process (splice). */
ssize_t stream_splice_in(int socket, int pipe, size_t size);
ssize_t stream_splice_out(int pipe, int file, uint64_t offset, size_t size);

/* Waits for events until `deadline_ns` of clock_now_ns() (UINT64_MAX: no limit). */
int stream_poll(struct pollfd *descriptors, size_t count, uint64_t deadline_ns);

/* Moves an array of pieces on by `sent` bytes: past those that are done, into the next. */
void stream_advance(struct iovec **pieces, size_t *count, size_t sent);

/* Blocking: all pieces; the array is used up. */
MUST_CHECK bool stream_send_all(int socket, struct iovec *pieces, size_t count, bool more,
                                struct error *error);
MUST_CHECK bool stream_send_file_all(int socket, int file, uint64_t offset, uint64_t size,
                                     struct error *error);

/* Blocking: exactly `size` bytes. End of stream before that is ERROR_CLOSED. */
MUST_CHECK bool stream_receive_all(int socket, void *buffer, size_t size, struct error *error);
MUST_CHECK bool stream_discard_all(int socket, uint64_t size, struct error *error);

/* Two ends of one blocking connection within this machine; the caller closes them. */
MUST_CHECK bool stream_pair(int pair[2], struct error *error);

/* TCP_NODELAY and SO_KEEPALIVE, wanted on every connection of ours. */
MUST_CHECK bool stream_prepare_tcp(int socket, struct error *error);

/* How long a blocking socket may wait for bytes, or for room; then the call fails with EAGAIN. */
MUST_CHECK bool stream_limit_receive(int socket, uint64_t limit_ns, struct error *error);
MUST_CHECK bool stream_limit_send(int socket, uint64_t limit_ns, struct error *error);

/* The peer reads the end of the stream. */
void stream_end_sending(int socket);

/* The peer of a TCP socket gets a reset, with what it was not sent yet lost. */
void stream_reset(int socket);

/* Ends both directions: whoever waits on the socket, here or at the peer, wakes up. */
void stream_shut_down(int socket);

/* The local end's address; false if the socket has none. */
bool stream_own_address(int socket, struct sockaddr_storage *address);

#endif
