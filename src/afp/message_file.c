/* Files, directories and forks: doc/protocol.md 5.3, 5.4. */
#include "afp/message_internal.h"

void afp_node_request(struct wire *wire, enum afp_command command, struct afp_node_request *message)
{
    wire_constant_u8(wire, (uint8_t)command);
    wire_u8(wire, &message->flag);
    wire_u16(wire, &message->volume);
    wire_u32(wire, &message->directory);
    afp_path(wire, &message->path);
}

void afp_create_directory_reply(struct wire *wire, uint32_t *directory)
{
    wire_u32(wire, directory);
}

void afp_rename_request(struct wire *wire, struct afp_rename_request *message)
{
    message_start(wire, AFP_RENAME);
    wire_u16(wire, &message->volume);
    wire_u32(wire, &message->directory);
    afp_path(wire, &message->path);
    afp_path(wire, &message->new_name);
}

void afp_move_request(struct wire *wire, enum afp_command command, struct afp_move_request *message)
{
    message_start(wire, command);
    wire_u16(wire, &message->volume);
    wire_u32(wire, &message->source_directory);
    wire_u32(wire, &message->target_directory);
    afp_path(wire, &message->source);
    afp_path(wire, &message->target);
    if (command == AFP_MOVE_AND_RENAME) {
        afp_path(wire, &message->new_name);
    }
}

void afp_copy_file_request(struct wire *wire, struct afp_copy_file_request *message)
{
    message_start(wire, AFP_COPY_FILE);
    wire_u16(wire, &message->source_volume);
    wire_u32(wire, &message->source_directory);
    wire_u16(wire, &message->target_volume);
    wire_u32(wire, &message->target_directory);
    afp_path(wire, &message->source);
    afp_path(wire, &message->target);
    afp_path(wire, &message->new_name);
}

void afp_get_node_parms_request(struct wire *wire, struct afp_get_node_parms_request *message)
{
    message_start(wire, AFP_GET_FILE_DIR_PARMS);
    wire_u16(wire, &message->volume);
    wire_u32(wire, &message->directory);
    wire_u16(wire, &message->file_bitmap);
    wire_u16(wire, &message->directory_bitmap);
    afp_path(wire, &message->path);
}

/* The byte that tells a directory from a file (5.3). */
static void node_kind(struct wire *wire, enum afp_node_kind *kind)
{
    uint8_t flag = *kind == AFP_DIRECTORY ? 0x80 : 0;
    wire_u8(wire, &flag);
    *kind = flag & 0x80 ? AFP_DIRECTORY : AFP_FILE;
}

void afp_get_node_parms_reply(struct wire *wire, struct afp_get_node_parms_reply *message)
{
    wire_u16(wire, &message->file_bitmap);
    wire_u16(wire, &message->directory_bitmap);
    node_kind(wire, &message->kind);
    wire_reserved(wire, 1);
    uint16_t bitmap = message->kind == AFP_FILE ? message->file_bitmap : message->directory_bitmap;
    afp_node_parms(wire, message->kind, bitmap, &message->parms);
}

void afp_set_node_parms_request(struct wire *wire, enum afp_command command,
                                struct afp_set_node_parms_request *message)
{
    message_start(wire, command);
    wire_u16(wire, &message->volume);
    wire_u32(wire, &message->directory);
    wire_u16(wire, &message->bitmap);
    afp_path(wire, &message->path);
    wire_pad_even(wire);
    afp_node_parms(wire, AFP_FILE, message->bitmap, &message->parms);
}

void afp_enumerate_request(struct wire *wire, enum afp_command command,
                           struct afp_enumerate_request *message)
{
    message_start(wire, command);
    wire_u16(wire, &message->volume);
    wire_u32(wire, &message->directory);
    wire_u16(wire, &message->file_bitmap);
    wire_u16(wire, &message->directory_bitmap);
    wire_u16(wire, &message->count);
    if (command == AFP_ENUMERATE_EXT2) {
        wire_u32(wire, &message->start);
        wire_u32(wire, &message->reply_limit);
    } else {
        uint16_t start = (uint16_t)message->start;
        uint16_t limit = (uint16_t)message->reply_limit;
        wire_u16(wire, &start);
        wire_u16(wire, &limit);
        message->start = start;
        message->reply_limit = limit;
    }
    afp_path(wire, &message->path);
}

void afp_enumerate_reply(struct wire *wire, struct afp_enumerate_reply *message)
{
    wire_u16(wire, &message->file_bitmap);
    wire_u16(wire, &message->directory_bitmap);
    wire_u16(wire, &message->count);
}

/* The length of an entry, which counts itself: one byte in FPEnumerate, two in the Ext forms. */
static void entry_length(struct wire *wire, bool wide, uint16_t *length)
{
    if (wide) {
        wire_u16(wire, length);
        return;
    }
    if (*length > UINT8_MAX) {
        wire_fail(wire);
    }
    uint8_t narrow = (uint8_t)*length;
    wire_u8(wire, &narrow);
    *length = narrow;
}

