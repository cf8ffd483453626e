/* lab_probe - the lab step by step, for tests/netlab/test_lab.py: makes one, does what the first
 * argument says and prints "key value" lines. */
#include "netlab/calibration.h"
#include "netlab/connection.h"
#include "netlab/lab.h"
#include "netlab/link.h"
#include "netlab/server_under_test.h"
#include "netlab/supervisor.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/stream.h"
#include "base/units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct probe {
    const char *command;
    char **words;
    const struct supervisor *supervisor;
    struct lab lab;
    struct link link;
    struct lab_config config;
    struct link_config link_config;
};

/* ---- One connection across ---- */

#define MEETING_PORT 7000

struct meeting {
    int sockets[LAB_SIDES];
    int listener;
};

static struct sockaddr_in server_address(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(MEETING_PORT)};
    inet_pton(AF_INET, LAB_SERVER_ADDRESS, &address.sin_addr);
    return address;
}

static bool listen_there(void *context, struct error *error)
{
    struct meeting *meeting = context;
    struct sockaddr_in address = server_address();
    meeting->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return (bind(meeting->listener, (struct sockaddr *)&address, sizeof address) == 0 &&
            listen(meeting->listener, 1) == 0) ||
           error_set_errno(error, errno, "listen");
}

static bool connect_here(void *context, struct error *error)
{
    struct meeting *meeting = context;
    struct sockaddr_in address = server_address();
    meeting->sockets[LAB_CLIENT] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(meeting->sockets[LAB_CLIENT], (struct sockaddr *)&address, sizeof address) ==
               0 ||
           error_set_errno(error, errno, "connect");
}

static bool meet(struct probe *probe, struct meeting *meeting, struct error *error)
{
    if (!lab_visit(&probe->lab, LAB_SERVER, listen_there, meeting, error) ||
        !lab_visit(&probe->lab, LAB_CLIENT, connect_here, meeting, error)) {
        return false;
    }
    meeting->sockets[LAB_SERVER] = accept(meeting->listener, NULL, NULL);
    return meeting->sockets[LAB_SERVER] >= 0 || error_set_errno(error, errno, "accept");
}

static bool cross(int from, int to, const char *text, struct error *error)
{
    char got[16] = "";
    struct iovec piece = {(void *)text, strlen(text)};
    if (!stream_send_all(from, &piece, 1, false, error) ||
        !stream_receive_all(to, got, strlen(text), error)) {
        return false;
    }
    return strcmp(got, text) == 0 || error_set(error, ERROR_CONTENT, 0, "'%s' arrived", got);
}

/* ---- Commands ---- */

static bool say_users(struct probe *probe, struct error *error)
{
    printf("users %s\nprocess %ld\nuid %u\n", supervisor_users_names[probe->supervisor->users],
           (long)getpid(), (unsigned)getuid());
    return true;
}

static bool say_settings(struct probe *probe, struct error *error)
{
    for (enum lab_side side = 0; side < LAB_SIDES; side++) {
        const struct lab_settings *settings = &probe->lab.settings[side];
        printf("mtu %u\ncongestion %s\nreceive %" PRIu64 "\nsend %" PRIu64 "\nmetrics %d\n"
               "slow_start %d\noffloads %s\n",
               (unsigned)settings->mtu, settings->congestion_control,
               settings->receive_window_bytes, settings->send_window_bytes, settings->metrics_saved,
               settings->slow_start_after_idle, settings->offloads);
    }
    return true;
}

static bool talk(struct probe *probe, struct error *error)
{
    struct meeting meeting;
    uint64_t before;
    uint64_t after;
    if (!meet(probe, &meeting, error) ||
        !lab_segments_out(&probe->lab, LAB_CLIENT, &before, error) ||
        !cross(meeting.sockets[LAB_CLIENT], meeting.sockets[LAB_SERVER], "there", error) ||
        !cross(meeting.sockets[LAB_SERVER], meeting.sockets[LAB_CLIENT], "back", error) ||
        !lab_segments_out(&probe->lab, LAB_CLIENT, &after, error)) {
        return false;
    }
    printf("segments %" PRIu64 "\n", after - before);
    return true;
}

/* Runs the words as a program on the client's side and says how it ended. */
static bool start_program(struct probe *probe, struct error *error)
{
    const int descriptors[] = {-1, STDOUT_FILENO, STDERR_FILENO};
    struct child_program program = {.arguments = probe->words,
                                    .descriptors = descriptors,
                                    .descriptor_count = 3,
                                    .prepare = lab_enter,
                                    .context = &(struct lab_place){&probe->lab, LAB_CLIENT, NULL}};
    const struct child_watch watch = {.name = probe->words[0]};
    int state;
    fflush(stdout);
    if (!child_run(&program, &watch, &state, error)) {
        return false;
    }
    printf("state %d\n", state);
    return true;
}

