#include "message_rows.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* ---- One signature for all message functions ---- */

#define PLAIN(function, type)                                                                      \
    static void run_##function(struct wire *wire, void *message)                                   \
    {                                                                                              \
        function(wire, (type *)message);                                                           \
    }
#define WITH_COMMAND(name, function, command, type)                                                \
    static void run_##name(struct wire *wire, void *message)                                       \
    {                                                                                              \
        function(wire, command, (type *)message);                                                  \
    }
#define NOTHING(name, command)                                                                     \
    static void run_##name(struct wire *wire, void *message)                                       \
    {                                                                                              \
        (void)message;                                                                             \
        afp_plain_request(wire, command);                                                          \
    }

NOTHING(logout, AFP_LOGOUT)
NOTHING(server_parms, AFP_GET_SERVER_PARMS)
NOTHING(server_info, AFP_GET_SERVER_INFO)
WITH_COMMAND(close_volume, afp_id_request, AFP_CLOSE_VOLUME, struct afp_id_request)
WITH_COMMAND(flush_fork, afp_id_request, AFP_FLUSH_FORK, struct afp_id_request)
WITH_COMMAND(close_fork, afp_id_request, AFP_CLOSE_FORK, struct afp_id_request)
PLAIN(afp_path, struct afp_path)
PLAIN(afp_login_request, struct afp_login_request)
PLAIN(afp_login_ext_request, struct afp_login_ext_request)
PLAIN(afp_login_continue_request, struct afp_login_continue)
PLAIN(afp_login_challenge, struct afp_login_continue)
PLAIN(afp_user_info_request, struct afp_user_info_request)
PLAIN(afp_user_info_reply, struct afp_user_info_reply)
PLAIN(afp_map_id_request, struct afp_map_id_request)
PLAIN(afp_server_message_request, struct afp_server_message_request)
PLAIN(afp_server_message_reply, struct afp_server_message_reply)
PLAIN(afp_session_token_request, struct afp_session_token_request)
PLAIN(afp_session_token_reply, struct span)
PLAIN(afp_sleep_request, struct afp_sleep_request)
PLAIN(afp_open_volume_request, struct afp_open_volume_request)
PLAIN(afp_get_volume_parms_request, struct afp_get_volume_parms_request)
PLAIN(afp_volume_reply, struct afp_volume_reply)
PLAIN(afp_sync_directory_request, struct afp_sync_directory_request)
WITH_COMMAND(create_file, afp_node_request, AFP_CREATE_FILE, struct afp_node_request)
WITH_COMMAND(create_directory, afp_node_request, AFP_CREATE_DIRECTORY, struct afp_node_request)
WITH_COMMAND(delete, afp_node_request, AFP_DELETE, struct afp_node_request)
PLAIN(afp_create_directory_reply, uint32_t)
PLAIN(afp_rename_request, struct afp_rename_request)
WITH_COMMAND(move, afp_move_request, AFP_MOVE_AND_RENAME, struct afp_move_request)
WITH_COMMAND(exchange, afp_move_request, AFP_EXCHANGE_FILES, struct afp_move_request)
PLAIN(afp_copy_file_request, struct afp_copy_file_request)
PLAIN(afp_get_node_parms_request, struct afp_get_node_parms_request)
PLAIN(afp_get_node_parms_reply, struct afp_get_node_parms_reply)
WITH_COMMAND(set_parms, afp_set_node_parms_request, AFP_SET_FILE_DIR_PARMS,
             struct afp_set_node_parms_request)
WITH_COMMAND(set_file_parms, afp_set_node_parms_request, AFP_SET_FILE_PARMS,
             struct afp_set_node_parms_request)
WITH_COMMAND(set_directory_parms, afp_set_node_parms_request, AFP_SET_DIRECTORY_PARMS,
             struct afp_set_node_parms_request)
WITH_COMMAND(enumerate, afp_enumerate_request, AFP_ENUMERATE, struct afp_enumerate_request)
WITH_COMMAND(enumerate_ext, afp_enumerate_request, AFP_ENUMERATE_EXT, struct afp_enumerate_request)
WITH_COMMAND(enumerate_ext2, afp_enumerate_request, AFP_ENUMERATE_EXT2,
             struct afp_enumerate_request)
