#include "netlab/lab.h"

#include "base/units.h"
#include "netlab/netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PREFIX_BITS  24
#define NETWORK      "10.99.0.0"
#define SYSCTL_BYTES 256

/* TCP's window field, scaled as far as it can be, reaches no further. */
#define WINDOW_MOST ((uint64_t)1 << 30)
/* Of a buffer the kernel gives about half to the window and counts its own overhead on top. */
#define WINDOW_FACTOR 4

static const struct {
    const char *name, *address, *peer;
} sides[LAB_SIDES + 1] = {
    [LAB_CLIENT] = {"client", LAB_CLIENT_ADDRESS, LAB_SERVER_ADDRESS},
    [LAB_SERVER] = {"server", LAB_SERVER_ADDRESS, LAB_CLIENT_ADDRESS},
    [LAB_MIDDLE] = {"middle", NULL, NULL},
};

/* ---- Namespaces ---- */

static bool open_namespace(struct lab *lab, enum lab_side side, struct error *error)
{
    lab->namespaces[side] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    return lab->namespaces[side] >= 0 ||
           error_set_errno(error, errno, "cannot open the network namespace of the %s side",
                           sides[side].name);
}

static bool enter(struct lab *lab, enum lab_side side, struct error *error)
{
    return setns(lab->namespaces[side], CLONE_NEWNET) == 0 ||
           error_set_errno(error, errno, "cannot enter the network namespace of the %s side",
                           sides[side].name);
}

bool lab_visit(struct lab *lab, enum lab_side side, bool (*visit)(void *context, struct error *),
               void *context, struct error *error)
{
    if (!enter(lab, side, error)) {
        return false;
    }
    bool done = visit(context, error);
    struct error lost;
    if (!enter(lab, LAB_MIDDLE, &lost)) {
        *error = lost;
        return false;
    }
    return done;
}

/* ---- The kernel's settings ---- */

static bool open_sysctl(const char *name, int flags, int *file, struct error *error)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/sys/net/%s", name);
    *file = open(path, flags | O_CLOEXEC);
    return *file >= 0 || error_set_errno(error, errno, "cannot open %s", path);
}

static bool read_sysctl(const char *name, char text[SYSCTL_BYTES], struct error *error)
{
    int file;
    if (!open_sysctl(name, O_RDONLY, &file, error)) {
        return false;
    }
    ssize_t got = read(file, text, SYSCTL_BYTES - 1);
    int cause = errno;
    close(file);
    if (got < 0) {
        return error_set_errno(error, cause, "cannot read the kernel's setting %s", name);
    }
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return true;
}

static bool write_sysctl(const char *name, const char *text, struct error *error)
{
    int file;
    if (!open_sysctl(name, O_WRONLY, &file, error)) {
        return false;
    }
    ssize_t written = write(file, text, strlen(text));
    int cause = errno;
    close(file);
    return written == (ssize_t)strlen(text) ||
           error_set_errno(error, cause, "cannot set %s to '%s'", name, text);
}

/* tcp_rmem and tcp_wmem: least, first and most bytes. */
struct window {
    uint64_t least, first, most;
};

static bool read_window(const char *name, struct window *window, struct error *error)
{
    char text[SYSCTL_BYTES];
    if (!read_sysctl(name, text, error)) {
        return false;
    }
    return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &window->least, &window->first,
                  &window->most) == 3 ||
           error_set(error, ERROR_SYSTEM, 0, "the kernel's setting %s is not three numbers: '%s'",
                     name, text);
}

static uint64_t wanted_window(const struct lab_config *config)
{
    double bytes = (double)config->rate_bits_per_s / 8 * 2 * (double)config->delay_ns / 1e9;
    double wanted = bytes * WINDOW_FACTOR;
    return wanted < (double)WINDOW_MOST ? (uint64_t)wanted : WINDOW_MOST;
}

static bool raise_window(const char *name, uint64_t wanted, struct error *error)
{
    struct window window;
    char text[SYSCTL_BYTES];
    if (!read_window(name, &window, error)) {
        return false;
    }
    if (window.most >= wanted) {
        return true;
    }
    snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu64, window.least, window.first,
             wanted);
    return write_sysctl(name, text, error);
}

/* Before any interface is there, so that none says a word of IPv6. */
static bool switch_ipv6_off(struct error *error)
{
    static const char *const names[] = {"ipv6/conf/all/disable_ipv6",
                                        "ipv6/conf/default/disable_ipv6"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool absent = !write_sysctl(names[i], "1", error) && error->code == ENOENT;
        char text[SYSCTL_BYTES];
        if (!absent && (!read_sysctl(names[i], text, error) || strcmp(text, "1") != 0)) {
            return error_prefix(error, "IPv6 stays on");
        }
    }
    return true;
}

