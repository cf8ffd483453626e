#include "base/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LISTEN_BACKLOG 128

static int look_up(const char *address, struct addrinfo **info)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    return getaddrinfo(address, NULL, &hints, info);
}

/* A socket that is bound and listens; -1 with errno. */
static int listen_on(const struct addrinfo *address, uint16_t *port)
{
    int on = 1;
    struct sockaddr_storage bound;
    socklen_t length = address->ai_addrlen;
    memcpy(&bound, address->ai_addr, length);
    in_port_t *field = bound.ss_family == AF_INET6 ? &((struct sockaddr_in6 *)&bound)->sin6_port
                                                   : &((struct sockaddr_in *)&bound)->sin_port;
    *field = htons(*port);
    int listener = socket(bound.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) {
        return -1;
    }
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bound.ss_family == AF_INET6) {
        setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    }
    if (bind(listener, (struct sockaddr *)&bound, length) < 0 ||
        listen(listener, LISTEN_BACKLOG) < 0 ||
        getsockname(listener, (struct sockaddr *)&bound, &length) < 0) {
        int code = errno;
        close(listener);
        errno = code;
        return -1;
    }
    *port = ntohs(*field);
    return listener;
}

bool listen_tcp(const char *address, uint16_t *port, int *listener, struct error *error)
{
    struct addrinfo *info;
    int code = look_up(address, &info);
    if (code != 0) {
        return error_set(error, ERROR_USAGE, 0, "'%s' is not a numeric address: %s", address,
                         gai_strerror(code));
    }
    *listener = listen_on(info, port);
    code = errno;
    freeaddrinfo(info);
    if (*listener >= 0) {
        return true;
    }
    error_set_errno(error, code, "cannot listen on %s port %u", address, (unsigned)*port);
    return code == EACCES && error_remedy(error, REMEDY_HIGH_PORT);
}

int listen_accept(int listener)
{
    int client;
    do {
        client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    } while (client < 0 && errno == EINTR);
    return client;
}

bool listen_can_bind(const char *address)
{
    struct addrinfo *info;
    if (look_up(address, &info) != 0) {
        return false;
    }
    int probe = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = probe >= 0 && bind(probe, info->ai_addr, info->ai_addrlen) == 0;
    if (probe >= 0) {
        close(probe);
    }
    freeaddrinfo(info);
    return bound;
}
