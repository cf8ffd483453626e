/* Frames as the client's session and the server's inbox see them.
 *
 * Input: cut (fuzz_stream.h), how many requests are outstanding, then the bytes of the peer. */
#include "base/clock.h"
#include "dsi/session.h"
#include "fuzz.h"
#include "fuzz_stream.h"
#include "server/inbox.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REQUESTS 8

/* ---- Encoded again, it is the same ---- */

static void header_is_stable(struct span bytes)
{
    uint8_t again[DSI_HEADER_SIZE];
    if (bytes.size < DSI_HEADER_SIZE) {
        return;
    }
    struct dsi_header header = dsi_header_decode(bytes.data);
    dsi_header_encode(again, &header);
    /* The last four bytes are reserved. */
    fuzz_require(memcmp(again, bytes.data, DSI_HEADER_SIZE - 4) == 0, "another header");
    (void)dsi_result(&header);
    fuzz_require(dsi_command_name(header.command) != NULL, "a command without a name");
}

static void options_are_stable(struct span bytes)
{
    uint8_t again[64];
    struct dsi_options options;
    struct dsi_options reread;
    struct wire in = wire_decoder(bytes.data, bytes.size);
    dsi_options(&in, &options);
    if (!wire_ok(&in)) {
        return;
    }
    struct wire out = wire_encoder(again, sizeof again);
    dsi_options(&out, &options);
    fuzz_require(wire_ok(&out), "options that cannot be encoded");
    in = wire_decoder(again, out.at);
    dsi_options(&in, &reread);
    fuzz_require(wire_ok(&in) && reread.server_quantum == options.server_quantum &&
                     reread.attention_quantum == options.attention_quantum &&
                     reread.replay_cache_size == options.replay_cache_size,
                 "other options");
}

/* ---- The client ---- */

static const struct {
    enum dsi_command command;
    size_t block_size, payload_size;
    size_t capacity; /* of the reply's buffer; 0: none */
    bool patient;
} kinds[] = {
    {DSI_COMMAND, 10, 0, 16, false},    {DSI_WRITE, 20, 100, 8, false},
    {DSI_COMMAND, 2, 0, 0, false},      {DSI_GET_STATUS, 0, 0, 64, true},
    {DSI_OPEN_SESSION, 6, 0, 1, false},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static void submit_and_reap(struct dsi_session *session, size_t count)
{
    static const uint8_t block[128] = {61};
    uint8_t *replies[REQUESTS] = {NULL};
    struct error error = {0};
    bool ok = dsi_reserve(session, REQUESTS, &error);
    size_t outstanding = 0;
    for (size_t i = 0; i < count && ok; i++) {
        size_t capacity = kinds[i % KINDS].capacity;
        replies[i] = capacity > 0 ? malloc(capacity) : NULL;
        struct dsi_request request = {.command = kinds[i % KINDS].command,
                                      .block = {block, kinds[i % KINDS].block_size},
                                      .payload = {block, kinds[i % KINDS].payload_size},
                                      .reply = replies[i],
                                      .reply_capacity = capacity,
                                      .patient = kinds[i % KINDS].patient,
                                      .tag = i};
        ok = dsi_submit(session, &request, &error);
        outstanding += ok;
    }
    while (ok && outstanding > 0) {
        struct dsi_reply reply;
        ok = dsi_reap(session, &reply, &error);
        outstanding -= ok;
        fuzz_require(!ok || reply.tag < count, "a reply to nothing");
    }
    fuzz_require_error(ok, &error);
    if (dsi_alive(session)) {
        best_effort(dsi_settle(session, UINT64_MAX, &error));
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        free(replies[i]);
    }
}

static void client_sees(uint8_t cut, size_t count, struct span bytes)
{
    struct interrupt interrupt = {.fd = -1};
    struct dsi_config config = {
        .host = "fuzz", .port = 548, .timeout_ns = NS_PER_S, .interrupt = &interrupt};
    struct dsi_session *session;
    struct error error;
    fuzz_stream_begin(cut, NULL, NULL);
    fuzz_stream_feed(bytes);
    fuzz_require(dsi_connect(&session, &config, &error), "no connection");
    submit_and_reap(session, count);
    dsi_close(session);
}

/* As the first exchange on a connection: it reads the options, or the description. */
static void opening_client_sees(uint8_t cut, struct span bytes)
{
    struct interrupt interrupt = {.fd = -1};
    struct dsi_config config = {
        .host = "fuzz", .port = 548, .timeout_ns = NS_PER_S, .interrupt = &interrupt};
    struct dsi_session *session;
    struct error error = {0};
    uint32_t quantum = 0;
    fuzz_stream_begin(cut, NULL, NULL);
    fuzz_stream_feed(bytes);
    fuzz_require(dsi_connect(&session, &config, &error), "no connection");
    bool ok = dsi_open(session, &quantum, &error);
    fuzz_require_error(ok, &error);
    fuzz_require(!ok || quantum > 0, "a quantum of 0 bytes");
    dsi_close(session);
}

/* ---- The server's inbox ---- */

static bool patience(void *context, uint64_t silent_ns, struct error *error)
{
    return true;
}

/* One frame, taken as a server would: the block whole, a write's data into a file. */
static bool take_frame(struct inbox *inbox, int file, struct error *error)
{
    struct dsi_header header;
    if (!inbox_header(inbox, &header, error)) {
        return false;
    }
    fuzz_require(inbox->frame_left == header.length, "the frame has another length");
    struct span block = {0};
    size_t size = header.command == DSI_WRITE ? header.offset_or_result : header.length;
    if (!inbox_block(inbox, size, &block, error)) {
        return error->domain == ERROR_PROTOCOL && inbox_finish(inbox, error);
    }
    fuzz_require(block.size == size, "a block of another size");
    uint32_t sum = 0;
    for (size_t i = 0; i < block.size; i++) {
        sum += block.data[i];
    }
    uint64_t moved;
    int file_error;
    uint64_t data = inbox->frame_left / 2 + sum % 2;
    data = data < inbox->frame_left ? data : inbox->frame_left;
    return inbox_to_file(inbox, file, sum % 5000, data, &moved, &file_error, error) &&
           inbox_finish(inbox, error);
}

static void inbox_sees(uint8_t cut, struct span bytes)
{
    struct inbox inbox;
    struct error error = {0};
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    fuzz_require(file >= 0, "no file for the fuzz target itself");
    fuzz_stream_begin(cut, NULL, NULL);
    fuzz_stream_feed(bytes);
    fuzz_require(inbox_open(&inbox, FUZZ_SOCKET, NS_PER_S, patience, NULL, &error), "no inbox");
    while (take_frame(&inbox, file, &error)) {
    }
    fuzz_require_error(false, &error);
    inbox_close(&inbox);
    close(file);
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    struct wire input = wire_decoder(bytes, size);
    uint8_t cut = fuzz_u8(&input);
    size_t count = fuzz_u8(&input) % (REQUESTS + 1);
    struct span rest = fuzz_rest(&input);
    header_is_stable(rest);
    options_are_stable(rest);
    client_sees(cut, count, rest);
    opening_client_sees(cut, rest);
    inbox_sees(cut, rest);
    fuzz_stream_end();
    fuzz_release(rest);
}
