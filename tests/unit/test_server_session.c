/* Frames, logins, the replay cache, silence: a session served over a real connection. */
#include "afp/server_info.h"
#include "base/clock.h"
#include "server_fixture.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OLDEST_INFO_LIMIT 512 /* 2.1: what the oldest clients can take */

static int setup(void **state)
{
    fixture_prepare("memory");
    fixture.config.quantum = 100000;
    fixture.config.session_limit = 2;
    fixture_open();
    return 0;
}

static int teardown(void **state)
{
    fixture_close();
    return 0;
}

/* ---- The first frame ---------------------------------------------------------------------------
 */

static void open_session(void **state)
{
    static const uint8_t options[] = {0x77, 2, 9, 9, 1, 4, 0, 0, 0, 2};
    peer_connect(&client);
    peer_send(&client, DSI_OPEN_SESSION, 0, options, sizeof options);
    assert_true(peer_receive(&client));
    assert_int_equal(dsi_result(&client.header), 0);
    expect_payload("00 04 000186a0 02 04 00000080");
    peer_send(&client, DSI_OPEN_SESSION, 0, options, sizeof options);
    assert_true(peer_receive(&client));
    assert_int_equal(dsi_result(&client.header), DSI_PARAMETER_ERROR);
    peer_close(&client);
}

static void bad_first_frames(void **state)
{
    static const struct {
        uint8_t command;
        const char *payload;
        size_t size;
    } rows[] = {
        {DSI_COMMAND, "\x0f", 2},
        {DSI_TICKLE, "", 0},
        {DSI_WRITE, "", 0},
        {99, "", 0},
        {DSI_OPEN_SESSION, "\1\3", 5},
        {DSI_OPEN_SESSION, "\1\4\0", 3},
        {DSI_OPEN_SESSION, "\1", 1},
    };
    static const uint8_t large[5000];
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t payload[8] = {0};
        memcpy(payload, rows[i].payload, strlen(rows[i].payload));
        peer_connect(&client);
        peer_send(&client, rows[i].command, 0, payload, rows[i].size);
        expect_closed();
    }
    peer_connect(&client);
    peer_send(&client, DSI_OPEN_SESSION, 0, large, sizeof large);
    expect_closed();
}

static void check_info(void)
{
    struct wire wire = wire_decoder(client.payload, client.header.length);
    struct afp_server_info info;
    assert_true(client.header.length < OLDEST_INFO_LIMIT);
    afp_server_info(&wire, &info);
    assert_true(wire_ok(&wire));
    /* 2.1: no icon; Netatalk's flags without what we lack (section 8). */
    assert_memory_equal(client.payload + 6,
                        "\0\0\x02\x39\x08"
                        "afpbench\0",
                        13);
    assert_int_equal(info.versions.count, AFP_VERSION_COUNT);
    assert_true(span_is(info.versions.items[0], "AFPVersion 2.1"));
    assert_true(span_is(info.versions.items[AFP_VERSION_COUNT - 1], "AFP3.4"));
    assert_true(span_is(info.uams.items[info.uams.count - 1], "No User Authent"));
    assert_int_equal(info.signature.size, 16);
    assert_int_equal(info.addresses.count, 1);
    assert_memory_equal(info.addresses.items[0].data, "\2\x7f\0\0\1", 5);
    assert_true(span_equals(info.utf8_name, span_from_string("afpbench")));
}

static void status(void **state)
{
    peer_connect(&client);
    peer_send(&client, DSI_GET_STATUS, 0, "\x0f", 2);
    assert_true(peer_receive(&client));
    check_info();
    expect_closed();
    peer_login(&client, "AFP3.4");
    assert_int_equal(peer_call(&client, "FPGetSrvrInfo 00"), AFP_OK);
    check_info();
    peer_close(&client);
}

static void places(void **state)
{
    static struct peer third;
    peer_login(&client, "AFP3.4");
    peer_login(&other, "AFP3.4");
    peer_connect(&third);
    peer_send(&third, DSI_OPEN_SESSION, 0, NULL, 0);
    assert_true(peer_receive(&third));
    assert_int_equal(dsi_result(&third.header), DSI_NO_MORE_SESSIONS);
    expect_end(&third);
    peer_close(&third);
    peer_close(&other); /* as a killed client */
    peer_login(&other, "AFP3.4");
    peer_close(&other);
    peer_close(&client);
}

