/* Forks: opening, deny modes, reading, writing, locks: doc/protocol.md 5.4. */
#include "base/limits.h"
#include "server_fixture.h"

#include <stdio.h>
#include <string.h>

/* A file "f" (ID 0x11) with 23 bytes, open for everything as fork 1. */
static void start(const char *store, const char *version)
{
    fixture_start(store, version);
    create_file(1, "f");
    expect("FPOpenFork 00 0001 root 0200 0003 02 01 'f'", AFP_OK, "0200 0001 00000000");
    expect_write("FPWrite 00 0001 00000000 00000017", "0123456789abcdefghijklm", 23, AFP_OK,
                 "00000017");
}

static int setup(void **state)
{
    start(*state, "AFP3.4");
    return 0;
}

static int setup_old(void **state)
{
    start(*state, "AFP2.2");
    return 0;
}

static void open_and_close(void **state)
{
    expect("FPOpenFork 00 0001 root 0000 0001 02 01 'x'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPOpenFork 00 0001 root 0000 0001 02 00", AFP_OBJECT_TYPE_ERROR, "");
    expect("FPOpenFork 00 0001 root 1000 0001 02 01 'f'", AFP_BITMAP_ERROR, "");
    expect("FPOpenFork 80 0001 root 0100 0001 02 01 'f'", AFP_OK, "0100 0002 00000011");
    expect("FPGetForkParms 00 0001 0a00", AFP_OK, "0a00 00000017 0000000000000017");
    expect("FPGetForkParms 00 0001 0400", AFP_BITMAP_ERROR, "");
    expect("FPGetForkParms 00 0002 4000", AFP_OK, "4000 0000000000000000");
    expect("FPGetForkParms 00 0002 0800", AFP_BITMAP_ERROR, "");
    expect("FPGetForkParms 00 0003 0200", AFP_PARAMETER_ERROR, "");
    expect("FPGetForkParms 00 0001 0001", AFP_OK, "0001 0018"); /* both forks open */
    expect("FPFlushFork 00 0001", AFP_OK, "");
    expect("FPSyncFork 00 0001", AFP_OK, "");
    close_fork(1);
    expect("FPCloseFork 00 0001", AFP_PARAMETER_ERROR, "");
    expect("FPCloseFork 00 0000", AFP_PARAMETER_ERROR, "");
    expect("FPCloseFork 00 ffff", AFP_PARAMETER_ERROR, "");
    expect("FPCloseVol 00 0001", AFP_OK, ""); /* closing a volume closes its forks */
    expect("FPCloseFork 00 0002", AFP_PARAMETER_ERROR, "");
}

static void reading(void **state)
{
    expect("FPReadExt 00 0001 000000000000000f 0000000000000064", AFP_EOF, "'fghijklm'");
    expect("FPRead 00 0001 0000000f 00000008 0000", AFP_OK, "'fghijklm'");
    expect("FPRead 00 0001 00000017 00000001 0000", AFP_EOF, "");
    expect("FPRead 00 0001 00000099 00000001 0000", AFP_EOF, "");
    expect("FPRead 00 0001 00000000 00000000 0000", AFP_OK, "");
    expect("FPRead 00 0001 ffffffff 00000001 0000", AFP_PARAMETER_ERROR, "");
    expect("FPRead 00 0001 00000000 ffffffff 0000", AFP_PARAMETER_ERROR, "");
    expect("FPRead 00 0001 7fffffff 00000001 0000", AFP_DISK_FULL, "");
    expect("FPReadExt 00 0001 7fffffffffffffff 7fffffffffffffff", AFP_EOF, "");
    expect("FPOpenFork 00 0001 root 0000 0002 02 01 'f'", AFP_OK, "0000 0002");
    expect("FPRead 00 0002 00000000 00000001 0000", AFP_ACCESS_DENIED, "");
    /* More than one reply can carry. */
    expect("FPSetForkParms 00 0001 0800 0000000200000000", AFP_OK, "");
    expect("FPReadExt 00 0001 0000000000000000 0000000200000000", AFP_PARAMETER_ERROR, "");
    expect("FPReadExt 00 0001 00000001ffffffff 0000000000000005", AFP_EOF, "00");
}

