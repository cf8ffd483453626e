/*
 * completions.h - scripts that let bash, zsh and fish complete a program's options, their values
 * and its words, all from the option table.
 *
 * They are installed (meson.build), or taken for one shell: `eval "$(PROGRAM --completions bash)"`.
 * Values are completed where the row has choices, or where its argument is called LIST (choices,
 * with commas), FILE or DIR. Any thread.
 */
#ifndef AFPBENCH_CLI_COMPLETIONS_H
#define AFPBENCH_CLI_COMPLETIONS_H

#include "cli/options.h"

#include <stdio.h>

/* ERROR_USAGE if there is no such shell. Failures of the stream are the caller's to see. */
MUST_CHECK bool completions_print(FILE *out, const struct option_program *program,
                                  const char *shell, struct error *error);

#endif
