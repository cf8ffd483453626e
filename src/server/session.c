#include "server/session.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"
#include "server/call.h"

#include <signal.h>
#include <string.h>

/* 1.14: "small": options of an OpenSession, or the block that DSIGetStatus tolerates. */
#define FIRST_FRAME_LIMIT 4096

/* The socket wakes up so many times within a tickle's interval to see what is due. */
#define TICKS_PER_TICKLE 6

/* How long a client is silent before replies that a fault holds back are sent. */
#define HOLD_NS (300 * NS_PER_MS)

static const struct span no_payload;
static const struct fork_range no_range;

/* ---- Sending ---- */

/* The whole frame in memory, for the faults to work on. */
static bool send_faulty(struct session *session, const struct dsi_header *header,
                        struct span payload, struct fork_range range, struct error *error)
{
    if (range.size == 0) {
        return fault_line_send(session->faults, header, payload, error);
    }
    size_t size = payload.size + (size_t)range.size;
    uint8_t *bytes = memory_allocate(size, 1);
    if (bytes == NULL) {
        return memory_error(error, "for a reply");
    }
    if (payload.size > 0) {
        memcpy(bytes, payload.data, payload.size);
    }
    struct store *store = range.fork->volume->store;
    /* What was cut off the fork meanwhile stays zero, as when it is sent straight. */
    (void)store->ops->read(store, range.fork->data, range.offset, bytes + payload.size,
                           (size_t)range.size);
    bool sent = fault_line_send(session->faults, header, (struct span){bytes, size}, error);
    memory_release(bytes);
    return sent;
}

/*
 * Every frame of the server leaves here: header and payload in one call; when a range of a fork
 * follows, the kernel holds them back (MSG_MORE) to fill the first segment.
 */
static bool send_frame(struct session *session, const struct dsi_header *header,
                       struct span payload, struct fork_range range, struct error *error)
{
    uint8_t bytes[DSI_HEADER_SIZE];
    dsi_header_encode(bytes, header);
    struct iovec pieces[2] = {{bytes, sizeof bytes}, {(void *)payload.data, payload.size}};
    bool more = range.size > 0;
    if (session->faults != NULL) {
        if (!send_faulty(session, header, payload, range, error)) {
            return false;
        }
    } else if (!outbox_send(&session->outbox, pieces, 2, more, error)) {
        return false;
    } else if (more) {
        struct store *store = range.fork->volume->store;
        if (!store->ops->send(store, range.fork->data, &session->outbox, range.offset, range.size,
                              error)) {
            return false;
        }
    }
    session->sent_ns = clock_now_ns();
    return true;
}

static bool send_reply(struct session *session, const struct dsi_header *request, int32_t result,
                       struct span payload, struct fork_range range, struct error *error)
{
    struct dsi_header header = {
        .flags = DSI_REPLY,
        .command = request->command,
        .request_id = request->request_id,
        .offset_or_result = (uint32_t)result,
        .length = (uint32_t)(payload.size + range.size),
    };
    return send_frame(session, &header, payload, range, error);
}

/* A frame that the server starts: a tickle, a close. */
static bool send_own(struct session *session, enum dsi_command command, struct error *error)
{
    struct dsi_header header = {.command = (uint8_t)command, .request_id = session->request_id++};
    outbox_count(&session->outbox, false);
    bool sent = send_frame(session, &header, no_payload, no_range, error);
    outbox_count(&session->outbox, true);
    return sent;
}

/* A client that does not take what is there already needs no tickle; and a tickle must not wait for
 * room in the middle of a command, whose request would be gone afterwards (inbox_store). */
static bool tickle_if_due(struct session *session, struct error *error)
{
    if (!session->opened || clock_now_ns() - session->sent_ns < session->service->tickle_ns ||
        !outbox_has_room(&session->outbox)) {
        return true;
    }
    return send_own(session, DSI_TICKLE, error);
}

bool session_breathe(struct session *session, struct error *error)
{
    if (atomic_load(&session->service->stopping)) {
        return error_set(error, ERROR_CLOSED, 0, "the server stops");
    }
    return tickle_if_due(session, error);
}

/* The inbox heard nothing for a tick. A client that still takes its replies is not silent: it has
 * only nothing to say yet. */
