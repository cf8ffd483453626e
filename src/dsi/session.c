#include "dsi/session.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"
#include "dsi/foreign.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NO_SLOT UINT16_MAX

/* Received beyond the current payload, so that the next header costs no call of its own. */
#define AHEAD_BYTES 512

/* Receive calls in a row that may bring nothing asked for before we look at the clock and at
 * signals: a peer that sends tickles without end is mute all the same. */
#define UNASKED_LIMIT 256

/* How often within the timeout a wait looks whether the peer's TCP still takes what we send. */
#define LOOKS_PER_TIMEOUT 8

/* Kept of the reply to a call that was given up. */
#define LATE_BYTES 16

enum slot_state { SLOT_FREE, SLOT_QUEUED, SLOT_SENT, SLOT_DONE };

/* One outstanding request. */
struct slot {
    enum slot_state state;
    uint16_t next; /* in the free list, the send queue or the done queue */
    uint16_t request_id;
    uint8_t dsi_command;
    uint8_t afp_command;
    const char *name;
    bool patient;
    bool secret;
    bool answered;    /* the reply came before the request had left whole */
    size_t head_size; /* DSI header and request block, in the session's heads */
    struct span payload;
    size_t sent; /* of head and payload together */
    uint8_t *reply;
    size_t reply_capacity;
    struct dsi_reply result;
};

/* A first-in, first-out list of slots linked by `next`. */
struct queue {
    uint16_t first;
    uint16_t last;
};

/* Netatalk answers a repeated ID and command from a cache of results; this mirrors it, so that no
 * ID is used which the server would take for a repetition (doc/protocol.md 1.3). */
struct replay_entry {
    bool used;
    uint16_t request_id;
    uint8_t afp_command;
};

/* The frame that is being received. */
struct incoming {
    uint8_t header_bytes[DSI_HEADER_SIZE];
    size_t header_have;
    struct dsi_header header;
    uint16_t slot;    /* whose reply it is; NO_SLOT for the server's own frames */
    uint64_t have;    /* payload bytes received */
    uint8_t small[8]; /* payload of the server's own frames: an attention code */
};

struct dsi_session {
    int fd;
    bool alive;
    bool heard;         /* the first frame was an AFP server's */
    bool opened;        /* OpenSession was sent: the end deserves a DSICloseSession */
    uint16_t attention; /* the last shutdown notice; 0: none */
    struct interrupt *interrupt;
    const struct dsi_observer *observer;
    uint64_t timeout_ns;
    uint64_t last_progress_ns; /* something awaited came, or was acknowledged by the peer's TCP */
    uint64_t last_look_ns;     /* at `progress` */
    struct tcp_progress progress;
    uint64_t last_sent_ns;
    uint64_t waited_ns; /* blocked in poll, all together */
    bool flooded;       /* much came, and nothing that was asked for */
    char peer[ADDRESS_TEXT_LENGTH];

    size_t window;
    size_t outstanding; /* queued, sent or done, not yet reaped */
    size_t patient;     /* of those, the ones that may take long */
    struct slot *slots;
    uint8_t *heads;
    uint16_t free_slots;
    struct queue send;
    struct queue done;

    uint16_t next_id;
    uint16_t slot_of_id[UINT16_MAX + 1];
    struct replay_entry replay[DSI_REPLAY_CACHE_SIZE];

    uint8_t late[LATE_BYTES]; /* the reply buffer of a call that was given up */
    struct dsi_reply late_reply;
    bool late_arrived;

    uint8_t tickle[DSI_HEADER_SIZE];
    size_t tickle_left; /* bytes of a tickle that still have to leave */

    struct incoming incoming;
    uint8_t ahead[AHEAD_BYTES];
    size_t ahead_at;
    size_t ahead_end;
};

/* ---- Slots ---- */

#define HEAD_BYTES (DSI_HEADER_SIZE + DSI_BLOCK_LIMIT)

static uint8_t *slot_head(struct dsi_session *session, uint16_t slot)
{
    return session->heads + (size_t)slot * HEAD_BYTES;
}

static void queue_push(struct dsi_session *session, struct queue *queue, uint16_t slot)
{
    session->slots[slot].next = NO_SLOT;
    if (queue->first == NO_SLOT) {
        queue->first = slot;
    } else {
        session->slots[queue->last].next = slot;
    }
    queue->last = slot;
}

