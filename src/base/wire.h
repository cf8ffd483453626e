/*
 * wire.h - a bounded cursor over bytes that go to or come from the network, big-endian.
 *
 * One function per message describes its layout by calling wire_u16(), wire_pstr(), … on each field
 * in order; the cursor's mode decides whether the fields are written or read. So a layout exists
 * once, and client and server share it.
 *
 * The cursor never passes its end. A step that does not fit sets `failed` and does nothing; every
 * later step does nothing either, and decoding yields zeros and empty spans. Check wire_ok() once,
 * after the last field. Spans that decoding yields point into the cursor's buffer and live as long
 * as it does. Not for use by two threads at once.
 */
#ifndef AFPBENCH_BASE_WIRE_H
#define AFPBENCH_BASE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that somebody else owns. */
struct span {
    const uint8_t *data;
    size_t size;
};

struct span span_from_string(const char *text);
bool span_equals(struct span a, struct span b);

enum wire_mode { WIRE_ENCODE, WIRE_DECODE };

struct wire {
    enum wire_mode mode;
    const uint8_t *in; /* decoding: the bytes read */
    uint8_t *out;      /* encoding: the bytes written */
    size_t size;
    size_t at; /* offset of the next byte; padding goes by its parity */
    bool failed;
};

struct wire wire_encoder(void *buffer, size_t size_bytes);
struct wire wire_decoder(const void *bytes, size_t size_bytes);

static inline bool wire_ok(const struct wire *wire)
{
    return !wire->failed;
}

/* Bytes between the cursor and the end of the buffer. */
size_t wire_left(const struct wire *wire);

/* Marks the message as malformed: for a field whose value the layout does not allow. */
void wire_fail(struct wire *wire);

/* Integers. */
void wire_u8(struct wire *wire, uint8_t *value);
void wire_u16(struct wire *wire, uint16_t *value);
void wire_u32(struct wire *wire, uint32_t *value);
void wire_u64(struct wire *wire, uint64_t *value);

/* A byte that is always the same: written as it is, and required when read. */
void wire_constant_u8(struct wire *wire, uint8_t value);

/* `count` bytes that mean nothing: written as zeros, skipped when read. */
void wire_reserved(struct wire *wire, size_t count);

/* `size` raw bytes. Encoding takes them from `bytes` (which must hold `size`). */
void wire_bytes(struct wire *wire, struct span *bytes, size_t size);

/* All bytes up to the end of the buffer; encoding writes the span whole. */
void wire_rest(struct wire *wire, struct span *bytes);

/* An array of `size` bytes that the caller owns: copied out when encoding, in when decoding. */
void wire_array(struct wire *wire, uint8_t *bytes, size_t size);

/* A string with a length byte ("pstr"), or with a 16-bit length, before it. */
void wire_pstr(struct wire *wire, struct span *text);
void wire_str16(struct wire *wire, struct span *text);

/* One zero byte if the cursor's offset is odd (doc/protocol.md, Conventions). */
void wire_pad_even(struct wire *wire);

/*
 * A field of two bytes that holds the offset, counted from `base`, of something stored later
 * (doc/protocol.md 3.4). Encoding leaves room for it and returns its place for
 * wire_offset_resolve(). Decoding returns the offset read.
 */
uint16_t wire_offset(struct wire *wire);
/* Encoding: writes the distance from `base` to the cursor into the field at `place`. */
void wire_offset_resolve(struct wire *wire, uint16_t place, size_t base);
/* Decoding: a cursor over the same bytes that stands `offset` bytes after `base`. */
struct wire wire_seek(const struct wire *wire, size_t base, uint16_t offset);

#endif
