#include "failing_calls.h"

#include "failing_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* ---- What can go wrong ---- */

const struct fault faults[] = {
    {"out of memory", false, {false, false}, {[CALL_ALLOCATE] = ENOMEM}},
    {"a signal",
     false,
     {true, true},
     {[CALL_ACCEPT] = EINTR,
      [CALL_SEND] = EINTR,
      [CALL_RECEIVE] = EINTR,
      [CALL_SEND_FILE] = EINTR,
      [CALL_SPLICE] = EINTR,
      [CALL_POLL] = EINTR}},
    /* The server's sockets block: where one call would block, its tick has passed. */
    {"would block",
     false,
     {true, true},
     {[CALL_ACCEPT] = EAGAIN, [CALL_SEND] = EAGAIN, [CALL_RECEIVE] = EAGAIN}},
    {"a short count",
     false,
     {true, true},
     {[CALL_SEND] = FAIL_SHORT,
      [CALL_RECEIVE] = FAIL_SHORT,
      [CALL_SEND_FILE] = FAIL_SHORT,
      [CALL_SPLICE] = FAIL_SHORT}},
    {"a reset connection",
     false,
     {false, false},
     {[CALL_ACCEPT] = ECONNABORTED,
      [CALL_CONNECT] = ECONNREFUSED,
      [CALL_SEND] = ECONNRESET,
      [CALL_RECEIVE] = ECONNRESET,
      [CALL_SEND_FILE] = EPIPE,
      [CALL_SPLICE] = ECONNRESET}},
    {"Ctrl-C", true, {false, false}, {[CALL_POLL] = FAIL_INTERRUPT}},
    {"Ctrl-C before a request leaves", true, {false, false}, {[CALL_SEND] = FAIL_FULL}},
    {"no resources",
     false,
     {false, false},
     {[CALL_SOCKET] = ENFILE,
      [CALL_BIND] = EADDRINUSE,
      [CALL_LISTEN] = EADDRINUSE,
      [CALL_ACCEPT] = ENOBUFS,
      [CALL_CONNECT] = EADDRNOTAVAIL,
      [CALL_OPTION] = ENOBUFS,
      [CALL_NAME] = ENOBUFS,
      [CALL_SEND] = ENOBUFS,
      [CALL_RECEIVE] = ENOMEM,
      [CALL_SEND_FILE] = ENOMEM,
      [CALL_SPLICE] = ENOMEM,
      [CALL_POLL] = ENOMEM}},
};
const size_t fault_count = sizeof faults / sizeof faults[0];

int failing_calls_interrupt = -1;

static struct {
    const struct fault *fault; /* NULL: nothing fails */
    enum failing_side side;
    pthread_t client;
    unsigned number;
    atomic_uint calls;
    atomic_bool fired;
} plan;

static int strike(enum failing_call call)
{
    const struct fault *fault = plan.fault;
    enum failing_side side = pthread_equal(pthread_self(), plan.client) ? FAIL_CLIENT : FAIL_SERVER;
    if (fault == NULL || fault->codes[call] == 0 || side != plan.side ||
        ++plan.calls != plan.number) {
        return 0;
    }
    plan.fired = true;
    return fault->codes[call];
}

static bool may_allocate(size_t size_bytes)
{
    return strike(CALL_ALLOCATE) == 0;
}

void failing_calls_arm(enum failing_side side, const struct fault *fault, unsigned number)
{
    memory_hook = may_allocate;
    plan.client = pthread_self();
    plan.side = side;
    plan.number = number;
    plan.calls = 0;
    plan.fired = false;
    plan.fault = fault;
}

void failing_calls_disarm(void)
{
    plan.number = 0; /* the other side may be looking */
}

bool failing_calls_fired(void)
{
    return plan.fired;
}

/* ---- The calls: the linker puts them in the place of the C library's (--wrap) ---- */

/* True if the call fails, with errno; *size may have become 1. */
static bool struck(enum failing_call call, size_t *size)
{
    int code = strike(call);
    if (code == FAIL_SHORT) {
        *size = *size > 0 ? 1 : 0;
    } else if (code == FAIL_INTERRUPT) {
        (void)eventfd_write(failing_calls_interrupt, 1);
    } else if (code == FAIL_FULL) {
        (void)eventfd_write(failing_calls_interrupt, 1);
        errno = EAGAIN;
        return true;
    } else if (code != 0) {
        errno = code;
        return true;
    }
    return false;
}

static bool failed(enum failing_call call)
{
    size_t ignored = 0;
    return struck(call, &ignored);
}

