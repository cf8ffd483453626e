#include "server/volume.h"

#include "base/memory.h"

#include <string.h>
#include <time.h>

static bool set_name(struct volume *volume, struct error *error)
{
    uint8_t mac[AFP_NAME_LIMIT_MAC];
    if (!name_encode(&volume->name, volume->config->name, NAME_OF_VOLUME, AFP_3_4, error)) {
        return false;
    }
    struct span name =
        name_mangle(mac, AFP_VOLUME_NAME_LIMIT_MAC, name_span(&volume->name), volume->id);
    memcpy(volume->mac_name, name.data, name.size);
    volume->mac_name_size = name.size;
    return true;
}

/* The password of a request stands in eight bytes, with zeros behind it (5.2). All are compared, so
 * that the time does not tell how many were right. */
bool volume_admits(const struct volume *volume, const uint8_t given[AFP_VOLUME_PASSWORD_SIZE])
{
    const char *password = volume->config->password;
    size_t length = password != NULL ? strlen(password) : 0;
    uint8_t differs = 0;
    for (size_t i = 0; i < AFP_VOLUME_PASSWORD_SIZE; i++) {
        differs |= given[i] ^ (i < length ? (uint8_t)password[i] : 0);
    }
    return password == NULL || differs == 0;
}

/* The name is checked before the store is made, the only part that a failure must undo. */
bool volume_open(struct volume *volume, uint16_t id, const struct server_volume *config,
                 struct error *error)
{
    const struct store_ops *ops = store_by_name(config->store);
    if (ops == NULL) {
        return error_set(error, ERROR_USAGE, 0, "volume %s: no store named '%s'; there are %s",
                         config->name, config->store, store_names());
    }
    if (ops->needs_path != (config->path != NULL)) {
        return error_set(error, ERROR_USAGE, 0, "volume %s: store '%s' %s", config->name, ops->name,
                         ops->needs_path ? "wants a path" : "has no path");
    }
    *volume = (struct volume){
        .id = id,
        .config = config,
        .created = (uint32_t)(time(NULL) - AFP_EPOCH_UNIX_SECONDS),
    };
    if (!set_name(volume, error)) {
        return false;
    }
    struct store_settings settings = {.path = config->path, .limit_bytes = config->limit_bytes};
    if (!ops->create(&volume->store, &settings, error)) {
        return error_prefix(error, "volume %s", config->name);
    }
    pthread_mutex_init(&volume->mutex, NULL);
    return true;
}

void volume_close(struct volume *volume)
{
    volume->store->ops->destroy(volume->store);
    pthread_mutex_destroy(&volume->mutex);
}

void volume_lock(struct volume *volume)
{
    pthread_mutex_lock(&volume->mutex);
}

void volume_unlock(struct volume *volume)
{
    pthread_mutex_unlock(&volume->mutex);
}

struct store_space volume_space(struct volume *volume)
{
    struct store_space space = volume->store->ops->space(volume->store);
    if (volume->config->free_bytes != 0) {
        uint64_t used = space.total_bytes - space.free_bytes;
        space.free_bytes = volume->config->free_bytes;
        space.total_bytes =
            used > UINT64_MAX - space.free_bytes ? UINT64_MAX : used + space.free_bytes;
    }
    return space;
}

/* 5.4: what one side wants against what the other denies, both ways. */
static bool access_conflict(uint16_t a, uint16_t b)
{
    unsigned wants = AFP_ACCESS_READ | AFP_ACCESS_WRITE;
    return (a & wants & (b >> 4)) != 0 || (b & wants & (a >> 4)) != 0;
}

static bool may_open(const struct volume *volume, uint32_t file_id, enum store_fork_kind kind,
                     uint16_t access)
{
    for (const struct open_fork *fork = volume->open_forks; fork != NULL; fork = fork->next) {
        if (fork->file_id == file_id && fork->kind == kind &&
            access_conflict(access, fork->access)) {
            return false;
        }
    }
    return true;
}

