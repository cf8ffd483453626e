#include "cli/trace.h"

#include "afp/afp.h"

#include <inttypes.h>
#include <stdio.h>

static void show_frame(bool sent, const struct dsi_header *header)
{
    fprintf(stderr, "%c %s flags %u id %u %s %" PRId32 " length %" PRIu32 "\n", sent ? '>' : '<',
            dsi_command_name(header->command), (unsigned)header->flags,
            (unsigned)header->request_id, header->flags == DSI_REPLY ? "result" : "offset",
            dsi_result(header), header->length);
}

static void show_call(bool sent, const struct dsi_header *header, uint8_t afp_command)
{
    const char *name = afp_command_name(afp_command);
    if (sent) {
        fprintf(stderr, "> %s #%u, %" PRIu32 " bytes\n", name, (unsigned)header->request_id,
                header->length);
    } else {
        int32_t result = dsi_result(header);
        fprintf(stderr, "< %s #%u: %s (%" PRId32 "), %" PRIu32 " bytes\n", name,
                (unsigned)header->request_id, afp_result_name(result), result, header->length);
    }
}

static void on_frame(void *context, bool sent, const struct dsi_header *header, uint8_t afp_command)
{
    const struct trace *trace = context;
    bool carries_call = header->command == DSI_COMMAND || header->command == DSI_WRITE;
    if (trace->frames) {
        show_frame(sent, header);
    }
    if (trace->calls && carries_call) {
        show_call(sent, header, afp_command);
    }
}

static void on_attention(void *context, uint16_t code)
{
    const struct trace *trace = context;
    if (trace->calls || (code & (DSI_ATTENTION_SHUTDOWN | DSI_ATTENTION_CRASH))) {
        fprintf(stderr, "%s: the server sends attention 0x%04x%s\n", trace->program, (unsigned)code,
                code & DSI_ATTENTION_SHUTDOWN ? ": it is shutting down" : "");
    }
}

void trace_start(struct trace *trace, const char *program, bool calls, bool frames)
{
    *trace = (struct trace){.program = program, .calls = calls || frames, .frames = frames};
    trace->observer = (struct dsi_observer){
        .frame = calls || frames ? on_frame : NULL, .attention = on_attention, .context = trace};
}
