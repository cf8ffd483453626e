/*
 * outbox.h - the sending half of a session: a blocking socket that frames go into.
 *
 * While the client takes nothing, the outbox hears what it says and leaves that in the inbox
 * (inbox_store), so that a client which sends requests and reads their replies later does not
 * block both sides (doc/protocol.md 7, item 7). Until the inbox's store is full that is; then the
 * client has to read. One thread uses an outbox. Functions that return false have lost the
 * connection; a client whose TCP takes nothing for `limit_ns` is ERROR_TIMEOUT.
 */
#ifndef AFPBENCH_SERVER_OUTBOX_H
#define AFPBENCH_SERVER_OUTBOX_H

#include "base/tcp_info.h"
#include "server/inbox.h"

#include <sys/types.h>
#include <sys/uio.h>

struct outbox {
    int socket;
    struct tcp_progress progress;
    bool uncounted; /* see outbox_count() */
    uint64_t limit_ns;
    struct inbox *inbox;
};

/* The socket stays the caller's; it and the inbox must outlive the outbox. */
MUST_CHECK bool outbox_open(struct outbox *outbox, int socket, uint64_t limit_ns,
                            struct inbox *inbox, struct error *error);

/* Sends all pieces; the array is used up. `more` says that the frame goes on. */
MUST_CHECK bool outbox_send(struct outbox *outbox, struct iovec *pieces, size_t count, bool more,
                            struct error *error);

/* Sends some of a file, at most `size` bytes from `offset`: *sent of them, 0 where it ends. False
 * with *file_error set when the file cannot be sent so, and nothing was lost. */
MUST_CHECK bool outbox_send_file(struct outbox *outbox, int file, uint64_t offset, uint64_t size,
                                 size_t *sent, int *file_error, struct error *error);

/* From here on, until true: what is sent is no answer (a tickle), and that the client's TCP takes
 * it says nothing of the client. */
void outbox_count(struct outbox *outbox, bool counts);

/* Whether the client's TCP took some of the answers since the last question. */
bool outbox_moved(struct outbox *outbox);

/* True if a small frame can be sent without a wait. */
bool outbox_has_room(const struct outbox *outbox);

#endif
