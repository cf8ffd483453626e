#include "server/replay.h"

#include <string.h>

/* IDs count up: a slot is used again only when the cache is one round further. */
static struct replay_entry *slot(struct replay_cache *cache, uint16_t request_id)
{
    return &cache->entries[request_id % DSI_REPLAY_CACHE_SIZE];
}

/* Another command under the ID is a new request: what was kept is of no use any more. */
const struct replay_entry *replay_find(struct replay_cache *cache, uint16_t request_id,
                                       uint8_t command)
{
    struct replay_entry *entry = slot(cache, request_id);
    if (entry->used && entry->request_id == request_id && entry->command == command) {
        return entry;
    }
    entry->used = false;
    return NULL;
}

void replay_forget(struct replay_cache *cache, uint16_t request_id)
{
    slot(cache, request_id)->used = false;
}

void replay_store(struct replay_cache *cache, uint16_t request_id, uint8_t command, int32_t result,
                  struct span payload)
{
    struct replay_entry *entry = slot(cache, request_id);
    *entry = (struct replay_entry){
        .used = payload.size <= REPLAY_PAYLOAD_LIMIT,
        .request_id = request_id,
        .command = command,
        .result = result,
        .payload_size = payload.size,
    };
    if (entry->used && payload.size > 0) {
        memcpy(entry->payload, payload.data, payload.size);
    }
}