/* Something done to an interface of a place, by its name. */
struct interface_visit {
    const char *name;
    struct nlmsghdr *(*put)(void *buffer, unsigned interface);
    const char *what;
};

static bool change_interface(void *context, struct error *error)
{
    const struct interface_visit *visit = context;
    struct netlink netlink;
    struct netlink_interface interface;
    char buffer[1024];
    if (!netlink_open(&netlink, NETLINK_ROUTE, error)) {
        return false;
    }
    bool done =
        netlink_find(&netlink, visit->name, &interface, error) &&
        netlink_talk(&netlink, visit->put(buffer, interface.index), NULL, NULL, visit->what, error);
    netlink_close(&netlink);
    return done || error_prefix(error, "interface %s", visit->name);
}

static struct nlmsghdr *put_up(void *buffer, unsigned interface)
{
    return netlink_put_up(buffer, interface, 0);
}

/* A visit of any place: what must hold before there are interfaces. */
static bool prepare_place(void *context, struct error *error)
{
    struct interface_visit loopback = {"lo", put_up, "bring it up"};
    return switch_ipv6_off(error) && change_interface(&loopback, error);
}

static bool prepare_side(void *context, struct error *error)
{
    uint64_t wanted = wanted_window(context);
    return prepare_place(NULL, error) && raise_window("ipv4/tcp_rmem", wanted, error) &&
           raise_window("ipv4/tcp_wmem", wanted, error) &&
           write_sysctl("ipv4/tcp_no_metrics_save", "1", error) &&
           write_sysctl("ipv4/tcp_slow_start_after_idle", "0", error);
}

/* ---- Up and down ---- */

static bool make_side(struct lab *lab, enum lab_side side, const struct lab_config *config,
                      struct error *error)
{
    if (unshare(CLONE_NEWNET) < 0) {
        return error_set_errno(error, errno, "cannot make a network namespace");
    }
    bool opened = open_namespace(lab, side, error);
    struct error lost;
    if (!enter(lab, LAB_MIDDLE, &lost)) {
        *error = lost;
        return false;
    }
    return opened && (lab_visit(lab, side, prepare_side, (void *)config, error) ||
                      error_prefix(error, "the %s side", sides[side].name));
}

bool lab_up(struct lab *lab, const struct lab_config *config, struct error *error)
{
    *lab = (struct lab){.namespaces = {-1, -1, -1}, .mtu = config->mtu};
    bool up = open_namespace(lab, LAB_MIDDLE, error) && prepare_place(NULL, error);
    for (enum lab_side side = 0; up && side < LAB_SIDES; side++) {
        up = make_side(lab, side, config, error);
    }
    if (!up) {
        lab_down(lab);
    }
    return up;
}

void lab_down(struct lab *lab)
{
    for (size_t i = 0; i < sizeof lab->namespaces / sizeof lab->namespaces[0]; i++) {
        if (lab->namespaces[i] >= 0) {
            close(lab->namespaces[i]);
            lab->namespaces[i] = -1;
        }
    }
}

/* ---- Interfaces ---- */

static bool raise_in_middle(struct lab *lab, const struct netlink_end *end, struct error *error)
{
    struct interface_visit visit = {end->name, put_up, "bring it up"};
    return end->namespace != lab->namespaces[LAB_MIDDLE] ||
           lab_visit(lab, LAB_MIDDLE, change_interface, &visit, error);
}

bool lab_make_pair(struct lab *lab, enum lab_side first_side, const char *first,
                   enum lab_side second_side, const char *second, struct error *error)
{
    struct netlink netlink;
    char buffer[1024];
    char what[128];
    struct netlink_end ends[] = {{first, lab->namespaces[first_side], lab->mtu},
                                 {second, lab->namespaces[second_side], lab->mtu}};
    if (!netlink_open(&netlink, NETLINK_ROUTE, error)) {
        return false;
    }
    snprintf(what, sizeof what,
             "make the virtual interfaces %s and %s with MTU %u (kernel module veth)", first,
             second, (unsigned)lab->mtu);
    bool made = netlink_talk(&netlink, netlink_put_pair(buffer, &ends[0], &ends[1]), NULL, NULL,
                             what, error);
    netlink_close(&netlink);
    return made && raise_in_middle(lab, &ends[0], error) && raise_in_middle(lab, &ends[1], error);
}

bool lab_remove_pair(struct lab *lab, enum lab_side side, const char *name, struct error *error)
{
    struct interface_visit visit = {name, netlink_put_delete, "remove it"};
    return lab_visit(lab, side, change_interface, &visit, error);
}

/* ---- Connecting the two ends ---- */

