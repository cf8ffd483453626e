/*
 * supervisor.h - everything a run makes lives under one process in namespaces of its own.
 *
 * supervisor_run() forks a child in new user, mount, PID, network and IPC namespaces, as process 1
 * of its PID namespace, and runs `inside` there; the parent waits, hands signals on, and returns
 * what `inside` returned. The kernel kills the child when the parent dies, however it dies, and
 * with the child everything else in the namespaces: processes, mounts, interfaces. No privilege is
 * needed where user namespaces are allowed; where they are not, the error says so and how to allow
 * them.
 *
 * Users inside: all of the host's as root, a range through newuidmap(1) where /etc/subuid gives
 * one, else only one's own (which is 0 inside).
 */
#ifndef AFPBENCH_NETLAB_SUPERVISOR_H
#define AFPBENCH_NETLAB_SUPERVISOR_H

#include "base/error.h"

enum supervisor_users { SUPERVISOR_ALL_USERS, SUPERVISOR_USER_RANGE, SUPERVISOR_ONE_USER };

/* "root", "uid range", "one uid" */
extern const char *const supervisor_users_names[];

struct supervisor {
    enum supervisor_users users;
};

/* Before any thread. `inside` runs in the child: its return value becomes `status`. Its standard
 * descriptors and working directory are the parent's. */
MUST_CHECK bool supervisor_run(int (*inside)(const struct supervisor *supervisor, void *context),
                               void *context, int *status, struct error *error);

#endif
