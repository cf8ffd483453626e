/*
 * posix_target.h - a directory of a mounted file system as a target: the same tests over POSIX
 * calls, to compare AFP with NFS, SMB or a local disk.
 *
 * Single requests are pread and pwrite; several outstanding ones go through io_uring. Where the
 * kernel refuses io_uring they run one after the other, and where the file system refuses O_DIRECT
 * they are buffered; struct posix_facts says so, for the label. With O_DIRECT full chunks bypass
 * the cache and an odd tail is written through the cache, so that lengths are exact. One thread per
 * target.
 */
#ifndef AFPBENCH_TARGET_POSIX_TARGET_H
#define AFPBENCH_TARGET_POSIX_TARGET_H

#include "base/interrupt.h"
#include "target/target.h"
#include "target/workname.h"

#define POSIX_DEFAULT_CHUNK (1024U * 1024)

/* What buffers, offsets and sizes of O_DIRECT are multiples of here: every file system's block. */
#define POSIX_ALIGNMENT 4096U

struct posix_options {
    const char *directory;
    const char *second_directory; /* or NULL */
    bool direct;                  /* O_DIRECT */
    const struct interrupt *interrupt;
};

struct posix_facts {
    char file_system[TARGET_PLACES][32]; /* "ext4"; a number for one that is not known by name */
    bool direct;                         /* O_DIRECT is in use */
    bool direct_refused;                 /* asked for, but the file system does not take it */
    bool ring_refused;      /* more than one outstanding was asked for, but no io_uring */
    char copy_refusal[120]; /* why copy_file_range does not work; empty: it does */
};

bool posix_target_open(struct target **target, const struct posix_options *options,
                       struct error *error);

/* Valid while the target is open; ring_refused is known after the first reserve(). */
const struct posix_facts *posix_target_facts(const struct target *target);

/* After clean_up. NULL is fine. */
void posix_target_close(struct target *target);

/* As afp_target_remove_leftovers(). */
bool posix_target_remove_leftovers(struct target *target, leftover_report *report, void *context,
                                   struct error *error);

#endif
