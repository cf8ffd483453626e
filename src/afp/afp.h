/*
 * afp.h - the facts of AFP that client and server share: command codes, result codes, versions,
 * bitmaps and constants. Tables and pure look-ups; no state.
 *
 * doc/protocol.md 2.2, 2.3 (versions), 3.4 (bitmaps), 5 (commands), appendix A (results).
 */
#ifndef AFPBENCH_AFP_AFP_H
#define AFPBENCH_AFP_AFP_H

#include "base/error.h"
#include "base/wire.h"

enum afp_command {
    AFP_BYTE_RANGE_LOCK = 1,
    AFP_CLOSE_VOLUME = 2,
    AFP_CLOSE_FORK = 4,
    AFP_COPY_FILE = 5,
    AFP_CREATE_DIRECTORY = 6,
    AFP_CREATE_FILE = 7,
    AFP_DELETE = 8,
    AFP_ENUMERATE = 9,
    AFP_FLUSH = 10,
    AFP_FLUSH_FORK = 11,
    AFP_GET_FORK_PARMS = 14,
    AFP_GET_SERVER_INFO = 15,
    AFP_GET_SERVER_PARMS = 16,
    AFP_GET_VOLUME_PARMS = 17,
    AFP_LOGIN = 18,
    AFP_LOGIN_CONTINUE = 19,
    AFP_LOGOUT = 20,
    AFP_MAP_ID = 21,
    AFP_MOVE_AND_RENAME = 23,
    AFP_OPEN_VOLUME = 24,
    AFP_OPEN_FORK = 26,
    AFP_READ = 27,
    AFP_RENAME = 28,
    AFP_SET_DIRECTORY_PARMS = 29,
    AFP_SET_FILE_PARMS = 30,
    AFP_SET_FORK_PARMS = 31,
    AFP_WRITE = 33,
    AFP_GET_FILE_DIR_PARMS = 34,
    AFP_SET_FILE_DIR_PARMS = 35,
    AFP_GET_USER_INFO = 37,
    AFP_GET_SERVER_MESSAGE = 38,
    AFP_EXCHANGE_FILES = 42,
    AFP_OPEN_DESKTOP = 48,
    AFP_CLOSE_DESKTOP = 49,
    AFP_BYTE_RANGE_LOCK_EXT = 59,
    AFP_READ_EXT = 60,
    AFP_WRITE_EXT = 61,
    AFP_LOGIN_EXT = 63,
    AFP_GET_SESSION_TOKEN = 64,
    AFP_ENUMERATE_EXT = 66,
    AFP_ENUMERATE_EXT2 = 68,
    AFP_SYNC_DIRECTORY = 78,
    AFP_SYNC_FORK = 79,
    AFP_SLEEP = 122,
};

/* Versions as numbers that sort; the option -1 … -7 picks one. */
enum afp_version {
    AFP_2_1 = 21,
    AFP_2_2 = 22,
    AFP_3_0 = 30,
    AFP_3_1 = 31,
    AFP_3_2 = 32,
    AFP_3_3 = 33,
    AFP_3_4 = 34,
    AFP_HIGHEST = 99, /* not a version: what a client asks for to get the server's highest */
};

struct afp_version_entry {
    enum afp_version version;
    const char *string; /* on the wire, exact (2.2) */
    const char *label;  /* for people: "AFP 3.4" */
};

#define AFP_VERSION_COUNT 7
extern const struct afp_version_entry afp_versions[AFP_VERSION_COUNT]; /* ascending */

const struct afp_version_entry *afp_version_entry(enum afp_version version);
/* NULL when the string names no version of ours. */
const struct afp_version_entry *afp_version_by_string(struct span string);

struct afp_command_entry {
    uint8_t code;
    const char *name;       /* "FPOpenFork" */
    enum afp_version since; /* the first version that has it (2.3) */
    bool before_login;      /* allowed without a login */
};

/* NULL for a code that is in no table of ours. */
const struct afp_command_entry *afp_command_entry(uint8_t code);

/* "FPOpenFork"; "unknown AFP command" for others. */
const char *afp_command_name(uint8_t code);

