#include "netlab/netlink.h"

#include "base/memory.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- The socket ---- */

bool netlink_open(struct netlink *netlink, int protocol, struct error *error)
{
    *netlink = (struct netlink){.sequence = 1};
    netlink->socket = mnl_socket_open2(protocol, SOCK_CLOEXEC);
    if (netlink->socket == NULL) {
        return error_set_errno(error, errno, "cannot open a netlink socket");
    }
    if (mnl_socket_bind(netlink->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
        error_set_errno(error, errno, "cannot bind a netlink socket");
        netlink_close(netlink);
        return false;
    }
    netlink->port = mnl_socket_get_portid(netlink->socket);
    return true;
}

void netlink_close(struct netlink *netlink)
{
    if (netlink->socket != NULL) {
        mnl_socket_close(netlink->socket);
        netlink->socket = NULL;
    }
}

/* A list comes in several parts; the last one, or an acknowledgement, ends the loop. */
bool netlink_talk(struct netlink *netlink, struct nlmsghdr *message, mnl_cb_t each, void *context,
                  const char *what, struct error *error)
{
    char *answer = memory_allocate(NETLINK_BUFFER_BYTES, 1);
    if (answer == NULL) {
        return memory_error(error, "for netlink");
    }
    message->nlmsg_seq = ++netlink->sequence;
    int more = MNL_CB_ERROR;
    if (mnl_socket_sendto(netlink->socket, message, message->nlmsg_len) >= 0) {
        do {
            ssize_t got = mnl_socket_recvfrom(netlink->socket, answer, NETLINK_BUFFER_BYTES);
            more = got < 0 ? MNL_CB_ERROR
                           : mnl_cb_run(answer, (size_t)got, netlink->sequence, netlink->port, each,
                                        context);
        } while (more > MNL_CB_STOP);
    }
    int cause = errno;
    memory_release(answer);
    return more != MNL_CB_ERROR || error_set_errno(error, cause, "cannot %s", what);
}

/* ---- Messages ---- */

static struct nlmsghdr *begin(void *buffer, uint16_t type, uint16_t flags)
{
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
    message->nlmsg_type = type;
    message->nlmsg_flags = NLM_F_REQUEST | flags;
    return message;
}

static struct nlmsghdr *begin_change(void *buffer, uint16_t type, uint16_t flags)
{
    return begin(buffer, type, (uint16_t)(NLM_F_ACK | flags));
}

static void put_end(struct nlmsghdr *message, const struct netlink_end *end)
{
    mnl_attr_put_strz(message, IFLA_IFNAME, end->name);
    mnl_attr_put_u32(message, IFLA_NET_NS_FD, (uint32_t)end->namespace);
    mnl_attr_put_u32(message, IFLA_MTU, end->mtu);
}

struct nlmsghdr *netlink_put_pair(void *buffer, const struct netlink_end *first,
                                  const struct netlink_end *second)
{
    struct nlmsghdr *message = begin_change(buffer, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    mnl_nlmsg_put_extra_header(message, sizeof(struct ifinfomsg));
    put_end(message, first);
    struct nlattr *info = mnl_attr_nest_start(message, IFLA_LINKINFO);
    mnl_attr_put_strz(message, IFLA_INFO_KIND, "veth");
    struct nlattr *data = mnl_attr_nest_start(message, IFLA_INFO_DATA);
    struct nlattr *peer = mnl_attr_nest_start(message, VETH_INFO_PEER);
    mnl_nlmsg_put_extra_header(message, sizeof(struct ifinfomsg));
    put_end(message, second);
    mnl_attr_nest_end(message, peer);
    mnl_attr_nest_end(message, data);
    mnl_attr_nest_end(message, info);
    return message;
}

struct nlmsghdr *netlink_put_delete(void *buffer, unsigned interface)
{
    struct nlmsghdr *message = begin_change(buffer, RTM_DELLINK, 0);
    struct ifinfomsg *header = mnl_nlmsg_put_extra_header(message, sizeof *header);
    header->ifi_index = (int)interface;
    return message;
}

struct nlmsghdr *netlink_put_up(void *buffer, unsigned interface, uint32_t mtu)
{
    struct nlmsghdr *message = begin_change(buffer, RTM_NEWLINK, 0);
    struct ifinfomsg *header = mnl_nlmsg_put_extra_header(message, sizeof *header);
    header->ifi_index = (int)interface;
    header->ifi_flags = IFF_UP;
    header->ifi_change = IFF_UP;
    if (mtu > 0) {
        mnl_attr_put_u32(message, IFLA_MTU, mtu);
    }
    return message;
}

struct nlmsghdr *netlink_put_address(void *buffer, unsigned interface, struct in_addr address,
                                     uint8_t prefix_bits)
{
    struct nlmsghdr *message = begin_change(buffer, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
    struct ifaddrmsg *header = mnl_nlmsg_put_extra_header(message, sizeof *header);
    header->ifa_family = AF_INET;
    header->ifa_prefixlen = prefix_bits;
    header->ifa_index = interface;
    mnl_attr_put_u32(message, IFA_LOCAL, address.s_addr);
    mnl_attr_put_u32(message, IFA_ADDRESS, address.s_addr);
    mnl_attr_put_u32(message, IFA_FLAGS, IFA_F_NOPREFIXROUTE);
    return message;
}

struct nlmsghdr *netlink_put_neighbour(void *buffer, unsigned interface, struct in_addr address,
                                       const uint8_t mac[NETLINK_MAC_BYTES])
{
    struct nlmsghdr *message = begin_change(buffer, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
    struct ndmsg *header = mnl_nlmsg_put_extra_header(message, sizeof *header);
    header->ndm_family = AF_INET;
    header->ndm_ifindex = (int)interface;
    header->ndm_state = NUD_PERMANENT;
    mnl_attr_put_u32(message, NDA_DST, address.s_addr);
    mnl_attr_put(message, NDA_LLADDR, NETLINK_MAC_BYTES, mac);
    return message;
}

struct nlmsghdr *netlink_put_route(void *buffer, const struct netlink_route *route)
{
    struct nlmsghdr *message = begin_change(buffer, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
    struct rtmsg *header = mnl_nlmsg_put_extra_header(message, sizeof *header);
    header->rtm_family = AF_INET;
    header->rtm_dst_len = route->prefix_bits;
    header->rtm_table = RT_TABLE_MAIN;
    header->rtm_protocol = RTPROT_STATIC;
    header->rtm_scope = RT_SCOPE_LINK;
    header->rtm_type = RTN_UNICAST;
    mnl_attr_put_u32(message, RTA_DST, route->destination.s_addr);
    mnl_attr_put_u32(message, RTA_PREFSRC, route->source.s_addr);
    mnl_attr_put_u32(message, RTA_OIF, route->interface);
    if (route->congestion_control != NULL) {
        struct nlattr *metrics = mnl_attr_nest_start(message, RTA_METRICS);
        mnl_attr_put_strz(message, RTAX_CC_ALGO, route->congestion_control);
        mnl_attr_nest_end(message, metrics);
    }
    return message;
}

/* ---- Asking ---- */

int netlink_sort_in(const struct nlattr *attribute, void *context)
{
    const struct nlattr **sorted = context;
    uint16_t type = mnl_attr_get_type(attribute);
    if (type < NETLINK_ATTRIBUTES) {
        sorted[type] = attribute;
    }
    return MNL_CB_OK;
}

static bool has_u32(const struct nlattr *attribute)
{
    return attribute != NULL && mnl_attr_get_payload_len(attribute) == sizeof(uint32_t);
}

static int read_interface(const struct nlmsghdr *message, void *context)
{
    struct netlink_interface *interface = context;
    const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
    const struct nlattr *found[NETLINK_ATTRIBUTES] = {NULL};
    mnl_attr_parse(message, sizeof *header, netlink_sort_in, found);
    interface->index = (unsigned)header->ifi_index;
    if (has_u32(found[IFLA_MTU])) {
        interface->mtu = mnl_attr_get_u32(found[IFLA_MTU]);
    }
    if (found[IFLA_ADDRESS] != NULL &&
        mnl_attr_get_payload_len(found[IFLA_ADDRESS]) == NETLINK_MAC_BYTES) {
        memcpy(interface->mac, mnl_attr_get_payload(found[IFLA_ADDRESS]), NETLINK_MAC_BYTES);
    }
    return MNL_CB_OK;
}

bool netlink_find(struct netlink *netlink, const char *name, struct netlink_interface *interface,
                  struct error *error)
{
    char buffer[1024];
    char what[64];
    *interface = (struct netlink_interface){0};
    struct nlmsghdr *message = begin(buffer, RTM_GETLINK, NLM_F_ACK);
    mnl_nlmsg_put_extra_header(message, sizeof(struct ifinfomsg));
    mnl_attr_put_strz(message, IFLA_IFNAME, name);
    snprintf(what, sizeof what, "find the interface %s", name);
    return netlink_talk(netlink, message, read_interface, interface, what, error);
}

struct route_search {
    unsigned interface;
    char *name;
    size_t size;
};

static int read_route(const struct nlmsghdr *message, void *context)
{
    struct route_search *search = context;
    const struct nlattr *found[NETLINK_ATTRIBUTES] = {NULL};
    const struct nlattr *metrics[NETLINK_ATTRIBUTES] = {NULL};
    mnl_attr_parse(message, sizeof(struct rtmsg), netlink_sort_in, found);
    if (!has_u32(found[RTA_OIF]) || mnl_attr_get_u32(found[RTA_OIF]) != search->interface ||
        found[RTA_METRICS] == NULL) {
        return MNL_CB_OK;
    }
    mnl_attr_parse_nested(found[RTA_METRICS], netlink_sort_in, metrics);
    const struct nlattr *control = metrics[RTAX_CC_ALGO];
    if (control != NULL) {
        snprintf(search->name, search->size, "%.*s", (int)mnl_attr_get_payload_len(control),
                 mnl_attr_get_str(control));
    }
    return MNL_CB_OK;
}

bool netlink_route_congestion(struct netlink *netlink, unsigned interface, char *name, size_t size,
                              struct error *error)
{
    char buffer[1024];
    struct route_search search = {interface, name, size};
    name[0] = '\0';
    struct nlmsghdr *message = begin(buffer, RTM_GETROUTE, NLM_F_DUMP);
    struct rtmsg *header = mnl_nlmsg_put_extra_header(message, sizeof *header);
    header->rtm_family = AF_INET;
    return netlink_talk(netlink, message, read_route, &search, "read the routes", error);
}
