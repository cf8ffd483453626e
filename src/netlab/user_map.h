/*
 * user_map.h - which users a new user namespace has.
 *
 * Written by the parent, as only it may map more than one user: all that it has itself as root, a
 * range through newuidmap(1) and newgidmap(1) where /etc/subuid and /etc/subgid give one, else the
 * caller alone, as root.
 */
#ifndef AFPBENCH_NETLAB_USER_MAP_H
#define AFPBENCH_NETLAB_USER_MAP_H

#include "netlab/supervisor.h"

#include <sys/types.h>

/* A range must reach the user nobody, 65534, who is a file server's guest. */
#define USER_MAP_RANGE_LEAST 65534

/* Maps the users and groups of `process`, which has just entered its user namespace. */
MUST_CHECK bool user_map_write(pid_t process, enum supervisor_users *users, struct error *error);

/* What root has where it does without a user namespace of its own. */
enum supervisor_users user_map_own(void);

/* The map that gives a namespace what its parent has, from the text of the parent's own
 * /proc/self/uid_map ("inside outside count" lines): each line's `inside` twice. False when it does
 * not fit or the text is not a map. `count` is how many users that is. Pure. */
bool user_map_identity(const char *own, char *map, size_t size, uint64_t *count);

/* One line of /etc/subuid or /etc/subgid, "name:first:count" or "uid:first:count"; true if it is
 * for that user and large enough. Pure. */
bool user_map_range(const char *line, const char *name, uid_t uid, uint64_t *first,
                    uint64_t *count);

#endif