static uint16_t queue_pop(struct dsi_session *session, struct queue *queue)
{
    uint16_t slot = queue->first;
    queue->first = session->slots[slot].next;
    return slot;
}

static void slot_forget(struct dsi_session *session, uint16_t index)
{
    const struct slot *slot = &session->slots[index];
    if (slot->secret) {
        memory_wipe(slot_head(session, index), slot->head_size);
    }
}

static void slot_release(struct dsi_session *session, uint16_t index)
{
    struct slot *slot = &session->slots[index];
    session->outstanding--;
    session->patient -= slot->patient;
    slot_forget(session, index);
    slot->state = SLOT_FREE;
    slot->next = session->free_slots;
    session->free_slots = index;
}

bool dsi_reserve(struct dsi_session *session, size_t window, struct error *error)
{
    if (window <= session->window) {
        return true;
    }
    if (window > DSI_WINDOW_LIMIT || session->outstanding > 0) {
        return error_set(error, ERROR_LIMIT, 0, "at most %d requests can be outstanding",
                         DSI_WINDOW_LIMIT);
    }
    struct slot *slots = memory_allocate(window, sizeof *slots);
    uint8_t *heads = memory_allocate(window, HEAD_BYTES);
    if (slots == NULL || heads == NULL) {
        memory_release(slots);
        memory_release(heads);
        return memory_error(error, "for the request window");
    }
    for (size_t i = 0; i < window; i++) {
        slots[i].next = i + 1 < window ? (uint16_t)(i + 1) : NO_SLOT;
    }
    memory_release(session->slots);
    memory_release(session->heads);
    session->slots = slots;
    session->heads = heads;
    session->window = window;
    session->free_slots = 0;
    session->send = session->done = (struct queue){NO_SLOT, NO_SLOT};
    return true;
}

/* ---- The end of a session ---- */

static bool die(struct dsi_session *session)
{
    session->alive = false;
    return false;
}

/* The oldest request that has no reply; NULL if nothing is awaited. */
static const struct slot *oldest_awaited(const struct dsi_session *session)
{
    const struct slot *oldest = NULL;
    for (size_t i = 0; i < session->window; i++) {
        const struct slot *slot = &session->slots[i];
        bool open = slot->state == SLOT_QUEUED || slot->state == SLOT_SENT;
        if (open && (oldest == NULL || slot->result.submitted_ns < oldest->result.submitted_ns)) {
            oldest = slot;
        }
    }
    return oldest;
}

static const char *slot_name(const struct slot *slot)
{
    return slot->name != NULL ? slot->name : dsi_command_name(slot->dsi_command);
}

/* The name of that request, or NULL. */
static const char *awaited(const struct dsi_session *session)
{
    const struct slot *oldest = oldest_awaited(session);
    return oldest != NULL ? slot_name(oldest) : NULL;
}

/* What came before the first frame was known to be one: a header or less, and what was received
 * ahead, up to a banner's line. */
static struct span first_bytes(const struct dsi_session *session, uint8_t *bytes)
{
    size_t have = session->incoming.header_have;
    size_t ahead = session->ahead_end - session->ahead_at;
    memcpy(bytes, session->incoming.header_bytes, have);
    memcpy(bytes + have, session->ahead + session->ahead_at, ahead);
    return (struct span){bytes, have + ahead};
}

/* Tells a peer that speaks another protocol; false, with the error set, if it is one. A few bytes
 * are enough of a TLS alert or a short banner, after which nothing comes. */
static bool is_ours(struct dsi_session *session, struct error *error)
{
    uint8_t bytes[DSI_HEADER_SIZE + AHEAD_BYTES];
    char text[FOREIGN_TEXT_LENGTH];
    if (session->heard) {
        return true;
    }
    struct span first = first_bytes(session, bytes);
    if (!foreign_bytes(first)) {
        return true;
    }
    die(session);
    return error_set(error, ERROR_PROTOCOL, 0, "%s %s", session->peer, foreign_text(first, text));
}

static bool closed(struct dsi_session *session, int errno_value, struct error *error)
{
    if (!is_ours(session, error)) {
        return false;
    }
    const char *what = awaited(session);
    die(session);
    error_set(error, ERROR_CLOSED, errno_value, "%s closed the connection%s%s%s%s%s", session->peer,
              what != NULL ? " before it answered " : "", what != NULL ? what : "",
              errno_value != 0 ? ": " : "", errno_value != 0 ? strerror(errno_value) : "",
              session->attention != 0 ? " (it had announced a shutdown)" : "");
    return false;
}

