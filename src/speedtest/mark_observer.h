/*
 * mark_observer.h - tells a descriptor when each run begins and ends, and waits for the answer
 * (--mark-fd).
 *
 * Before the timed section of a run, when everything is prepared, and after it, before anything is
 * undone, one line is written and one line awaited (result/marks.h). So another program
 * can read its counters while nothing moves; answered "again", the run is made again. Waiting keeps
 * every session alive and ends at Ctrl-C. Nothing of it is inside a timing.
 */
#ifndef AFPBENCH_SPEEDTEST_MARK_OBSERVER_H
#define AFPBENCH_SPEEDTEST_MARK_OBSERVER_H

#include "speedtest/sessions.h"

struct mark_observer {
    int fd; /* read and written; the caller's */
    const struct speedtest_sessions *sessions;
    uint64_t timeout_ns; /* for each answer */
};

/* Whether a descriptor can be told and can answer; else ERROR_USAGE. */
MUST_CHECK bool mark_observer_check(int fd, struct error *error);

/* An observer whose functions fail with ERROR_CLOSED when the other side is gone, ERROR_TIMEOUT
 * when it does not answer. `observer` must stay where it is. */
struct observer mark_observer(struct mark_observer *observer);

#endif
