/*
 * help.h - what --help prints: the option table under its headings, in lines of at most 80 columns.
 *
 * Any thread; failures of the stream are the caller's to see.
 */
#ifndef AFPBENCH_CLI_HELP_H
#define AFPBENCH_CLI_HELP_H

#include "cli/options.h"

#include <stdio.h>

void help_print(FILE *out, const struct option_program *program);

#endif
