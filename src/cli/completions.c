#include "cli/completions.h"

#include <ctype.h>
#include <string.h>

/* ---- What is completed ---- */

enum value_kind { VALUE_NONE, VALUE_FREE, VALUE_FILE, VALUE_DIRECTORY, VALUE_WORD, VALUE_LIST };

static enum value_kind kind_of(const struct option_row *row)
{
    if (row->argument == NULL) {
        return VALUE_NONE;
    }
    if (row->words != NULL || row->choices != NULL) {
        return strcmp(row->argument, "LIST") == 0 ? VALUE_LIST : VALUE_WORD;
    }
    if (strcmp(row->argument, "DIR") == 0) {
        return VALUE_DIRECTORY;
    }
    return strcmp(row->argument, "FILE") == 0 ? VALUE_FILE : VALUE_FREE;
}

/* A row whose value can also be given as KEY=value: one of the program's own. */
static const struct option_row *key_row(const struct option_program *program, size_t index)
{
    bool own = program->words == OPTION_WORDS_KEYS && index < program->count;
    return own && program->rows[index].argument != NULL ? &program->rows[index] : NULL;
}

struct key_text {
    char text[40];
};

/* "extra-flags" → "EXTRA_FLAGS" */
static struct key_text key_of(const struct option_row *row)
{
    struct key_text key;
    size_t i = 0;
    for (; row->name[i] != '\0' && i < sizeof key.text - 1; i++) {
        key.text[i] = row->name[i] == '-' ? '_' : (char)toupper((unsigned char)row->name[i]);
    }
    key.text[i] = '\0';
    return key;
}

static void print_keys(FILE *out, const struct option_program *program)
{
    for (size_t i = 0; i < program->count; i++) {
        if (key_row(program, i) != NULL) {
            fprintf(out, "%s ", key_of(&program->rows[i]).text);
        }
    }
}

/* Within '…' of a shell; `special` are characters that want a backslash there. */
static void print_quoted(FILE *out, const char *text, const char *special, const char *quote)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs(quote, out);
        } else {
            fprintf(out, "%s%c", strchr(special, *text) != NULL ? "\\" : "", *text);
        }
    }
}

/* ---- bash ---- */

/* The shell takes "--name=value" for three words. */
static const char bash_head[] = "    local word=${COMP_WORDS[COMP_CWORD]}\n"
                                "    local option=${COMP_WORDS[COMP_CWORD - 1]}\n"
                                "    local kind=option choices=\n"
                                "    if [[ $word == = ]]; then\n"
                                "        word= option+==\n"
                                "    elif [[ $option == = ]]; then\n"
                                "        option=${COMP_WORDS[COMP_CWORD - 2]}=\n"
                                "    fi\n"
                                "    case $option in\n";

static const char bash_tail[] =
    "    esac\n"
    "    [[ $kind != option || $word == -* ]] || kind=word\n"
    "    COMPREPLY=()\n"
    "    case $kind in\n"
    "    choice) COMPREPLY=($(compgen -W \"$choices\" -- \"$word\")) ;;\n"
    "    list)\n"
    "        compopt -o nospace\n"
    "        COMPREPLY=($(compgen -P \"${word%\"${word##*,}\"}\" -W \"$choices\" -- "
    "\"${word##*,}\")) ;;\n"
    "    file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
    "    directory) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
    "    option) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n";

static const char *const bash_words[] = {
    [OPTION_WORDS_NONE] = "",
    [OPTION_WORDS_FILES] =
        "    word) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n",
    [OPTION_WORDS_KEYS] = "    word)\n"
                          "        compopt -o nospace\n"
                          "        COMPREPLY=($(compgen -S = -W \"$keys\" -- \"$word\")) ;;\n",
};

