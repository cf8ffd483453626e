#include "server/names.h"

#include <stdio.h>
#include <string.h>

/* MacRoman's 0x80 to 0xFF in decomposed UTF-8. */
static const char *const upper_half[128] = {
    "\x41\xCC\x88", "\x41\xCC\x8A", "\x43\xCC\xA7", "\x45\xCC\x81", "\x4E\xCC\x83", "\x4F\xCC\x88",
    "\x55\xCC\x88", "\x61\xCC\x81", "\x61\xCC\x80", "\x61\xCC\x82", "\x61\xCC\x88", "\x61\xCC\x83",
    "\x61\xCC\x8A", "\x63\xCC\xA7", "\x65\xCC\x81", "\x65\xCC\x80", "\x65\xCC\x82", "\x65\xCC\x88",
    "\x69\xCC\x81", "\x69\xCC\x80", "\x69\xCC\x82", "\x69\xCC\x88", "\x6E\xCC\x83", "\x6F\xCC\x81",
    "\x6F\xCC\x80", "\x6F\xCC\x82", "\x6F\xCC\x88", "\x6F\xCC\x83", "\x75\xCC\x81", "\x75\xCC\x80",
    "\x75\xCC\x82", "\x75\xCC\x88", "\xE2\x80\xA0", "\xC2\xB0",     "\xC2\xA2",     "\xC2\xA3",
    "\xC2\xA7",     "\xE2\x80\xA2", "\xC2\xB6",     "\xC3\x9F",     "\xC2\xAE",     "\xC2\xA9",
    "\xE2\x84\xA2", "\xC2\xB4",     "\xC2\xA8",     "\x3D\xCC\xB8", "\xC3\x86",     "\xC3\x98",
    "\xE2\x88\x9E", "\xC2\xB1",     "\xE2\x89\xA4", "\xE2\x89\xA5", "\xC2\xA5",     "\xC2\xB5",
    "\xE2\x88\x82", "\xE2\x88\x91", "\xE2\x88\x8F", "\xCF\x80",     "\xE2\x88\xAB", "\xC2\xAA",
    "\xC2\xBA",     "\xCE\xA9",     "\xC3\xA6",     "\xC3\xB8",     "\xC2\xBF",     "\xC2\xA1",
    "\xC2\xAC",     "\xE2\x88\x9A", "\xC6\x92",     "\xE2\x89\x88", "\xE2\x88\x86", "\xC2\xAB",
    "\xC2\xBB",     "\xE2\x80\xA6", "\xC2\xA0",     "\x41\xCC\x80", "\x41\xCC\x83", "\x4F\xCC\x83",
    "\xC5\x92",     "\xC5\x93",     "\xE2\x80\x93", "\xE2\x80\x94", "\xE2\x80\x9C", "\xE2\x80\x9D",
    "\xE2\x80\x98", "\xE2\x80\x99", "\xC3\xB7",     "\xE2\x97\x8A", "\x79\xCC\x88", "\x59\xCC\x88",
    "\xE2\x81\x84", "\xE2\x82\xAC", "\xE2\x80\xB9", "\xE2\x80\xBA", "\xEF\xAC\x81", "\xEF\xAC\x82",
    "\xE2\x80\xA1", "\xC2\xB7",     "\xE2\x80\x9A", "\xE2\x80\x9E", "\xE2\x80\xB0", "\x41\xCC\x82",
    "\x45\xCC\x82", "\x41\xCC\x81", "\x45\xCC\x88", "\x45\xCC\x80", "\x49\xCC\x81", "\x49\xCC\x82",
    "\x49\xCC\x88", "\x49\xCC\x80", "\x4F\xCC\x81", "\x4F\xCC\x82", "\xEF\xA3\xBF", "\x4F\xCC\x80",
    "\x55\xCC\x81", "\x55\xCC\x82", "\x55\xCC\x80", "\xC4\xB1",     "\xCB\x86",     "\xCB\x9C",
    "\xC2\xAF",     "\xCB\x98",     "\xCB\x99",     "\xCB\x9A",     "\xC2\xB8",     "\xCB\x9D",
    "\xCB\x9B",     "\xCB\x87",
};

