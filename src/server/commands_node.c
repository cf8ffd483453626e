/* Files and directories as such: doc/protocol.md 5.3. */
#include "server/call.h"

#include <string.h>

/* The volume of a request that is well formed; else AFP_PARAMETER_ERROR. */
static int32_t need_volume(const struct call *call, uint16_t id, struct volume **volume)
{
    *volume = call_volume(call, id);
    return *volume != NULL ? AFP_OK : AFP_PARAMETER_ERROR;
}

/* What a command does to a locked volume; `request` is its message. */
typedef int32_t change_function(struct call *call, struct volume *volume, const void *request);

static int32_t change_volume(struct call *call, uint16_t id, change_function *change,
                             const void *request)
{
    struct volume *volume;
    int32_t result = need_volume(call, id, &volume);
    if (result == AFP_OK && volume->config->read_only) {
        result = AFP_VOLUME_LOCKED;
    }
    if (result == AFP_OK) {
        volume_lock(volume);
        result = change(call, volume, request);
        volume_unlock(volume);
    }
    return result;
}

static void get(struct volume *volume, struct store_node *node, struct store_attributes *attributes)
{
    volume->store->ops->get(volume->store, node, attributes);
}

static int32_t add_node(struct volume *volume, const struct place *place, enum afp_node_kind kind,
                        struct store_node **node)
{
    return volume->store->ops->add(volume->store, place->directory, name_span(&place->name), kind,
                                   node);
}

/* ---- Creating ---- */

/* A hard create: the file stays, its forks are emptied. */
static int32_t empty_file(struct volume *volume, struct store_node *node)
{
    struct store *store = volume->store;
    struct store_attributes attributes;
    get(volume, node, &attributes);
    if (attributes.kind != AFP_FILE) {
        return AFP_OBJECT_TYPE_ERROR;
    }
    if (volume_open_attributes(volume, attributes.id) != 0) {
        return AFP_FILE_BUSY;
    }
    for (int kind = 0; kind < STORE_FORK_COUNT; kind++) {
        struct store_fork *fork;
        int32_t result =
            store->ops->fork_open(store, node, (enum store_fork_kind)kind, AFP_ACCESS_WRITE, &fork);
        if (result == AFP_OK) {
            result = store->ops->fork_set_length(store, fork, 0);
            store->ops->fork_close(store, fork);
        }
        if (result != AFP_OK) {
            return result;
        }
    }
    return AFP_OK;
}

static int32_t create_file(struct call *call, struct volume *volume, const void *request)
{
    const struct afp_node_request *message = request;
    struct place place;
    struct store_node *node;
    int32_t result = place_for_new(call, volume, message->directory, &message->path, &place);
    if (result != AFP_OK) {
        return result;
    }
    if (place.name.size == 0) {
        return AFP_OBJECT_TYPE_ERROR;
    }
    if (place.node == NULL) {
        return add_node(volume, &place, AFP_FILE, &node);
    }
    return message->flag & 0x80 ? empty_file(volume, place.node) : AFP_OBJECT_EXISTS;
}

static int32_t create_directory(struct call *call, struct volume *volume, const void *request)
{
    const struct afp_node_request *message = request;
    struct place place;
    struct store_node *node;
    struct store_attributes attributes;
    int32_t result = place_for_new(call, volume, message->directory, &message->path, &place);
    if (result == AFP_OK && (place.node != NULL || place.name.size == 0)) {
        result = AFP_OBJECT_EXISTS;
    }
    if (result == AFP_OK) {
        result = add_node(volume, &place, AFP_DIRECTORY, &node);
    }
    if (result == AFP_OK) {
        get(volume, node, &attributes);
        afp_create_directory_reply(&call->reply, &attributes.id);
    }
    return result;
}

/* The commands whose request is a node and a flag. */
static int32_t change_node(struct call *call, change_function *change)
{
    struct afp_node_request message;
    afp_node_request(&call->request, call->command, &message);
    return change_volume(call, message.volume, change, &message);
}

int32_t command_create_file(struct call *call)
{
    return change_node(call, create_file);
}

int32_t command_create_directory(struct call *call)
{
    return change_node(call, create_directory);
}

/* ---- Deleting, renaming, moving ---- */

