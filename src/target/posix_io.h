/*
 * posix_io.h - the reads and writes of posix_target.c: one at a time as pread and pwrite, several
 * at once through io_uring. A short transfer goes on where it stopped; the end of the file is an
 * error.
 */
#ifndef AFPBENCH_TARGET_POSIX_IO_H
#define AFPBENCH_TARGET_POSIX_IO_H

#include "base/interrupt.h"
#include "target/target.h"

struct target_file {
    bool open;
    int buffered; /* through the page cache */
    int direct;   /* with O_DIRECT, or the same as `buffered` */
};

struct posix_io;

MUST_CHECK bool posix_io_open(struct posix_io **io, const struct interrupt *interrupt,
                              struct error *error);

/* Room for `depth` operations, with none outstanding. Above 1 they go through a ring; `refused`
 * becomes true where there is none to be had, and the operations run one after the other. */
MUST_CHECK bool posix_io_reserve(struct posix_io *io, uint32_t depth, bool *refused,
                                 struct error *error);

MUST_CHECK bool posix_io_submit(struct posix_io *io, const struct target_operation *operation,
                                struct error *error);
MUST_CHECK bool posix_io_reap(struct posix_io *io, struct target_completion *completion,
                              struct error *error);

/* Waits until nothing is outstanding, so that buffers may go; false after the deadline. */
MUST_CHECK bool posix_io_settle(struct posix_io *io, uint64_t deadline_ns, struct error *error);

/* Time spent in system calls that moved data or waited for it. */
uint64_t posix_io_waited_ns(const struct posix_io *io);

/* NULL is fine. */
void posix_io_close(struct posix_io *io);

#endif