static bool io_failed(struct dsi_session *session, struct error *error)
{
    if (errno == ECONNRESET || errno == EPIPE) {
        return closed(session, errno, error);
    }
    die(session);
    return error_set_errno(error, errno, "connection to %s", session->peer);
}

/* ---- Sending ---- */

static void observe(struct dsi_session *session, bool sent, const uint8_t *header_bytes,
                    uint8_t afp_command)
{
    if (session->observer != NULL && session->observer->frame != NULL) {
        struct dsi_header header = dsi_header_decode(header_bytes);
        session->observer->frame(session->observer->context, sent, &header, afp_command);
    }
}

/* Sends what the socket takes of one slot; `blocked` if it took less than all. */
static bool send_slot(struct dsi_session *session, uint16_t index, bool *blocked,
                      struct error *error)
{
    struct slot *slot = &session->slots[index];
    size_t total = slot->head_size + slot->payload.size;
    while (slot->sent < total) {
        struct iovec pieces[2];
        size_t count = 0;
        size_t payload_sent = 0;
        if (slot->sent < slot->head_size) {
            pieces[count++] = (struct iovec){slot_head(session, index) + slot->sent,
                                             slot->head_size - slot->sent};
        } else {
            payload_sent = slot->sent - slot->head_size;
        }
        if (slot->payload.size > payload_sent) {
            pieces[count++] = (struct iovec){(uint8_t *)slot->payload.data + payload_sent,
                                             slot->payload.size - payload_sent};
        }
        uint64_t before_ns = slot->sent == 0 ? clock_now_ns() : 0;
        ssize_t sent = stream_send(session->fd, pieces, count, false);
        if (sent < 0) {
            *blocked = errno == EAGAIN || errno == EWOULDBLOCK;
            return *blocked || io_failed(session, error);
        }
        session->last_sent_ns = clock_now_ns();
        tcp_handed(&session->progress, (size_t)sent, true);
        if (slot->sent == 0) {
            slot->result.submitted_ns = before_ns; /* the call itself is part of the service time */
        }
        slot->sent += (size_t)sent;
    }
    slot->result.sent_ns = session->last_sent_ns;
    return true;
}

static uint16_t next_request_id(struct dsi_session *session, enum dsi_command command,
                                uint8_t afp_command)
{
    for (;;) {
        uint16_t id = session->next_id++;
        struct replay_entry *entry = &session->replay[id % DSI_REPLAY_CACHE_SIZE];
        bool repeated = command == DSI_COMMAND && entry->used && entry->request_id == id &&
                        entry->afp_command == afp_command;
        if (session->slot_of_id[id] != NO_SLOT || repeated) {
            continue;
        }
        if (command == DSI_COMMAND) {
            *entry = (struct replay_entry){true, id, afp_command};
        }
        return id;
    }
}

static bool send_tickle(struct dsi_session *session, bool *blocked, struct error *error)
{
    while (session->tickle_left > 0) {
        struct iovec piece = {session->tickle + DSI_HEADER_SIZE - session->tickle_left,
                              session->tickle_left};
        ssize_t sent = stream_send(session->fd, &piece, 1, false);
        if (sent < 0) {
            *blocked = errno == EAGAIN || errno == EWOULDBLOCK;
            return *blocked || io_failed(session, error);
        }
        session->tickle_left -= (size_t)sent;
        tcp_handed(&session->progress, (size_t)sent, false);
        session->last_sent_ns = clock_now_ns();
    }
    return true;
}

static void complete(struct dsi_session *session, uint16_t index)
{
    session->slots[index].state = SLOT_DONE;
    queue_push(session, &session->done, index);
}

/* Sends queued frames until the queue is empty or the socket is full. */
static bool pump_send(struct dsi_session *session, struct error *error)
{
    bool blocked = false;
    if (!send_tickle(session, &blocked, error)) {
        return false;
    }
    while (!blocked && session->send.first != NO_SLOT) {
        uint16_t index = session->send.first;
        if (!send_slot(session, index, &blocked, error)) {
            return false;
        }
        if (!blocked) {
            queue_pop(session, &session->send);
            session->slots[index].state = SLOT_SENT;
            if (session->slots[index].answered) {
                complete(session, index);
            }
        }
    }
    return true;
}