static int32_t delete_node(struct call *call, struct volume *volume, const void *request)
{
    const struct afp_node_request *message = request;
    struct place place;
    struct store_attributes attributes;
    int32_t result = place_find(call, volume, message->directory, &message->path, &place);
    if (result != AFP_OK) {
        return result;
    }
    get(volume, place.node, &attributes);
    if (attributes.id == AFP_ROOT_ID) {
        return AFP_ACCESS_DENIED;
    }
    if (attributes.attributes & AFP_ATTRIBUTE_DELETE_INHIBIT) {
        return AFP_OBJECT_LOCKED;
    }
    if (volume_open_attributes(volume, attributes.id) != 0) {
        return AFP_FILE_BUSY;
    }
    return volume->store->ops->remove(volume->store, place.node);
}

int32_t command_delete(struct call *call)
{
    return change_node(call, delete_node);
}

/* A directory that moved into itself would be cut off from the root. */
static bool is_inside(struct volume *volume, struct store_node *node, struct store_node *directory)
{
    while (node != NULL && node != directory) {
        node = volume->store->ops->parent(volume->store, node);
    }
    return node == directory;
}

/* Moves the source to a name in a directory; an empty name keeps the old one. */
static int32_t move_node(struct volume *volume, const struct place *source,
                         struct store_node *directory, const struct name_buffer *name)
{
    const struct store_ops *ops = volume->store->ops;
    struct store_attributes node, target;
    get(volume, source->node, &node);
    get(volume, directory, &target);
    if (target.kind != AFP_DIRECTORY) {
        return AFP_OBJECT_TYPE_ERROR;
    }
    if (is_inside(volume, directory, source->node)) {
        return AFP_CANT_MOVE;
    }
    if (node.attributes & AFP_ATTRIBUTE_RENAME_INHIBIT) {
        return AFP_OBJECT_LOCKED;
    }
    struct name_buffer kept;
    if (name->size == 0) {
        kept.size = node.name.size;
        memcpy(kept.bytes, node.name.data, node.name.size);
        name = &kept;
    }
    struct store_node *there;
    int32_t result = ops->child(volume->store, directory, name_span(name), &there);
    if (result != AFP_OBJECT_NOT_FOUND) {
        bool elsewhere = result == AFP_OK && there != source->node;
        return elsewhere ? AFP_OBJECT_EXISTS : result;
    }
    return ops->move(volume->store, source->node, directory, name_span(name));
}

static int32_t rename_node(struct call *call, struct volume *volume, const void *request)
{
    const struct afp_rename_request *message = request;
    struct place place;
    struct name_buffer name;
    int32_t result = place_find(call, volume, message->directory, &message->path, &place);
    if (result == AFP_OK) {
        result = place_new_name(call, &message->new_name, &name);
    }
    if (result != AFP_OK || name.size == 0) {
        return result;
    }
    if (place.directory == NULL) {
        return AFP_CANT_RENAME;
    }
    return move_node(volume, &place, place.directory, &name);
}

int32_t command_rename(struct call *call)
{
    struct afp_rename_request message;
    afp_rename_request(&call->request, &message);
    return change_volume(call, message.volume, rename_node, &message);
}

static int32_t find_both(const struct call *call, struct volume *volume,
                         const struct afp_move_request *message, struct place *source,
                         struct place *target)
{
    int32_t result = place_find(call, volume, message->source_directory, &message->source, source);
    if (result == AFP_OK) {
        result = place_find(call, volume, message->target_directory, &message->target, target);
    }
    return result;
}

static int32_t move_and_rename(struct call *call, struct volume *volume, const void *request)
{
    const struct afp_move_request *message = request;
    struct place source, target;
    struct name_buffer name;
    int32_t result = find_both(call, volume, message, &source, &target);
    if (result == AFP_OK) {
        result = place_new_name(call, &message->new_name, &name);
    }
    if (result != AFP_OK) {
        return result;
    }
    if (source.directory == NULL) {
        return AFP_CANT_MOVE; /* the root */
    }
    return move_node(volume, &source, target.node, &name);
}

static int32_t exchange_files(struct call *call, struct volume *volume, const void *request)
{
    struct place a, b;
    struct store_attributes first, second;
    int32_t result = find_both(call, volume, request, &a, &b);
    if (result != AFP_OK) {
        return result;
    }
    get(volume, a.node, &first);
    get(volume, b.node, &second);
    if (first.kind != AFP_FILE || second.kind != AFP_FILE) {
        return AFP_OBJECT_TYPE_ERROR;
    }
    return a.node == b.node ? AFP_SAME_OBJECT : volume_exchange(volume, a.node, b.node);
}

