/*
 * frame.h - the 16 bytes before every DSI frame, and the options of OpenSession.
 *
 * Pure functions over bytes, shared by client and server; no I/O, no state.
 * doc/protocol.md 1.1 (header), 1.2 (commands), 1.4 (options), 1.13 (result codes).
 */
#ifndef AFPBENCH_DSI_FRAME_H
#define AFPBENCH_DSI_FRAME_H

#include "base/wire.h"

#define DSI_HEADER_SIZE       16
#define DSI_DEFAULT_PORT      548
#define DSI_REPLAY_CACHE_SIZE 128          /* 1.3: what servers of AFP 3.3 and later keep */
#define DSI_FALLBACK_QUANTUM  (64U * 1024) /* 1.4: when the server offers none */
#define DSI_ATTENTION_QUANTUM 2            /* 1.4: what clients ask for */
#define DSI_TICKLE_INTERVAL_S 30           /* 1.8 */

enum dsi_flags { DSI_REQUEST = 0, DSI_REPLY = 1 };

enum dsi_command {
    DSI_CLOSE_SESSION = 1,
    DSI_COMMAND = 2,
    DSI_GET_STATUS = 3,
    DSI_OPEN_SESSION = 4,
    DSI_TICKLE = 5,
    DSI_WRITE = 6,
    DSI_ATTENTION = 8,
};

/* doc/protocol.md 1.13 */
enum dsi_result {
    DSI_OK = 0,
    DSI_NO_MORE_SESSIONS = -1068,
    DSI_PARAMETER_ERROR = -1070,
    DSI_SERVER_BUSY = -1071,
};

/* Bits of an attention code (1.9). */
enum dsi_attention {
    DSI_ATTENTION_SHUTDOWN = 0x8000,
    DSI_ATTENTION_CRASH = 0x4000,
    DSI_ATTENTION_MESSAGE = 0x2000,
    DSI_ATTENTION_NO_RECONNECT = 0x1000,
};

struct dsi_header {
    uint8_t flags;
    uint8_t command;
    uint16_t request_id;
    uint32_t offset_or_result; /* request: writeOffset; reply: result code */
    uint32_t length;           /* bytes after the header */
};

/* Encodes into or decodes from exactly DSI_HEADER_SIZE bytes. The reserved field is sent as 0 and
 * ignored when received. */
void dsi_header_encode(uint8_t bytes[DSI_HEADER_SIZE], const struct dsi_header *header);
struct dsi_header dsi_header_decode(const uint8_t bytes[DSI_HEADER_SIZE]);

/* The signed result of a reply. Netatalk's 16-bit DSI codes arrive without their sign: 0x0000FBD1
 * is -1071 (1.4). */
int32_t dsi_result(const struct dsi_header *header);

/* "no more sessions" and so on for a DSI result code; NULL for others. */
const char *dsi_result_name(int32_t result);

/* "DSICommand", … ; "unknown DSI command" for others. */
const char *dsi_command_name(uint8_t command);

/* OpenSession's options in either direction; an option that is not there is 0. */
struct dsi_options {
    bool has_server_quantum; /* decoded: the server's quantum was there, be it 0 */
    uint32_t server_quantum;
    uint32_t attention_quantum;
    uint32_t replay_cache_size;
};

/* Decoding takes options in any order and skips those it does not know; an option that passes the
 * end, or one of ours whose length is not 4, fails the wire. Encoding writes those that are not 0.
 */
void dsi_options(struct wire *wire, struct dsi_options *options);

#endif