PLAIN(afp_open_fork_request, struct afp_open_fork_request)
PLAIN(afp_open_fork_reply, struct afp_open_fork_reply)
PLAIN(afp_get_fork_parms_request, struct afp_get_fork_parms_request)
PLAIN(afp_get_fork_parms_reply, struct afp_get_fork_parms_reply)
PLAIN(afp_set_fork_parms_request, struct afp_set_fork_parms_request)
WITH_COMMAND(read, afp_read_request, AFP_READ, struct afp_read_request)
WITH_COMMAND(read_ext, afp_read_request, AFP_READ_EXT, struct afp_read_request)
WITH_COMMAND(write, afp_write_request, AFP_WRITE, struct afp_write_request)
WITH_COMMAND(write_ext, afp_write_request, AFP_WRITE_EXT, struct afp_write_request)
WITH_COMMAND(lock, afp_lock_request, AFP_BYTE_RANGE_LOCK, struct afp_lock_request)
WITH_COMMAND(lock_ext, afp_lock_request, AFP_BYTE_RANGE_LOCK_EXT, struct afp_lock_request)
WITH_COMMAND(offset, afp_offset_reply, AFP_WRITE, uint64_t)
WITH_COMMAND(offset_ext, afp_offset_reply, AFP_WRITE_EXT, uint64_t)
WITH_COMMAND(range_start, afp_offset_reply, AFP_BYTE_RANGE_LOCK, uint64_t)
WITH_COMMAND(range_start_ext, afp_offset_reply, AFP_BYTE_RANGE_LOCK_EXT, uint64_t)

static void run_map_id_reply(struct wire *wire, void *message)
{
    afp_map_id_reply(wire, 1, message);
}

static void run_map_id_reply_utf8(struct wire *wire, void *message)
{
    afp_map_id_reply(wire, 3, message);
}

struct volume_list {
    struct afp_server_parms_reply head;
    struct afp_server_parms_volume volumes[2];
};

static void run_volume_list(struct wire *wire, void *message)
{
    struct volume_list *list = message;
    afp_server_parms_reply(wire, &list->head);
    for (uint8_t i = 0; i < list->head.count && i < COUNT(list->volumes); i++) {
        afp_server_parms_volume(wire, &list->volumes[i]);
    }
}

static void run_listing_of(struct wire *wire, enum afp_command command, struct listing *listing)
{
    afp_enumerate_reply(wire, &listing->head);
    for (uint16_t i = 0; i < listing->head.count && i < COUNT(listing->entries); i++) {
        afp_enumerate_entry(wire, command, &listing->head, &listing->entries[i]);
    }
}

WITH_COMMAND(listing, run_listing_of, AFP_ENUMERATE, struct listing)
WITH_COMMAND(listing_ext, run_listing_of, AFP_ENUMERATE_EXT, struct listing)

void run_listing_ext2(struct wire *wire, void *message)
{
    run_listing_of(wire, AFP_ENUMERATE_EXT2, message);
}

/* ---- The messages ---- */

#define S(text)                                                                                    \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }
#define LONG(text)                                                                                 \
    {                                                                                              \
        .type = AFP_PATH_LONG, .name = S(text)                                                     \
    }
#define UTF8(text)                                                                                 \
    {                                                                                              \
        .type = AFP_PATH_UTF8, .hint = AFP_TEXT_HINT_UTF8, .name = S(text)                         \
    }
#define ROW(label, function, type, text, ...)                                                      \
    {                                                                                              \
        .name = label, .run = run_##function, .message = &(const type){__VA_ARGS__},               \
        .size = sizeof(type), .bytes = text                                                        \
    }

