/* Paths and parameter blocks: doc/protocol.md 3.1 and 3.4. */
#include "afp/message_internal.h"

void afp_path(struct wire *wire, struct afp_path *path)
{
    wire_u8(wire, &path->type);
    switch (path->type) {
    case AFP_PATH_SHORT:
    case AFP_PATH_LONG:
        path->hint = 0;
        wire_pstr(wire, &path->name);
        break;
    case AFP_PATH_UTF8:
        wire_u32(wire, &path->hint);
        wire_str16(wire, &path->name);
        break;
    default:
        path->name = (struct span){0};
        wire_fail(wire);
    }
}

/* Names are stored after the fixed part of a block; the fixed part holds their offsets. */
struct name_field {
    struct span *name;
    uint16_t offset; /* as wire_offset() gave it */
    bool utf8;       /* hint and 16-bit length before it, else a length byte */
};

struct name_list {
    size_t base; /* where the block began */
    size_t count;
    struct name_field fields[3];
};

static void name_offset(struct wire *wire, struct name_list *list, struct span *name, bool utf8)
{
    uint16_t offset = wire_offset(wire);
    if (utf8) {
        wire_reserved(wire, 4);
    }
    list->fields[list->count++] = (struct name_field){name, offset, utf8};
}

static void name_value(struct wire *wire, struct name_field *field)
{
    if (field->utf8) {
        uint32_t hint = wire->mode == WIRE_ENCODE ? AFP_TEXT_HINT_UTF8 : 0;
        wire_u32(wire, &hint);
        wire_str16(wire, field->name);
    } else {
        wire_pstr(wire, field->name);
    }
}

static void name_values(struct wire *wire, struct name_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct name_field *field = &list->fields[i];
        if (wire->mode == WIRE_ENCODE) {
            wire_offset_resolve(wire, field->offset, list->base);
            name_value(wire, field);
        } else if (field->offset == 0) {
            *field->name = (struct span){0}; /* Netatalk's short name (3.4) */
        } else {
            struct wire there = wire_seek(wire, list->base, field->offset);
            name_value(&there, field);
            if (!wire_ok(&there)) {
                wire_fail(wire);
            }
        }
    }
}

/* The fields stand in the order of their bits, names last: an unknown bit would shift the rest. */
void afp_volume_parms(struct wire *wire, uint16_t bitmap, struct afp_volume_parms *parms)
{
    struct name_list names = {.base = wire->at};
    if (bitmap & ~(unsigned)AFP_VOLUME_ALL) {
        wire_fail(wire);
    }
    if (bitmap & AFP_VOLUME_ATTRIBUTES) {
        wire_u16(wire, &parms->attributes);
    }
    if (bitmap & AFP_VOLUME_SIGNATURE) {
        wire_u16(wire, &parms->signature);
    }
    uint32_t *const words[] = {&parms->created, &parms->modified, &parms->backed_up};
    for (size_t i = 0; i < 3; i++) {
        if (bitmap & (unsigned)AFP_VOLUME_CREATED << i) {
            wire_u32(wire, words[i]);
        }
    }
    if (bitmap & AFP_VOLUME_ID) {
        wire_u16(wire, &parms->id);
    }
    if (bitmap & AFP_VOLUME_FREE) {
        wire_u32(wire, &parms->free_bytes);
    }
    if (bitmap & AFP_VOLUME_TOTAL) {
        wire_u32(wire, &parms->total_bytes);
    }
    if (bitmap & AFP_VOLUME_NAME) {
        name_offset(wire, &names, &parms->name, false);
    }
    if (bitmap & AFP_VOLUME_FREE_EXT) {
        wire_u64(wire, &parms->free_bytes_ext);
    }
    if (bitmap & AFP_VOLUME_TOTAL_EXT) {
        wire_u64(wire, &parms->total_bytes_ext);
    }
    if (bitmap & AFP_VOLUME_BLOCK_SIZE) {
        wire_u32(wire, &parms->block_size);
    }
    name_values(wire, &names);
}

/* The bits that files and directories share: 0x0001 to 0x0100. */
static void common_parms(struct wire *wire, uint16_t bitmap, struct afp_node_parms *parms,
                         struct name_list *names)
{
    if (bitmap & AFP_NODE_ATTRIBUTES) {
        wire_u16(wire, &parms->attributes);
    }
    uint32_t *const words[] = {&parms->parent_id, &parms->created, &parms->modified,
                               &parms->backed_up};
    for (size_t i = 0; i < 4; i++) {
        if (bitmap & (unsigned)AFP_NODE_PARENT_ID << i) {
            wire_u32(wire, words[i]);
        }
    }
    if (bitmap & AFP_NODE_FINDER_INFO) {
        wire_array(wire, parms->finder_info, sizeof parms->finder_info);
    }
    if (bitmap & AFP_NODE_LONG_NAME) {
        name_offset(wire, names, &parms->long_name, false);
    }
    if (bitmap & AFP_NODE_SHORT_NAME) {
        name_offset(wire, names, &parms->short_name, false);
    }
    if (bitmap & AFP_NODE_ID) {
        wire_u32(wire, &parms->id);
    }
}

static void file_lengths(struct wire *wire, uint16_t bitmap, struct afp_node_parms *parms)
{
    if (bitmap & AFP_FILE_DATA_LENGTH) {
        message_saturated(wire, &parms->data_length);
    }
    if (bitmap & AFP_FILE_RESOURCE_LENGTH) {
        message_saturated(wire, &parms->resource_length);
    }
    if (bitmap & AFP_FILE_DATA_LENGTH_EXT) {
        wire_u64(wire, &parms->data_length);
    }
}

static void directory_details(struct wire *wire, uint16_t bitmap, struct afp_node_parms *parms)
{
    if (bitmap & AFP_DIRECTORY_OFFSPRING) {
        wire_u16(wire, &parms->offspring);
    }
    uint32_t *const words[] = {&parms->owner_id, &parms->group_id, &parms->access_rights};
    for (size_t i = 0; i < 3; i++) {
        if (bitmap & (unsigned)AFP_DIRECTORY_OWNER << i) {
            wire_u32(wire, words[i]);
        }
    }
}

void afp_node_parms(struct wire *wire, enum afp_node_kind kind, uint16_t bitmap,
                    struct afp_node_parms *parms)
{
    struct name_list names = {.base = wire->at};
    unsigned known = kind == AFP_FILE ? AFP_FILE_ALL : AFP_DIRECTORY_ALL;
    if (bitmap & ~known) {
        wire_fail(wire);
    }
    common_parms(wire, bitmap, parms, &names);
    if (kind == AFP_FILE) {
        file_lengths(wire, bitmap, parms);
    } else {
        directory_details(wire, bitmap, parms);
    }
    /* From here on a bit means the same for both again. */
    if (bitmap & AFP_NODE_UTF8_NAME) {
        name_offset(wire, &names, &parms->utf8_name, true);
    }
    if (kind == AFP_FILE && (bitmap & AFP_FILE_RESOURCE_LENGTH_EXT)) {
        wire_u64(wire, &parms->resource_length);
    }
    if (bitmap & AFP_NODE_UNIX_PRIVILEGES) {
        wire_u32(wire, &parms->unix_privileges.uid);
        wire_u32(wire, &parms->unix_privileges.gid);
        wire_u32(wire, &parms->unix_privileges.mode);
        wire_u32(wire, &parms->unix_privileges.access);
    }
    name_values(wire, &names);
}
