#include "afp/afp.h"

#include <stdarg.h>
#include <stdio.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const struct afp_version_entry afp_versions[AFP_VERSION_COUNT] = {
    {AFP_2_1, "AFPVersion 2.1", "AFP 2.1"}, {AFP_2_2, "AFP2.2", "AFP 2.2"},
    {AFP_3_0, "AFPX03", "AFP 3.0"},         {AFP_3_1, "AFP3.1", "AFP 3.1"},
    {AFP_3_2, "AFP3.2", "AFP 3.2"},         {AFP_3_3, "AFP3.3", "AFP 3.3"},
    {AFP_3_4, "AFP3.4", "AFP 3.4"},
};

const struct afp_version_entry *afp_version_entry(enum afp_version version)
{
    for (size_t i = 0; i < COUNT(afp_versions); i++) {
        if (afp_versions[i].version == version) {
            return &afp_versions[i];
        }
    }
    return NULL;
}

const struct afp_version_entry *afp_version_by_string(struct span string)
{
    for (size_t i = 0; i < COUNT(afp_versions); i++) {
        if (span_equals(string, span_from_string(afp_versions[i].string))) {
            return &afp_versions[i];
        }
    }
    return NULL;
}

/* doc/protocol.md 5 and 2.3, ascending by code. */
static const struct afp_command_entry commands[] = {
    {AFP_BYTE_RANGE_LOCK, "FPByteRangeLock", AFP_2_1, false},
    {AFP_CLOSE_VOLUME, "FPCloseVol", AFP_2_1, false},
    {AFP_CLOSE_FORK, "FPCloseFork", AFP_2_1, false},
    {AFP_COPY_FILE, "FPCopyFile", AFP_2_1, false},
    {AFP_CREATE_DIRECTORY, "FPCreateDir", AFP_2_1, false},
    {AFP_CREATE_FILE, "FPCreateFile", AFP_2_1, false},
    {AFP_DELETE, "FPDelete", AFP_2_1, false},
    {AFP_ENUMERATE, "FPEnumerate", AFP_2_1, false},
    {AFP_FLUSH, "FPFlush", AFP_2_1, false},
    {AFP_FLUSH_FORK, "FPFlushFork", AFP_2_1, false},
    {AFP_GET_FORK_PARMS, "FPGetForkParms", AFP_2_1, false},
    {AFP_GET_SERVER_INFO, "FPGetSrvrInfo", AFP_2_1, true},
    {AFP_GET_SERVER_PARMS, "FPGetSrvrParms", AFP_2_1, false},
    {AFP_GET_VOLUME_PARMS, "FPGetVolParms", AFP_2_1, false},
    {AFP_LOGIN, "FPLogin", AFP_2_1, true},
    {AFP_LOGIN_CONTINUE, "FPLoginCont", AFP_2_1, true},
    {AFP_LOGOUT, "FPLogout", AFP_2_1, false},
    {AFP_MAP_ID, "FPMapID", AFP_2_1, false},
    {AFP_MOVE_AND_RENAME, "FPMoveAndRename", AFP_2_1, false},
    {AFP_OPEN_VOLUME, "FPOpenVol", AFP_2_1, false},
    {AFP_OPEN_FORK, "FPOpenFork", AFP_2_1, false},
    {AFP_READ, "FPRead", AFP_2_1, false},
    {AFP_RENAME, "FPRename", AFP_2_1, false},
    {AFP_SET_DIRECTORY_PARMS, "FPSetDirParms", AFP_2_1, false},
    {AFP_SET_FILE_PARMS, "FPSetFileParms", AFP_2_1, false},
    {AFP_SET_FORK_PARMS, "FPSetForkParms", AFP_2_1, false},
    {AFP_WRITE, "FPWrite", AFP_2_1, false},
    {AFP_GET_FILE_DIR_PARMS, "FPGetFileDirParms", AFP_2_1, false},
    {AFP_SET_FILE_DIR_PARMS, "FPSetFileDirParms", AFP_2_1, false},
    {AFP_GET_USER_INFO, "FPGetUserInfo", AFP_2_1, false},
    {AFP_GET_SERVER_MESSAGE, "FPGetSrvrMsg", AFP_2_1, false},
    {AFP_EXCHANGE_FILES, "FPExchangeFiles", AFP_2_1, false},
    {AFP_OPEN_DESKTOP, "FPOpenDT", AFP_2_1, false},
    {AFP_CLOSE_DESKTOP, "FPCloseDT", AFP_2_1, false},
    {AFP_BYTE_RANGE_LOCK_EXT, "FPByteRangeLockExt", AFP_3_0, false},
    {AFP_READ_EXT, "FPReadExt", AFP_3_0, false},
    {AFP_WRITE_EXT, "FPWriteExt", AFP_3_0, false},
    {AFP_LOGIN_EXT, "FPLoginExt", AFP_2_1, true},
    {AFP_GET_SESSION_TOKEN, "FPGetSessionToken", AFP_3_0, false},
    {AFP_ENUMERATE_EXT, "FPEnumerateExt", AFP_3_0, false},
    {AFP_ENUMERATE_EXT2, "FPEnumerateExt2", AFP_3_1, false},
    {AFP_SYNC_DIRECTORY, "FPSyncDir", AFP_3_1, false},
    {AFP_SYNC_FORK, "FPSyncFork", AFP_3_1, false},
    {AFP_SLEEP, "FPZzzzz", AFP_2_2, false},
};

