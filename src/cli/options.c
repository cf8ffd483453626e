#include "cli/options.h"

#include "base/memory.h"
#include "base/units.h"
#include "base/version.h"
#include "cli/completions.h"
#include "cli/help.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define ROW_LIMIT 64

/* Of the rows that every program has, then of its own. */
enum { CODE_HELP = 1000, CODE_VERSION, CODE_COMPLETIONS, CODE_ROW };

static const struct option_row common_rows[] = {
    {.letter = 'h', .name = "help", .help = "print this and exit", .group = "About the program"},
    {.name = "version", .help = "print the version and exit"},
    {.name = "completions",
     .argument = "SHELL",
     .help = "print what lets a shell complete these options",
     .words = "bash,zsh,fish"},
};
#define COMMON_COUNT (sizeof common_rows / sizeof common_rows[0])

/* Where -h is a host. */
static const struct option_row help_without_letter = {
    .name = "help", .help = "print this and exit", .group = "About the program"};

bool option_is_optional(const struct option_row *row)
{
    return row->argument != NULL && row->argument[0] == '[';
}

const char *option_choices(const struct option_row *row, const char *separator,
                           char text[OPTION_CHOICES_LENGTH])
{
    size_t used = 0;
    text[0] = '\0';
    if (row->choices != NULL) {
        return row->choices(separator, text, OPTION_CHOICES_LENGTH);
    }
    for (const char *word = row->words; word != NULL && *word != '\0';) {
        size_t length = strcspn(word, ",");
        used += (size_t)snprintf(text + used, OPTION_CHOICES_LENGTH - used, "%s%.*s",
                                 used > 0 ? separator : "", (int)length, word);
        word += length + (word[length] == ',');
    }
    return text;
}

static int argument_of(const struct option_row *row)
{
    if (row->argument == NULL) {
        return no_argument;
    }
    return option_is_optional(row) ? optional_argument : required_argument;
}

/* getopt's two descriptions, made from the table. Each long option has a code of its own. */
struct getopt_tables {
    char letters[ROW_LIMIT * 3 + 3];
    struct option names[ROW_LIMIT + COMMON_COUNT + 1];
};

static const struct option_row *find_row(const struct option_program *program, int code)
{
    if (code >= CODE_ROW && (size_t)(code - CODE_ROW) < program->count) {
        return &program->rows[code - CODE_ROW];
    }
    for (size_t i = 0; i < program->count; i++) {
        if (program->rows[i].letter == code) {
            return &program->rows[i];
        }
    }
    return NULL;
}

/* 'h' where it means nothing else, as a host. */
static int help_letter(const struct option_program *program)
{
    return find_row(program, 'h') == NULL ? 'h' : 0;
}

const struct option_row *options_row(const struct option_program *program, size_t index)
{
    if (index < program->count) {
        return &program->rows[index];
    }
    if (index == program->count && help_letter(program) == 0) {
        return &help_without_letter;
    }
    return index - program->count < COMMON_COUNT ? &common_rows[index - program->count] : NULL;
}

static void make_tables(const struct option_program *program, struct getopt_tables *tables)
{
    char *letter = tables->letters;
    *letter++ = ':'; /* a missing argument is told apart from an unknown option */
    size_t count = 0;
    for (size_t i = 0; i < program->count && i < ROW_LIMIT; i++) {
        const struct option_row *row = &program->rows[i];
        if (row->letter != 0) {
            *letter++ = (char)row->letter;
            if (row->argument != NULL) {
                *letter++ = ':';
            }
        }
        if (row->name != NULL) {
            tables->names[count++] =
                (struct option){row->name, argument_of(row), NULL, CODE_ROW + (int)i};
        }
    }
    if (help_letter(program) != 0) {
        *letter++ = 'h';
    }
    *letter = '\0';
    for (size_t i = 0; i < COMMON_COUNT; i++) {
        tables->names[count++] = (struct option){common_rows[i].name, argument_of(&common_rows[i]),
                                                 NULL, CODE_HELP + (int)i};
    }
    tables->names[count] = (struct option){0};
}