static int32_t run_move(struct call *call, change_function *move)
{
    struct afp_move_request message;
    afp_move_request(&call->request, call->command, &message);
    return change_volume(call, message.volume, move, &message);
}

int32_t command_move(struct call *call)
{
    return run_move(call, move_and_rename);
}

int32_t command_exchange(struct call *call)
{
    return run_move(call, exchange_files);
}

/* ---- Parameters ---- */

/* The reply is made under the lock: its names are borrowed from the node. */
int32_t command_get_node_parms(struct call *call)
{
    struct afp_get_node_parms_request message;
    struct volume *volume;
    struct place place;
    afp_get_node_parms_request(&call->request, &message);
    int32_t result = need_volume(call, message.volume, &volume);
    if (result == AFP_OK) {
        result = call_check_bitmaps(call, message.file_bitmap, message.directory_bitmap);
    }
    if (result != AFP_OK) {
        return result;
    }
    volume_lock(volume);
    result = place_find(call, volume, message.directory, &message.path, &place);
    if (result == AFP_OK) {
        uint8_t mac[AFP_NAME_LIMIT_MAC];
        struct afp_get_node_parms_reply reply = {
            .file_bitmap = message.file_bitmap,
            .directory_bitmap = message.directory_bitmap,
        };
        call_node_parms(call, volume, place.node, mac, &reply.kind, &reply.parms);
        afp_get_node_parms_reply(&call->reply, &reply);
    }
    volume_unlock(volume);
    return result;
}

/* 3.4: the attributes that a client may set. */
#define SETTABLE_ATTRIBUTES                                                                        \
    (0x0007U | AFP_ATTRIBUTE_WRITE_INHIBIT | 0x0040U | AFP_ATTRIBUTE_RENAME_INHIBIT |              \
     AFP_ATTRIBUTE_DELETE_INHIBIT | 0x0400U)

static int32_t set_parms(const struct call *call, struct volume *volume, struct store_node *node,
                         uint16_t bitmap, const struct afp_node_parms *parms)
{
    struct store_attributes attributes;
    get(volume, node, &attributes);
    unsigned bits = parms->attributes & SETTABLE_ATTRIBUTES;
    attributes.attributes =
        (uint16_t)(parms->attributes & AFP_ATTRIBUTE_SET ? attributes.attributes | bits
                                                         : attributes.attributes & ~bits);
    attributes.created = call_date_in(call, parms->created);
    attributes.modified = call_date_in(call, parms->modified);
    attributes.backed_up = call_date_in(call, parms->backed_up);
    memcpy(attributes.finder_info, parms->finder_info, sizeof attributes.finder_info);
    attributes.mode = (attributes.mode & 0170000U) | (parms->unix_privileges.mode & 07777U);
    return volume->store->ops->set(volume->store, node, bitmap, &attributes);
}

/* FPSetFileParms and FPSetDirParms take one kind only. */
static bool kind_fits(enum afp_command command, enum afp_node_kind kind)
{
    return command == AFP_SET_FILE_DIR_PARMS ||
           kind == (command == AFP_SET_FILE_PARMS ? AFP_FILE : AFP_DIRECTORY);
}

static int32_t set_node_parms(struct call *call, struct volume *volume, const void *request)
{
    const struct afp_set_node_parms_request *message = request;
    struct place place;
    struct store_attributes attributes;
    int32_t result = call_check_bitmaps(call, message->bitmap, message->bitmap);
    if (result == AFP_OK) {
        result = place_find(call, volume, message->directory, &message->path, &place);
    }
    if (result != AFP_OK) {
        return result;
    }
    get(volume, place.node, &attributes);
    if (!kind_fits(call->command, attributes.kind)) {
        return AFP_OBJECT_TYPE_ERROR;
    }
    return set_parms(call, volume, place.node, message->bitmap, &message->parms);
}

int32_t command_set_node_parms(struct call *call)
{
    const unsigned settable = AFP_NODE_ATTRIBUTES | AFP_NODE_CREATED | AFP_NODE_MODIFIED |
                              AFP_NODE_BACKED_UP | AFP_NODE_FINDER_INFO | AFP_NODE_UNIX_PRIVILEGES;
    struct afp_set_node_parms_request message = {0};
    afp_set_node_parms_request(&call->request, call->command, &message);
    /* Checked first: the layout of other bits is not known, so the rest may not have decoded. */
    if (message.bitmap & ~settable) {
        return AFP_BITMAP_ERROR;
    }
    return change_volume(call, message.volume, set_node_parms, &message);
}
