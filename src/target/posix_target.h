/*
 * posix_target.h - a directory of a mounted file system as a target: the same tests over POSIX
 * calls, to compare AFP with NFS, SMB or a local disk.
 *
 * Single requests are pread and pwrite; several outstanding ones go through io_uring. Where the
 * kernel refuses io_uring they run one after the other, and where the file system refuses O_DIRECT
 * they are buffered; the target's notes say so. With O_DIRECT full chunks bypass
 * the cache and an odd tail is written through the cache, so that lengths are exact. One thread per
 * target.
 */
#ifndef AFPBENCH_TARGET_POSIX_TARGET_H
#define AFPBENCH_TARGET_POSIX_TARGET_H

#include "base/interrupt.h"
#include "target/target.h"

#define POSIX_DEFAULT_CHUNK (1024U * 1024)

/* What buffers, offsets and sizes of O_DIRECT are multiples of here: every file system's block. */
#define POSIX_ALIGNMENT 4096U

struct posix_options {
    const char *directory;
    const char *second_directory; /* or NULL */
    bool direct;                  /* O_DIRECT */
    const struct interrupt *interrupt;
};

MUST_CHECK bool posix_target_open(struct target **target, const struct posix_options *options,
                                  struct error *error);

#endif
