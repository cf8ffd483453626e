/*
 * interrupt.h - Ctrl-C and its kin as something that can be polled.
 *
 * interrupt_open() blocks interrupt_signals() for the process and hands them to a descriptor;
 * whoever waits for anything also waits for that descriptor. Nothing runs in a signal
 * handler. Call it before any thread starts. The descriptor stays readable, so that every thread
 * sees the signal, until the program's main thread acknowledges it; then the next signal counts
 * anew.
 */
#ifndef AFPBENCH_BASE_INTERRUPT_H
#define AFPBENCH_BASE_INTERRUPT_H

#include "base/error.h"

#include <signal.h>

struct interrupt {
    int fd; /* readable while a signal is waiting */
};

/* SIGINT, SIGTERM and SIGHUP, but for those that whoever started the program had ignored: `nohup`
 * and a shell's background jobs mean it. */
void interrupt_signals(sigset_t *signals);

MUST_CHECK bool interrupt_open(struct interrupt *interrupt, struct error *error);

/* True if no signal is waiting, else false and ERROR_INTERRUPTED. Does not block. */
MUST_CHECK bool interrupt_check(const struct interrupt *interrupt, struct error *error);

/* Takes the waiting signal, if there is one. */
void interrupt_acknowledge(struct interrupt *interrupt);

void interrupt_close(struct interrupt *interrupt);

#endif
