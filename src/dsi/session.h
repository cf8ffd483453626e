/*
 * session.h - the client's side of one DSI connection: a window of outstanding requests.
 *
 * dsi_submit() hands over a request and sends what the socket takes; dsi_reap() returns the next
 * reply, in whatever order the server answers. Between them the session reads and writes at the
 * same time, so that neither side can block the other; it answers to tickles, attentions and the
 * server's close at any frame boundary, sends a tickle when nothing was sent for 30 s, gives up
 * when nothing awaited comes and the peer's TCP acknowledges nothing for the timeout, and stops at
 * an interrupt. A peer that is no AFP server is told by its first bytes: ERROR_PROTOCOL.
 *
 * Ownership: the caller keeps payloads and reply buffers alive until their reply is reaped or
 * dsi_settle() has returned. A session belongs to one thread. After ERROR_CLOSED, ERROR_PROTOCOL or
 * ERROR_TIMEOUT the session is dead: dsi_alive() is false and every further call fails at once.
 *
 * doc/protocol.md 1.
 */
#ifndef AFPBENCH_DSI_SESSION_H
#define AFPBENCH_DSI_SESSION_H

#include "base/connect.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/tcp_info.h"
#include "base/wire.h"
#include "dsi/frame.h"

/* The longest request block (everything of a request but a write's data). */
#define DSI_BLOCK_LIMIT 2304

/* Requests that may be outstanding at once. */
#define DSI_WINDOW_LIMIT 4096

/* Sees every frame, for traces; may be all NULL. Called from the session's thread. */
struct dsi_observer {
    /* `afp_command` is the command byte of the request that the frame carries or answers; 0 where
     * there is none. */
    void (*frame)(void *context, bool sent, const struct dsi_header *header, uint8_t afp_command);
    void (*attention)(void *context, uint16_t code);
    void *context;
};

struct dsi_config {
    const char *host;
    uint16_t port;
    uint64_t timeout_ns; /* without progress, per phase */
    struct interrupt *interrupt;
    const struct dsi_observer *observer; /* or NULL */
    struct connect_choice *address;      /* of the server, once known; NULL: looked up each time */
};

struct dsi_session;

/* Connects. The session has room for one request until dsi_reserve(). */
MUST_CHECK bool dsi_connect(struct dsi_session **session, const struct dsi_config *config,
                            struct error *error);

/* Opens the session (1.4) and gives the server's quantum: the most data of one write. 64 KiB where
 * the server offers none; a quantum of 0 is ERROR_PROTOCOL. */
MUST_CHECK bool dsi_open(struct dsi_session *session, uint32_t *quantum, struct error *error);

/* Asks for the server's description (1.5) on a connection that opens no session: `length` bytes of
 * an FPGetSrvrInfo reply in `buffer`. */
MUST_CHECK bool dsi_get_status(struct dsi_session *session, void *buffer, size_t capacity,
                               size_t *length, struct error *error);

/* Makes room for `window` outstanding requests, at most DSI_WINDOW_LIMIT; with none outstanding. */
MUST_CHECK bool dsi_reserve(struct dsi_session *session, size_t window, struct error *error);

struct dsi_request {
    enum dsi_command command; /* DSI_COMMAND, DSI_WRITE, DSI_GET_STATUS or DSI_OPEN_SESSION */
    const char *name;         /* for messages: "FPReadExt"; a constant; NULL: the command's */
    struct span block;        /* copied */
    struct span payload;      /* DSI_WRITE only: the data after the block */
    void *reply;              /* where the reply's payload goes; NULL: dropped in the kernel */
    size_t reply_capacity;    /* what does not fit is dropped, and counted in reply_length */
    bool patient;             /* may take as long as the connection lives */
    bool secret;              /* the copy of the block is wiped when it is done with */
    uint64_t tag;             /* comes back with the reply */
};

struct dsi_reply {
    uint64_t tag;
    int32_t result;
    uint32_t reply_length; /* bytes that the server sent after the header */
    uint64_t submitted_ns; /* the call that took its first byte began */
    uint64_t sent_ns;      /* last byte accepted */
    uint64_t completed_ns; /* last byte of the reply received */
};

/* Fails with ERROR_LIMIT if the window is full or the block too long: the caller's mistake. */
MUST_CHECK bool dsi_submit(struct dsi_session *session, const struct dsi_request *request,
                           struct error *error);

/* Waits for the next reply; at least one request must be outstanding. */
MUST_CHECK bool dsi_reap(struct dsi_session *session, struct dsi_reply *reply, struct error *error);

size_t dsi_outstanding(const struct dsi_session *session);

/* Submits one request and waits for its reply; ERROR_LIMIT if anything else is outstanding. After a
 * failure the reply buffer is the caller's again, whatever still comes. */
MUST_CHECK bool dsi_call(struct dsi_session *session, const struct dsi_request *request,
                         struct dsi_reply *reply, struct error *error);

/* Keeps the session alive until `deadline_ns`, or until `fd` (-1: none) can be read: then
 * `readable` is true. With nothing outstanding. */
MUST_CHECK bool dsi_idle(struct dsi_session *session, uint64_t deadline_ns, int fd, bool *readable,
                         struct error *error);

/* After a failure or an interrupt: unsent requests are taken back, replies to the others awaited
 * until `deadline_ns` and dropped. False (and the session dead) if they do not come; a further
 * interrupt ends the wait as well. */
MUST_CHECK bool dsi_settle(struct dsi_session *session, uint64_t deadline_ns, struct error *error);

/* The reply to a dsi_call() that was interrupted, and the first bytes of its payload, if it came
 * while the session settled; once. */
bool dsi_late_reply(struct dsi_session *session, struct dsi_reply *reply, struct span *payload);

/* Changes the timeout, as for cleaning up in a hurry; returns the one before. */
uint64_t dsi_set_timeout(struct dsi_session *session, uint64_t timeout_ns);

/* What TCP and the session know of their work so far, for samples. */
MUST_CHECK bool dsi_account(const struct dsi_session *session, struct tcp_snapshot *tcp,
                            uint64_t *waited_ns, struct error *error);

/* The peer as text, for messages. */
const char *dsi_peer(const struct dsi_session *session);

bool dsi_alive(const struct dsi_session *session);

/* Alive and with nothing outstanding: ready for dsi_call(). */
bool dsi_ready(const struct dsi_session *session);

/* Says goodbye if the session lives (DSICloseSession), closes and releases. NULL is fine. */
void dsi_close(struct dsi_session *session);

#endif
