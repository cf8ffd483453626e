/*
 * netlink.h - interfaces, addresses and routes of a network namespace, over rtnetlink (libmnl).
 *
 * A socket belongs to the namespace that it was opened in, whoever uses it later. The put functions
 * write the messages and are pure; the others send one request each and await its answer. Errors
 * are ERROR_SYSTEM and name what was asked for. One thread for each socket.
 */
#ifndef AFPBENCH_NETLAB_NETLINK_H
#define AFPBENCH_NETLAB_NETLINK_H

#include "base/error.h"

#include <libmnl/libmnl.h>
#include <netinet/in.h>
#include <stddef.h>

#define NETLINK_BUFFER_BYTES ((size_t)32 * 1024)
#define NETLINK_MAC_BYTES    6

struct netlink {
    struct mnl_socket *socket;
    uint32_t sequence;
    uint32_t port;
};

/* In the calling thread's namespace. `protocol` is NETLINK_ROUTE, NETLINK_SOCK_DIAG, … */
MUST_CHECK bool netlink_open(struct netlink *netlink, int protocol, struct error *error);
void netlink_close(struct netlink *netlink);

/* Sends `message`, whose sequence number it sets, and gives every answer to `each` (or NULL). False
 * with the kernel's reason in `error`: "cannot <what>: …". */
MUST_CHECK bool netlink_talk(struct netlink *netlink, struct nlmsghdr *message, mnl_cb_t each,
                             void *context, const char *what, struct error *error);

/* For mnl_attr_parse(): puts each attribute into its place, by its type, in an array of
 * NETLINK_ATTRIBUTES pointers. Higher types are passed over. */
#define NETLINK_ATTRIBUTES 64
int netlink_sort_in(const struct nlattr *attribute, void *context);

/* ---- Messages ---- */

struct netlink_end {
    const char *name;
    int namespace; /* descriptor */
    uint32_t mtu;
};

struct netlink_route {
    struct in_addr destination;
    uint8_t prefix_bits;
    struct in_addr source;
    unsigned interface;
    const char *congestion_control; /* NULL: the kernel's */
};

/* Each writes one whole request into `buffer` of NETLINK_BUFFER_BYTES, and returns it. */
struct nlmsghdr *netlink_put_pair(void *buffer, const struct netlink_end *first,
                                  const struct netlink_end *second);
struct nlmsghdr *netlink_put_delete(void *buffer, unsigned interface);
/* Sets the MTU (0: as it is) and brings the interface up. */
struct nlmsghdr *netlink_put_up(void *buffer, unsigned interface, uint32_t mtu);
/* Without the route that the kernel would add by itself. */
struct nlmsghdr *netlink_put_address(void *buffer, unsigned interface, struct in_addr address,
                                     uint8_t prefix_bits);
/* One that never expires and is never asked for. */
struct nlmsghdr *netlink_put_neighbour(void *buffer, unsigned interface, struct in_addr address,
                                       const uint8_t mac[NETLINK_MAC_BYTES]);
struct nlmsghdr *netlink_put_route(void *buffer, const struct netlink_route *route);

/* ---- Asking ---- */

struct netlink_interface {
    unsigned index;
    uint32_t mtu;
    uint8_t mac[NETLINK_MAC_BYTES];
};

MUST_CHECK bool netlink_find(struct netlink *netlink, const char *name,
                             struct netlink_interface *interface, struct error *error);

/* The congestion control that the routes of an interface ask for; "" where none does. */
MUST_CHECK bool netlink_route_congestion(struct netlink *netlink, unsigned interface, char *name,
                                         size_t size, struct error *error);

#endif
