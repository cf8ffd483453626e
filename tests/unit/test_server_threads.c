/* Many sessions at once on the same files, and the server's life: start, serve, stop. Worth most
 * when run under ThreadSanitizer. */
#include "base/stream.h"
#include "server_fixture.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 8
#define ROUNDS  60

static struct peer peers[CLIENTS];

/* Whatever the others do meanwhile: an answer to each request, and a correct one. Results depend on
 * the others, so only the frames are checked. A failed assertion here ends the program. */
static void *disturb(void *argument)
{
    static const char *const requests[] = {
        "FPCreateFile 00 0001 root 02 01 'f'",
        "FPOpenFork 00 0001 root 0200 0003 02 01 'f'",
        "FPReadExt 00 0001 0000000000000000 0000000000008000",
        "FPSetForkParms 00 0001 0200 00004000",
        "FPReadExt 00 0001 0000000000000000 0000000000008000",
        "FPEnumerateExt2 00 0001 root 2340 2340 0064 00000001 00001000 02 00",
        "FPCreateDir 00 0001 root 02 01 'd'",
        "FPCopyFile 00 0001 root 0002 root 02 01 'f' 02 00 02 00",
        "FPCopyFile 00 0002 root 0001 root 02 01 'f' 02 00 02 01 'g'",
        "FPExchangeFiles 00 0001 root root 02 01 'f' 02 01 'g'",
        "FPByteRangeLockExt 00 0001 0000000000000000 000000000000000a",
        "FPGetForkParms 00 0001 0a09",
        "FPCloseFork 00 0001",
        "FPCreateFile 80 0001 root 02 01 'f'",
        "FPMoveAndRename 00 0001 root root 02 01 'g' 02 01 'd' 02 01 'h'",
        "FPDelete 00 0001 root 02 03 'd' 00 'h'",
        "FPDelete 00 0001 root 02 01 'g'",
        "FPDelete 00 0001 root 02 01 'd'",
        "FPDelete 00 0002 root 02 01 'f'",
        "FPGetVolParms 00 0001 0fff",
    };
    struct peer *peer = argument;
    static const uint8_t data[40000];
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < COUNT(requests); i++) {
            uint8_t bytes[200];
            size_t size = bytes_of(requests[i], bytes, NULL, sizeof bytes);
            peer_send(peer, DSI_COMMAND, 0, bytes, size);
            assert_true(peer_receive(peer));
            if (i % 4 == 1) {
                uint8_t write[20 + sizeof data] = {AFP_WRITE_EXT, 0, 0, 1};
                peer_send(peer, DSI_WRITE, 20, write, sizeof write);
                assert_true(peer_receive(peer));
            }
        }
    }
    return NULL;
}

static void expect_all_closed(void)
{
    for (size_t i = 0; i < VOLUME_FORK_CHAINS; i++) {
        assert_null(fixture.service.volumes[0].open_forks[i]);
        assert_null(fixture.service.volumes[1].open_forks[i]);
    }
}

static void many_sessions(void **state)
{
    pthread_t threads[CLIENTS];
    fixture_prepare(*state);
    fixture.volumes[0].limit_bytes = 10000000;
    fixture_open();
    for (size_t i = 0; i < CLIENTS; i++) {
        peer_open(&peers[i], "AFP3.4");
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, disturb, &peers[i]), 0);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        peer_close(&peers[i]);
    }
    expect_all_closed();
    assert_int_equal(fixture.service.sessions, 0);
    /* All space is accounted for: with the last file gone, the volume is empty. */
    peer_open(&peers[0], "AFP3.4");
    (void)peer_call(&peers[0], "FPDelete 00 0001 root 02 01 'f'");
    (void)peer_call(&peers[0], "FPDelete 00 0001 root 02 01 'g'");
    (void)peer_call(&peers[0], "FPDelete 00 0001 root 02 03 'd' 00 'h'");
    expect_from(&peers[0], "FPGetVolParms 00 0001 0200", AFP_OK, "0200 0000000000989680");
    peer_close(&peers[0]);
    fixture_close();
}

/* Sessions and programs beside the server in the same directory. */
static atomic_bool meddling;

