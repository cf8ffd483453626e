/* made_harness.h - results of the shaped link made by hand, for what reads them. */
#ifndef AFPBENCH_TESTS_MADE_HARNESS_H
#define AFPBENCH_TESTS_MADE_HARNESS_H

#include "harness/result.h"

/*
 * One size of 1 MiB on a link of 1 Gbit/s, 2 ms, MTU 1500, two tests, no fault:
 *
 * Read: a warm-up and two runs of one request; a run has 724 full segments and one of 36 bytes from
 * the server (1,048,388 bytes of payload), one short request of 40 bytes and 10 pure ACKs from the
 * client; it takes 20 ms.
 *
 * Write: one run of one write and a flush; 724 full segments and 2 short ones (36 and 24 bytes)
 * from the client, 2 short replies (16 bytes each) and 8 pure ACKs from the server; 25 ms.
 *
 * Every header is 66 bytes. Allocated like any result; harness_result_release() frees it.
 */
void made_harness(struct harness_result *result);

#endif
