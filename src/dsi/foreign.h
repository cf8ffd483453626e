/*
 * foreign.h - what a server that is not AFP says first, so that an error can name it.
 *
 * A wrong port or host answers in its own protocol: with a banner, or with an error to bytes that
 * it did not understand. Pure functions over the first bytes of a connection; no I/O, no state.
 */
#ifndef AFPBENCH_DSI_FOREIGN_H
#define AFPBENCH_DSI_FOREIGN_H

#include "base/wire.h"

#define FOREIGN_TEXT_LENGTH 192

/* Whether the first bytes that a server sent, DSI_HEADER_SIZE or all that came, cannot be those of
 * an AFP server. Fewer than a header are AFP only as the beginning of one. */
bool foreign_bytes(struct span first);

/* What it is, to follow the server's address: "answers as SSH (SSH-2.0-OpenSSH_9.2), not AFP: is
 * the port right?"; or "is no AFP server: …" with the bytes made printable. As much of the first
 * line as is in `first` is shown. Returns `text`. */
const char *foreign_text(struct span first, char text[FOREIGN_TEXT_LENGTH]);

#endif
