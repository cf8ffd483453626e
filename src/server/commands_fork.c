/* Forks, reading, writing, locking: doc/protocol.md 5.4. */
#include "server/call.h"

/* ---- Opening and closing ---- */

/* Whether a file may be opened so at all, whoever else has it open. */
static int32_t check_access(const struct volume *volume, const struct store_attributes *file,
                            uint16_t access)
{
    if (file->kind != AFP_FILE) {
        return AFP_OBJECT_TYPE_ERROR;
    }
    if ((access & AFP_ACCESS_WRITE) && volume->config->read_only) {
        return AFP_VOLUME_LOCKED;
    }
    if ((access & AFP_ACCESS_WRITE) && (file->attributes & AFP_ATTRIBUTE_WRITE_INHIBIT)) {
        return AFP_OBJECT_LOCKED;
    }
    return AFP_OK;
}

static int32_t open_fork(struct call *call, struct volume *volume,
                         const struct afp_open_fork_request *message)
{
    struct session *session = call->session;
    struct place place;
    struct store_attributes attributes;
    int32_t result = place_find(call, volume, message->directory, &message->path, &place);
    if (result != AFP_OK) {
        return result;
    }
    volume->store->ops->get(volume->store, place.node, &attributes);
    result = check_access(volume, &attributes, message->access);
    if (result != AFP_OK) {
        return result;
    }
    uint16_t reference = fork_table_reserve(&session->forks, session->service->config->fork_limit);
    if (reference == 0) {
        return AFP_TOO_MANY_FILES_OPEN;
    }
    enum store_fork_kind kind = message->resource & 0x80 ? STORE_RESOURCE_FORK : STORE_DATA_FORK;
    struct open_fork *fork = NULL;
    result = volume_open_fork(volume, place.node, kind, message->access, &fork);
    if (result != AFP_OK && result != AFP_DENY_CONFLICT) {
        return result;
    }
    /* A conflict is told with the file's parameters and no reference. */
    fork_table_set(&session->forks, reference, fork);
    uint8_t mac[AFP_NAME_LIMIT_MAC];
    enum afp_node_kind node_kind;
    struct afp_open_fork_reply reply = {message->bitmap, fork != NULL ? reference : 0, {0}};
    call_node_parms(call, volume, place.node, mac, &node_kind, &reply.parms);
    afp_open_fork_reply(&call->reply, &reply);
    return result;
}

