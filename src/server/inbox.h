/*
 * inbox.h - the receiving half of a session: a blocking socket read in frames.
 *
 * A frame is its header, then a request block that is needed whole, then perhaps data. Small frames
 * arrive with one system call, several at once when the client pipelines; data goes from the socket
 * to a file without passing through the process. The inbox counts what is left of the current
 * frame, so that inbox_finish() can drop the rest after any error and the stream stays in step.
 *
 * While nothing arrives, the `idle` function runs once per tick so that the owner can send
 * tickles and give up. One thread uses an inbox. Functions that return false have lost the
 * connection.
 */
#ifndef AFPBENCH_SERVER_INBOX_H
#define AFPBENCH_SERVER_INBOX_H

#include "base/error.h"
#include "base/wire.h"
#include "dsi/frame.h"

#include <stdint.h>

/* The longest request block: more than any AFP command that we know needs. */
#define INBOX_BLOCK_LIMIT ((size_t)64 * 1024)

/* Called after each `tick_ns` in which nothing arrived; `silent_ns` is how long by now. False ends
 * the connection. */
typedef bool inbox_idle(void *context, uint64_t silent_ns, struct error *error);

struct inbox {
    int socket;
    uint64_t tick_ns;
    uint64_t silent_ns;
    inbox_idle *idle;
    void *context;
    uint64_t frame_left; /* bytes of the current frame that nobody took yet */
    int pipe[2];         /* for data on its way into a file; -1 until needed */
    uint8_t *buffer;     /* bytes received and not yet taken: from begin to end */
    size_t begin, end;
    size_t capacity;    /* of the buffer; it grows while bytes are stored */
    size_t store_limit; /* most bytes that are stored; the owner may change it */
    bool ended;         /* the end of the stream came while bytes were stored */
};

/* The socket stays the caller's and must outlive the inbox. */
MUST_CHECK bool inbox_open(struct inbox *inbox, int socket, uint64_t tick_ns, inbox_idle *idle,
                           void *context, struct error *error);
void inbox_close(struct inbox *inbox);

/* The next frame's header; waits for it. ERROR_CLOSED with code 0 is the end of the stream at a
 * frame's boundary. */
MUST_CHECK bool inbox_header(struct inbox *inbox, struct dsi_header *header, struct error *error);

/* The next byte of the frame, which stays there; at least one must be left. */
MUST_CHECK bool inbox_peek(struct inbox *inbox, uint8_t *byte, struct error *error);

/* The next `size` bytes of the frame (at most INBOX_BLOCK_LIMIT and what is left) in one piece.
 * They stay valid until the next inbox_header(), inbox_block() or inbox_store(). */
MUST_CHECK bool inbox_block(struct inbox *inbox, size_t size, struct span *block,
                            struct error *error);

/* Wipes a block that inbox_block() gave and that is still valid: it held a secret. */
void inbox_forget(struct inbox *inbox, struct span block);

/* While the owner waits for something else: takes what has arrived out of the socket, to be found
 * by the functions above later. To be called when the socket can be read and there is room. Bytes
 * that inbox_block() gave are gone after it. */
bool inbox_can_store(const struct inbox *inbox);
MUST_CHECK bool inbox_store(struct inbox *inbox, struct error *error);

/* Drops bytes of the frame; all that is left of it. */
MUST_CHECK bool inbox_discard(struct inbox *inbox, uint64_t size, struct error *error);
MUST_CHECK bool inbox_finish(struct inbox *inbox, struct error *error);

/* Moves `size` bytes of the frame to `offset` of a file. *moved counts what arrived in the file.
 * When the file refuses, *file_error is its errno, the rest stays in the frame, and true is
 * returned. */
MUST_CHECK bool inbox_to_file(struct inbox *inbox, int file, uint64_t offset, uint64_t size,
                              uint64_t *moved, int *file_error, struct error *error);

#endif
