/*
 * claim.h - one owner for a result: a name in the file system that one process at a time may use.
 *
 * Taken before anything is measured and given back after the last file is written, so that of two
 * runs that want the same names one is refused, not overwritten. The claim is a lock on a hidden
 * file beside the named one (".NAME.lock"); it ends with its process, however that ends. The file
 * is removed when the claim is given back; what a killed process left is taken over by the next.
 * Works across containers that share a directory. Any thread.
 */
#ifndef AFPBENCH_BASE_CLAIM_H
#define AFPBENCH_BASE_CLAIM_H

#include "base/error.h"

struct claim {
    int file; /* −1: none is held */
    char *path;
};

/* ERROR_USAGE, with the number of the process that holds it if that is known, where the name is
 * taken; ERROR_SYSTEM where there can be no lock. `path` need not exist. A name that is no regular
 * file (a device, a pipe) is anyone's: true, and nothing is held. */
MUST_CHECK bool claim_take(struct claim *claim, const char *path, struct error *error);

/* Fine if none is held. */
void claim_give_back(struct claim *claim);

#endif
