/* Faults that the server is told to have, byte by byte; and what it does about a client that does
 * not read. Expected bytes are written by hand from doc/protocol.md. */
#include "base/clock.h"
#include "base/stream.h"
#include "server/faults.h"
#include "server_fixture.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAULTS 4
#define LARGE  ((size_t)8 * 1024 * 1024)

static struct fault faults[FAULTS];

/* A service with these faults. */
static void open_with(const char *const texts[FAULTS])
{
    struct error error;
    fixture_prepare("memory");
    fixture.config.faults = faults;
    for (size_t i = 0; i < FAULTS && texts[i] != NULL; i++) {
        if (!fault_parse(&faults[i], texts[i], &error)) {
            fail_msg("%s", error.message);
        }
        fixture.config.fault_count = i + 1;
    }
    fixture_open();
}

#define OPEN_WITH(...) open_with((const char *const[FAULTS]){__VA_ARGS__})
/* The same, and the client has its volumes open. */
#define RUN_WITH(...) (OPEN_WITH(__VA_ARGS__), peer_open(&client, "AFP3.4"))

/* FPGetVolParms of one date: a reply of 6 bytes. */
#define ASK       "FPGetVolParms 00 0001 0008"
#define ASK_BYTES 6

static void send_command(const char *text)
{
    uint8_t bytes[200];
    peer_send(&client, DSI_COMMAND, 0, bytes, bytes_of(text, bytes, NULL, sizeof bytes));
}

/* ---- Reading faults ---- */

static void faults_that_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "dance",
        "delay",
        "delay=",
        "delay=-1",
        "delay=1x",
        "delay=1.0000000001",
        "delay=86401",
        "tickle=1",
        "attention",
        "attention=10000",
        "attention=xy",
        "code=",
        "code=2147483648",
        "code=--1",
        "code= 1",
        "payload=abc",
        "payload=zz",
        "pieces=0",
        "hold=5000",
        "close=-1",
        "mute@FPRead#",
        "mute@FPRead#0",
        "mute@FPRead#5-3",
        "mute@FPRead#3x",
        "mute@A-name-that-is-longer-than-any-request-has",
        "shutdown=4096",
        "delay=1@FPFoo",
        "delay=1@fpread",
        "delay=1@FPFoo*#3",
        "delay=1@DSIFoo",
        "id=65536",
    };
    struct fault fault;
    struct error error;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (fault_parse(&fault, wrong[i], &error)) {
            fail_msg("accepted: %s", wrong[i]);
        }
        assert_int_equal(error.domain, ERROR_USAGE);
    }
    assert_false(fault_parse(&fault, "dance", &error));
    assert_non_null(strstr(error.message, "half-close"));
    assert_false(fault_parse(&fault, "delay=1@FPFoo", &error));
    assert_non_null(strstr(error.message, "no request is called 'FPFoo'"));
}

static void faults_are_read(void **state)
{
    struct fault fault;
    struct error error;
    assert_true(fault_parse(&fault, "delay=1.25@FPRead*#3-5", &error));
    assert_int_equal(fault.number, 1250000000);
    assert_string_equal(fault.request, "FPRead*");
    assert_int_equal(fault.first, 3);
    assert_int_equal(fault.last, 5);
    assert_true(fault_parse(&fault, "id=-7@#2+", &error));
    assert_int_equal(fault.number, -7);
    assert_string_equal(fault.request, "*");
    assert_int_equal(fault.first, 2);
    assert_true(fault.last == UINT64_MAX);
    assert_true(fault_parse(&fault, "close", &error));
    assert_int_equal(fault.number, 0);
    assert_int_equal(fault.first, 1);
    assert_true(fault_parse(&fault, "payload=", &error));
    assert_int_equal(fault.size, 0);
    assert_true(fault_parse(&fault, "attention=b005", &error));
    assert_int_equal(fault.number, 0xB005);
}

/* ---- Frames that come unasked ---- */

static void expect_own(uint8_t command, const char *payload)
{
    assert_true(peer_receive(&client));
    assert_int_equal(client.header.flags, DSI_REQUEST);
    assert_int_equal(client.header.command, command);
    expect_payload(payload);
}

static void unasked_frames_come_before_the_reply(void **state)
{
    RUN_WITH("tickle@FPGetVolParms", "attention=2005@FPGetVolParms", "shutdown=5@FPGetVolParms",
             "unknown@FPGetVolParms");
    send_command(ASK);
    expect_own(DSI_TICKLE, "");
    expect_own(DSI_ATTENTION, "2005");
    assert_int_equal(client.header.request_id, 1); /* one numbering for all of the server's own */
    expect_own(DSI_ATTENTION, "9005");
    expect_own(99, "'unknown' 00");
    assert_true(peer_receive(&client));
    assert_int_equal(client.header.flags, DSI_REPLY);
    fixture_stop();
}

