#include "server_fixture.h"
#include "base/clock.h"
#include "base/stream.h"
#include "loopback.h"
#include "server/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture fixture;
struct peer client, other;

void fixture_prepare(const void *store)
{
    fixture = (struct fixture){
        .volumes = {{.name = "one", .store = store}, {.name = "two", .store = store}},
        .users = {{"me", "pw"}},
        .config = server_config_default(),
    };
    fixture.config.volumes = fixture.volumes;
    fixture.config.volume_count = 2;
    fixture.config.users = fixture.users;
    fixture.config.user_count = 1;
    for (size_t i = 0; i < 2 && strcmp(store, "directory") == 0; i++) {
        scratch_make(fixture.directories[i]);
        fixture.volumes[i].path = fixture.directories[i];
    }
}

void fixture_open(void)
{
    struct error error;
    if (!service_open(&fixture.service, &fixture.config, &error)) {
        fail_msg("%s", error.message);
    }
}

void fixture_close(void)
{
    service_close(&fixture.service);
    scratch_remove(fixture.directories[0]);
    scratch_remove(fixture.directories[1]);
}

static void *serve(void *argument)
{
    struct peer *peer = argument;
    session_serve(&fixture.service, peer->served);
    return NULL;
}

void peer_connect(struct peer *peer)
{
    struct error error;
    loopback_pair(&peer->socket, &peer->served);
    assert_true(stream_prepare_tcp(peer->socket, &error));
    assert_true(stream_prepare_tcp(peer->served, &error));
    struct timeval limit = {.tv_sec = 20};
    setsockopt(peer->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    peer->request_id = 1;
    assert_int_equal(pthread_create(&peer->thread, NULL, serve, peer), 0);
}

void peer_open_session(struct peer *peer)
{
    peer_connect(peer);
    peer_send(peer, DSI_OPEN_SESSION, 0, NULL, 0);
    assert_true(peer_receive(peer));
    assert_int_equal(peer->header.command, DSI_OPEN_SESSION);
}

void peer_login(struct peer *peer, const char *version)
{
    char request[100];
    peer_open_session(peer);
    assert_int_equal(dsi_result(&peer->header), 0);
    snprintf(request, sizeof request, "FPLogin %02zx '%s' 0f 'No User Authent'", strlen(version),
             version);
    expect_from(peer, request, AFP_OK, "");
}

void peer_open(struct peer *peer, const char *version)
{
    peer_login(peer, version);
    expect_from(peer, "FPOpenVol 00 0020 03 'one'", AFP_OK, "0020 0001");
    expect_from(peer, "FPOpenVol 00 0020 03 'two'", AFP_OK, "0020 0002");
}

void peer_close(struct peer *peer)
{
    close(peer->socket);
    pthread_join(peer->thread, NULL);
    close(peer->served);
}

void fixture_run(void)
{
    fixture_open();
    peer_open(&client, "AFP3.4");
}

void fixture_start(const void *store, const char *version)
{
    fixture_prepare(store);
    fixture_open();
    peer_open(&client, version);
}

void fixture_stop(void)
{
    peer_close(&client);
    fixture_close();
}

int setup_client(void **state)
{
    fixture_start(*state, "AFP3.4");
    return 0;
}

int teardown_client(void **state)
{
    (void)state;
    fixture_stop();
    return 0;
}

/* The byte of the command whose name stands here, and what follows the name. */
static const char *command_of(const char *text, uint8_t *byte)
{
    size_t size = strcspn(text, " ");
    for (unsigned code = 0; code <= UINT8_MAX; code++) {
        const struct afp_command_entry *entry = afp_command_entry((uint8_t)code);
        if (entry != NULL && strlen(entry->name) == size && memcmp(entry->name, text, size) == 0) {
            *byte = (uint8_t)code;
            return text + size;
        }
    }
    fail_msg("no command: %s", text);
    return NULL;
}

size_t bytes_of(const char *text, uint8_t *bytes, bool *wild, size_t limit)
{
    size_t size = 0;
    while (*text != '\0') {
        assert_true(size < limit);
        if (*text == ' ') {
            text++;
        } else if (*text == '\'') {
            for (text++; *text != '\''; text++) {
                assert_true(*text != '\0' && size < limit);
                bytes[size++] = (uint8_t)*text;
            }
            text++;
        } else if (strncmp(text, "FP", 2) == 0) {
            text = command_of(text, &bytes[size++]);
        } else if (strncmp(text, "root", 4) == 0) {
            assert_true(size + 4 <= limit);
            memcpy(bytes + size, "\0\0\0\2", 4);
            size += 4;
            text += 4;
        } else {
            unsigned value = 0;
            bool any = text[0] == '?' && text[1] == '?';
            if (!any && sscanf(text, "%2x", &value) != 1) {
                fail_msg("not hexadecimal: %s", text);
            }
            if (wild != NULL) {
                wild[size] = any;
            }
            bytes[size++] = (uint8_t)value;
            text += 2;
        }
    }
    return size;
}

void peer_send(struct peer *peer, uint8_t command, uint32_t write_offset, const void *payload,
               size_t size)
{
    uint8_t bytes[DSI_HEADER_SIZE];
    struct dsi_header header = {
        .command = command,
        .request_id = peer->request_id++,
        .offset_or_result = write_offset,
        .length = (uint32_t)size,
    };
    struct iovec pieces[2] = {{bytes, sizeof bytes}, {(void *)payload, size}};
    struct error ignored; /* a server that closed is seen when receiving */
    dsi_header_encode(bytes, &header);
    best_effort(stream_send_all(peer->socket, pieces, 2, false, &ignored));
}

bool peer_receive(struct peer *peer)
{
    uint8_t bytes[DSI_HEADER_SIZE];
    struct error error;
    if (!stream_receive_all(peer->socket, bytes, sizeof bytes, &error)) {
        bool ended = error.domain == ERROR_CLOSED || error.code == ECONNRESET;
        if (!ended) {
            fail_msg("no reply: %s", error.message);
        }
        return false;
    }
    peer->header = dsi_header_decode(bytes);
    assert_true(peer->header.length <= sizeof peer->payload);
    assert_true(stream_receive_all(peer->socket, peer->payload, peer->header.length, &error));
    return true;
}

void expect_end(struct peer *peer)
{
    assert_false(peer_receive(peer));
}

void expect_closed(void)
{
    expect_end(&client);
    peer_close(&client);
}

void fill(uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)(i * 2654435761U >> 24);
    }
}