int32_t command_open_fork(struct call *call)
{
    struct afp_open_fork_request message;
    afp_open_fork_request(&call->request, &message);
    struct volume *volume = call_volume(call, message.volume);
    if (volume == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    int32_t result = call_check_bitmaps(call, message.bitmap, 0);
    if (result == AFP_OK) {
        volume_lock(volume);
        result = open_fork(call, volume, &message);
        volume_unlock(volume);
    }
    return result;
}

int32_t command_close_fork(struct call *call)
{
    struct afp_id_request message;
    afp_id_request(&call->request, AFP_CLOSE_FORK, &message);
    struct open_fork *fork = call_fork(call, message.id);
    if (fork == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    struct volume *volume = fork->volume;
    volume_lock(volume);
    volume_close_fork(fork);
    volume_unlock(volume);
    fork_table_set(&call->session->forks, message.id, NULL);
    return AFP_OK;
}

int32_t command_flush_fork(struct call *call)
{
    struct afp_id_request message;
    afp_id_request(&call->request, call->command, &message);
    struct open_fork *fork = call_fork(call, message.id);
    if (fork == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    struct store *store = fork->volume->store;
    return store->ops->fork_flush(store, fork->data);
}

/* ---- Parameters ---- */

/* The bits for the length of a fork of this kind. */
static unsigned length_bits(enum store_fork_kind kind)
{
    return kind == STORE_DATA_FORK ? AFP_FILE_DATA_LENGTH | AFP_FILE_DATA_LENGTH_EXT
                                   : AFP_FILE_RESOURCE_LENGTH | AFP_FILE_RESOURCE_LENGTH_EXT;
}

int32_t command_get_fork_parms(struct call *call)
{
    struct afp_get_fork_parms_request message;
    afp_get_fork_parms_request(&call->request, &message);
    struct open_fork *fork = call_fork(call, message.fork);
    if (fork == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    unsigned others =
        length_bits(fork->kind == STORE_DATA_FORK ? STORE_RESOURCE_FORK : STORE_DATA_FORK);
    if ((message.bitmap & others) || call_check_bitmaps(call, message.bitmap, 0) != AFP_OK) {
        return AFP_BITMAP_ERROR;
    }
    struct volume *volume = fork->volume;
    struct store *store = volume->store;
    volume_lock(volume);
    struct store_node *node = store->ops->by_id(store, fork->file_id);
    int32_t result = node != NULL ? AFP_OK : AFP_OBJECT_NOT_FOUND; /* somebody removed it */
    if (node != NULL) {
        uint8_t mac[AFP_NAME_LIMIT_MAC];
        enum afp_node_kind kind;
        struct afp_get_fork_parms_reply reply = {.bitmap = message.bitmap};
        call_node_parms(call, volume, node, mac, &kind, &reply.parms);
        afp_get_fork_parms_reply(&call->reply, &reply);
    }
    volume_unlock(volume);
    return result;
}

int32_t command_set_fork_parms(struct call *call)
{
    struct afp_set_fork_parms_request message;
    afp_set_fork_parms_request(&call->request, &message);
    struct open_fork *fork = call_fork(call, message.fork);
    if (fork == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    /* The bitmap names the fork that is open, and says how wide the length is. */
    bool one_bit = message.bitmap != 0 && (message.bitmap & (message.bitmap - 1)) == 0;
    if (!one_bit || (message.bitmap & length_bits(fork->kind)) == 0 ||
        call_check_bitmaps(call, message.bitmap, 0) != AFP_OK) {
        return AFP_BITMAP_ERROR;
    }
    if ((fork->access & AFP_ACCESS_WRITE) == 0) {
        return AFP_ACCESS_DENIED;
    }
    if (message.length > INT64_MAX) {
        return AFP_PARAMETER_ERROR;
    }
    struct store *store = fork->volume->store;
    volume_lock(fork->volume);
    int32_t result = store->ops->fork_set_length(store, fork->data, message.length);
    volume_unlock(fork->volume);
    return result;
}

/* ---- Reading and writing ---- */

/* Whether the calls with 32-bit offsets reach a range's end. */
static bool too_far(bool wide, int64_t offset, uint64_t size)
{
    return !wide && (uint64_t)offset + size > AFP_SHORT_SIZE_LIMIT;
}

int32_t command_read(struct call *call)
{
    struct afp_read_request message;
    afp_read_request(&call->request, call->command, &message);
    struct open_fork *fork = call_fork(call, message.fork);
    if (fork == NULL || message.offset < 0 || message.count < 0) {
        return AFP_PARAMETER_ERROR;
    }
    if ((fork->access & AFP_ACCESS_READ) == 0) {
        return AFP_ACCESS_DENIED;
    }
    uint64_t count = (uint64_t)message.count;
    if (too_far(call->command == AFP_READ_EXT, message.offset, count)) {
        return AFP_DISK_FULL; /* as Netatalk says it */
    }
    struct store *store = fork->volume->store;
    volume_lock(fork->volume);
    uint64_t length = store->ops->fork_length(store, fork->data);
    volume_unlock(fork->volume);
    uint64_t offset = (uint64_t)message.offset;
    uint64_t available = offset < length ? length - offset : 0;
    uint64_t size = count < available ? count : available;
    if (size > UINT32_MAX) {
        return AFP_PARAMETER_ERROR; /* no reply can carry it (1.1) */
    }
    call->range = (struct fork_range){fork, offset, size};
    return size < count ? AFP_EOF : AFP_OK;
}

/* Where a write goes, and room for it. The volume is locked. */
static int32_t begin_write(const struct call *call, struct open_fork *fork,
                           const struct afp_write_request *message, struct store_write *write)
{
    struct store *store = fork->volume->store;
    int64_t offset = message->offset;
    if (message->from_end & 0x80) {
        int64_t length = (int64_t)store->ops->fork_length(store, fork->data);
        if (__builtin_add_overflow(offset, length, &offset)) {
            return AFP_PARAMETER_ERROR;
        }
    }
    if (offset < 0) {
        return AFP_PARAMETER_ERROR;
    }
    write->offset = (uint64_t)offset;
    if (too_far(call->command == AFP_WRITE_EXT, offset, write->size) ||
        write->size > INT64_MAX - write->offset) {
        return AFP_DISK_FULL;
    }
    return store->ops->write_begin(store, fork->data, write);
}

/* The length comes from the frame, not from the request (1.7). What a refusal leaves of the data,
 * the session drops. */
int32_t command_write(struct call *call)
{
    struct inbox *inbox = &call->session->inbox;
    struct afp_write_request message;
    afp_write_request(&call->request, call->command, &message);
    struct open_fork *fork = call_fork(call, message.fork);
    if (fork == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    if ((fork->access & AFP_ACCESS_WRITE) == 0) {
        return AFP_ACCESS_DENIED;
    }
    struct volume *volume = fork->volume;
    struct store *store = volume->store;
    struct store_write write = {.size = inbox->frame_left};
    volume_lock(volume);
    int32_t result = begin_write(call, fork, &message, &write);
    volume_unlock(volume);
    if (result != AFP_OK) {
        return result;
    }
    call->lost = !store->ops->receive(store, fork->data, inbox, &write, &result, call->error);
    volume_lock(volume);
    store->ops->write_end(store, fork->data, &write);
    volume_unlock(volume);
    uint64_t end = write.offset + write.size;
    if (result == AFP_OK) {
        afp_offset_reply(&call->reply, call->command, &end);
    }
    return result;
}

/* ---- Byte-range locks ---- */

/* The absolute range of a request; the volume is locked. */
static int32_t range_of(const struct open_fork *fork, const struct afp_lock_request *message,
                        struct range *range)
{
    struct store *store = fork->volume->store;
    int64_t begin = message->offset;
    int64_t end;
    if (message->flags & 0x80) {
        int64_t length = (int64_t)store->ops->fork_length(store, fork->data);
        if (__builtin_add_overflow(begin, length, &begin)) {
            return AFP_PARAMETER_ERROR;
        }
    }
    if (message->length == -1) {
        end = INT64_MAX;
    } else if (__builtin_add_overflow(begin, message->length, &end)) {
        return AFP_PARAMETER_ERROR;
    }
    if (begin < 0 || end <= begin) {
        return AFP_PARAMETER_ERROR;
    }
    *range = (struct range){(uint64_t)begin, (uint64_t)end};
    return AFP_OK;
}

int32_t command_lock_range(struct call *call)
{
    struct afp_lock_request message;
    struct range range;
    afp_lock_request(&call->request, call->command, &message);
    struct open_fork *fork = call_fork(call, message.fork);
    if (fork == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    bool unlock = (message.flags & 1) != 0;
    volume_lock(fork->volume);
    int32_t result = range_of(fork, &message, &range);
    if (result == AFP_OK) {
        result = unlock ? volume_unlock_range(fork, range) : volume_lock_range(fork, range);
    }
    volume_unlock(fork->volume);
    if (result == AFP_OK) {
        afp_offset_reply(&call->reply, call->command, &range.begin);
    }
    return result;
}