static bool wants_to_send(const struct dsi_session *session)
{
    return session->send.first != NO_SLOT || session->tickle_left > 0;
}

/* A tickle leaves when nothing was sent for the interval and no frame is under way (1.8). */
static void tickle_if_due(struct dsi_session *session)
{
    uint64_t due = session->last_sent_ns + DSI_TICKLE_INTERVAL_S * NS_PER_S;
    if (wants_to_send(session) || clock_now_ns() < due) {
        return;
    }
    struct dsi_header header = {.command = DSI_TICKLE,
                                .request_id = next_request_id(session, DSI_TICKLE, 0)};
    dsi_header_encode(session->tickle, &header);
    session->tickle_left = DSI_HEADER_SIZE;
    observe(session, true, session->tickle, 0);
}

bool dsi_submit(struct dsi_session *session, const struct dsi_request *request, struct error *error)
{
    if (!session->alive) {
        return error_set(error, ERROR_CLOSED, 0, "the connection to %s is gone", session->peer);
    }
    if (session->free_slots == NO_SLOT || request->block.size > DSI_BLOCK_LIMIT ||
        request->payload.size > UINT32_MAX - DSI_BLOCK_LIMIT) {
        return error_set(error, ERROR_LIMIT, 0, "a request does not fit into the window");
    }
    uint16_t index = session->free_slots;
    struct slot *slot = &session->slots[index];
    session->free_slots = slot->next;
    uint8_t afp_command = request->block.size > 0 ? request->block.data[0] : 0;
    *slot = (struct slot){
        .state = SLOT_QUEUED,
        .request_id = next_request_id(session, request->command, afp_command),
        .dsi_command = (uint8_t)request->command,
        .afp_command = afp_command,
        .name = request->name,
        .patient = request->patient,
        .secret = request->secret,
        .head_size = DSI_HEADER_SIZE + request->block.size,
        .payload = request->payload,
        .reply = request->reply,
        .reply_capacity = request->reply_capacity,
        .result = {.tag = request->tag, .submitted_ns = clock_now_ns()},
    };
    struct dsi_header header = {
        .flags = DSI_REQUEST,
        .command = slot->dsi_command,
        .request_id = slot->request_id,
        .offset_or_result = request->command == DSI_WRITE ? (uint32_t)request->block.size : 0,
        .length = (uint32_t)(request->block.size + request->payload.size),
    };
    uint8_t *head = slot_head(session, index);
    dsi_header_encode(head, &header);
    if (request->block.size > 0) {
        memcpy(head + DSI_HEADER_SIZE, request->block.data, request->block.size);
    }
    session->slot_of_id[slot->request_id] = index;
    if (session->outstanding++ == 0) { /* the timeout runs while something is awaited */
        session->last_progress_ns = slot->result.submitted_ns;
    }
    session->patient += slot->patient;
    session->opened |= request->command == DSI_OPEN_SESSION;
    queue_push(session, &session->send, index);
    observe(session, true, head, afp_command);
    return pump_send(session, error);
}

/* ---- Receiving ---- */

static void reply_arrived(struct dsi_session *session)
{
    struct incoming *incoming = &session->incoming;
    struct slot *slot = &session->slots[incoming->slot];
    slot->result.result = dsi_result(&incoming->header);
    slot->result.reply_length = incoming->header.length;
    slot->result.completed_ns = clock_now_ns();
    session->slot_of_id[slot->request_id] = NO_SLOT;
    if (slot->state == SLOT_QUEUED) {
        slot->answered = true; /* the rest of the frame still has to leave */
    } else {
        complete(session, incoming->slot);
    }
}

static bool server_frame_arrived(struct dsi_session *session, struct error *error)
{
    struct incoming *incoming = &session->incoming;
    switch (incoming->header.command) {
    case DSI_CLOSE_SESSION:
        return closed(session, 0, error);
    case DSI_ATTENTION:
        if (incoming->header.length >= 2) {
            uint16_t code = (uint16_t)(incoming->small[0] << 8 | incoming->small[1]);
            if (code & (DSI_ATTENTION_SHUTDOWN | DSI_ATTENTION_CRASH)) {
                session->attention = code;
            }
            if (session->observer != NULL && session->observer->attention != NULL) {
                session->observer->attention(session->observer->context, code);
            }
        }
        return true;
    default:
        return true; /* tickles, and commands that do not exist yet */
    }
}

