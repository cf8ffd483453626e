#include "server/faults.h"

#include "afp/afp.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define HOLD_LIMIT 4096
#define WAIT_STEP  (20 * NS_PER_MS)

/* A command that DSI does not have, for frames that a client must not mind (1.2). */
#define UNKNOWN_COMMAND 99

enum ending { END_NONE, END_CLOSE, END_RESET, END_HALF_CLOSE };

/* A frame on its way out. */
struct outgoing {
    struct dsi_header header;
    uint8_t *bytes; /* the header's place, then the payload, with room for `extend` */
    size_t size;    /* of the payload */
};

struct fault_line {
    const struct fault *faults;
    size_t count;
    struct fault_surroundings surroundings;
    uint64_t *seen; /* of each fault: requests that matched so far */
    bool *active;   /* of each fault: it applies to the current request */
    /* For the current request. */
    bool refused;
    int32_t result; /* if it is */
    bool silent;
    size_t copies, piece_size, hold;
    bool reverse;
    /* From some request on. */
    bool mute;
    enum ending ending;
    uint64_t bytes_left; /* until the ending */
    struct outgoing held[HOLD_LIMIT];
    size_t held_count;
};

/* ---- Before a request is executed ---- */

typedef bool before_function(struct fault_line *line, const struct fault *fault,
                             struct error *error);

/* The client sees this one end; the thread's caller closes the socket. */
static bool end_now(struct fault_line *line, struct error *error)
{
    int socket = line->surroundings.outbox->socket;
    if (line->ending == END_HALF_CLOSE) {
        line->ending = END_NONE;
        line->mute = true;
        stream_end_sending(socket);
        return true;
    }
    if (line->ending == END_RESET) {
        stream_reset(socket);
    }
    return error_set(error, ERROR_CLOSED, 0, "ended by a fault");
}

/* The lowest level: bytes leave until the line ends. */
static bool put(struct fault_line *line, const uint8_t *bytes, size_t size, size_t piece_size,
                struct error *error)
{
    bool ends = line->ending != END_NONE && size >= line->bytes_left;
    size = ends ? (size_t)line->bytes_left : size;
    line->bytes_left -= line->ending != END_NONE ? size : 0;
    while (size > 0 && !line->mute) {
        size_t step = piece_size > 0 && piece_size < size ? piece_size : size;
        struct iovec piece = {(void *)bytes, step};
        if (!outbox_send(line->surroundings.outbox, &piece, 1, false, error)) {
            return false;
        }
        bytes += step;
        size -= step;
    }
    return !ends || end_now(line, error);
}

static bool send_own(struct fault_line *line, uint8_t command, struct span payload,
                     struct error *error)
{
    uint8_t bytes[DSI_HEADER_SIZE + FAULT_BYTES_LIMIT];
    struct dsi_header header = {.command = command,
                                .request_id = (*line->surroundings.request_id)++,
                                .length = (uint32_t)payload.size};
    dsi_header_encode(bytes, &header);
    if (payload.size > 0) {
        memcpy(bytes + DSI_HEADER_SIZE, payload.data, payload.size);
    }
    return put(line, bytes, DSI_HEADER_SIZE + payload.size, 0, error);
}

/* Waits while the session breathes; a client that leaves ends it. */
static bool wait_ns(struct fault_line *line, uint64_t duration_ns, struct error *error)
{
    uint64_t end_ns = clock_now_ns() + duration_ns;
    for (uint64_t now = clock_now_ns(); now < end_ns; now = clock_now_ns()) {
        uint64_t step = end_ns - now < WAIT_STEP ? end_ns - now : WAIT_STEP;
        struct pollfd socket = {.fd = line->surroundings.outbox->socket, .events = POLLRDHUP};
        if (stream_poll(&socket, 1, now + step) > 0) {
            return error_set(error, ERROR_CLOSED, 0, "the client left");
        }
        if (!line->surroundings.breathe(line->surroundings.context, error)) {
            return false;
        }
    }
    return true;
}

