/*
 * error.h - the one error value of the project.
 *
 * A function that can fail takes a `struct error *` as its last parameter and returns bool. On
 * success it returns true and leaves the value alone; on failure it fills it and returns false. The
 * message is one line for a person: what failed and where; what to do is a remedy, which a program
 * words. Control characters in what it quotes become '?'. The caller owns the value; nothing is
 * allocated, so it is cheap in the hot path and safe when memory ran out.
 */
#ifndef AFPBENCH_BASE_ERROR_H
#define AFPBENCH_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* Before every function that can fail; those that only fill an error and return false are free. */
#define MUST_CHECK __attribute__((warn_unused_result))

/* Around one whose failure changes nothing: it was worth a try. */
static inline void best_effort(bool done)
{
}

enum error_domain {
    ERROR_NONE,
    ERROR_USAGE,       /* the command line; code unused */
    ERROR_SYSTEM,      /* a system call; code is errno */
    ERROR_RESOLVE,     /* a host name; code is the EAI_ value */
    ERROR_PROTOCOL,    /* the peer broke the protocol; code unused */
    ERROR_CLOSED,      /* the peer ended the connection; code is errno or 0 */
    ERROR_DSI,         /* a DSI result code (doc/protocol.md 1.13) */
    ERROR_AFP,         /* an AFP result code (doc/protocol.md appendix A) */
    ERROR_TIMEOUT,     /* no progress within the limit; code unused */
    ERROR_LIMIT,       /* something does not fit: quantum, memory cap, free space, version */
    ERROR_CONTENT,     /* bytes that differ from what was written */
    ERROR_INTERRUPTED, /* SIGINT, SIGTERM or SIGHUP; code is the signal */
};

/* What would help, which a program says in the words of its options (cli/options.h): below it no
 * message names one. */
enum error_remedy {
    REMEDY_NONE,
    REMEDY_TIME_LIMIT,      /* a longer one */
    REMEDY_AFP_VERSION,     /* 3.0 or later */
    REMEDY_LOGIN_METHOD,    /* another one */
    REMEDY_GUEST,           /* to log in as one */
    REMEDY_VOLUME_PASSWORD, /* to give one */
    REMEDY_REQUEST_SIZE,    /* a smaller one */
    REMEDY_WINDOW,          /* fewer requests at once, or smaller ones */
    REMEDY_BLOCKS,          /* requests of whole blocks, or not past the cache */
    REMEDY_CLEANING,        /* to remove later what stays */
    REMEDY_EXISTING_FILE,   /* to read one, where none may be made */
    /* what afp_speedtest does not do */
    REMEDY_HIGH_PORT,  /* to listen on another one, above those that need a right */
    REMEDY_SAME_TESTS, /* to measure the same tests and sizes */
    REMEDY_RESULT,     /* a file that a program of ours wrote */
    REMEDIES
};

struct error {
    enum error_domain domain;
    enum error_remedy remedy;
    int code;
    char message[400];
};

/* Exit codes of every program (the manual pages, EXIT STATUS). */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_TEST_FAILED = 1,
    EXIT_CANNOT_RUN = 2,
    EXIT_USAGE = 64,
    EXIT_INTERRUPTED = 130,
};

/* Fills `error` and returns false, so that `return error_set(…)` reads well. */
bool error_set(struct error *error, enum error_domain domain, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Notes what would help. Returns false: `return error_set(…) || error_remedy(error, …)`. */
bool error_remedy(struct error *error, enum error_remedy remedy);

/* Fills `error` from errno: "<formatted text>: <strerror>". Returns false. */
bool error_set_errno(struct error *error, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<formatted text>: " before the message that is there. Returns false. */
bool error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts the formatted text behind the message that is there. Returns false. */
bool error_append(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The exit code for an error: 64 and 130 by its domain, else `otherwise` (1 in a test, 2 before).
 */
int error_exit_status(const struct error *error, enum exit_status otherwise);

#endif
