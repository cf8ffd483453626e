#include "base/wire.h"

#include <string.h>

struct span span_from_string(const char *text)
{
    return (struct span){(const uint8_t *)text, strlen(text)};
}

bool span_equals(struct span a, struct span b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

struct wire wire_encoder(void *buffer, size_t size_bytes)
{
    return (struct wire){.mode = WIRE_ENCODE, .out = buffer, .size = size_bytes};
}

struct wire wire_decoder(const void *bytes, size_t size_bytes)
{
    return (struct wire){.mode = WIRE_DECODE, .in = bytes, .size = size_bytes};
}

size_t wire_left(const struct wire *wire)
{
    return wire->size - wire->at;
}

void wire_fail(struct wire *wire)
{
    wire->failed = true;
}

/* The offset of `count` bytes that the cursor then has passed; false if they are not there. */
static bool take(struct wire *wire, size_t count, size_t *offset)
{
    if (wire->failed || count > wire_left(wire)) {
        wire->failed = true;
        return false;
    }
    *offset = wire->at;
    wire->at += count;
    return true;
}

static void integer(struct wire *wire, uint64_t *value, size_t size)
{
    size_t offset;
    if (!take(wire, size, &offset)) {
        if (wire->mode == WIRE_DECODE) {
            *value = 0;
        }
        return;
    }
    if (wire->mode == WIRE_ENCODE) {
        for (size_t i = 0; i < size; i++) {
            wire->out[offset + i] = (uint8_t)(*value >> (8 * (size - 1 - i)));
        }
        return;
    }
    *value = 0;
    for (size_t i = 0; i < size; i++) {
        *value = *value << 8 | wire->in[offset + i];
    }
}

void wire_u8(struct wire *wire, uint8_t *value)
{
    uint64_t wide = *value;
    integer(wire, &wide, 1);
    *value = (uint8_t)wide;
}

void wire_u16(struct wire *wire, uint16_t *value)
{
    uint64_t wide = *value;
    integer(wire, &wide, 2);
    *value = (uint16_t)wide;
}

void wire_u32(struct wire *wire, uint32_t *value)
{
    uint64_t wide = *value;
    integer(wire, &wide, 4);
    *value = (uint32_t)wide;
}

void wire_u64(struct wire *wire, uint64_t *value)
{
    integer(wire, value, 8);
}

void wire_constant_u8(struct wire *wire, uint8_t value)
{
    uint8_t found = value;
    wire_u8(wire, &found);
    if (found != value) {
        wire->failed = true;
    }
}

void wire_reserved(struct wire *wire, size_t count)
{
    size_t offset;
    if (take(wire, count, &offset) && wire->mode == WIRE_ENCODE) {
        memset(wire->out + offset, 0, count);
    }
}

void wire_bytes(struct wire *wire, struct span *bytes, size_t size)
{
    size_t offset;
    if (wire->mode == WIRE_ENCODE && bytes->size < size) {
        wire->failed = true;
    }
    if (!take(wire, size, &offset)) {
        if (wire->mode == WIRE_DECODE) {
            *bytes = (struct span){0};
        }
    } else if (wire->mode == WIRE_DECODE) {
        *bytes = (struct span){wire->in + offset, size};
    } else if (size > 0) {
        memcpy(wire->out + offset, bytes->data, size);
    }
}

void wire_rest(struct wire *wire, struct span *bytes)
{
    wire_bytes(wire, bytes, wire->mode == WIRE_ENCODE ? bytes->size : wire_left(wire));
}

void wire_array(struct wire *wire, uint8_t *bytes, size_t size)
{
    struct span span = {bytes, size};
    wire_bytes(wire, &span, size);
    if (wire->mode == WIRE_DECODE) {
        if (span.size == size) {
            memcpy(bytes, span.data, size);
        } else {
            memset(bytes, 0, size);
        }
    }
}

void wire_pstr(struct wire *wire, struct span *text)
{
    if (wire->mode == WIRE_ENCODE && text->size > UINT8_MAX) {
        wire->failed = true;
    }
    uint8_t length = (uint8_t)text->size;
    wire_u8(wire, &length);
    wire_bytes(wire, text, length);
}

void wire_str16(struct wire *wire, struct span *text)
{
    if (wire->mode == WIRE_ENCODE && text->size > UINT16_MAX) {
        wire->failed = true;
    }
    uint16_t length = (uint16_t)text->size;
    wire_u16(wire, &length);
    wire_bytes(wire, text, length);
}

void wire_pad_even(struct wire *wire)
{
    if (wire->at % 2 != 0) {
        wire_reserved(wire, 1);
    }
}

uint16_t wire_offset(struct wire *wire)
{
    uint16_t value = (uint16_t)wire->at;
    if (wire->mode == WIRE_ENCODE) {
        if (wire->at > UINT16_MAX) {
            wire->failed = true;
        }
        wire_reserved(wire, 2);
        return value;
    }
    wire_u16(wire, &value);
    return value;
}

void wire_offset_resolve(struct wire *wire, uint16_t place, size_t base)
{
    if (wire->failed || wire->mode != WIRE_ENCODE) {
        return;
    }
    if (wire->at < base || wire->at - base > UINT16_MAX) {
        wire->failed = true;
        return;
    }
    struct wire field = wire_encoder(wire->out, wire->size);
    field.at = place;
    uint16_t distance = (uint16_t)(wire->at - base);
    wire_u16(&field, &distance);
}

struct wire wire_seek(const struct wire *wire, size_t base, uint16_t offset)
{
    struct wire there = *wire;
    if (base > wire->size || offset > wire->size - base) {
        there.failed = true;
    } else {
        there.at = base + offset;
    }
    return there;
}
