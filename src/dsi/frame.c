#include "dsi/frame.h"

static void header_fields(struct wire *wire, struct dsi_header *header)
{
    wire_u8(wire, &header->flags);
    wire_u8(wire, &header->command);
    wire_u16(wire, &header->request_id);
    wire_u32(wire, &header->offset_or_result);
    wire_u32(wire, &header->length);
    wire_reserved(wire, 4);
}

void dsi_header_encode(uint8_t bytes[DSI_HEADER_SIZE], const struct dsi_header *header)
{
    struct wire wire = wire_encoder(bytes, DSI_HEADER_SIZE);
    struct dsi_header copy = *header;
    header_fields(&wire, &copy);
}

struct dsi_header dsi_header_decode(const uint8_t bytes[DSI_HEADER_SIZE])
{
    struct wire wire = wire_decoder(bytes, DSI_HEADER_SIZE);
    struct dsi_header header;
    header_fields(&wire, &header);
    return header;
}

int32_t dsi_result(const struct dsi_header *header)
{
    uint32_t raw = header->offset_or_result;
    if (raw >> 8 == 0xFB) {
        raw |= 0xFFFF0000U;
    }
    return (int32_t)raw;
}

const char *dsi_result_name(int32_t result)
{
    static const struct {
        int32_t result;
        const char *name;
    } names[] = {
        {-1066, "bad version"},    {-1067, "buffer too small"}, {-1068, "no more sessions"},
        {-1069, "no server"},      {-1070, "parameter error"},  {-1071, "server busy"},
        {-1072, "session closed"}, {-1073, "size error"},       {-1074, "too many clients"},
        {-1075, "no ack"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].result == result) {
            return names[i].name;
        }
    }
    return NULL;
}

const char *dsi_command_name(uint8_t command)
{
    static const char *const names[] = {
        [DSI_CLOSE_SESSION] = "DSICloseSession",
        [DSI_COMMAND] = "DSICommand",
        [DSI_GET_STATUS] = "DSIGetStatus",
        [DSI_OPEN_SESSION] = "DSIOpenSession",
        [DSI_TICKLE] = "DSITickle",
        [DSI_WRITE] = "DSIWrite",
        [DSI_ATTENTION] = "DSIAttention",
    };
    const char *name = command < sizeof names / sizeof names[0] ? names[command] : NULL;
    return name != NULL ? name : "unknown DSI command";
}

/* 1.4: the options and where each is kept; all three hold 32 bits. */
enum { OPTION_COUNT = 3 };

static uint32_t *option_value(struct dsi_options *options, uint8_t type)
{
    uint32_t *const values[OPTION_COUNT] = {&options->server_quantum, &options->attention_quantum,
                                            &options->replay_cache_size};
    return type < OPTION_COUNT ? values[type] : NULL;
}

static void encode_options(struct wire *wire, struct dsi_options *options)
{
    for (uint8_t type = 0; type < OPTION_COUNT; type++) {
        uint32_t *value = option_value(options, type);
        if (*value != 0) {
            uint8_t length = sizeof *value;
            wire_u8(wire, &type);
            wire_u8(wire, &length);
            wire_u32(wire, value);
        }
    }
}

void dsi_options(struct wire *wire, struct dsi_options *options)
{
    if (wire->mode == WIRE_ENCODE) {
        encode_options(wire, options);
        return;
    }
    *options = (struct dsi_options){0};
    while (wire_ok(wire) && wire_left(wire) > 0) {
        uint8_t type;
        uint8_t length;
        wire_u8(wire, &type);
        wire_u8(wire, &length);
        uint32_t *value = option_value(options, type);
        if (value == NULL) {
            wire_reserved(wire, length);
        } else if (length != sizeof *value) {
            wire_fail(wire);
        } else {
            wire_u32(wire, value);
            options->has_server_quantum |= type == 0;
        }
    }
}