/* ---- Frames of a session -----------------------------------------------------------------------
 */

static void frames_that_end_the_session(void **state)
{
    static uint8_t large[100021];
    static const struct {
        uint8_t command;
        uint32_t write_offset;
        size_t size;
    } rows[] = {
        {DSI_COMMAND, 0, 0},      /* empty */
        {DSI_COMMAND, 0, 100001}, /* above the quantum */
        {DSI_WRITE, 20, 19},      /* block beyond the frame */
        {DSI_WRITE, 20, 100021},  /* data above the quantum */
    };
    large[0] = AFP_WRITE_EXT;
    for (size_t i = 0; i < COUNT(rows); i++) {
        peer_login(&client, "AFP3.4");
        peer_send(&client, rows[i].command, rows[i].write_offset, large, rows[i].size);
        expect_closed();
    }
}

/* Wrong, but in step: an answer, and the next request is understood. */
static void frames_that_are_refused(void **state)
{
    static uint8_t large[100020];
    static const struct {
        uint8_t command;
        uint8_t afp_command;
        uint32_t write_offset;
        size_t size;
    } rows[] = {
        {DSI_COMMAND, AFP_DELETE, 0, 70000},   {DSI_COMMAND, AFP_WRITE_EXT, 0, 20},
        {DSI_WRITE, AFP_WRITE_EXT, 0, 20},     {DSI_WRITE, AFP_WRITE_EXT, 12, 99000},
        {DSI_WRITE, AFP_WRITE, 20, 99000},     {DSI_WRITE, AFP_DELETE, 12, 99000},
        {DSI_WRITE, AFP_WRITE_EXT, 21, 99000}, {DSI_WRITE, AFP_WRITE_EXT, 20, 100020},
        {DSI_WRITE, AFP_WRITE, 12, 12},
    };
    peer_login(&client, "AFP3.4");
    for (size_t i = 0; i < COUNT(rows); i++) {
        large[0] = rows[i].afp_command;
        peer_send(&client, rows[i].command, rows[i].write_offset, large, rows[i].size);
        assert_true(peer_receive(&client));
        assert_int_equal(dsi_result(&client.header), AFP_PARAMETER_ERROR);
        assert_int_equal(client.header.length, 0);
    }
    expect("FPOpenVol 00 0020 03 'one'", AFP_OK, "0020 0001");
    peer_close(&client);
}

static void frames_that_are_ignored(void **state)
{
    static const uint8_t payload[3000];
    uint8_t attention_reply[DSI_HEADER_SIZE] = {DSI_REPLY, DSI_ATTENTION};
    peer_login(&client, "AFP3.4");
    peer_send(&client, 7, 0, payload, sizeof payload);
    peer_send(&client, 200, 0, payload, sizeof payload);
    peer_send(&client, DSI_TICKLE, 0, NULL, 0);
    assert_int_equal(send(client.socket, attention_reply, DSI_HEADER_SIZE, 0), DSI_HEADER_SIZE);
    expect("FPOpenVol 00 0020 03 'one'", AFP_OK, "0020 0001");
    peer_close(&client);
}

static void strict_frames(void **state)
{
    static uint8_t large[100001];
    fixture.config.strict_frames = true;
    large[0] = AFP_WRITE_EXT;
    peer_login(&client, "AFP3.4");
    peer_send(&client, DSI_WRITE, 20, large, 100000);
    assert_true(peer_receive(&client));
    peer_send(&client, DSI_WRITE, 20, large, 100001);
    expect_closed();
}

/* Every byte by itself, and many requests at once. */
static void pieces_and_heaps(void **state)
{
    enum { COUNT = 200 };
    uint8_t frame[DSI_HEADER_SIZE + 2];
    struct dsi_header header = {.command = DSI_COMMAND, .request_id = 9, .length = 2};
    uint8_t heap[COUNT * sizeof frame];
    peer_login(&client, "AFP3.4");
    dsi_header_encode(frame, &header);
    frame[DSI_HEADER_SIZE] = AFP_GET_SERVER_INFO;
    frame[DSI_HEADER_SIZE + 1] = 0;
    for (size_t i = 0; i < sizeof frame; i++) {
        assert_int_equal(send(client.socket, frame + i, 1, 0), 1);
    }
    assert_true(peer_receive(&client));
    check_info();
    for (size_t i = 0; i < COUNT; i++) {
        memcpy(heap + i * sizeof frame, frame, sizeof frame);
    }
    assert_int_equal(send(client.socket, heap, sizeof heap, 0), sizeof heap);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(peer_receive(&client));
        check_info();
    }
    peer_close(&client);
}

