/* failing_calls.h - base/stream.h, base/connect.h and base/listen.h over system calls that fail
 * when told to. A program links failing_calls.c, and with it these three modules over its calls.
 *
 * One call in a run fails: the n-th of those that the fault concerns, on one side. The client is
 * the thread that called failing_calls_arm(); all others are the server. */
#ifndef AFPBENCH_TESTS_FAILING_CALLS_H
#define AFPBENCH_TESTS_FAILING_CALLS_H

#include <stdbool.h>
#include <stddef.h>

enum failing_side { FAIL_CLIENT, FAIL_SERVER };

enum failing_call {
    CALL_ALLOCATE,
    CALL_SOCKET,
    CALL_BIND,
    CALL_LISTEN,
    CALL_ACCEPT,
    CALL_CONNECT,
    CALL_OPTION,
    CALL_NAME,
    CALL_SEND,
    CALL_RECEIVE,
    CALL_SEND_FILE,
    CALL_SPLICE,
    CALL_POLL,
    CALL_COUNT
};

/* In the place of an errno: the call moves one byte; the call works, but Ctrl-C comes before it;
 * Ctrl-C comes, and until the client acknowledges it the call has no room (EAGAIN). */
#define FAIL_SHORT     (-1)
#define FAIL_INTERRUPT (-2)
#define FAIL_FULL      (-3)

struct fault {
    const char *name;
    bool interrupts;       /* by Ctrl-C, which ends a server as it should: for the client only */
    bool harmless[2];      /* by side: the caller goes on as if nothing had been */
    int codes[CALL_COUNT]; /* errno or FAIL_…; 0: it does not concern this call */
};

extern const struct fault faults[];
extern const size_t fault_count;

/* An eventfd that becomes readable with Ctrl-C. */
extern int failing_calls_interrupt;

/* From here on call number `number` (from 1) on that side fails; not while another thread is in a
 * call. */
void failing_calls_arm(enum failing_side side, const struct fault *fault, unsigned number);
/* No call fails any more. */
void failing_calls_disarm(void);
/* Whether it has failed. */
bool failing_calls_fired(void);

#endif
