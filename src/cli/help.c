#include "cli/help.h"

#include <string.h>

#define LINE_WIDTH  80
#define TEXT_COLUMN 29 /* where the words begin that explain an option */
#define MOST_INSIDE 30 /* of brackets that stay in one line */

/* "[-h host]" and "(default: 1)" stay whole. */
static size_t word_length(const char *text)
{
    size_t inside = 0;
    if (text[0] == '[' || text[0] == '(') {
        inside = strcspn(text, "])");
        inside = inside < MOST_INSIDE ? inside : 0;
    }
    return inside + strcspn(text + inside, " ");
}

/* Fills lines from `column` on; new ones begin at `indent`. */
static void print_words(FILE *out, const char *text, size_t column, size_t indent)
{
    const char *gap = "";
    while (*text != '\0') {
        size_t length = word_length(text);
        if (gap[0] != '\0' && column + 1 + length > LINE_WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            gap = "";
        }
        fprintf(out, "%s%.*s", gap, (int)length, text);
        column += strlen(gap) + length;
        text += length + strspn(text + length, " ");
        gap = " ";
    }
    fputc('\n', out);
}

/* "-f, --tests LIST"; names without a letter stand under those with one. */
static size_t print_names(FILE *out, const struct option_row *row)
{
    char letter[8] = "    ";
    const char *name = row->name != NULL ? row->name : "";
    const char *argument = row->argument != NULL ? row->argument : "";
    if (row->letter != 0) {
        snprintf(letter, sizeof letter, "-%c%s", row->letter, row->name != NULL ? ", " : "");
    }
    int length = fprintf(out, "  %s%s%s%s%s", letter, row->name != NULL ? "--" : "", name,
                         argument[0] == '\0' || option_is_optional(row) ? "" : " ", argument);
    return length > 0 ? (size_t)length : 0;
}

/* "(one of text, markdown, junit; default: text)". A list is typed with commas only; of an argument
 * that may be left out the help says all. */
static void bracket_text(const struct option_row *row, char *text, size_t size)
{
    char choices[OPTION_CHOICES_LENGTH] = "";
    bool list = row->argument != NULL && strcmp(row->argument, "LIST") == 0;
    const char *fallback = row->fallback != NULL ? row->fallback : "";
    if (!option_is_optional(row)) {
        option_choices(row, list ? "," : ", ", choices);
    }
    bool choice = choices[0] != '\0';
    bool given = fallback[0] != '\0';
    text[0] = '\0';
    if (choice || given) {
        const char *of = list ? "of " : "one of ";
        snprintf(text, size, " (%s%s%s%s%s)", choice ? of : "", choices,
                 choice && given ? "; " : "", given ? "default: " : "", fallback);
    }
}

static void print_row(FILE *out, const struct option_row *row)
{
    char text[OPTION_CHOICES_LENGTH + 300];
    char bracket[OPTION_CHOICES_LENGTH + 100];
    bracket_text(row, bracket, sizeof bracket);
    snprintf(text, sizeof text, "%s%s", row->help, bracket);
    size_t column = print_names(out, row);
    if (column + 1 < TEXT_COLUMN) {
        fprintf(out, "%*s", (int)(TEXT_COLUMN - column), "");
    } else {
        fprintf(out, "\n%*s", TEXT_COLUMN, "");
    }
    print_words(out, text, TEXT_COLUMN, TEXT_COLUMN);
}

void help_print(FILE *out, const struct option_program *program)
{
    const struct option_row *row;
    static const char usage[] = "Usage: ";
    size_t indent = sizeof usage - 1 + strlen(program->name) + 1;
    fprintf(out, "%s - %s\n\n%s%s ", program->name, program->purpose, usage, program->name);
    print_words(out, program->usage, indent, indent);
    for (size_t i = 0; (row = options_row(program, i)) != NULL; i++) {
        if (row->group != NULL) {
            fprintf(out, "\n%s:\n", row->group);
        }
        print_row(out, row);
    }
    if (program->closing != NULL) {
        fprintf(out, "\n%s", program->closing);
    }
}