/* Bytes of the character that begins here; 0: it is none. */
static size_t character_size(struct span text)
{
    /* By the first byte: how many follow, and the range of the next one (Unicode, table 3-7). */
    static const struct {
        uint8_t first, last, more, least, most;
    } rows[] = {
        {0x00, 0x7F, 0, 0x00, 0x00}, {0xC2, 0xDF, 1, 0x80, 0xBF}, {0xE0, 0xE0, 2, 0xA0, 0xBF},
        {0xE1, 0xEC, 2, 0x80, 0xBF}, {0xED, 0xED, 2, 0x80, 0x9F}, {0xEE, 0xEF, 2, 0x80, 0xBF},
        {0xF0, 0xF0, 3, 0x90, 0xBF}, {0xF1, 0xF3, 3, 0x80, 0xBF}, {0xF4, 0xF4, 3, 0x80, 0x8F},
    };
    size_t row = 0;
    while (row < sizeof rows / sizeof rows[0] &&
           (text.data[0] < rows[row].first || text.data[0] > rows[row].last)) {
        row++;
    }
    if (row == sizeof rows / sizeof rows[0] || rows[row].more >= text.size) {
        return 0;
    }
    for (size_t i = 1; i <= rows[row].more; i++) {
        uint8_t least = i == 1 ? rows[row].least : 0x80;
        uint8_t most = i == 1 ? rows[row].most : 0xBF;
        if (text.data[i] < least || text.data[i] > most) {
            return 0;
        }
    }
    return rows[row].more + (size_t)1;
}

bool name_is_utf8(struct span name)
{
    while (name.size > 0) {
        size_t size = character_size(name);
        if (size == 0) {
            return false;
        }
        name.data += size;
        name.size -= size;
    }
    return true;
}

bool name_from_mac(struct name_buffer *name, struct span mac)
{
    if (mac.size > AFP_NAME_LIMIT_MAC) {
        return false;
    }
    name->size = 0;
    for (size_t i = 0; i < mac.size; i++) {
        const char ascii[2] = {(char)mac.data[i], '\0'};
        const char *text = mac.data[i] < 0x80 ? ascii : upper_half[mac.data[i] - 0x80];
        size_t length = strlen(text);
        memcpy(name->bytes + name->size, text, length);
        name->size += length;
    }
    return true;
}

/* The MacRoman character that the text begins with, the longest that fits; *taken bytes make it.
 * 0: there is none. */
static uint8_t mac_character(struct span text, size_t *taken)
{
    uint8_t found = 0;
    *taken = 1;
    if (text.data[0] < 0x80) {
        found = text.data[0];
    }
    for (size_t i = 0; i < 128; i++) {
        size_t length = strlen(upper_half[i]);
        if (length > *taken - (found == 0) && length <= text.size &&
            memcmp(text.data, upper_half[i], length) == 0) {
            found = (uint8_t)(0x80 + i);
            *taken = length;
        }
    }
    return found;
}

/* Skips one UTF-8 character. */
static size_t utf8_length(struct span text)
{
    size_t length = 1;
    while (length < text.size && (text.data[length] & 0xC0) == 0x80) {
        length++;
    }
    return length;
}

static bool is_ascii(struct span name)
{
    uint8_t all = 0;
    for (size_t i = 0; i < name.size; i++) {
        all |= name.data[i];
    }
    return all < 0x80;
}

struct span name_to_mac(uint8_t mac[AFP_NAME_LIMIT_MAC], struct span name, uint32_t id)
{
    if (name.size <= AFP_NAME_LIMIT_MAC && is_ascii(name)) {
        return name;
    }
    size_t size = 0;
    bool exact = true;
    while (name.size > 0 && size < AFP_NAME_LIMIT_MAC) {
        size_t taken;
        uint8_t character = mac_character(name, &taken);
        if (character == 0) {
            exact = false;
            taken = utf8_length(name);
            character = '_';
        }
        mac[size++] = character;
        name.data += taken;
        name.size -= taken;
    }
    if (!exact || name.size > 0) {
        char suffix[10];
        size_t length = (size_t)snprintf(suffix, sizeof suffix, "#%X", id);
        size = size < AFP_NAME_LIMIT_MAC - length ? size : AFP_NAME_LIMIT_MAC - length;
        memcpy(mac + size, suffix, length);
        size += length;
    }
    return (struct span){mac, size};
}

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