static bool frame_arrived(struct dsi_session *session, struct error *error)
{
    session->incoming.header_have = 0;
    if (session->incoming.slot == NO_SLOT) {
        return server_frame_arrived(session, error);
    }
    reply_arrived(session);
    return true;
}

/* A reply that nobody waits for; from here on no other can be trusted. */
static bool unasked(struct dsi_session *session, const struct dsi_header *header,
                    struct error *error)
{
    char wanted[80] = "";
    const struct slot *oldest = oldest_awaited(session);
    if (oldest != NULL) {
        snprintf(wanted, sizeof wanted, "; awaited was request ID %u, %s",
                 (unsigned)oldest->request_id, slot_name(oldest));
    }
    die(session);
    return error_set(error, ERROR_PROTOCOL, 0,
                     "%s sent a reply that answers nothing we asked: request ID %u, %s%s",
                     session->peer, (unsigned)header->request_id, dsi_command_name(header->command),
                     wanted);
}

/* Decides whose frame this is. */
static bool header_arrived(struct dsi_session *session, struct error *error)
{
    struct incoming *incoming = &session->incoming;
    if (!is_ours(session, error)) {
        return false;
    }
    session->heard = true;
    incoming->header = dsi_header_decode(incoming->header_bytes);
    incoming->have = 0;
    incoming->slot = NO_SLOT;
    const struct dsi_header *header = &incoming->header;
    uint8_t afp_command = 0;
    if (header->flags == DSI_REPLY) {
        uint16_t index = session->slot_of_id[header->request_id];
        struct slot *slot = index != NO_SLOT ? &session->slots[index] : NULL;
        if (slot == NULL || slot->dsi_command != header->command || slot->sent == 0) {
            return unasked(session, header, error);
        }
        incoming->slot = index;
        afp_command = slot->afp_command;
    }
    observe(session, false, incoming->header_bytes, afp_command);
    return header->length > 0 || frame_arrived(session, error);
}

/* Where the next payload bytes go: NULL means they are dropped. `room` is how many of them. */
static uint8_t *destination(struct dsi_session *session, size_t *room)
{
    struct incoming *incoming = &session->incoming;
    uint64_t left = incoming->header.length - incoming->have;
    uint8_t *buffer = incoming->small;
    size_t capacity = sizeof incoming->small;
    if (incoming->slot != NO_SLOT) {
        buffer = session->slots[incoming->slot].reply;
        capacity = session->slots[incoming->slot].reply_capacity;
    }
    if (buffer == NULL || incoming->have >= capacity) {
        *room = (size_t)left;
        return NULL;
    }
    size_t fits = capacity - (size_t)incoming->have;
    *room = left < fits ? (size_t)left : fits;
    return buffer + incoming->have;
}

/* The header of the next frame from what was received ahead. */
static bool consume_header(struct dsi_session *session, const uint8_t *from, size_t available,
                           struct error *error)
{
    struct incoming *incoming = &session->incoming;
    size_t want = DSI_HEADER_SIZE - incoming->header_have;
    size_t step = want < available ? want : available;
    memcpy(incoming->header_bytes + incoming->header_have, from, step);
    incoming->header_have += step;
    session->ahead_at += step;
    return incoming->header_have < DSI_HEADER_SIZE || header_arrived(session, error);
}

/* Payload of the current frame from what was received ahead. */
static bool consume_payload(struct dsi_session *session, const uint8_t *from, size_t available,
                            struct error *error)
{
    struct incoming *incoming = &session->incoming;
    size_t room;
    uint8_t *to = destination(session, &room);
    size_t step = room < available ? room : available;
    if (to != NULL) {
        memcpy(to, from, step);
    }
    session->ahead_at += step;
    incoming->have += step;
    return incoming->have < incoming->header.length || frame_arrived(session, error);
}

/* Uses up what was received ahead of need, but not beyond a complete reply: what follows it,
 * perhaps the end of the session, must not hide it. */
static bool consume_ahead(struct dsi_session *session, struct error *error)
{
    while (session->ahead_at < session->ahead_end && session->done.first == NO_SLOT) {
        size_t available = session->ahead_end - session->ahead_at;
        const uint8_t *from = session->ahead + session->ahead_at;
        bool in_header = session->incoming.header_have < DSI_HEADER_SIZE;
        if (!(in_header ? consume_header(session, from, available, error)
                        : consume_payload(session, from, available, error))) {
            return false;
        }
    }
    return true;
}

