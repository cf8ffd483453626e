/*
 * listen.h - sockets that wait for clients.
 *
 * Addresses are numeric and listeners do not block, so nothing here waits. Any thread may call.
 */
#ifndef AFPBENCH_BASE_LISTEN_H
#define AFPBENCH_BASE_LISTEN_H

#include "base/error.h"

#include <stdint.h>

/* Listens on a numeric address, IPv6 without IPv4; the listener does not block. *port 0 becomes the
 * port that the system chose. ERROR_USAGE for an address that is none, else ERROR_SYSTEM with
 * errno: EADDRINUSE where somebody else has the port. */
MUST_CHECK bool listen_tcp(const char *address, uint16_t *port, int *listener, struct error *error);

/* The next client's socket, which blocks; -1 with errno, EAGAIN if nobody waits. */
int listen_accept(int listener);

/* Whether sockets can be bound to this numeric address here. */
bool listen_can_bind(const char *address);

#endif
