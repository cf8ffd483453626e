/*
 * options.h - the command line of every program, from one table.
 *
 * A row says letter, long name, argument, help and where the value goes; parsing, --help
 * (cli/help.h), the completion of shells (cli/completions.h) and the error messages come from it.
 * --help, -h where no row has that letter, --version and --completions are added to every table.
 * Values are parsed strictly; the messages name the range. Not for use by two threads (getopt).
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
    const char *argument; /* NULL: takes none; "[=X]": optional; LIST, FILE, DIR: is completed so */
    const char *help;     /* a few words, without choices and default */
    enum option_kind kind;
    size_t offset; /* of the field in the program's settings */
    uint64_t minimum, maximum, unit;
    const char *group;    /* the heading in --help that this row begins; NULL: as the row before */
    const char *fallback; /* what holds when it is not given, for --help; NULL: nothing to say */
    /* The words to choose from: "A,B", or from a table; both NULL: they cannot be counted up. */
    const char *words;
    const char *(*choices)(const char *separator, char *text, size_t size);
    /* `value` is NULL without an argument. */
    MUST_CHECK bool (*call)(void *settings, const struct option_row *row, const char *value,
                            struct error *error);
    bool reserved; /* for a program that starts this one: where, as whom, what, how it is told */
};

/* What a word is that is no option, for completion. */
enum option_words {
    OPTION_WORDS_NONE,
    OPTION_WORDS_FILES,
    OPTION_WORDS_KEYS, /* KEY=value, of each option that takes a value: "extra-flags", EXTRA_FLAGS
                        */
};

struct option_program {
    const char *name;
    const char *purpose; /* one line */
    const char *usage;   /* what follows the name in the synopsis */
    const char *closing; /* printed after the options in lines of at most 80, or NULL */
    const struct option_row *rows;
    size_t count;
    /* By enum error_remedy: what follows a message, with the program's own options; NULL where it
     * has none for it, or no table. */
    const char *const *remedies;
    /* Takes a word that is no option; NULL: such words are errors. */
    MUST_CHECK bool (*word)(void *settings, const char *word, struct error *error);
    enum option_words words;
};

enum options_outcome {
    OPTIONS_RUN,
    OPTIONS_PRINTED, /* --help, --version, --completions: is on stdout, the program is done */
};

/* Fills `settings`. Unknown options, bad values and stray words are ERROR_USAGE. */
MUST_CHECK bool options_parse(const struct option_program *program, int argc, char **argv,
                              void *settings, enum options_outcome *outcome, struct error *error);

/* The options one by one, from 0, the program's own and then those of every program; NULL after the
 * last one. */
const struct option_row *options_row(const struct option_program *program, size_t index);

bool option_is_optional(const struct option_row *row); /* its argument may be left out */

/* "A,B" with that separator, "" where there is nothing to choose from. */
#define OPTION_CHOICES_LENGTH 400
const char *option_choices(const struct option_row *row, const char *separator,
                           char text[OPTION_CHOICES_LENGTH]);

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
