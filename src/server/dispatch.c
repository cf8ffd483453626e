/* The table of AFP commands: doc/protocol.md 5 and 8. */
#include "server/call.h"

enum { TAKES_DATA = 1, REPLAYED = 2, SECRET = 4 };

struct command {
    call_function *run;
    unsigned flags;
};

static const struct command commands[UINT8_MAX + 1] = {
    [AFP_BYTE_RANGE_LOCK] = {command_lock_range, 0},
    [AFP_CLOSE_VOLUME] = {command_close_volume, 0},
    [AFP_CLOSE_FORK] = {command_close_fork, 0},
    [AFP_COPY_FILE] = {command_copy_file, REPLAYED},
    [AFP_CREATE_DIRECTORY] = {command_create_directory, REPLAYED},
    [AFP_CREATE_FILE] = {command_create_file, REPLAYED},
    [AFP_DELETE] = {command_delete, REPLAYED},
    [AFP_ENUMERATE] = {command_enumerate, 0},
    [AFP_FLUSH] = {command_flush_volume, 0},
    [AFP_FLUSH_FORK] = {command_flush_fork, 0},
    [AFP_GET_FORK_PARMS] = {command_get_fork_parms, 0},
    [AFP_GET_SERVER_INFO] = {command_server_info, 0},
    [AFP_GET_SERVER_PARMS] = {command_server_parms, 0},
    [AFP_GET_VOLUME_PARMS] = {command_volume_parms, 0},
    [AFP_LOGIN] = {command_login, SECRET},
    [AFP_LOGIN_CONTINUE] = {command_login_continue, SECRET},
    [AFP_LOGOUT] = {command_logout, 0},
    [AFP_MAP_ID] = {command_map_id, 0},
    [AFP_MOVE_AND_RENAME] = {command_move, REPLAYED},
    [AFP_OPEN_VOLUME] = {command_open_volume, SECRET},
    [AFP_OPEN_FORK] = {command_open_fork, 0},
    [AFP_READ] = {command_read, 0},
    [AFP_RENAME] = {command_rename, REPLAYED},
    [AFP_SET_DIRECTORY_PARMS] = {command_set_node_parms, 0},
    [AFP_SET_FILE_PARMS] = {command_set_node_parms, 0},
    [AFP_SET_FORK_PARMS] = {command_set_fork_parms, 0},
    [AFP_WRITE] = {command_write, TAKES_DATA},
    [AFP_GET_FILE_DIR_PARMS] = {command_get_node_parms, 0},
    [AFP_SET_FILE_DIR_PARMS] = {command_set_node_parms, 0},
    [AFP_GET_USER_INFO] = {command_user_info, 0},
    [AFP_GET_SERVER_MESSAGE] = {command_server_message, 0},
    [AFP_EXCHANGE_FILES] = {command_exchange, REPLAYED},
    [AFP_OPEN_DESKTOP] = {command_open_desktop, 0},
    [AFP_CLOSE_DESKTOP] = {command_close_desktop, 0},
    [AFP_BYTE_RANGE_LOCK_EXT] = {command_lock_range, 0},
    [AFP_READ_EXT] = {command_read, 0},
    [AFP_WRITE_EXT] = {command_write, TAKES_DATA},
    [AFP_LOGIN_EXT] = {command_login_ext, SECRET},
    [AFP_GET_SESSION_TOKEN] = {command_session_token, 0},
    [AFP_ENUMERATE_EXT] = {command_enumerate, 0},
    [AFP_ENUMERATE_EXT2] = {command_enumerate, 0},
    [AFP_SYNC_DIRECTORY] = {command_sync_directory, 0},
    [AFP_SYNC_FORK] = {command_flush_fork, 0},
    [AFP_SLEEP] = {command_sleep, 0},
};

int32_t call_dispatch(struct call *call)
{
    const struct session *session = call->session;
    const struct command *command = &commands[call->command];
    const struct afp_command_entry *entry = afp_command_entry((uint8_t)call->command);
    if (command->run == NULL || entry == NULL) {
        return AFP_CALL_NOT_SUPPORTED;
    }
    /* 4.1: before a login, and below the version that has it, a command does not exist. */
    if (session->logged_in ? entry->since > session->version : !entry->before_login) {
        return AFP_CALL_NOT_SUPPORTED;
    }
    if (call->has_data != ((command->flags & TAKES_DATA) != 0)) {
        return AFP_PARAMETER_ERROR;
    }
    return command->run(call);
}

bool call_is_replayed(uint8_t command)
{
    return (commands[command].flags & REPLAYED) != 0;
}

bool call_is_secret(uint8_t command)
{
    return (commands[command].flags & SECRET) != 0;
}
