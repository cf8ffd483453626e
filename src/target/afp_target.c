#include "target/afp_target.h"

#include "afp/name.h"
#include "base/clock.h"
#include "base/memory.h"
#include "target/made_files.h"
#include "target/workname.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FILE_LIMIT     8                /* files that a workload has open at once, with room */
#define LEAST_HURRY_NS (20 * NS_PER_MS) /* clean-up waits so long, however late it is */
#define RELEASE_NS     (2 * NS_PER_S)   /* what a server gets to end a dead session */

/* FPGetSessionToken's timestamps: they only have to differ (doc/protocol.md 5.1). */
enum { CLAIM_OF_RUN = 1, CLAIM_OF_CLEANER = 2 };

struct target_file {
    bool open;
    uint16_t fork;
};

/* The working directory of one volume. */
struct workplace {
    const char *volume_name;
    uint16_t volume;
    bool made;      /* from the moment that it may be there */
    bool confirmed; /* the server said so */
    uint32_t directory;
};

struct pending {
    bool active;
    uint64_t sequence;
    struct target_operation operation;
    uint8_t written[8]; /* the reply to a write: the offset after its last byte */
};

struct afp_target {
    struct target target;
    struct afp_client *client;
    char directory_name[WORKNAME_LENGTH]; /* in the root of each volume; also the session's name */
    struct workplace places[TARGET_PLACES];
    struct made_files made;
    struct target_file files[FILE_LIMIT];
    struct pending *pending;
    uint32_t depth;
    uint64_t sequence;
    bool takes_large_frames; /* a write above the quantum, block and all, was answered */
};

static struct afp_target *self(struct target *target)
{
    return (struct afp_target *)target;
}

/* ---- Reads and writes ---- */

static bool reserve(struct target *target, uint32_t depth, struct error *error)
{
    struct afp_target *afp = self(target);
    if (depth <= afp->depth) {
        return true;
    }
    struct pending *pending = memory_resize(afp->pending, depth, sizeof *pending);
    if (pending == NULL) {
        return memory_error(error, "for outstanding requests");
    }
    memset(pending + afp->depth, 0, (depth - afp->depth) * sizeof *pending);
    afp->pending = pending;
    afp->depth = depth;
    return dsi_reserve(afp_client_session(afp->client), depth, error);
}

static enum afp_command command_of(const struct afp_target *afp, enum target_kind kind)
{
    return kind == TARGET_READ ? afp_client_read_command(afp->client)
                               : afp_client_write_command(afp->client);
}

/* Of a write: its request block and its data. */
static size_t frame_size(const struct afp_target *afp, const struct target_operation *operation)
{
    bool wide = command_of(afp, TARGET_WRITE) == AFP_WRITE_EXT;
    return operation->size + (wide ? AFP_WRITE_EXT_BLOCK_SIZE : AFP_WRITE_BLOCK_SIZE);
}

/* Adds the operation that was the oldest one outstanding to an error of the connection. */
static bool connection_failed(struct afp_target *afp, struct error *error)
{
    const struct pending *oldest = NULL;
    for (uint32_t i = 0; i < afp->depth; i++) {
        const struct pending *pending = &afp->pending[i];
        if (pending->active && (oldest == NULL || pending->sequence < oldest->sequence)) {
            oldest = pending;
        }
    }
    if (error->domain == ERROR_INTERRUPTED || oldest == NULL) {
        return false;
    }
    bool write = oldest->operation.kind == TARGET_WRITE;
    size_t frame = frame_size(afp, &oldest->operation);
    uint32_t quantum = afp_client_quantum(afp->client);
    if (write && error->domain == ERROR_CLOSED && frame > quantum && !afp->takes_large_frames) {
        char cause[sizeof error->message];
        memcpy(cause, error->message, sizeof cause);
        error_set(error, ERROR_CLOSED, error->code,
                  "%s; it may refuse frames above its quantum of %" PRIu32
                  " bytes: requests of %zu bytes fit",
                  cause, quantum, quantum - (frame - oldest->operation.size));
        error_remedy(error, REMEDY_REQUEST_SIZE);
    }
    return error_prefix(error, "%s of %zu bytes at offset %" PRIu64, write ? "write" : "read",
                        oldest->operation.size, oldest->operation.offset);
}