/* One receive call: into the payload's place and beyond it into `ahead`, or dropping. */
static ssize_t receive_some(struct dsi_session *session, size_t *payload_step)
{
    struct incoming *incoming = &session->incoming;
    struct iovec pieces[2];
    size_t count = 0;
    *payload_step = 0;
    if (incoming->header_have == DSI_HEADER_SIZE) {
        size_t room;
        uint8_t *to = destination(session, &room);
        size_t step = room < STREAM_RECEIVE_BYTES ? room : STREAM_RECEIVE_BYTES;
        *payload_step = step;
        if (to == NULL) {
            return stream_discard(session->fd, step);
        }
        pieces[count++] = (struct iovec){to, step};
        if (incoming->have + step < incoming->header.length) {
            return stream_receive(session->fd, pieces, count);
        }
    }
    pieces[count++] = (struct iovec){session->ahead, sizeof session->ahead};
    return stream_receive(session->fd, pieces, count);
}

/* Puts what a receive call brought to where it belongs. */
static bool received_bytes(struct dsi_session *session, size_t got, size_t payload_step,
                           struct error *error)
{
    struct incoming *incoming = &session->incoming;
    size_t payload = got < payload_step ? got : payload_step;
    session->ahead_at = 0;
    session->ahead_end = got - payload;
    if (payload == 0) {
        return true;
    }
    incoming->have += payload;
    if (incoming->slot != NO_SLOT) {
        session->last_progress_ns = clock_now_ns();
    }
    return incoming->have < incoming->header.length || frame_arrived(session, error);
}

/* Receives until a reply is complete or the socket says that it is empty. Not before: while we ask
 * once more the next segments come in, which saves more calls than it costs. */
static bool pump_receive(struct dsi_session *session, struct error *error)
{
    unsigned unasked = 0;
    session->flooded = false;
    while (consume_ahead(session, error)) {
        session->flooded = unasked == UNASKED_LIMIT;
        if (session->done.first != NO_SLOT || session->flooded) {
            return true;
        }
        size_t payload_step;
        bool for_slot = session->incoming.slot != NO_SLOT;
        ssize_t received = receive_some(session, &payload_step);
        if (received < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK || io_failed(session, error);
        }
        if (received == 0) {
            return closed(session, 0, error);
        }
        unasked = for_slot && payload_step > 0 ? 0 : unasked + 1;
        if (!received_bytes(session, (size_t)received, payload_step, error)) {
            return false;
        }
    }
    return false;
}

/* ---- Waiting ---- */

static bool timed_out(struct dsi_session *session, struct error *error)
{
    if (!is_ours(session, error)) {
        return false;
    }
    const char *what = awaited(session);
    die(session);
    return error_set(error, ERROR_TIMEOUT, 0, "no answer to %s from %s in %g s", what,
                     session->peer, (double)session->timeout_ns / (double)NS_PER_S) ||
           error_remedy(error, REMEDY_TIME_LIMIT);
}

/* Only a wait for replies that may not take for ever runs against the clock. */
static bool is_timed(const struct dsi_session *session)
{
    return session->outstanding > 0 && session->patient == 0;
}

static uint64_t next_look(const struct dsi_session *session)
{
    uint64_t from = session->last_look_ns > session->last_progress_ns ? session->last_look_ns
                                                                      : session->last_progress_ns;
    return from + session->timeout_ns / LOOKS_PER_TIMEOUT;
}

/* Our socket takes what fits into its buffer, whoever listens; what counts is what the peer's TCP
 * acknowledges while we wait. The first look of a wait only says from where: what was acknowledged
 * until then was under way when the wait began. */
static void look_for_progress(struct dsi_session *session, uint64_t now_ns)
{
    bool again = session->last_look_ns >= session->last_progress_ns;
    session->last_look_ns = now_ns;
    if (tcp_moved(session->fd, &session->progress) && again) {
        session->last_progress_ns = now_ns;
    }
}

/* When the next thing has to happen although nothing arrives. */
static uint64_t next_deadline(const struct dsi_session *session, uint64_t deadline_ns)
{
    uint64_t tickle = session->last_sent_ns + DSI_TICKLE_INTERVAL_S * NS_PER_S;
    uint64_t earliest = tickle < deadline_ns ? tickle : deadline_ns;
    if (is_timed(session)) {
        uint64_t limit = session->last_progress_ns + session->timeout_ns;
        uint64_t look = next_look(session);
        limit = look < limit ? look : limit;
        earliest = limit < earliest ? limit : earliest;
    }
    return earliest;
}