/* The message with its first byte only. */
static struct msghdr *shortened(const struct msghdr *message, struct msghdr *copy,
                                struct iovec *piece)
{
    *copy = *message;
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        if (message->msg_iov[i].iov_len > 0) {
            *piece = (struct iovec){message->msg_iov[i].iov_base, 1};
            copy->msg_iov = piece;
            copy->msg_iovlen = 1;
            break;
        }
    }
    return copy;
}

int __real_ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *limit,
                 const sigset_t *signals);

/* FAIL_FULL has struck, and nobody has acknowledged it. */
static bool full(void)
{
    if (plan.fault == NULL || plan.fault->codes[CALL_SEND] != FAIL_FULL || !plan.fired ||
        !pthread_equal(pthread_self(), plan.client)) {
        return false;
    }
    struct pollfd waiting = {.fd = failing_calls_interrupt, .events = POLLIN};
    errno = EAGAIN;
    return __real_ppoll(&waiting, 1, &(struct timespec){0}, NULL) > 0;
}

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct msghdr copy;
    struct iovec piece;
    size_t size = 2;
    if (full() || struck(CALL_SEND, &size)) {
        return -1;
    }
    return __real_sendmsg(fd, size == 1 ? shortened(message, &copy, &piece) : message, flags);
}

/* With Ctrl-C every receive of the client comes too early, so that it always waits. */
static bool too_early(void)
{
    static bool was_early; /* the client's only */
    if (plan.fault == NULL || plan.fault->codes[CALL_POLL] != FAIL_INTERRUPT ||
        !pthread_equal(pthread_self(), plan.client)) {
        return false;
    }
    was_early = !was_early;
    errno = EAGAIN;
    return was_early;
}

ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
    struct msghdr copy;
    struct iovec piece;
    size_t size = 2;
    if (too_early() || struck(CALL_RECEIVE, &size)) {
        return -1;
    }
    return __real_recvmsg(fd, size == 1 ? shortened(message, &copy, &piece) : message, flags);
}

ssize_t __real_recv(int fd, void *buffer, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags);

ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags)
{
    return struck(CALL_RECEIVE, &size) ? -1 : __real_recv(fd, buffer, size, flags);
}

ssize_t __real_sendfile64(int fd, int file, off64_t *offset, size_t size);
ssize_t __wrap_sendfile64(int fd, int file, off64_t *offset, size_t size);

ssize_t __wrap_sendfile64(int fd, int file, off64_t *offset, size_t size)
{
    return struck(CALL_SEND_FILE, &size) ? -1 : __real_sendfile64(fd, file, offset, size);
}

ssize_t __real_splice(int from, loff_t *from_offset, int to, loff_t *to_offset, size_t size,
                      unsigned flags);
ssize_t __wrap_splice(int from, loff_t *from_offset, int to, loff_t *to_offset, size_t size,
                      unsigned flags);

ssize_t __wrap_splice(int from, loff_t *from_offset, int to, loff_t *to_offset, size_t size,
                      unsigned flags)
{
    return struck(CALL_SPLICE, &size)
               ? -1
               : __real_splice(from, from_offset, to, to_offset, size, flags);
}

int __wrap_ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *limit,
                 const sigset_t *signals);

int __wrap_ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *limit,
                 const sigset_t *signals)
{
    return failed(CALL_POLL) ? -1 : __real_ppoll(descriptors, count, limit, signals);
}

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);

int __wrap_socket(int domain, int type, int protocol)
{
    return failed(CALL_SOCKET) ? -1 : __real_socket(domain, type, protocol);
}

int __real_connect(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size);

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size)
{
    return failed(CALL_CONNECT) ? -1 : __real_connect(fd, address, size);
}

int __real_bind(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size);

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size)
{
    return failed(CALL_BIND) ? -1 : __real_bind(fd, address, size);
}

int __real_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog);

int __wrap_listen(int fd, int backlog)
{
    return failed(CALL_LISTEN) ? -1 : __real_listen(fd, backlog);
}

int __real_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    return failed(CALL_ACCEPT) ? -1 : __real_accept4(fd, address, size, flags);
}

int __real_setsockopt(int fd, int level, int option, const void *value, socklen_t size);
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t size);

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
    return failed(CALL_OPTION) ? -1 : __real_setsockopt(fd, level, option, value, size);
}

int __real_getsockopt(int fd, int level, int option, void *value, socklen_t *size);
int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *size);

int __wrap_getsockopt(int fd, int level, int option, void *value, socklen_t *size)
{
    return failed(CALL_OPTION) ? -1 : __real_getsockopt(fd, level, option, value, size);
}

int __real_getsockname(int fd, struct sockaddr *address, socklen_t *size);
int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *size);

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *size)
{
    return failed(CALL_NAME) ? -1 : __real_getsockname(fd, address, size);
}
