/* A server's answers in the client: description, session, login, volumes, files, reads, writes, a
 * copy, leftovers, clean-up.
 *
 * Input: cut (fuzz_stream.h), AFP version, login method; then one answer for each request of the
 * client: a byte that chooses its kind, a length of 16 bits, the payload. The frame, with the ID of
 * the request, is made here. */
#include "afp/client.h"
#include "base/clock.h"
#include "fuzz.h"
#include "fuzz_stream.h"
#include "target/afp_target.h"
#include "target/workname.h"
#include "uam/uam.h"

#include <string.h>

#define CHUNK ((size_t)16)
#define DEPTH 4

/* In the place of a login method; others count from the end of the table, where guests are. */
#define AUTO UINT8_MAX

/* ---- The server ---- */

struct server {
    struct wire *input;
    uint8_t header_bytes[DSI_HEADER_SIZE];
    size_t have;   /* of the header */
    uint64_t skip; /* bytes of the request that are still to come */
};

/* Results that a client looks at more closely than at others. */
static const int32_t results[] = {
    AFP_OK,          AFP_AUTH_CONTINUE,      AFP_EOF,           AFP_OBJECT_NOT_FOUND,
    AFP_BAD_VERSION, AFP_FILE_BUSY,          AFP_DISK_FULL,     AFP_DIRECTORY_NOT_FOUND,
    AFP_MISC_ERROR,  AFP_CALL_NOT_SUPPORTED, AFP_ACCESS_DENIED, DSI_SERVER_BUSY,
};

#define RESULTS (sizeof results / sizeof results[0])

enum {
    ANSWER_RESULT = 0x0F, /* index of the result */
    ANSWER_TICKLE = 0x10, /* a tickle before it */
    ANSWER_ATTENTION = 0x20,
    ANSWER_UNFRAMED = 0x40, /* the bytes as they are, instead of a frame */
    ANSWER_CLOSE = 0x80,
};

/* The names of our own leftovers begin with a mark of the host, for which inputs have this. */
static void put_mark(struct span payload)
{
    static const char placeholder[] = "########";
    char name[WORKNAME_LENGTH];
    workname_make(name);
    uint8_t *at = payload.size > 0 ? memmem(payload.data, payload.size, placeholder, 8) : NULL;
    if (at != NULL) {
        memcpy(at, strchr(name, '-') + 1, 8);
    }
}

static void answer(struct server *server)
{
    struct dsi_header header = dsi_header_decode(server->header_bytes);
    server->have = 0;
    server->skip = header.length;
    if (header.flags != DSI_REQUEST || header.command == DSI_TICKLE ||
        header.command == DSI_CLOSE_SESSION || wire_left(server->input) == 0) {
        return; /* at the end of the answers the stream ends */
    }
    uint8_t kind = fuzz_u8(server->input);
    struct span payload = fuzz_bytes(server->input, fuzz_u16(server->input));
    put_mark(payload);
    if (kind & ANSWER_TICKLE) {
        fuzz_stream_feed_frame(DSI_REQUEST, DSI_TICKLE, 7, 0, (struct span){0});
    }
    if (kind & ANSWER_ATTENTION) {
        fuzz_stream_feed_frame(DSI_REQUEST, DSI_ATTENTION, 8, 0, payload);
    }
    if (kind & ANSWER_CLOSE) {
        fuzz_stream_feed_frame(DSI_REQUEST, DSI_CLOSE_SESSION, 9, 0, (struct span){0});
    } else if (kind & ANSWER_UNFRAMED) {
        fuzz_stream_feed(payload);
    } else {
        fuzz_stream_feed_frame(DSI_REPLY, header.command, header.request_id,
                               (uint32_t)results[(kind & ANSWER_RESULT) % RESULTS], payload);
    }
    fuzz_release(payload);
}

/* Follows the client's frames. */
static void sent(void *context, const uint8_t *bytes, size_t size)
{
    struct server *server = context;
    while (size > 0) {
        size_t want = server->skip > 0 ? (size_t)server->skip : DSI_HEADER_SIZE - server->have;
        size_t step = size < want ? size : want;
        if (server->skip > 0) {
            server->skip -= step;
        } else {
            memcpy(server->header_bytes + server->have, bytes, step);
            server->have += step;
            if (server->have == DSI_HEADER_SIZE) {
                answer(server);
            }
        }
        bytes += step;
        size -= step;
    }
}

