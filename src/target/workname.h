/*
 * workname.h - the name of a run's working directory, and what it tells of its run.
 *
 * "afpbench-HOST-PID-NUMBER", at most 31 bytes: two sessions never share one, and a later run on
 * the same host knows which of them were left by a run that is gone. Pure but for the look at
 * /proc.
 */
#ifndef AFPBENCH_TARGET_WORKNAME_H
#define AFPBENCH_TARGET_WORKNAME_H

#include <stdbool.h>

#define WORKNAME_LENGTH 32 /* with the final zero */

/* A new name for this process. */
void workname_make(char name[WORKNAME_LENGTH]);

/* True for a name of this form. `reason` is NULL if its directory may be removed, else why not: its
 * run still goes on, or was on another host. */
bool workname_is_ours(const char *name, const char **reason);

#endif