static void close_session(void **state)
{
    peer_login(&client, "AFP3.4");
    expect("FPLogout 00", AFP_OK, "");
    expect("FPGetSrvrParms 00", AFP_CALL_NOT_SUPPORTED, "");
    peer_send(&client, DSI_CLOSE_SESSION, 0, NULL, 0);
    assert_true(peer_receive(&client));
    assert_int_equal(client.header.flags, DSI_REQUEST);
    assert_int_equal(client.header.command, DSI_CLOSE_SESSION);
    expect_closed();
}

static void tickles_and_silence(void **state)
{
    fixture.service.tickle_ns = 60 * NS_PER_MS;
    fixture.service.silence_ns = 300 * NS_PER_MS;
    peer_login(&client, "AFP3.4");
    unsigned tickles = 0;
    for (uint16_t id = 0; peer_receive(&client); id++) {
        assert_int_equal(client.header.command, DSI_TICKLE);
        assert_int_equal(client.header.flags, DSI_REQUEST);
        assert_int_equal(client.header.request_id, id);
        tickles++;
    }
    assert_in_range(tickles, 2, 12); /* timers are rounded up */
    peer_close(&client);
}

/* ---- Logins ------------------------------------------------------------------------------------
 */

static void all_versions(void **state)
{
    for (size_t i = 0; i < AFP_VERSION_COUNT; i++) {
        peer_login(&client, afp_versions[i].string);
        /* 2.3: a command exists from its version on. */
        bool wide = afp_versions[i].version >= AFP_3_0;
        expect("FPReadExt 00 0009 0000000000000000 0000000000000001",
               wide ? AFP_PARAMETER_ERROR : AFP_CALL_NOT_SUPPORTED, "");
        bool wider = afp_versions[i].version >= AFP_3_1;
        expect("FPSyncFork 00 0009", wider ? AFP_PARAMETER_ERROR : AFP_CALL_NOT_SUPPORTED, "");
        peer_close(&client);
    }
}

static void logins_that_work(void **state)
{
    static const char *const requests[] = {
        "FPLogin 06 'AFP3.4' 10 'Cleartxt Passwrd' 02 'me' 'pw' 0000 0000 0000",
        "FPLogin 06 'AFP3.4' 10 'cleartxt passwrd' 02 'me' 'pw' 0000 0000 0000 00",
        ("FPLoginExt 00 0000 06 'AFP3.4' 10 'Cleartxt Passwrd' 03 0002 'me' 03 0000 'pw' 0000 0000 "
         "0000"),
        "FPLoginExt 00 0000 06 'AFP3.4' 0f 'No User Authent' 03 0000 03 0000",
        "FPLoginExt 00 0000 06 'AFP3.4' 0f 'No User Authent' 03 0000 02 00",
    };
    for (size_t i = 0; i < COUNT(requests); i++) {
        peer_open_session(&client);
        expect("FPGetSrvrParms 00", AFP_CALL_NOT_SUPPORTED, "");
        expect("FPLoginCont 00 0000", AFP_NOT_AUTHENTICATED, "");
        expect(requests[i], AFP_OK, "");
        expect(requests[i], AFP_PARAMETER_ERROR, "");
        expect("FPGetSrvrParms 00", AFP_OK, "???????? 02 00 03 'one' 00 03 'two'");
        peer_close(&client);
    }
}

static void logins_that_fail(void **state)
{
    static const struct {
        const char *request;
        int32_t result;
    } rows[] = {
        {"FPLogin 06 'AFP3.5' 0f 'No User Authent'", AFP_BAD_VERSION},
        {"FPLogin 06 'afp3.4' 0f 'No User Authent'", AFP_BAD_VERSION},
        {"FPLogin 06 'AFP3.4' 04 'None'", AFP_PARAMETER_ERROR},
        {"FPLogin 06 'AFP3.4' 04 'None' 00", AFP_BAD_UAM},
        {"FPLogin 06 'AFP3.4' 10 'Cleartxt Passwrd' 02 'me' 'px' 0000 0000 0000",
         AFP_NOT_AUTHENTICATED},
        {"FPLogin 06 'AFP3.4' 10 'Cleartxt Passwrd' 02 'mo' 'pw' 0000 0000 0000",
         AFP_NOT_AUTHENTICATED},
        {"FPLogin 06 'AFP3.4' 10 'Cleartxt Passwrd' 02 'me' 'pw' 0000", AFP_PARAMETER_ERROR},
        {"FPLoginExt 00 0000 06 'AFP3.4' 0f 'No User Authent' 03 0000", AFP_PARAMETER_ERROR},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        peer_open_session(&client);
        expect(rows[i].request, rows[i].result, "");
        expect_closed();
    }
    fixture.config.allow_guest = false;
    peer_open_session(&client);
    expect("FPLogin 06 'AFP3.4' 0f 'No User Authent'", AFP_BAD_UAM, "");
    expect_closed();
}

