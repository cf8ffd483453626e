/* Login, server and volume messages: doc/protocol.md 4.1, 5.1, 5.2. */
#include "afp/message_internal.h"
#include "uam/uam.h"

#include <string.h>

void afp_plain_request(struct wire *wire, enum afp_command command)
{
    message_start(wire, command);
}

void afp_id_request(struct wire *wire, enum afp_command command, struct afp_id_request *message)
{
    message_start(wire, command);
    wire_u16(wire, &message->id);
}

/* What follows the user name: nothing, or a pad byte and the method's bytes. */
static void auth_info(struct wire *wire, struct span *auth)
{
    bool present = wire->mode == WIRE_ENCODE ? auth->size > 0 : wire_left(wire) > 0;
    if (present) {
        wire_pad_even(wire);
    }
    wire_rest(wire, auth);
}

void afp_login_request(struct wire *wire, struct afp_login_request *message)
{
    wire_constant_u8(wire, AFP_LOGIN);
    wire_pstr(wire, &message->version);
    wire_pstr(wire, &message->uam);
    if (uam_is_named(&uam_guest, message->uam)) {
        if (wire->mode == WIRE_DECODE) {
            message->user = message->auth = (struct span){0};
        }
        return;
    }
    wire_pstr(wire, &message->user);
    auth_info(wire, &message->auth);
}

void afp_login_ext_request(struct wire *wire, struct afp_login_ext_request *message)
{
    message_start(wire, AFP_LOGIN_EXT);
    wire_u16(wire, &message->flags);
    wire_pstr(wire, &message->version);
    wire_pstr(wire, &message->uam);
    wire_constant_u8(wire, AFP_PATH_UTF8);
    wire_str16(wire, &message->user);
    uint8_t type = AFP_PATH_UTF8; /* the path has no hint here, unlike afp_path() */
    struct span directory_path = {0};
    wire_u8(wire, &type);
    if (type == AFP_PATH_UTF8) {
        wire_str16(wire, &directory_path);
    } else {
        wire_pstr(wire, &directory_path);
    }
    auth_info(wire, &message->auth);
}

void afp_login_continue_request(struct wire *wire, struct afp_login_continue *message)
{
    message_start(wire, AFP_LOGIN_CONTINUE);
    afp_login_challenge(wire, message);
}

void afp_login_challenge(struct wire *wire, struct afp_login_continue *message)
{
    wire_u16(wire, &message->id);
    wire_rest(wire, &message->auth);
}

void afp_server_parms_reply(struct wire *wire, struct afp_server_parms_reply *message)
{
    wire_u32(wire, &message->time);
    wire_u8(wire, &message->count);
}

void afp_server_parms_volume(struct wire *wire, struct afp_server_parms_volume *volume)
{
    wire_u8(wire, &volume->flags);
    wire_pstr(wire, &volume->name);
}

void afp_user_info_request(struct wire *wire, struct afp_user_info_request *message)
{
    wire_constant_u8(wire, AFP_GET_USER_INFO);
    wire_u8(wire, &message->this_user);
    wire_u32(wire, &message->user_id);
    wire_u16(wire, &message->bitmap);
}

void afp_user_info_reply(struct wire *wire, struct afp_user_info_reply *message)
{
    wire_u16(wire, &message->bitmap);
    if (message->bitmap & 1) {
        wire_u32(wire, &message->user_id);
    }
    if (message->bitmap & 2) {
        wire_u32(wire, &message->group_id);
    }
    if (message->bitmap & 4) {
        wire_array(wire, message->uuid, sizeof message->uuid);
    }
}

void afp_map_id_request(struct wire *wire, struct afp_map_id_request *message)
{
    wire_constant_u8(wire, AFP_MAP_ID);
    wire_u8(wire, &message->subfunction);
    wire_u32(wire, &message->id);
}

void afp_map_id_reply(struct wire *wire, uint8_t subfunction, struct span *name)
{
    if (subfunction <= 2) {
        wire_pstr(wire, name);
    } else {
        wire_str16(wire, name);
    }
}

void afp_server_message_request(struct wire *wire, struct afp_server_message_request *message)
{
    message_start(wire, AFP_GET_SERVER_MESSAGE);
    wire_u16(wire, &message->type);
    wire_u16(wire, &message->bitmap);
}

void afp_server_message_reply(struct wire *wire, struct afp_server_message_reply *message)
{
    wire_u16(wire, &message->type);
    wire_u16(wire, &message->bitmap);
    if (message->bitmap & 2) {
        wire_str16(wire, &message->text);
    } else {
        wire_pstr(wire, &message->text);
    }
}

void afp_session_token_request(struct wire *wire, struct afp_session_token_request *message)
{
    message_start(wire, AFP_GET_SESSION_TOKEN);
    wire_u16(wire, &message->type);
    uint32_t length = (uint32_t)message->client_id.size;
    wire_u32(wire, &length);
    if (message->type == 3 || message->type == 4) {
        wire_u32(wire, &message->timestamp);
    }
    wire_bytes(wire, &message->client_id, length);
}

void afp_session_token_reply(struct wire *wire, struct span *token)
{
    uint32_t length = (uint32_t)token->size;
    wire_u32(wire, &length);
    wire_bytes(wire, token, length);
}

void afp_sleep_request(struct wire *wire, struct afp_sleep_request *message)
{
    message_start(wire, AFP_SLEEP);
    wire_u32(wire, &message->flags);
}

void afp_open_volume_request(struct wire *wire, struct afp_open_volume_request *message)
{
    message_start(wire, AFP_OPEN_VOLUME);
    wire_u16(wire, &message->bitmap);
    wire_pstr(wire, &message->name);
    if (wire->mode == WIRE_DECODE) {
        /* A lone pad byte may follow the name without a password. */
        message->has_password = wire_left(wire) >= sizeof message->password;
        memset(message->password, 0, sizeof message->password);
    }
    if (message->has_password) {
        wire_pad_even(wire);
        wire_array(wire, message->password, sizeof message->password);
    }
}

void afp_get_volume_parms_request(struct wire *wire, struct afp_get_volume_parms_request *message)
{
    message_start(wire, AFP_GET_VOLUME_PARMS);
    wire_u16(wire, &message->volume);
    wire_u16(wire, &message->bitmap);
}

void afp_volume_reply(struct wire *wire, struct afp_volume_reply *message)
{
    wire_u16(wire, &message->bitmap);
    afp_volume_parms(wire, message->bitmap, &message->parms);
}

void afp_sync_directory_request(struct wire *wire, struct afp_sync_directory_request *message)
{
    message_start(wire, AFP_SYNC_DIRECTORY);
    wire_u16(wire, &message->volume);
    wire_u32(wire, &message->directory);
}
