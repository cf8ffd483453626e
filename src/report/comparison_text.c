/* The comparison for people: aligned columns. */
#include "report/comparison_format.h"

#include <string.h>

#define COLUMN_LIMIT 16
#define WRAP_COLUMN  100

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void measure_columns(const struct comparison_report *report, size_t widths[COLUMN_LIMIT])
{
    for (size_t i = 0; i < comparison_column_count; i++) {
        const struct comparison_column *column = &comparison_columns[i];
        widths[i] = larger(strlen(column->heading), strlen(column->unit));
        for (size_t j = 0; j < report->row_count; j++) {
            char cell[CELL_LENGTH];
            column->cell(report, &report->rows[j], cell);
            widths[i] = larger(widths[i], strlen(cell));
        }
    }
}

/* No blanks behind the last column. */
static void write_cell(FILE *out, size_t index, const size_t widths[COLUMN_LIMIT], const char *text)
{
    bool last = index + 1 == comparison_column_count;
    int width = last ? 0 : (int)widths[index];
    fputs(index > 0 ? "  " : "", out);
    fprintf(out, comparison_columns[index].left ? "%-*s" : "%*s", width, text);
    fputs(last ? "\n" : "", out);
}

static size_t columns_with_units(void)
{
    size_t count = comparison_column_count;
    while (count > 0 && comparison_columns[count - 1].unit[0] == '\0') {
        count--;
    }
    return count;
}

static void write_table(FILE *out, const struct comparison_report *report)
{
    size_t widths[COLUMN_LIMIT];
    measure_columns(report, widths);
    for (size_t i = 0; i < comparison_column_count; i++) {
        write_cell(out, i, widths, comparison_columns[i].heading);
    }
    /* No further than units go: the row would end in blanks. */
    for (size_t i = 0; i < columns_with_units(); i++) {
        fprintf(out, "%s%*s", i > 0 ? "  " : "", (int)widths[i], comparison_columns[i].unit);
    }
    fputc('\n', out);
    for (size_t j = 0; j < report->row_count; j++) {
        for (size_t i = 0; i < comparison_column_count; i++) {
            char cell[CELL_LENGTH];
            comparison_columns[i].cell(report, &report->rows[j], cell);
            write_cell(out, i, widths, cell);
        }
    }
}

static void write_conditions(FILE *out, const struct comparison_report *report)
{
    for (size_t i = 0; i < report->difference_count; i++) {
        fputs(i == 0 ? "\nConditions that differ:\n  " : "  ", out);
        comparison_write_difference(out, ESCAPE_PLAIN, &report->differences[i]);
        fputc('\n', out);
    }
}

static void write_gates(FILE *out, const struct comparison_report *report)
{
    for (size_t i = 0; i < report->gates.count; i++) {
        fprintf(out, "%s%s", i == 0 ? "Gates: " : ", ", report->gates.list[i].text);
    }
    if (report->gates.count > 0) {
        fprintf(out, ": %s; %zu failed, %zu not decided.\n", verdict_outcome_text(report->outcome),
                report->failed_count, report->undecided_count);
    }
    for (size_t i = 0; i < report->row_count; i++) {
        const struct comparison_row *row = &report->rows[i];
        char name[COMPARISON_NAME_LENGTH];
        if (row->gate != NULL) {
            fprintf(out, "  %s: %s\n", comparison_row_name(row, name), row->reason);
        }
    }
}

static void write_doubts(FILE *out, const struct comparison_report *report)
{
    char text[VERDICT_TEXT_LENGTH];
    for (size_t i = 0; comparison_doubt(report, i, text); i++) {
        fprintf(out, "Warning: %s.\n", text);
    }
}

/* Words in lines of at most WRAP_COLUMN characters. */
static void write_wrapped(FILE *out, const char *text)
{
    size_t used = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (used > 0) {
            bool fits = used + 1 + length <= WRAP_COLUMN;
            fputc(fits ? ' ' : '\n', out);
            used = fits ? used + 1 : 0;
        }
        used += length;
        fprintf(out, "%.*s", (int)length, text);
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

void comparison_text_write(FILE *out, const struct comparison_report *report)
{
    fputs("A  ", out);
    comparison_write_source(out, ESCAPE_PLAIN, report->before_name, report->before);
    fputs("\nB  ", out);
    comparison_write_source(out, ESCAPE_PLAIN, report->after_name, report->after);
    fprintf(out, "\n\n%zu invocation%s a side\n\n", report->pairs, report->pairs == 1 ? "" : "s");
    write_wrapped(out, comparison_basis_text(report));
    write_conditions(out, report);
    fputc('\n', out);
    write_table(out, report);
    fputc('\n', out);
    comparison_write_count(out, report);
    fputs(".\n", out);
    write_gates(out, report);
    write_doubts(out, report);
    fputc('\n', out);
    for (size_t i = 0; i < COMPARISON_LEGEND_LINES; i++) {
        write_wrapped(out, comparison_legend[i]);
    }
}
