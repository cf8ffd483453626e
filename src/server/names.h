/*
 * names.h - names in the two character sets of AFP: decomposed UTF-8, in which stores keep them,
 * and MacRoman, in which clients below 3.0 see them (doc/protocol.md 3.1). Pure functions.
 */
#ifndef AFPBENCH_SERVER_NAMES_H
#define AFPBENCH_SERVER_NAMES_H

#include "afp/afp.h"
#include "base/wire.h"

struct name_buffer {
    uint8_t bytes[AFP_NAME_LIMIT_UTF8];
    size_t size;
};

/* True for well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
bool name_is_utf8(struct span name);

/* A name of at most AFP_NAME_LIMIT_MAC bytes of MacRoman into UTF-8; false if it is too long. */
bool name_from_mac(struct name_buffer *name, struct span mac);

/* A name of UTF-8 into MacRoman. One that is too long, or has a character that MacRoman lacks, is
 * shortened and ends in "#" and the node's ID in hexadecimal, as Netatalk does; name_mangled_id()
 * finds the ID in such a name, and returns 0 in others. */
struct span name_to_mac(uint8_t mac[AFP_NAME_LIMIT_MAC], struct span name, uint32_t id);
uint32_t name_mangled_id(struct span mac);

#endif