static void bash_value(FILE *out, const struct option_row *row, bool key)
{
    static const char *const kinds[] = {
        [VALUE_FREE] = "free",   [VALUE_FILE] = "file", [VALUE_DIRECTORY] = "directory",
        [VALUE_WORD] = "choice", [VALUE_LIST] = "list",
    };
    char choices[OPTION_CHOICES_LENGTH];
    if (row->argument == NULL) {
        return;
    }
    fprintf(out, "    --%s=", row->name);
    if (!option_is_optional(row)) {
        fprintf(out, "|--%s", row->name);
    }
    if (row->letter != 0) {
        fprintf(out, "|-%c", row->letter);
    }
    if (key) {
        fprintf(out, "|%s=", key_of(row).text);
    }
    fprintf(out, ") kind=%s choices='%s' ;;\n", kinds[kind_of(row)],
            option_choices(row, " ", choices));
}

static void print_bash(FILE *out, const struct option_program *program)
{
    const struct option_row *row;
    fprintf(out, "_%s()\n{\n    local options='", program->name);
    for (size_t i = 0; (row = options_row(program, i)) != NULL; i++) {
        fprintf(out, "--%s ", row->name);
    }
    fputs("' keys='", out);
    print_keys(out, program);
    fprintf(out, "'\n%s", bash_head);
    for (size_t i = 0; (row = options_row(program, i)) != NULL; i++) {
        bash_value(out, row, key_row(program, i) != NULL);
    }
    fprintf(out, "%s%s    esac\n}\ncomplete -F _%s %s\n", bash_tail, bash_words[program->words],
            program->name, program->name);
}

/* ---- zsh ---- */

/* What _arguments and _values shall do for a value. */
static void zsh_action(FILE *out, const struct option_row *row)
{
    char choices[OPTION_CHOICES_LENGTH];
    option_choices(row, " ", choices);
    switch (kind_of(row)) {
    case VALUE_WORD:
        fprintf(out, "(%s)", choices);
        break;
    case VALUE_LIST:
        fprintf(out, "_values -s , %s %s", row->argument, choices);
        break;
    case VALUE_FILE:
        fputs("_files", out);
        break;
    case VALUE_DIRECTORY:
        fputs("_files -/", out);
        break;
    default:
        fputc(' ', out);
        break;
    }
}

static void zsh_option(FILE *out, const struct option_row *row, const char *names)
{
    fprintf(out, " \\\n        '*'%s'[", names);
    print_quoted(out, row->help, "[]\\", "'\\''");
    fputc(']', out);
    if (row->argument != NULL) {
        fprintf(out, ":%s%.*s:", option_is_optional(row) ? ":" : "",
                (int)strcspn(row->argument + strspn(row->argument, "[="), "[]:,"),
                row->argument + strspn(row->argument, "[="));
        zsh_action(out, row);
    }
    fputc('\'', out);
}

static void zsh_row(FILE *out, const struct option_row *row)
{
    char names[80];
    if (row->letter != 0) {
        snprintf(names, sizeof names, row->argument != NULL ? "{-%c+,--%s=}" : "{-%c,--%s}",
                 row->letter, row->name);
    } else if (row->argument == NULL) {
        snprintf(names, sizeof names, "--%s", row->name);
    } else {
        snprintf(names, sizeof names, "--%s=%s", row->name, option_is_optional(row) ? "-" : "");
    }
    zsh_option(out, row, names);
}

/* The values of KEY=value. */
static void zsh_keys(FILE *out, const struct option_program *program)
{
    fprintf(out,
            "_%s_keys()\n{\n"
            "    local key=${PREFIX%%%%=*}\n"
            "    if ! compset -P '*='; then\n"
            "        compadd -S = -- ",
            program->name);
    print_keys(out, program);
    fputs("\n        return\n    fi\n    case $key in\n", out);
    for (size_t i = 0; i < program->count; i++) {
        const struct option_row *row = key_row(program, i);
        enum value_kind kind = row != NULL ? kind_of(row) : VALUE_NONE;
        char choices[OPTION_CHOICES_LENGTH];
        if (kind > VALUE_FREE) {
            fprintf(out, "    %s) ", key_of(row).text);
            if (kind == VALUE_WORD) {
                fprintf(out, "compadd -- %s", option_choices(row, " ", choices));
            } else {
                zsh_action(out, row);
            }
            fputs(" ;;\n", out);
        }
    }
    fputs("    esac\n}\n\n", out);
}