/* Data go from and to the operation's own buffers: nothing is copied within the timed section. */
static bool submit(struct target *target, const struct target_operation *operation,
                   struct error *error)
{
    struct afp_target *afp = self(target);
    struct pending *pending = &afp->pending[operation->tag];
    enum afp_command command = command_of(afp, operation->kind);
    uint16_t fork = operation->file->fork;
    int64_t offset = (int64_t)operation->offset;
    int64_t count = (int64_t)operation->size;
    uint8_t block[AFP_WRITE_EXT_BLOCK_SIZE];
    struct wire out = wire_encoder(block, sizeof block);
    struct dsi_request request = {.name = afp_command_name((uint8_t)command),
                                  .tag = operation->tag};
    if (operation->kind == TARGET_READ) {
        struct afp_read_request read = {.fork = fork, .offset = offset, .count = count};
        afp_read_request(&out, command, &read);
        request.command = DSI_COMMAND;
        request.reply = operation->read_buffer;
        request.reply_capacity = operation->read_buffer != NULL ? operation->size : 0;
    } else {
        struct afp_write_request write = {.fork = fork, .offset = offset, .count = count};
        afp_write_request(&out, command, &write);
        request.command = DSI_WRITE;
        request.payload = (struct span){operation->write_buffer, operation->size};
        request.reply = pending->written;
        request.reply_capacity = sizeof pending->written;
    }
    request.block = (struct span){block, out.at};
    if (!wire_ok(&out)) {
        return error_set(error, ERROR_LIMIT, 0, "%s does not reach offset %" PRIu64, request.name,
                         operation->offset);
    }
    pending->active = true;
    pending->sequence = afp->sequence++;
    pending->operation = *operation;
    return dsi_submit(afp_client_session(afp->client), &request, error) ||
           connection_failed(afp, error);
}

/* Bytes received count, not bytes asked for. Servers of the classic Mac OS end a reply early and
 * say nothing of it; one without a byte would be asked for ever. */
static bool check_read(struct afp_target *afp, const struct target_operation *operation,
                       const struct dsi_reply *reply, size_t *missing, struct error *error)
{
    const char *name = afp_command_name((uint8_t)command_of(afp, TARGET_READ));
    uint32_t came = reply->reply_length;
    if (reply->result == AFP_OK && came > 0 && came <= operation->size) {
        *missing = operation->size - came;
        return true;
    }
    if (reply->result == AFP_OK) {
        return error_set(
            error, ERROR_PROTOCOL, 0,
            "%s of %zu bytes at offset %" PRIu64 " returned %" PRIu32 " and result 0: %s", name,
            operation->size, operation->offset, came,
            came == 0 ? "the server neither reads on nor says why" : "more than was asked for");
    }
    if (reply->result == AFP_EOF) {
        return afp_error(error, AFP_EOF, "%s of %zu bytes at offset %" PRIu64 " returned %" PRIu32,
                         name, operation->size, operation->offset, reply->reply_length);
    }
    return afp_error(error, reply->result, "%s of %zu bytes at offset %" PRIu64, name,
                     operation->size, operation->offset);
}

/* A server that wrote less says so only by the offset. Some send four bytes of it where eight are
 * due: its lower half, or the most that they hold. */
static bool is_end(uint64_t said, bool narrow, uint64_t end)
{
    return said == end ||
           (narrow && end > UINT32_MAX && (said == (uint32_t)end || said == UINT32_MAX));
}

static bool check_write(struct afp_target *afp, const struct pending *pending,
                        const struct dsi_reply *reply, struct error *error)
{
    const struct target_operation *operation = &pending->operation;
    enum afp_command command = command_of(afp, TARGET_WRITE);
    const char *name = afp_command_name((uint8_t)command);
    if (reply->result != AFP_OK) {
        return afp_error(error, reply->result, "%s of %zu bytes at offset %" PRIu64, name,
                         operation->size, operation->offset);
    }
    size_t length = reply->reply_length < sizeof pending->written ? reply->reply_length
                                                                  : sizeof pending->written;
    struct wire in = wire_decoder(pending->written, length);
    uint64_t end = 0;
    bool narrow = length == sizeof(uint32_t);
    afp_offset_reply(&in, narrow ? AFP_WRITE : command, &end);
    if (!wire_ok(&in) || !is_end(end, narrow, operation->offset + operation->size)) {
        return error_set(error, ERROR_PROTOCOL, 0,
                         "%s of %zu bytes at offset %" PRIu64
                         ": the server says that its last byte is before offset %" PRIu64,
                         name, operation->size, operation->offset, end);
    }
    return true;
}