static bool before_delay(struct fault_line *line, const struct fault *fault, struct error *error)
{
    return wait_ns(line, (uint64_t)fault->number, error);
}

static bool before_tickle(struct fault_line *line, const struct fault *fault, struct error *error)
{
    return send_own(line, DSI_TICKLE, (struct span){0}, error);
}

static bool send_attention(struct fault_line *line, uint16_t code, struct error *error)
{
    uint8_t bytes[] = {(uint8_t)(code >> 8), (uint8_t)code};
    return send_own(line, DSI_ATTENTION, (struct span){bytes, sizeof bytes}, error);
}

static bool before_attention(struct fault_line *line, const struct fault *fault,
                             struct error *error)
{
    return send_attention(line, (uint16_t)fault->number, error);
}

static bool before_shutdown(struct fault_line *line, const struct fault *fault, struct error *error)
{
    unsigned minutes = (unsigned)fault->number;
    return send_attention(
        line, (uint16_t)(DSI_ATTENTION_SHUTDOWN | DSI_ATTENTION_NO_RECONNECT | minutes), error);
}

static bool before_unknown(struct fault_line *line, const struct fault *fault, struct error *error)
{
    static const uint8_t bytes[] = "unknown";
    return send_own(line, UNKNOWN_COMMAND, (struct span){bytes, sizeof bytes}, error);
}

static bool before_close_session(struct fault_line *line, const struct fault *fault,
                                 struct error *error)
{
    return send_own(line, DSI_CLOSE_SESSION, (struct span){0}, error);
}

/* The first of several endings counts: its bytes are on their way already. */
static bool end_after(struct fault_line *line, enum ending ending, const struct fault *fault,
                      struct error *error)
{
    if (line->ending != END_NONE) {
        return true; /* already on its way */
    }
    line->ending = ending;
    line->bytes_left = (uint64_t)fault->number;
    return line->bytes_left > 0 || end_now(line, error);
}

static bool before_close(struct fault_line *line, const struct fault *fault, struct error *error)
{
    return end_after(line, END_CLOSE, fault, error);
}

static bool before_reset(struct fault_line *line, const struct fault *fault, struct error *error)
{
    return end_after(line, END_RESET, fault, error);
}

static bool before_half_close(struct fault_line *line, const struct fault *fault,
                              struct error *error)
{
    return end_after(line, END_HALF_CLOSE, fault, error);
}

static bool before_code(struct fault_line *line, const struct fault *fault, struct error *error)
{
    line->refused = true;
    line->result = (int32_t)fault->number;
    return true;
}

static bool before_ignore(struct fault_line *line, const struct fault *fault, struct error *error)
{
    line->silent = true;
    return true;
}

static bool before_mute(struct fault_line *line, const struct fault *fault, struct error *error)
{
    line->mute = true;
    return true;
}

/* The session's thread stays here, and so reads no more, until the client leaves. */
static bool before_deaf(struct fault_line *line, const struct fault *fault, struct error *error)
{
    line->mute = true;
    return wait_ns(line, INT64_MAX, error);
}

static bool before_twice(struct fault_line *line, const struct fault *fault, struct error *error)
{
    line->copies = 2;
    return true;
}

static bool before_pieces(struct fault_line *line, const struct fault *fault, struct error *error)
{
    line->piece_size = (size_t)fault->number;
    return true;
}

static bool before_hold(struct fault_line *line, const struct fault *fault, struct error *error)
{
    line->hold = (size_t)fault->number;
    line->reverse = false;
    return true;
}

static bool before_reverse(struct fault_line *line, const struct fault *fault, struct error *error)
{
    line->hold = (size_t)fault->number;
    line->reverse = true;
    return true;
}

/* ---- What is changed in a reply ---- */

typedef void change_function(struct outgoing *out, const struct fault *fault);

static void change_id(struct outgoing *out, const struct fault *fault)
{
    out->header.request_id = (uint16_t)(out->header.request_id + fault->number);
}

