/*
 * child.h - programs that are started and awaited.
 *
 * A child has a process group of its own, no signal blocked or ignored, the descriptors it is given
 * and no other, and dies with the thread that started it. Its end is a descriptor, so that it can
 * be waited for together with signals and whatever it says. Who started one ends it: with
 * child_watch(), or child_end(). One thread a child.
 */
#ifndef AFPBENCH_BASE_CHILD_H
#define AFPBENCH_BASE_CHILD_H

#include "base/interrupt.h"

#include <stddef.h>
#include <sys/types.h>

#define CHILD_DESCRIPTORS 16

struct child_program {
    char *const *arguments;   /* the program first: without a slash it is looked for in PATH */
    char *const *environment; /* NULL: ours */
    /* They become its 0, 1, 2, 3, …; −1 is /dev/null. */
    const int *descriptors;
    size_t descriptor_count;
    /* Called in the child just before the program, with its descriptors not yet in place: what
     * could not be done ("cannot enter the network namespace for"), with errno, or NULL. May be
     * NULL. */
    const char *(*prepare)(const void *context);
    const void *context;
};

struct child {
    pid_t process; /* 0: none was started, or it was ended */
    int end;       /* readable when it has ended */
    int status;    /* then: as waitpid() tells */
};

/* False when any step failed, the program's own beginning included; nothing is left then. */
MUST_CHECK bool child_start(struct child *child, const struct child_program *program,
                            struct error *error);

/* What a wait ends at besides the child's end; 0 and NULL: nothing. */
struct child_watch {
    const char *name;  /* for messages: "gnuplot" */
    uint64_t limit_ns; /* from now on */
    const struct interrupt *interrupt;
    /* A descriptor, −1 for none (it may change), and what is called when it is readable; the child
     * has ended only when that is no more. */
    const int *fd;
    bool (*on_readable)(void *context, struct error *error);
    void *context;
};

/* Waits for its end. False: at the limit (ERROR_TIMEOUT), Ctrl-C, or when on_readable() fails; it
 * runs on then. */
MUST_CHECK bool child_watch(const struct child *child, const struct child_watch *watch,
                            struct error *error);

/* Whether it has ended; does not wait. */
bool child_has_ended(const struct child *child);

/* Asks it to end, or its whole group: SIGTERM. */
void child_terminate(const struct child *child, bool group);

/* Gives it `grace_ns` to end, kills its group and fills `status`. Nothing to do without a child. */
void child_end(struct child *child, uint64_t grace_ns);

/* Fills `status` of a child that has ended; what it started is left alone. */
void child_reap(struct child *child);

/* Starts one, waits for it, and ends it if that fails; then `status` says how it ended. */
MUST_CHECK bool child_run(const struct child_program *program, const struct child_watch *watch,
                          int *status, struct error *error);

/* "was killed by signal 9 (Killed)", "ended with exit code 3". Writes into `text`, returns it. */
#define CHILD_END_LENGTH 80
const char *child_end_text(int status, char text[CHILD_END_LENGTH]);

/* ---- What it writes ---- */

/* A file in memory for a child's descriptors, to be closed; −1 with an error. */
MUST_CHECK int child_output_open(struct error *error);

/* All that was written to it, ended, to be released; NULL with an error, also when it is more than
 * `limit` bytes. `name` is for messages: "the program's output". */
MUST_CHECK char *child_output_text(int file, size_t limit, const char *name, struct error *error);

/* The last line that says anything, cut to `size`, control characters as blanks; "": none. */
void child_last_words(int file, char *line, size_t size);

#endif
