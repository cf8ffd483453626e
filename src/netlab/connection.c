#include "netlab/connection.h"

#include "netlab/netlink.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define ASKED(extension) (1U << ((extension)-1))

struct listing {
    enum lab_side side;
    uint16_t server_port;
    struct connection *connections;
    size_t limit, count;
};

static uint32_t buffer_bytes(const struct nlattr *memory, size_t which)
{
    uint32_t words[SK_MEMINFO_VARS];
    if (memory == NULL || mnl_attr_get_payload_len(memory) < (which + 1) * sizeof words[0]) {
        return 0;
    }
    memcpy(words, mnl_attr_get_payload(memory), (which + 1) * sizeof words[0]);
    return words[which];
}

/* The kernel's tcp_info may be shorter or longer than ours: `length` says what is known. */
static void fill_snapshot(struct tcp_snapshot *tcp, const struct nlattr *const *found)
{
    const struct nlattr *info = found[INET_DIAG_INFO];
    const struct nlattr *control = found[INET_DIAG_CONG];
    *tcp = (struct tcp_snapshot){
        .send_buffer_bytes = buffer_bytes(found[INET_DIAG_SKMEMINFO], SK_MEMINFO_SNDBUF),
        .receive_buffer_bytes = buffer_bytes(found[INET_DIAG_SKMEMINFO], SK_MEMINFO_RCVBUF),
    };
    if (info != NULL) {
        uint32_t length = mnl_attr_get_payload_len(info);
        tcp->length = length < sizeof tcp->info ? length : (uint32_t)sizeof tcp->info;
        memcpy(tcp->info, mnl_attr_get_payload(info), tcp->length);
        uint64_t segment;
        tcp_snapshot_value(tcp, TCP_SEND_MSS, &segment);
        tcp->segment_bytes = (uint32_t)segment;
    }
    if (control != NULL) {
        snprintf(tcp->congestion_control, sizeof tcp->congestion_control, "%.*s",
                 (int)mnl_attr_get_payload_len(control), mnl_attr_get_str(control));
    }
}

/* Those beyond the limit are counted too, so that the caller can tell. */
static int add_connection(const struct nlmsghdr *message, void *context)
{
    struct listing *listing = context;
    const struct inet_diag_msg *socket = mnl_nlmsg_get_payload(message);
    if (mnl_nlmsg_get_payload_len(message) < sizeof *socket) {
        return MNL_CB_OK;
    }
    uint16_t own = ntohs(socket->id.idiag_sport);
    uint16_t peer = ntohs(socket->id.idiag_dport);
    uint16_t server = listing->side == LAB_SERVER ? own : peer;
    if (server != listing->server_port) {
        return MNL_CB_OK;
    }
    if (listing->count < listing->limit) {
        const struct nlattr *found[NETLINK_ATTRIBUTES] = {NULL};
        struct connection *connection = &listing->connections[listing->count];
        mnl_attr_parse(message, sizeof *socket, netlink_sort_in, found);
        connection->server_port = server;
        connection->client_port = listing->side == LAB_SERVER ? peer : own;
        fill_snapshot(&connection->tcp, found);
    }
    listing->count++;
    return MNL_CB_OK;
}

static bool list_family(struct netlink *netlink, uint8_t family, struct listing *listing,
                        struct error *error)
{
    char buffer[256];
    struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
    message->nlmsg_type = SOCK_DIAG_BY_FAMILY;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    struct inet_diag_req_v2 *request = mnl_nlmsg_put_extra_header(message, sizeof *request);
    request->sdiag_family = family;
    request->sdiag_protocol = IPPROTO_TCP;
    request->idiag_states = 1U << TCP_ESTABLISHED;
    request->idiag_ext = ASKED(INET_DIAG_INFO) | ASKED(INET_DIAG_CONG) | ASKED(INET_DIAG_SKMEMINFO);
    return netlink_talk(netlink, message, add_connection, listing,
                        "list the TCP connections (kernel module tcp_diag)", error);
}

/* A server may accept IPv4 on a socket of IPv6. */
static bool list_here(void *context, struct error *error)
{
    struct netlink netlink;
    if (!netlink_open(&netlink, NETLINK_SOCK_DIAG, error)) {
        return false;
    }
    bool listed = list_family(&netlink, AF_INET, context, error) &&
                  list_family(&netlink, AF_INET6, context, error);
    netlink_close(&netlink);
    return listed;
}

bool connections_list(struct lab *lab, enum lab_side side, uint16_t server_port,
                      struct connection *connections, size_t limit, size_t *count,
                      struct error *error)
{
    struct listing listing = {side, server_port, connections, limit, 0};
    bool listed = lab_visit(lab, side, list_here, &listing, error);
    *count = listing.count;
    return listed;
}
