/*
 * progress.h - one line on stderr that says what runs and how long it will take, on a terminal
 * only.
 *
 * It is written with carriage returns and blanks: no terminal needs to know a code for it,
 * TERM=dumb none, and there are no colours that NO_COLOR could ask to leave out. A narrow terminal
 * gets the beginning of the line, as one that wraps could not be taken away again.
 */
#ifndef AFPBENCH_CLI_PROGRESS_H
#define AFPBENCH_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool enabled;           /* stderr is a terminal */
    size_t shown;           /* characters that stand there */
    uint64_t planned, done; /* work in bytes; 0 planned: no estimate */
    uint64_t begin_ns;
};

void progress_start(struct progress *progress);

/* From here on the estimate of the time left is made from the work that is done and to do. */
void progress_plan(struct progress *progress, uint64_t planned_bytes);
void progress_done(struct progress *progress, uint64_t bytes);

/* Replaces the line. */
void progress_show(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes the line away, before anything else is printed. */
void progress_clear(struct progress *progress);

#endif