static void entry_body(struct wire *wire, bool wide, const struct afp_enumerate_reply *head,
                       struct afp_enumerate_entry *entry)
{
    node_kind(wire, &entry->kind);
    if (wide) {
        wire_reserved(wire, 1);
    }
    uint16_t bitmap = entry->kind == AFP_FILE ? head->file_bitmap : head->directory_bitmap;
    afp_node_parms(wire, entry->kind, bitmap, &entry->parms);
}

void afp_enumerate_entry(struct wire *wire, enum afp_command command,
                         const struct afp_enumerate_reply *head, struct afp_enumerate_entry *entry)
{
    bool wide = command != AFP_ENUMERATE;
    size_t start = wire->at;
    uint16_t length = 0;
    entry_length(wire, wide, &length);
    if (wire->mode == WIRE_ENCODE) {
        entry_body(wire, wide, head, entry);
        wire_pad_even(wire);
        if (wire->at - start > UINT16_MAX) {
            wire_fail(wire);
        }
        /* The length stands first, but is known last. */
        if (wire_ok(wire)) {
            struct wire field = wire_encoder(wire->out, wire->size);
            field.at = start;
            length = (uint16_t)(wire->at - start);
            entry_length(&field, wide, &length);
            wire->failed = field.failed;
        }
        return;
    }
    size_t header = wire->at - start;
    if (!wire_ok(wire) || length < header || length - header > wire_left(wire)) {
        wire_fail(wire);
        return;
    }
    struct wire body = *wire;
    body.size = start + length;
    entry_body(&body, wide, head, entry);
    wire->at = start + length;
    wire->failed = body.failed;
}

void afp_open_fork_request(struct wire *wire, struct afp_open_fork_request *message)
{
    wire_constant_u8(wire, AFP_OPEN_FORK);
    wire_u8(wire, &message->resource);
    wire_u16(wire, &message->volume);
    wire_u32(wire, &message->directory);
    wire_u16(wire, &message->bitmap);
    wire_u16(wire, &message->access);
    afp_path(wire, &message->path);
}

void afp_open_fork_reply(struct wire *wire, struct afp_open_fork_reply *message)
{
    wire_u16(wire, &message->bitmap);
    wire_u16(wire, &message->fork);
    afp_node_parms(wire, AFP_FILE, message->bitmap, &message->parms);
}

void afp_get_fork_parms_request(struct wire *wire, struct afp_get_fork_parms_request *message)
{
    message_start(wire, AFP_GET_FORK_PARMS);
    wire_u16(wire, &message->fork);
    wire_u16(wire, &message->bitmap);
}

void afp_get_fork_parms_reply(struct wire *wire, struct afp_get_fork_parms_reply *message)
{
    wire_u16(wire, &message->bitmap);
    afp_node_parms(wire, AFP_FILE, message->bitmap, &message->parms);
}

void afp_set_fork_parms_request(struct wire *wire, struct afp_set_fork_parms_request *message)
{
    message_start(wire, AFP_SET_FORK_PARMS);
    wire_u16(wire, &message->fork);
    wire_u16(wire, &message->bitmap);
    if (message->bitmap & (AFP_FILE_DATA_LENGTH_EXT | AFP_FILE_RESOURCE_LENGTH_EXT)) {
        wire_u64(wire, &message->length);
    } else {
        message_saturated(wire, &message->length);
    }
}

void afp_read_request(struct wire *wire, enum afp_command command, struct afp_read_request *message)
{
    bool wide = command == AFP_READ_EXT;
    message_start(wire, command);
    wire_u16(wire, &message->fork);
    message_number(wire, wide, &message->offset);
    message_number(wire, wide, &message->count);
    if (!wide) {
        wire_u8(wire, &message->newline_mask);
        wire_u8(wire, &message->newline_char);
    }
}

void afp_write_request(struct wire *wire, enum afp_command command,
                       struct afp_write_request *message)
{
    bool wide = command == AFP_WRITE_EXT;
    wire_constant_u8(wire, (uint8_t)command);
    wire_u8(wire, &message->from_end);
    wire_u16(wire, &message->fork);
    message_number(wire, wide, &message->offset);
    message_number(wire, wide, &message->count);
}

void afp_lock_request(struct wire *wire, enum afp_command command, struct afp_lock_request *message)
{
    bool wide = command == AFP_BYTE_RANGE_LOCK_EXT;
    wire_constant_u8(wire, (uint8_t)command);
    wire_u8(wire, &message->flags);
    wire_u16(wire, &message->fork);
    message_number(wire, wide, &message->offset);
    message_number(wire, wide, &message->length);
}

void afp_offset_reply(struct wire *wire, enum afp_command command, uint64_t *offset)
{
    if (command == AFP_WRITE_EXT || command == AFP_BYTE_RANGE_LOCK_EXT) {
        wire_u64(wire, offset);
    } else {
        message_saturated(wire, offset);
    }
}