/* Sleeps until the socket, an interrupt, `fd` or a deadline wakes it; then sends what is due. */
static bool wait_for_events(struct dsi_session *session, uint64_t deadline_ns, int fd,
                            bool *readable, struct error *error)
{
    short events = (short)(POLLIN | (wants_to_send(session) ? POLLOUT : 0));
    struct pollfd descriptors[] = {{.fd = session->fd, .events = events},
                                   {.fd = session->interrupt->fd, .events = POLLIN},
                                   {.fd = fd, .events = POLLIN}};
    uint64_t asleep_ns = clock_now_ns();
    int ready = stream_poll(descriptors, 3, next_deadline(session, deadline_ns));
    if (ready < 0) {
        return error_set_errno(error, errno, "poll");
    }
    uint64_t now = clock_now_ns();
    session->waited_ns += now - asleep_ns;
    if (descriptors[1].revents != 0 && !interrupt_check(session->interrupt, error)) {
        return false;
    }
    *readable = descriptors[2].revents != 0;
    if (is_timed(session) && now >= next_look(session)) {
        look_for_progress(session, now);
    }
    if ((ready == 0 || session->flooded) && is_timed(session) &&
        now >= session->last_progress_ns + session->timeout_ns) {
        return timed_out(session, error);
    }
    tickle_if_due(session);
    return true;
}

/* One round of receiving and sending; then, if no reply is complete, a wait. */
static bool advance(struct dsi_session *session, uint64_t deadline_ns, int fd, bool *readable,
                    struct error *error)
{
    if (!session->alive) {
        return error_set(error, ERROR_CLOSED, 0, "the connection to %s is gone", session->peer);
    }
    if (!pump_receive(session, error)) {
        return false;
    }
    if (session->done.first == NO_SLOT && wants_to_send(session) && !pump_send(session, error)) {
        return false;
    }
    return session->done.first != NO_SLOT ||
           wait_for_events(session, deadline_ns, fd, readable, error);
}

bool dsi_reap(struct dsi_session *session, struct dsi_reply *reply, struct error *error)
{
    bool readable;
    while (session->done.first == NO_SLOT) {
        if (!advance(session, UINT64_MAX, -1, &readable, error)) {
            return false;
        }
    }
    uint16_t index = queue_pop(session, &session->done);
    *reply = session->slots[index].result;
    slot_release(session, index);
    session->last_progress_ns = reply->completed_ns;
    return true;
}

size_t dsi_outstanding(const struct dsi_session *session)
{
    return session->outstanding;
}

/* After a call was given up: what still comes must not go to its buffer, which the caller may
 * release. */
static void redirect_late_replies(struct dsi_session *session)
{
    for (size_t i = 0; i < session->window; i++) {
        struct slot *slot = &session->slots[i];
        if (slot->state == SLOT_FREE) {
            continue;
        }
        bool half = session->incoming.slot == i && session->incoming.header_have == DSI_HEADER_SIZE;
        size_t have = half ? (size_t)session->incoming.have : 0;
        have = have < slot->reply_capacity ? have : slot->reply_capacity;
        memset(session->late, 0, sizeof session->late);
        if (have > 0) {
            memcpy(session->late, slot->reply, have < LATE_BYTES ? have : LATE_BYTES);
        }
        slot->reply = session->late;
        slot->reply_capacity = LATE_BYTES;
    }
}

bool dsi_call(struct dsi_session *session, const struct dsi_request *request,
              struct dsi_reply *reply, struct error *error)
{
    if (session->outstanding > 0) {
        return error_set(error, ERROR_LIMIT, 0, "a single call while requests are outstanding");
    }
    if (dsi_submit(session, request, error) && dsi_reap(session, reply, error)) {
        return true;
    }
    redirect_late_replies(session);
    return false;
}

bool dsi_late_reply(struct dsi_session *session, struct dsi_reply *reply, struct span *payload)
{
    bool arrived = session->late_arrived;
    size_t size = session->late_reply.reply_length;
    session->late_arrived = false;
    *reply = session->late_reply;
    *payload = (struct span){session->late, size < LATE_BYTES ? size : LATE_BYTES};
    return arrived;
}