/* Says that it is up, takes the first signal and says how many came within a moment. */
static bool await_signal(struct probe *probe, struct error *error)
{
    struct interrupt interrupt;
    unsigned count = 0;
    if (!interrupt_open(&interrupt, error)) {
        return false;
    }
    printf("up\n");
    fflush(stdout);
    struct pollfd waiting = {.fd = interrupt.fd, .events = POLLIN};
    for (uint64_t deadline = UINT64_MAX; stream_poll(&waiting, 1, deadline) > 0; count++) {
        interrupt_acknowledge(&interrupt);
        deadline = count == 0 ? clock_now_ns() + 300 * NS_PER_MS : deadline;
    }
    printf("signals %u\n", count);
    return error_set(error, ERROR_INTERRUPTED, 0, "interrupted");
}

/* Says that it is up, with a process beside it, and stays until it is ended. */
static bool hold(struct probe *probe, struct error *error)
{
    static char *const sleeper[] = {"sleep", "1000", NULL};
    struct child_program program = {.arguments = sleeper,
                                    .prepare = lab_enter,
                                    .context = &(struct lab_place){&probe->lab, LAB_SERVER, NULL}};
    struct child child;
    if (!child_start(&child, &program, error)) {
        return false;
    }
    printf("up\n");
    fflush(stdout);
    for (;;) {
        pause();
    }
}

static void print_log(const struct server_under_test *server)
{
    char line[1024];
    FILE *file = server->log_path[0] != '\0' ? fopen(server->log_path, "re") : NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        printf("log %s", line);
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* Starts the kind of server that the first word names, with the options after it, and runs the
 * program of the other words on the client's side. */
static bool serve(struct probe *probe, struct error *error)
{
    const char *name = probe->words[0] != NULL ? probe->words[0] : "";
    const struct server_kind *kind = server_kind_by_name(name);
    const char *quantum = getenv("LAB_PROBE_QUANTUM");
    struct server_under_test server;
    struct server_request request = {
        .quantum_bytes = quantum != NULL ? (uint32_t)strtoul(quantum, NULL, 10) : 0,
        .netatalk_root = getenv("NETATALK_ROOT"),
        .afpd = getenv("AFPD"),
        .volume_bytes = 64 * MIB,
        .users = probe->supervisor->users,
    };
    if (kind == NULL) {
        return error_set(error, ERROR_USAGE, 0, "no server '%s'", name);
    }
    bool done = server_under_test_start(&server, kind, &probe->lab, &request, -1, error);
    if (done) {
        printf("how %s\nversion %s\n", server.how, server.version);
        probe->words++;
        done = start_program(probe, error) && server_under_test_check(&server, error);
    }
    print_log(&server);
    server_under_test_stop(&server);
    return done;
}

static bool calibrate(struct probe *probe, struct error *error)
{
    static const char *const verdicts[] = {[CALIBRATION_TRUE] = "true",
                                           [CALIBRATION_TOO_SLOW] = "too slow",
                                           [CALIBRATION_FALSE] = "false"};
    struct calibration found;
    struct error reason = {.domain = ERROR_NONE};
    if (!calibration_measure(&found, &probe->lab, &probe->link, -1, error)) {
        return false;
    }
    printf("exchanges %u\nrtt %" PRIu64 " minimum %" PRIu64 " p99 %" PRIu64 "\n",
           (unsigned)found.exchanges, found.rtt_ns, found.rtt_minimum_ns, found.rtt_p99_ns);
    printf("goodput %.0f %.0f\nsegment %u\ndropped %" PRIu64 "\n",
           found.goodput_bits_per_s[LINK_TO_SERVER], found.goodput_bits_per_s[LINK_TO_CLIENT],
           (unsigned)found.segment_bytes, found.dropped);
    enum calibration_verdict verdict = calibration_judge(&found, &probe->link_config, &reason);
    printf("verdict %s %s\n", verdicts[verdict], reason.domain != ERROR_NONE ? reason.message : "");
    return true;
}

/* The connections of one exchange, as each side's kernel has them. */
static bool list(struct probe *probe, struct error *error)
{
    struct meeting meeting;
    struct connection connections[2];
    if (!meet(probe, &meeting, error) ||
        !cross(meeting.sockets[LAB_CLIENT], meeting.sockets[LAB_SERVER], "there", error)) {
        return false;
    }
    for (enum lab_side side = 0; side < LAB_SIDES; side++) {
        size_t count;
        if (!connections_list(&probe->lab, side, MEETING_PORT, connections, 2, &count, error)) {
            return false;
        }
        const struct tcp_snapshot *tcp = &connections[0].tcp;
        uint64_t received;
        tcp_snapshot_value(tcp, TCP_BYTES_RECEIVED, &received);
        printf("count %zu\nport %u\nsegment %u\ncongestion %s\nreceived %" PRIu64 "\nbuffers %d\n",
               count, (unsigned)connections[0].server_port, (unsigned)tcp->segment_bytes,
               tcp->congestion_control, received,
               tcp->send_buffer_bytes > 0 && tcp->receive_buffer_bytes > 0);
    }
    return true;
}

/* How much crosses in as many seconds as the first word says. */
static bool idle(struct probe *probe, struct error *error)
{
    struct link_counts *before = calloc(2, sizeof *before);
    struct link_counts *after = before + 1;
    link_counts(&probe->link, before);
    sleep((unsigned)strtoul(probe->words[0], NULL, 10));
    link_counts(&probe->link, after);
    for (enum link_way way = 0; way < LINK_WAYS; way++) {
        printf("packets %" PRIu64 "\n", after->ways[way].packets - before->ways[way].packets);
    }
    free(before);
    return true;
}

static const struct {
    const char *name;
    bool (*run)(struct probe *probe, struct error *error);
} commands[] = {
    {"users", say_users},     {"settings", say_settings},
    {"talk", talk},           {"program", start_program},
    {"hold", hold},           {"serve", serve},
    {"calibrate", calibrate}, {"list", list},
    {"idle", idle},           {"await", await_signal},
};

static bool run_command(struct probe *probe, struct error *error)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(probe->command, commands[i].name) == 0) {
            return commands[i].run(probe, error);
        }
    }
    return error_set(error, ERROR_USAGE, 0, "no command '%s'", probe->command);
}