struct side_visit {
    enum lab_side side;
    const struct lab_config *config;
    struct netlink_interface own;
    uint8_t peer_mac[NETLINK_MAC_BYTES];
    struct lab_settings *settings;
};

static bool find_own(void *context, struct error *error)
{
    struct side_visit *visit = context;
    struct netlink netlink;
    if (!netlink_open(&netlink, NETLINK_ROUTE, error)) {
        return false;
    }
    bool found = netlink_find(&netlink, LAB_INTERFACE, &visit->own, error);
    netlink_close(&netlink);
    return found;
}

static struct in_addr address_of(const char *text)
{
    struct in_addr address = {0};
    inet_pton(AF_INET, text, &address);
    return address;
}

/* A route has the congestion control also of programs that do not ask for one, as afpd. */
static bool set_route(struct netlink *netlink, const struct side_visit *visit, void *buffer,
                      struct error *error)
{
    const char *control = visit->config->congestion_control;
    struct netlink_route route = {
        .destination = address_of(NETWORK),
        .prefix_bits = PREFIX_BITS,
        .source = address_of(sides[visit->side].address),
        .interface = visit->own.index,
        .congestion_control = control,
    };
    if (netlink_talk(netlink, netlink_put_route(buffer, &route), NULL, NULL, "set the route",
                     error)) {
        return true;
    }
    char available[SYSCTL_BYTES];
    struct error unread;
    if (control != NULL && error->code == EINVAL &&
        read_sysctl("ipv4/tcp_available_congestion_control", available, &unread)) {
        return error_set(error, ERROR_SYSTEM, EINVAL,
                         "this kernel has no congestion control '%s' (CC); it has: %s; CC=kernel "
                         "leaves its own",
                         control, available);
    }
    return false;
}

/* A permanent neighbour: ARP would be packets that nobody asked for. */
static bool connect_side(void *context, struct error *error)
{
    struct side_visit *visit = context;
    struct netlink netlink;
    unsigned index = visit->own.index;
    struct in_addr own = address_of(sides[visit->side].address);
    struct in_addr peer = address_of(sides[visit->side].peer);
    char buffer[1024];
    if (!netlink_open(&netlink, NETLINK_ROUTE, error)) {
        return false;
    }
    bool done = netlink_talk(&netlink, netlink_put_address(buffer, index, own, PREFIX_BITS), NULL,
                             NULL, "set the address", error) &&
                netlink_talk(&netlink, netlink_put_up(buffer, index, visit->config->mtu), NULL,
                             NULL, "set the MTU and bring the interface up", error) &&
                netlink_talk(&netlink, netlink_put_neighbour(buffer, index, peer, visit->peer_mac),
                             NULL, NULL, "set the neighbour", error) &&
                set_route(&netlink, visit, buffer, error);
    netlink_close(&netlink);
    return done;
}

/* ---- Reading back ---- */

static bool read_offloads(const char *interface, char *text, size_t size, struct error *error)
{
    static const struct {
        uint32_t command;
        const char *name;
    } offloads[] = {{ETHTOOL_GTSO, "tso"}, {ETHTOOL_GGSO, "gso"}, {ETHTOOL_GGRO, "gro"}};
    int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) {
        return error_set_errno(error, errno, "cannot make a socket");
    }
    bool done = true;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; done && i < sizeof offloads / sizeof offloads[0]; i++) {
        struct ethtool_value value = {.cmd = offloads[i].command};
        struct ifreq request = {.ifr_data = (char *)&value};
        snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
        done = ioctl(probe, SIOCETHTOOL, &request) == 0 ||
               error_set_errno(error, errno, "cannot read whether %s is on", offloads[i].name);
        if (done && value.data != 0 && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "",
                                     offloads[i].name);
        }
    }
    close(probe);
    return done;
}

static bool read_congestion(const struct side_visit *visit, struct error *error)
{
    struct netlink netlink;
    char *name = visit->settings->congestion_control;
    size_t size = sizeof visit->settings->congestion_control;
    char text[SYSCTL_BYTES];
    if (!netlink_open(&netlink, NETLINK_ROUTE, error)) {
        return false;
    }
    bool done = netlink_route_congestion(&netlink, visit->own.index, name, size, error);
    netlink_close(&netlink);
    if (done && name[0] == '\0') {
        done = read_sysctl("ipv4/tcp_congestion_control", text, error);
        snprintf(name, size, "%.*s", (int)size - 1, done ? text : "");
    }
    return done;
}

static bool read_flag(const char *name, bool *value, struct error *error)
{
    char text[SYSCTL_BYTES];
    if (!read_sysctl(name, text, error)) {
        return false;
    }
    *value = strcmp(text, "0") != 0;
    return true;
}

