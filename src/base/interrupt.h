/*
 * interrupt.h - Ctrl-C and its kin as something that can be polled.
 *
 * interrupt_open() blocks SIGINT, SIGTERM and SIGHUP for the process and hands them to a
 * descriptor; whoever waits for anything also waits for that descriptor. Nothing runs in a signal
 * handler. Call it before any thread starts; the value belongs to one thread.
 */
#ifndef AFPBENCH_BASE_INTERRUPT_H
#define AFPBENCH_BASE_INTERRUPT_H

#include "base/error.h"

struct interrupt {
    int fd;         /* readable when a signal is waiting */
    unsigned count; /* signals taken so far */
};

bool interrupt_open(struct interrupt *interrupt, struct error *error);

/* Takes a waiting signal without blocking: true if there is none, else false and
 * ERROR_INTERRUPTED. */
bool interrupt_check(struct interrupt *interrupt, struct error *error);

void interrupt_close(struct interrupt *interrupt);

#endif
