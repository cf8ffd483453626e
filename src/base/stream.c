#include "base/stream.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t stream_send(int socket, const struct iovec *pieces, size_t count, bool more)
{
    struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = count};
    int flags = MSG_NOSIGNAL | (more ? MSG_MORE : 0);
    ssize_t sent;
    do {
        sent = sendmsg(socket, &message, flags);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t stream_send_file(int socket, int file, uint64_t offset, size_t size)
{
    off_t from = (off_t)offset;
    ssize_t sent;
    do {
        sent = sendfile(socket, file, &from, size);
    } while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t stream_receive(int socket, const struct iovec *pieces, size_t count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = count};
    ssize_t received;
    do {
        received = recvmsg(socket, &message, 0);
    } while (received < 0 && errno == EINTR);
    return received;
}

ssize_t stream_discard(int socket, size_t size)
{
    ssize_t received;
    do {
        /* Not recv(): sanitizers would take it that `size` bytes were written at NULL. */
        received = syscall(SYS_recvfrom, socket, NULL, size, MSG_TRUNC, NULL, NULL);
    } while (received < 0 && errno == EINTR);
    return received;
}

ssize_t stream_splice_in(int socket, int pipe, size_t size)
{
    ssize_t moved;
    do {
        moved = splice(socket, NULL, pipe, NULL, size, SPLICE_F_MOVE);
    } while (moved < 0 && errno == EINTR);
    return moved;
}

ssize_t stream_splice_out(int pipe, int file, uint64_t offset, size_t size)
{
    ssize_t moved;
    do {
        loff_t to = (loff_t)offset;
        moved = splice(pipe, NULL, file, &to, size, SPLICE_F_MOVE);
    } while (moved < 0 && errno == EINTR);
    return moved;
}

int stream_poll(struct pollfd *descriptors, size_t count, uint64_t deadline_ns)
{
    for (;;) {
        struct timespec wait;
        struct timespec *limit = NULL;
        if (deadline_ns != UINT64_MAX) {
            uint64_t now = clock_now_ns();
            uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
            wait = (struct timespec){.tv_sec = (time_t)(left / NS_PER_S),
                                     .tv_nsec = (long)(left % NS_PER_S)};
            limit = &wait;
        }
        int ready = ppoll(descriptors, count, limit, NULL);
        if (ready >= 0 || errno != EINTR) {
            return ready;
        }
    }
}

bool stream_pair(int pair[2], struct error *error)
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 ||
           error_set_errno(error, errno, "socketpair");
}

bool stream_prepare_tcp(int socket, struct error *error)
{
    int on = 1;
    if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) {
        return error_set_errno(error, errno, "TCP_NODELAY");
    }
    if (setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) < 0) {
        return error_set_errno(error, errno, "SO_KEEPALIVE");
    }
    return true;
}

static bool limit(int socket, int option, const char *name, uint64_t limit_ns, struct error *error)
{
    struct timeval wait = {.tv_sec = (time_t)(limit_ns / NS_PER_S),
                           .tv_usec = (suseconds_t)(limit_ns % NS_PER_S / NS_PER_US)};
    return setsockopt(socket, SOL_SOCKET, option, &wait, sizeof wait) == 0 ||
           error_set_errno(error, errno, "%s", name);
}

bool stream_limit_receive(int socket, uint64_t limit_ns, struct error *error)
{
    return limit(socket, SO_RCVTIMEO, "SO_RCVTIMEO", limit_ns, error);
}

bool stream_limit_send(int socket, uint64_t limit_ns, struct error *error)
{
    return limit(socket, SO_SNDTIMEO, "SO_SNDTIMEO", limit_ns, error);
}

void stream_end_sending(int socket)
{
    shutdown(socket, SHUT_WR);
}

void stream_shut_down(int socket)
{
    shutdown(socket, SHUT_RDWR);
}

void stream_reset(int socket)
{
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    connect(socket, &nobody, sizeof nobody); /* the way to an RST with data outstanding */
}

bool stream_own_address(int socket, struct sockaddr_storage *address)
{
    socklen_t length = sizeof *address;
    return getsockname(socket, (struct sockaddr *)address, &length) == 0;
}
