/* progress.h - one line on stderr that says what runs, on a terminal only. */
#ifndef AFPBENCH_TOOLS_PROGRESS_H
#define AFPBENCH_TOOLS_PROGRESS_H

#include <stdbool.h>

struct progress {
    bool enabled; /* stderr is a terminal */
    bool shown;
};

void progress_start(struct progress *progress);

/* Replaces the line. */
void progress_show(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes the line away, before anything else is printed. */
void progress_clear(struct progress *progress);

#endif
