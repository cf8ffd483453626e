/*
 * server_info.h - what a server says of itself before a login: the reply to DSIGetStatus and
 * FPGetSrvrInfo (doc/protocol.md 2.1). Pure; decoded spans point into the reply.
 */
#ifndef AFPBENCH_AFP_SERVER_INFO_H
#define AFPBENCH_AFP_SERVER_INFO_H

#include "afp/afp.h"
#include "base/wire.h"

/* More entries than any server has; further ones are dropped when decoding. */
#define AFP_INFO_LIST_LIMIT 16

struct afp_info_list {
    uint8_t count;
    struct span items[AFP_INFO_LIST_LIMIT];
};

struct afp_server_info {
    uint16_t flags;
    struct span server_name;  /* Mac charset */
    struct span machine_type; /* "Netatalk4.5.1" */
    struct afp_info_list versions;
    struct afp_info_list uams;
    struct span signature;          /* 16 bytes or none */
    struct span utf8_name;          /* or none */
    struct afp_info_list addresses; /* each: tag byte and data (2.1) */
};

void afp_server_info(struct wire *wire, struct afp_server_info *info);

/* The highest version of ours in the server's list; false if there is none. */
bool afp_highest_version(const struct afp_server_info *info, enum afp_version *version);

/* The largest write that a server of this machine type takes: the quantum, less the request block
 * for those known to refuse block + data above it, Netatalk 4.4 to 4.5.1 (1.11). */
uint32_t afp_write_chunk(struct span machine_type, uint32_t quantum, enum afp_version version);

#endif
