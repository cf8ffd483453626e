/*
 * FPCopyFile: doc/protocol.md 6. The locks of the two volumes are never held together, nor while
 * data moves; open forks keep both files in place meanwhile.
 */
#include "base/memory.h"
#include "server/call.h"

#include <string.h>

#define COPY_STEP ((size_t)1024 * 1024)

struct copy {
    struct call *call;
    struct volume *source, *target;
    struct store_attributes attributes; /* the source's; its name is in `name` */
    struct name_buffer name;            /* of the new file */
    uint32_t new_id;                    /* 0: not made yet */
    struct open_fork *from[STORE_FORK_COUNT], *to[STORE_FORK_COUNT];
};

static int32_t open_forks(struct volume *volume, struct store_node *file, uint16_t access,
                          struct open_fork *forks[STORE_FORK_COUNT])
{
    int32_t result = AFP_OK;
    for (int kind = 0; result == AFP_OK && kind < STORE_FORK_COUNT; kind++) {
        result = volume_open_fork(volume, file, (enum store_fork_kind)kind, access, &forks[kind]);
    }
    return result;
}

static void close_forks(struct open_fork *forks[STORE_FORK_COUNT])
{
    for (int kind = 0; kind < STORE_FORK_COUNT; kind++) {
        if (forks[kind] != NULL) {
            volume_close_fork(forks[kind]);
        }
    }
}

/* The source, and the new name if the request has none. Read access without denies, as Netatalk:
 * only a fork that denies reading is in the way. */
static int32_t open_source(struct copy *copy, const struct afp_copy_file_request *message)
{
    struct volume *volume = copy->source;
    struct place place;
    int32_t result =
        place_find(copy->call, volume, message->source_directory, &message->source, &place);
    if (result != AFP_OK) {
        return result;
    }
    volume->store->ops->get(volume->store, place.node, &copy->attributes);
    if (copy->attributes.kind != AFP_FILE) {
        return AFP_OBJECT_TYPE_ERROR;
    }
    if (copy->name.size == 0) {
        copy->name.size = copy->attributes.name.size;
        memcpy(copy->name.bytes, copy->attributes.name.data, copy->name.size);
    }
    return open_forks(volume, place.node, AFP_ACCESS_READ, copy->from);
}

/* The new file, which nobody else can open while it is being filled. */
static int32_t make_target(struct copy *copy, const struct afp_copy_file_request *message)
{
    struct store *store = copy->target->store;
    struct place place;
    struct store_node *node;
    struct store_attributes attributes;
    int32_t result =
        place_find(copy->call, copy->target, message->target_directory, &message->target, &place);
    if (result != AFP_OK) {
        return result;
    }
    store->ops->get(store, place.node, &attributes);
    if (attributes.kind != AFP_DIRECTORY) {
        return AFP_OBJECT_TYPE_ERROR;
    }
    result = store->ops->child(store, place.node, name_span(&copy->name), &node);
    if (result != AFP_OBJECT_NOT_FOUND) {
        return result == AFP_OK ? AFP_OBJECT_EXISTS : result;
    }
    result = store->ops->add(store, place.node, name_span(&copy->name), AFP_FILE, &node);
    if (result != AFP_OK) {
        return result;
    }
    store->ops->get(store, node, &attributes);
    copy->new_id = attributes.id;
    return open_forks(copy->target, node,
                      AFP_ACCESS_READ | AFP_ACCESS_WRITE | AFP_DENY_READ | AFP_DENY_WRITE,
                      copy->to);
}

/* The source's dates, permissions and Finder info, as far as the target can have them; a file that
 * could not be filled goes away. */
static void finish_target(struct copy *copy, int32_t result)
{
    struct store *store = copy->target->store;
    close_forks(copy->to);
    struct store_node *node = copy->new_id != 0 ? store->ops->by_id(store, copy->new_id) : NULL;
    if (node == NULL) {
        return;
    }
    if (result == AFP_OK) {
        (void)store->ops->set(store, node,
                              AFP_NODE_ATTRIBUTES | AFP_NODE_MODIFIED | AFP_NODE_FINDER_INFO |
                                  AFP_NODE_UNIX_PRIVILEGES,
                              &copy->attributes);
    } else {
        (void)store->ops->remove(store, node);
    }
}

