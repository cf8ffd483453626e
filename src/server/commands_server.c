/* Commands about the server and the session: doc/protocol.md 5.1. */
#include "server/call.h"
#include "uam/crypto.h"

#include <string.h>
#include <time.h>

int32_t command_server_info(struct call *call)
{
    service_info(call->session->service, call->session->socket, &call->reply);
    return AFP_OK;
}

int32_t command_server_parms(struct call *call)
{
    const struct server_config *config = call->session->service->config;
    uint32_t now = (uint32_t)(time(NULL) - AFP_EPOCH_UNIX_SECONDS);
    struct afp_server_parms_reply head = {call_date_out(call, now), (uint8_t)config->volume_count};
    afp_server_parms_reply(&call->reply, &head);
    for (size_t i = 0; i < config->volume_count; i++) {
        const struct volume *volume = &call->session->service->volumes[i];
        struct afp_server_parms_volume entry = {
            .flags = config->volumes[i].password != NULL ? AFP_LISTED_HAS_PASSWORD : 0,
            .name = volume_listed_name(volume, call->session->version),
        };
        afp_server_parms_volume(&call->reply, &entry);
    }
    return AFP_OK;
}

enum user_bits { USER_ID = 1, GROUP_ID = 2, USER_UUID = 4 };

int32_t command_user_info(struct call *call)
{
    /* The shape that Netatalk's made-up UUIDs have; the ID follows. */
    static const uint8_t prefix[12] = {0xFF, 0xFF, 0xEE, 0xEE, 0xDD, 0xDD,
                                       0xCC, 0xCC, 0xBB, 0xBB, 0xAA, 0xAA};
    struct afp_user_info_request message;
    afp_user_info_request(&call->request, &message);
    if (!wire_ok(&call->request) || (message.this_user & 1) == 0) {
        return AFP_PARAMETER_ERROR;
    }
    unsigned known = USER_ID | GROUP_ID;
    known |= call->session->version >= AFP_3_2 ? (unsigned)USER_UUID : 0;
    if (message.bitmap & ~known) {
        return AFP_BITMAP_ERROR;
    }
    uint32_t id = call->session->user_id;
    struct afp_user_info_reply reply = {.bitmap = message.bitmap, .user_id = id, .group_id = id};
    struct wire tail = wire_encoder(reply.uuid + sizeof prefix, sizeof reply.uuid - sizeof prefix);
    memcpy(reply.uuid, prefix, sizeof prefix);
    wire_u32(&tail, &id);
    afp_user_info_reply(&call->reply, &reply);
    return AFP_OK;
}

int32_t command_map_id(struct call *call)
{
    const struct server_config *config = call->session->service->config;
    struct afp_map_id_request message;
    afp_map_id_request(&call->request, &message);
    uint8_t last = call->session->version >= AFP_3_0 ? 4 : 2; /* 3 and 4 answer in UTF-8 */
    if (!wire_ok(&call->request) || message.subfunction == 0 || message.subfunction > last) {
        return AFP_PARAMETER_ERROR;
    }
    struct span name = {0};
    uint32_t index = message.id - SERVICE_FIRST_USER_ID;
    if (message.id == SERVICE_GUEST_ID) {
        name = span_from_string("nobody");
    } else if (message.id >= SERVICE_FIRST_USER_ID && index < config->user_count) {
        name = span_from_string(config->users[index].name);
    } else if (message.id != 0) {
        return AFP_ITEM_NOT_FOUND;
    }
    struct name_buffer encoded; /* 5.1: MacRoman from 1 and 2, UTF-8 from 3 and 4 */
    bool exact = false;
    if (message.subfunction <= 2) {
        encoded.size = name_to_mac(encoded.bytes, sizeof encoded.bytes, name, &exact);
    } else {
        exact = name_decompose(&encoded, name);
    }
    if (!exact) {
        return AFP_ITEM_NOT_FOUND;
    }
    name = name_span(&encoded);
    afp_map_id_reply(&call->reply, message.subfunction, &name);
    return AFP_OK;
}

int32_t command_server_message(struct call *call)
{
    struct afp_server_message_request message;
    afp_server_message_request(&call->request, &message);
    if (!wire_ok(&call->request) || message.type > 1) {
        return AFP_PARAMETER_ERROR;
    }
    if (message.bitmap & ~3U) {
        return AFP_BITMAP_ERROR;
    }
    struct afp_server_message_reply reply = {message.type, message.bitmap, {0}};
    afp_server_message_reply(&call->reply, &reply);
    return AFP_OK;
}

int32_t command_session_token(struct call *call)
{
    struct session *session = call->session;
    struct afp_session_token_request message = {0};
    afp_session_token_request(&call->request, &message);
    if (!wire_ok(&call->request) || message.type > 4) {
        return AFP_PARAMETER_ERROR;
    }
    static const uint8_t none[sizeof session->token];
    if (memcmp(session->token, none, sizeof none) == 0 &&
        !random_fill(NULL, session->token, sizeof session->token)) {
        return AFP_MISC_ERROR;
    }
    struct span token = {session->token, sizeof session->token};
    afp_session_token_reply(&call->reply, &token);
    return AFP_OK;
}

int32_t command_sleep(struct call *call)
{
    enum { FALL_ASLEEP = 1, WAKE_UP = 2 };
    struct afp_sleep_request message;
    afp_sleep_request(&call->request, &message);
    if (!wire_ok(&call->request) || (message.flags != FALL_ASLEEP && message.flags != WAKE_UP)) {
        return AFP_PARAMETER_ERROR;
    }
    call->session->sleeping = message.flags == FALL_ASLEEP;
    uint32_t hours = SESSION_SLEEP_LIMIT_HOURS;
    wire_u32(&call->reply, &hours);
    return AFP_OK;
}