static bool read_settings(void *context, struct error *error)
{
    struct side_visit *visit = context;
    struct lab_settings *settings = visit->settings;
    struct window receive;
    struct window send;
    bool no_metrics;
    if (!find_own(visit, error) || !read_congestion(visit, error) ||
        !read_window("ipv4/tcp_rmem", &receive, error) ||
        !read_window("ipv4/tcp_wmem", &send, error) ||
        !read_flag("ipv4/tcp_no_metrics_save", &no_metrics, error) ||
        !read_flag("ipv4/tcp_slow_start_after_idle", &settings->slow_start_after_idle, error) ||
        !read_offloads(LAB_INTERFACE, settings->offloads, sizeof settings->offloads, error)) {
        return false;
    }
    settings->mtu = visit->own.mtu;
    settings->receive_window_bytes = receive.most;
    settings->send_window_bytes = send.most;
    settings->metrics_saved = !no_metrics;
    return true;
}

/* What was read back must be what was asked for. */
static bool check_settings(const struct lab_settings *settings, const struct lab_config *config,
                           struct error *error)
{
    const char *control = config->congestion_control;
    if (settings->mtu != config->mtu) {
        return error_set(error, ERROR_SYSTEM, 0, "the MTU is %u instead of %u",
                         (unsigned)settings->mtu, (unsigned)config->mtu);
    }
    if (control != NULL && strcmp(settings->congestion_control, control) != 0) {
        return error_set(error, ERROR_SYSTEM, 0, "congestion control is %s instead of %s",
                         settings->congestion_control, control);
    }
    if (settings->metrics_saved || settings->slow_start_after_idle) {
        return error_set(error, ERROR_SYSTEM, 0,
                         "the kernel keeps metrics or slow start after idle on");
    }
    return true;
}

bool lab_connect(struct lab *lab, const struct lab_config *config, struct error *error)
{
    static bool (*const steps[])(void *, struct error *) = {find_own, connect_side, read_settings};
    struct side_visit visits[LAB_SIDES];
    for (enum lab_side side = 0; side < LAB_SIDES; side++) {
        visits[side] =
            (struct side_visit){.side = side, .config = config, .settings = &lab->settings[side]};
    }
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        for (enum lab_side side = 0; side < LAB_SIDES; side++) {
            /* each end's neighbour is the other end, also where a middle carries the frames */
            memcpy(visits[side].peer_mac, visits[LAB_SIDES - 1 - side].own.mac, NETLINK_MAC_BYTES);
            if (!lab_visit(lab, side, steps[i], &visits[side], error)) {
                return error_prefix(error, "the %s side of the link", sides[side].name);
            }
        }
    }
    for (enum lab_side side = 0; side < LAB_SIDES; side++) {
        if (!check_settings(&lab->settings[side], config, error)) {
            return error_prefix(error, "the %s side of the link", sides[side].name);
        }
    }
    return true;
}

const char *lab_enter(const void *context)
{
    const struct lab_place *place = context;
    if (setns(place->lab->namespaces[place->side], CLONE_NEWNET) < 0) {
        return "cannot enter the network namespace for";
    }
    if (place->root != NULL && (chroot(place->root) < 0 || chdir("/") < 0)) {
        return "cannot change the root directory for";
    }
    return NULL;
}

/* ---- Counters ---- */

/* /proc/net/snmp has two lines for each protocol: names, then values in the same order. */
static bool read_segments(void *context, struct error *error)
{
    uint64_t *segments = context;
    FILE *file = fopen("/proc/thread-self/net/snmp", "re");
    if (file == NULL) {
        return error_set_errno(error, errno, "cannot open /proc/thread-self/net/snmp");
    }
    char names[1024] = "";
    char values[1024] = "";
    bool found = false;
    while (!found && fgets(names, sizeof names, file) != NULL) {
        found = strncmp(names, "Tcp:", 4) == 0 && fgets(values, sizeof values, file) != NULL;
    }
    fclose(file);
    char *name_rest = names;
    char *value_rest = values;
    const char *name = strsep(&name_rest, " \n");
    const char *value = strsep(&value_rest, " \n");
    while (name != NULL && value != NULL && strcmp(name, "OutSegs") != 0) {
        name = strsep(&name_rest, " \n");
        value = strsep(&value_rest, " \n");
    }
    if (name == NULL || value == NULL) {
        return error_set(error, ERROR_SYSTEM, 0, "/proc/net/snmp does not tell OutSegs");
    }
    return parse_unsigned(value, "OutSegs", 0, UINT64_MAX, segments, error);
}

bool lab_segments_out(struct lab *lab, enum lab_side side, uint64_t *segments, struct error *error)
{
    return lab_visit(lab, side, read_segments, segments, error);
}
