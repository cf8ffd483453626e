/* Every AFP message: what was decoded, encoded again and decoded again, is the same.
 *
 * Input: the row of message_rows[], then the bytes of the message. */
#include "../unit/message_rows.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define ENCODED_LIMIT ((size_t)1 << 18)

union message {
    uint8_t bytes[MESSAGE_LIMIT];
    max_align_t align;
};

static bool decode(const struct message_row *row, struct span bytes, union message *message)
{
    struct wire in = wire_decoder(bytes.data, bytes.size);
    memset(message, 0, sizeof *message);
    row->run(&in, message);
    fuzz_require(in.at <= bytes.size, "read past the end");
    return wire_ok(&in);
}

static struct span encode(const struct message_row *row, union message *message, uint8_t *bytes)
{
    struct wire out = wire_encoder(bytes, ENCODED_LIMIT);
    row->run(&out, message);
    fuzz_require(wire_ok(&out), "what was decoded cannot be encoded");
    return (struct span){bytes, out.at};
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    static uint8_t first[ENCODED_LIMIT];
    static uint8_t second[ENCODED_LIMIT];
    union message message;
    union message again;
    struct wire input = wire_decoder(bytes, size);
    const struct message_row *row = &message_rows[fuzz_u8(&input) % message_row_count];
    struct span rest = fuzz_rest(&input);
    if (decode(row, rest, &message)) {
        struct span once = encode(row, &message, first);
        fuzz_require(decode(row, once, &again), "what was encoded cannot be decoded");
        fuzz_require(span_equals(once, encode(row, &again, second)), "not the same again");
    }
    fuzz_release(rest);
}
