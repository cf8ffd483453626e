/*
 * faults.h - a server that misbehaves when it is told to, so that clients can be tested.
 *
 * A fault is written NAME[=VALUE][@REQUEST[#WHICH]]: what happens, and at which requests of a
 * connection. REQUEST is a name as "FPReadExt" or "DSIOpenSession", or a pattern (fnmatch) of such
 * names, by default all (one that no request has is refused); WHICH counts those that match: "3"
 * the third, "3+" from the third on, "3-5". The scripted peer of the tests takes the same words
 * (tests/fault/README.md).
 *
 * What can happen is one table. The faults of a server never change; a session with faults owns a
 * `struct fault_line`, which sees each request before it is executed and each frame before it
 * leaves. A session without faults has none and pays nothing. One thread uses a line.
 */
#ifndef AFPBENCH_SERVER_FAULTS_H
#define AFPBENCH_SERVER_FAULTS_H

#include "dsi/frame.h"
#include "server/outbox.h"

#define FAULT_BYTES_LIMIT   64
#define FAULT_PATTERN_LIMIT 32

struct fault_kind;

struct fault {
    const struct fault_kind *kind;
    char request[FAULT_PATTERN_LIMIT];
    uint64_t first, last;             /* of the requests that match, counted from 1 */
    int64_t number;                   /* VALUE; seconds are nanoseconds here */
    uint8_t bytes[FAULT_BYTES_LIMIT]; /* VALUE in hexadecimal */
    size_t size;
};

/* Reads one fault; what is wrong with it is ERROR_USAGE, without the fault itself. */
MUST_CHECK bool fault_parse(struct fault *fault, const char *text, struct error *error);

/* What a line needs of its session. */
struct fault_surroundings {
    struct outbox *outbox;
    uint16_t *request_id; /* the next one of the server's own frames */
    /* Called while a fault waits: false ends the session. */
    MUST_CHECK bool (*breathe)(void *context, struct error *error);
    void *context;
};

struct fault_line;

/* NULL when memory ran out. The faults must outlive the line. */
struct fault_line *fault_line_open(const struct fault *faults, size_t count,
                                   const struct fault_surroundings *surroundings);
void fault_line_close(struct fault_line *line);

/* A request begins: what has to happen before it is executed happens here. If it is *refused, it is
 * not executed and *result is its result, be it 0. False: the session ends. */
MUST_CHECK bool fault_line_request(struct fault_line *line, const char *name, bool *refused,
                                   int32_t *result, struct error *error);

/* Sends a frame as the faults want it: changed, in pieces, later, or not at all. */
MUST_CHECK bool fault_line_send(struct fault_line *line, const struct dsi_header *header,
                                struct span payload, struct error *error);

/* True if replies may be kept back; fault_line_idle() lets them go when the client is silent. */
bool fault_line_holds(const struct fault_line *line);
MUST_CHECK bool fault_line_idle(struct fault_line *line, struct error *error);

#endif