static bool idle(void *context, uint64_t silent_ns, struct error *error)
{
    struct session *session = context;
    uint64_t limit_ns = session->sleeping ? SESSION_SLEEP_LIMIT_HOURS * 3600 * NS_PER_S
                                          : session->service->silence_ns;
    if (outbox_moved(&session->outbox)) {
        session->inbox.silent_ns = 0;
    } else if (silent_ns >= limit_ns) {
        return error_set(error, ERROR_TIMEOUT, 0, "nothing heard from the client for %u s",
                         (unsigned)(silent_ns / NS_PER_S));
    }
    if (session->faults != NULL && !fault_line_idle(session->faults, error)) {
        return false;
    }
    return tickle_if_due(session, error);
}

/* ---- AFP requests ---- */

static bool run_call(struct session *session, const struct dsi_header *header, struct span block,
                     bool has_data, struct error *error)
{
    struct call call = {
        .session = session,
        .command = (enum afp_command)block.data[0],
        .request = wire_decoder(block.data, block.size),
        .reply = wire_encoder(session->reply, sizeof session->reply),
        .has_data = has_data,
        .error = error,
    };
    bool replayed = !has_data && session->logged_in && call_is_replayed(block.data[0]);
    int32_t result = call_dispatch(&call);
    if (call_is_secret(block.data[0])) {
        inbox_forget(&session->inbox, block);
    }
    if (call.lost) {
        return false;
    }
    if (!wire_ok(&call.reply)) {
        call.reply.at = 0;
        result = AFP_MISC_ERROR;
    }
    struct span payload = {session->reply, call.reply.at};
    if (replayed) { /* while the block is still there: sending may overwrite it */
        replay_store(&session->replay, header->request_id, block.data[0], result, payload);
    }
    return inbox_finish(&session->inbox, error) &&
           send_reply(session, header, result, payload, call.range, error);
}

/* A request that is well framed but wrong: dropped, and answered. */
static bool refuse(struct session *session, const struct dsi_header *header, int32_t result,
                   struct error *error)
{
    return inbox_finish(&session->inbox, error) &&
           send_reply(session, header, result, no_payload, no_range, error);
}

static bool on_command(struct session *session, const struct dsi_header *header,
                       struct error *error)
{
    /* 1.14: a command has at least its code, and fits into the quantum. */
    if (header->length == 0 || header->length > session->service->config->quantum) {
        return error_set(error, ERROR_PROTOCOL, 0, "a DSICommand of %u bytes", header->length);
    }
    if (header->length > INBOX_BLOCK_LIMIT) {
        return refuse(session, header, AFP_PARAMETER_ERROR, error);
    }
    struct span block;
    if (!inbox_block(&session->inbox, header->length, &block, error)) {
        return false;
    }
    const struct replay_entry *known =
        replay_find(&session->replay, header->request_id, block.data[0]);
    if (known != NULL) {
        struct span payload = {known->payload, known->payload_size};
        return send_reply(session, header, known->result, payload, no_range, error);
    }
    return run_call(session, header, block, false, error);
}

/* 1.7: the request block of a write command has one size only. */
static uint32_t write_block_size(uint8_t command)
{
    switch (command) {
    case AFP_WRITE:
        return AFP_WRITE_BLOCK_SIZE;
    case AFP_WRITE_EXT:
        return AFP_WRITE_EXT_BLOCK_SIZE;
    default:
        return 0;
    }
}

/* The size of the block is the client's word for where the data begins: it must be the one of the
 * command, or data would be read as a request. */
static bool on_write(struct session *session, const struct dsi_header *header, struct error *error)
{
    const struct server_config *config = session->service->config;
    uint32_t block_size = header->offset_or_result;
    replay_forget(&session->replay, header->request_id);
    if (block_size > header->length || header->length - block_size > config->quantum ||
        (config->strict_frames && header->length > config->quantum)) {
        return error_set(error, ERROR_PROTOCOL, 0, "a DSIWrite of %u bytes, %u of them data",
                         header->length, header->length - block_size);
    }
    if (block_size != AFP_WRITE_BLOCK_SIZE && block_size != AFP_WRITE_EXT_BLOCK_SIZE) {
        return refuse(session, header, AFP_PARAMETER_ERROR, error);
    }
    struct span block;
    if (!inbox_block(&session->inbox, block_size, &block, error)) {
        return false;
    }
    if (block_size != write_block_size(block.data[0])) {
        return refuse(session, header, AFP_PARAMETER_ERROR, error);
    }
    return run_call(session, header, block, true, error);
}

