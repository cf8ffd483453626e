/*
 * message.h - the layout of every AFP message that client and server exchange.
 *
 * One function per message, run over an encoding or a decoding cursor, so that both sides share it.
 * A request function starts with the command byte; several commands with one layout share a
 * function, which then takes the command. A reply function covers the payload after the DSI header.
 * Check wire_ok() afterwards. Decoded spans point into the cursor's buffer.
 *
 * doc/protocol.md 3.1 (paths), 3.4 (parameter blocks), 4.1 (login), 5 (commands).
 */
#ifndef AFPBENCH_AFP_MESSAGE_H
#define AFPBENCH_AFP_MESSAGE_H

#include "afp/afp.h"
#include "base/wire.h"

/* ---- Pieces ---- */

enum afp_path_type { AFP_PATH_SHORT = 1, AFP_PATH_LONG = 2, AFP_PATH_UTF8 = 3 };

/* A path or a new name; components are separated by one zero byte (3.1). */
struct afp_path {
    uint8_t type;
    uint32_t hint; /* AFP_PATH_UTF8 only */
    struct span name;
};

void afp_path(struct wire *wire, struct afp_path *path);

struct afp_volume_parms {
    uint16_t attributes;
    uint16_t signature;
    uint32_t created, modified, backed_up;
    uint16_t id;
    uint32_t free_bytes, total_bytes; /* saturating */
    struct span name;
    uint64_t free_bytes_ext, total_bytes_ext;
    uint32_t block_size;
};

void afp_volume_parms(struct wire *wire, uint16_t bitmap, struct afp_volume_parms *parms);

enum afp_node_kind { AFP_FILE, AFP_DIRECTORY };

/* Of a file or a directory; which fields mean something, the bitmap says. The 32-bit lengths are
 * made from the 64-bit ones when encoding, saturating. */
struct afp_node_parms {
    uint16_t attributes;
    uint32_t parent_id;
    uint32_t created, modified, backed_up;
    uint8_t finder_info[32];
    struct span long_name;  /* MacRoman, at most 31 bytes */
    struct span short_name; /* always empty here */
    struct span utf8_name;
    uint32_t id;
    uint64_t data_length, resource_length; /* files */
    uint16_t offspring;                    /* directories, as the next three */
    uint32_t owner_id, group_id, access_rights;
    struct {
        uint32_t uid, gid, mode, access;
    } unix_privileges;
};

void afp_node_parms(struct wire *wire, enum afp_node_kind kind, uint16_t bitmap,
                    struct afp_node_parms *parms);

/* ---- Requests with nothing, or one identifier, after the command byte ---- */

/* FPLogout, FPGetSrvrParms, FPGetSrvrInfo. */
void afp_plain_request(struct wire *wire, enum afp_command command);

/* FPCloseVol, FPFlush, FPOpenDT (volume); FPCloseFork, FPFlushFork, FPSyncFork (fork); FPCloseDT.
 */
struct afp_id_request {
    uint16_t id;
};
void afp_id_request(struct wire *wire, enum afp_command command, struct afp_id_request *message);

/* ---- Server and session ---- */

/* FPLogin (4.1). A guest login has no user field. `auth` starts after the pad byte. */
struct afp_login_request {
    struct span version, uam, user, auth;
};
void afp_login_request(struct wire *wire, struct afp_login_request *message);

/* FPLoginExt (4.1): the directory path is sent empty and ignored when received. */
struct afp_login_ext_request {
    uint16_t flags;
    struct span version, uam, user, auth;
};
void afp_login_ext_request(struct wire *wire, struct afp_login_ext_request *message);

/* FPLoginCont, and the reply AuthContinue that comes before it. */
struct afp_login_continue {
    uint16_t id;
    struct span auth;
};
void afp_login_continue_request(struct wire *wire, struct afp_login_continue *message);
void afp_login_challenge(struct wire *wire, struct afp_login_continue *message);

/* FPGetSrvrParms' reply: this head, then `count` volumes (5.1). */
struct afp_server_parms_reply {
    uint32_t time;
    uint8_t count;
};
void afp_server_parms_reply(struct wire *wire, struct afp_server_parms_reply *message);
struct afp_server_parms_volume {
    uint8_t flags; /* 0x80: has a password */
    struct span name;
};
void afp_server_parms_volume(struct wire *wire, struct afp_server_parms_volume *volume);