const struct message_row message_rows[] = {
    ROW("path, short", afp_path, struct afp_path, "01 03\"abc\"", AFP_PATH_SHORT, 0, S("abc")),
    ROW("path, long and empty", afp_path, struct afp_path, "02 00", AFP_PATH_LONG, 0, S("")),
    ROW("path, UTF-8", afp_path, struct afp_path, "03 08000103 0003\"a\"00\"b\"", AFP_PATH_UTF8,
        AFP_TEXT_HINT_UTF8, S("a\0b")),

    /* 4.1 to 4.3 */
    ROW("FPLogin, guest", afp_login_request, struct afp_login_request,
        "12 06\"AFP3.4\" 0f\"No User Authent\"", S("AFP3.4"), S("No User Authent")),
    ROW("FPLogin, no pad", afp_login_request, struct afp_login_request,
        "12 06\"AFP3.4\" 10\"Cleartxt Passwrd\" 06\"afpchk\" \"secretpw\"", S("AFP3.4"),
        S("Cleartxt Passwrd"), S("afpchk"), S("secretpw")),
    ROW("FPLogin, pad", afp_login_request, struct afp_login_request,
        "12 06\"AFP3.4\" 10\"Cleartxt Passwrd\" 05\"afpch\" 00 \"secretpw\"", S("AFP3.4"),
        S("Cleartxt Passwrd"), S("afpch"), S("secretpw")),
    ROW("FPLogin, nothing after an odd name", afp_login_request, struct afp_login_request,
        "12 06\"AFP3.4\" 04\"DHX2\" 02\"me\"", S("AFP3.4"), S("DHX2"), S("me")),
    ROW("FPLoginExt", afp_login_ext_request, struct afp_login_ext_request,
        "3f 00 0000 06\"AFP3.4\" 03\"SRP\" 03 0006\"afpchk\" 03 0000 00 0001", 0, S("AFP3.4"),
        S("SRP"), S("afpchk"), S("\0\1")),
    ROW("FPLoginCont", afp_login_continue_request, struct afp_login_continue,
        "13 00 1234 \"proof\"", 0x1234, S("proof")),
    ROW("AuthContinue", afp_login_challenge, struct afp_login_continue, "1234 \"challenge\"",
        0x1234, S("challenge")),

    /* 5.1 */
    ROW("FPLogout", logout, uint8_t, "14 00", 0),
    ROW("FPGetSrvrInfo", server_info, uint8_t, "0f 00", 0),
    ROW("FPGetSrvrParms", server_parms, uint8_t, "10 00", 0),
    ROW("FPGetSrvrParms reply", volume_list, struct volume_list,
        "32a043d7 02 00 02\"v2\" 80 02\"v1\"", {0x32a043d7, 2}, {{0, S("v2")}, {0x80, S("v1")}}),
    ROW("FPGetUserInfo", afp_user_info_request, struct afp_user_info_request, "25 01 00000000 0007",
        1, 0, 7),
    ROW("FPGetUserInfo reply", afp_user_info_reply, struct afp_user_info_reply,
        "0007 000003e9 000003e9 ffffeeeeddddccccbbbbaaaa000003e9", 7, 1001, 1001,
        {0xff, 0xff, 0xee, 0xee, 0xdd, 0xdd, 0xcc, 0xcc, 0xbb, 0xbb, 0xaa, 0xaa, 0, 0, 3, 0xe9}),
    ROW("FPGetUserInfo reply, group only", afp_user_info_reply, struct afp_user_info_reply,
        "0002 00000064", 2, 0, 100),
    ROW("FPMapID", afp_map_id_request, struct afp_map_id_request, "15 03 000003e9", 3, 1001),
    ROW("FPMapID reply", map_id_reply, struct span, "03\"joe\"", (const uint8_t *)"joe", 3),
    ROW("FPMapID reply, UTF-8", map_id_reply_utf8, struct span, "0003\"joe\"",
        (const uint8_t *)"joe", 3),
    ROW("FPGetSrvrMsg", afp_server_message_request, struct afp_server_message_request,
        "26 00 0001 0003", 1, 3),
    ROW("FPGetSrvrMsg reply", afp_server_message_reply, struct afp_server_message_reply,
        "0001 0001 02\"hi\"", 1, 1, S("hi")),
    ROW("FPGetSrvrMsg reply, UTF-8", afp_server_message_reply, struct afp_server_message_reply,
        "0000 0003 0000", 0, 3, S("")),
    ROW("FPGetSessionToken", afp_session_token_request, struct afp_session_token_request,
        "40 00 0000 00000000", 0),
    ROW("FPGetSessionToken, time and ID", afp_session_token_request,
        struct afp_session_token_request, "40 00 0003 00000002 00000007 \"id\"", 3, 7, S("id")),
    ROW("FPGetSessionToken, reconnecting", afp_session_token_request,
        struct afp_session_token_request, "40 00 0004 00000002 00000007 \"id\"", 4, 7, S("id")),
    ROW("FPGetSessionToken, ID", afp_session_token_request, struct afp_session_token_request,
        "40 00 0001 00000002 \"id\"", 1, 0, S("id")),
    ROW("FPGetSessionToken reply", afp_session_token_reply, struct span, "00000004 \"abcd\"",
        (const uint8_t *)"abcd", 4),
    ROW("FPZzzzz", afp_sleep_request, struct afp_sleep_request, "7a 00 00000001", 1),

    /* 5.2 */
    ROW("FPOpenVol", afp_open_volume_request, struct afp_open_volume_request, "18 00 0020 02\"v1\"",
        0x20, S("v1")),
    ROW("FPOpenVol, pad and password", afp_open_volume_request, struct afp_open_volume_request,
        "18 00 0020 02\"v1\" 00 \"secretpw\"", 0x20, S("v1"), true,
        {'s', 'e', 'c', 'r', 'e', 't', 'p', 'w'}),
    ROW("FPOpenVol, password", afp_open_volume_request, struct afp_open_volume_request,
        "18 00 0020 03\"vol\" \"pw\"000000000000", 0x20, S("vol"), true, {'p', 'w'}),
    ROW("FPOpenVol reply", afp_volume_reply, struct afp_volume_reply,
        "0fff 1cec 0002 32a0420b 32a0420b 80000000 0001 ffffffff ffffffff 0030 "
        "0000001320bcf000 0000003efe39d000 00001000 02\"v1\"",
        0xfff,
        {0x1cec, 2, 0x32a0420b, 0x32a0420b, AFP_DATE_NEVER, 1, UINT32_MAX, UINT32_MAX, S("v1"),
         0x1320bcf000, 0x3efe39d000, 4096}),
    ROW("FPCloseVol", close_volume, struct afp_id_request, "02 00 0001", 1),
    ROW("FPGetVolParms", afp_get_volume_parms_request, struct afp_get_volume_parms_request,
        "11 00 0001 0200", 1, AFP_VOLUME_FREE_EXT),
    ROW("FPSyncDir", afp_sync_directory_request, struct afp_sync_directory_request,
        "4e 00 0001 00000011", 1, 17),

    /* 5.3 */
    ROW("FPCreateFile", create_file, struct afp_node_request, "07 80 0001 00000002 02 03\"new\"",
        0x80, 1, 2, LONG("new")),
    ROW("FPDelete", delete, struct afp_node_request, "08 00 0001 00000002 03 08000103 0003\"old\"",
        0, 1, 2, UTF8("old")),
    ROW("FPCreateDir", create_directory, struct afp_node_request,
        "06 00 0001 00000011 03 08000103 0003\"new\"", 0, 1, 17, UTF8("new")),
    ROW("FPCreateDir reply", afp_create_directory_reply, uint32_t, "00000011", 17),
    ROW("FPRename", afp_rename_request, struct afp_rename_request,
        "1c 00 0001 00000002 02 01\"a\" 02 02\"bb\"", 1, 2, LONG("a"), LONG("bb")),
    ROW("FPMoveAndRename", move, struct afp_move_request,
        "17 00 0001 00000002 00000011 02 01\"a\" 02 00 02 01\"b\"", 1, 2, 17, LONG("a"), LONG(""),
        LONG("b")),
    ROW("FPExchangeFiles", exchange, struct afp_move_request,
        "2a 00 0001 00000002 00000011 02 01\"a\" 02 01\"b\"", 1, 2, 17, LONG("a"), LONG("b")),
    ROW("FPCopyFile", afp_copy_file_request, struct afp_copy_file_request,
        "05 00 0001 00000002 0003 00000011 03 08000103 0001\"a\" 03 08000103 0000 "
        "03 08000103 0002\"bb\"",
        1, 3, 2, 17, UTF8("a"), UTF8(""), UTF8("bb")),
    ROW("FPGetFileDirParms", afp_get_node_parms_request, struct afp_get_node_parms_request,
        "22 00 0001 00000002 0000 0102 02 00", 1, 2, 0, 0x0102, LONG("")),
    ROW("FPGetFileDirParms reply, root", afp_get_node_parms_reply, struct afp_get_node_parms_reply,
        "0000 0102 80 00 00000001 00000002", 0, 0x0102, AFP_DIRECTORY, {.parent_id = 1, .id = 2}),
    ROW("FPGetFileDirParms reply, existence", afp_get_node_parms_reply,
        struct afp_get_node_parms_reply, "0000 0000 00 00", 0),
    ROW("FPGetFileDirParms reply, all of a file", afp_get_node_parms_reply,
        struct afp_get_node_parms_reply,
        "efff bfff 00 00 | 0020 00000002 32a043d7 32a043d8 80000000 " ZEROS_32
        " 0068 006e 00000011 ffffffff 00000003 0000000180000000 006f00000000 0000000000000003 "
        "000003e9 000003ea 000081b6 86060606 | 05\"a.bin\" 00 08000103 0005\"a.bin\"",
        0xefff, 0xbfff, AFP_FILE,
        {.attributes = AFP_ATTRIBUTE_WRITE_INHIBIT,
         .parent_id = 2,
         .created = 0x32a043d7,
         .modified = 0x32a043d8,
         .backed_up = AFP_DATE_NEVER,
         .long_name = S("a.bin"),
         .utf8_name = S("a.bin"),
         .id = 17,
         .data_length = 0x180000000,
         .resource_length = 3,
         .unix_privileges = {1001, 1002, 0x81b6, 0x86060606}}),
    ROW("FPGetFileDirParms reply, all of a directory", afp_get_node_parms_reply,
        struct afp_get_node_parms_reply,
        "efff bfff 80 00 | 0000 00000002 00000000 00000000 00000000 " ZEROS_32
        " 005e 0061 00000012 0003 000003e9 000003ea 87070707 006200000000 "
        "000003e9 000003ea 000041ed 87070707 | 02\"dd\" 00 08000103 0002\"dd\"",
        0xefff, 0xbfff, AFP_DIRECTORY,
        {.parent_id = 2,
         .long_name = S("dd"),
         .utf8_name = S("dd"),
         .id = 18,
         .offspring = 3,
         .owner_id = 1001,
         .group_id = 1002,
         .access_rights = 0x87070707,
         .unix_privileges = {1001, 1002, 0x41ed, 0x87070707}}),
    ROW("FPGetFileDirParms reply, a file for the Finder", afp_get_node_parms_reply,
        struct afp_get_node_parms_reply,
        "073f 133f 00 00 | 0000 00000002 32a043d7 32a043d8 80000000 \"TEXTttxt\" 0100 " ZEROS_20
        " 0000 00000011 00000400 00000003",
        0x73f, 0x133f, AFP_FILE,
        {.parent_id = 2,
         .created = 0x32a043d7,
         .modified = 0x32a043d8,
         .backed_up = AFP_DATE_NEVER,
         .finder_info = "TEXTttxt\1",
         .id = 17,
         .data_length = 1024,
         .resource_length = 3}),
    ROW("FPGetFileDirParms reply, a directory for the Finder", afp_get_node_parms_reply,
        struct afp_get_node_parms_reply,
        "073f 133f 80 00 | 0000 00000002 00000000 00000000 00000000 " ZEROS_32
        " 00000012 0003 87070707",
        0x73f, 0x133f, AFP_DIRECTORY,
        {.parent_id = 2, .id = 18, .offspring = 3, .access_rights = 0x87070707}),
    ROW("FPSetFileDirParms, pad", set_parms, struct afp_set_node_parms_request,
        "23 00 0001 00000002 0009 02 01\"a\" 00 8020 32a043d7", 1, 2, 0x0009, LONG("a"),
        {.attributes = 0x8020, .modified = 0x32a043d7}),
    ROW("FPSetFileDirParms, no pad", set_parms, struct afp_set_node_parms_request,
        "23 00 0001 00000002 8000 02 02\"aa\" 00000001 00000002 00000003 00000004", 1, 2, 0x8000,
        LONG("aa"), {.unix_privileges = {1, 2, 3, 4}}),
    ROW("FPSetFileParms, Finder info", set_file_parms, struct afp_set_node_parms_request,
        "1e 00 0001 00000002 0020 02 01\"a\" 00 \"TEXTttxt\" 0100 " ZEROS_20 " 0000", 1, 2, 0x0020,
        LONG("a"), {.finder_info = "TEXTttxt\1"}),
    ROW("FPSetDirParms", set_directory_parms, struct afp_set_node_parms_request,
        "1d 00 0001 00000011 0004 02 00 32a043d7", 1, 17, 0x0004, LONG(""),
        {.created = 0x32a043d7}),
    ROW("FPEnumerate", enumerate, struct afp_enumerate_request,
        "09 00 0001 00000002 0140 0140 0014 0001 7fff 02 00", 1, 2, 0x140, 0x140, 20, 1, 32767,
        LONG("")),
    ROW("FPEnumerateExt", enumerate_ext, struct afp_enumerate_request,
        "42 00 0001 00000002 0140 0140 0014 0029 7fff 02 00", 1, 2, 0x140, 0x140, 20, 41, 32767,
        LONG("")),
    ROW("FPEnumerateExt2", enumerate_ext2, struct afp_enumerate_request,
        "44 00 0001 00000002 2100 2100 0014 00010001 00100000 03 08000103 0000", 1, 2, 0x2100,
        0x2100, 20, 0x10001, 0x100000, UTF8("")),
    ROW("FPEnumerate reply", listing, struct listing,
        "0140 0140 0002 | 0e 00 0006 00000011 05\"a.bin\" | 0c 80 0006 00000014 02\"dd\" 00",
        {0x140, 0x140, 2},
        {{AFP_FILE, {.long_name = S("a.bin"), .id = 17}},
         {AFP_DIRECTORY, {.long_name = S("dd"), .id = 20}}}),
    ROW("FPEnumerateExt reply", listing_ext, struct listing,
        "0000 0101 0001 | 000a 80 00 0000 00000014", {0, 0x101, 1}, {{AFP_DIRECTORY, {.id = 20}}}),
    ROW("FPEnumerateExt2 reply", listing_ext2, struct listing,
        "2100 2100 0002 | 001a 00 00 00000017 000a00000000 08000103 0006\"bc.bin\" "
        "| 0016 80 00 00000018 000a00000000 08000103 0001\"d\" 00",
        {0x2100, 0x2100, 2},
        {{AFP_FILE, {.utf8_name = S("bc.bin"), .id = 23}},
         {AFP_DIRECTORY, {.utf8_name = S("d"), .id = 24}}}),
    ROW("FPEnumerate reply, for the Finder", listing, struct listing,
        "077f 117f 0002 "
        "| 4a 00 0000 00000002 32a043d7 32a043d8 80000000 \"TEXTttxt\" 0100 " ZEROS_20
        " 0000 0040 00000011 00000400 00000003 07\"File.0k\" "
        "| 48 80 0000 00000002 32a043d7 32a043d8 80000000 " ZEROS_32
        " 003c 00000012 87070707 08\"dir00001\" 00",
        {0x77f, 0x117f, 2},
        {{AFP_FILE,
          {.parent_id = 2,
           .created = 0x32a043d7,
           .modified = 0x32a043d8,
           .backed_up = AFP_DATE_NEVER,
           .finder_info = "TEXTttxt\1",
           .long_name = S("File.0k"),
           .id = 17,
           .data_length = 1024,
           .resource_length = 3}},
         {AFP_DIRECTORY,
          {.parent_id = 2,
           .created = 0x32a043d7,
           .modified = 0x32a043d8,
           .backed_up = AFP_DATE_NEVER,
           .long_name = S("dir00001"),
           .id = 18,
           .access_rights = 0x87070707}}}),
    ROW("FPEnumerateExt2 reply, for the Finder", listing_ext2, struct listing,
        "e93f b33f 0002 "
        "| 006e 00 00 0000 00000002 32a043d7 32a043d8 80000000 \"TEXTttxt\" 0100 " ZEROS_20
        " 0000 00000011 0000000180000000 005c00000000 0000000000000003 "
        "000003e9 000003ea 000081b6 86060606 08000103 0008\"File.0k1\" "
        "| 0060 80 00 0000 00000002 32a043d7 32a043d8 80000000 " ZEROS_32
        " 00000012 0003 87070707 005200000000 "
        "000003e9 000003ea 000041ed 87070707 08000103 0003\"dir\" 00",
        {0xe93f, 0xb33f, 2},
        {{AFP_FILE,
          {.parent_id = 2,
           .created = 0x32a043d7,
           .modified = 0x32a043d8,
           .backed_up = AFP_DATE_NEVER,
           .finder_info = "TEXTttxt\1",
           .utf8_name = S("File.0k1"),
           .id = 17,
           .data_length = 0x180000000,
           .resource_length = 3,
           .unix_privileges = {1001, 1002, 0x81b6, 0x86060606}}},
         {AFP_DIRECTORY,
          {.parent_id = 2,
           .created = 0x32a043d7,
           .modified = 0x32a043d8,
           .backed_up = AFP_DATE_NEVER,
           .utf8_name = S("dir"),
           .id = 18,
           .offspring = 3,
           .access_rights = 0x87070707,
           .unix_privileges = {1001, 1002, 0x41ed, 0x87070707}}}}),

    /* 5.4 */
    ROW("FPOpenFork", afp_open_fork_request, struct afp_open_fork_request,
        "1a 80 0001 00000002 0200 0003 02 01\"a\"", 0x80, 1, 2, AFP_FILE_DATA_LENGTH,
        AFP_ACCESS_READ | AFP_ACCESS_WRITE, LONG("a")),
    ROW("FPOpenFork reply", afp_open_fork_reply, struct afp_open_fork_reply, "0200 0100 00000000",
        0x200, 0x100),
    ROW("FPOpenFork reply, for the Finder", afp_open_fork_reply, struct afp_open_fork_reply,
        "0342 0100 00000002 000e 00000011 00000400 05\"a.bin\"", 0x342, 0x100,
        {.parent_id = 2, .long_name = S("a.bin"), .id = 17, .data_length = 1024}),
    ROW("FPCloseFork", close_fork, struct afp_id_request, "04 00 0100", 0x100),
    ROW("FPFlushFork", flush_fork, struct afp_id_request, "0b 00 0100", 0x100),
    ROW("FPGetForkParms", afp_get_fork_parms_request, struct afp_get_fork_parms_request,
        "0e 00 0100 0a00", 0x100, 0xa00),
    ROW("FPGetForkParms reply, 6 GiB", afp_get_fork_parms_reply, struct afp_get_fork_parms_reply,
        "0a00 ffffffff 0000000180000000", 0xa00, {.data_length = 0x180000000}),
    ROW("FPGetForkParms reply, for the Finder", afp_get_fork_parms_reply,
        struct afp_get_fork_parms_reply, "0242 00000002 000a 00000400 05\"a.bin\"", 0x242,
        {.parent_id = 2, .long_name = S("a.bin"), .data_length = 1024}),
    ROW("FPSetForkParms", afp_set_fork_parms_request, struct afp_set_fork_parms_request,
        "1f 00 0100 0200 00001000", 0x100, 0x200, 4096),
    ROW("FPSetForkParms, 64 bits", afp_set_fork_parms_request, struct afp_set_fork_parms_request,
        "1f 00 0100 0800 0000000180000000", 0x100, 0x800, 0x180000000),
    ROW("FPRead", read, struct afp_read_request, "1b 00 0100 00000010 00001000 ff 0a", 0x100, 16,
        4096, 0xff, 0x0a),
    ROW("FPReadExt", read_ext, struct afp_read_request,
        "3c 00 0100 0000000180000000 0000000000100000", 0x100, 0x180000000, 0x100000),
    ROW("FPWrite, from the end", write, struct afp_write_request, "21 80 0100 fffffffd 00000003",
        0x80, 0x100, -3, 3),
    ROW("FPWriteExt", write_ext, struct afp_write_request,
        "3d 00 0100 000000000000000a 000000000000000a", 0, 0x100, 10, 10),
    ROW("FPByteRangeLock", lock, struct afp_lock_request, "01 00 0100 0000000a 0000000a", 0, 0x100,
        10, 10),
    ROW("FPByteRangeLock, from the end", lock, struct afp_lock_request,
        "01 80 0100 fffffff6 00000005", 0x80, 0x100, -10, 5),
    ROW("FPByteRangeLockExt, unlock", lock_ext, struct afp_lock_request,
        "3b 01 0100 0000000000000000 ffffffffffffffff", 1, 0x100, 0, -1),
    ROW("FPWrite reply", offset, uint64_t, "00000017", 23),
    ROW("FPWriteExt reply", offset_ext, uint64_t, "0000000000000014", 20),
    ROW("FPByteRangeLock reply", range_start, uint64_t, "000003de", 990),
    ROW("FPByteRangeLockExt reply", range_start_ext, uint64_t, "0000000180000000", 0x180000000),
};

const size_t message_row_count = COUNT(message_rows);
