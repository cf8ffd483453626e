/* session_fixture.h - a DSI session against a peer in this program: real sockets on loopback, and a
 * clock that can be set forward, so that nothing waits for half a minute.
 *
 * What the peer sends and expects is in the notation of bytes_from_text. All this asserts with
 * cmocka. */
#ifndef AFPBENCH_TESTS_SESSION_FIXTURE_H
#define AFPBENCH_TESTS_SESSION_FIXTURE_H

#include "unit.h"

#include "dsi/session.h"

#include <time.h>

/* Sets the clock of this program forward; it never goes back. */
void skip_seconds(time_t seconds);

/* A wait of this program with nothing to wake it then takes no time: the clock is set to its end,
 * after `instead` was called with `context`. NULL: waits take their time. */
void replace_waits(void (*instead)(void *context), void *context);

/* ---- A session and its peer ---- */

struct line {
    struct dsi_session *session;
    int listener;
    int peer;
    int signals[2]; /* a pipe in the place of a signal descriptor */
    struct interrupt interrupt;
    struct dsi_observer observer;
    char seen[512]; /* frames as the observer saw them */
    uint16_t attention;
    struct error error;
};

/* Connected, with a timeout of 10 s, but without a DSIOpenSession. */
void line_open(struct line *line);
void line_close(struct line *line);

/* ---- What the peer says and hears ---- */

void peer_send_bytes(const struct line *line, const uint8_t *bytes, size_t size);
void peer_send(const struct line *line, const char *text);
void peer_receive(const struct line *line, uint8_t *bytes, size_t size);
void peer_expect(const struct line *line, const char *text);
void peer_hang_up(struct line *line);

struct sender {
    const struct line *line;
    const uint8_t *bytes;
    size_t size;
    size_t step; /* bytes at once, with a pause between */
};

/* A thread of the peer; the context is a struct sender. */
void *send_in_steps(void *context);

#define END_OF_HEADER " 00000000 "
#define TICKLE        "00 05 0000 00000000 00000000" END_OF_HEADER
#define ATTENTION     "00 08 0001 00000000 00000002" END_OF_HEADER "2005"
#define SHUTDOWN      "00 08 0001 00000000 00000002" END_OF_HEADER "8000"
#define SERVER_CLOSE  "00 01 0002 00000000 00000000" END_OF_HEADER
/* A reply to a DSICommand without payload, and one with `length` (8 digits) bytes of it. */
#define REPLY(id)              "01 02 " id " 00000000 00000000" END_OF_HEADER
#define REPLY_WITH(id, length) "01 02 " id " 00000000 " length END_OF_HEADER

/* ---- What the client does ---- */

extern const uint8_t flush_block[4]; /* an FPFlushFork */

/* Submits an FPFlushFork, but for what the request sets. */
bool submit(struct line *line, struct dsi_request request);

#define SUBMIT(line, ...)                                                                          \
    check(submit(line, (struct dsi_request){__VA_ARGS__}), "%s", (line)->error.message)

struct dsi_reply reap(struct line *line);
void reap_fails(struct line *line, enum error_domain domain, const char *text);

/* ---- A frame that does not leave at once ---- */

#define LARGE ((size_t)64 << 20)

struct drain {
    const struct line *line;
    size_t size;
    bool intact;
    const char *answer; /* sent afterwards, or NULL */
};

/* A thread of the peer that receives a write of large_payload() and checks it; the context is a
 * struct drain. */
void *drain_large(void *context);

/* LARGE bytes, to be freed. */
uint8_t *large_payload(void);

#endif
