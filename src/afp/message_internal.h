/* message_internal.h - steps that the message functions share; for src/afp/message_*.c only. */
#ifndef AFPBENCH_AFP_MESSAGE_INTERNAL_H
#define AFPBENCH_AFP_MESSAGE_INTERNAL_H

#include "afp/message.h"

/* The command byte, and the byte that most requests leave unused after it. */
static inline void message_start(struct wire *wire, enum afp_command command)
{
    wire_constant_u8(wire, (uint8_t)command);
    wire_reserved(wire, 1);
}

/* A signed number that has 32 bits in the older call and 64 in the Ext one. */
static inline void message_number(struct wire *wire, bool wide, int64_t *value)
{
    if (wide) {
        uint64_t bits = (uint64_t)*value;
        wire_u64(wire, &bits);
        *value = (int64_t)bits;
        return;
    }
    if (wire->mode == WIRE_ENCODE && (*value > INT32_MAX || *value < INT32_MIN)) {
        wire_fail(wire);
    }
    uint32_t bits = (uint32_t)*value;
    wire_u32(wire, &bits);
    *value = (int32_t)bits;
}

/* A number of 32 bits that becomes the largest one when it does not fit (3.4). */
static inline void message_saturated(struct wire *wire, uint64_t *value)
{
    uint32_t bits = *value > UINT32_MAX ? UINT32_MAX : (uint32_t)*value;
    wire_u32(wire, &bits);
    if (wire->mode == WIRE_DECODE) {
        *value = bits;
    }
}

#endif
