/*
 * connection.h - the kernel's account of other programs' connections, over sock_diag netlink.
 *
 * Counts at both ends belong to the connection, not to the socket's owner: so a foreign server's
 * end is read the same way as the client's.
 */
#ifndef AFPBENCH_NETLAB_CONNECTION_H
#define AFPBENCH_NETLAB_CONNECTION_H

#include "base/tcp_info.h"
#include "netlab/lab.h"

struct connection {
    uint16_t client_port, server_port;
    struct tcp_snapshot tcp; /* buffers and segment size as far as the kernel reports them here */
};

/* The established connections on a side whose server port is `server_port`: the first `limit` of
 * them; `count` is how many there are, which may be more. */
MUST_CHECK bool connections_list(struct lab *lab, enum lab_side side, uint16_t server_port,
                                 struct connection *connections, size_t limit, size_t *count,
                                 struct error *error);

#endif