static void *meddle(void *ignored)
{
    static const char *const names[] = {"f", "g", "d", "h"};
    int at = open(fixture.directories[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; atomic_load(&meddling); i++) {
        (void)renameat(at, names[i % 4], at, names[i / 4 % 4]);
        (void)unlinkat(at, names[i / 16 % 4], 0);
        int file = openat(at, names[i / 64 % 4], O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (file >= 0) {
            (void)!ftruncate(file, i % 50000);
            close(file);
        }
    }
    close(at);
    return NULL;
}

static void others_in_the_directory(void **state)
{
    pthread_t threads[CLIENTS], meddler;
    fixture_prepare("directory");
    fixture.volumes[0].limit_bytes = 10000000;
    fixture_open();
    atomic_store(&meddling, true);
    assert_int_equal(pthread_create(&meddler, NULL, meddle, NULL), 0);
    for (size_t i = 0; i < CLIENTS; i++) {
        peer_open(&peers[i], "AFP3.4");
        assert_int_equal(pthread_create(&threads[i], NULL, disturb, &peers[i]), 0);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        peer_close(&peers[i]);
    }
    atomic_store(&meddling, false);
    pthread_join(meddler, NULL);
    expect_all_closed();
    fixture_close();
}

/* Somebody cuts a fork while it is sent: the reader gets all bytes that were announced. */
static void *cut_and_grow(void *argument)
{
    struct peer *peer = argument;
    for (unsigned i = 0; i < 300; i++) {
        expect_from(peer, "FPSetForkParms 00 0001 0200 00000000", AFP_OK, "");
        expect_from(peer, "FPSetForkParms 00 0001 0200 00030000", AFP_OK, "");
    }
    return NULL;
}

static void cut_while_reading(void **state)
{
    pthread_t thread;
    fixture_prepare(*state);
    fixture_open();
    peer_open(&peers[0], "AFP3.4");
    peer_open(&peers[1], "AFP3.4");
    expect_from(&peers[0], "FPCreateFile 00 0001 root 02 01 'f'", AFP_OK, "");
    expect_from(&peers[0], "FPOpenFork 00 0001 root 0000 0003 02 01 'f'", AFP_OK, "0000 0001");
    expect_from(&peers[1], "FPOpenFork 00 0001 root 0000 0003 02 01 'f'", AFP_OK, "0000 0001");
    assert_int_equal(pthread_create(&thread, NULL, cut_and_grow, &peers[1]), 0);
    for (unsigned i = 0; i < 300; i++) {
        int32_t result =
            peer_call(&peers[0], "FPReadExt 00 0001 0000000000000000 0000000000030000");
        assert_true(result == AFP_OK ? peers[0].header.length == 0x30000 : result == AFP_EOF);
    }
    pthread_join(thread, NULL);
    peer_close(&peers[0]);
    peer_close(&peers[1]);
    fixture_close();
}

/* ---- The server as a whole ---------------------------------------------------------------------
 */

static void *run_server(void *server)
{
    struct error error;
    return server_run(server, &error) ? server : NULL;
}

static int dial(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void start_and_stop(void **state)
{
    struct server *server;
    struct error error;
    pthread_t thread;
    void *ran;
    fixture_prepare("memory");
    fixture.config.port = 0;
    assert_true(server_start(&server, &fixture.config, &error));
    assert_int_equal(pthread_create(&thread, NULL, run_server, server), 0);
    for (size_t i = 0; i < 20; i++) { /* some leave, some stay */
        struct peer *peer = &peers[i % CLIENTS];
        *peer = (struct peer){.socket = dial(server_port(server))};
        peer_send(peer, DSI_OPEN_SESSION, 0, NULL, 0);
        assert_true(peer_receive(peer));
        if (i < 20 - CLIENTS) {
            close(peer->socket);
        }
    }
    server_stop(server);
    pthread_join(thread, &ran);
    assert_ptr_equal(ran, server);
    for (size_t i = 0; i < CLIENTS; i++) {
        expect_end(&peers[i]);
        close(peers[i].socket);
    }
    server_free(server);
}

#define CROWD 200

/* The result of OpenSession on a new connection. */
static int32_t try_session(struct peer *peer, uint16_t port)
{
    *peer = (struct peer){.socket = dial(port)};
    peer_send(peer, DSI_OPEN_SESSION, 0, NULL, 0);
    assert_true(peer_receive(peer));
    return dsi_result(&peer->header);
}

static void *log_in_and_write(void *argument)
{
    static const char data[1000];
    struct peer *peer = argument;
    char create[60], open[60];
    unsigned number = peer->request_id;
    snprintf(create, sizeof create, "FPCreateFile 00 0001 root 02 03 '%03u'", number % 1000);
    snprintf(open, sizeof open, "FPOpenFork 00 0001 root 0000 0003 02 03 '%03u'", number % 1000);
    expect_from(peer, "FPLogin 06 'AFP3.4' 0f 'No User Authent'", AFP_OK, "");
    expect_from(peer, "FPOpenVol 00 0020 03 'one'", AFP_OK, "0020 0001");
    expect_from(peer, create, AFP_OK, "");
    expect_from(peer, open, AFP_OK, "0000 0001");
    uint8_t write[20 + sizeof data] = {AFP_WRITE_EXT, 0, 0, 1};
    for (unsigned i = 0; i < 10; i++) {
        peer_send(peer, DSI_WRITE, 20, write, sizeof write);
        assert_true(peer_receive(peer));
        assert_int_equal(dsi_result(&peer->header), AFP_OK);
        expect_from(peer, "FPReadExt 00 0001 0000000000000000 0000000000000010", AFP_OK, NULL);
    }
    return NULL;
}

/* As many as the limit, all at work; one more is refused; whoever goes, however, makes room. */
static void a_crowd_up_to_the_limit(void **state)
{
    static struct peer crowd[CROWD], late;
    pthread_t threads[CROWD], runner;
    struct server *server;
    struct error error;
    struct linger abruptly = {.l_onoff = 1};
    fixture_prepare("memory");
    fixture.config.port = 0;
    fixture.config.session_limit = CROWD;
    assert_true(server_start(&server, &fixture.config, &error));
    uint16_t port = server_port(server);
    assert_int_equal(pthread_create(&runner, NULL, run_server, server), 0);
    for (unsigned i = 0; i < CROWD; i++) {
        assert_int_equal(try_session(&crowd[i], port), DSI_OK);
        crowd[i].request_id = (uint16_t)(i + 1); /* also its number */
    }
    assert_int_equal(try_session(&late, port), DSI_NO_MORE_SESSIONS);
    expect_end(&late);
    close(late.socket);
    for (unsigned i = 0; i < CROWD; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, log_in_and_write, &crowd[i]), 0);
    }
    for (unsigned i = 0; i < CROWD; i++) {
        pthread_join(threads[i], NULL);
    }
    setsockopt(crowd[7].socket, SOL_SOCKET, SO_LINGER, &abruptly, sizeof abruptly);
    close(crowd[7].socket);
    int32_t result = DSI_NO_MORE_SESSIONS;
    for (unsigned i = 0; i < 500 && result != DSI_OK; i++) {
        result = try_session(&late, port);
        if (result != DSI_OK) {
            close(late.socket);
            usleep(10000);
        }
    }
    assert_int_equal(result, DSI_OK);
    server_stop(server);
    pthread_join(runner, NULL);
    for (unsigned i = 0; i < CROWD; i++) {
        if (i != 7) {
            close(crowd[i].socket);
        }
    }
    close(late.socket);
    server_free(server);
}

static void configurations_that_are_refused(void **state)
{
    struct server *server;
    struct error error;
    fixture_prepare("memory");
    fixture.config.port = 0;
    fixture.volumes[1].name = "one";
    assert_false(server_start(&server, &fixture.config, &error));
    static const char *const names[][2] = {{"Gr\u00F6\u00DFe", "Gro\u0308\u00DFe"}, /* one name */
                                           {"one", "\xFF"},
                                           {"one", ""}};
    for (size_t i = 0; i < 3; i++) {
        fixture.volumes[0].name = names[i][0];
        fixture.volumes[1].name = names[i][1];
        assert_false(server_start(&server, &fixture.config, &error));
        assert_int_equal(error.domain, ERROR_USAGE);
    }
    fixture.volumes[0].name = "one";
    fixture.volumes[1].name = "two";
    fixture.volumes[1].password = "ninebytes";
    assert_false(server_start(&server, &fixture.config, &error));
    assert_non_null(strstr(error.message, "1 to 8 bytes"));
    fixture.volumes[1].password = "";
    assert_false(server_start(&server, &fixture.config, &error));
    fixture.volumes[1].password = NULL;
    fixture.volumes[1].name = "two";
    fixture.volumes[1].store = "tape";
    assert_false(server_start(&server, &fixture.config, &error));
    assert_int_equal(error.domain, ERROR_USAGE);
    fixture.volumes[1].store = "directory";
    assert_false(server_start(&server, &fixture.config, &error));
    assert_non_null(strstr(error.message, "wants a path"));
    fixture.volumes[1].path = "/nowhere";
    assert_false(server_start(&server, &fixture.config, &error));
    assert_int_equal(error.domain, ERROR_SYSTEM);
    assert_non_null(strstr(error.message, "/nowhere"));
    fixture.volumes[1].store = "null";
    assert_false(server_start(&server, &fixture.config, &error));
    assert_int_equal(error.domain, ERROR_USAGE);
    fixture.volumes[1].path = NULL;
    const char *address = "192.0.2.1"; /* nobody's */
    fixture.config.listen_addresses = &address;
    assert_false(server_start(&server, &fixture.config, &error));
    assert_int_equal(error.domain, ERROR_SYSTEM);
    assert_non_null(strstr(error.message, "192.0.2.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH_STORES(NULL, NULL, many_sessions),
        {"many_sessions (null)", many_sessions, NULL, NULL, "null"},
        cmocka_unit_test(others_in_the_directory),
        ON_BOTH_STORES(NULL, NULL, cut_while_reading),
        cmocka_unit_test(start_and_stop),
        cmocka_unit_test(a_crowd_up_to_the_limit),
        cmocka_unit_test(configurations_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
