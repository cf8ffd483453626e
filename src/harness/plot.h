/*
 * plot.h - NAME.gnuplot and NAME.png: the throughput of a run's sizes as its document in memory or,
 * without one, its CSV has it.
 */
#ifndef AFPBENCH_HARNESS_PLOT_H
#define AFPBENCH_HARNESS_PLOT_H

#include "base/interrupt.h"
#include "harness/result.h"

/* When the result files are written and nothing is measured: gnuplot uses the processors too.
 * Writes the script, draws with it, and sets `result->drawn`. `gnuplot` is from plotting_find();
 * NULL: the script only. True and no file where no size was finished. */
MUST_CHECK bool harness_draw(const char *directory, struct harness_result *result,
                             const char *gnuplot, const struct interrupt *interrupt,
                             struct error *error);

#endif