static void change_command(struct outgoing *out, const struct fault *fault)
{
    out->header.command = (uint8_t)fault->number;
}

static void change_flip(struct outgoing *out, const struct fault *fault)
{
    if ((uint64_t)fault->number < out->size) {
        out->bytes[DSI_HEADER_SIZE + fault->number] ^= 0xFF;
    }
}

static void change_truncate(struct outgoing *out, const struct fault *fault)
{
    uint64_t less = (uint64_t)fault->number;
    out->size -= less < out->size ? (size_t)less : out->size;
}

static void change_short(struct outgoing *out, const struct fault *fault)
{
    uint64_t most = (uint64_t)fault->number;
    out->size = most < out->size ? (size_t)most : out->size;
}

static void change_extend(struct outgoing *out, const struct fault *fault)
{
    memset(out->bytes + DSI_HEADER_SIZE + out->size, 0, (size_t)fault->number);
    out->size += (size_t)fault->number;
}

static void change_eof(struct outgoing *out, const struct fault *fault)
{
    enum { END_OF_FILE = -5009 };
    change_truncate(out, fault);
    out->header.offset_or_result = (uint32_t)END_OF_FILE;
}

static void change_payload(struct outgoing *out, const struct fault *fault)
{
    memcpy(out->bytes + DSI_HEADER_SIZE, fault->bytes, fault->size);
    out->size = fault->size;
}

/* ---- The table ---- */

enum value_kind { VALUE_NONE, VALUE_NUMBER, VALUE_OPTIONAL, VALUE_HEX, VALUE_SECONDS, VALUE_BYTES };

#define PIECES_MOST INT32_MAX
#define EXTEND_MOST 65536

struct fault_kind {
    const char *name;
    const char *value; /* what messages call it */
    enum value_kind takes;
    int64_t least, most;
    before_function *before;
    change_function *change;
};

static const struct fault_kind kinds[] = {
    {"delay", "SECONDS", VALUE_SECONDS, 0, 86400, before_delay, NULL},
    {"tickle", NULL, VALUE_NONE, 0, 0, before_tickle, NULL},
    {"attention", "HEX", VALUE_HEX, 0, UINT16_MAX, before_attention, NULL},
    {"shutdown", "MINUTES", VALUE_NUMBER, 0, 0xFFF, before_shutdown, NULL},
    {"unknown", NULL, VALUE_NONE, 0, 0, before_unknown, NULL},
    {"close-session", NULL, VALUE_NONE, 0, 0, before_close_session, NULL},
    {"close", "BYTES", VALUE_OPTIONAL, 0, INT64_MAX, before_close, NULL},
    {"reset", "BYTES", VALUE_OPTIONAL, 0, INT64_MAX, before_reset, NULL},
    {"half-close", "BYTES", VALUE_OPTIONAL, 0, INT64_MAX, before_half_close, NULL},
    {"ignore", NULL, VALUE_NONE, 0, 0, before_ignore, NULL},
    {"mute", NULL, VALUE_NONE, 0, 0, before_mute, NULL},
    {"deaf", NULL, VALUE_NONE, 0, 0, before_deaf, NULL},
    {"code", "N", VALUE_NUMBER, INT32_MIN, INT32_MAX, before_code, NULL},
    {"eof", "N", VALUE_NUMBER, 0, UINT32_MAX, NULL, change_eof},
    {"truncate", "N", VALUE_NUMBER, 0, UINT32_MAX, NULL, change_truncate},
    {"short", "N", VALUE_NUMBER, 0, UINT32_MAX, NULL, change_short},
    {"extend", "N", VALUE_NUMBER, 0, EXTEND_MOST, NULL, change_extend},
    {"flip", "N", VALUE_NUMBER, 0, UINT32_MAX, NULL, change_flip},
    {"payload", "HEX", VALUE_BYTES, 0, FAULT_BYTES_LIMIT, NULL, change_payload},
    {"id", "N", VALUE_NUMBER, -UINT16_MAX, UINT16_MAX, NULL, change_id},
    {"command", "N", VALUE_NUMBER, 0, UINT8_MAX, NULL, change_command},
    {"twice", NULL, VALUE_NONE, 0, 0, before_twice, NULL},
    {"pieces", "N", VALUE_NUMBER, 1, PIECES_MOST, before_pieces, NULL},
    {"hold", "N", VALUE_NUMBER, 1, HOLD_LIMIT, before_hold, NULL},
    {"reverse", "N", VALUE_NUMBER, 1, HOLD_LIMIT, before_reverse, NULL},
};

