/*
 * invocation.h - one invocation of the test program, on the client's side of a lab or just here:
 * its outputs are taken, its marks are handed on and answered.
 */
#ifndef AFPBENCH_HARNESS_INVOCATION_H
#define AFPBENCH_HARNESS_INVOCATION_H

#include "base/interrupt.h"
#include "netlab/lab.h"
#include "result/marks.h"

/* Where the test program finds the descriptor for its marks. */
#define INVOCATION_MARK_FD      3
#define INVOCATION_MARK_FD_TEXT "3"

struct harness_invocation {
    struct lab *lab;      /* NULL: none */
    const char *password; /* in its environment, which nobody else sees; NULL: none */
    const struct interrupt *interrupt;
    char *const *arguments;
    bool marks;        /* it gets a descriptor for them */
    uint64_t limit_ns; /* from now on; 0: none */
    /* Called for each mark; the answer is given when it returns true. `again`, false before, asks
     * for the run again. */
    MUST_CHECK bool (*on_mark)(void *context, const struct mark *mark, bool *again,
                               struct error *error);
    void *context;
    /* What it wrote, the caller's to release; NULL when it could not be started. */
    char *output, *messages;
    int status; /* as waitpid() tells */
};

/* Runs it to its end. False: it could not be started or watched, on_mark failed, or Ctrl-C; it has
 * then been ended. True says nothing of its success. */
MUST_CHECK bool harness_invocation_run(struct harness_invocation *invocation, struct error *error);

/* Whether it did well; else ERROR_SYSTEM, or ERROR_INTERRUPTED, with how it ended; the error's code
 * is its exit code, 0 after a signal. */
MUST_CHECK bool harness_invocation_check(const struct harness_invocation *invocation,
                                         struct error *error);

#endif
