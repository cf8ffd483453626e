/* A server's description of itself, and what a client makes of it. Input: the reply. */
#include "afp/client.h"
#include "afp/login_method.h"
#include "afp/server_info.h"
#include "fuzz.h"
#include "uam/uam.h"

#define ENCODED_LIMIT ((size_t)64 * 1024)

static struct span encode(struct afp_server_info *info, uint8_t *bytes)
{
    struct wire out = wire_encoder(bytes, ENCODED_LIMIT);
    afp_server_info(&out, info);
    fuzz_require(wire_ok(&out), "what was decoded cannot be encoded");
    return (struct span){bytes, out.at};
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    static uint8_t first[ENCODED_LIMIT];
    static uint8_t second[ENCODED_LIMIT];
    struct wire input = wire_decoder(bytes, size);
    struct span reply = fuzz_rest(&input);
    struct afp_server_info info;
    struct wire in = wire_decoder(reply.data, reply.size);
    afp_server_info(&in, &info);
    if (wire_ok(&in)) {
        struct afp_server_info again;
        const struct uam *uam;
        struct error error = {0};
        fuzz_require_error(login_method_choose(&uam, &info, &error), &error);
        uint32_t chunk = afp_write_chunk(info.machine_type, 65536, AFP_3_4);
        fuzz_require(chunk > 0 && chunk <= 65536, "a chunk that no server takes");
        struct span once = encode(&info, first);
        in = wire_decoder(once.data, once.size);
        afp_server_info(&in, &again);
        fuzz_require(wire_ok(&in), "what was encoded cannot be decoded");
        fuzz_require(span_equals(once, encode(&again, second)), "not the same again");
    }
    fuzz_release(reply);
}
