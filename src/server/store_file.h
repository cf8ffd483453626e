/*
 * store_file.h - forks whose bytes lie in a file: operations that the stores `memory` and
 * `directory` have in common; see store.h for what each does.
 *
 * The file is a memfd that is made with the first change, or, where fork->on_disk is set, one that
 * the store itself opened and whose length is asked for each time. A read is a sendfile, a write a
 * splice, file_copy() a copy_file_range; file systems that lack one of them are served by reading
 * and writing.
 */
#ifndef AFPBENCH_SERVER_STORE_FILE_H
#define AFPBENCH_SERVER_STORE_FILE_H

#include "server/store_tree.h"

/* The AFP result for a system call that failed with this errno. */
int32_t file_result(int code);

uint64_t file_fork_length(struct store *store, struct store_fork *fork);
int32_t file_fork_set_length(struct store *store, struct store_fork *fork, uint64_t length);
int32_t file_write_begin(struct store *store, struct store_fork *fork, struct store_write *write);

MUST_CHECK bool file_send(struct store *store, struct store_fork *fork, struct outbox *outbox,
                          uint64_t offset, uint64_t size, struct error *error);
MUST_CHECK bool file_receive(struct store *store, struct store_fork *fork, struct inbox *inbox,
                             struct store_write *write, int32_t *result, struct error *error);
int32_t file_read(struct store *store, struct store_fork *fork, uint64_t offset, void *buffer,
                  size_t size);
int32_t file_write(struct store *store, struct store_fork *fork, struct store_write *write,
                   const void *buffer);
int32_t file_copy(struct store_fork *from, struct store_fork *to, struct store_write *write);
int32_t file_flush(struct store *store, struct store_fork *fork);

#endif