/* Appendix A. */
enum afp_result {
    AFP_OK = 0,
    AFP_ACCESS_DENIED = -5000,
    AFP_AUTH_CONTINUE = -5001,
    AFP_BAD_UAM = -5002,
    AFP_BAD_VERSION = -5003,
    AFP_BITMAP_ERROR = -5004,
    AFP_CANT_MOVE = -5005,
    AFP_DENY_CONFLICT = -5006,
    AFP_DIRECTORY_NOT_EMPTY = -5007,
    AFP_DISK_FULL = -5008,
    AFP_EOF = -5009,
    AFP_FILE_BUSY = -5010,
    AFP_ITEM_NOT_FOUND = -5012,
    AFP_LOCK_ERROR = -5013,
    AFP_MISC_ERROR = -5014,
    AFP_NO_MORE_LOCKS = -5015,
    AFP_OBJECT_EXISTS = -5017,
    AFP_OBJECT_NOT_FOUND = -5018,
    AFP_PARAMETER_ERROR = -5019,
    AFP_RANGE_NOT_LOCKED = -5020,
    AFP_RANGE_OVERLAP = -5021,
    AFP_NOT_AUTHENTICATED = -5023,
    AFP_CALL_NOT_SUPPORTED = -5024,
    AFP_OBJECT_TYPE_ERROR = -5025,
    AFP_TOO_MANY_FILES_OPEN = -5026,
    AFP_CANT_RENAME = -5028,
    AFP_DIRECTORY_NOT_FOUND = -5029,
    AFP_VOLUME_LOCKED = -5031,
    AFP_OBJECT_LOCKED = -5032,
    AFP_DIFFERENT_VOLUMES = -5036,
    AFP_SAME_OBJECT = -5038,
    AFP_PASSWORD_EXPIRED = -5042,
    AFP_PASSWORD_NEEDS_CHANGE = -5045,
    AFP_QUOTA_EXCEEDED = -5047,
    AFP_BAD_PROOF = -6754, /* of SRP */
    AFP_SRP_PROOF_REJECTED = -6754,
};

/* "DiskFull"; "unknown result" for a code that is in no table. */
const char *afp_result_name(int32_t result);

/* ERROR_AFP with "<formatted text>: <name> (<number>)", and what that means to a person where the
 * name does not say it all. Returns false. */