/* ---- Reading a fault ---- */

static bool no_such_fault(const char *name, struct error *error)
{
    char known[300] = "";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", kinds[i].name);
    }
    return error_set(error, ERROR_USAGE, 0, "there is no '%s'; there are %s", name, known);
}

static bool wrong_value(const struct fault_kind *kind, struct error *error)
{
    if (kind->takes == VALUE_NONE) {
        return error_set(error, ERROR_USAGE, 0, "it takes no value");
    }
    return error_set(error, ERROR_USAGE, 0, "it is %s=%s, with %lld to %lld%s", kind->name,
                     kind->value, (long long)kind->least, (long long)kind->most,
                     kind->takes == VALUE_BYTES ? " bytes" : "");
}

static unsigned digit_value(char digit)
{
    return (unsigned)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
}

/* Digits of `base` with a sign where the least number has one; nothing else, and in range. */
static bool read_number(const char *text, int base, const struct fault_kind *kind, int64_t *number)
{
    bool negative = text[0] == '-' && kind->least < 0;
    const char *digits = text + negative;
    *number = 0;
    if (digits[0] == '\0' ||
        strspn(digits, base == 16 ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits)) {
        return false;
    }
    for (; *digits != '\0'; digits++) {
        int64_t digit = digit_value(*digits);
        if (*number > (INT64_MAX - digit) / base) {
            return false;
        }
        *number = *number * base + digit;
    }
    *number = negative ? -*number : *number;
    return *number >= kind->least && *number <= kind->most;
}

/* "0.25": whole seconds, then up to nine decimals; no locale. */
static bool read_seconds(const char *text, const struct fault_kind *kind, int64_t *number)
{
    char whole[16];
    size_t length = strcspn(text, ".");
    if (length >= sizeof whole) {
        return false;
    }
    memcpy(whole, text, length);
    whole[length] = '\0';
    if (!read_number(whole, 10, kind, number)) {
        return false;
    }
    *number *= (int64_t)NS_PER_S;
    const char *decimals = text + length + (text[length] == '.');
    int64_t unit = (int64_t)NS_PER_S / 10;
    for (; *decimals >= '0' && *decimals <= '9' && unit > 0; decimals++, unit /= 10) {
        *number += unit * (*decimals - '0');
    }
    return *decimals == '\0';
}

static bool read_bytes(const char *text, struct fault *fault)
{
    size_t length = strlen(text);
    if (length % 2 != 0 || length > sizeof fault->bytes * 2 ||
        strspn(text, "0123456789abcdefABCDEF") != length) {
        return false;
    }
    for (fault->size = 0; fault->size < length / 2; fault->size++) {
        const char *pair = text + fault->size * 2;
        fault->bytes[fault->size] = (uint8_t)(digit_value(pair[0]) * 16 + digit_value(pair[1]));
    }
    return true;
}

static bool read_value(struct fault *fault, const char *value)
{
    const struct fault_kind *kind = fault->kind;
    if (value == NULL) {
        return kind->takes == VALUE_NONE || kind->takes == VALUE_OPTIONAL;
    }
    switch (kind->takes) {
    case VALUE_NONE:
        return false;
    case VALUE_NUMBER:
    case VALUE_OPTIONAL:
        return read_number(value, 10, kind, &fault->number);
    case VALUE_HEX:
        return read_number(value, 16, kind, &fault->number);
    case VALUE_SECONDS:
        return read_seconds(value, kind, &fault->number);
    case VALUE_BYTES:
        return read_bytes(value, fault);
    }
    return false;
}