static bool reap(struct target *target, struct target_completion *completion, struct error *error)
{
    struct afp_target *afp = self(target);
    struct dsi_reply reply;
    if (!dsi_reap(afp_client_session(afp->client), &reply, error)) {
        return connection_failed(afp, error);
    }
    struct pending *pending = &afp->pending[reply.tag];
    pending->active = false;
    *completion = (struct target_completion){.tag = (uint32_t)reply.tag,
                                             .submitted_ns = reply.submitted_ns,
                                             .sent_ns = reply.sent_ns,
                                             .completed_ns = reply.completed_ns};
    const struct target_operation *operation = &pending->operation;
    if (operation->kind == TARGET_READ) {
        return check_read(afp, operation, &reply, &completion->missing, error);
    }
    afp->takes_large_frames |= frame_size(afp, operation) > afp_client_quantum(afp->client);
    return check_write(afp, pending, &reply, error);
}

static bool idle(struct target *target, uint64_t deadline_ns, int fd, bool *readable,
                 struct error *error)
{
    return dsi_idle(afp_client_session(self(target)->client), deadline_ns, fd, readable, error);
}

static bool account(struct target *target, struct target_account *account, struct error *error)
{
    return dsi_account(afp_client_session(self(target)->client), &account->tcp, &account->waited_ns,
                       error);
}

/* ---- Files ---- */

/* Without a second volume both places are the first. */
static struct workplace *workplace_of(struct afp_target *afp, enum target_place *place)
{
    if (afp->places[*place].volume_name == NULL) {
        *place = TARGET_FIRST;
    }
    return &afp->places[*place];
}

/* Noted before it is made: when the reply is lost it may be there. */
static bool make_directory(struct afp_target *afp, struct workplace *work, struct error *error)
{
    if (work->confirmed) {
        return true;
    }
    struct afp_place root = {work->volume, AFP_ROOT_ID};
    work->made = true;
    work->confirmed = afp_client_create_directory(afp->client, root, afp->directory_name,
                                                  &work->directory, error);
    if (work->confirmed) {
        return true;
    }
    work->made = error->domain != ERROR_AFP; /* refused: it is not there, or not ours */
    if (!work->made && (error->code == AFP_VOLUME_LOCKED || error->code == AFP_ACCESS_DENIED)) {
        error_remedy(error, REMEDY_EXISTING_FILE);
    }
    return error_prefix(error, "volume '%s'", work->volume_name);
}

static struct afp_place inside(const struct workplace *work)
{
    return (struct afp_place){work->volume, work->directory};
}

/* Noted before it is made, so that a reply lost half way does not leave it behind. */
static bool create_file(struct target *target, enum target_place place, const char *name,
                        struct error *error)
{
    struct afp_target *afp = self(target);
    struct workplace *work = workplace_of(afp, &place);
    return make_directory(afp, work, error) && made_files_note(&afp->made, place, name, error) &&
           afp_client_create_file(afp->client, inside(work), name, error);
}

static bool open_in(struct afp_target *afp, struct afp_place place, const char *name,
                    uint16_t access, struct target_file **file, uint64_t *size_bytes,
                    struct error *error)
{
    for (size_t i = 0; i < FILE_LIMIT; i++) {
        struct target_file *candidate = &afp->files[i];
        if (!candidate->open) {
            candidate->open = afp_client_open_fork(afp->client, place, name, access,
                                                   &candidate->fork, size_bytes, error);
            *file = candidate;
            return candidate->open;
        }
    }
    return error_set(error, ERROR_LIMIT, 0, "a workload opens too many files");
}

static bool open_file(struct target *target, enum target_place place, const char *name,
                      struct target_file **file, struct error *error)
{
    struct afp_target *afp = self(target);
    struct workplace *work = workplace_of(afp, &place);
    uint64_t size_bytes;
    return open_in(afp, inside(work), name,
                   AFP_ACCESS_READ | AFP_ACCESS_WRITE | AFP_DENY_READ | AFP_DENY_WRITE, file,
                   &size_bytes, error);
}

static bool open_existing(struct target *target, const char *name, struct target_file **file,
                          uint64_t *size_bytes, struct error *error)
{
    struct afp_target *afp = self(target);
    struct afp_place root = {afp->places[TARGET_FIRST].volume, AFP_ROOT_ID};
    return open_in(afp, root, name, AFP_ACCESS_READ, file, size_bytes, error);
}

