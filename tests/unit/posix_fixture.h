/* posix_fixture.h - a POSIX target in scratch directories, and a look at what is in them.
 *
 * Its interrupt is an eventfd: a write to it is Ctrl-C. */
#ifndef AFPBENCH_TESTS_POSIX_FIXTURE_H
#define AFPBENCH_TESTS_POSIX_FIXTURE_H

#include "unit.h"

#include "target/posix_target.h"
#include "workload/flow.h"

#include "scratch.h"

struct posix_fixture {
    char first[SCRATCH_SIZE], second[SCRATCH_SIZE]; /* second: made when its parent is given */
    struct interrupt interrupt;
    struct target *target;
    const struct target_ops *ops;
    struct conditions conditions; /* as the target describes them */
};

/* Makes the directories and opens the target; `second_parent` NULL: no second directory. */
void posix_begin(struct posix_fixture *fixture, const char *second_parent, bool direct);
/* The target alone, where the directories are there. */
void posix_open(struct posix_fixture *fixture, bool direct);
/* Whether one of the target's notes holds the text. */
bool posix_notes(const struct posix_fixture *fixture, const char *text);
/* Cleans up, expects both directories to be empty, and removes them. */
void posix_end(struct posix_fixture *fixture);
void posix_interrupt(struct posix_fixture *fixture);

/* A namespace of our own, a file system in the fixture's first directory, and a target there.
 * False, and why on the screen, where that needs more rights. */
bool posix_begin_mounted(struct posix_fixture *fixture, const char *type, const char *options);

/* Names below a directory, in order, a blank after each: "a b/c ". */
const char *tree(const char *directory);
/* The path of our working directory below `parent`; fails if there is not exactly one. */
const char *own_directory(const char *parent);
/* The whole file; the size in *size. To be freed. */
uint8_t *file_bytes(const char *path, size_t *size);
void make_plain_file(const char *path, const void *bytes, size_t size);

/* One pass with these flow settings, which must succeed. */
void run_flow(const struct flow_plan *plan, struct target_file *source,
              struct target_file *destination);
/* The same; false with the error. What the flow holds is released after the clean-up: *flow. */
bool try_flow(struct flow *flow, const struct flow_plan *plan, struct target_file *source,
              struct target_file *destination, struct error *error);

/* Fails the test with the error's message. */
#define must(call)                                                                                 \
    do {                                                                                           \
        if (!(call)) {                                                                             \
            fail_msg("%s: %s", #call, error.message);                                              \
        }                                                                                          \
    } while (0)

#endif
