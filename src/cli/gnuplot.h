/*
 * gnuplot.h - runs gnuplot on a script of ours (report/plot_speedtest.h).
 *
 * gnuplot is started without a shell, in the C locale, without its user's
 * settings, and ended after a time limit or at Ctrl-C. One thread.
 */
#ifndef AFPBENCH_CLI_GNUPLOT_H
#define AFPBENCH_CLI_GNUPLOT_H

#include "base/find_program.h"
#include "base/interrupt.h"

#define PLOTTING_SCRIPT_SUFFIX  ".gnuplot"
#define PLOTTING_PICTURE_SUFFIX ".png"

/* Where gnuplot is; the error names the package that has it. */
MUST_CHECK bool plotting_find(char gnuplot[PROGRAM_PATH_LENGTH], struct error *error);

/* Makes DIRECTORY/NAME.png from DIRECTORY/NAME.gnuplot, under a temporary name and then renamed.
 * ERROR_INTERRUPTED: Ctrl-C. Nothing is left after a failure. */
MUST_CHECK bool plotting_draw(const char *gnuplot, const char *directory, const char *name,
                              const struct interrupt *interrupt, struct error *error);

#endif
