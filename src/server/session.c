#include "server/session.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stream.h"
#include "server/call.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

/* 1.14: "small": options of an OpenSession, or the block that DSIGetStatus tolerates. */
#define FIRST_FRAME_LIMIT 4096

/* The socket wakes up so many times within a tickle's interval to see what is due. */
#define TICKS_PER_TICKLE 6

static const struct span no_payload;
static const struct fork_range no_range;

/* ---- Sending ---- */

/*
 * Every frame of the server leaves here: header and payload in one call; when a range of a fork
 * follows, the kernel holds them back (MSG_MORE) to fill the first segment. This is also the place
 * for replies that a test wants late, cut in pieces or in another order.
 */
static bool send_frame(struct session *session, const struct dsi_header *header,
                       struct span payload, struct fork_range range, struct error *error)
{
    uint8_t bytes[DSI_HEADER_SIZE];
    dsi_header_encode(bytes, header);
    struct iovec pieces[2] = {{bytes, sizeof bytes}, {(void *)payload.data, payload.size}};
    bool more = range.size > 0;
    if (!stream_send_all(session->socket, pieces, 2, more, error)) {
        return false;
    }
    if (more) {
        struct store *store = range.fork->volume->store;
        if (!store->ops->send(store, range.fork->data, session->socket, range.offset, range.size,
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
    return send_frame(session, &header, no_payload, no_range, error);
}

static bool tickle_if_due(struct session *session, struct error *error)
{
    if (!session->opened || clock_now_ns() - session->sent_ns < session->service->tickle_ns) {
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

/* The inbox heard nothing for a tick. */
static bool idle(void *context, uint64_t silent_ns, struct error *error)
{
    struct session *session = context;
    uint64_t limit_ns = session->sleeping ? SESSION_SLEEP_LIMIT_HOURS * 3600 * NS_PER_S
                                          : session->service->silence_ns;
    if (silent_ns >= limit_ns) {
        return error_set(error, ERROR_TIMEOUT, 0, "nothing heard from the client for %u s",
                         (unsigned)(silent_ns / NS_PER_S));
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
    if (call.lost) {
        return false;
    }
    if (!wire_ok(&call.reply)) {
        call.reply.at = 0;
        result = AFP_MISC_ERROR;
    }
    struct span payload = {session->reply, call.reply.at};
    if (replayed) {
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
    session->ending = !session->opened;
    return inbox_finish(&session->inbox, error) &&
           send_reply(session, header, DSI_OK, payload, no_range, error);
}

static bool on_close_session(struct session *session, const struct dsi_header *header,
                             struct error *error)
{
    (void)header;
    session->ending = true;
    return send_own(session, DSI_CLOSE_SESSION, error); /* 1.10 */
}

static bool on_tickle(struct session *session, const struct dsi_header *header, struct error *error)
{
    (void)header;
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
    if (known && header.flags == DSI_REQUEST &&
        !frames[header.command].serve(session, &header, error)) {
        return false;
    }
    return inbox_finish(&session->inbox, error);
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

void session_close_forks(struct session *session, const struct volume *volume)
{
    for (size_t i = 0; i < SESSION_FORK_LIMIT; i++) {
        struct open_fork *fork = session->forks[i];
        if (fork != NULL && (volume == NULL || fork->volume == volume)) {
            struct volume *owner = fork->volume;
            volume_lock(owner);
            volume_close_fork(fork);
            volume_unlock(owner);
            session->forks[i] = NULL;
        }
    }
}

static void session_destroy(struct session *session)
{
    session_close_forks(session, NULL);
    if (session->opened) {
        service_leave_place(session->service);
    }
    uam_state_wipe(&session->uam_state);
    inbox_close(&session->inbox);
    memory_release(session->volumes_open);
    memory_release(session);
}

/* A client that takes nothing for as long as it may be silent is gone as well. */
static bool limit_sending(struct session *session, struct error *error)
{
    uint64_t limit_ns = session->service->silence_ns;
    struct timeval limit = {.tv_sec = (time_t)(limit_ns / NS_PER_S),
                            .tv_usec = (suseconds_t)(limit_ns % NS_PER_S / NS_PER_US)};
    if (setsockopt(session->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0) {
        return error_set_errno(error, errno, "SO_SNDTIMEO");
    }
    return true;
}

void session_serve(struct service *service, int socket)
{
    struct error error;
    /* sendfile knows no MSG_NOSIGNAL; a client that went away is an error, not a signal. */
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
    struct session *session = session_create(service, socket, &error);
    if (session != NULL) {
        bool going = limit_sending(session, &error) &&
                     inbox_open(&session->inbox, socket, service->tickle_ns / TICKS_PER_TICKLE,
                                idle, session, &error);
        while (going && !session->ending) {
            going = serve_frame(session, &error);
        }
        session_destroy(session);
    }
    shutdown(socket, SHUT_RDWR);
}