static bool close_file(struct target *target, struct target_file *file, struct error *error)
{
    bool closed = afp_client_close_fork(self(target)->client, file->fork, error);
    /* Interrupted before it was sent it is taken back, and clean-up closes the fork. */
    file->open = !closed && error->domain == ERROR_INTERRUPTED;
    return closed;
}

static bool remove_file(struct target *target, enum target_place place, const char *name,
                        struct error *error)
{
    struct afp_target *afp = self(target);
    struct workplace *work = workplace_of(afp, &place);
    if (!afp_client_delete(afp->client, inside(work), name, error)) {
        return false;
    }
    made_files_forget(&afp->made, place, name);
    return true;
}

static bool set_length(struct target *target, struct target_file *file, uint64_t size_bytes,
                       struct error *error)
{
    return afp_client_set_fork_length(self(target)->client, file->fork, size_bytes, error);
}

static bool flush(struct target *target, struct target_file *file, struct error *error)
{
    return afp_client_flush_fork(self(target)->client, file->fork, error);
}

/* The client keeps nothing; the server was just given the file. */
static bool cool(struct target *target, struct target_file *file, enum cache_state *state,
                 struct error *error)
{
    *state = CACHE_SERVER_WARM;
    return true;
}

/* The directory that gets the copy. */
static bool prepare_copy(struct target *target, const char *name, enum target_place place,
                         const char *new_name, struct error *error)
{
    struct afp_target *afp = self(target);
    struct workplace *to = workplace_of(afp, &place);
    return make_directory(afp, to, error) && made_files_note(&afp->made, place, new_name, error);
}

static bool server_copy(struct target *target, const char *name, enum target_place place,
                        const char *new_name, struct error *error)
{
    struct afp_target *afp = self(target);
    struct workplace *to = workplace_of(afp, &place);
    if (afp_client_copy_file(afp->client, inside(&afp->places[TARGET_FIRST]), name, inside(to),
                             new_name, error)) {
        return true;
    }
    if (error->domain == ERROR_AFP && error->code == AFP_CALL_NOT_SUPPORTED) {
        target->facts.server_copy = false;
        target->facts.copy_refusal = "the server answers CallNotSupported (-5024) to FPCopyFile";
    }
    return false;
}

static bool free_space(struct target *target, enum target_place place, uint64_t *free_bytes,
                       bool *exact, struct error *error)
{
    struct afp_target *afp = self(target);
    struct workplace *work = workplace_of(afp, &place);
    *exact = false;
    return afp_client_free_space(afp->client, work->volume, free_bytes, error);
}

/* ---- Clean-up ---- */

/* After an interrupted or broken call nothing more can be asked. */
static bool usable(struct afp_target *afp)
{
    return dsi_ready(afp_client_session(afp->client));
}

/* A file that is noted but was never made is as good as removed. */
static bool gone(const struct error *error)
{
    return error->domain == ERROR_AFP &&
           (error->code == AFP_OBJECT_NOT_FOUND || error->code == AFP_DIRECTORY_NOT_FOUND);
}

/* The steps of clean-up. Each notes in `cause` what went wrong, the last of it. */
static void close_files(struct afp_target *afp, struct error *cause)
{
    uint16_t late;
    if (afp_client_late_fork(afp->client, &late) && usable(afp)) {
        best_effort(afp_client_close_fork(afp->client, late, cause));
    }
    for (size_t i = 0; i < FILE_LIMIT && usable(afp); i++) {
        /* A fork that the server lost needs no closing: a failure matters only if it ends the
         * session. */
        best_effort(!afp->files[i].open || close_file(&afp->target, &afp->files[i], cause));
    }
}

static bool remove_made_files(struct afp_target *afp, struct error *cause)
{
    bool ok = true;
    for (size_t i = 0; i < MADE_FILES_LIMIT && usable(afp); i++) {
        struct made_file *made = &afp->made.list[i];
        if (made->name[0] != '\0' && !remove_file(&afp->target, made->place, made->name, cause) &&
            !gone(cause)) {
            ok = false;
        }
    }
    return ok;
}

/* A directory whose making was never confirmed may be there: it is tried, and told if that fails.
 */
static bool remove_directories(struct afp_target *afp, struct error *cause, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; i < TARGET_PLACES; i++) {
        struct workplace *work = &afp->places[i];
        struct afp_place root = {work->volume, AFP_ROOT_ID};
        if (!work->made) {
            continue;
        }
        if (usable(afp) &&
            (afp_client_delete(afp->client, root, afp->directory_name, cause) || gone(cause))) {
            work->made = work->confirmed = false;
            continue;
        }
        ok = false;
        *error = *cause;
        error_prefix(error, "the directory '%s' %s on volume '%s'", afp->directory_name,
                     work->confirmed ? "stays" : "may stay", work->volume_name);
        error_remedy(error, REMEDY_CLEANING);
    }
    return ok;
}