int32_t peer_call(struct peer *peer, const char *request)
{
    uint8_t bytes[4096];
    size_t size = bytes_of(request, bytes, NULL, sizeof bytes);
    uint16_t id = peer->request_id;
    peer_send(peer, DSI_COMMAND, 0, bytes, size);
    if (!peer_receive(peer)) {
        fail_msg("closed instead of a reply to %s", request);
    }
    assert_int_equal(peer->header.flags, DSI_REPLY);
    assert_int_equal(peer->header.command, DSI_COMMAND);
    assert_int_equal(peer->header.request_id, id);
    return dsi_result(&peer->header);
}

static void expect_payload_of(const struct peer *peer, const char *reply)
{
    uint8_t bytes[4096];
    bool wild[4096] = {false};
    size_t size = bytes_of(reply, bytes, wild, sizeof bytes);
    bool same = size == peer->header.length;
    for (size_t i = 0; same && i < size; i++) {
        same = wild[i] || bytes[i] == peer->payload[i];
    }
    if (!same) {
        char text[600] = "";
        for (size_t i = 0; i < peer->header.length && i < 200; i++) {
            snprintf(text + i * 2, 3, "%02x", peer->payload[i]);
        }
        fail_msg("wanted %s, got %u bytes: %s", reply, peer->header.length, text);
    }
}

void expect_payload(const char *reply)
{
    expect_payload_of(&client, reply);
}

static void expect_result(const char *request, int32_t got, int32_t wanted)
{
    if (got != wanted) {
        fail_msg("%s: wanted %d, got %d", request, wanted, got);
    }
}

void expect_from(struct peer *peer, const char *request, int32_t result, const char *reply)
{
    expect_result(request, peer_call(peer, request), result);
    if (reply != NULL) {
        expect_payload_of(peer, reply);
    }
}

void expect(const char *request, int32_t result, const char *reply)
{
    expect_from(&client, request, result, reply);
}

int32_t peer_write(struct peer *peer, const char *block, const void *data, size_t size)
{
    static uint8_t bytes[PEER_LIMIT];
    size_t block_size = bytes_of(block, bytes, NULL, 64);
    assert_true(block_size + size <= sizeof bytes);
    if (size > 0) {
        memcpy(bytes + block_size, data, size);
    }
    peer_send(peer, DSI_WRITE, (uint32_t)block_size, bytes, block_size + size);
    if (!peer_receive(peer)) {
        fail_msg("closed instead of a reply to %s", block);
    }
    assert_int_equal(peer->header.command, DSI_WRITE);
    return dsi_result(&peer->header);
}

void expect_write(const char *block, const void *data, size_t size, int32_t result,
                  const char *reply)
{
    expect_result(block, peer_write(&client, block, data, size), result);
    if (reply != NULL) {
        expect_payload(reply);
    }
}

void create_file(unsigned volume, const char *name)
{
    char request[300];
    snprintf(request, sizeof request, "FPCreateFile 00 %04x root 02 %02zx '%s'", volume,
             strlen(name), name);
    expect(request, AFP_OK, "");
}

void open_file(unsigned volume, const char *name, unsigned reference)
{
    char request[300], reply[20];
    snprintf(request, sizeof request, "FPOpenFork 00 %04x root 0000 0003 02 %02zx '%s'", volume,
             strlen(name), name);
    snprintf(reply, sizeof reply, "0000 %04x", reference);
    expect(request, AFP_OK, reply);
}

void create_and_open(unsigned volume, const char *name, unsigned reference)
{
    create_file(volume, name);
    open_file(volume, name, reference);
}

void create_directory(unsigned volume, const char *name, unsigned id)
{
    char request[300], reply[20];
    snprintf(request, sizeof request, "FPCreateDir 00 %04x root 02 %02zx '%s'", volume,
             strlen(name), name);
    snprintf(reply, sizeof reply, "%08x", id);
    expect(request, AFP_OK, reply);
}

void close_fork(unsigned reference)
{
    char request[40];
    snprintf(request, sizeof request, "FPCloseFork 00 %04x", reference);
    expect(request, AFP_OK, "");
}