struct afp_user_info_request {
    uint8_t this_user;
    uint32_t user_id;
    uint16_t bitmap; /* 1 user ID, 2 group ID, 4 UUID */
};
void afp_user_info_request(struct wire *wire, struct afp_user_info_request *message);
struct afp_user_info_reply {
    uint16_t bitmap;
    uint32_t user_id, group_id;
    uint8_t uuid[16];
};
void afp_user_info_reply(struct wire *wire, struct afp_user_info_reply *message);

/* Subfunctions 1 to 4 only: an ID of 32 bits. The reply is a pstr (1, 2) or a string with a 16-bit
 * length (3, 4). */
struct afp_map_id_request {
    uint8_t subfunction;
    uint32_t id;
};
void afp_map_id_request(struct wire *wire, struct afp_map_id_request *message);
void afp_map_id_reply(struct wire *wire, uint8_t subfunction, struct span *name);

struct afp_server_message_request {
    uint16_t type, bitmap;
};
void afp_server_message_request(struct wire *wire, struct afp_server_message_request *message);
struct afp_server_message_reply {
    uint16_t type, bitmap; /* the length is 16 bits wide if bit 2 is set, else 8 */
    struct span text;
};
void afp_server_message_reply(struct wire *wire, struct afp_server_message_reply *message);

struct afp_session_token_request {
    uint16_t type;      /* 0 to 4 */
    uint32_t timestamp; /* types 3 and 4 only */
    struct span client_id;
};
void afp_session_token_request(struct wire *wire, struct afp_session_token_request *message);
void afp_session_token_reply(struct wire *wire, struct span *token);

struct afp_sleep_request {
    uint32_t flags; /* 1 sleep, 2 wake */
};
void afp_sleep_request(struct wire *wire, struct afp_sleep_request *message);

/* ---- Volumes ---- */

struct afp_open_volume_request {
    uint16_t bitmap;
    struct span name;
    bool has_password;
    uint8_t password[8];
};
void afp_open_volume_request(struct wire *wire, struct afp_open_volume_request *message);

struct afp_get_volume_parms_request {
    uint16_t volume, bitmap;
};
void afp_get_volume_parms_request(struct wire *wire, struct afp_get_volume_parms_request *message);

/* The reply to both. */
struct afp_volume_reply {
    uint16_t bitmap;
    struct afp_volume_parms parms;
};
void afp_volume_reply(struct wire *wire, struct afp_volume_reply *message);

struct afp_sync_directory_request {
    uint16_t volume;
    uint32_t directory;
};
void afp_sync_directory_request(struct wire *wire, struct afp_sync_directory_request *message);

/* ---- Files and directories ---- */

/* FPCreateFile (`flag` 0x80: hard create), FPCreateDir, FPDelete. */
struct afp_node_request {
    uint8_t flag;
    uint16_t volume;
    uint32_t directory;
    struct afp_path path;
};
void afp_node_request(struct wire *wire, enum afp_command command,
                      struct afp_node_request *message);
void afp_create_directory_reply(struct wire *wire, uint32_t *directory);

struct afp_rename_request {
    uint16_t volume;
    uint32_t directory;
    struct afp_path path, new_name;
};
void afp_rename_request(struct wire *wire, struct afp_rename_request *message);

/* FPMoveAndRename, and FPExchangeFiles, which has no new name. */
struct afp_move_request {
    uint16_t volume;
    uint32_t source_directory, target_directory;
    struct afp_path source, target, new_name;
};
void afp_move_request(struct wire *wire, enum afp_command command,
                      struct afp_move_request *message);

struct afp_copy_file_request {
    uint16_t source_volume, target_volume;
    uint32_t source_directory, target_directory;
    struct afp_path source;   /* the file */
    struct afp_path target;   /* the directory that gets it; empty: target_directory itself */
    struct afp_path new_name; /* empty: the source's */
};
void afp_copy_file_request(struct wire *wire, struct afp_copy_file_request *message);

