/*
 * replay.h - the replay cache (doc/protocol.md 1.3): results of the last commands that must not be
 * executed twice, found again by request ID and command.
 *
 * A slot serves every 128th ID. Unlike Netatalk's, whatever request uses the slot's ID next clears
 * it, so a client whose IDs wrap around never meets an old result.
 */
#ifndef AFPBENCH_SERVER_REPLAY_H
#define AFPBENCH_SERVER_REPLAY_H

#include "dsi/frame.h"

#define REPLAY_PAYLOAD_LIMIT 8 /* FPCreateDir's ID is the longest */

struct replay_entry {
    bool used;
    uint16_t request_id;
    uint8_t command;
    int32_t result;
    uint8_t payload[REPLAY_PAYLOAD_LIMIT];
    size_t payload_size;
};

struct replay_cache {
    struct replay_entry entries[DSI_REPLAY_CACHE_SIZE];
};

/* The stored result of this very request; NULL if it is a new one, whose slot is now clear. */
const struct replay_entry *replay_find(struct replay_cache *cache, uint16_t request_id,
                                       uint8_t command);

/* Clears the slot of a request that is not cached. */
void replay_forget(struct replay_cache *cache, uint16_t request_id);

/* Keeps a result; one with a longer payload than the limit is not kept. */
void replay_store(struct replay_cache *cache, uint16_t request_id, uint8_t command, int32_t result,
                  struct span payload);

#endif
