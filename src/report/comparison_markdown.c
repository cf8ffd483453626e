/* The comparison for a pull request: GitHub's Markdown. */
#include "report/comparison_format.h"

#include <string.h>

static void write_source(FILE *out, const char *label, const char *name,
                         const struct stored_result *result)
{
    fprintf(out, "* %s: ", label);
    comparison_write_source(out, ESCAPE_MARKDOWN, name, result);
    fputc('\n', out);
}

/* ---- Peak throughput ---- */

/* The row where a side is fastest, of those of the same test that both sides have. */
static const struct comparison_row *peak_row(const struct comparison_row *rows, size_t count,
                                             bool after)
{
    const struct comparison_row *peak = NULL;
    double highest = 0;
    for (size_t i = 0; i < count; i++) {
        double rate = after ? rows[i].after.rate_mib : rows[i].before.rate_mib;
        if (rows[i].state == COMPARISON_MADE && rate > highest) {
            highest = rate;
            peak = &rows[i];
        }
    }
    return peak;
}

static void write_peak_line(FILE *out, const struct comparison_row *rows, size_t count)
{
    const struct comparison_row *before = peak_row(rows, count, false);
    const struct comparison_row *after = peak_row(rows, count, true);
    char sizes[2][COMPARISON_NAME_LENGTH];
    if (before == NULL || after == NULL) {
        return;
    }
    double change = after->after.rate_mib / before->before.rate_mib - 1;
    fprintf(out, "| %s | %.2f (%s) | %.2f (%s) | %+.1f %% |\n", rows->test, before->before.rate_mib,
            comparison_size_text(before->size_bytes, sizes[0]), after->after.rate_mib,
            comparison_size_text(after->size_bytes, sizes[1]), change * 100);
}

static void write_peaks(FILE *out, const struct comparison_report *report)
{
    if (report->made_count == 0) {
        return;
    }
    fputs("\n### Peak throughput\n\n"
          "| operation | A, MiB/s (at size) | B, MiB/s (at size) | B against A |\n"
          "| :-- | --: | --: | --: |\n",
          out);
    for (size_t first = 0; first < report->row_count;) {
        size_t last = first + 1;
        while (last < report->row_count &&
               strcmp(report->rows[first].test, report->rows[last].test) == 0) {
            last++;
        }
        write_peak_line(out, report->rows + first, last - first);
        first = last;
    }
    fputs("\nThe highest median rate over the sizes that both have.\n", out);
}

/* ---- The table of verdicts ---- */

static bool is_notable(const struct comparison_row *row)
{
    return row->state != COMPARISON_MADE || row->figures.kind > VERDICT_NO_DIFFERENCE;
}

static void write_table(FILE *out, const struct comparison_report *report)
{
    fputs("\n### Verdicts\n\n|", out);
    for (size_t i = 0; i < comparison_column_count; i++) {
        const struct comparison_column *column = &comparison_columns[i];
        bool has_unit = column->unit[0] != '\0';
        fprintf(out, " %s%s%s |", column->heading, has_unit ? ", " : "", column->unit);
    }
    fputs("\n|", out);
    for (size_t i = 0; i < comparison_column_count; i++) {
        fputs(comparison_columns[i].left ? " :-- |" : " --: |", out);
    }
    fputc('\n', out);
    for (size_t j = 0; j < report->row_count; j++) {
        fputc('|', out);
        for (size_t i = 0; i < comparison_column_count; i++) {
            char cell[CELL_LENGTH];
            comparison_columns[i].cell(report, &report->rows[j], cell);
            bool bold = i + 1 == comparison_column_count && is_notable(&report->rows[j]);
            fputs(bold ? " **" : " ", out);
            escape_write(out, ESCAPE_MARKDOWN, cell);
            fputs(bold ? "** |" : " |", out);
        }
        fputc('\n', out);
    }
}

/* ---- Conditions and gates ---- */

static void write_conditions(FILE *out, const struct comparison_report *report)
{
    fputs("\n### Conditions\n\n", out);
    write_source(out, "A", report->before_name, report->before);
    write_source(out, "B", report->after_name, report->after);
    for (size_t i = 0; i < STORED_CONDITIONS; i++) {
        const char *before = report->before->conditions[i];
        const char *after = report->after->conditions[i];
        const char *known = before != NULL ? before : after;
        if (known == NULL || (before != NULL && after != NULL && strcmp(before, after) != 0)) {
            continue; /* nobody's, or among the differences */
        }
        fprintf(out, "* %s: ", stored_condition_names[i]);
        escape_write(out, ESCAPE_MARKDOWN, known);
        const char *side = before == NULL ? " in B" : " in A";
        fprintf(out, "%s\n", before != NULL && after != NULL ? "" : side);
    }
    for (size_t i = 0; i < report->difference_count; i++) {
        fputs("* **differs:** ", out);
        comparison_write_difference(out, ESCAPE_MARKDOWN, &report->differences[i]);
        fputc('\n', out);
    }
}

static void write_gates(FILE *out, const struct comparison_report *report)
{
    for (size_t i = 0; i < report->gates.count; i++) {
        fputs(i == 0 ? "\nGates: " : ", ", out);
        fprintf(out, "`%s`", report->gates.list[i].text);
    }
    if (report->gates.count > 0) {
        fprintf(out, ": **%s**\n", verdict_outcome_text(report->outcome));
    }
    for (size_t i = 0; i < report->row_count; i++) {
        const struct comparison_row *row = &report->rows[i];
        char name[COMPARISON_NAME_LENGTH];
        if (row->gate != NULL && row->outcome != GATE_PASSED) {
            fprintf(out, "* %s: %s (`%s`)\n", comparison_row_name(row, name), row->reason,
                    row->gate->text);
        }
    }
}

static void write_doubts(FILE *out, const struct comparison_report *report)
{
    char text[VERDICT_TEXT_LENGTH];
    for (size_t i = 0; comparison_doubt(report, i, text); i++) {
        fprintf(out, "%s* **warning:** %s\n", i == 0 ? "\n" : "", text);
    }
}

void comparison_markdown_write(FILE *out, const struct comparison_report *report)
{
    fprintf(out, "## AFP benchmark: B against A\n\n%s\n\n", comparison_basis_text(report));
    comparison_write_count(out, report);
    fputs(".\n", out);
    write_gates(out, report);
    write_doubts(out, report);
    write_peaks(out, report);
    write_table(out, report);
    for (size_t i = 0; i < COMPARISON_LEGEND_LINES; i++) {
        fprintf(out, "%s%s\n", i == 0 ? "\n" : "", comparison_legend[i]);
    }
    write_conditions(out, report);
}