const struct afp_command_entry *afp_command_entry(uint8_t code)
{
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (commands[i].code == code) {
            return &commands[i];
        }
    }
    return NULL;
}

const char *afp_command_name(uint8_t code)
{
    const struct afp_command_entry *entry = afp_command_entry(code);
    return entry != NULL ? entry->name : "unknown AFP command";
}

/* Appendix A, with a hint where the name alone leaves a person guessing. */
static const struct {
    int32_t result;
    const char *name;
    const char *hint;
} results[] = {
    {0, "OK", NULL},
    {-5000, "AccessDenied", "the user may not do this here"},
    {-5001, "AuthContinue", NULL},
    {-5002, "BadUAM", "the server does not take this login method"},
    {-5003, "BadVersNum", "the server does not take this AFP version"},
    {-5004, "BitmapErr", NULL},
    {-5005, "CantMove", NULL},
    {-5006, "DenyConflict", "another client holds the file open"},
    {-5007, "DirNotEmpty", NULL},
    {-5008, "DiskFull", NULL},
    {-5009, "EOFErr", "the file ended early"},
    {-5010, "FileBusy", "the file is open"},
    {-5011, "FlatVol", NULL},
    {-5012, "ItemNotFound", NULL},
    {-5013, "LockErr", "locked, or write access refused"},
    {-5014, "MiscErr", NULL},
    {-5015, "NoMoreLocks", NULL},
    {-5016, "NoServer", NULL},
    {-5017, "ObjectExists", NULL},
    {-5018, "ObjectNotFound", NULL},
    {-5019, "ParamErr", NULL},
    {-5020, "RangeNotLocked", NULL},
    {-5021, "RangeOverlap", NULL},
    {-5022, "SessClosed", NULL},
    {-5023, "UserNotAuth", "wrong user name or password"},
    {-5024, "CallNotSupported", NULL},
    {-5025, "ObjectTypeErr", NULL},
    {-5026, "TooManyFilesOpen", NULL},
    {-5027, "ServerGoingDown", NULL},
    {-5028, "CantRename", NULL},
    {-5029, "DirNotFound", NULL},
    {-5030, "IconTypeErr", NULL},
    {-5031, "VolLocked", "the volume is read-only"},
    {-5032, "ObjectLocked", NULL},
    {-5033, "ContainsSharedErr", NULL},
    {-5034, "IDNotFound", NULL},
    {-5035, "IDExists", NULL},
    {-5036, "DiffVolErr", NULL},
    {-5037, "CatalogChanged", NULL},
    {-5038, "SameObjectErr", NULL},
    {-5039, "BadIDErr", NULL},
    {-5040, "PwdSameErr", NULL},
    {-5041, "PwdTooShort", NULL},
    {-5042, "PwdExpired", NULL},
    {-5043, "InsideSharedErr", NULL},
    {-5044, "InsideTrashErr", NULL},
    {-5045, "PwdNeedsChange", NULL},
    {-5046, "PwdPolicyErr", NULL},
    {-5047, "DiskQuotaExceeded", NULL},
    {-6754, "SRP proof rejected", "wrong user name or password"},
};

const char *afp_result_name(int32_t result)
{
    for (size_t i = 0; i < COUNT(results); i++) {
        if (results[i].result == result) {
            return results[i].name;
        }
    }
    return "unknown result";
}

static const char *result_hint(int32_t result)
{
    for (size_t i = 0; i < COUNT(results); i++) {
        if (results[i].result == result) {
            return results[i].hint;
        }
    }
    return NULL;
}

bool afp_error(struct error *error, int32_t result, const char *format, ...)
{
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const char *hint = result_hint(result);
    return error_set(error, ERROR_AFP, result, "%s: %s (%d)%s%s", what, afp_result_name(result),
                     result, hint != NULL ? ", " : "", hint != NULL ? hint : "");
}
