/*
 * afp_target.h - an AFP session as a target.
 *
 * The client stays the caller's and must outlive the target. Working directories are named
 * "afpbench-HOST-PID-NUMBER" (at most 31 bytes), so that two runs never share one and that
 * afp_target_remove_leftovers() knows its own.
 */
#ifndef AFPBENCH_TARGET_AFP_TARGET_H
#define AFPBENCH_TARGET_AFP_TARGET_H

#include "afp/client.h"
#include "target/target.h"

/* Opens the volumes; `second_volume` may be NULL. */
bool afp_target_open(struct target **target, struct afp_client *client, const char *volume,
                     const char *second_volume, struct error *error);

/* Closes the volumes if the session lives; the client stays open. After clean_up. NULL is fine. */
void afp_target_close(struct target *target);

/* Called for each leftover: removed, or kept with the reason. */
typedef void afp_leftover_report(void *context, const char *name, bool removed, const char *reason);

/* Removes the working directories that killed runs left in the root of the target's volumes, and
 * only those: names of our form, and not those of a process that still runs on this host. What
 * cannot be removed is reported and left. */
bool afp_target_remove_leftovers(struct target *target, afp_leftover_report *report, void *context,
                                 struct error *error);

#endif
