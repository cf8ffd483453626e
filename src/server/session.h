/*
 * session.h - one client's connection: frames in, frames out (doc/protocol.md 1).
 *
 * session_serve() runs in the session's own thread and blocks. Everything in `struct session`
 * belongs to that thread; what sessions share is in the service and its volumes.
 */
#ifndef AFPBENCH_SERVER_SESSION_H
#define AFPBENCH_SERVER_SESSION_H

#include "server/faults.h"
#include "server/fork_table.h"
#include "server/outbox.h"
#include "server/replay.h"
#include "server/service.h"

#define SESSION_SLEEP_LIMIT_HOURS 10              /* 5.1: what FPZzzzz answers and grants */
#define SESSION_REPLY_LIMIT       ((size_t)65100) /* 5.3: where Netatalk ends an enumeration too */

/* Bytes of a fork that follow a reply's payload: FPRead's data. */
struct fork_range {
    struct open_fork *fork;
    uint64_t offset, size; /* size 0: none */
};

struct session {
    struct service *service;
    int socket;
    struct inbox inbox;
    struct outbox outbox;
    struct fault_line *faults; /* NULL: none */
    struct replay_cache replay;
    uint64_t sent_ns;    /* when the last frame left */
    uint16_t request_id; /* of the server's own frames */
    bool first;          /* no frame seen yet */
    bool opened;         /* OpenSession was accepted; it holds a place */
    bool ending;         /* the current reply is the last */
    bool sleeping;       /* FPZzzzz: silence is fine */

    /* Login. */
    bool logged_in;
    enum afp_version version;
    const struct uam *uam; /* of the login under way */
    struct uam_state uam_state;
    uint16_t login_id;
    uint32_t user_id;
    uint8_t user[AFP_NAME_LIMIT_UTF8]; /* composed */
    size_t user_size;
    int32_t gmt_offset_s; /* added to dates: local time in 2.x (3.2) */
    uint8_t token[8];     /* FPGetSessionToken */

    bool *volumes_open; /* by volume ID - 1 */
    struct fork_table forks;
    uint8_t reply[SESSION_REPLY_LIMIT];
};

/* Serves a connected stream socket until either side ends the session, then shuts it down. The
 * socket stays open and the caller's. */
void session_serve(struct service *service, int socket);

/* Closes the session's forks: those on one volume, or all (NULL). */
void session_close_forks(struct session *session, const struct volume *volume);

/* For long commands, now and then: sends a tickle when one is due. False: the client is gone, or
 * the server stops. */
MUST_CHECK bool session_breathe(struct session *session, struct error *error);

#endif