static void writing(void **state)
{
    expect_write("FPWriteExt 80 0001 fffffffffffffffd 0000000000000003", "XYZ", 3, AFP_OK,
                 "0000000000000017");
    expect_write("FPWrite 80 0001 fffffffd 00000003", "XYZ", 3, AFP_OK, "00000017");
    /* The frame's length counts, not the request's. */
    expect_write("FPWrite 00 0001 00000000 00000190", "AB", 2, AFP_OK, "00000002");
    expect("FPRead 00 0001 00000000 00000017 0000", AFP_OK, "'AB23456789abcdefghijXYZ'");
    expect_write("FPWrite 00 0001 00000064 00000000", "", 0, AFP_OK, "00000064");
    expect("FPGetForkParms 00 0001 0200", AFP_OK,
           "0200 00000017"); /* nothing written, nothing grown */
    expect_write("FPWrite 00 0001 00000020 00000001", "!", 1, AFP_OK, "00000021");
    expect("FPRead 00 0001 00000015 0000000c 0000", AFP_OK, "'YZ' 000000000000000000 '!'");
    expect_write("FPWrite 00 0001 ffffffff 00000001", "!", 1, AFP_PARAMETER_ERROR, "");
    expect_write("FPWrite 80 0001 ffffff00 00000001", "!", 1, AFP_PARAMETER_ERROR, "");
    expect_write("FPWrite 00 0001 7fffffff 00000001", "!", 1, AFP_DISK_FULL, "");
    expect_write("FPWriteExt 00 0001 7fffffffffffffff 0000000000000001", "!", 1, AFP_DISK_FULL, "");
    expect_write("FPWrite 00 0009 00000000 00000001", "!", 1, AFP_PARAMETER_ERROR, "");
    expect("FPOpenFork 00 0001 root 0000 0001 02 01 'f'", AFP_OK, "0000 0002");
    expect_write("FPWrite 00 0002 00000000 00000001", "!", 1, AFP_ACCESS_DENIED, "");
    expect("FPSetForkParms 00 0002 0200 00000000", AFP_ACCESS_DENIED, "");
    expect("FPSetForkParms 00 0001 0400 00000000", AFP_BITMAP_ERROR, "");
    expect("FPSetForkParms 00 0001 0a00 00000000 00000000", AFP_BITMAP_ERROR, "");
    expect("FPSetForkParms 00 0001 0200 00000003", AFP_OK, "");
    expect("FPRead 00 0001 00000000 00000017 0000", AFP_EOF, "'AB2'");
    expect("FPSetForkParms 00 0001 0800 ffffffffffffffff", AFP_PARAMETER_ERROR, "");
}

/* Payloads of many sizes, in and out, through the buffer's and the pipe's edges. */
static void all_sizes(void **state)
{
    static uint8_t data[200000];
    fill(data, sizeof data);
    for (size_t size = 1; size < sizeof data; size = size * 3 / 2 + 1) {
        char request[80], reply[40];
        snprintf(reply, sizeof reply, "%016zx", size + 7);
        expect_write("FPWriteExt 00 0001 0000000000000007 0000000000000000", data, size, AFP_OK,
                     reply);
        snprintf(request, sizeof request, "FPReadExt 00 0001 0000000000000007 %016zx", size);
        expect(request, AFP_OK, NULL);
        assert_int_equal(client.header.length, size);
        assert_memory_equal(client.payload, data, size);
    }
}

static void null_store(void **state)
{
    static uint8_t first[1000], data[100000];
    expect("FPReadExt 00 0001 0000000000000000 0000000000000064", AFP_EOF, NULL);
    assert_int_equal(client.header.length, 23);
    expect_write("FPWriteExt 00 0001 0000000000000017 0000000000000000", data, sizeof data, AFP_OK,
                 "00000000000186b7");
    expect("FPSetForkParms 00 0001 0800 0000000100000000", AFP_OK, "");
    expect("FPReadExt 00 0001 00000000000ffe00 00000000000003e8", AFP_OK, NULL);
    assert_int_equal(client.header.length, 1000);
    memcpy(first, client.payload, 1000);
    expect("FPReadExt 00 0001 00000000000ffe00 00000000000003e8", AFP_OK, NULL);
    assert_memory_equal(client.payload, first, 1000);
}

