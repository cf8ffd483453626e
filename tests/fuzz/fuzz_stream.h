/* fuzz_stream.h - base/stream.h and base/connect.h without a network: a peer that is bytes.
 *
 * What the program receives is what was fed, cut into pieces as the input says, now and then after
 * an EAGAIN; then the stream ends. What it sends is taken, in pieces too, and shown to `sent`.
 * Nothing waits. One stream at a time; its number as a socket is FUZZ_SOCKET. */
#ifndef AFPBENCH_TESTS_FUZZ_STREAM_H
#define AFPBENCH_TESTS_FUZZ_STREAM_H

#include "base/wire.h"

/* No descriptor of the process. */
#define FUZZ_SOCKET 1000000

typedef void fuzz_sent(void *context, const uint8_t *bytes, size_t size);

/* A fresh stream. `cut` 0: all at once, nothing blocks; else the seed of the pieces, and from 128
 * on sending may fail with EAGAIN too (which is the end of a session that blocks). */
void fuzz_stream_begin(uint8_t cut, fuzz_sent *sent, void *context);
void fuzz_stream_end(void);

/* Adds bytes to what the program is to receive. */
void fuzz_stream_feed(struct span bytes);
/* Adds a whole frame. */
void fuzz_stream_feed_frame(uint8_t flags, uint8_t command, uint16_t request_id,
                            uint32_t offset_or_result, struct span payload);

#endif
