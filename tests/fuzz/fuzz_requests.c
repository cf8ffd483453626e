/* A client's bytes in the reference server, before and after a login, over stores in memory.
 *
 * Input: cut (fuzz_stream.h), then how the session starts (enum start in the low bits; RAW: the
 * rest are the client's bytes as they are, else requests that get their frames here: a byte that
 * chooses the frame, a length of 16 bits, the block). */
#include "afp/message.h"
#include "fuzz.h"
#include "fuzz_stream.h"
#include "server/session.h"

#include <string.h>

enum start {
    START_CONNECTED,
    START_OPENED,
    START_OLD_GUEST, /* AFP 2.1, with the volumes and a file open */
    START_GUEST,     /* AFP 3.4, as above */
    START_USER,      /* AFP 3.4, as above */
    START_COUNT
};

#define RAW (1 << 3)

/* Little enough that no copy or read of it takes long. */
#define VOLUME_BYTES ((uint64_t)256 * 1024)

static uint16_t next_id;

/* ---- Requests of a client that does as it should ---- */

static void feed_request(struct wire *block)
{
    fuzz_require(wire_ok(block), "a request that cannot be encoded");
    fuzz_stream_feed_frame(DSI_REQUEST, DSI_COMMAND, next_id++, 0,
                           (struct span){block->out, block->at});
}

static void feed_login(const char *version, const struct uam *uam)
{
    uint8_t bytes[256];
    struct wire block = wire_encoder(bytes, sizeof bytes);
    bool user = uam->needs_password;
    struct afp_login_request login = {.version = span_from_string(version),
                                      .uam = span_from_string(uam->name),
                                      .user = span_from_string(user ? "me" : ""),
                                      .auth = {(const uint8_t *)"secretpw", user ? 8 : 0}};
    afp_login_request(&block, &login);
    feed_request(&block);
}

/* Volumes 1 and 2; on the first a file with ID 17, and its fork with reference 1. */
static void feed_opening(bool utf8)
{
    static const char *const names[] = {"one", "two"};
    uint8_t bytes[256];
    struct wire block;
    for (size_t i = 0; i < 2; i++) {
        struct afp_open_volume_request volume = {.bitmap = AFP_VOLUME_ID,
                                                 .name = span_from_string(names[i])};
        block = wire_encoder(bytes, sizeof bytes);
        afp_open_volume_request(&block, &volume);
        feed_request(&block);
    }
    struct afp_path path = {.type = utf8 ? AFP_PATH_UTF8 : AFP_PATH_LONG,
                            .hint = AFP_TEXT_HINT_UTF8,
                            .name = span_from_string("f")};
    struct afp_node_request file = {.volume = 1, .directory = AFP_ROOT_ID, .path = path};
    block = wire_encoder(bytes, sizeof bytes);
    afp_node_request(&block, AFP_CREATE_FILE, &file);
    feed_request(&block);
    struct afp_open_fork_request fork = {.volume = 1,
                                         .directory = AFP_ROOT_ID,
                                         .access = AFP_ACCESS_READ | AFP_ACCESS_WRITE,
                                         .path = path};
    block = wire_encoder(bytes, sizeof bytes);
    afp_open_fork_request(&block, &fork);
    feed_request(&block);
}

static void feed_start(enum start start)
{
    if (start >= START_OPENED) {
        fuzz_stream_feed_frame(DSI_REQUEST, DSI_OPEN_SESSION, next_id++, 0, (struct span){0});
    }
    if (start >= START_OLD_GUEST) {
        bool old = start == START_OLD_GUEST;
        feed_login(old ? "AFPVersion 2.1" : "AFP3.4",
                   start == START_USER ? &uam_cleartext : &uam_guest);
        feed_opening(!old);
    }
}

/* ---- Requests of the input ---- */

static void feed_framed(struct wire *input)
{
    static const uint32_t block_sizes[] = {AFP_WRITE_BLOCK_SIZE, AFP_WRITE_EXT_BLOCK_SIZE};
    while (wire_ok(input) && wire_left(input) > 0) {
        uint8_t kind = fuzz_u8(input);
        struct span block = fuzz_bytes(input, fuzz_u16(input));
        bool write = (kind & 1) != 0;
        bool repeated = (kind & 2) != 0;
        next_id = (uint16_t)(next_id + !repeated);
        fuzz_stream_feed_frame(DSI_REQUEST, write ? DSI_WRITE : DSI_COMMAND, next_id,
                               write ? block_sizes[kind >> 2 & 1] : 0, block);
        fuzz_release(block);
    }
}

static void serve(const struct server_config *config)
{
    struct service service;
    struct error error;
    fuzz_require(service_open(&service, config, &error), "no service");
    session_serve(&service, FUZZ_SOCKET);
    fuzz_require(service.sessions == 0, "the session kept its place");
    service_close(&service);
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    static const struct server_volume volumes[] = {
        {.name = "one", .store = "memory", .limit_bytes = VOLUME_BYTES},
        {.name = "two", .store = "memory", .limit_bytes = VOLUME_BYTES},
    };
    static const struct server_user users[] = {{"me", "secretpw"}};
    struct wire input = wire_decoder(bytes, size);
    uint8_t cut = fuzz_u8(&input);
    uint8_t way = fuzz_u8(&input);
    struct server_config config = {.volumes = volumes,
                                   .volume_count = 2,
                                   .users = users,
                                   .user_count = 1,
                                   .allow_guest = true,
                                   .quantum = SERVER_DEFAULT_QUANTUM,
                                   .session_limit = 2,
                                   .fork_limit = 100,
                                   .server_name = "fuzz",
                                   .machine_type = "fuzz"};
    next_id = 1;
    fuzz_stream_begin(cut, NULL, NULL);
    feed_start((enum start)(way % RAW % START_COUNT));
    if (way & RAW) {
        struct span rest = fuzz_rest(&input);
        fuzz_stream_feed(rest);
        fuzz_release(rest);
    } else {
        feed_framed(&input);
    }
    serve(&config);
    fuzz_stream_end();
}
