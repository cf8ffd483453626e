/*
 * connect.h - from a host name to a connected socket.
 *
 * Resolving and connecting both stop at the timeout and at an interrupt. Every address that the
 * name resolves to is tried in turn, each with the whole timeout.
 */
#ifndef AFPBENCH_BASE_CONNECT_H
#define AFPBENCH_BASE_CONNECT_H

#include "base/error.h"
#include "base/interrupt.h"

#include <stdint.h>

/* "[2001:db8::1]:548" */
#define ADDRESS_TEXT_LENGTH 80

/* A connected, non-blocking TCP socket with TCP_NODELAY; the caller closes it. `address` receives
 * the peer as text. Errors: ERROR_RESOLVE, ERROR_TIMEOUT, ERROR_SYSTEM, ERROR_INTERRUPTED. */
bool connect_tcp(const char *host, uint16_t port, uint64_t timeout_ns, struct interrupt *interrupt,
                 int *socket_fd, char address[ADDRESS_TEXT_LENGTH], struct error *error);

#endif
