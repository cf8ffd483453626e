/*
 * The bare limit of our own call pattern: bytes of the same sizes through the same system calls
 * over loopback, without AFP. benchmarks/limit runs it beside the real thing.
 *
 * usage: bare_probe read|write MIB DEPTH RUNS; prints the mean rate in bytes per second.
 */
#include "base/clock.h"
#include "base/stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK       ((size_t)1 << 20)
#define READ_ASK    36 /* DSI header and FPReadExt's block */
#define READ_HEAD   16
#define WRITE_HEAD  36 /* DSI header and FPWriteExt's block */
#define WRITE_REPLY 24

static void die(const char *what)
{
    fprintf(stderr, "bare_probe: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void check(bool ok, const struct error *error)
{
    if (!ok) {
        fprintf(stderr, "bare_probe: %s\n", error->message);
        exit(1);
    }
}

/* ---- The server: a sendfile for each read, a splice for each write ---- */

static bool serve_read(int peer, int file, uint64_t chunk, uint64_t chunks, struct error *error)
{
    uint8_t ask[READ_ASK];
    uint8_t head[READ_HEAD] = {0};
    struct iovec piece = {head, sizeof head};
    return stream_receive_all(peer, ask, sizeof ask, error) &&
           stream_send_all(peer, &piece, 1, true, error) &&
           stream_send_file_all(peer, file, chunk % chunks * CHUNK, CHUNK, error);
}

static bool serve_write(int peer, int file, const int pipe_ends[2], uint64_t offset,
                        struct error *error)
{
    uint8_t head[WRITE_HEAD];
    uint8_t reply[WRITE_REPLY] = {0};
    struct iovec piece = {reply, sizeof reply};
    size_t left = CHUNK;
    if (!stream_receive_all(peer, head, sizeof head, error)) {
        return false;
    }
    while (left > 0) {
        ssize_t taken = splice(peer, NULL, pipe_ends[1], NULL, left, SPLICE_F_MOVE);
        if (taken <= 0) {
            return error_set_errno(error, errno, "splice");
        }
        left -= (size_t)taken;
        while (taken > 0) {
            off_t at = (off_t)offset;
            ssize_t put = splice(pipe_ends[0], NULL, file, &at, (size_t)taken, SPLICE_F_MOVE);
            if (put <= 0) {
                return error_set_errno(error, errno, "splice");
            }
            offset += (uint64_t)put;
            taken -= put;
        }
    }
    return stream_send_all(peer, &piece, 1, false, error);
}

static void serve(int peer, bool read, uint64_t chunks)
{
    struct error error;
    int pipe_ends[2];
    int file = memfd_create("probe", 0);
    if (file < 0 || ftruncate(file, (off_t)(chunks * CHUNK)) < 0 || pipe(pipe_ends) < 0) {
        die("probe file");
    }
    fcntl(pipe_ends[1], F_SETPIPE_SZ, 1 << 20);
    static uint8_t page[1 << 16];
    for (uint64_t at = 0; at < chunks * CHUNK; at += sizeof page) {
        ssize_t written = pwrite(file, page, sizeof page, (off_t)at);
        (void)written;
    }
    for (uint64_t i = 0;; i++) {
        bool ok = read ? serve_read(peer, file, i, chunks, &error)
                       : serve_write(peer, file, pipe_ends, i % chunks * CHUNK, &error);
        if (!ok) {
            _exit(0);
        }
    }
}

/* ---- The client: blocking, `depth` requests ahead ---- */

static void ask(int peer, bool read, uint8_t *payload)
{
    struct error error;
    uint8_t head[WRITE_HEAD] = {0};
    struct iovec pieces[] = {{head, read ? READ_ASK : WRITE_HEAD}, {payload, CHUNK}};
    check(stream_send_all(peer, pieces, read ? 1 : 2, false, &error), &error);
}

static void take(int peer, bool read)
{
    struct error error;
    uint8_t head[WRITE_REPLY];
    check(stream_receive_all(peer, head, read ? READ_HEAD : WRITE_REPLY, &error), &error);
    check(!read || stream_discard_all(peer, CHUNK, &error), &error);
}

static uint64_t run(int peer, bool read, uint64_t chunks, uint64_t depth, uint8_t *payload)
{
    uint64_t begin_ns = clock_now_ns();
    uint64_t asked = 0;
    for (uint64_t taken = 0; taken < chunks; taken++) {
        while (asked < chunks && asked - taken < depth) {
            ask(peer, read, payload);
            asked++;
        }
        take(peer, read);
    }
    return clock_now_ns() - begin_ns;
}

static int connect_pair(int *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    struct error error;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) < 0 ||
        connect(client, (struct sockaddr *)&address, size) < 0 ||
        (*server = accept(listener, NULL, NULL)) < 0) {
        die("loopback");
    }
    check(stream_prepare_tcp(client, &error) && stream_prepare_tcp(*server, &error), &error);
    close(listener);
    return client;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: bare_probe read|write MIB DEPTH RUNS\n");
        return 64;
    }
    bool read = strcmp(argv[1], "read") == 0;
    uint64_t chunks = strtoull(argv[2], NULL, 10);
    uint64_t depth = strtoull(argv[3], NULL, 10);
    uint64_t runs = strtoull(argv[4], NULL, 10);
    uint8_t *payload = calloc(1, CHUNK);
    int server;
    int client = connect_pair(&server);
    if (payload == NULL) {
        die("payload");
    }
    memset(payload, 0xA5, CHUNK);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(client);
        serve(server, read, chunks);
    }
    close(server);
    run(client, read, chunks, depth, payload); /* warm-up */
    uint64_t sum_ns = 0;
    for (uint64_t i = 0; i < runs; i++) {
        sum_ns += run(client, read, chunks, depth, payload);
    }
    close(client);
    waitpid(child, NULL, 0);
    printf("%.0f\n", (double)(runs * chunks * CHUNK) / ((double)sum_ns / (double)NS_PER_S));
    free(payload);
    return 0;
}
