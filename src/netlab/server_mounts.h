/*
 * server_mounts.h - what a server gets of its own in the file system: mounts of the run's mount
 * namespace, remembered so that they can be taken away before the namespace ends.
 *
 * All paths are absolute. Errors name the path. One thread.
 */
#ifndef AFPBENCH_NETLAB_SERVER_MOUNTS_H
#define AFPBENCH_NETLAB_SERVER_MOUNTS_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

#define SERVER_MOUNTS_LIMIT 8

struct server_mounts {
    char *paths[SERVER_MOUNTS_LIMIT];
    size_t count;
};

/* Memory in place of a directory; `size_bytes` 0: half of the machine's. */
MUST_CHECK bool server_mounts_memory(struct server_mounts *mounts, const char *path,
                                     uint64_t size_bytes, mode_t mode, struct error *error);

/* A directory and all mounts below it, seen at another one too. */
MUST_CHECK bool server_mounts_bind(struct server_mounts *mounts, const char *from, const char *path,
                                   struct error *error);

/* Undoes all, the last first. */
void server_mounts_release(struct server_mounts *mounts);

/* A copy of a file, readable and executable for all. */
MUST_CHECK bool server_copy_program(const char *from, const char *to, struct error *error);

#endif
