/* link_probe - a link by itself, for tests/netlab/test_link.py: makes a lab with the link that the
 * words describe ("rate=1gbit delay=2ms mtu=1500 loss=0 jitter=0 backend=emulator queue=0 skip=0
 * times=1"), carries `bytes=` both ways, checks every byte, waits until the link is still and for
 * `idle=` milliseconds more, and prints "key value" lines. */
#include "netlab/lab.h"
#include "netlab/link.h"
#include "netlab/supervisor.h"

#include "base/clock.h"
#include "base/units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 7001

struct probe {
    const struct link_backend *backend;
    struct lab lab;
    struct link link;
    struct lab_config lab_config;
    struct link_config config;
    uint64_t queue_bytes; /* 0: as large as the link proposes */
    uint64_t bytes, idle_ms, times;
};

/* ---- Words ---- */

static bool take_word(struct probe *probe, const char *key, const char *value, struct error *error)
{
    struct link_shape *shape = &probe->config.shapes[LINK_TO_SERVER];
    uint64_t number = 0;
    const struct {
        const char *key;
        uint64_t *number;
    } numbers[] = {
        {"queue", &probe->queue_bytes}, {"bytes", &probe->bytes}, {"idle", &probe->idle_ms},
        {"times", &probe->times},       {"mtu", &number},         {"skip", &number}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(key, numbers[i].key) == 0 &&
            !parse_unsigned(value, key, 0, UINT32_MAX, numbers[i].number, error)) {
            return false;
        }
    }
    if (strcmp(key, "mtu") == 0) {
        probe->config.mtu = probe->lab_config.mtu = (uint32_t)number;
    } else if (strcmp(key, "skip") == 0) {
        probe->config.fault.no_delay = number != 0;
    } else if (strcmp(key, "backend") == 0) {
        probe->backend = link_backend_by_name(value);
    } else if (strcmp(key, "rate") == 0) {
        return link_parse_rate(value, key, &shape->rate_bits_per_s, error);
    } else if (strcmp(key, "delay") == 0) {
        return link_parse_time(value, key, &shape->delay_ns, error);
    } else if (strcmp(key, "jitter") == 0) {
        return link_parse_time(value, key, &shape->jitter_ns, error);
    } else if (strcmp(key, "loss") == 0) {
        return link_parse_loss(value, key, &shape->loss_ppm, error);
    }
    return true;
}

static bool take_words(struct probe *probe, char **words, struct error *error)
{
    for (; *words != NULL; words++) {
        char *value = strchr(*words, '=');
        if (value == NULL) {
            return error_set(error, ERROR_USAGE, 0, "'%s' is no key=value", *words);
        }
        *value = '\0';
        if (!take_word(probe, *words, value + 1, error)) {
            return false;
        }
    }
    struct link_shape *shape = &probe->config.shapes[LINK_TO_SERVER];
    shape->queue_bytes = probe->queue_bytes > 0
                             ? probe->queue_bytes
                             : link_queue_bytes(shape->rate_bits_per_s, shape->delay_ns, MIB, 1);
    probe->config.shapes[LINK_TO_CLIENT] = *shape;
    probe->lab_config.rate_bits_per_s = shape->rate_bits_per_s;
    probe->lab_config.delay_ns = shape->delay_ns;
    return true;
}

/* ---- Across the link ---- */

struct meeting {
    int listener, client, server;
};

static struct sockaddr_in server_address(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    inet_pton(AF_INET, LAB_SERVER_ADDRESS, &address.sin_addr);
    return address;
}

