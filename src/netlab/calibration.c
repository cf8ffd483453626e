#include "netlab/calibration.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/stream.h"
#include "base/tcp_info.h"
#include "netlab/calibration_bulk.h"
#include "stats/summary.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECT_LIMIT_NS  (30 * NS_PER_S)
#define EXCHANGE_LIMIT_NS (60 * NS_PER_S) /* without any answer: longer than the longest delay */

/* A probe's frame on the line: headers with timestamps and one byte. */
#define EXCHANGE_LINE_BYTES (LINK_LINE_OVERHEAD + LINK_HEADER + 20 + 32 + 1)

/* ---- A connection across ---- */

struct probe {
    int sockets[LAB_SIDES]; /* non-blocking */
    int listener;
    struct sockaddr_in address;
    struct interrupt interrupt;
};

static bool open_listener(void *context, struct error *error)
{
    struct probe *probe = context;
    socklen_t size = sizeof probe->address;
    probe->address.sin_family = AF_INET;
    inet_pton(AF_INET, LAB_SERVER_ADDRESS, &probe->address.sin_addr);
    probe->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (probe->listener < 0 ||
        bind(probe->listener, (struct sockaddr *)&probe->address, sizeof probe->address) < 0 ||
        listen(probe->listener, 1) < 0 ||
        getsockname(probe->listener, (struct sockaddr *)&probe->address, &size) < 0) {
        return error_set_errno(error, errno, "cannot listen on the server's side");
    }
    return true;
}

static bool begin_connection(void *context, struct error *error)
{
    struct probe *probe = context;
    int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    probe->sockets[LAB_CLIENT] = client;
    if (client < 0) {
        return error_set_errno(error, errno, "cannot make a socket on the client's side");
    }
    return connect(client, (struct sockaddr *)&probe->address, sizeof probe->address) == 0 ||
           errno == EINPROGRESS || error_set_errno(error, errno, "cannot connect across the link");
}

/* Waits until one descriptor is ready; errors are those of the wait. */
static bool await(const struct probe *probe, int descriptor, short events, uint64_t limit_ns,
                  const char *what, struct error *error)
{
    struct pollfd waiting[] = {{.fd = descriptor, .events = events},
                               {.fd = probe->interrupt.fd, .events = POLLIN}};
    int ready = stream_poll(waiting, 2, clock_now_ns() + limit_ns);
    if (ready < 0) {
        return error_set_errno(error, errno, "poll");
    }
    if (ready == 0) {
        return error_set(error, ERROR_TIMEOUT, 0, "no %s across the link within %g s", what,
                         (double)limit_ns / (double)NS_PER_S);
    }
    return interrupt_check(&probe->interrupt, error);
}

static bool accept_connection(struct probe *probe, struct error *error)
{
    if (!await(probe, probe->listener, POLLIN, CONNECT_LIMIT_NS, "connection", error)) {
        return false;
    }
    int server = accept4(probe->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    probe->sockets[LAB_SERVER] = server;
    if (server < 0) {
        return error_set_errno(error, errno, "cannot accept the probe's connection");
    }
    return stream_prepare_tcp(server, error) &&
           stream_prepare_tcp(probe->sockets[LAB_CLIENT], error);
}

static bool open_probe(struct probe *probe, struct lab *lab, int interrupt_fd, struct error *error)
{
    *probe = (struct probe){.sockets = {-1, -1}, .listener = -1, .interrupt = {interrupt_fd}};
    return lab_visit(lab, LAB_SERVER, open_listener, probe, error) &&
           lab_visit(lab, LAB_CLIENT, begin_connection, probe, error) &&
           accept_connection(probe, error);
}

static void close_probe(struct probe *probe)
{
    int *descriptors[] = {&probe->sockets[LAB_CLIENT], &probe->sockets[LAB_SERVER],
                          &probe->listener};
    for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++) {
        if (*descriptors[i] >= 0) {
            close(*descriptors[i]);
        }
    }
}

/* ---- The round trip ---- */

static bool pass_byte(const struct probe *probe, enum lab_side from, enum lab_side to,
                      struct error *error)
{
    char byte = 'x';
    struct iovec piece = {&byte, 1};
    if (stream_send(probe->sockets[from], &piece, 1, false) != 1) {
        return error_set_errno(error, errno, "cannot send a byte across the link");
    }
    if (!await(probe, probe->sockets[to], POLLIN, EXCHANGE_LIMIT_NS, "byte", error)) {
        return false;
    }
    ssize_t got = stream_receive(probe->sockets[to], &piece, 1);
    return got == 1 || error_set_errno(error, got < 0 ? errno : ECONNRESET,
                                       "cannot receive a byte across the link");
}