/* ---- The client ---- */

/* All that were submitted are reaped, or the first failure is final. */
static bool move(struct target *target, struct target_file *file, enum target_kind kind,
                 struct error *error)
{
    uint8_t buffer[DEPTH][CHUNK] = {{0}};
    struct target_completion completion;
    bool ok = true;
    uint32_t submitted = 0;
    for (uint32_t i = 0; i < DEPTH && ok; i++) {
        struct target_operation operation = {.kind = kind,
                                             .file = file,
                                             .offset = i * CHUNK,
                                             .size = CHUNK,
                                             .read_buffer = i % 2 == 0 ? buffer[i] : NULL,
                                             .write_buffer = buffer[i],
                                             .tag = i};
        ok = target->ops->submit(target, &operation, error);
        submitted += ok;
    }
    for (uint32_t i = 0; i < submitted && ok; i++) {
        ok = target->ops->reap(target, &completion, error);
        fuzz_require(!ok || completion.tag < DEPTH, "the completion of nothing");
    }
    fuzz_require_error(ok, error);
    return ok;
}

static bool use_files(struct target *target, struct error *error)
{
    const struct target_ops *ops = target->ops;
    struct target_file *file;
    uint64_t free_bytes;
    uint64_t size_bytes;
    bool exact;
    return ops->reserve(target, DEPTH, error) &&
           ops->free_space(target, TARGET_FIRST, &free_bytes, &exact, error) &&
           ops->create_file(target, TARGET_FIRST, "Source", error) &&
           ops->open_file(target, TARGET_FIRST, "Source", &file, error) &&
           ops->set_length(target, file, DEPTH * CHUNK, error) &&
           move(target, file, TARGET_WRITE, error) && ops->flush(target, file, error) &&
           move(target, file, TARGET_READ, error) && ops->close_file(target, file, error) &&
           ops->prepare_copy(target, "Source", TARGET_SECOND, "Destination", error) &&
           ops->server_copy(target, "Source", TARGET_SECOND, "Destination", error) &&
           ops->remove_file(target, TARGET_SECOND, "Destination", error) &&
           ops->open_existing(target, "other", &file, &size_bytes, error);
}

static void report(void *context, const char *name, bool removed, const char *reason)
{
    fuzz_require(name[0] != '\0' && (removed || reason != NULL), "a leftover without a word");
}

static void use_target(struct afp_client *client)
{
    struct target *target;
    struct error error = {0};
    bool ok = afp_target_open(&target, client, "one", "two", NULL, &error);
    fuzz_require_error(ok, &error);
    if (!ok) {
        afp_client_close(client);
        return;
    }
    fuzz_require_error(use_files(target, &error), &error);
    error = (struct error){0};
    fuzz_require_error(target->ops->clean_up(target, false, &error), &error);
    error = (struct error){0};
    const struct leftover_sweep sweep = {3600, report, NULL};
    fuzz_require_error(target->ops->remove_leftovers(target, &sweep, &error), &error);
    target->ops->close(target);
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    struct wire input = wire_decoder(bytes, size);
    struct server server = {.input = &input};
    struct interrupt interrupt = {.fd = -1};
    uint8_t cut = fuzz_u8(&input);
    size_t version = fuzz_u8(&input) % AFP_VERSION_COUNT;
    uint8_t method = fuzz_u8(&input);
    struct afp_client_config config = {
        .dsi = {.host = "fuzz", .port = 548, .timeout_ns = NS_PER_S, .interrupt = &interrupt},
        .version = afp_versions[version].version,
        .uam = method == AUTO ? NULL : uam_table[uam_count - 1 - method % uam_count],
        .credentials = {.user = "me", .password = "secretpw"}};
    struct afp_client *client;
    struct error error = {0};
    fuzz_stream_begin(cut, sent, &server);
    bool ok = afp_client_open(&client, &config, &error);
    fuzz_require_error(ok, &error);
    if (ok) {
        use_target(client);
    }
    fuzz_stream_end();
}