static void print_zsh(FILE *out, const struct option_program *program)
{
    const struct option_row *row;
    const char *name = program->name;
    fprintf(out, "#compdef %s\n\n", name);
    if (program->words == OPTION_WORDS_KEYS) {
        zsh_keys(out, program);
    }
    fprintf(out, "_%s()\n{\n    _arguments -s", name);
    for (size_t i = 0; (row = options_row(program, i)) != NULL; i++) {
        zsh_row(out, row);
    }
    if (program->words == OPTION_WORDS_KEYS) {
        fprintf(out, " \\\n        '*:key:_%s_keys'", name);
    } else if (program->words == OPTION_WORDS_FILES) {
        fputs(" \\\n        '*:file:_files'", out);
    }
    /* zsh calls a file that it has loaded as a function; one that is sourced says what it is for */
    fprintf(out,
            "\n}\n\nif [[ $funcstack[1] == _%s ]]; then\n    _%s \"$@\"\nelse\n"
            "    compdef _%s %s\nfi\n",
            name, name, name, name);
}

/* ---- fish ---- */

static void fish_value(FILE *out, const struct option_row *row)
{
    char choices[OPTION_CHOICES_LENGTH];
    switch (kind_of(row)) {
    case VALUE_LIST:
        fprintf(out, "(__fish_append , %s)", option_choices(row, " ", choices));
        break;
    case VALUE_WORD:
        fputs(option_choices(row, " ", choices), out);
        break;
    case VALUE_DIRECTORY:
        fputs("(__fish_complete_directories)", out);
        break;
    default:
        break;
    }
}

/* KEY=, or KEY=value for each. */
static void fish_key(FILE *out, const struct option_row *row)
{
    char choices[OPTION_CHOICES_LENGTH];
    char between[48];
    struct key_text key = key_of(row);
    if (kind_of(row) == VALUE_LIST) {
        fprintf(out, "(__fish_complete_list , \"printf %%s\\\\n %s\" %s=)",
                option_choices(row, " ", choices), key.text);
    } else {
        snprintf(between, sizeof between, " %s=", key.text);
        fprintf(out, "%s=%s", key.text, option_choices(row, between, choices));
    }
}

static void fish_row(FILE *out, const struct option_program *program, const struct option_row *row)
{
    enum value_kind kind = kind_of(row);
    fprintf(out, "complete -c %s", program->name);
    if (row->letter != 0) {
        fprintf(out, " -s %c", row->letter);
    }
    fprintf(out, " -l %s", row->name);
    if (kind == VALUE_FILE) {
        fputs(" -rF", out);
    } else if (kind != VALUE_NONE) {
        fprintf(out, " -%s -a '", option_is_optional(row) ? "f" : "x");
        fish_value(out, row);
        fputc('\'', out);
    }
    fputs(" -d '", out);
    print_quoted(out, row->help, "\\", "\\'");
    fputs("'\n", out);
}

static void print_fish(FILE *out, const struct option_program *program)
{
    const struct option_row *row;
    bool files = program->words == OPTION_WORDS_FILES;
    fprintf(out, "complete -c %s %s\n", program->name, files ? "-F" : "-f");
    for (size_t i = 0; (row = options_row(program, i)) != NULL; i++) {
        fish_row(out, program, row);
        if (key_row(program, i) != NULL) {
            fprintf(out, "complete -c %s -a '", program->name);
            fish_key(out, row);
            fputs("'\n", out);
        }
    }
}

/* ---- Any of them ---- */

bool completions_print(FILE *out, const struct option_program *program, const char *shell,
                       struct error *error)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out, const struct option_program *program);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].print(out, program);
            return true;
        }
    }
    return error_set(error, ERROR_USAGE, 0, "--completions '%s' is none of bash, zsh, fish", shell);
}
