/*
 * options.h - the command line of every program, from one table.
 *
 * A row says letter, long name, argument, help and where the value goes; parsing, --help and the
 * error messages come from it. --help, -h where no row has that letter, and --version are added to
 * every table. Values are parsed strictly; the messages name the range. Not for use by two threads
 * (getopt).
 */
#ifndef AFPBENCH_CLI_OPTIONS_H
#define AFPBENCH_CLI_OPTIONS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,   /* bool: becomes true */
    OPTION_TEXT,   /* const char *: points into argv */
    OPTION_NUMBER, /* uint32_t within [minimum, maximum] */
    OPTION_SIZE,   /* uint64_t bytes within [minimum, maximum]; `unit` counts a bare number */
    OPTION_CALL,   /* `call` takes it */
};

struct option_row {
    int letter;           /* 0: none */
    const char *name;     /* long name */
    const char *argument; /* NULL: takes none; "[X]": optional, after = */
    const char *help;     /* one line */
    enum option_kind kind;
    size_t offset; /* of the field in the program's settings */
    uint64_t minimum, maximum, unit;
    /* Lists the words to choose from, printed as "of A,B" before the help; NULL: help says it all.
     */
    const char *(*choices)(const char *separator, char *text, size_t size);
    /* `value` is NULL without an argument. */
    MUST_CHECK bool (*call)(void *settings, const struct option_row *row, const char *value,
                            struct error *error);
    bool reserved; /* for a program that starts this one: where, as whom, what, how it is told */
};

struct option_program {
    const char *name;
    const char *purpose; /* one line */
    const char *usage;   /* what follows the name in the synopsis */
    const char *closing; /* printed after the options, or NULL */
    const struct option_row *rows;
    size_t count;
    /* By enum error_remedy: what follows a message, with the program's own options; NULL where it
     * has none for it, or no table. */
    const char *const *remedies;
    /* Takes a word that is no option; NULL: such words are errors. */
    MUST_CHECK bool (*word)(void *settings, const char *word, struct error *error);
};

enum options_outcome {
    OPTIONS_RUN,
    OPTIONS_PRINTED, /* --help or --version: printed on stdout, the program is done */
};

/* Fills `settings`. Unknown options, bad values and stray words are ERROR_USAGE. */
MUST_CHECK bool options_parse(const struct option_program *program, int argc, char **argv,
                              void *settings, enum options_outcome *outcome, struct error *error);

/* The option in a word of a command line, such as "-vn2" or "--iter=2", that is reserved; NULL:
 * there is none. A name may be cut short; of several the shortest is taken. */
const struct option_row *options_find_reserved(const struct option_program *program,
                                               const char *word);

/* "program: message" on stderr, in one line, with the remedy; returns the exit status for the
 * error. */
int options_report(const struct option_program *program, const struct error *error,
                   enum exit_status otherwise);

/* Overwrites a secret in the process's argument list. */
void options_wipe(char *argument);

#endif
