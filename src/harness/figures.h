/*
 * figures.h - what the counts of a run over a shaped link mean, and whether they can be true.
 * Pure.
 */
#ifndef AFPBENCH_HARNESS_FIGURES_H
#define AFPBENCH_HARNESS_FIGURES_H

#include "harness/result.h"

/* The shortest time that a run can take on its link: round trips × RTT, and the bytes of the busier
 * direction as the line carries them ÷ rate. The larger of the two; their sum where each request
 * waits for the answer to the one before. RTT is twice the delay less the jitter. 0 on a link
 * without a shape. */
uint64_t harness_bound_ns(const struct harness_run *run, const struct link_config *link);

/* How late a packet may leave the link inside a run of this length: a tenth of the round trip, what
 * the calibration lets pass of it, or a hundredth of the run, the largest. */
uint64_t harness_lateness_limit_ns(const struct harness_result *result, uint64_t duration_ns);

/* Whether a measured run of this case, the next one to be added, is spoiled by the link's lateness
 * and may be made again: at most as many are as there are iterations. */
bool harness_spoils(const struct harness_result *result, const struct harness_case *harness_case,
                    uint64_t duration_ns, uint64_t late_ns);

/* Those of all cases, by their figures. */
size_t harness_spoiled_runs(const struct harness_result *result);

/* Fills the figures of every case, once all its runs are in. */
void harness_figures(struct harness_result *result);

/* Adds the faults that the counts of a size show: a time below the bound, a rate above what the
 * link carries, drops that nobody asked for, lateness in a run that was not made again. Spoiled
 * runs have none. */
MUST_CHECK bool harness_judge_size(struct harness_result *result, const struct harness_size *size,
                                   struct error *error);

/* All sizes, the test program from start to end. */
void harness_totals(const struct harness_result *result, struct harness_traffic *totals);

/* MSS of the sizes' connections; 0: none was seen. */
uint32_t harness_segment_bytes(const struct harness_result *result);

/* "true", "machine too slow", "false"; by enum calibration_verdict. */
extern const char *const harness_verdict_names[];

/* "10gbit", or "10gbit (machine: 7.9)" where the machine does not keep it: the payload rate of the
 * slower direction in the same unit, with two decimals of rates below ten. */
#define HARNESS_LABEL_LENGTH 80
const char *harness_rate_label(const struct harness_result *result,
                               char label[HARNESS_LABEL_LENGTH]);

/* " INVALID" and " INCOMPLETE" where they are true, else "": behind a run's name. */
const char *harness_flags(const struct harness_result *result);

/* Whether packets were told apart by kind: a back end without a shape only counts them. */
bool harness_kinds_known(const struct packet_counts *counts);

/* Mean bytes of a packet; 0 without packets. */
double harness_mean_bytes(const struct packet_counts *counts);

#endif