bool afp_error(struct error *error, int32_t result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Flags of FPGetSrvrInfo (2.1). */
enum afp_server_flags {
    AFP_SERVER_COPY_FILE = 0x0001,
    AFP_SERVER_CHANGE_PASSWORD = 0x0002,
    AFP_SERVER_NO_SAVED_PASSWORD = 0x0004,
    AFP_SERVER_MESSAGES = 0x0008,
    AFP_SERVER_SIGNATURE = 0x0010,
    AFP_SERVER_TCP = 0x0020,
    AFP_SERVER_NOTIFICATIONS = 0x0040,
    AFP_SERVER_RECONNECT = 0x0080,
    AFP_SERVER_DIRECTORY_SERVICES = 0x0100,
    AFP_SERVER_UTF8_NAME = 0x0200,
    AFP_SERVER_UUIDS = 0x0400,
    AFP_SERVER_EXTENDED_SLEEP = 0x0800,
    AFP_SERVER_SUPER_CLIENT = 0x8000,
};

/* Volume bitmap (3.4). */
enum afp_volume_bits {
    AFP_VOLUME_ATTRIBUTES = 0x001,
    AFP_VOLUME_SIGNATURE = 0x002,
    AFP_VOLUME_CREATED = 0x004,
    AFP_VOLUME_MODIFIED = 0x008,
    AFP_VOLUME_BACKED_UP = 0x010,
    AFP_VOLUME_ID = 0x020,
    AFP_VOLUME_FREE = 0x040,
    AFP_VOLUME_TOTAL = 0x080,
    AFP_VOLUME_NAME = 0x100,
    AFP_VOLUME_FREE_EXT = 0x200,
    AFP_VOLUME_TOTAL_EXT = 0x400,
    AFP_VOLUME_BLOCK_SIZE = 0x800,
    AFP_VOLUME_ALL = 0xFFF,
};

/* Volume attributes (3.4). */
enum afp_volume_attributes {
    AFP_VOLUME_READ_ONLY = 0x0001,
    AFP_VOLUME_HAS_PASSWORD = 0x0002,
    AFP_VOLUME_FILE_IDS = 0x0004,
    AFP_VOLUME_UTF8_NAMES = 0x0040,
    AFP_VOLUME_NO_NETWORK_IDS = 0x0080,
    AFP_VOLUME_NO_EXCHANGE = 0x0200,
    AFP_VOLUME_CASE_SENSITIVE = 0x1000,
};

/* Flags of a volume in FPGetSrvrParms' reply (5.1). */
enum afp_listed_flags {
    AFP_LISTED_CONFIGURATION = 0x01,
    AFP_LISTED_HAS_PASSWORD = 0x80,
};

/* File and directory bitmaps (3.4); bits 0x0200 … 0x1000 and 0x4000 differ by kind. */
enum afp_node_bits {
    AFP_NODE_ATTRIBUTES = 0x0001,
    AFP_NODE_PARENT_ID = 0x0002,
    AFP_NODE_CREATED = 0x0004,
    AFP_NODE_MODIFIED = 0x0008,
    AFP_NODE_BACKED_UP = 0x0010,
    AFP_NODE_FINDER_INFO = 0x0020,
    AFP_NODE_LONG_NAME = 0x0040,
    AFP_NODE_SHORT_NAME = 0x0080,
    AFP_NODE_ID = 0x0100,
    AFP_FILE_DATA_LENGTH = 0x0200,
    AFP_FILE_RESOURCE_LENGTH = 0x0400,
    AFP_FILE_DATA_LENGTH_EXT = 0x0800,
    AFP_FILE_RESOURCE_LENGTH_EXT = 0x4000,
    AFP_DIRECTORY_OFFSPRING = 0x0200,
    AFP_DIRECTORY_OWNER = 0x0400,
    AFP_DIRECTORY_GROUP = 0x0800,
    AFP_DIRECTORY_ACCESS = 0x1000,
    AFP_NODE_UTF8_NAME = 0x2000,
    AFP_NODE_UNIX_PRIVILEGES = 0x8000,
    AFP_FILE_ALL = 0xEFFF, /* Netatalk refuses the launch limit, 0x1000 */
    AFP_DIRECTORY_ALL = 0xBFFF,
};

/* Attributes of files and directories (3.4). */
enum afp_node_attributes {
    AFP_ATTRIBUTE_DATA_OPEN = 0x0008,     /* files; told, never set */
    AFP_ATTRIBUTE_RESOURCE_OPEN = 0x0010, /* as above */
    AFP_ATTRIBUTE_WRITE_INHIBIT = 0x0020,
    AFP_ATTRIBUTE_RENAME_INHIBIT = 0x0080,
    AFP_ATTRIBUTE_DELETE_INHIBIT = 0x0100,
    AFP_ATTRIBUTE_SET = 0x8000, /* in a request: set the bits given, else clear them */
};

/* Access modes of FPOpenFork (5.4). */
enum afp_access {
    AFP_ACCESS_READ = 0x01,
    AFP_ACCESS_WRITE = 0x02,
    AFP_DENY_READ = 0x10,
    AFP_DENY_WRITE = 0x20,
};

#define AFP_ROOT_PARENT_ID        1          /* 3.1 */
#define AFP_ROOT_ID               2          /* 3.1 */
#define AFP_FIRST_FREE_ID         17         /* 8: 1 to 16 are reserved */
#define AFP_NAME_LIMIT_MAC        31         /* 3.1: bytes of a name below 3.0 */
#define AFP_VOLUME_NAME_LIMIT_MAC 27         /* 5.1: of a volume's name below 3.0 */
#define AFP_VOLUME_PASSWORD_SIZE  8          /* 5.2 */
#define AFP_NAME_LIMIT_UTF8       255        /* 3.1 */
#define AFP_TEXT_HINT_UTF8        0x08000103 /* 3.1 */
#define AFP_DATE_NEVER            0x80000000 /* 3.2 */
#define AFP_EPOCH_UNIX_SECONDS    946684800  /* 3.2: 2000-01-01 in Unix time */
#define AFP_SHORT_SIZE_LIMIT      0x7FFFFFFF /* 5.4: bytes that the 32-bit calls reach */
#define AFP_WRITE_BLOCK_SIZE      12         /* 1.7: FPWrite's request block */
#define AFP_WRITE_EXT_BLOCK_SIZE  20         /* 1.7: FPWriteExt's */

#endif