/* ---- DSI frames ---- */

/* The faults see a request before it is served. */
static bool tell_faults(struct session *session, const struct dsi_header *header, bool *refused,
                        int32_t *result, struct error *error)
{
    const char *name = dsi_command_name(header->command);
    bool has_afp = header->command == DSI_COMMAND || header->command == DSI_WRITE;
    if (has_afp && header->length > 0) {
        uint8_t command;
        if (!inbox_peek(&session->inbox, &command, error)) {
            return false;
        }
        name = afp_command_name(command);
    }
    return fault_line_request(session->faults, name, refused, result, error);
}

static bool breathe(void *context, struct error *error)
{
    return session_breathe(context, error);
}

/* The options are looked at only for being well formed: what a client asks for changes nothing. */
static bool on_open_session(struct session *session, const struct dsi_header *header,
                            struct error *error)
{
    struct span block;
    struct dsi_options options;
    if (session->opened) {
        return refuse(session, header, DSI_PARAMETER_ERROR, error);
    }
    if (!inbox_block(&session->inbox, header->length, &block, error)) {
        return false;
    }
    struct wire asked = wire_decoder(block.data, block.size);
    dsi_options(&asked, &options);
    if (!wire_ok(&asked)) {
        return error_set(error, ERROR_PROTOCOL, 0, "OpenSession with malformed options");
    }
    if (!service_take_place(session->service)) {
        session->ending = true;
        return send_reply(session, header, DSI_NO_MORE_SESSIONS, no_payload, no_range, error);
    }
    session->opened = true;
    options = (struct dsi_options){.server_quantum = session->service->config->quantum,
                                   .replay_cache_size = DSI_REPLAY_CACHE_SIZE};
    struct wire reply = wire_encoder(session->reply, sizeof session->reply);
    dsi_options(&reply, &options);
    struct span payload = {session->reply, reply.at};
    return send_reply(session, header, DSI_OK, payload, no_range, error);
}

static bool on_get_status(struct session *session, const struct dsi_header *header,
                          struct error *error)
{
    struct wire reply = wire_encoder(session->reply, sizeof session->reply);
    service_info(session->service, session->socket, &reply);
    struct span payload = {session->reply, reply.at};
    /* A fault may still keep this reply back: the client closes then. */
    session->ending = !session->opened && session->faults == NULL;
    return inbox_finish(&session->inbox, error) &&
           send_reply(session, header, DSI_OK, payload, no_range, error);
}

static bool on_close_session(struct session *session, const struct dsi_header *header,
                             struct error *error)
{
    session->ending = true;
    return send_own(session, DSI_CLOSE_SESSION, error); /* 1.10 */
}

static bool on_tickle(struct session *session, const struct dsi_header *header, struct error *error)
{
    return tickle_if_due(session, error);
}

typedef bool frame_function(struct session *session, const struct dsi_header *header,
                            struct error *error);

static const struct {
    frame_function *serve;
    bool may_be_first;
} frames[] = {
    [DSI_CLOSE_SESSION] = {on_close_session, false},
    [DSI_COMMAND] = {on_command, false},
    [DSI_GET_STATUS] = {on_get_status, true},
    [DSI_OPEN_SESSION] = {on_open_session, true},
    [DSI_TICKLE] = {on_tickle, false},
    [DSI_WRITE] = {on_write, false},
};

static bool serve(struct session *session, const struct dsi_header *header, struct error *error)
{
    bool refused = false;
    int32_t result;
    if (session->faults != NULL && !tell_faults(session, header, &refused, &result, error)) {
        return false;
    }
    return refused ? refuse(session, header, result, error)
                   : frames[header->command].serve(session, header, error);
}

