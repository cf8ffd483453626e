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

/* ---- Open forks ---- */

static struct open_fork *first_in_chain(const struct volume *volume, uint32_t file_id)
{
    return volume->open_forks[file_id % VOLUME_FORK_CHAINS];
}

static void link_fork(struct open_fork *fork)
{
    struct open_fork **chain = &fork->volume->open_forks[fork->file_id % VOLUME_FORK_CHAINS];
    fork->previous = NULL;
    fork->next = *chain;
    if (fork->next != NULL) {
        fork->next->previous = fork;
    }
    *chain = fork;
}

static void unlink_fork(struct open_fork *fork)
{
    struct open_fork **chain = &fork->volume->open_forks[fork->file_id % VOLUME_FORK_CHAINS];
    if (fork->previous != NULL) {
        fork->previous->next = fork->next;
    } else {
        *chain = fork->next;
    }
    if (fork->next != NULL) {
        fork->next->previous = fork->previous;
    }
}

static bool may_open(const struct volume *volume, uint32_t file_id, enum store_fork_kind kind,
                     uint16_t access)
{
    const struct open_fork *fork = first_in_chain(volume, file_id);
    for (; fork != NULL; fork = fork->next) {
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
    link_fork(fork);
    *opened = fork;
    return AFP_OK;
}

void volume_close_fork(struct open_fork *fork)
{
    struct store *store = fork->volume->store;
    unlink_fork(fork);
    store->ops->fork_close(store, fork->data);
    memory_release(fork->ranges);
    memory_release(fork);
}

uint16_t volume_open_attributes(const struct volume *volume, uint32_t file_id)
{
    static const uint16_t bits[STORE_FORK_COUNT] = {AFP_ATTRIBUTE_DATA_OPEN,
                                                    AFP_ATTRIBUTE_RESOURCE_OPEN};
    uint16_t attributes = 0;
    const struct open_fork *fork = first_in_chain(volume, file_id);
    for (; fork != NULL; fork = fork->next) {
        if (fork->file_id == file_id) {
            attributes |= bits[fork->kind];
        }
    }
    return attributes;
}

/* Takes the open forks of a file off their chain: a list of their own. */
static struct open_fork *take_forks(struct volume *volume, uint32_t file_id)
{
    struct open_fork *taken = NULL;
    struct open_fork *next;
    for (struct open_fork *fork = first_in_chain(volume, file_id); fork != NULL; fork = next) {
        next = fork->next;
        if (fork->file_id == file_id) {
            unlink_fork(fork);
            fork->next = taken;
            taken = fork;
        }
    }
    return taken;
}

static void give_forks(struct open_fork *taken, uint32_t file_id)
{
    while (taken != NULL) {
        struct open_fork *fork = taken;
        taken = fork->next;
        fork->file_id = file_id;
        link_fork(fork);
    }
}

/* Open forks go with their contents; what they are asked by is the file's ID. */
int32_t volume_exchange(struct volume *volume, struct store_node *a, struct store_node *b)
{
    struct store *store = volume->store;
    struct store_attributes first, second;
    store->ops->get(store, a, &first);
    store->ops->get(store, b, &second);
    int32_t result = store->ops->exchange(store, a, b);
    if (result == AFP_OK) {
        struct open_fork *of_first = take_forks(volume, first.id);
        struct open_fork *of_second = take_forks(volume, second.id);
        give_forks(of_first, second.id);
        give_forks(of_second, first.id);
    }
    return result;
}

/* ---- Locked ranges ---- */

/* The first locked range that ends after `begin`: all before it are out of the way. */
static size_t range_after(const struct open_fork *fork, uint64_t begin)
{
    size_t low = 0;
    size_t high = fork->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (fork->ranges[middle].end > begin) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static bool has_overlap(const struct open_fork *fork, struct range range)
{
    size_t index = range_after(fork, range.begin);
    return index < fork->range_count && fork->ranges[index].begin < range.end;
}

/* Own ranges and those of others are two different results (5.4). */
static int32_t range_is_free(const struct open_fork *mine, struct range range)
{
    if (has_overlap(mine, range)) {
        return AFP_RANGE_OVERLAP;
    }
    const struct open_fork *fork = first_in_chain(mine->volume, mine->file_id);
    for (; fork != NULL; fork = fork->next) {
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
    size_t index = range_after(fork, range.begin);
    memmove(fork->ranges + index + 1, fork->ranges + index,
            (fork->range_count++ - index) * sizeof range);
    fork->ranges[index] = range;
    return AFP_OK;
}

int32_t volume_unlock_range(struct open_fork *fork, struct range range)
{
    size_t index = range_after(fork, range.begin);
    if (index == fork->range_count) {
        return AFP_RANGE_NOT_LOCKED;
    }
    struct range *locked = &fork->ranges[index];
    if (locked->begin != range.begin || locked->end != range.end) {
        return AFP_RANGE_NOT_LOCKED;
    }
    memmove(locked, locked + 1, (--fork->range_count - index) * sizeof range);
    return AFP_OK;
}