static bool apply(const struct option_row *row, const char *value, void *settings,
                  struct error *error)
{
    char what[48];
    void *field = (char *)settings + row->offset;
    uint64_t number;
    if (row->letter != 0) {
        snprintf(what, sizeof what, "-%c", row->letter);
    } else {
        snprintf(what, sizeof what, "--%s", row->name);
    }
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_TEXT:
        *(const char **)field = value;
        return true;
    case OPTION_NUMBER:
        if (!parse_unsigned(value, what, row->minimum, row->maximum, &number, error)) {
            return false;
        }
        *(uint32_t *)field = (uint32_t)number;
        return true;
    case OPTION_SIZE:
        return parse_size(value, what, row->unit, row->minimum, row->maximum, field, error);
    case OPTION_CALL:
        return row->call(settings, row, value, error);
    }
    return false;
}

static bool bad_option(const struct option_program *program, int code, char **argv,
                       struct error *error)
{
    char what[80];
    if (optopt != 0 && optopt < CODE_HELP) {
        snprintf(what, sizeof what, "-%c", optopt);
    } else {
        /* Without its value, which may be a password. */
        const char *word = argv[optind - 1];
        snprintf(what, sizeof what, "%.*s", (int)strcspn(word, "="), word);
    }
    return error_set(error, ERROR_USAGE, 0, "%s %s; see %s --help",
                     code == ':' ? "no value for" : "unknown or ambiguous option", what,
                     program->name);
}

static bool take_words(const struct option_program *program, char **words, size_t count,
                       void *settings, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (program->word == NULL) {
            return error_set(error, ERROR_USAGE, 0, "stray word '%s'; see %s --help", words[i],
                             program->name);
        }
        if (!program->word(settings, words[i], error)) {
            return false;
        }
    }
    return true;
}

static bool is_question(const struct option_program *program, int code)
{
    return (code >= CODE_HELP && code < CODE_ROW) || (code == 'h' && help_letter(program) != 0);
}

/* What is asked of the program itself. */
static bool answer(const struct option_program *program, int code, struct error *error)
{
    if (code == CODE_VERSION) {
        printf("%s (afpbench) %s\n", program->name, afpbench_version);
    } else if (code != CODE_COMPLETIONS) {
        help_print(stdout, program);
    } else if (!completions_print(stdout, program, optarg, error)) {
        return false;
    }
    return fflush(stdout) == 0 || error_set_errno(error, errno, "cannot write to stdout");
}

bool options_parse(const struct option_program *program, int argc, char **argv, void *settings,
                   enum options_outcome *outcome, struct error *error)
{
    struct getopt_tables tables;
    make_tables(program, &tables);
    opterr = 0;
    optind = 0; /* getopt starts afresh, also after an error within "-abc" */
    *outcome = OPTIONS_RUN;
    for (;;) {
        int code = getopt_long(argc, argv, tables.letters, tables.names, NULL);
        if (code == -1) {
            break;
        }
        if (is_question(program, code)) {
            *outcome = OPTIONS_PRINTED;
            return answer(program, code, error);
        }
        const struct option_row *row = find_row(program, code);
        if (row == NULL) {
            return bad_option(program, code, argv, error);
        }
        if (!apply(row, optarg, settings, error)) {
            return false;
        }
    }
    return take_words(program, argv + optind, (size_t)(argc - optind), settings, error);
}

/* Letters may follow each other up to the first that takes a value. */
static const struct option_row *find_reserved_letter(const struct option_program *program,
                                                     const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const struct option_row *row = find_row(program, *letters);
        if (row == NULL || row->reserved || row->argument != NULL) {
            return row != NULL && row->reserved ? row : NULL;
        }
    }
    return NULL;
}

const struct option_row *options_find_reserved(const struct option_program *program,
                                               const char *word)
{
    if (word[0] != '-' || word[1] != '-') {
        return word[0] == '-' ? find_reserved_letter(program, word + 1) : NULL;
    }
    const struct option_row *found = NULL;
    size_t length = strcspn(word + 2, "=");
    for (size_t i = 0; length > 0 && i < program->count; i++) {
        const struct option_row *row = &program->rows[i];
        if (row->reserved && strncmp(row->name, word + 2, length) == 0 &&
            (found == NULL || strlen(row->name) < strlen(found->name))) {
            found = row;
        }
    }
    return found;
}

int options_report(const struct option_program *program, const struct error *error,
                   enum exit_status otherwise)
{
    const char *remedy = program->remedies != NULL ? program->remedies[error->remedy] : NULL;
    fprintf(stderr, "%s: %s%s\n", program->name, error->message, remedy != NULL ? remedy : "");
    return error_exit_status(error, otherwise);
}

void options_wipe(char *argument)
{
    memory_wipe(argument, strlen(argument));
}