/* "3", "3+", "3-5". */
static bool read_which(const char *text, struct fault *fault)
{
    static const struct fault_kind counts = {.least = 1, .most = INT64_MAX};
    char first[24];
    int64_t number;
    size_t length = strcspn(text, "+-");
    if (length >= sizeof first) {
        return false;
    }
    memcpy(first, text, length);
    first[length] = '\0';
    if (!read_number(first, 10, &counts, &number)) {
        return false;
    }
    fault->first = fault->last = (uint64_t)number;
    if (text[length] == '+') {
        fault->last = UINT64_MAX;
        return text[length + 1] == '\0';
    }
    if (text[length] == '-') {
        bool good = read_number(text + length + 1, 10, &counts, &number);
        fault->last = (uint64_t)number;
        return good && fault->last >= fault->first;
    }
    return true;
}

static bool read_request(const char *text, struct fault *fault)
{
    size_t length = strcspn(text, "#");
    if (length >= sizeof fault->request) {
        return false;
    }
    memcpy(fault->request, length > 0 ? text : "*", length > 0 ? length : 1);
    return text[length] == '\0' || read_which(text + length + 1, fault);
}

/* Whether any request has such a name: else the fault would wait for ever. */
static bool request_exists(const char *pattern)
{
    for (unsigned code = 0; code <= UINT8_MAX; code++) {
        if (fnmatch(pattern, afp_command_name((uint8_t)code), 0) == 0 ||
            fnmatch(pattern, dsi_command_name((uint8_t)code), 0) == 0) {
            return true;
        }
    }
    return false;
}

/* The value is cut off in a copy, since a payload in it may be long and messages quote the text. */
bool fault_parse(struct fault *fault, const char *text, struct error *error)
{
    char what[FAULT_BYTES_LIMIT * 2 + 32];
    size_t length = strcspn(text, "@");
    *fault = (struct fault){.request = "*", .first = 1, .last = UINT64_MAX};
    if (length >= sizeof what) {
        return error_set(error, ERROR_USAGE, 0, "it is too long");
    }
    memcpy(what, text, length);
    what[length] = '\0';
    char *value = strchr(what, '=');
    if (value != NULL) {
        *value++ = '\0';
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        fault->kind = strcmp(kinds[i].name, what) == 0 ? &kinds[i] : fault->kind;
    }
    if (fault->kind == NULL) {
        return no_such_fault(what, error);
    }
    if (!read_value(fault, value)) {
        return wrong_value(fault->kind, error);
    }
    if (text[length] == '@' && !read_request(text + length + 1, fault)) {
        return error_set(error, ERROR_USAGE, 0,
                         "after @ comes a request's name or pattern, #3, #3+ or #3-5");
    }
    if (!request_exists(fault->request)) {
        return error_set(error, ERROR_USAGE, 0,
                         "no request is called '%s'; they are named as FPReadExt and "
                         "DSIOpenSession, FPRead* is a pattern",
                         fault->request);
    }
    return true;
}

/* ---- A line ---- */

struct fault_line *fault_line_open(const struct fault *faults, size_t count,
                                   const struct fault_surroundings *surroundings)
{
    struct fault_line *line = memory_allocate(1, sizeof *line);
    uint64_t *seen = memory_allocate(count, sizeof *seen);
    bool *active = memory_allocate(count, sizeof *active);
    if (line == NULL || seen == NULL || active == NULL) {
        memory_release(line);
        memory_release(seen);
        memory_release(active);
        return NULL;
    }
    line->faults = faults;
    line->count = count;
    line->surroundings = *surroundings;
    line->seen = seen;
    line->active = active;
    return line;
}

void fault_line_close(struct fault_line *line)
{
    if (line == NULL) {
        return;
    }
    for (size_t i = 0; i < line->held_count; i++) {
        memory_release(line->held[i].bytes);
    }
    memory_release(line->seen);
    memory_release(line->active);
    memory_release(line);
}

