/*
 * workname.h - the name of a run's working directory, and what it tells of its run.
 *
 * "afpbench-PLACE-PID-NUMBER", at most 31 bytes, where PLACE stands for a boot and a PID
 * namespace: two sessions never share one, and a later run in the same place knows which of them
 * were left by a run that is gone. Of all others it knows nothing. Pure but for the look at
 * processes.
 */
#ifndef AFPBENCH_TARGET_WORKNAME_H
#define AFPBENCH_TARGET_WORKNAME_H

#include <stdbool.h>

#define WORKNAME_LENGTH 32 /* with the final zero */

/* A new name for this process. */
void workname_make(char name[WORKNAME_LENGTH]);

/* True for a name of this form. `reason` is NULL where the run's end is proven, so that its
 * directory may be removed; else why it is not: no sign of life is no sign of death. */
bool workname_is_ours(const char *name, const char **reason);

#endif
