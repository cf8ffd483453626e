/*
 * connect.h - from a host name to a connected socket.
 *
 * Resolving and connecting both stop at the timeout and at an interrupt. Every address that the
 * name resolves to is tried; the attempts overlap, 250 ms apart (RFC 8305), each with the whole
 * timeout, and the first that succeeds is taken.
 */
#ifndef AFPBENCH_BASE_CONNECT_H
#define AFPBENCH_BASE_CONNECT_H

#include "base/error.h"
#include "base/interrupt.h"

#include <stdint.h>
#include <sys/socket.h>

/* "[2001:db8::1]:548" */
#define ADDRESS_TEXT_LENGTH 80

/* The address that took a connection: later ones of the same run go there without asking for the
 * host's addresses again, or paying again for those that do not answer. */
struct connect_choice {
    struct sockaddr_storage address;
    socklen_t size; /* 0: not yet known */
};

struct connect_request {
    const char *host;
    uint16_t port;
    uint64_t timeout_ns;
    struct interrupt *interrupt;
    struct connect_choice *choice; /* used and filled; NULL: not kept */
};

/* A connected, non-blocking TCP socket with TCP_NODELAY; the caller closes it. `address` receives
 * the peer as text. Errors: ERROR_RESOLVE, ERROR_TIMEOUT, ERROR_SYSTEM, ERROR_INTERRUPTED; of
 * several addresses the error of the one that failed last. */
MUST_CHECK bool connect_tcp(const struct connect_request *request, int *socket_fd,
                            char address[ADDRESS_TEXT_LENGTH], struct error *error);

#endif
