/* The first exchange on a connection: doc/protocol.md 1.4, 1.5. */
#include "dsi/session.h"

/* One request that the server must grant: the connection is of no use without. */
static bool ask(struct dsi_session *session, const struct dsi_request *request,
                struct dsi_reply *reply, struct error *error)
{
    if (!dsi_call(session, request, reply, error)) {
        return false;
    }
    if (reply->result != DSI_OK) {
        const char *name = dsi_result_name(reply->result);
        return error_set(error, ERROR_DSI, reply->result, "%s refused %s: %s (%d)",
                         dsi_peer(session), dsi_command_name((uint8_t)request->command),
                         name != NULL ? name : "unknown result", reply->result);
    }
    return true;
}

bool dsi_open(struct dsi_session *session, uint32_t *quantum, struct error *error)
{
    uint8_t block[16];
    struct wire out = wire_encoder(block, sizeof block);
    struct dsi_options options = {.attention_quantum = DSI_ATTENTION_QUANTUM};
    dsi_options(&out, &options);

    uint8_t answer[256];
    struct dsi_request request = {.command = DSI_OPEN_SESSION,
                                  .block = {block, out.at},
                                  .reply = answer,
                                  .reply_capacity = sizeof answer};
    struct dsi_reply reply;
    if (!ask(session, &request, &reply, error)) {
        return false;
    }
    /* What the buffer did not take would be options of servers to come. */
    size_t length = reply.reply_length < sizeof answer ? reply.reply_length : sizeof answer;
    struct wire in = wire_decoder(answer, length);
    dsi_options(&in, &options);
    if (!wire_ok(&in)) {
        return error_set(error, ERROR_PROTOCOL, 0, "%s sent a malformed OpenSession reply",
                         dsi_peer(session));
    }
    if (options.has_server_quantum && options.server_quantum == 0) {
        return error_set(error, ERROR_PROTOCOL, 0, "%s offers a quantum of 0 bytes",
                         dsi_peer(session));
    }
    *quantum = options.has_server_quantum ? options.server_quantum : DSI_FALLBACK_QUANTUM;
    return true;
}

bool dsi_get_status(struct dsi_session *session, void *buffer, size_t capacity, size_t *length,
                    struct error *error)
{
    struct dsi_request request = {
        .command = DSI_GET_STATUS, .reply = buffer, .reply_capacity = capacity};
    struct dsi_reply reply;
    if (!ask(session, &request, &reply, error)) {
        return false;
    }
    *length = reply.reply_length < capacity ? reply.reply_length : capacity;
    return true;
}
