/*
 * afp_target.h - an AFP session as a target.
 *
 * Its working directory (workname.h) is made in the root of each volume that a test writes to.
 */
#ifndef AFPBENCH_TARGET_AFP_TARGET_H
#define AFPBENCH_TARGET_AFP_TARGET_H

#include "afp/client.h"
#include "target/target.h"

/* Opens the volumes; `second_volume` may be NULL, as may the password, which is for both. From then
 * on the client is the target's, which closes it; after a failure it is still the caller's. */
MUST_CHECK bool afp_target_open(struct target **target, struct afp_client *client,
                                const char *volume, const char *second_volume, const char *password,
                                struct error *error);

#endif
