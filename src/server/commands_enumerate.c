/* FPEnumerate, FPEnumerateExt, FPEnumerateExt2: doc/protocol.md 5.3. */
#include "server/call.h"

/* The next entry of a wanted kind at or after *index, which then stands behind it; NULL at the end.
 */
static struct store_node *next_entry(struct volume *volume, struct store_node *directory,
                                     const struct afp_enumerate_request *message, size_t *index)
{
    const struct store_ops *ops = volume->store->ops;
    struct store_node *node;
    while ((node = ops->entry(volume->store, directory, (*index)++)) != NULL) {
        struct store_attributes attributes;
        ops->get(volume->store, node, &attributes);
        if ((attributes.kind == AFP_FILE ? message->file_bitmap : message->directory_bitmap) != 0) {
            return node;
        }
    }
    return NULL;
}

/* The index, among all entries, of the start-th entry of a wanted kind. */
static size_t index_of_start(struct volume *volume, struct store_node *directory,
                             const struct afp_enumerate_request *message)
{
    size_t index = message->start - 1;
    if (message->file_bitmap != 0 && message->directory_bitmap != 0) {
        return index;
    }
    size_t at = 0;
    while (index > 0 && next_entry(volume, directory, message, &at) != NULL) {
        index--;
    }
    return at;
}

/* Encodes one entry; one that does not fit leaves nothing behind. */
static bool encode_entry(struct call *call, struct volume *volume, struct store_node *node,
                         const struct afp_enumerate_reply *head)
{
    uint8_t mac[AFP_NAME_LIMIT_MAC];
    struct afp_enumerate_entry entry;
    size_t before = call->reply.at;
    call_node_parms(call, volume, node, mac, &entry.kind, &entry.parms);
    afp_enumerate_entry(&call->reply, call->command, head, &entry);
    if (wire_ok(&call->reply)) {
        return true;
    }
    call->reply.at = before;
    call->reply.failed = false;
    return false;
}

static int32_t list(struct call *call, struct volume *volume, struct store_node *directory,
                    const struct afp_enumerate_request *message)
{
    struct afp_enumerate_reply head = {
        .file_bitmap = message->file_bitmap,
        .directory_bitmap = message->directory_bitmap,
    };
    struct wire start = call->reply;
    if (message->reply_limit < call->reply.size) {
        call->reply.size = message->reply_limit;
    }
    afp_enumerate_reply(&call->reply, &head);
    size_t index = index_of_start(volume, directory, message);
    bool ended = false;
    while (head.count < message->count && wire_ok(&call->reply)) {
        struct store_node *node = next_entry(volume, directory, message, &index);
        ended = node == NULL;
        if (ended || !encode_entry(call, volume, node, &head)) {
            break;
        }
        head.count++;
    }
    if (head.count == 0) {
        call->reply = start;
        return ended || message->count == 0 ? AFP_OBJECT_NOT_FOUND : AFP_PARAMETER_ERROR;
    }
    afp_enumerate_reply(&start, &head); /* again, now that the count is known */
    return AFP_OK;
}

static int32_t find_directory(const struct call *call, struct volume *volume,
                              const struct afp_enumerate_request *message, struct place *place)
{
    struct store_attributes attributes;
    int32_t result = place_find(call, volume, message->directory, &message->path, place);
    if (result != AFP_OK) {
        return result == AFP_OBJECT_NOT_FOUND ? AFP_DIRECTORY_NOT_FOUND : result;
    }
    volume->store->ops->get(volume->store, place->node, &attributes);
    return attributes.kind == AFP_DIRECTORY ? AFP_OK : AFP_OBJECT_TYPE_ERROR;
}

int32_t command_enumerate(struct call *call)
{
    struct afp_enumerate_request message;
    struct place place;
    afp_enumerate_request(&call->request, call->command, &message);
    struct volume *volume = call_volume(call, message.volume);
    if (volume == NULL || message.start == 0) {
        return AFP_PARAMETER_ERROR;
    }
    /* With neither bitmap there is no kind to list. */
    int32_t result = call_check_bitmaps(call, message.file_bitmap, message.directory_bitmap);
    if (result != AFP_OK || (message.file_bitmap == 0 && message.directory_bitmap == 0)) {
        return AFP_BITMAP_ERROR;
    }
    volume_lock(volume);
    result = find_directory(call, volume, &message, &place);
    if (result == AFP_OK) {
        result = volume->store->ops->list(volume->store, place.node);
    }
    if (result == AFP_OK) {
        result = list(call, volume, place.node, &message);
    }
    volume_unlock(volume);
    return result;
}