static void deny_modes(void **state)
{
    close_fork(1);
    peer_open(&other, "AFP3.4");
    static const uint8_t modes[] = {0x01, 0x02, 0x03, 0x11, 0x12, 0x13, 0x21,
                                    0x22, 0x23, 0x31, 0x32, 0x33, 0x00, 0x30};
    for (size_t i = 0; i < sizeof modes; i++) {
        for (size_t j = 0; j < sizeof modes; j++) {
            char request[80];
            snprintf(request, sizeof request, "FPOpenFork 00 0001 root 0100 00%02x 02 01 'f'",
                     modes[i]);
            expect(request, AFP_OK, "0100 0001 00000011");
            bool conflict =
                ((modes[i] & 3) & (modes[j] >> 4)) || ((modes[j] & 3) & (modes[i] >> 4));
            snprintf(request, sizeof request, "FPOpenFork 00 0001 root 0100 00%02x 02 01 'f'",
                     modes[j]);
            expect_from(&other, request, conflict ? AFP_DENY_CONFLICT : AFP_OK,
                        conflict ? "0100 0000 00000011" : "0100 0001 00000011");
            if (!conflict) {
                expect_from(&other, "FPCloseFork 00 0001", AFP_OK, "");
            }
            /* The other fork of the file is another matter. */
            snprintf(request, sizeof request, "FPOpenFork 80 0001 root 0100 00%02x 02 01 'f'",
                     modes[j]);
            expect_from(&other, request, AFP_OK, "0100 0001 00000011");
            expect_from(&other, "FPCloseFork 00 0001", AFP_OK, "");
            close_fork(1);
        }
    }
    /* A client that goes away takes its denies along. */
    expect_from(&other, "FPOpenFork 00 0001 root 0000 0033 02 01 'f'", AFP_OK, "0000 0001");
    peer_close(&other);
    expect("FPOpenFork 00 0001 root 0000 0033 02 01 'f'", AFP_OK, "0000 0001");
    /* So does one that logs out. */
    expect("FPLogout 00", AFP_OK, "");
    expect("FPGetForkParms 00 0001 0200", AFP_CALL_NOT_SUPPORTED, "");
    peer_open(&other, "AFP3.4");
    expect_from(&other, "FPOpenFork 00 0001 root 0000 0033 02 01 'f'", AFP_OK, "0000 0001");
    peer_close(&other);
}

static void write_inhibit(void **state)
{
    expect("FPSetFileDirParms 00 0001 root 0001 02 01 'f' 00 8020", AFP_OK, "");
    expect("FPOpenFork 00 0001 root 0000 0003 02 01 'f'", AFP_OBJECT_LOCKED, "");
    expect("FPOpenFork 00 0001 root 0000 0001 02 01 'f'", AFP_OK, "0000 0002");
}

static void locks(void **state)
{
    expect("FPSetForkParms 00 0001 0200 000003e8", AFP_OK, "");
    peer_open(&other, "AFP3.4");
    expect_from(&other, "FPOpenFork 00 0001 root 0000 0003 02 01 'f'", AFP_OK, "0000 0001");
    expect("FPByteRangeLock 80 0001 fffffff6 00000005", AFP_OK, "000003de");
    expect("FPByteRangeLockExt 00 0001 0000000000000000 000000000000000a", AFP_OK,
           "0000000000000000");
    expect("FPByteRangeLock 00 0001 00000009 00000001", AFP_RANGE_OVERLAP, "");
    expect("FPByteRangeLock 00 0001 0000000a 00000001", AFP_OK, "0000000a");
    expect_from(&other, "FPByteRangeLock 00 0001 00000005 00000001", AFP_LOCK_ERROR, "");
    expect_from(&other, "FPByteRangeLock 01 0001 00000000 0000000a", AFP_RANGE_NOT_LOCKED, "");
    expect("FPByteRangeLock 01 0001 00000000 00000009", AFP_RANGE_NOT_LOCKED, "");
    expect("FPByteRangeLock 01 0001 00000000 0000000a", AFP_OK, "00000000");
    expect_from(&other, "FPByteRangeLock 00 0001 00000005 00000001", AFP_OK, "00000005");
    expect("FPByteRangeLock 00 0001 00000000 00000000", AFP_PARAMETER_ERROR, "");
    expect("FPByteRangeLock 00 0001 00000000 fffffffe", AFP_PARAMETER_ERROR, "");
    expect("FPByteRangeLock 00 0001 ffffffff 00000001", AFP_PARAMETER_ERROR, "");
    expect("FPByteRangeLock 00 0001 00001000 ffffffff", AFP_OK, "00001000");
    expect_from(&other, "FPByteRangeLockExt 00 0001 7000000000000000 0000000000000001",
                AFP_LOCK_ERROR, "");
    close_fork(1); /* locks go with their fork */
    expect_from(&other, "FPByteRangeLockExt 00 0001 7000000000000000 0000000000000001", AFP_OK,
                NULL);
    for (unsigned i = 0; i < VOLUME_RANGE_LIMIT - 2; i++) {
        char request[60];
        snprintf(request, sizeof request, "FPByteRangeLock 00 0001 %08x 00000001", 10000 + i * 2);
        expect_from(&other, request, AFP_OK, NULL);
    }
    expect_from(&other, "FPByteRangeLock 00 0001 00000000 00000001", AFP_NO_MORE_LOCKS, "");
    peer_close(&other);
}

