/*
 * volume.h - a volume as all sessions share it: a store, the mutex that guards it, and who has
 * which fork open with which rights and locks (doc/protocol.md 5.4).
 *
 * Every function below volume_close() needs the mutex held. Results are AFP result codes.
 */
#ifndef AFPBENCH_SERVER_VOLUME_H
#define AFPBENCH_SERVER_VOLUME_H

#include "server/mangled_name.h"
#include "server/server.h"
#include "server/store.h"

#include <pthread.h>

/* Locked ranges that one open fork may have. */
#define VOLUME_RANGE_LIMIT 4096

/* Chains of open forks, by the ID of the file: those of one file stand in one chain. */
#define VOLUME_FORK_CHAINS 1024

struct range {
    uint64_t begin, end; /* end is after the last byte */
};

/* One FPOpenFork, until its FPCloseFork. It belongs to one session; the chain belongs to the
 * volume.
 */
struct open_fork {
    struct volume *volume;
    struct open_fork *next, *previous;
    uint32_t file_id;
    enum store_fork_kind kind;
    uint16_t access; /* enum afp_access */
    struct store_fork *data;
    struct range *ranges; /* locked by this fork, ascending and apart */
    size_t range_count, range_room;
};

struct volume {
    uint16_t id; /* from 1 */
    const struct server_volume *config;
    struct name_buffer name;                     /* decomposed, as clients from 3.0 on see it */
    uint8_t mac_name[AFP_VOLUME_NAME_LIMIT_MAC]; /* as the others do */
    size_t mac_name_size;
    uint32_t created; /* AFP date, GMT */
    struct store *store;
    pthread_mutex_t mutex;
    struct open_fork *open_forks[VOLUME_FORK_CHAINS];
};

/* Takes a name that is UTF-8, in either form, and a password of at most AFP_VOLUME_PASSWORD_SIZE
 * bytes. */
MUST_CHECK bool volume_open(struct volume *volume, uint16_t id, const struct server_volume *config,
                            struct error *error);
void volume_close(struct volume *volume);

void volume_lock(struct volume *volume);
void volume_unlock(struct volume *volume);

/* The name in MacRoman: mangled where that cannot express it. */
static inline struct span volume_mac_name(const struct volume *volume)
{
    return (struct span){volume->mac_name, volume->mac_name_size};
}

/* The name as a session of this version lists it and asks for it (5.1, 5.2). */
static inline struct span volume_listed_name(const struct volume *volume, enum afp_version version)
{
    return version >= AFP_3_0 ? name_span(&volume->name) : volume_mac_name(volume);
}

/* True if a client that gives this password may open the volume; one without a password is open to
 * all. */
bool volume_admits(const struct volume *volume, const uint8_t given[AFP_VOLUME_PASSWORD_SIZE]);

/* Total and free bytes as clients are told. */
struct store_space volume_space(struct volume *volume);

/* Checks the access and deny modes against all open forks of the file; AFP_DENY_CONFLICT. */
int32_t volume_open_fork(struct volume *volume, struct store_node *file, enum store_fork_kind kind,
                         uint16_t access, struct open_fork **fork);
void volume_close_fork(struct open_fork *fork);

/* The attributes "data fork open" and "resource fork open" of a file; 0 when it is closed. */
uint16_t volume_open_attributes(const struct volume *volume, uint32_t file_id);

/* FPExchangeFiles: open forks follow their contents. */
int32_t volume_exchange(struct volume *volume, struct store_node *a, struct store_node *b);

/* FPByteRangeLock: AFP_RANGE_OVERLAP with a range of this fork's, AFP_LOCK_ERROR with another's, be
 * it of the same session, AFP_NO_MORE_LOCKS; unlock: AFP_RANGE_NOT_LOCKED unless exactly this range
 * is locked. A fork's locks end with it. They bind those who lock, as Netatalk's do: reading and
 * writing ask nobody. */
int32_t volume_lock_range(struct open_fork *fork, struct range range);
int32_t volume_unlock_range(struct open_fork *fork, struct range range);

#endif
