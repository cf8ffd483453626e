/* trace.h - what -v and -V show on stderr: AFP calls with their results, and DSI frames too. */
#ifndef AFPBENCH_CLI_TRACE_H
#define AFPBENCH_CLI_TRACE_H

#include "dsi/session.h"

struct trace {
    const char *program;
    bool calls;  /* -v */
    bool frames; /* -V */
    struct dsi_observer observer;
};

/* Fills the observer; `trace` must stay where it is. */
void trace_start(struct trace *trace, const char *program, bool calls, bool frames);

#endif