/* Whatever way the session with the lock goes, the lock goes with it. */
static void locks_end_with_their_session(void **state)
{
    static const char *const ways[] = {"FPCloseFork 00 0001", "FPCloseVol 00 0001", "FPLogout 00",
                                       NULL};
    for (size_t i = 0; i < COUNT(ways); i++) {
        peer_open(&other, "AFP3.4");
        expect_from(&other, "FPOpenFork 00 0001 root 0000 0003 02 01 'f'", AFP_OK, "0000 0001");
        expect_from(&other, "FPByteRangeLock 00 0001 00000000 00000001", AFP_OK, "00000000");
        expect("FPByteRangeLock 00 0001 00000000 00000001", AFP_LOCK_ERROR, "");
        if (ways[i] != NULL) {
            expect_from(&other, ways[i], AFP_OK, "");
            expect("FPByteRangeLock 00 0001 00000000 00000001", AFP_OK, "00000000");
            expect("FPByteRangeLock 01 0001 00000000 00000001", AFP_OK, "00000000");
        }
        peer_close(&other);
    }
    expect("FPByteRangeLock 00 0001 00000000 00000001", AFP_OK, "00000000");
}

/* A lock may lie behind the end, and a fork that is open for reading only has locks too. */
static void locks_of_a_reader(void **state)
{
    expect("FPOpenFork 00 0001 root 0000 0001 02 01 'f'", AFP_OK, "0000 0002");
    expect("FPByteRangeLock 00 0002 00001000 00000001", AFP_OK, "00001000");
    expect("FPByteRangeLock 00 0001 00001000 00000001", AFP_LOCK_ERROR, "");
    expect("FPOpenFork 80 0001 root 0000 0001 02 01 'f'", AFP_OK, "0000 0003");
    expect("FPByteRangeLock 00 0003 00001000 00000001", AFP_OK, "00001000"); /* another fork */
    expect("FPByteRangeLockExt 00 0001 7fffffffffffffff 0000000000000001", AFP_PARAMETER_ERROR, "");
    expect("FPByteRangeLockExt 00 0001 7ffffffffffffffe 0000000000000001", AFP_OK,
           "7ffffffffffffffe");
    expect("FPByteRangeLockExt 81 0001 7fffffffffffffff 0000000000000001", AFP_PARAMETER_ERROR, "");
    /* They bind those who lock: 5.4. */
    expect("FPRead 00 0002 00000000 00000001 0000", AFP_OK, "'0'");
    expect("FPByteRangeLock 00 0002 00000000 00000001", AFP_OK, "00000000");
    expect_write("FPWrite 00 0001 00000000 00000001", "!", 1, AFP_OK, "00000001");
}

/* ---- Locks against a list that is searched from end to end ---- */

#define MODEL_BYTES   64
#define MODEL_LONGEST 4
#define MODEL_STEPS   4000

struct lock_model {
    struct {
        unsigned holder;
        uint64_t begin, end;
    } locks[MODEL_BYTES + MODEL_LONGEST];
    size_t count;
};