/* One frame. What is left of it afterwards is dropped, so that the next one is found. */
static bool serve_frame(struct session *session, struct error *error)
{
    struct dsi_header header;
    if (!inbox_header(&session->inbox, &header, error)) {
        return false;
    }
    bool known =
        header.command < sizeof frames / sizeof frames[0] && frames[header.command].serve != NULL;
    if (session->first && (!known || !frames[header.command].may_be_first ||
                           header.flags != DSI_REQUEST || header.length > FIRST_FRAME_LIMIT)) {
        return error_set(error, ERROR_PROTOCOL, 0, "the first frame is %s with %u bytes",
                         dsi_command_name(header.command), header.length);
    }
    session->first = false;
    /* A reply (to an attention) and a command that does not exist are ignored (1.14). */
    bool served = !known || header.flags != DSI_REQUEST || serve(session, &header, error);
    return served && inbox_finish(&session->inbox, error);
}

/* ---- Life ---- */

static struct session *session_create(struct service *service, int socket, struct error *error)
{
    struct session *session = memory_allocate(1, sizeof *session);
    bool *volumes_open = memory_allocate(service->config->volume_count, sizeof(bool));
    if (session == NULL || volumes_open == NULL) {
        memory_release(session);
        memory_release(volumes_open);
        memory_error(error, "for a session");
        return NULL;
    }
    session->service = service;
    session->socket = socket;
    session->inbox.pipe[0] = session->inbox.pipe[1] = -1;
    session->first = true;
    session->volumes_open = volumes_open;
    session->sent_ns = clock_now_ns();
    return session;
}

static bool open_faults(struct session *session, struct error *error)
{
    const struct server_config *config = session->service->config;
    struct fault_surroundings surroundings = {.outbox = &session->outbox,
                                              .request_id = &session->request_id,
                                              .breathe = breathe,
                                              .context = session};
    if (config->fault_count == 0) {
        return true;
    }
    session->faults = fault_line_open(config->faults, config->fault_count, &surroundings);
    return session->faults != NULL || memory_error(error, "for the faults of a session");
}

/* Both halves of the connection. */
static bool session_open(struct session *session, struct error *error)
{
    struct service *service = session->service;
    uint64_t tick_ns = service->tickle_ns / TICKS_PER_TICKLE;
    if (!open_faults(session, error)) {
        return false;
    }
    if (session->faults != NULL && fault_line_holds(session->faults) && tick_ns > HOLD_NS) {
        tick_ns = HOLD_NS;
    }
    if (!inbox_open(&session->inbox, session->socket, tick_ns, idle, session, error)) {
        return false;
    }
    session->inbox.store_limit = service->config->read_ahead_bytes;
    /* A client that takes nothing for as long as it may be silent is gone as well. */
    return outbox_open(&session->outbox, session->socket, service->silence_ns, &session->inbox,
                       error);
}

void session_close_forks(struct session *session, const struct volume *volume)
{
    for (size_t i = 0; i < session->forks.room; i++) {
        uint16_t reference = (uint16_t)(i + 1);
        struct open_fork *fork = fork_table_get(&session->forks, reference);
        if (fork != NULL && (volume == NULL || fork->volume == volume)) {
            struct volume *owner = fork->volume;
            volume_lock(owner);
            volume_close_fork(fork);
            volume_unlock(owner);
            fork_table_set(&session->forks, reference, NULL);
        }
    }
}

static void session_destroy(struct session *session)
{
    session_close_forks(session, NULL);
    fork_table_release(&session->forks);
    if (session->opened) {
        service_leave_place(session->service);
    }
    uam_state_wipe(&session->uam_state);
    fault_line_close(session->faults);
    inbox_close(&session->inbox);
    memory_release(session->volumes_open);
    memory_release(session);
}

void session_serve(struct service *service, int socket)
{
    struct error error;
    /* sendfile knows no MSG_NOSIGNAL, and one client's write may meet the limit of a file's size:
     * errors of that session, not the end of the server. */
    sigset_t deadly;
    sigemptyset(&deadly);
    sigaddset(&deadly, SIGPIPE);
    sigaddset(&deadly, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &deadly, NULL);
    struct session *session = session_create(service, socket, &error);
    if (session != NULL) {
        bool going = session_open(session, &error);
        while (going && !session->ending) {
            going = serve_frame(session, &error);
        }
        session_destroy(session);
    }
    stream_shut_down(socket);
}