bool dsi_idle(struct dsi_session *session, uint64_t deadline_ns, int fd, bool *readable,
              struct error *error)
{
    *readable = false;
    while (!*readable && clock_now_ns() < deadline_ns) {
        if (!advance(session, deadline_ns, fd, readable, error)) {
            return false;
        }
    }
    return true;
}

/* Takes back the requests of which nothing was sent yet. */
static void take_back_unsent(struct dsi_session *session)
{
    struct queue kept = {NO_SLOT, NO_SLOT};
    while (session->send.first != NO_SLOT) {
        uint16_t index = queue_pop(session, &session->send);
        if (session->slots[index].sent > 0) {
            queue_push(session, &kept, index);
        } else {
            session->slot_of_id[session->slots[index].request_id] = NO_SLOT;
            slot_release(session, index);
        }
    }
    session->send = kept;
}

bool dsi_settle(struct dsi_session *session, uint64_t deadline_ns, struct error *error)
{
    take_back_unsent(session);
    while (session->outstanding > 0) {
        bool readable;
        if (session->done.first != NO_SLOT) {
            uint16_t index = queue_pop(session, &session->done);
            if (session->slots[index].reply == session->late) {
                session->late_reply = session->slots[index].result;
                session->late_arrived = true;
            }
            slot_release(session, index);
        } else if (clock_now_ns() >= deadline_ns) {
            const char *what = awaited(session);
            die(session);
            return error_set(error, ERROR_TIMEOUT, 0, "no answer to %s from %s", what,
                             session->peer);
        } else if (!advance(session, deadline_ns, -1, &readable, error)) {
            return die(session);
        }
    }
    return true;
}

/* ---- Beginning and end ---- */

bool dsi_connect(struct dsi_session **result, const struct dsi_config *config, struct error *error)
{
    struct dsi_session *session = memory_allocate(1, sizeof *session);
    if (session == NULL) {
        return memory_error(error, "for a session");
    }
    session->fd = -1;
    session->interrupt = config->interrupt;
    session->observer = config->observer;
    session->timeout_ns = config->timeout_ns;
    session->next_id = 1;
    memset(session->slot_of_id, 0xFF, sizeof session->slot_of_id);
    const struct connect_request request = {config->host, config->port, config->timeout_ns,
                                            config->interrupt, config->address};
    if (!connect_tcp(&request, &session->fd, session->peer, error) ||
        !dsi_reserve(session, 1, error)) {
        dsi_close(session);
        return false;
    }
    session->alive = true;
    session->last_sent_ns = session->last_progress_ns = clock_now_ns();
    *result = session;
    return true;
}

uint64_t dsi_set_timeout(struct dsi_session *session, uint64_t timeout_ns)
{
    uint64_t before = session->timeout_ns;
    session->timeout_ns = timeout_ns;
    return before;
}

bool dsi_account(const struct dsi_session *session, struct tcp_snapshot *tcp, uint64_t *waited_ns,
                 struct error *error)
{
    *waited_ns = session->waited_ns;
    return tcp_snapshot_take(session->fd, tcp, error);
}

const char *dsi_peer(const struct dsi_session *session)
{
    return session->peer;
}

bool dsi_alive(const struct dsi_session *session)
{
    return session->alive;
}

bool dsi_ready(const struct dsi_session *session)
{
    return session->alive && session->outstanding == 0;
}

/* DSICloseSession has no reply (1.10); if it does not fit into the socket it is not worth a wait.
 */
static void say_goodbye(struct dsi_session *session)
{
    struct dsi_header header = {.command = DSI_CLOSE_SESSION,
                                .request_id = next_request_id(session, DSI_CLOSE_SESSION, 0)};
    uint8_t bytes[DSI_HEADER_SIZE];
    dsi_header_encode(bytes, &header);
    observe(session, true, bytes, 0);
    struct iovec piece = {bytes, sizeof bytes};
    ssize_t sent = stream_send(session->fd, &piece, 1, false);
    (void)sent;
}

void dsi_close(struct dsi_session *session)
{
    if (session == NULL) {
        return;
    }
    if (session->alive && session->opened && session->outstanding == 0 && !wants_to_send(session)) {
        say_goodbye(session);
    }
    if (session->fd >= 0) {
        close(session->fd);
    }
    for (size_t i = 0; i < session->window; i++) {
        if (session->slots[i].state != SLOT_FREE) {
            slot_forget(session, (uint16_t)i);
        }
    }
    memory_release(session->slots);
    memory_release(session->heads);
    memory_release(session);
}
