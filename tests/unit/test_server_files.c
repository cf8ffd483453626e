/* Files and directories: doc/protocol.md 3.1, 5.3, 6. */
#include "server_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void create(void **state)
{
    expect("FPCreateFile 00 0001 root 02 05 'a.bin'", AFP_OK, "");
    expect("FPCreateFile 00 0001 root 02 05 'a.bin'", AFP_OBJECT_EXISTS, "");
    expect("FPCreateFile 80 0001 root 02 05 'a.bin'", AFP_OK, "");
    expect("FPCreateFile 00 0001 root 02 00", AFP_OBJECT_TYPE_ERROR, "");
    expect("FPCreateFile 00 0001 00000099 02 01 'x'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPCreateFile 00 0001 00000000 02 01 'x'", AFP_PARAMETER_ERROR, "");
    expect("FPCreateFile 00 0003 root 02 01 'x'", AFP_PARAMETER_ERROR, "");
    expect("FPCreateFile 00 0001 root 01 01 'x'", AFP_PARAMETER_ERROR, ""); /* short name */
    expect("FPCreateFile 00 0001 root 02 20 '12345678901234567890123456789012'",
           AFP_PARAMETER_ERROR, "");
    create_directory(1, "d", 0x12);
    expect("FPCreateDir 00 0001 root 02 01 'd'", AFP_OBJECT_EXISTS, "");
    expect("FPCreateFile 80 0001 root 02 01 'd'", AFP_OBJECT_TYPE_ERROR, "");
    expect("FPCreateFile 00 0001 root 02 03 'd' 00 'x'", AFP_OK, "");
    expect("FPCreateFile 00 0001 root 02 03 'e' 00 'x'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPCreateFile 00 0001 root 02 07 'a.bin' 00 'x'", AFP_OBJECT_NOT_FOUND, "");
}

/* Appendix C. */
static void parameters(void **state)
{
    expect("FPGetFileDirParms 00 0001 root 0000 0102 02 00", AFP_OK,
           "0000 0102 80 00 00000001 00000002");
    expect("FPCreateFile 00 0001 root 03 00000000 0005 'a.bin'", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 root efff bfff 02 05 'a.bin'", AFP_OK,
           "efff bfff 00 00 0000 00000002 ???????? ???????? 80000000"
           "0000000000000000000000000000000000000000000000000000000000000000"
           "0068 ???? 00000011 00000000 00000000 0000000000000000 ???? 00000000 0000000000000000"
           "0000fffe 0000fffe 000081b6 ???????? 05 'a.bin' 00 ???????? 0005 'a.bin'");
    expect("FPGetFileDirParms 00 0001 root 0000 0000 02 05 'a.bin'", AFP_OK, "0000 0000 00 00");
    expect("FPGetFileDirParms 00 0001 root 1000 0000 02 05 'a.bin'", AFP_BITMAP_ERROR, "");
    expect("FPGetFileDirParms 00 0001 root 0000 4000 02 00", AFP_BITMAP_ERROR, "");
    expect("FPGetFileDirParms 00 0001 root 0100 0100 02 01 'x'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPGetFileDirParms 00 0001 root 0000 0040 02 00", AFP_OK,
           "0000 0040 80 00 0002 03 'one'");
}