/* ---- Replies that are wrong ---- */

static void replies_are_changed(void **state)
{
    RUN_WITH("truncate=2@FPGetVolParms#1", "extend=3@FPGetVolParms#2", "flip=0@FPGetVolParms#3",
             "payload=0102@FPGetVolParms#4");
    expect(ASK, AFP_OK, "0008 ?? ??");
    expect(ASK, AFP_OK, "0008 ?? ?? ?? ?? 00 00 00");
    expect(ASK, AFP_OK, "ff08 ?? ?? ?? ??");
    expect(ASK, AFP_OK, "0102");
    expect(ASK, AFP_OK, "0008 ?? ?? ?? ??");
    fixture_stop();
}

static void ids_and_commands_are_changed(void **state)
{
    RUN_WITH("id=77@FPGetVolParms#1", "command=6@FPGetVolParms#2", "twice@FPGetVolParms#3");
    uint16_t id = client.request_id;
    send_command(ASK);
    assert_true(peer_receive(&client));
    assert_int_equal(client.header.request_id, id + 77);
    send_command(ASK);
    assert_true(peer_receive(&client));
    assert_int_equal(client.header.command, DSI_WRITE);
    send_command(ASK);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(peer_receive(&client));
        assert_int_equal(client.header.request_id, id + 2);
        assert_int_equal(client.header.length, ASK_BYTES);
    }
    fixture_stop();
}

static void a_refused_request_is_not_executed(void **state)
{
    static const uint8_t data[1000];
    RUN_WITH("code=-5000@FPCreateFile#1", "code=-5008@FPWriteExt#1", "eof=10@FPReadExt");
    expect("FPCreateFile 00 0001 root 02 01 'f'", AFP_ACCESS_DENIED, "");
    create_and_open(1, "f", 1);
    expect_write("FPWriteExt 00 0001 0000000000000000 00000000000003e8", data, sizeof data,
                 AFP_DISK_FULL, "");
    expect_write("FPWriteExt 00 0001 0000000000000000 0000000000000014", data, 20, AFP_OK,
                 "0000000000000014");
    expect("FPReadExt 00 0001 0000000000000000 0000000000000014", AFP_EOF,
           "00 00 00 00 00 00 00 00 00 00");
    fixture_stop();
}

static void a_result_of_zero_is_one_too(void **state)
{
    RUN_WITH("code=0@FPCreateFile");
    create_file(1, "f");
    expect("FPOpenFork 00 0001 root 0000 0003 02 01 'f'", AFP_OBJECT_NOT_FOUND, "");
    fixture_stop();
}

static void a_session_is_refused(void **state)
{
    OPEN_WITH("code=-1071@DSIOpenSession");
    peer_open_session(&client);
    assert_int_equal(dsi_result(&client.header), DSI_SERVER_BUSY);
    fixture_stop();
    assert_int_equal(fixture.service.sessions, 0);
}

/* ---- Replies that come otherwise ---- */

static void replies_in_reverse(void **state)
{
    RUN_WITH("reverse=3@FPGetVolParms");
    uint16_t id = client.request_id;
    for (unsigned i = 0; i < 5; i++) {
        send_command(ASK);
    }
    /* Three together; of the last two the client waits for one, so they leave as well. */
    static const uint16_t order[] = {2, 1, 0, 4, 3};
    for (unsigned i = 0; i < 5; i++) {
        assert_true(peer_receive(&client));
        assert_int_equal(client.header.request_id, id + order[i]);
        assert_int_equal(client.header.length, ASK_BYTES);
    }
    fixture_stop();
}

static void a_reply_in_single_bytes(void **state)
{
    RUN_WITH("pieces=1@FPGetVolParms");
    expect(ASK, AFP_OK, "0008 ?? ?? ?? ??");
    fixture_stop();
}

static void a_delay_delays(void **state)
{
    RUN_WITH("delay=0.15@FPGetVolParms");
    uint64_t begin_ns = clock_now_ns();
    expect(ASK, AFP_OK, NULL);
    assert_true(clock_now_ns() - begin_ns >= 150 * NS_PER_MS);
    fixture_stop();
}