static int32_t model_lock(struct lock_model *model, unsigned holder, uint64_t begin, uint64_t end)
{
    int32_t result = AFP_OK;
    for (size_t i = 0; i < model->count; i++) {
        if (begin < model->locks[i].end && model->locks[i].begin < end) {
            if (model->locks[i].holder == holder) {
                return AFP_RANGE_OVERLAP;
            }
            result = AFP_LOCK_ERROR;
        }
    }
    if (result == AFP_OK) {
        model->locks[model->count].holder = holder;
        model->locks[model->count].begin = begin;
        model->locks[model->count++].end = end;
    }
    return result;
}

static int32_t model_unlock(struct lock_model *model, unsigned holder, uint64_t begin, uint64_t end)
{
    for (size_t i = 0; i < model->count; i++) {
        if (model->locks[i].holder == holder && model->locks[i].begin == begin &&
            model->locks[i].end == end) {
            model->locks[i] = model->locks[--model->count];
            return AFP_OK;
        }
    }
    return AFP_RANGE_NOT_LOCKED;
}

/* Three forks of one file, two of them of one session. */
static void locks_as_modelled(void **state)
{
    struct lock_model model = {.count = 0};
    uint32_t random = 1;
    expect("FPOpenFork 00 0001 root 0000 0001 02 01 'f'", AFP_OK, "0000 0002");
    peer_open(&other, "AFP3.4");
    expect_from(&other, "FPOpenFork 00 0001 root 0000 0003 02 01 'f'", AFP_OK, "0000 0001");
    for (unsigned i = 0; i < MODEL_STEPS; i++) {
        char request[60], reply[20] = "";
        unsigned holder = next_random(&random) % 3;
        unsigned unlock = next_random(&random) % 2;
        unsigned begin = next_random(&random) % MODEL_BYTES;
        unsigned size = 1 + next_random(&random) % MODEL_LONGEST;
        int32_t result = unlock ? model_unlock(&model, holder, begin, begin + size)
                                : model_lock(&model, holder, begin, begin + size);
        snprintf(request, sizeof request, "FPByteRangeLock %02x %04x %08x %08x", unlock,
                 holder == 1 ? 2 : 1, begin, size);
        if (result == AFP_OK) {
            snprintf(reply, sizeof reply, "%08x", begin);
        }
        expect_from(holder == 2 ? &other : &client, request, result, reply);
    }
    peer_close(&other);
}

/* ---- Many forks ---- */

static void forks_to_the_limit(void **state)
{
    fixture_prepare(*state);
    fixture.config.fork_limit = 100;
    fixture_run();
    create_file(1, "f");
    for (unsigned i = 1; i <= 100; i++) {
        open_file(1, "f", i);
    }
    expect("FPOpenFork 00 0001 root 0000 0001 02 01 'f'", AFP_TOO_MANY_FILES_OPEN, "");
    peer_open(&other, "AFP3.4"); /* the limit is each session's own */
    expect_from(&other, "FPOpenFork 00 0001 root 0000 0001 02 01 'f'", AFP_OK, "0000 0001");
    close_fork(70);
    close_fork(37);
    open_file(1, "f", 37);
    open_file(1, "f", 70);
    expect("FPOpenFork 00 0001 root 0000 0001 02 01 'f'", AFP_TOO_MANY_FILES_OPEN, "");
    expect("FPGetForkParms 00 0064 0200", AFP_OK, "0200 00000000");
    expect("FPGetForkParms 00 0065 0200", AFP_PARAMETER_ERROR, "");
    expect("FPCloseVol 00 0001", AFP_OK, "");
    expect("FPOpenVol 00 0020 03 'one'", AFP_OK, "0020 0001");
    open_file(1, "f", 1);
    peer_close(&other);
    fixture_stop();
}

/* A text with a number in the place of "####". */
static const char *numbered(const char *text, unsigned number, char result[100])
{
    char digits[5];
    snprintf(result, 100, "%s", text);
    char *place = strstr(result, "####");
    if (place != NULL) {
        snprintf(digits, sizeof digits, "%04x", number & 0xFFFFU);
        memcpy(place, digits, 4);
    }
    return result;
}

/* A request for each of many files, whose forks have the references from 1 on. */
static void expect_each(struct peer *peer, const char *request, int32_t result, const char *reply)
{
    for (unsigned i = 1; i <= 2000; i++) {
        char asked[100], answered[100];
        expect_from(peer, numbered(request, i, asked), result, numbered(reply, i, answered));
    }
}

