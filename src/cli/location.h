/* location.h - where a server is, as people write it: a name, an address, or an afp:// URL. */
#ifndef AFPBENCH_CLI_LOCATION_H
#define AFPBENCH_CLI_LOCATION_H

#include "base/error.h"

#include <stdint.h>

struct location {
    char host[256];
    uint16_t port;    /* 0: not given */
    char user[256];   /* empty: not given */
    char login[64];   /* a login method as servers name it, or "*": any; empty: not given */
    char volume[256]; /* empty: not given */
};

/* Takes "name", "192.0.2.1", "::1", "[::1]", "fe80::1%eth0" and
 * "afp://[user[;AUTH=method]@]host[:port][/volume]", where %41 and the like are decoded in user,
 * method, volume and the zone of an address ("[fe80::1%25eth0]").
 * ERROR_USAGE for anything else; a password in a URL is refused, since other users could see it. */
MUST_CHECK bool location_parse(const char *text, struct location *location, struct error *error);

#endif