/* Checked and entered under one lock, so that of two sessions that deny each other one wins. */
int32_t volume_open_fork(struct volume *volume, struct store_node *file, enum store_fork_kind kind,
                         uint16_t access, struct open_fork **opened)
{
    struct store *store = volume->store;
    struct store_attributes attributes;
    store->ops->get(store, file, &attributes);
    if (!may_open(volume, attributes.id, kind, access)) {
        return AFP_DENY_CONFLICT;
    }
    struct open_fork *fork = memory_allocate(1, sizeof *fork);
    if (fork == NULL) {
        return AFP_TOO_MANY_FILES_OPEN;
    }
    int32_t result = store->ops->fork_open(store, file, kind, access, &fork->data);
    if (result != AFP_OK) {
        memory_release(fork);
        return result;
    }
    fork->volume = volume;
    fork->file_id = attributes.id;
    fork->kind = kind;
    fork->access = access;
    fork->next = volume->open_forks;
    if (fork->next != NULL) {
        fork->next->previous = fork;
    }
    volume->open_forks = fork;
    *opened = fork;
    return AFP_OK;
}

void volume_close_fork(struct open_fork *fork)
{
    struct volume *volume = fork->volume;
    if (fork->previous != NULL) {
        fork->previous->next = fork->next;
    } else {
        volume->open_forks = fork->next;
    }
    if (fork->next != NULL) {
        fork->next->previous = fork->previous;
    }
    volume->store->ops->fork_close(volume->store, fork->data);
    memory_release(fork->ranges);
    memory_release(fork);
}

uint16_t volume_open_attributes(const struct volume *volume, uint32_t file_id)
{
    static const uint16_t bits[STORE_FORK_COUNT] = {AFP_ATTRIBUTE_DATA_OPEN,
                                                    AFP_ATTRIBUTE_RESOURCE_OPEN};
    uint16_t attributes = 0;
    for (const struct open_fork *fork = volume->open_forks; fork != NULL; fork = fork->next) {
        if (fork->file_id == file_id) {
            attributes |= bits[fork->kind];
        }
    }
    return attributes;
}

/* Open forks go with their contents; what they are asked by is the file's ID. */
int32_t volume_exchange(struct volume *volume, struct store_node *a, struct store_node *b)
{
    struct store *store = volume->store;
    struct store_attributes first, second;
    store->ops->get(store, a, &first);
    store->ops->get(store, b, &second);
    int32_t result = store->ops->exchange(store, a, b);
    for (struct open_fork *fork = volume->open_forks; result == AFP_OK && fork != NULL;
         fork = fork->next) {
        if (fork->file_id == first.id) {
            fork->file_id = second.id;
        } else if (fork->file_id == second.id) {
            fork->file_id = first.id;
        }
    }
    return result;
}

static bool has_overlap(const struct open_fork *fork, struct range range)
{
    for (size_t i = 0; i < fork->range_count; i++) {
        if (range.begin < fork->ranges[i].end && fork->ranges[i].begin < range.end) {
            return true;
        }
    }
    return false;
}

/* Own ranges and those of others are two different results (5.4). */
static int32_t range_is_free(const struct open_fork *mine, struct range range)
{
    if (has_overlap(mine, range)) {
        return AFP_RANGE_OVERLAP;
    }
    for (const struct open_fork *fork = mine->volume->open_forks; fork != NULL; fork = fork->next) {
        if (fork != mine && fork->file_id == mine->file_id && fork->kind == mine->kind &&
            has_overlap(fork, range)) {
            return AFP_LOCK_ERROR;
        }
    }
    return AFP_OK;
}

/* Bounded, since a client could fill the memory with locks of one byte. */
int32_t volume_lock_range(struct open_fork *fork, struct range range)
{
    int32_t result = range_is_free(fork, range);
    if (result != AFP_OK) {
        return result;
    }
    if (fork->range_count == fork->range_room) {
        size_t room = fork->range_room > 0 ? fork->range_room * 2 : 8;
        struct range *grown = room <= VOLUME_RANGE_LIMIT
                                  ? memory_resize(fork->ranges, room, sizeof *fork->ranges)
                                  : NULL;
        if (grown == NULL) {
            return AFP_NO_MORE_LOCKS;
        }
        fork->ranges = grown;
        fork->range_room = room;
    }
    fork->ranges[fork->range_count++] = range;
    return AFP_OK;
}

int32_t volume_unlock_range(struct open_fork *fork, struct range range)
{
    for (size_t i = 0; i < fork->range_count; i++) {
        if (fork->ranges[i].begin == range.begin && fork->ranges[i].end == range.end) {
            fork->ranges[i] = fork->ranges[--fork->range_count];
            return AFP_OK;
        }
    }
    return AFP_RANGE_NOT_LOCKED;
}