#define LOCK_EACH   "FPByteRangeLock 00 #### 00000000 00000001"
#define UNLOCK_EACH "FPByteRangeLock 01 #### 00000000 00000001"

static void two_thousand_forks(void **state)
{
    expect_each(&client, "FPCreateFile 00 0001 root 02 05 'n####'", AFP_OK, "");
    expect_each(&client, "FPOpenFork 00 0001 root 0000 0003 02 05 'n####'", AFP_OK, "0000 ####");
    expect_each(&client, LOCK_EACH, AFP_OK, "00000000");
    peer_open(&other, "AFP3.4");
    expect_each(&other, "FPOpenFork 00 0001 root 0000 0003 02 05 'n####'", AFP_OK, "0000 ####");
    expect_each(&other, LOCK_EACH, AFP_LOCK_ERROR, "");
    expect_each(&other, UNLOCK_EACH, AFP_RANGE_NOT_LOCKED, "");
    expect_each(&client, UNLOCK_EACH, AFP_OK, "00000000");
    expect_each(&other, LOCK_EACH, AFP_OK, "00000000");
    expect_each(&other, "FPCloseFork 00 ####", AFP_OK, "");
    expect_each(&client, LOCK_EACH, AFP_OK, "00000000");
    peer_close(&other);
    expect("FPCloseVol 00 0001", AFP_OK, "");
    expect_each(&client, LOCK_EACH, AFP_PARAMETER_ERROR, "");
}

static void disk_full(void **state)
{
    static const uint8_t data[3000];
    fixture_prepare(*state);
    fixture.volumes[0].limit_bytes = 5000;
    fixture_run();
    create_file(1, "f");
    expect("FPOpenFork 00 0001 root 0200 0003 02 01 'f'", AFP_OK, "0200 0001 00000000");
    expect_write("FPWrite 00 0001 00000000 00000bb8", data, 3000, AFP_OK, "00000bb8");
    expect_write("FPWrite 00 0001 00000bb8 00000bb8", data, 3000, AFP_DISK_FULL, "");
    expect("FPGetForkParms 00 0001 0200", AFP_OK, "0200 00000bb8");
    expect("FPGetVolParms 00 0001 0600", AFP_OK, "0600 00000000000007d0 0000000000001388");
    expect_write("FPWrite 00 0001 00000bb8 000007d0", data, 2000, AFP_OK, "00001388");
    expect_write("FPWrite 00 0001 00000000 00000bb8", data, 3000, AFP_OK, "00000bb8");
    expect("FPSetForkParms 00 0001 0200 00001389", AFP_DISK_FULL, "");
    fixture_stop();
}

static void old_version(void **state)
{
    expect_write("FPWriteExt 00 0001 0000000000000000 0000000000000000", "!", 1,
                 AFP_CALL_NOT_SUPPORTED, "");
    expect("FPGetForkParms 00 0001 0800", AFP_BITMAP_ERROR, "");
    expect("FPSetForkParms 00 0001 0800 0000000000000000", AFP_BITMAP_ERROR, "");
    expect("FPRead 00 0001 00000000 00000017 0000", AFP_OK, "'0123456789abcdefghijklm'");
}

/* Each in the stores that keep what is written. */
#define TEST(name) ON_BOTH_STORES(setup, teardown_client, name)

int main(void)
{
    limits_raise_descriptors(); /* the server's sessions are threads of this program */
    const struct CMUnitTest tests[] = {
        TEST(open_and_close),
        TEST(reading),
        TEST(writing),
        TEST(all_sizes),
        {"null_store", null_store, setup, teardown_client, "null"},
        TEST(deny_modes),
        TEST(write_inhibit),
        TEST(locks),
        TEST(locks_end_with_their_session),
        TEST(locks_of_a_reader),
        TEST(locks_as_modelled),
        ON_ALL_STORES(NULL, NULL, forks_to_the_limit),
        ON_ALL_STORES(setup_client, teardown_client, two_thousand_forks),
        ON_BOTH_STORES(NULL, NULL, disk_full),
        ON_BOTH_STORES(setup_old, teardown_client, old_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
