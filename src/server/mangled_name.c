#include "server/mangled_name.h"

#include <stdio.h>
#include <string.h>

/* The ID makes room for itself at the end; in MacRoman every byte is a character. */
struct span name_mangle(uint8_t mac[AFP_NAME_LIMIT_MAC], size_t limit, struct span name,
                        uint32_t id)
{
    bool exact;
    size_t size = name_to_mac(mac, limit, name, &exact);
    if (!exact) {
        char suffix[10];
        size_t length = (size_t)snprintf(suffix, sizeof suffix, "#%X", id);
        size = size < limit - length ? size : limit - length;
        memcpy(mac + size, suffix, length);
        size += length;
    }
    return (struct span){mac, size};
}

/* Read from the end, since the name itself may hold a '#'. */
uint32_t name_mangled_id(struct span mac)
{
    uint32_t id = 0;
    unsigned shift = 0;
    size_t at = mac.size;
    while (at > 0 && shift < 32 && mac.data[at - 1] != '#') {
        static const char digits[] = "0123456789ABCDEF";
        const char *digit = memchr(digits, mac.data[--at], 16);
        if (digit == NULL) {
            return 0;
        }
        id |= (uint32_t)(digit - digits) << shift;
        shift += 4;
    }
    return at > 0 && mac.data[at - 1] == '#' ? id : 0;
}
