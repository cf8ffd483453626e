/*
 * afp_target.h - an AFP session as a target.
 *
 * The client stays the caller's and must outlive the target. Its working directory (workname.h) is
 * made in the root of each volume that a test writes to.
 */
#ifndef AFPBENCH_TARGET_AFP_TARGET_H
#define AFPBENCH_TARGET_AFP_TARGET_H

#include "afp/client.h"
#include "target/target.h"
#include "target/workname.h"

/* Opens the volumes; `second_volume` may be NULL, as may the password, which is for both. */
bool afp_target_open(struct target **target, struct afp_client *client, const char *volume,
                     const char *second_volume, const char *password, struct error *error);

/* Closes the volumes if the session lives; the client stays open. After clean_up. NULL is fine. */
void afp_target_close(struct target *target);

/* Removes the working directories that killed runs left in the root of the target's volumes, and
 * only those: names of our form, and not those of a process that still runs on this host. What
 * cannot be removed is reported and left. */
bool afp_target_remove_leftovers(struct target *target, leftover_report *report, void *context,
                                 struct error *error);

#endif
