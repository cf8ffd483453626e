#include "afp/server_info.h"

#include <stdio.h>
#include <string.h>

/* Every block after the fixed part is reached by an offset from the start of the reply. */
typedef void block_function(struct wire *wire, struct afp_server_info *info);

static void list(struct wire *wire, struct afp_info_list *list)
{
    uint8_t count = list->count;
    wire_u8(wire, &count);
    for (uint8_t i = 0; i < count; i++) {
        struct span dropped = {0};
        wire_pstr(wire, i < AFP_INFO_LIST_LIMIT ? &list->items[i] : &dropped);
    }
    list->count = count < AFP_INFO_LIST_LIMIT ? count : AFP_INFO_LIST_LIMIT;
}

static void machine_type(struct wire *wire, struct afp_server_info *info)
{
    wire_pstr(wire, &info->machine_type);
}

static void versions(struct wire *wire, struct afp_server_info *info)
{
    list(wire, &info->versions);
}

static void uams(struct wire *wire, struct afp_server_info *info)
{
    list(wire, &info->uams);
}

static void signature(struct wire *wire, struct afp_server_info *info)
{
    if (wire->mode == WIRE_DECODE || info->signature.size > 0) {
        wire_bytes(wire, &info->signature, 16);
    }
}

/* An address counts its own length byte (2.1), unlike a pstr. */
static void addresses(struct wire *wire, struct afp_server_info *info)
{
    struct afp_info_list *list = &info->addresses;
    uint8_t count = list->count;
    wire_u8(wire, &count);
    for (uint8_t i = 0; i < count; i++) {
        struct span dropped = {0};
        struct span *item = i < AFP_INFO_LIST_LIMIT ? &list->items[i] : &dropped;
        uint8_t length = item->size < UINT8_MAX ? (uint8_t)(item->size + 1) : 0;
        wire_u8(wire, &length);
        if (length == 0) {
            wire_fail(wire);
            return;
        }
        wire_bytes(wire, item, length - 1U);
    }
    list->count = count < AFP_INFO_LIST_LIMIT ? count : AFP_INFO_LIST_LIMIT;
}

static void directory_names(struct wire *wire, struct afp_server_info *info)
{
    uint8_t none = 0;
    wire_u8(wire, &none);
}

static void utf8_name(struct wire *wire, struct afp_server_info *info)
{
    wire_str16(wire, &info->utf8_name);
}

struct block {
    block_function *function;
    uint16_t flag; /* says whether the trailing offset is there; 0: always */
};

static const struct block leading[] = {{machine_type, 0}, {versions, 0}, {uams, 0}};

static const struct block trailing[] = {{signature, AFP_SERVER_SIGNATURE},
                                        {addresses, AFP_SERVER_TCP},
                                        {directory_names, AFP_SERVER_DIRECTORY_SERVICES},
                                        {utf8_name, AFP_SERVER_UTF8_NAME}};

#define LEADING  (sizeof leading / sizeof leading[0])
#define TRAILING (sizeof trailing / sizeof trailing[0])

static void block(struct wire *wire, const struct block *block, uint16_t offset, size_t base,
                  struct afp_server_info *info)
{
    bool present = block->flag == 0 || (info->flags & block->flag) != 0;
    if (wire->mode == WIRE_ENCODE) {
        struct wire start = *wire;
        if (present) {
            block->function(wire, info);
        }
        /* Nothing written: the offset stays 0. */
        if (wire->at > start.at) {
            wire_offset_resolve(&start, offset, base);
        }
        if (!wire_ok(&start)) {
            wire_fail(wire);
        }
    } else if (present && offset != 0) {
        struct wire there = wire_seek(wire, base, offset);
        block->function(&there, info);
        if (!wire_ok(&there)) {
            wire_fail(wire);
        }
    }
}

void afp_server_info(struct wire *wire, struct afp_server_info *info)
{
    size_t base = wire->at;
    uint16_t offsets[LEADING + TRAILING];
    if (wire->mode == WIRE_DECODE) {
        *info = (struct afp_server_info){0};
    }
    for (size_t i = 0; i < LEADING; i++) {
        offsets[i] = wire_offset(wire);
    }
    wire_reserved(wire, 2); /* no volume icon: offset 0 */
    wire_u16(wire, &info->flags);
    wire_pstr(wire, &info->server_name);
    wire_pad_even(wire);
    /* Servers older than a field end before its offset; the flags say how far to read (2.1). */
    for (size_t i = 0; i < TRAILING; i++) {
        bool there = wire->mode == WIRE_ENCODE || wire_left(wire) >= 2;
        offsets[LEADING + i] = there ? wire_offset(wire) : 0;
    }
    for (size_t i = 0; i < LEADING; i++) {
        block(wire, &leading[i], offsets[i], base, info);
    }
    for (size_t i = 0; i < TRAILING; i++) {
        block(wire, &trailing[i], offsets[LEADING + i], base, info);
    }
}

static bool list_has(const struct afp_info_list *list, struct span item)
{
    for (uint8_t i = 0; i < list->count; i++) {
        if (span_equals(list->items[i], item)) {
            return true;
        }
    }
    return false;
}

bool afp_highest_version(const struct afp_server_info *info, enum afp_version *version)
{
    for (size_t i = AFP_VERSION_COUNT; i-- > 0;) {
        if (list_has(&info->versions, span_from_string(afp_versions[i].string))) {
            *version = afp_versions[i].version;
            return true;
        }
    }
    return false;
}

/* "Netatalk4.5.1" as 0x040501; 0 for anything else. */
static unsigned netatalk_version(struct span machine_type)
{
    char text[32] = "";
    size_t length = machine_type.size < sizeof text ? machine_type.size : sizeof text - 1;
    memcpy(text, machine_type.data, length);
    unsigned major = 0;
    unsigned minor = 0;
    unsigned patch = 0;
    if (sscanf(text, "Netatalk%2u.%2u.%2u", &major, &minor, &patch) < 2) {
        return 0;
    }
    return major << 16 | minor << 8 | patch;
}

uint32_t afp_write_chunk(struct span machine_type, uint32_t quantum, enum afp_version version)
{
    unsigned netatalk = machine_type.size > 0 ? netatalk_version(machine_type) : 0;
    if (netatalk < 0x040400 || netatalk > 0x040501) {
        return quantum;
    }
    uint32_t block = version >= AFP_3_0 ? AFP_WRITE_EXT_BLOCK_SIZE : AFP_WRITE_BLOCK_SIZE;
    return quantum > block ? quantum - block : quantum;
}
