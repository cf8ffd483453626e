/*
 * words.h - a list of words in one text, as a shell would split and quote it, without a shell.
 *
 * Blanks separate words; single quotes keep everything, double quotes and a backslash keep what a
 * shell lets them keep. Nothing is expanded: no variables, no patterns, no commands.
 */
#ifndef AFPBENCH_CLI_WORDS_H
#define AFPBENCH_CLI_WORDS_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

#define WORD_LIMIT 256

struct words {
    char *storage; /* the words, each with its end */
    char *list[WORD_LIMIT + 1];
    size_t count; /* list[count] is NULL */
};

/* ERROR_USAGE, with the name `what`, for a quote that is not closed. Release also after a failure.
 */
MUST_CHECK bool words_split(struct words *words, const char *text, const char *what,
                            struct error *error);
void words_release(struct words *words);

/* A word so that a shell, or words_split(), reads it as it is. */
void words_write_quoted(FILE *out, const char *word);

#endif
