/*
 * privilege.h - what who starts a run lacks when it may not make namespaces, and who gives it: an
 * ordinary user asks root, root of a container asks who starts the container.
 */
#ifndef AFPBENCH_NETLAB_PRIVILEGE_H
#define AFPBENCH_NETLAB_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct privilege {
    bool root;             /* the user is called so; what that is worth say the others */
    bool filtered;         /* a seccomp filter decides on system calls, as in containers */
    uint64_t capabilities; /* effective: a bit for each number */
};

void privilege_read(struct privilege *privilege);

/* The part of the facts that /proc/self/status has, from its text. Pure. */
void privilege_parse(struct privilege *privilege, const char *status);

/* What to do where namespaces are refused, because there are too many of them (`full`) or for
 * want of a right; one clause. Writes into `text` and returns it. Pure. */
#define PRIVILEGE_TEXT_LENGTH 300
const char *privilege_advice(const struct privilege *privilege, bool full,
                             char text[PRIVILEGE_TEXT_LENGTH]);

#endif