static void paths(void **state)
{
    create_directory(1, "d", 0x11);
    expect("FPCreateDir 00 0001 00000011 02 01 'e'", AFP_OK, "00000012");
    static const struct {
        const char *path; /* directory ID, path */
        const char *id;   /* NULL: not found */
    } rows[] = {
        {"00000002 02 03 'd' 00 'e'", "00000012"},
        {"00000002 02 04 00 'd' 00 'e'", "00000012"},
        {"00000002 02 05 00 'd' 00 'e' 00", "00000012"},
        {"00000002 02 05 'd' 00 'e' 0000", "00000011"},
        {"00000011 02 01 'e'", "00000012"},
        {"00000012 02 00", "00000012"},
        {"00000012 02 02 0000", "00000011"},
        {"00000012 02 03 000000", "00000002"},
        {"00000012 02 04 00000000", NULL},
        {"00000011 02 03 0000 'd'", "00000011"},
        {"00000001 02 03 'one'", "00000002"},
        {"00000001 02 05 'one' 00 'd'", "00000011"},
        {"00000001 02 03 'two'", NULL},
        {"00000001 02 00", NULL},
        {"00000012 02 07 00000000 'one'", "00000002"},
        {"00000002 02 03 'x' 00 'e'", NULL},
        {"00000002 03 00000000 0003 'd' 00 'e'", "00000012"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char request[200], reply[60] = "";
        snprintf(request, sizeof request, "FPGetFileDirParms 00 0001 %.8s 0000 0100 %s",
                 rows[i].path, rows[i].path + 8);
        if (rows[i].id != NULL) {
            snprintf(reply, sizeof reply, "0000 0100 80 00 %s", rows[i].id);
        }
        expect(request, rows[i].id != NULL ? AFP_OK : AFP_OBJECT_NOT_FOUND, reply);
    }
}

static void delete (void **state)
{
    create_directory(1, "d", 0x11);
    expect("FPCreateFile 00 0001 00000011 02 01 'f'", AFP_OK, "");
    expect("FPDelete 00 0001 root 02 01 'd'", AFP_DIRECTORY_NOT_EMPTY, "");
    expect("FPOpenFork 00 0001 00000011 0000 0001 02 01 'f'", AFP_OK, "0000 0001");
    expect("FPDelete 00 0001 00000011 02 01 'f'", AFP_FILE_BUSY, "");
    expect("FPCreateFile 80 0001 00000011 02 01 'f'", AFP_FILE_BUSY, "");
    close_fork(1);
    expect("FPSetFileParms 00 0001 00000011 0001 02 01 'f' 00 8100", AFP_OK, "");
    expect("FPDelete 00 0001 00000011 02 01 'f'", AFP_OBJECT_LOCKED, "");
    expect("FPSetFileParms 00 0001 00000011 0001 02 01 'f' 00 0100", AFP_OK, "");
    expect("FPDelete 00 0001 00000011 02 01 'f'", AFP_OK, "");
    expect("FPDelete 00 0001 00000011 02 01 'f'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPDelete 00 0001 00000011 02 00", AFP_OK, ""); /* by its own ID */
    expect("FPDelete 00 0001 root 02 00", AFP_ACCESS_DENIED, "");
}

static void rename_and_move(void **state)
{
    create_directory(1, "d", 0x11);
    expect("FPCreateDir 00 0001 00000011 02 01 'e'", AFP_OK, "00000012");
    create_file(1, "f");
    expect("FPRename 00 0001 root 02 01 'f' 02 01 'g'", AFP_OK, "");
    expect("FPRename 00 0001 root 02 01 'g' 02 00", AFP_OK, "");
    expect("FPRename 00 0001 root 02 01 'g' 02 01 'g'", AFP_OK, "");
    expect("FPRename 00 0001 root 02 01 'g' 02 01 'd'", AFP_OBJECT_EXISTS, "");
    expect("FPRename 00 0001 root 02 00 02 01 'x'", AFP_CANT_RENAME, "");
    expect("FPRename 00 0001 root 02 01 'f' 02 01 'x'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPRename 00 0001 root 02 01 'g' 02 03 'x' 00 'y'", AFP_PARAMETER_ERROR, "");
    expect("FPMoveAndRename 00 0001 root root 02 01 'g' 02 01 'd' 02 00", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 00000011 0100 0000 02 01 'g'", AFP_OK,
           "0100 0000 00 00 00000013");
    expect("FPMoveAndRename 00 0001 00000011 00000012 02 01 'g' 02 00 02 01 'h'", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 00000012 0100 0000 02 01 'h'", AFP_OK,
           "0100 0000 00 00 00000013");
    expect("FPMoveAndRename 00 0001 root 00000012 02 01 'd' 02 00 02 00", AFP_CANT_MOVE, "");
    expect("FPMoveAndRename 00 0001 root 00000011 02 00 02 00 02 00", AFP_CANT_MOVE, "");
    expect("FPMoveAndRename 00 0001 00000011 00000012 02 01 'e' 02 01 'h' 02 00",
           AFP_OBJECT_TYPE_ERROR, "");
}

#define FINDER_INFO "'TEXTttxt' 0100 00010002 000000000000000000000000000000000000"

/* What is at both ends, and inside the directory that moves, is what it was before. */
static void move_across_directories(void **state)
{
    create_directory(1, "from", 0x11);
    create_directory(1, "to", 0x12);
    expect("FPCreateFile 00 0001 00000011 02 01 'f'", AFP_OK, "");
    expect("FPCreateFile 00 0001 00000012 02 01 'g'", AFP_OK, "");
    expect("FPSetFileParms 00 0001 00000011 0034 02 01 'f' 00 00000005 00000007" FINDER_INFO,
           AFP_OK, "");
    expect("FPOpenFork 00 0001 00000011 0000 0003 02 01 'f'", AFP_OK, "0000 0001");
    expect_write("FPWrite 00 0001 00000000 00000005", "hello", 5, AFP_OK, "00000005");
    expect("FPMoveAndRename 00 0001 00000011 00000012 02 01 'f' 02 00 02 01 'g'", AFP_OBJECT_EXISTS,
           "");
    expect("FPMoveAndRename 00 0001 00000011 00000099 02 01 'f' 02 00 02 00", AFP_OBJECT_NOT_FOUND,
           "");
    expect("FPMoveAndRename 00 0001 00000011 root 02 01 'x' 02 02 'to' 02 00", AFP_OBJECT_NOT_FOUND,
           "");
    expect("FPMoveAndRename 00 0001 00000011 root 02 01 'f' 02 02 'to' 02 03 'new'", AFP_OK, "");
    expect("FPEnumerate 00 0001 00000011 0100 0100 0009 0001 1000 02 00", AFP_OBJECT_NOT_FOUND, "");
    expect("FPEnumerate 00 0001 00000012 0142 0142 0009 0001 1000 02 00", AFP_OK,
           "0142 0142 0002 0e 00 00000012 000a 00000014 01 'g'"
           "10 00 00000012 000a 00000013 03 'new'");
    expect("FPGetFileDirParms 00 0001 00000012 0336 0000 02 03 'new'", AFP_OK,
           "0336 0000 00 00 00000012 00000005 00000007" FINDER_INFO "00000013 00000005");
    expect("FPRead 00 0001 00000000 00000005 0000", AFP_OK, "'hello'"); /* it stayed open */
    /* A directory takes along what is in it. */
    expect("FPMoveAndRename 00 0001 root 00000011 02 02 'to' 02 00 02 00", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 root 0102 0000 02 0b 'from' 00 'to' 00 'new'", AFP_OK,
           "0102 0000 00 00 00000012 00000013");
    expect("FPGetFileDirParms 00 0001 root 0000 0302 02 07 'from' 00 'to'", AFP_OK,
           "0000 0302 80 00 00000011 00000012 0002");
    expect("FPGetFileDirParms 00 0001 root 0000 0200 02 04 'from'", AFP_OK, "0000 0200 80 00 0001");
    expect("FPMoveAndRename 00 0001 root 00000012 02 04 'from' 02 00 02 00", AFP_CANT_MOVE, "");
    expect("FPSetFileParms 00 0001 00000012 0001 02 03 'new' 00 8080", AFP_OK, "");
    expect("FPMoveAndRename 00 0001 00000012 root 02 03 'new' 02 00 02 00", AFP_OBJECT_LOCKED, "");
    expect("FPRename 00 0001 00000012 02 03 'new' 02 01 'n'", AFP_OBJECT_LOCKED, "");
}

/* Finder info stays with a file and a directory, whatever else is done to them. */
static void finder_info(void **state)
{
    create_file(1, "f");
    create_directory(1, "d", 0x12);
    expect("FPGetFileDirParms 00 0001 root 0020 0020 02 01 'f'", AFP_OK,
           "0020 0020 00 00 0000000000000000 000000000000000000000000000000000000000000000000");
    expect("FPSetFileParms 00 0001 root 0020 02 01 'f' 00" FINDER_INFO, AFP_OK, "");
    expect("FPSetDirParms 00 0001 root 0020 02 01 'd' 00" FINDER_INFO, AFP_OK, "");
    expect("FPEnumerate 00 0001 root 0020 0020 0009 0001 1000 02 00", AFP_OK,
           "0020 0020 0002 22 00" FINDER_INFO "22 80" FINDER_INFO);
    open_file(1, "f", 1);
    expect_write("FPWrite 00 0001 00000000 00000005", "hello", 5, AFP_OK, "00000005");
    close_fork(1);
    expect("FPRename 00 0001 root 02 01 'f' 02 01 'g'", AFP_OK, "");
    expect("FPRename 00 0001 root 02 01 'd' 02 01 'e'", AFP_OK, "");
    expect("FPSetFileDirParms 00 0001 root 0008 02 01 'g' 00 00000009", AFP_OK, "");
    expect("FPCreateFile 80 0001 root 02 01 'g'", AFP_OK, ""); /* empties it, no more */
    expect("FPGetFileDirParms 00 0001 root 0220 0020 02 01 'g'", AFP_OK,
           "0220 0020 00 00" FINDER_INFO "00000000");
    expect("FPGetFileDirParms 00 0001 root 0020 0020 02 01 'e'", AFP_OK,
           "0020 0020 80 00" FINDER_INFO);
    expect("FPDelete 00 0001 root 02 01 'g'", AFP_OK, "");
    create_file(1, "g"); /* a new file has nothing of the old one */
    expect("FPGetFileDirParms 00 0001 root 0020 0020 02 01 'g'", AFP_OK,
           "0020 0020 00 00 0000000000000000 000000000000000000000000000000000000000000000000");
}

static void exchange(void **state)
{
    create_file(1, "f");
    create_file(1, "g");
    create_directory(1, "d", 0x13);
    open_file(1, "f", 1);
    expect_write("FPWriteExt 00 0001 0000000000000000 0000000000000005", "hello", 5, AFP_OK,
                 "0000000000000005");
    expect("FPExchangeFiles 00 0001 root root 02 01 'f' 02 01 'g'", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 root 0900 0000 02 01 'g'", AFP_OK,
           "0900 0000 00 00 00000012 0000000000000005");
    expect("FPGetForkParms 00 0001 0100", AFP_OK, "0100 00000012"); /* the open fork moved too */
    expect("FPGetFileDirParms 00 0001 root 0001 0000 02 01 'g'", AFP_OK, "0001 0000 00 00 0008");
    expect("FPGetFileDirParms 00 0001 root 0001 0000 02 01 'f'", AFP_OK, "0001 0000 00 00 0000");
    expect("FPDelete 00 0001 root 02 01 'g'", AFP_FILE_BUSY, "");
    expect("FPExchangeFiles 00 0001 root root 02 01 'f' 02 01 'f'", AFP_SAME_OBJECT, "");
    expect("FPExchangeFiles 00 0001 root root 02 01 'f' 02 01 'd'", AFP_OBJECT_TYPE_ERROR, "");
}

static void set_parameters(void **state)
{
    create_file(1, "f");
    expect("FPSetFileDirParms 00 0001 root 001d 02 01 'f' 00 8001 00000005 00000006 00000007",
           AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 root 001d 0000 02 01 'f'", AFP_OK,
           "001d 0000 00 00 0001 00000005 00000006 00000007");
    expect("FPSetFileDirParms 00 0001 root 0001 02 01 'f' 00 0001", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 root 0001 0000 02 01 'f'", AFP_OK, "0001 0000 00 00 0000");
    expect("FPSetFileDirParms 00 0001 root 0200 02 01 'f' 00 00000000", AFP_BITMAP_ERROR, "");
    expect("FPSetDirParms 00 0001 root 0001 02 01 'f' 00 0001", AFP_OBJECT_TYPE_ERROR, "");
    expect("FPSetFileParms 00 0001 root 0001 02 00 0001", AFP_OBJECT_TYPE_ERROR, "");
    expect("FPSetDirParms 00 0001 root 0008 02 00 00000009", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 root 0000 0008 02 00", AFP_OK, "0000 0008 80 00 00000009");
}

/* ---- Enumerating -------------------------------------------------------------------------------
 */

static void enumerate_rules(void **state)
{
    expect("FPEnumerate 00 0001 root 0140 0140 0005 0001 1000 02 00", AFP_OBJECT_NOT_FOUND, "");
    expect("FPCreateFile 00 0001 root 02 05 'a.bin'", AFP_OK, "");
    create_directory(1, "dd", 0x12);
    expect("FPEnumerate 00 0001 root 0140 0140 0005 0001 1000 02 00", AFP_OK,
           "0140 0140 0002 0e 00 0006 00000011 05 'a.bin' 0c 80 0006 00000012 02 'dd' 00");
    expect("FPEnumerateExt2 00 0001 root 2100 2100 0005 00000001 00001000 02 00", AFP_OK,
           "2100 2100 0002 001a 00 00 00000011 000a00000000 ???????? 0005 'a.bin' 00"
           "0016 80 00 00000012 000a00000000 ???????? 0002 'dd'");
    expect("FPEnumerateExt 00 0001 root 0100 0000 0005 0001 1000 02 00", AFP_OK,
           "0100 0000 0001 0008 00 00 00000011");
    expect("FPEnumerateExt 00 0001 root 0000 0100 0005 0001 1000 02 00", AFP_OK,
           "0000 0100 0001 0008 80 00 00000012");
    expect("FPEnumerateExt 00 0001 root 0000 0100 0005 0002 1000 02 00", AFP_OBJECT_NOT_FOUND, "");
    expect("FPEnumerateExt 00 0001 root 0100 0100 0005 0003 1000 02 00", AFP_OBJECT_NOT_FOUND, "");
    expect("FPEnumerateExt 00 0001 root 0100 0100 0000 0001 1000 02 00", AFP_OBJECT_NOT_FOUND, "");
    expect("FPEnumerateExt 00 0001 root 0100 0100 0005 0000 1000 02 00", AFP_PARAMETER_ERROR, "");
    expect("FPEnumerateExt 00 0001 root 0100 0100 0005 0001 000d 02 00", AFP_PARAMETER_ERROR, "");
    expect("FPEnumerateExt 00 0001 root 0100 0100 0005 0001 0002 02 00", AFP_PARAMETER_ERROR, "");
    expect("FPEnumerateExt 00 0001 root 0100 0100 0005 0001 000e 02 00", AFP_OK,
           "0100 0100 0001 0008 00 00 00000011");
    expect("FPEnumerateExt 00 0001 root 0000 0000 0005 0001 1000 02 00", AFP_BITMAP_ERROR, "");
    expect("FPEnumerateExt 00 0001 root 0100 0100 0005 0001 1000 02 05 'a.bin'",
           AFP_OBJECT_TYPE_ERROR, "");
    expect("FPEnumerateExt 00 0001 root 0100 0100 0005 0001 1000 02 01 'x'",
           AFP_DIRECTORY_NOT_FOUND, "");
}

#define ENTRIES 2000

/* The three forms, and what tells their entries apart. */
static const struct {
    const char *command;
    int start_digits;
    const char *limit;     /* of the reply */
    unsigned length_bytes; /* of an entry's length */
} forms[] = {
    {"FPEnumerate", 4, "7fff", 1},
    {"FPEnumerateExt", 4, "7fff", 2},
    {"FPEnumerateExt2", 8, "ffffffff", 2},
};

static void make_entries(void)
{
    char request[120];
    for (unsigned i = 0; i < ENTRIES; i++) {
        snprintf(request, sizeof request, "%s 00 0001 root 02 0b 'entry %05u'",
                 i % 4 == 3 ? "FPCreateDir" : "FPCreateFile", i);
        expect(request, AFP_OK, NULL);
    }
}

/* One reply's entries; returns how many. The ID and the name's offset stand before the name. */
static unsigned take_entries(unsigned length_bytes, bool seen[ENTRIES])
{
    unsigned count = client.payload[4] * 256U + client.payload[5];
    const uint8_t *at = client.payload + 6;
    for (unsigned i = 0; i < count; i++) {
        unsigned number, length = length_bytes == 1 ? at[0] : at[0] * 256U + at[1];
        const char *name = (const char *)at + 2 * length_bytes + 7;
        assert_int_equal(sscanf(name, "entry %5u", &number), 1);
        assert_true(number < ENTRIES && !seen[number]);
        assert_int_equal(at[length_bytes] == 0x80, number % 4 == 3);
        seen[number] = true;
        at += length;
    }
    assert_ptr_equal(at, client.payload + client.header.length);
    return count;
}

/* Pages as a client takes them: each entry of the wanted kinds once, whatever the page's size. */
static void enumerate_as(size_t form, const char *bitmaps, unsigned count, unsigned wanted)
{
    static bool seen[ENTRIES];
    unsigned next = 1, replies = 0;
    memset(seen, 0, sizeof seen);
    for (;; replies++) {
        char request[160];
        snprintf(request, sizeof request, "%s 00 0001 root %s %04x %0*x %s 02 00",
                 forms[form].command, bitmaps, count, forms[form].start_digits, next,
                 forms[form].limit);
        int32_t result = peer_call(&client, request);
        if (result == AFP_OBJECT_NOT_FOUND) {
            break;
        }
        assert_int_equal(result, AFP_OK);
        next += take_entries(forms[form].length_bytes, seen);
    }
    assert_int_equal(next, wanted + 1);
    assert_in_range(replies, wanted / 1500 + 1, (wanted + count - 1) / count + 1);
}

static void enumerate_whole(void **state)
{
    make_entries();
    for (size_t form = 0; form < COUNT(forms); form++) {
        enumerate_as(form, "0140 0140", 40, ENTRIES);
        enumerate_as(form, "0140 0140", 1999, ENTRIES);
        enumerate_as(form, "0140 0000", 700, ENTRIES - ENTRIES / 4);
        enumerate_as(form, "0000 0140", 499, ENTRIES / 4);
    }
}

/* ---- Copying -----------------------------------------------------------------------------------
 */

static void copy_file(void **state)
{
    static const uint8_t data[5000] = "data";
    create_file(1, "f");
    create_directory(1, "d", 0x12);
    create_directory(2, "e", 0x11);
    expect("FPSetFileDirParms 00 0001 root 0020 02 01 'f' 00 'TEXTttxt' 000000000000000000000000"
           "000000000000000000000000",
           AFP_OK, "");
    open_file(1, "f", 1);
    expect("FPOpenFork 80 0001 root 0000 0003 02 01 'f'", AFP_OK, "0000 0002");
    expect_write("FPWrite 00 0001 00000000 00001388", data, 5000, AFP_OK, "00001388");
    expect_write("FPWrite 00 0002 00000000 00000004", "rsrc", 4, AFP_OK, "00000004");
    expect("FPSetFileDirParms 00 0001 root 0008 02 01 'f' 00 00000006", AFP_OK, "");
    /* The source is open for writing in this session, and that is fine. */
    expect("FPCopyFile 00 0001 root 0002 00000011 02 01 'f' 02 00 02 04 'copy'", AFP_OK, "");
    expect("FPGetFileDirParms 00 0002 00000011 0f28 0000 02 04 'copy'", AFP_OK,
           "0f28 0000 00 00 00000006 'TEXTttxt' 000000000000000000000000000000000000000000000000"
           "00000012 00001388 00000004 0000000000001388");
    expect("FPOpenFork 00 0002 00000011 0000 0001 02 04 'copy'", AFP_OK, "0000 0003");
    expect("FPRead 00 0003 00000000 00001388 0000", AFP_OK, NULL);
    assert_memory_equal(client.payload, data, 5000);
    /* Into the same volume, with the source's name. */
    expect("FPCopyFile 00 0001 root 0001 root 02 01 'f' 02 01 'd' 02 00", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 00000012 0200 0000 02 01 'f'", AFP_OK,
           "0200 0000 00 00 00001388");
    expect("FPCopyFile 00 0001 root 0001 root 02 01 'f' 02 01 'd' 02 00", AFP_OBJECT_EXISTS, "");
    expect("FPCopyFile 00 0001 root 0001 root 02 01 'f' 02 01 'f' 02 00", AFP_OBJECT_TYPE_ERROR,
           "");
    expect("FPCopyFile 00 0001 root 0001 root 02 01 'd' 02 00 02 01 'x'", AFP_OBJECT_TYPE_ERROR,
           "");
    expect("FPCopyFile 00 0001 root 0001 root 02 01 'x' 02 00 02 01 'y'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPCopyFile 00 0001 root 0003 root 02 01 'f' 02 00 02 01 'y'", AFP_PARAMETER_ERROR, "");
    /* A fork that denies reading is in the way. */
    close_fork(1);
    expect("FPOpenFork 00 0001 root 0000 0013 02 01 'f'", AFP_OK, "0000 0001");
    expect("FPCopyFile 00 0001 root 0001 root 02 01 'f' 02 00 02 01 'y'", AFP_DENY_CONFLICT, "");
}

/* A copy that does not fit leaves nothing. */
static void copy_to_a_full_volume(void **state)
{
    fixture_prepare(*state);
    fixture.volumes[1].limit_bytes = 3000000;
    fixture_run();
    create_and_open(1, "f", 1);
    expect("FPSetForkParms 00 0001 0200 00400000", AFP_OK, "");
    expect("FPCopyFile 00 0001 root 0002 root 02 01 'f' 02 00 02 00", AFP_DISK_FULL, "");
    expect("FPGetFileDirParms 00 0002 root 0000 0000 02 01 'f'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPGetVolParms 00 0002 0600", AFP_OK, "0600 00000000002dc6c0 00000000002dc6c0");
    fixture_stop();
}

static void read_only_volume(void **state)
{
    static const char *const refused[] = {
        "FPCreateFile 00 0002 root 02 01 'f'",
        "FPCreateDir 00 0002 root 02 01 'f'",
        "FPDelete 00 0002 root 02 01 'f'",
        "FPRename 00 0002 root 02 01 'f' 02 01 'g'",
        "FPMoveAndRename 00 0002 root root 02 01 'f' 02 00 02 01 'g'",
        "FPExchangeFiles 00 0002 root root 02 01 'f' 02 01 'g'",
        "FPSetFileDirParms 00 0002 root 0001 02 00 0000",
        "FPCopyFile 00 0001 root 0002 root 02 01 'f' 02 00 02 00",
    };
    fixture_prepare(*state);
    fixture.volumes[1].read_only = true;
    fixture.volumes[1].free_bytes = 5000000000;
    fixture_run();
    for (size_t i = 0; i < COUNT(refused); i++) {
        expect(refused[i], AFP_VOLUME_LOCKED, "");
    }
    expect("FPGetVolParms 00 0002 0241", AFP_OK, "0241 10c1 ffffffff 000000012a05f200");
    fixture_stop();
}

/* What a client of 2.x sees of names it cannot take, and what it may not ask. */
static void old_clients(void **state)
{
    static const char *const requests[] = {
        "FPGetFileDirParms 00 0001 root 0940 0000 02 01 'f'",
        "FPGetFileDirParms 00 0001 root 2000 0000 02 01 'f'",
        "FPGetFileDirParms 00 0001 root 0000 8000 02 00",
        "FPEnumerateExt 00",
    };
    static const int32_t results[] = {AFP_BITMAP_ERROR, AFP_BITMAP_ERROR, AFP_BITMAP_ERROR,
                                      AFP_CALL_NOT_SUPPORTED};
    expect("FPCreateFile 00 0001 root 03 00000000 0003 'e' cc81", AFP_OK, "");
    expect("FPCreateFile 00 0001 root 03 00000000 0024 '123456789012345678901234567890123456'",
           AFP_OK, "");
    peer_open(&other, "AFP2.2");
    for (size_t i = 0; i < COUNT(results); i++) {
        expect_from(&other, requests[i], results[i], "");
    }
    expect_from(&other, "FPGetFileDirParms 00 0001 root 0100 0000 03 00000000 0001 'f'",
                AFP_PARAMETER_ERROR, "");
    expect_from(&other, "FPEnumerate 00 0001 root 0040 0040 0005 0001 1000 02 00", AFP_OK,
                "0040 0040 0002 06 00 0002 01 8e 24 00 0002 1f '1234567890123456789012345678#12'");
    expect_from(&other, "FPGetFileDirParms 00 0001 root 0100 0000 02 01 8e", AFP_OK,
                "0100 0000 00 00 00000011");
    expect_from(&other,
                "FPGetFileDirParms 00 0001 root 0100 0000 02 1f '1234567890123456789012345678#12'",
                AFP_OK, "0100 0000 00 00 00000012");
    /* 3.2: dates in local time, here two hours east. */
    expect("FPSetFileParms 00 0001 root 0008 03 00000000 0003 'e' cc81 00000006", AFP_OK, "");
    expect_from(&other, "FPGetFileDirParms 00 0001 root 0008 0000 02 01 8e", AFP_OK,
                "0008 0000 00 00 00001c26");
    expect_from(&other, "FPSetFileParms 00 0001 root 0008 02 01 8e 00 00001c27", AFP_OK, "");
    expect("FPGetFileDirParms 00 0001 root 0008 0000 03 00000000 0003 'e' cc81", AFP_OK,
           "0008 0000 00 00 00000007");
    peer_close(&other);
    peer_open(&other, "AFPVersion 2.1");
    expect_from(&other, "FPGetVolParms 00 0001 0200", AFP_BITMAP_ERROR, "");
    expect_from(&other, "FPZzzzz 00 00000001", AFP_CALL_NOT_SUPPORTED, "");
    peer_close(&other);
}

/* Each in the stores that keep what is written. */
#define TEST(name)       ON_BOTH_STORES(setup_client, teardown_client, name)
#define TEST_ALONE(name) ON_BOTH_STORES(NULL, NULL, name)

int main(void)
{
    setenv("TZ", "EAST-2", 1);
    umask(0);
    const struct CMUnitTest tests[] = {
        TEST(create),
        TEST(parameters),
        TEST(paths),
        TEST(delete),
        TEST(rename_and_move),
        TEST(move_across_directories),
        ON_ALL_STORES(setup_client, teardown_client, finder_info),
        TEST(exchange),
        TEST(set_parameters),
        TEST(enumerate_rules),
        ON_ALL_STORES(setup_client, teardown_client, enumerate_whole),
        TEST(copy_file),
        TEST_ALONE(copy_to_a_full_volume),
        TEST_ALONE(read_only_volume),
        TEST(old_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