static int inside(const struct supervisor *supervisor, void *context)
{
    struct probe *probe = context;
    const char *name = getenv("LAB_PROBE_LINK");
    struct error error;
    probe->supervisor = supervisor;
    bool done = lab_up(&probe->lab, &probe->config, &error) &&
                link_up(&probe->link, name != NULL ? link_backend_by_name(name) : &link_none,
                        &probe->link_config, &probe->lab, &error);
    if (done) {
        done = lab_connect(&probe->lab, &probe->config, &error) && run_command(probe, &error);
        link_down(&probe->link);
    }
    if (!done) {
        fprintf(stderr, "lab_probe: %s\n", error.message);
    }
    lab_down(&probe->lab);
    return done ? EXIT_DONE : error_exit_status(&error, EXIT_CANNOT_RUN);
}

static const char *setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value != NULL ? value : otherwise;
}

static bool read_shape(struct probe *probe, struct error *error)
{
    struct link_shape shape = {0};
    uint64_t mtu;
    if (!link_parse_rate(setting("LAB_PROBE_RATE", "10gbit"), "RATE", &shape.rate_bits_per_s,
                         error) ||
        !link_parse_time(setting("LAB_PROBE_DELAY", "2ms"), "DELAY", &shape.delay_ns, error) ||
        !parse_unsigned(setting("LAB_PROBE_MTU", "1500"), "MTU", 576, 65000, &mtu, error)) {
        return false;
    }
    shape.queue_bytes = link_queue_bytes(shape.rate_bits_per_s, shape.delay_ns, MIB, 1);
    probe->config = (struct lab_config){.mtu = (uint32_t)mtu,
                                        .rate_bits_per_s = shape.rate_bits_per_s,
                                        .delay_ns = shape.delay_ns,
                                        .congestion_control = getenv("LAB_PROBE_CC")};
    probe->link_config =
        (struct link_config){.shapes = {shape, shape}, .mtu = (uint32_t)mtu, .seed = 1};
    return true;
}

int main(int argc, char **argv)
{
    struct probe probe = {.command = argc > 1 ? argv[1] : "users",
                          .words = argv + (argc > 1 ? 2 : 1)};
    struct error error;
    int status = EXIT_CANNOT_RUN;
    if (!read_shape(&probe, &error) || !supervisor_run(inside, &probe, &status, &error)) {
        fprintf(stderr, "lab_probe: %s\n", error.message);
    }
    return status;
}
