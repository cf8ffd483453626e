#include "session_fixture.h"

#include "base/clock.h"
#include "loopback.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- The clock ---- */

static time_t skipped_s;
static uint64_t skipped_ns;
static void (*wait_instead)(void *context);
static void *wait_context;

/* Takes the place of the C library's for everything that is linked into this program. */
int clock_gettime(clockid_t id, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, id, now);
    uint64_t nanoseconds = (uint64_t)now->tv_nsec + skipped_ns;
    now->tv_sec += skipped_s + (time_t)(nanoseconds / NS_PER_S);
    now->tv_nsec = (long)(nanoseconds % NS_PER_S);
    return result;
}

/* Takes the place of the C library's as well. */
int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *limit,
          const sigset_t *mask)
{
    struct timespec at_once = {0};
    struct timespec wait = limit != NULL ? *limit : at_once;
    if (wait_instead == NULL) {
        return (int)syscall(SYS_ppoll, descriptors, count, limit != NULL ? &wait : NULL, mask, 8);
    }
    int ready = (int)syscall(SYS_ppoll, descriptors, count, &at_once, mask, 8);
    if (ready != 0) {
        return ready;
    }
    wait_instead(wait_context);
    skipped_ns += (uint64_t)wait.tv_sec * NS_PER_S + (uint64_t)wait.tv_nsec;
    at_once = (struct timespec){0};
    return (int)syscall(SYS_ppoll, descriptors, count, &at_once, mask, 8);
}

void replace_waits(void (*instead)(void *context), void *context)
{
    wait_instead = instead;
    wait_context = context;
}

void skip_seconds(time_t seconds)
{
    skipped_s += seconds;
}

/* ---- A session and its peer ---- */

static void see_frame(void *context, bool sent, const struct dsi_header *header,
                      uint8_t afp_command)
{
    struct line *line = context;
    size_t used = strlen(line->seen);
    snprintf(line->seen + used, sizeof line->seen - used, "%c%d/%d ", sent ? '>' : '<',
             header->command, afp_command);
}

static void see_attention(void *context, uint16_t code)
{
    ((struct line *)context)->attention = code;
}

void line_open(struct line *line)
{
    uint16_t port;
    *line = (struct line){.listener = loopback_listen(&port)};
    assert_int_equal(pipe(line->signals), 0);
    line->interrupt.fd = line->signals[0];
    line->observer = (struct dsi_observer){see_frame, see_attention, line};
    struct dsi_config config = {.host = "127.0.0.1",
                                .port = port,
                                .timeout_ns = 10 * NS_PER_S,
                                .interrupt = &line->interrupt,
                                .observer = &line->observer};
    check(dsi_connect(&line->session, &config, &line->error), "%s", line->error.message);
    line->peer = accept(line->listener, NULL, NULL);
    assert_true(line->peer >= 0);
    int on = 1;
    setsockopt(line->peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct timeval patience = {.tv_sec = 10};
    setsockopt(line->peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

void line_close(struct line *line)
{
    dsi_close(line->session);
    close(line->listener);
    close(line->signals[0]);
    close(line->signals[1]);
    if (line->peer >= 0) {
        close(line->peer);
    }
}

/* ---- What the peer says and hears ---- */

void peer_send_bytes(const struct line *line, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(line->peer, bytes, size, MSG_NOSIGNAL);
        assert_true(sent > 0);
        bytes += sent;
        size -= (size_t)sent;
    }
}

void peer_send(const struct line *line, const char *text)
{
    uint8_t bytes[256];
    peer_send_bytes(line, bytes, bytes_from_text(text, bytes, sizeof bytes));
}

void peer_receive(const struct line *line, uint8_t *bytes, size_t size)
{
    assert_int_equal(recv(line->peer, bytes, size, MSG_WAITALL), size);
}

void peer_expect(const struct line *line, const char *text)
{
    uint8_t expected[256];
    uint8_t bytes[256];
    size_t size = bytes_from_text(text, expected, sizeof expected);
    peer_receive(line, bytes, size);
    assert_memory_equal(bytes, expected, size);
}

void peer_hang_up(struct line *line)
{
    close(line->peer);
    line->peer = -1;
}

void *send_in_steps(void *context)
{
    const struct sender *sender = context;
    for (size_t at = 0; at < sender->size; at += sender->step) {
        size_t left = sender->size - at;
        peer_send_bytes(sender->line, sender->bytes + at,
                        left < sender->step ? left : sender->step);
        usleep(100);
    }
    return NULL;
}

/* ---- What the client does ---- */

const uint8_t flush_block[4] = {11, 0, 1, 0};

bool submit(struct line *line, struct dsi_request request)
{
    if (request.command == 0) {
        request.command = DSI_COMMAND;
        request.name = "FPFlushFork";
    }
    if (request.block.data == NULL) {
        request.block = (struct span){flush_block, sizeof flush_block};
    }
    return dsi_submit(line->session, &request, &line->error);
}

struct dsi_reply reap(struct line *line)
{
    struct dsi_reply reply;
    check(dsi_reap(line->session, &reply, &line->error), "%s", line->error.message);
    return reply;
}

void reap_fails(struct line *line, enum error_domain domain, const char *text)
{
    struct dsi_reply reply;
    assert_false(dsi_reap(line->session, &reply, &line->error));
    check_error(&line->error, domain, text);
}

/* ---- A frame that does not leave at once ---- */

void *drain_large(void *context)
{
    struct drain *drain = context;
    uint8_t head[20];
    uint8_t piece[65536];
    ssize_t got = recv(drain->line->peer, head, sizeof head, MSG_WAITALL);
    drain->intact = got == (ssize_t)sizeof head && head[1] == DSI_WRITE;
    while (drain->size < LARGE && got > 0) {
        size_t left = LARGE - drain->size;
        got = recv(drain->line->peer, piece, left < sizeof piece ? left : sizeof piece, 0);
        for (ssize_t i = 0; i < got; i++) {
            drain->intact &= piece[i] == (uint8_t)(drain->size + (size_t)i);
        }
        drain->size += got > 0 ? (size_t)got : 0;
    }
    if (drain->answer != NULL) {
        peer_send(drain->line, drain->answer);
    }
    return NULL;
}

uint8_t *large_payload(void)
{
    uint8_t *payload = malloc(LARGE);
    assert_non_null(payload);
    for (size_t i = 0; i < LARGE; i++) {
        payload[i] = (uint8_t)i;
    }
    return payload;
}