/* The session begins a login with Randnum, which asks with ID 0. */
static void begin_randnum(void)
{
    peer_open_session(&client);
    expect("FPLogin 06 'AFP3.4' 10 'Randnum exchange' 02 'me'", AFP_AUTH_CONTINUE,
           "0000 ???????????????? ");
}

/* 4.1: the ID of the last reply comes back, or the login ends. */
static void login_ids(void **state)
{
    static const char *const wrong[] = {"FPLoginCont 00 0001 0000000000000000",
                                        "FPLoginCont 00 ffff 0000000000000000", "FPLoginCont 00 00",
                                        "FPLoginCont 00"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        begin_randnum();
        expect(wrong[i], AFP_PARAMETER_ERROR, "");
        expect_closed();
    }
    begin_randnum();
    expect("FPLoginCont 00 0000 0000000000000000", AFP_NOT_AUTHENTICATED, "");
    expect_closed();

    begin_randnum();
    expect("FPGetSrvrParms 00", AFP_CALL_NOT_SUPPORTED, ""); /* not logged in yet */
    /* A login may begin anew; the challenge of the old one is then worth nothing. */
    expect("FPLogin 06 'AFP3.4' 04 'DHX2' 02 'me'", AFP_AUTH_CONTINUE, NULL);
    assert_int_equal(client.header.length, 264);
    expect("FPLoginCont 00 0000 0000000000000000", AFP_PARAMETER_ERROR, "");
    expect_closed();
}

/* 4.8: SRP has a result code of its own for a wrong proof. */
static void bad_proof(void **state)
{
    peer_open_session(&client);
    expect("FPLoginExt 00 0000 06 'AFP3.4' 03 'SRP' 03 0002 'me' 03 0000 00 0001",
           AFP_AUTH_CONTINUE, NULL);
    assert_int_equal(client.header.length, 413);
    expect("FPLoginCont 00 0000 0003 0001 03 0014 0000000000000000000000000000000000000000", -6754,
           "");
    expect_closed();
    peer_open_session(&client);
    expect("FPLogin 06 'AFP3.4' 03 'SRP' 02 'mo' 00 0001", AFP_NOT_AUTHENTICATED, "");
    expect_closed();
}

/* Only what the configuration names is offered. */
static void offered_methods(void **state)
{
    static const struct uam *const two[] = {&uam_srp, &uam_guest};
    fixture.config.uams = two;
    fixture.config.uam_count = 2;
    for (size_t i = 0; i < uam_count; i++) {
        bool wanted = uam_table[i] == &uam_srp || uam_table[i] == &uam_guest;
        assert_int_equal(service_offers(&fixture.service, uam_table[i]), wanted);
    }
    peer_open_session(&client);
    expect("FPLogin 06 'AFP3.4' 10 'Cleartxt Passwrd' 02 'me' 'pw' 0000 0000 0000", AFP_BAD_UAM,
           "");
    expect_closed();
    fixture.config.uam_count = 1;
    fixture.config.user_count = 0;
    struct service nobody;
    struct error error;
    assert_false(service_open(&nobody, &fixture.config, &error));
    assert_non_null(strstr(error.message, "nobody can log in"));
    fixture.config.user_count = 1;
}

