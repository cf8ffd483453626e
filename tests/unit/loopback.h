/*
 * loopback.h - TCP connections within this machine, for tests.
 *
 * Sockets block and are the caller's to close; what cannot be had fails the test.
 */
#ifndef AFPBENCH_TESTS_LOOPBACK_H
#define AFPBENCH_TESTS_LOOPBACK_H

#include "unit.h"

#include "base/listen.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A listener on a port that the system chose. */
static inline int loopback_listen(uint16_t *port)
{
    struct error error;
    int listener;
    *port = 0;
    check(listen_tcp("127.0.0.1", port, &listener, &error), "%s", error.message);
    assert_int_equal(fcntl(listener, F_SETFL, 0), 0);
    return listener;
}

/* Both ends of a connection. */
static inline void loopback_pair(int *near, int *far)
{
    uint16_t port;
    int listener = loopback_listen(&port);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    *near = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(*near, (struct sockaddr *)&address, sizeof address), 0);
    *far = accept(listener, NULL, NULL);
    assert_true(*far >= 0);
    close(listener);
}

#endif