/* A command that takes long: tickles meanwhile, in the server's interval. */
static void tickles_during_a_long_command(void **state)
{
    unsigned tickles = 0;
    OPEN_WITH("delay=0.5@FPGetVolParms");
    fixture.service.tickle_ns = 100 * NS_PER_MS;
    peer_open(&client, "AFP3.4");
    send_command(ASK);
    while (peer_receive(&client) && client.header.command == DSI_TICKLE) {
        tickles++;
    }
    assert_int_equal(client.header.command, DSI_COMMAND);
    assert_in_range(tickles, 2, 5);
    fixture_stop();
}

/* ---- Ends ---- */

static ssize_t bytes_until_the_end(void)
{
    uint8_t bytes[100];
    ssize_t total = 0;
    ssize_t got;
    while ((got = recv(client.socket, bytes, sizeof bytes, 0)) > 0) {
        total += got;
    }
    return got < 0 ? -errno : total;
}

static void closes_after_so_many_bytes(void **state)
{
    RUN_WITH("close=29@FPGetVolParms#2");
    expect(ASK, AFP_OK, NULL);
    expect(ASK, AFP_OK, NULL); /* 22 bytes */
    send_command(ASK);
    assert_int_equal(bytes_until_the_end(), 7);
    fixture_stop();
}

static void closes_at_a_request(void **state)
{
    OPEN_WITH("close@#4"); /* OpenSession, login, two volumes */
    peer_login(&client, "AFP3.4");
    expect("FPOpenVol 00 0020 03 'one'", AFP_OK, NULL);
    send_command("FPOpenVol 00 0020 03 'two'");
    assert_int_equal(bytes_until_the_end(), 0);
    fixture_stop();
    assert_int_equal(fixture.service.sessions, 0);
}

static void resets(void **state)
{
    RUN_WITH("reset@FPGetVolParms");
    send_command(ASK);
    assert_int_equal(bytes_until_the_end(), -ECONNRESET);
    fixture_stop();
}

static void half_closes_and_goes_on(void **state)
{
    RUN_WITH("half-close@FPGetVolParms");
    send_command(ASK);
    assert_int_equal(bytes_until_the_end(), 0);
    send_command("FPCreateFile 00 0001 root 02 01 'f'"); /* unanswered, but executed */
    peer_close(&client);
    peer_open(&client, "AFP3.4");
    expect("FPCreateFile 00 0001 root 02 01 'f'", AFP_OBJECT_EXISTS, "");
    fixture_stop();
}

/* Nothing comes, for as long as it is worth to wait here. */
static void expect_silence(void)
{
    struct pollfd waiting = {.fd = client.socket, .events = POLLIN};
    assert_int_equal(poll(&waiting, 1, 200), 0);
}

static void ignores_one_and_falls_mute(void **state)
{
    RUN_WITH("ignore@FPGetVolParms#1", "mute@FPGetVolParms#3");
    send_command(ASK);
    expect_silence();
    expect(ASK, AFP_OK, NULL);
    send_command(ASK);
    send_command("FPCloseVol 00 0001");
    expect_silence();
    fixture_stop();
}

static void a_deaf_server_ends_with_its_client(void **state)
{
    RUN_WITH("deaf@FPGetVolParms");
    send_command(ASK);
    expect_silence();
    fixture_stop(); /* waits for the session's thread */
}

/* ---- A client that does not read ---- */

/* Asks for 8 MiB, then writes as much, and only then reads: both buffers of the connection are
 * smaller than that. */