static void small_commands(void **state)
{
    peer_open(&client, "AFP3.4");
    expect("FPGetUserInfo 01 00000000 0007", AFP_OK,
           "0007 0000fffe 0000fffe ffffeeeeddddccccbbbbaaaa0000fffe");
    expect("FPGetUserInfo 00 00000000 0007", AFP_PARAMETER_ERROR, "");
    expect("FPMapID 01 000003e8", AFP_OK, "02 'me'");
    expect("FPMapID 03 0000fffe", AFP_OK, "0006 'nobody'");
    expect("FPMapID 01 00000000", AFP_OK, "00");
    expect("FPMapID 01 00000001", AFP_ITEM_NOT_FOUND, "");
    expect("FPGetSrvrMsg 00 0000 0003", AFP_OK, "0000 0003 0000");
    expect("FPGetSrvrMsg 00 0001 0001", AFP_OK, "0001 0001 00");
    expect("FPGetSessionToken 00 0000 00000000", AFP_OK, "00000008 ????????????????");
    expect("FPGetSessionToken 00 0003 root 00000000 'id'", AFP_OK, NULL);
    expect("FPZzzzz 00 00000001", AFP_OK, "0000000a");
    expect("FPZzzzz 00 root", AFP_OK, "0000000a");
    expect("FPOpenDT 00 0001", AFP_OK, "0001");
    expect("FPCloseDT 00 0001", AFP_OK, "");
    expect("FPFlush 00 0001", AFP_OK, "");
    expect("FPFlush 00 0003", AFP_PARAMETER_ERROR, "");
    expect("FPSyncDir 00 0001 root", AFP_OK, "");
    expect("2b 00 0001", AFP_CALL_NOT_SUPPORTED, "");
    expect("FPGetVolParms 00 0001 0022", AFP_OK, "0022 0002 0001");
    expect("FPGetVolParms 00 0001 1000", AFP_BITMAP_ERROR, "");
    expect("FPOpenVol 00 0001 03 'one'", AFP_BITMAP_ERROR, "");
    expect("FPOpenVol 00 0020 03 'One'", AFP_OBJECT_NOT_FOUND, "");
    expect("FPCloseVol 00 0001", AFP_OK, "");
    expect("FPCloseVol 00 0001", AFP_PARAMETER_ERROR, "");
    expect("FPGetVolParms 00 0001 0022", AFP_PARAMETER_ERROR, "");
    peer_close(&client);
}

/* ---- The replay cache --------------------------------------------------------------------------
 */

static void repeated_requests(void **state)
{
    peer_open(&client, "AFP3.4");
    client.request_id = 1000;
    create_directory(1, "d", 0x11);
    client.request_id = 1000;
    create_directory(1, "d", 0x11);
    expect("FPCreateDir 00 0001 root 02 01 'd'", AFP_OBJECT_EXISTS, "");
    client.request_id = 1001; /* a failure is kept as well */
    expect("FPCreateDir 00 0001 root 02 01 'e'", AFP_OBJECT_EXISTS, "");
    client.request_id = 1001; /* another command with the same ID is a new request */
    expect("FPDelete 00 0001 root 02 01 'd'", AFP_OK, "");
    client.request_id = 1001; /* what changes nothing is done again */
    expect("FPGetFileDirParms 00 0001 root 0000 0100 02 01 'd'", AFP_OBJECT_NOT_FOUND, "");
    client.request_id = 2000;
    create_file(1, "f");
    client.request_id = 2000 + 128; /* the slot's next user clears it */
    expect("FPFlush 00 0001", AFP_OK, "");
    client.request_id = 2000;
    expect("FPCreateFile 00 0001 root 02 01 'f'", AFP_OBJECT_EXISTS, "");
    peer_close(&client);
}

/* ---- Every request cut at every length ---------------------------------------------------------
 */