static bool busy(const struct target *target)
{
    const struct afp_target *afp = (const struct afp_target *)target;
    return dsi_outstanding(afp_client_session(afp->client)) > 0;
}

static bool clean_up(struct target *target, uint64_t deadline_ns, struct error *error)
{
    struct afp_target *afp = self(target);
    struct dsi_session *session = afp_client_session(afp->client);
    uint64_t patience_ns = dsi_set_timeout(session, LEAST_HURRY_NS);
    struct error cause;
    if (deadline_ns == TARGET_PATIENT) {
        dsi_set_timeout(session, patience_ns);
    } else {
        uint64_t least_ns = clock_now_ns() + LEAST_HURRY_NS;
        deadline_ns = deadline_ns > least_ns ? deadline_ns : least_ns;
        dsi_set_timeout(session, deadline_ns - clock_now_ns());
    }
    /* What is said where nothing can be asked any more. */
    error_set(&cause, ERROR_CLOSED, 0, "the connection is gone");
    bool settled = !dsi_alive(session) || dsi_settle(session, deadline_ns, &cause);
    for (uint32_t i = 0; i < afp->depth; i++) {
        afp->pending[i].active = false;
    }
    close_files(afp, &cause);
    bool removed = remove_made_files(afp, &cause);
    *error = cause;
    removed = remove_directories(afp, &cause, error) && removed;
    dsi_set_timeout(session, patience_ns);
    return removed && settled;
}

/* ---- Leftovers of killed runs ---- */

static bool empty_directory(struct afp_client *client, struct afp_place place, struct error *error)
{
    struct afp_entry entry;
    bool found = true;
    while (found) {
        if (!afp_client_entry(client, place, 1, &entry, &found, error) ||
            (found && !afp_client_delete(client, place, entry.name, error))) {
            return false;
        }
    }
    return true;
}

/* A server may keep the files of a killed client open for a day (doc/protocol.md 1.10); the session
 * that holds them is ended by its name, which is the directory's. */
static bool remove_leftover(struct afp_target *afp, struct afp_place root,
                            const struct afp_entry *entry, struct error *error)
{
    struct afp_client *client = afp->client;
    struct afp_place inner = {root.volume, entry->id};
    uint64_t give_up_ns = clock_now_ns() + RELEASE_NS;
    bool claimed = false;
    while (!empty_directory(client, inner, error)) {
        bool busy = error->domain == ERROR_AFP && error->code == AFP_FILE_BUSY;
        bool readable;
        if (!busy || clock_now_ns() > give_up_ns ||
            (!claimed && !afp_client_claim_session(client, entry->name, CLAIM_OF_CLEANER, error)) ||
            !idle(&afp->target, clock_now_ns() + RELEASE_NS / 20, -1, &readable, error)) {
            return false;
        }
        claimed = true;
    }
    return afp_client_delete(client, root, entry->name, error);
}

static bool remove_volume_leftovers(struct afp_target *afp, uint16_t volume,
                                    const struct leftover_sweep *sweep, struct error *error)
{
    struct afp_place root = {volume, AFP_ROOT_ID};
    uint32_t index = 1;
    for (;;) {
        struct afp_entry entry;
        bool found;
        const char *reason;
        if (!afp_client_entry(afp->client, root, index, &entry, &found, error)) {
            return false;
        }
        if (!found) {
            return true;
        }
        if (entry.kind != AFP_DIRECTORY || !workname_is_ours(entry.name, &reason)) {
            index++;
            continue;
        }
        struct error cause;
        if (reason != NULL && entry.age_known && entry.age_s >= sweep->age_s) {
            reason = NULL;
        }
        bool removed = reason == NULL && remove_leftover(afp, root, &entry, &cause);
        if (reason == NULL && !removed) {
            reason = cause.message;
            if (!usable(afp)) {
                *error = cause;
                return false;
            }
        }
        sweep->report(sweep->context, entry.name, removed, reason);
        index += !removed; /* a removed entry's place is taken by the next one */
    }
}