static bool listen_on_server(void *context, struct error *error)
{
    struct meeting *meeting = context;
    struct sockaddr_in address = server_address();
    int on = 1;
    meeting->listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(meeting->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool listens = bind(meeting->listener, (struct sockaddr *)&address, sizeof address) == 0 &&
                   listen(meeting->listener, 1) == 0;
    return listens || error_set_errno(error, errno, "listen");
}

static bool connect_from_client(void *context, struct error *error)
{
    struct meeting *meeting = context;
    struct sockaddr_in address = server_address();
    meeting->client = socket(AF_INET, SOCK_STREAM, 0);
    return connect(meeting->client, (struct sockaddr *)&address, sizeof address) == 0 ||
           error_set_errno(error, errno, "connect");
}

static uint8_t pattern(uint64_t offset)
{
    return (uint8_t)(offset * 31 >> 3);
}

static bool send_some(int socket, uint64_t *sent, uint64_t bytes, struct error *error)
{
    uint8_t block[65536];
    uint64_t size = bytes - *sent < sizeof block ? bytes - *sent : sizeof block;
    for (uint64_t i = 0; i < size; i++) {
        block[i] = pattern(*sent + i);
    }
    ssize_t done = size == 0 ? 0 : send(socket, block, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (done < 0 && errno != EAGAIN) {
        return error_set_errno(error, errno, "send");
    }
    *sent += done > 0 ? (uint64_t)done : 0;
    return true;
}

static bool receive_some(int socket, uint64_t *received, struct error *error)
{
    uint8_t block[65536];
    ssize_t done = recv(socket, block, sizeof block, MSG_DONTWAIT);
    if (done == 0 || (done < 0 && errno != EAGAIN)) {
        return error_set_errno(error, errno, "receive");
    }
    for (ssize_t i = 0; i < done; i++, ++*received) {
        if (block[i] != pattern(*received)) {
            return error_set(error, ERROR_CONTENT, 0, "byte %" PRIu64 " is wrong", *received);
        }
    }
    return true;
}

static bool carry(int from, int to, uint64_t bytes, struct error *error)
{
    uint64_t sent = 0;
    uint64_t received = 0;
    while (received < bytes) {
        struct pollfd ends[] = {{.fd = to, .events = POLLIN}, {.fd = from, .events = POLLOUT}};
        poll(ends, sent < bytes ? 2 : 1, 10000);
        if (!send_some(from, &sent, bytes, error) || !receive_some(to, &received, error)) {
            return false;
        }
    }
    return true;
}

static bool carry_both_ways(struct probe *probe, struct error *error)
{
    struct meeting meeting;
    if (!lab_visit(&probe->lab, LAB_SERVER, listen_on_server, &meeting, error)) {
        return false;
    }
    uint64_t start = clock_now_ns();
    if (!lab_visit(&probe->lab, LAB_CLIENT, connect_from_client, &meeting, error)) {
        return false;
    }
    printf("connect_ns %" PRIu64 "\n", clock_now_ns() - start);
    meeting.server = accept(meeting.listener, NULL, NULL);
    bool carried = carry(meeting.client, meeting.server, probe->bytes, error) &&
                   carry(meeting.server, meeting.client, probe->bytes / 2, error);
    close(meeting.client);
    close(meeting.server);
    close(meeting.listener);
    return carried;
}

/* ---- What it prints ---- */

static uint64_t processor_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
}

static void print_counts(const struct link_counts *counts)
{
    static const char *const ways[LINK_WAYS] = {"tx", "rx"};
    for (size_t way = 0; way < LINK_WAYS; way++) {
        const struct packet_counts *packets = &counts->ways[way];
        uint64_t sizes = 0;
        for (size_t i = 0; i < PACKET_SIZE_STEPS; i++) {
            sizes += packets->sizes[i];
        }
        printf("%s_packets %" PRIu64 "\n%s_bytes %" PRIu64 "\n%s_payload %" PRIu64
               "\n%s_sizes %" PRIu64 "\n%s_lost %" PRIu64 "\n%s_dropped %" PRIu64 "\n",
               ways[way], packets->packets, ways[way], packets->bytes, ways[way],
               packets->payload_bytes, ways[way], sizes, ways[way], counts->lost[way], ways[way],
               counts->dropped[way]);
        for (size_t i = 0; i < PACKET_KINDS; i++) {
            printf("%s_%s %" PRIu64 "\n", ways[way], packet_kind_names[i], packets->kinds[i]);
        }
    }
}

static bool rest(struct probe *probe, struct error *error)
{
    struct link_counts counts;
    struct link_counts later;
    if (!link_await_still(&probe->link, link_still_ns(&probe->config), 60 * NS_PER_S, -1, &counts,
                          error)) {
        return false;
    }
    print_counts(&counts);
    uint64_t processor = processor_ns();
    poll(NULL, 0, (int)probe->idle_ms);
    printf("idle_processor_ns %" PRIu64 "\n", processor_ns() - processor);
    link_counts(&probe->link, &later);
    printf("idle_packets %" PRIu64 "\n", later.ways[0].packets + later.ways[1].packets -
                                             counts.ways[0].packets - counts.ways[1].packets);
    if (probe->link.backend->lateness != NULL) {
        static struct histogram lateness;
        probe->link.backend->lateness(&probe->link, &lateness);
        printf("sent %" PRIu64 "\n", lateness.count);
    }
    return true;
}

static bool use_link(struct probe *probe, struct error *error)
{
    if (!link_up(&probe->link, probe->backend, &probe->config, &probe->lab, error)) {
        return false;
    }
    printf("backend %s\nconditions %s\n", probe->link.backend->name,
           probe->link.backend->conditions(&probe->link));
    bool used = lab_connect(&probe->lab, &probe->lab_config, error) &&
                carry_both_ways(probe, error) && rest(probe, error);
    link_down(&probe->link);
    return used;
}

static int inside(const struct supervisor *supervisor, void *context)
{
    struct probe *probe = context;
    struct error error;
    bool done = lab_up(&probe->lab, &probe->lab_config, &error);
    for (uint64_t i = 0; done && i < probe->times; i++) {
        done = use_link(probe, &error);
    }
    lab_down(&probe->lab);
    if (!done) {
        fprintf(stderr, "link_probe: %s\n", error.message);
    }
    return done ? EXIT_DONE : EXIT_CANNOT_RUN;
}

int main(int argc, char **argv)
{
    struct probe probe = {.times = 1, .config.seed = 1};
    struct error error;
    int status = EXIT_CANNOT_RUN;
    if (!take_words(&probe, argv + 1, &error) || !supervisor_run(inside, &probe, &status, &error)) {
        fprintf(stderr, "link_probe: %s\n", error.message);
    }
    return status;
}
