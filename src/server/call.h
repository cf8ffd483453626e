/*
 * call.h - one AFP request on its way through the server, and what the commands have in common.
 *
 * A command decodes call->request, does its work, encodes its reply into call->reply, and returns
 * the AFP result. It encodes nothing when it fails, but for the few results that carry a payload
 * (doc/protocol.md 7, item 4). To add a command: write it, declare it below, put it into
 * dispatch.c.
 */
#ifndef AFPBENCH_SERVER_CALL_H
#define AFPBENCH_SERVER_CALL_H

#include "afp/message.h"
#include "server/mangled_name.h"
#include "server/session.h"

struct call {
    struct session *session;
    enum afp_command command;
    struct wire request;
    struct wire reply;
    struct fork_range range;
    bool has_data; /* a DSIWrite: the data is what is left of the inbox's frame */
    bool lost;     /* the connection broke; *error says how */
    struct error *error;
};

typedef int32_t call_function(struct call *call);

/* Runs the command in call->command, if the session may use it. */
int32_t call_dispatch(struct call *call);

/* True for a command whose result goes into the replay cache. */
bool call_is_replayed(uint8_t command);

/* Whether its request may hold a password. */
bool call_is_secret(uint8_t command);

/* The volume with this ID if the session has it open; the fork with this reference; NULL if there
 * is none, or if the request was not well formed. */
struct volume *call_volume(const struct call *call, uint16_t id);
struct open_fork *call_fork(const struct call *call, uint16_t reference);

/* Dates between the store (GMT) and the client: local time in 2.x (3.2). */
uint32_t call_date_out(const struct call *call, uint32_t date);
uint32_t call_date_in(const struct call *call, uint32_t date);

/* AFP_BITMAP_ERROR for bits that the session's version does not have (2.3, 3.4). */
int32_t call_check_bitmaps(const struct call *call, uint16_t file_bitmap,
                           uint16_t directory_bitmap);

/* The parameters of a node; `mac` keeps the long name that they point to. The volume is locked. */
void call_node_parms(const struct call *call, struct volume *volume, struct store_node *node,
                     uint8_t mac[AFP_NAME_LIMIT_MAC], enum afp_node_kind *kind,
                     struct afp_node_parms *parms);

/* What a directory ID and a path lead to (3.1). */
struct place {
    struct store_node *node;      /* NULL: there is nothing, or it is the root's parent */
    struct store_node *directory; /* where the node is or would be; NULL for the root */
    struct name_buffer name;      /* the last component, decomposed; empty when there is none */
};

/* Follows a path in a locked volume. place_find() takes a missing last component as
 * AFP_OBJECT_NOT_FOUND, place_for_new() leaves place->node NULL. */
int32_t place_find(const struct call *call, struct volume *volume, uint32_t directory_id,
                   const struct afp_path *path, struct place *place);
int32_t place_for_new(const struct call *call, struct volume *volume, uint32_t directory_id,
                      const struct afp_path *path, struct place *place);

/* A single new name; AFP_PARAMETER_ERROR if it is none. An empty one leaves *name empty. */
int32_t place_new_name(const struct call *call, const struct afp_path *path,
                       struct name_buffer *name);

/* commands_login.c */
call_function command_login, command_login_ext, command_login_continue, command_logout;
/* commands_server.c */
call_function command_server_info, command_server_parms, command_user_info, command_map_id,
    command_server_message, command_session_token, command_sleep;
/* commands_volume.c */
call_function command_open_volume, command_close_volume, command_volume_parms, command_flush_volume,
    command_open_desktop, command_close_desktop, command_sync_directory;
/* commands_node.c */
call_function command_create_file, command_create_directory, command_delete, command_rename,
    command_move, command_exchange, command_get_node_parms, command_set_node_parms;
/* commands_enumerate.c */
call_function command_enumerate;
/* commands_copy.c */
call_function command_copy_file;
/* commands_fork.c */
call_function command_open_fork, command_close_fork, command_get_fork_parms, command_set_fork_parms,
    command_flush_fork, command_lock_range, command_read, command_write;

#endif
