/*
 * embedded_server.h - a reference server for the length of one run, in a process of its own, so
 * that its CPU time is not ours and a crash of either is not the other's.
 */
#ifndef AFPBENCH_CLI_EMBEDDED_SERVER_H
#define AFPBENCH_CLI_EMBEDDED_SERVER_H

#include "server/server.h"

#include <sys/types.h>

struct embedded_server {
    pid_t process; /* 0: not running */
    uint16_t port;
};

/* Starts it on a free port of loopback; it dies with us. Before any thread and before signals are
 * blocked. */
MUST_CHECK bool embedded_server_start(struct embedded_server *embedded,
                                      const struct server_config *config, struct error *error);

void embedded_server_stop(struct embedded_server *embedded);

#endif