/* Within the system where that goes, and the rest through the buffer. */
static int32_t move_range(struct open_fork *from, struct open_fork *to, struct store_write *write,
                          char *buffer)
{
    struct store *source = from->volume->store;
    struct store *target = to->volume->store;
    int32_t result = AFP_OK;
    if (source->ops == target->ops && source->ops->copy != NULL) {
        result = source->ops->copy(from->data, to->data, write);
    }
    if (result == AFP_OK && write->written < write->size) {
        uint64_t done = write->written;
        result = source->ops->read(source, from->data, write->offset + done, buffer + done,
                                   (size_t)(write->size - done));
        if (result == AFP_OK) {
            result = target->ops->write(target, to->data, write, buffer);
        }
    }
    return result;
}

static int32_t copy_step(struct open_fork *from, struct open_fork *to, struct store_write *write,
                         char *buffer)
{
    struct store *target = to->volume->store;
    volume_lock(to->volume);
    int32_t result = target->ops->write_begin(target, to->data, write);
    volume_unlock(to->volume);
    if (result != AFP_OK) {
        return result;
    }
    result = move_range(from, to, write, buffer);
    volume_lock(to->volume);
    target->ops->write_end(target, to->data, write);
    volume_unlock(to->volume);
    return result;
}

static int32_t copy_fork(struct copy *copy, int kind, char *buffer)
{
    struct call *call = copy->call;
    uint64_t length = copy->attributes.fork_lengths[kind];
    int32_t result = AFP_OK;
    for (uint64_t offset = 0; offset < length && result == AFP_OK; offset += COPY_STEP) {
        uint64_t left = length - offset;
        struct store_write write = {.offset = offset, .size = left < COPY_STEP ? left : COPY_STEP};
        result = copy_step(copy->from[kind], copy->to[kind], &write, buffer);
        if (result == AFP_OK && !session_breathe(call->session, call->error)) {
            call->lost = true;
            result = AFP_MISC_ERROR;
        }
    }
    return result;
}

static int32_t copy_contents(struct copy *copy)
{
    char *buffer = memory_allocate(COPY_STEP, 1);
    if (buffer == NULL) {
        return AFP_MISC_ERROR;
    }
    int32_t result = AFP_OK;
    for (int kind = 0; result == AFP_OK && kind < STORE_FORK_COUNT; kind++) {
        result = copy_fork(copy, kind, buffer);
    }
    memory_release(buffer);
    return result;
}

static int32_t copy_file(struct copy *copy, const struct afp_copy_file_request *message)
{
    volume_lock(copy->source);
    int32_t result = open_source(copy, message);
    volume_unlock(copy->source);
    if (result == AFP_OK) {
        volume_lock(copy->target);
        result = make_target(copy, message);
        volume_unlock(copy->target);
        if (result == AFP_OK) {
            result = copy_contents(copy);
        }
        volume_lock(copy->target);
        finish_target(copy, result);
        volume_unlock(copy->target);
    }
    volume_lock(copy->source);
    close_forks(copy->from);
    volume_unlock(copy->source);
    return result;
}

int32_t command_copy_file(struct call *call)
{
    struct afp_copy_file_request message;
    afp_copy_file_request(&call->request, &message);
    struct copy copy = {
        .call = call,
        .source = call_volume(call, message.source_volume),
        .target = call_volume(call, message.target_volume),
    };
    if (copy.source == NULL || copy.target == NULL) {
        return AFP_PARAMETER_ERROR;
    }
    if (copy.target->config->read_only) {
        return AFP_VOLUME_LOCKED;
    }
    int32_t result = place_new_name(call, &message.new_name, &copy.name);
    return result != AFP_OK ? result : copy_file(&copy, &message);
}