bool fault_line_request(struct fault_line *line, const char *name, bool *refused, int32_t *result,
                        struct error *error)
{
    line->refused = false;
    line->silent = false;
    line->copies = 1;
    line->piece_size = line->hold = 0;
    for (size_t i = 0; i < line->count; i++) {
        const struct fault *fault = &line->faults[i];
        bool matches = fnmatch(fault->request, name, 0) == 0;
        line->seen[i] += matches;
        line->active[i] = matches && line->seen[i] >= fault->first && line->seen[i] <= fault->last;
        if (line->active[i] && fault->kind->before != NULL &&
            !fault->kind->before(line, fault, error)) {
            return false;
        }
    }
    *refused = line->refused;
    *result = line->result;
    return true;
}

/* The frame in memory of its own, changed. */
static bool make_frame(struct fault_line *line, const struct dsi_header *header,
                       struct span payload, struct outgoing *out, struct error *error)
{
    *out = (struct outgoing){.header = *header, .size = payload.size};
    size_t room = DSI_HEADER_SIZE + payload.size + FAULT_BYTES_LIMIT;
    for (size_t i = 0; i < line->count; i++) {
        room += line->faults[i].kind->change == change_extend ? (size_t)line->faults[i].number : 0;
    }
    out->bytes = memory_allocate(room, 1);
    if (out->bytes == NULL) {
        return memory_error(error, "for a reply");
    }
    if (payload.size > 0) {
        memcpy(out->bytes + DSI_HEADER_SIZE, payload.data, payload.size);
    }
    for (size_t i = 0; header->flags == DSI_REPLY && i < line->count; i++) {
        if (line->active[i] && line->faults[i].kind->change != NULL) {
            line->faults[i].kind->change(out, &line->faults[i]);
        }
    }
    out->header.length = (uint32_t)out->size;
    dsi_header_encode(out->bytes, &out->header);
    return true;
}

/* All held frames in one buffer and one call: "glued". */
static bool release_held(struct fault_line *line, struct error *error)
{
    size_t total = 0;
    for (size_t i = 0; i < line->held_count; i++) {
        total += DSI_HEADER_SIZE + line->held[i].size;
    }
    uint8_t *bytes = memory_allocate(total, 1);
    size_t count = line->held_count;
    size_t at = 0;
    line->held_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct outgoing *out = &line->held[line->reverse ? count - 1 - i : i];
        size_t size = DSI_HEADER_SIZE + out->size;
        if (bytes != NULL) {
            memcpy(bytes + at, out->bytes, size);
        }
        at += size;
        memory_release(out->bytes);
    }
    bool sent = bytes != NULL ? put(line, bytes, total, 0, error)
                              : memory_error(error, "for replies that are held");
    memory_release(bytes);
    return sent;
}

/* What holds, splits or repeats replies leaves alone what the server sends on its own: tickles must
 * not wait for a client that waits for them. */
bool fault_line_send(struct fault_line *line, const struct dsi_header *header, struct span payload,
                     struct error *error)
{
    struct outgoing out;
    bool reply = header->flags == DSI_REPLY;
    if (line->mute || (reply && line->silent)) {
        return true;
    }
    if (!make_frame(line, header, payload, &out, error)) {
        return false;
    }
    if (reply && line->hold > 0) {
        line->held[line->held_count++] = out;
        return line->held_count < line->hold || release_held(line, error);
    }
    bool sent = true;
    for (size_t i = 0; sent && i < (reply ? line->copies : 1); i++) {
        sent =
            put(line, out.bytes, DSI_HEADER_SIZE + out.size, reply ? line->piece_size : 0, error);
    }
    memory_release(out.bytes);
    return sent;
}

bool fault_line_holds(const struct fault_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        before_function *before = line->faults[i].kind->before;
        if (before == before_hold || before == before_reverse) {
            return true;
        }
    }
    return false;
}

bool fault_line_idle(struct fault_line *line, struct error *error)
{
    return line->held_count == 0 || release_held(line, error);
}