struct afp_get_node_parms_request {
    uint16_t volume;
    uint32_t directory;
    uint16_t file_bitmap, directory_bitmap;
    struct afp_path path;
};
void afp_get_node_parms_request(struct wire *wire, struct afp_get_node_parms_request *message);
struct afp_get_node_parms_reply {
    uint16_t file_bitmap, directory_bitmap;
    enum afp_node_kind kind;
    struct afp_node_parms parms;
};
void afp_get_node_parms_reply(struct wire *wire, struct afp_get_node_parms_reply *message);

/* FPSetFileDirParms, FPSetFileParms, FPSetDirParms: the common bits and Unix privileges. */
struct afp_set_node_parms_request {
    uint16_t volume;
    uint32_t directory;
    uint16_t bitmap;
    struct afp_path path;
    struct afp_node_parms parms;
};
void afp_set_node_parms_request(struct wire *wire, enum afp_command command,
                                struct afp_set_node_parms_request *message);

/* FPEnumerate, FPEnumerateExt, FPEnumerateExt2; the 16-bit forms carry the low half. */
struct afp_enumerate_request {
    uint16_t volume;
    uint32_t directory;
    uint16_t file_bitmap, directory_bitmap, count;
    uint32_t start; /* from 1 */
    uint32_t reply_limit;
    struct afp_path path;
};
void afp_enumerate_request(struct wire *wire, enum afp_command command,
                           struct afp_enumerate_request *message);
struct afp_enumerate_reply {
    uint16_t file_bitmap, directory_bitmap, count;
};
void afp_enumerate_reply(struct wire *wire, struct afp_enumerate_reply *message);
/* One entry after the head; decoding leaves the cursor at the next one. */
struct afp_enumerate_entry {
    enum afp_node_kind kind;
    struct afp_node_parms parms;
};
void afp_enumerate_entry(struct wire *wire, enum afp_command command,
                         const struct afp_enumerate_reply *head, struct afp_enumerate_entry *entry);

/* ---- Forks ---- */

struct afp_open_fork_request {
    uint8_t resource; /* 0x80: the resource fork */
    uint16_t volume;
    uint32_t directory;
    uint16_t bitmap, access;
    struct afp_path path;
};
void afp_open_fork_request(struct wire *wire, struct afp_open_fork_request *message);
struct afp_open_fork_reply {
    uint16_t bitmap, fork;
    struct afp_node_parms parms;
};
void afp_open_fork_reply(struct wire *wire, struct afp_open_fork_reply *message);

struct afp_get_fork_parms_request {
    uint16_t fork, bitmap;
};
void afp_get_fork_parms_request(struct wire *wire, struct afp_get_fork_parms_request *message);
struct afp_get_fork_parms_reply {
    uint16_t bitmap;
    struct afp_node_parms parms;
};
void afp_get_fork_parms_reply(struct wire *wire, struct afp_get_fork_parms_reply *message);

/* The bitmap decides whether the length has 32 or 64 bits (5.4). */
struct afp_set_fork_parms_request {
    uint16_t fork, bitmap;
    uint64_t length;
};
void afp_set_fork_parms_request(struct wire *wire, struct afp_set_fork_parms_request *message);

/* FPRead (32-bit) and FPReadExt (64-bit). */
struct afp_read_request {
    uint16_t fork;
    int64_t offset, count;
    uint8_t newline_mask, newline_char; /* FPRead only */
};
void afp_read_request(struct wire *wire, enum afp_command command,
                      struct afp_read_request *message);

/* FPWrite and FPWriteExt: the request block; the data follows it in the frame (1.7). */
struct afp_write_request {
    uint8_t from_end; /* 0x80: the offset counts from the end of the fork */
    uint16_t fork;
    int64_t offset, count;
};
void afp_write_request(struct wire *wire, enum afp_command command,
                       struct afp_write_request *message);

/* FPByteRangeLock and FPByteRangeLockExt. */
struct afp_lock_request {
    uint8_t flags; /* 0x01 unlock, 0x80 from the end */
    uint16_t fork;
    int64_t offset, length;
};
void afp_lock_request(struct wire *wire, enum afp_command command,
                      struct afp_lock_request *message);

/* The reply to writes (the offset after the last byte written) and to locks (the range's start). */
void afp_offset_reply(struct wire *wire, enum afp_command command, uint64_t *offset);

#endif
