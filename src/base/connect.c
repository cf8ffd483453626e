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

/* Between the beginnings of two attempts that overlap, as RFC 8305 has it. */
#define ATTEMPT_STEP_NS (250 * NS_PER_MS)
#define ATTEMPT_LIMIT   16 /* at once */

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

/* ---- Attempts ---- */

/* A connection on its way to one address. */
struct attempt {
    int fd;
    uint64_t deadline_ns;
    const struct addrinfo *info;
};

/* All attempts of one call. They overlap: an address that swallows packets delays the one after it
 * by ATTEMPT_STEP_NS, not by the timeout (RFC 8305). */
struct attempts {
    const struct connect_request *request;
    struct attempt list[ATTEMPT_LIMIT];
    size_t count;
    const struct addrinfo *next; /* the address to try next; NULL: all were tried */
    uint64_t next_ns;            /* when, unless an attempt fails before */
};

static bool connection_failed(const struct addrinfo *info, int code, struct error *error)
{
    char address[ADDRESS_TEXT_LENGTH];
    address_text(info, address);
    return error_set_errno(error, code, "cannot connect to %s", address);
}

/* Begins with the next address. False: that one cannot be reached at all. */
static bool attempt_start(struct attempts *attempts, struct error *error)
{
    const struct addrinfo *info = attempts->next;
    uint64_t now_ns = clock_now_ns();
    attempts->next = info->ai_next;
    attempts->next_ns = now_ns + ATTEMPT_STEP_NS;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (fd < 0) {
        char address[ADDRESS_TEXT_LENGTH];
        address_text(info, address);
        return error_set_errno(error, errno, "cannot make a socket for %s", address);
    }
    bool ok = stream_prepare_tcp(fd, error);
    if (ok && connect(fd, info->ai_addr, info->ai_addrlen) < 0 && errno != EINPROGRESS) {
        ok = connection_failed(info, errno, error);
    }
    if (!ok) {
        close(fd);
        return false;
    }
    attempts->list[attempts->count++] =
        (struct attempt){fd, now_ns + attempts->request->timeout_ns, info};
    return true;
}

static void attempt_end(struct attempts *attempts, size_t index)
{
    close(attempts->list[index].fd);
    attempts->list[index] = attempts->list[--attempts->count];
}

/* What became of an attempt that poll() says something about. */
static bool attempt_result(const struct attempt *attempt, struct error *error)
{
    int code = 0;
    socklen_t size = sizeof code;
    if (getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &code, &size) < 0) {
        code = errno;
    }
    return code == 0 || connection_failed(attempt->info, code, error);
}

static void attempt_timed_out(const struct attempts *attempts, size_t index, struct error *error)
{
    char address[ADDRESS_TEXT_LENGTH];
    address_text(attempts->list[index].info, address);
    error_set(error, ERROR_TIMEOUT, 0, "no answer from %s in %g s while connecting", address,
              (double)attempts->request->timeout_ns / (double)NS_PER_S);
    error_remedy(error, REMEDY_TIME_LIMIT);
}

static bool may_start(const struct attempts *attempts)
{
    return attempts->next != NULL && attempts->count < ATTEMPT_LIMIT;
}

/* Waits for news of any attempt, or until the next may begin. */
static bool attempts_poll(const struct attempts *attempts, struct pollfd *descriptors,
                          struct error *error)
{
    uint64_t until_ns = may_start(attempts) ? attempts->next_ns : UINT64_MAX;
    for (size_t i = 0; i < attempts->count; i++) {
        const struct attempt *attempt = &attempts->list[i];
        descriptors[i] = (struct pollfd){.fd = attempt->fd, .events = POLLOUT};
        until_ns = attempt->deadline_ns < until_ns ? attempt->deadline_ns : until_ns;
    }
    struct interrupt *interrupt = attempts->request->interrupt;
    struct pollfd *last = &descriptors[attempts->count];
    *last = (struct pollfd){.fd = interrupt->fd, .events = POLLIN};
    if (stream_poll(descriptors, attempts->count + 1, until_ns) < 0) {
        return error_set_errno(error, errno, "poll");
    }
    return last->revents == 0 || interrupt_check(interrupt, error);
}

/* Takes the first connection that is up out of the list; -1: none yet. Those that failed are
 * ended, and the next address need not wait. */
static int attempts_harvest(struct attempts *attempts, const struct pollfd *descriptors,
                            const struct addrinfo **info, struct error *error)
{
    uint64_t now_ns = clock_now_ns();
    for (size_t i = attempts->count; i-- > 0;) {
        struct attempt *attempt = &attempts->list[i];
        if (descriptors[i].revents != 0 && attempt_result(attempt, error)) {
            int fd = attempt->fd;
            *info = attempt->info;
            *attempt = attempts->list[--attempts->count];
            return fd;
        }
        if (descriptors[i].revents == 0 && now_ns < attempt->deadline_ns) {
            continue;
        }
        if (descriptors[i].revents == 0) {
            attempt_timed_out(attempts, i, error);
        }
        attempt_end(attempts, i);
        attempts->next_ns = now_ns;
    }
    return -1;
}

/* The first of the addresses that takes the connection; `error` is that of the last to fail. */
static bool connect_any(struct attempts *attempts, int *fd, const struct addrinfo **info,
                        struct error *error)
{
    struct pollfd descriptors[ATTEMPT_LIMIT + 1];
    while (attempts->count > 0 || attempts->next != NULL) {
        if (may_start(attempts) && (attempts->count == 0 || clock_now_ns() >= attempts->next_ns)) {
            if (!attempt_start(attempts, error)) {
                attempts->next_ns = 0;
            }
            continue;
        }
        if (!attempts_poll(attempts, descriptors, error)) {
            return false;
        }
        *fd = attempts_harvest(attempts, descriptors, info, error);
        if (*fd >= 0) {
            return true;
        }
    }
    return false;
}

bool connect_tcp(const struct connect_request *request, int *socket_fd,
                 char address[ADDRESS_TEXT_LENGTH], struct error *error)
{
    struct connect_choice *choice = request->choice;
    struct addrinfo chosen;
    struct addrinfo *addresses = NULL;
    struct attempts attempts = {.request = request};
    const struct addrinfo *info = NULL;
    if (choice != NULL && choice->size > 0) {
        chosen = (struct addrinfo){.ai_family = choice->address.ss_family,
                                   .ai_addr = (struct sockaddr *)&choice->address,
                                   .ai_addrlen = choice->size};
        attempts.next = &chosen;
    } else if (!resolve(request->host, request->port, request->timeout_ns, request->interrupt,
                        &addresses, error)) {
        return false;
    } else {
        attempts.next = addresses;
    }
    bool ok = connect_any(&attempts, socket_fd, &info, error);
    if (ok) {
        address_text(info, address);
        if (choice != NULL && addresses != NULL && info->ai_addrlen <= sizeof choice->address) {
            memcpy(&choice->address, info->ai_addr, info->ai_addrlen);
            choice->size = info->ai_addrlen;
        }
    }
    while (attempts.count > 0) {
        attempt_end(&attempts, attempts.count - 1);
    }
    if (addresses != NULL) {
        freeaddrinfo(addresses);
    }
    return ok;
}