/* Over a long link the last of the 200 are left out, not the user's afternoon. */
static bool measure_round_trip(struct calibration *calibration, const struct probe *probe,
                               struct error *error)
{
    double times[CALIBRATION_EXCHANGES];
    uint64_t enough_ns = clock_now_ns() + CALIBRATION_EXCHANGES_NS;
    size_t count = 0;
    while (count < CALIBRATION_EXCHANGES &&
           (count < CALIBRATION_EXCHANGES_LEAST || clock_now_ns() < enough_ns)) {
        uint64_t begin = clock_now_ns();
        if (!pass_byte(probe, LAB_CLIENT, LAB_SERVER, error) ||
            !pass_byte(probe, LAB_SERVER, LAB_CLIENT, error)) {
            return false;
        }
        times[count++] = (double)(clock_now_ns() - begin);
    }
    qsort(times, count, sizeof times[0], stats_compare_doubles);
    calibration->exchanges = (uint32_t)count;
    calibration->rtt_ns = (uint64_t)stats_percentile(times, count, 0.5);
    calibration->rtt_minimum_ns = (uint64_t)times[0];
    calibration->rtt_p99_ns = (uint64_t)stats_percentile(times, count, 0.99);
    return true;
}

/* ---- The verdict ---- */

static double line_ns(const struct link_shape *shape)
{
    return shape->rate_bits_per_s == 0
               ? 0
               : EXCHANGE_LINE_BYTES * 8.0 * 1e9 / (double)shape->rate_bits_per_s;
}

/* The median of 200 exchanges may lie half of one way's jitter off. */
struct delay {
    double wanted_ns, tolerance_ns;
};

static struct delay wanted_delay(const struct link_config *config)
{
    struct delay delay = {0};
    double jitter_ns = 0;
    for (enum link_way way = 0; way < LINK_WAYS; way++) {
        const struct link_shape *shape = &config->shapes[way];
        delay.wanted_ns += (double)shape->delay_ns + line_ns(shape);
        jitter_ns += (double)shape->jitter_ns;
    }
    delay.tolerance_ns = delay.wanted_ns / 10 > CALIBRATION_RTT_TOLERANCE_NS
                             ? delay.wanted_ns / 10
                             : CALIBRATION_RTT_TOLERANCE_NS;
    delay.tolerance_ns += jitter_ns / 4;
    return delay;
}

static bool judge_delay(const struct calibration *calibration, const struct link_config *config,
                        struct error *error)
{
    struct delay delay = wanted_delay(config);
    double found_ns = (double)calibration->rtt_ns;
    return fabs(found_ns - delay.wanted_ns) <= delay.tolerance_ns ||
           error_set(error, ERROR_LIMIT, 0,
                     "the link's round trip is %.3f ms instead of %.3f ms (more than %.3f ms off)",
                     found_ns / 1e6, delay.wanted_ns / 1e6, delay.tolerance_ns / 1e6);
}

/* The first and the last arrival of a transfer may each be off by the jitter. */
static double jitter_share(const struct calibration *calibration, const struct link_shape *shape)
{
    return 2 * (double)shape->jitter_ns / (double)calibration_bulk_least_ns(calibration->rtt_ns);
}

/* With LOSS a low rate is TCP slowing down, not the link. */
static enum calibration_verdict judge_rate(const struct calibration *calibration,
                                           const struct link_config *config, enum link_way way,
                                           struct error *error)
{
    const struct link_shape *shape = &config->shapes[way];
    if (shape->rate_bits_per_s == 0) {
        return CALIBRATION_TRUE;
    }
    double wanted =
        link_capacity_bits_per_s(shape->rate_bits_per_s, config->mtu, calibration->segment_bytes);
    double found = calibration->goodput_bits_per_s[way];
    double tolerance = CALIBRATION_RATE_TOLERANCE + jitter_share(calibration, shape);
    bool above = found > wanted * (1 + tolerance);
    bool below = found < wanted * (1 - tolerance) && shape->loss_ppm == 0;
    if (!above && !below) {
        return CALIBRATION_TRUE;
    }
    error_set(error, ERROR_LIMIT, 0,
              "the link carries %.6g Mbit/s of payload to the %s, and at its rate would carry %.6g",
              found / 1e6, way == LINK_TO_SERVER ? "server" : "client", wanted / 1e6);
    return above ? CALIBRATION_FALSE : CALIBRATION_TOO_SLOW;
}

/* ---- Asking again ---- */

bool calibration_ask(struct calibration *calibration, const struct calibration_question *question,
                     struct error *error)
{
    double least = INFINITY;
    struct calibration best = *calibration;
    for (int i = 0; i < CALIBRATION_TRIES && least > 1; i++) {
        struct calibration answer = *calibration;
        if (!question->ask(question->context, &answer, error)) {
            return false;
        }
        double off = question->off(question->context, &answer);
        if (off < least) {
            least = off;
            best = answer;
        }
    }
    *calibration = best;
    return true;
}