static void a_client_that_writes_before_it_reads(void **state)
{
    static uint8_t data[20 + 65536] = {AFP_WRITE_EXT, 0, 0, 1};
    const size_t data_size = sizeof data - 20;
    const size_t writes = LARGE / data_size;
    struct error error;
    struct timeval limit = {.tv_sec = 15};
    fixture_prepare(*state);
    fixture_run();
    setsockopt(client.socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    create_and_open(1, "f", 1);
    expect("FPSetForkParms 00 0001 0800 0000000000800000", AFP_OK, "");
    send_command("FPReadExt 00 0001 0000000000000000 0000000000800000");
    uint16_t id = client.request_id;
    for (size_t i = 0; i < writes; i++) {
        uint8_t header[DSI_HEADER_SIZE];
        dsi_header_encode(header, &(struct dsi_header){.command = DSI_WRITE,
                                                       .request_id = client.request_id++,
                                                       .offset_or_result = 20,
                                                       .length = sizeof data});
        struct iovec pieces[] = {{header, sizeof header}, {data, sizeof data}};
        data[4 + 5] = (uint8_t)(i * data_size >> 16); /* of the offset, big-endian */
        if (!stream_send_all(client.socket, pieces, 2, false, &error)) {
            fail_msg("write %zu: %s", i, error.message);
        }
    }
    uint8_t header[DSI_HEADER_SIZE];
    assert_true(stream_receive_all(client.socket, header, sizeof header, &error));
    assert_int_equal(dsi_header_decode(header).length, LARGE);
    assert_true(stream_discard_all(client.socket, LARGE, &error));
    for (size_t i = 0; i < writes; i++) {
        assert_true(peer_receive(&client));
        assert_int_equal(client.header.request_id, id + i);
        assert_int_equal(dsi_result(&client.header), AFP_OK);
    }
    expect("FPGetForkParms 00 0001 0800", AFP_OK, "0800 0000000000800000");
    fixture_stop();
}

/* Without that, or when the store is full, the client has to read: the server gives up on it. */
static void a_client_that_never_reads(void **state)
{
    fixture_prepare("memory");
    fixture.config.read_ahead_bytes = 0;
    fixture_open();
    fixture.service.silence_ns = 300 * NS_PER_MS;
    peer_open(&client, "AFP3.4");
    create_and_open(1, "f", 1);
    expect("FPSetForkParms 00 0001 0800 0000000004000000", AFP_OK, "");
    send_command("FPReadExt 00 0001 0000000000000000 0000000004000000");
    pthread_join(client.thread, NULL); /* the session ends although nobody closes */
    close(client.socket);
    close(client.served);
    assert_int_equal(fixture.service.sessions, 0);
    fixture_close();
}

/* What servers lack, for a client of small operations: each refusal is told, and all else works. */
static void lacking_servers(void **state)
{
    RUN_WITH("code=-5013@FPByteRangeLock*", "code=-5024@FPEnumerateExt2", "code=-5008@FPWrite*#2",
             "code=-5026@FPOpenFork#3+");
    create_and_open(1, "f", 1);
    open_file(1, "f", 2);
    expect("FPOpenFork 00 0001 root 0000 0003 02 01 'f'", AFP_TOO_MANY_FILES_OPEN, "");
    expect("FPByteRangeLock 00 0001 00000000 00000001", AFP_LOCK_ERROR, "");
    expect("FPByteRangeLockExt 00 0001 0000000000000000 0000000000000001", AFP_LOCK_ERROR, "");
    expect("FPEnumerateExt2 00 0001 root 0100 0100 0005 00000001 00001000 02 00",
           AFP_CALL_NOT_SUPPORTED, "");
    expect("FPEnumerateExt 00 0001 root 0100 0100 0005 0001 1000 02 00", AFP_OK,
           "0100 0100 0001 0008 00 00 00000011");
    expect("FPEnumerate 00 0001 root 0100 0100 0005 0001 1000 02 00", AFP_OK,
           "0100 0100 0001 06 00 00000011");
    expect_write("FPWrite 00 0001 00000000 00000001", "a", 1, AFP_OK, "00000001");
    expect_write("FPWriteExt 00 0001 0000000000000000 0000000000000001", "b", 1, AFP_DISK_FULL, "");
    expect_write("FPWrite 00 0001 00000001 00000001", "c", 1, AFP_OK, "00000002");
    expect("FPRead 00 0001 00000000 00000002 0000", AFP_OK, "'ac'");
    fixture_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_that_are_refused),
        cmocka_unit_test(faults_are_read),
        cmocka_unit_test(unasked_frames_come_before_the_reply),
        cmocka_unit_test(replies_are_changed),
        cmocka_unit_test(ids_and_commands_are_changed),
        cmocka_unit_test(a_refused_request_is_not_executed),
        cmocka_unit_test(a_result_of_zero_is_one_too),
        cmocka_unit_test(a_session_is_refused),
        cmocka_unit_test(replies_in_reverse),
        cmocka_unit_test(a_reply_in_single_bytes),
        cmocka_unit_test(a_delay_delays),
        cmocka_unit_test(tickles_during_a_long_command),
        cmocka_unit_test(closes_after_so_many_bytes),
        cmocka_unit_test(closes_at_a_request),
        cmocka_unit_test(lacking_servers),
        cmocka_unit_test(resets),
        cmocka_unit_test(half_closes_and_goes_on),
        cmocka_unit_test(ignores_one_and_falls_mute),
        cmocka_unit_test(a_deaf_server_ends_with_its_client),
        {"a_client_that_writes_before_it_reads (memory)", a_client_that_writes_before_it_reads,
         NULL, NULL, "memory"},
        {"a_client_that_writes_before_it_reads (null)", a_client_that_writes_before_it_reads, NULL,
         NULL, "null"},
        cmocka_unit_test(a_client_that_never_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