static const char *const requests[] = {
    "FPByteRangeLock 00 0001 00000000 00000005",
    "FPCloseVol 00 0002",
    "FPCloseFork 00 0009",
    "FPCopyFile 00 0001 root 0002 root 02 01 'f' 02 00 02 01 'c'",
    "FPCreateDir 00 0001 root 03 08000103 0001 'd'",
    "FPCreateFile 80 0001 root 02 01 'g'",
    "FPDelete 00 0001 root 02 01 'z'",
    "FPEnumerate 00 0001 root 0140 0140 0005 0001 1000 02 00",
    "FPFlush 00 0001",
    "FPFlushFork 00 0001",
    "FPGetForkParms 00 0001 0200",
    "FPGetSrvrInfo 00",
    "FPGetSrvrParms 00",
    "FPGetVolParms 00 0001 0fff",
    "FPLoginCont 00 0001 0203",
    "FPMapID 01 00000001",
    "FPMoveAndRename 00 0001 root root 02 01 'q' 02 00 02 00",
    "FPOpenVol 00 0020 03 'one' 00 0000 0000 0000 0000",
    "FPOpenFork 00 0001 root 0200 0001 02 01 'f'",
    "FPRead 00 0001 00000000 00000005 00 00",
    "FPRename 00 0001 root 02 01 'q' 02 01 'r'",
    "FPSetDirParms 00 0001 root 0004 02 00 11111111",
    "FPSetForkParms 00 0001 0200 00000005",
    "FPGetFileDirParms 00 0001 root ffff bfff 02 00",
    "FPGetFileDirParms 00 0001 root efff bfff 02 01 'f'",
    "FPSetFileDirParms 00 0001 root 803d 02 01 'f' 00 0001 00000001 00000002 00000003 "
    "0000000000000000000000000000000000000000000000000000000000000000 "
    "00000000 00000000 00000000 00000000",
    "FPGetUserInfo 01 00000000 0007",
    "FPGetSrvrMsg 00 0000 0003",
    "FPExchangeFiles 00 0001 root root 02 01 'f' 02 01 'g'",
    "FPOpenDT 00 0001",
    "FPCloseDT 00 0001",
    "FPByteRangeLockExt 80 0001 ffffffffffffffff 0000000000000005",
    "FPReadExt 00 0001 0000000000000000 0000000000000005",
    "FPGetSessionToken 00 0003 root 00000000 'id'",
    "FPEnumerateExt 00 0001 root 2100 2100 0005 0001 1000 02 00",
    "FPEnumerateExt2 00 0001 root 2100 2100 0005 00000001 00001000 03 00000000 0000",
    "FPSyncDir 00 0001 root",
    "FPSyncFork 00 0001",
    "FPZzzzz 00 root",
    "FPLogin 06 'AFP3.4' 0f 'No User Authent'",
    "FPLoginExt 00 0000 06 'AFP3.4' 0f 'No User Authent' 03 0000 03 0000",
    "FPLogout 00",
};

static void prepare_for_cuts(void)
{
    peer_open(&client, "AFP3.4");
    (void)peer_call(&client, "FPCreateFile 00 0001 root 02 01 'f'");
    open_file(1, "f", 1);
}

/* An answer or the end; never a crash, never silence. */
static void every_cut(void **state)
{
    for (size_t i = 0; i < COUNT(requests); i++) {
        uint8_t whole[512];
        size_t size = bytes_of(requests[i], whole, NULL, sizeof whole);
        prepare_for_cuts();
        for (size_t cut = 1; cut <= size; cut++) {
            uint8_t exact[512];
            memcpy(exact, whole, cut);
            peer_send(&client, DSI_COMMAND, 0, exact, cut);
            if (!peer_receive(&client)) {
                peer_close(&client);
                prepare_for_cuts();
            }
        }
        peer_close(&client);
    }
}

/* The same on a session that is not logged in: logins too. */
static void every_cut_before_login(void **state)
{
    static const char *const logins[] = {
        "FPLogin 06 'AFP3.4' 10 'Cleartxt Passwrd' 02 'me' 'pw' 0000 0000 0000",
        ("FPLoginExt 00 0000 06 'AFP3.4' 10 'Cleartxt Passwrd' 03 0002 'me' 03 0000 'pw' 0000 0000 "
         "0000"),
        "FPLoginCont 00 0000 0000",
    };
    for (size_t i = 0; i < COUNT(logins); i++) {
        uint8_t whole[512];
        size_t size = bytes_of(logins[i], whole, NULL, sizeof whole);
        for (size_t cut = 1; cut <= size; cut++) {
            peer_open_session(&client);
            peer_send(&client, DSI_COMMAND, 0, whole, cut);
            assert_true(peer_receive(&client));
            assert_true((dsi_result(&client.header) == 0) == (cut == size && i < 2));
            peer_close(&client);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(open_session),
        TEST(bad_first_frames),
        TEST(status),
        TEST(places),
        TEST(frames_that_end_the_session),
        TEST(frames_that_are_refused),
        TEST(frames_that_are_ignored),
        TEST(strict_frames),
        TEST(pieces_and_heaps),
        TEST(close_session),
        TEST(tickles_and_silence),
        TEST(all_versions),
        TEST(logins_that_work),
        TEST(logins_that_fail),
        TEST(login_ids),
        TEST(bad_proof),
        TEST(offered_methods),
        TEST(small_commands),
        TEST(repeated_requests),
        TEST(every_cut),
        TEST(every_cut_before_login),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