/* Of a link: its round trip, or the rate of one way. */
struct asked {
    const struct probe *probe;
    const struct link_config *config;
    enum link_way way;
};

static bool ask_round_trip(void *context, struct calibration *answer, struct error *error)
{
    const struct asked *asked = context;
    return measure_round_trip(answer, asked->probe, error);
}

static double delay_off(const void *context, const struct calibration *answer)
{
    const struct asked *asked = context;
    struct delay delay = wanted_delay(asked->config);
    return fabs((double)answer->rtt_ns - delay.wanted_ns) / delay.tolerance_ns;
}

static bool ask_goodput(void *context, struct calibration *answer, struct error *error)
{
    static const enum lab_side senders[LINK_WAYS] = {
        [LINK_TO_SERVER] = LAB_CLIENT, [LINK_TO_CLIENT] = LAB_SERVER};
    const struct asked *asked = context;
    enum lab_side sender = senders[asked->way];
    struct calibration_bulk bulk = {
        .sender = asked->probe->sockets[sender],
        .receiver = asked->probe->sockets[LAB_SIDES - 1 - sender],
        .interrupt = asked->probe->interrupt,
        .rtt_ns = answer->rtt_ns,
        .window_bytes =
            calibration_window_bytes(&asked->config->shapes[asked->way], answer->segment_bytes),
    };
    return calibration_bulk_run(&bulk, &answer->goodput_bits_per_s[asked->way], error) ||
           error_prefix(error, "bulk transfer to the %s",
                        asked->way == LINK_TO_SERVER ? "server" : "client");
}

static double goodput_off(const void *context, const struct calibration *answer)
{
    const struct asked *asked = context;
    const struct link_shape *shape = &asked->config->shapes[asked->way];
    struct error unused;
    if (judge_rate(answer, asked->config, asked->way, &unused) == CALIBRATION_TRUE) {
        return 0;
    }
    double wanted =
        link_capacity_bits_per_s(shape->rate_bits_per_s, asked->config->mtu, answer->segment_bytes);
    double tolerance = CALIBRATION_RATE_TOLERANCE + jitter_share(answer, shape);
    return fabs(answer->goodput_bits_per_s[asked->way] - wanted) / (wanted * tolerance);
}

/* ---- All of it ---- */

static uint64_t count_dropped(struct link *link, struct link_counts *counts)
{
    uint64_t dropped = 0;
    link_counts(link, counts);
    for (enum link_way way = 0; way < LINK_WAYS; way++) {
        dropped += counts->dropped[way];
    }
    return dropped;
}

static bool measure(struct calibration *calibration, const struct probe *probe,
                    const struct link_config *config, struct error *error)
{
    struct tcp_snapshot tcp;
    if (!tcp_snapshot_take(probe->sockets[LAB_CLIENT], &tcp, error)) {
        return false;
    }
    calibration->segment_bytes = tcp.segment_bytes;
    struct asked asked = {probe, config, LINK_TO_SERVER};
    const struct calibration_question round_trip = {&asked, ask_round_trip, delay_off};
    const struct calibration_question goodput = {&asked, ask_goodput, goodput_off};
    bool ok = calibration_ask(calibration, &round_trip, error);
    for (enum link_way way = 0; ok && way < LINK_WAYS; way++) {
        asked.way = way;
        ok = calibration_ask(calibration, &goodput, error);
    }
    return ok;
}

bool calibration_measure(struct calibration *calibration, struct lab *lab, struct link *link,
                         int interrupt_fd, struct error *error)
{
    *calibration = (struct calibration){0};
    struct link_counts *counts = memory_allocate(1, sizeof *counts);
    if (counts == NULL) {
        return memory_error(error, "for the link's counters");
    }
    struct probe probe;
    uint64_t dropped_before = count_dropped(link, counts);
    bool done = open_probe(&probe, lab, interrupt_fd, error) &&
                measure(calibration, &probe, &link->config, error);
    close_probe(&probe);
    calibration->dropped = count_dropped(link, counts) - dropped_before;
    memory_release(counts);
    return done || error_prefix(error, "calibration");
}

enum calibration_verdict calibration_judge(const struct calibration *calibration,
                                           const struct link_config *config, struct error *error)
{
    if (!judge_delay(calibration, config, error)) {
        return CALIBRATION_FALSE;
    }
    enum calibration_verdict worst = CALIBRATION_TRUE;
    for (enum link_way way = 0; way < LINK_WAYS; way++) {
        struct error reason;
        enum calibration_verdict verdict = judge_rate(calibration, config, way, &reason);
        if (verdict > worst) {
            worst = verdict;
            *error = reason;
        }
    }
    return worst;
}
