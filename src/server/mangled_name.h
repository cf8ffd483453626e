/*
 * mangled_name.h - how a client below 3.0 sees a name that MacRoman cannot hold
 * (doc/protocol.md 3.1). Pure functions; afp/name.h has the character sets.
 */
#ifndef AFPBENCH_SERVER_MANGLED_NAME_H
#define AFPBENCH_SERVER_MANGLED_NAME_H

#include "afp/name.h"

/* A name of UTF-8 in at most `limit` bytes of MacRoman. One that is too long, or has a character
 * that MacRoman lacks, is shortened and ends in "#" and its ID in hexadecimal, as Netatalk does;
 * name_mangled_id() finds the ID in such a name, and returns 0 in others. */
struct span name_mangle(uint8_t mac[AFP_NAME_LIMIT_MAC], size_t limit, struct span name,
                        uint32_t id);
uint32_t name_mangled_id(struct span mac);

#endif