static bool remove_leftovers(struct target *target, const struct leftover_sweep *sweep,
                             struct error *error)
{
    struct afp_target *afp = self(target);
    for (size_t i = 0; i < TARGET_PLACES; i++) {
        if (afp->places[i].volume_name != NULL &&
            !remove_volume_leftovers(afp, afp->places[i].volume, sweep, error)) {
            return false;
        }
    }
    return true;
}

/* ---- Beginning and end ---- */

static void copy_span(char *to, size_t size, struct span from)
{
    snprintf(to, size, "%.*s", (int)from.size, from.size > 0 ? (const char *)from.data : "");
}

static void describe(const struct target *target, struct conditions *conditions)
{
    struct afp_client *client = ((const struct afp_target *)target)->client;
    const struct afp_server_info *info = afp_client_server(client);
    snprintf(conditions->peer, sizeof conditions->peer, "%s", dsi_peer(afp_client_session(client)));
    copy_span(conditions->server_name, sizeof conditions->server_name,
              info->utf8_name.size > 0 ? info->utf8_name : info->server_name);
    copy_span(conditions->machine_type, sizeof conditions->machine_type, info->machine_type);
    conditions->version_count = info->versions.count;
    for (uint8_t i = 0; i < info->versions.count; i++) {
        copy_span(conditions->versions[i].text, sizeof conditions->versions[i].text,
                  info->versions.items[i]);
    }
    conditions->login_method_count = info->uams.count;
    for (uint8_t i = 0; i < info->uams.count; i++) {
        copy_span(conditions->login_methods[i].text, sizeof conditions->login_methods[i].text,
                  info->uams.items[i]);
    }
    conditions->server_flags = info->flags;
    conditions->quantum_offered_bytes = afp_client_quantum(client);
    conditions->afp_version = afp_version_entry(afp_client_version(client))->string;
    conditions->login_method = afp_client_uam(client)->name;
    conditions->second_volume = target->facts.second_place;
}

static void close_target(struct target *target)
{
    struct afp_target *afp = self(target);
    for (size_t i = 0; i < TARGET_PLACES; i++) {
        struct workplace *work = &afp->places[i];
        if (work->volume_name != NULL && usable(afp)) {
            struct error ignored; /* logging out closes it as well */
            best_effort(afp_client_close_volume(afp->client, work->volume, &ignored));
        }
    }
    afp_client_close(afp->client);
    memory_release(afp->pending);
    memory_release(afp);
}

static const struct target_ops afp_target_ops = {
    .reserve = reserve,
    .submit = submit,
    .reap = reap,
    .account = account,
    .idle = idle,
    .create_file = create_file,
    .open_file = open_file,
    .remove_file = remove_file,
    .open_existing = open_existing,
    .close_file = close_file,
    .set_length = set_length,
    .flush = flush,
    .cool = cool,
    .prepare_copy = prepare_copy,
    .server_copy = server_copy,
    .free_space = free_space,
    .clean_up = clean_up,
    .busy = busy,
    .remove_leftovers = remove_leftovers,
    .describe = describe,
    .close = close_target,
};

bool afp_target_open(struct target **target, struct afp_client *client, const char *volume,
                     const char *second_volume, const char *password, struct error *error)
{
    bool two = second_volume != NULL &&
               !name_equals(span_from_string(second_volume), span_from_string(volume));
    struct afp_target *afp = memory_allocate(1, sizeof *afp);
    if (afp == NULL) {
        return memory_error(error, "for a target");
    }
    afp->client = client;
    afp->target.ops = &afp_target_ops;
    afp->target.facts = (struct target_facts){
        .read_chunk = afp_client_quantum(client),
        .write_chunk = afp_client_write_chunk(client),
        .chunk_limit = afp_client_quantum(client),
        .size_limit = afp_client_size_limit(client),
        .server_copy = (afp_client_server(client)->flags & AFP_SERVER_COPY_FILE) != 0,
        .second_place = two,
        .alignment = 1,
    };
    /* The session gets the directory's name, by which a later run can end it: remove_leftover(). */
    workname_make(afp->directory_name);
    bool ok = afp_client_claim_session(client, afp->directory_name, CLAIM_OF_RUN, error);
    const char *const names[TARGET_PLACES] = {volume, two ? second_volume : NULL};
    for (size_t i = 0; i < TARGET_PLACES && ok; i++) {
        afp->places[i].volume_name = names[i];
        ok = names[i] == NULL ||
             afp_client_open_volume(client, names[i], password, &afp->places[i].volume, error);
    }
    if (!ok) {
        memory_release(afp);
        return false;
    }
    *target = &afp->target;
    return true;
}
