#include "base/connect.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How often a resolver that runs in its own thread is asked whether it is done. */
#define RESOLVE_STEP_NS (20 * NS_PER_MS)

#define SERVICE_LENGTH 8 /* a port in decimal digits */

/* An address needs no resolver, and no thread for one. */
static bool is_address(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **addresses)
{
    struct addrinfo numeric = *hints;
    numeric.ai_flags |= AI_NUMERICHOST;
    return getaddrinfo(host, service, &numeric, addresses) == 0;
}

/* What the resolver's thread works on. It cannot be stopped while it waits for a name server, maybe
 * for half a minute: then it keeps the look-up, which nobody else uses any more. */
struct lookup {
    struct gaicb request;
    struct addrinfo hints;
    char *host;
    char service[SERVICE_LENGTH];
};

static void lookup_release(struct lookup *lookup)
{
    if (lookup != NULL) {
        memory_release(lookup->host);
        memory_release(lookup);
    }
}

static struct lookup *lookup_create(const char *host, const char *service,
                                    const struct addrinfo *hints, struct error *error)
{
    struct lookup *lookup = memory_allocate(1, sizeof *lookup);
    char *copy = memory_copy_string(host);
    if (lookup == NULL || copy == NULL) {
        memory_release(copy);
        memory_release(lookup);
        memory_error(error, "for a host's addresses");
        return NULL;
    }
    lookup->hints = *hints;
    lookup->host = copy;
    memcpy(lookup->service, service, sizeof lookup->service);
    lookup->request = (struct gaicb){
        .ar_name = copy, .ar_service = lookup->service, .ar_request = &lookup->hints};
    return lookup;
}

/* Until the resolver is done, with *code; false if that takes too long or is interrupted. */
static bool await_lookup(struct lookup *lookup, uint64_t timeout_ns, struct interrupt *interrupt,
                         int *code, struct error *error)
{
    const struct gaicb *const list[] = {&lookup->request};
    uint64_t deadline = clock_now_ns() + timeout_ns;
    while ((*code = gai_error(&lookup->request)) == EAI_INPROGRESS) {
        struct timespec step = {.tv_nsec = (long)RESOLVE_STEP_NS};
        gai_suspend(list, 1, &step);
        if (!interrupt_check(interrupt, error)) {
            return false;
        }
        if (clock_now_ns() > deadline) {
            return error_set(error, ERROR_TIMEOUT, 0, "no address for '%s' found in %.0f s",
                             lookup->host, (double)timeout_ns / (double)NS_PER_S);
        }
    }
    return true;
}

/* getaddrinfo() cannot be interrupted, so it runs aside. */
static bool resolve(const char *host, uint16_t port, uint64_t timeout_ns,
                    struct interrupt *interrupt, struct addrinfo **addresses, struct error *error)
{
    char service[SERVICE_LENGTH];
    snprintf(service, sizeof service, "%u", (unsigned)port);
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    if (is_address(host, service, &hints, addresses)) {
        return true;
    }
    struct lookup *lookup = lookup_create(host, service, &hints, error);
    if (lookup == NULL) {
        return false;
    }
    struct gaicb *list[] = {&lookup->request};
    int code = getaddrinfo_a(GAI_NOWAIT, list, 1, NULL);
    if (code == 0 && !await_lookup(lookup, timeout_ns, interrupt, &code, error)) {
        if (gai_cancel(&lookup->request) != EAI_NOTCANCELED) {
            if (lookup->request.ar_result != NULL) { /* it was done at the last moment */
                freeaddrinfo(lookup->request.ar_result);
            }
            lookup_release(lookup);
        }
        return false;
    }
    *addresses = lookup->request.ar_result;
    lookup_release(lookup);
    return code == 0 || error_set(error, ERROR_RESOLVE, code, "cannot resolve host '%s': %s", host,
                                  gai_strerror(code));
}

static void address_text(const struct addrinfo *info, char text[ADDRESS_TEXT_LENGTH])
{
    char host[56];
    char port[8];
    if (getnameinfo(info->ai_addr, info->ai_addrlen, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        snprintf(text, ADDRESS_TEXT_LENGTH, "(unknown address)");
    } else if (info->ai_family == AF_INET6) {
        snprintf(text, ADDRESS_TEXT_LENGTH, "[%s]:%s", host, port);
    } else {
        snprintf(text, ADDRESS_TEXT_LENGTH, "%s:%s", host, port);
    }
}

/* Waits until the connection is up or has failed. */
static bool await_connection(int fd, uint64_t timeout_ns, struct interrupt *interrupt,
                             const char *address, struct error *error)
{
    struct pollfd descriptors[] = {{.fd = fd, .events = POLLOUT},
                                   {.fd = interrupt->fd, .events = POLLIN}};
    uint64_t deadline = clock_now_ns() + timeout_ns;
    for (;;) {
        int ready = stream_poll(descriptors, 2, deadline);
        if (ready < 0) {
            return error_set_errno(error, errno, "poll");
        }
        if (ready == 0) {
            return error_set(error, ERROR_TIMEOUT, 0,
                             "no answer from %s in %g s while connecting (--timeout)", address,
                             (double)timeout_ns / (double)NS_PER_S);
        }
        if (descriptors[1].revents != 0 && !interrupt_check(interrupt, error)) {
            return false;
        }
        if (descriptors[0].revents != 0) {
            break;
        }
    }
    int code = 0;
    socklen_t size = sizeof code;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) < 0) {
        code = errno;
    }
    return code == 0 || error_set_errno(error, code, "cannot connect to %s", address);
}

static bool connect_address(const struct addrinfo *info, uint64_t timeout_ns,
                            struct interrupt *interrupt, int *socket_fd, const char *address,
                            struct error *error)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (fd < 0) {
        return error_set_errno(error, errno, "cannot make a socket for %s", address);
    }
    bool ok = stream_prepare_tcp(fd, error);
    if (ok && connect(fd, info->ai_addr, info->ai_addrlen) < 0) {
        ok = errno == EINPROGRESS ? await_connection(fd, timeout_ns, interrupt, address, error)
                                  : error_set_errno(error, errno, "cannot connect to %s", address);
    }
    if (!ok) {
        close(fd);
        return false;
    }
    *socket_fd = fd;
    return true;
}

bool connect_tcp(const char *host, uint16_t port, uint64_t timeout_ns, struct interrupt *interrupt,
                 int *socket_fd, char address[ADDRESS_TEXT_LENGTH], struct error *error)
{
    struct addrinfo *addresses = NULL;
    bool ok = resolve(host, port, timeout_ns, interrupt, &addresses, error);
    if (ok) {
        ok = false;
        for (const struct addrinfo *info = addresses; info != NULL && !ok; info = info->ai_next) {
            address_text(info, address);
            ok = connect_address(info, timeout_ns, interrupt, socket_fd, address, error);
            if (!ok && error->domain == ERROR_INTERRUPTED) {
                break;
            }
        }
    }
    if (addresses != NULL) {
        freeaddrinfo(addresses);
    }
    return ok;
}
