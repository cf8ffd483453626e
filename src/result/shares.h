/*
 * shares.h - what a target's accounts before and after a timed section say: segments, and where the
 * time went. Pure.
 *
 * While a session waits, either the receiver's window or the send buffer keeps it from sending
 * (TCP_INFO says how long), or bytes travel (round trips × smallest RTT seen), or the server works.
 * While it does not wait, it uses the CPU, or something else has it. Each part is cut to what is
 * left of the whole, so the shares always sum to the duration.
 */
#ifndef AFPBENCH_RESULT_SHARES_H
#define AFPBENCH_RESULT_SHARES_H

#include "result/result.h"

/* Adds one session's part to a sample: TCP counts, waiting, shares. */
void sample_add_account(struct sample *sample, uint64_t duration_ns, uint64_t cpu_ns,
                        uint64_t round_trips, const struct target_account *before,
                        const struct target_account *after);

#endif
