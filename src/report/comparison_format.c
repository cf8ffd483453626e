#include "report/comparison_format.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>

/* ---- Formats ---- */

static const struct comparison_format formats[] = {
    {"text", comparison_text_write},
    {"markdown", comparison_markdown_write},
    {"junit", comparison_junit_write},
};

const struct comparison_format *comparison_format_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

const char *comparison_format_names(void)
{
    return "text, markdown, junit";
}

bool comparison_write(const struct comparison_format *format, FILE *out,
                      const struct comparison_report *report, struct error *error)
{
    errno = 0;
    format->write(out, report);
    return (fflush(out) == 0 && !ferror(out)) ||
           error_set_errno(error, errno, "cannot write the report");
}

/* ---- Sentences ---- */

const char *const comparison_legend[COMPARISON_LEGEND_LINES] = {
    "ratio: the median of the ratios of the pairs, time of B by that of A, above 1 is slower; the "
    "interval misses no difference in 5 comparisons of 100, over all cases and looks.",
    "p: of as uneven a toss of the pairs' signs, times three looks and all cases.",
};

bool comparison_doubt(const struct comparison_report *report, size_t index,
                      char text[VERDICT_TEXT_LENGTH])
{
    static const char sides[COMPARISON_SIDES] = {'A', 'B'};
    for (size_t i = 0; i < report->row_count * COMPARISON_SIDES; i++) {
        const struct comparison_row *row = &report->rows[i / COMPARISON_SIDES];
        size_t side = i % COMPARISON_SIDES;
        char name[COMPARISON_NAME_LENGTH];
        comparison_row_name(row, name);
        if (row->warming[side] && index-- == 0) {
            snprintf(
                text, VERDICT_TEXT_LENGTH,
                "%.60s: %c is still warming up, its first run is slower than the others in one "
                "invocation after the other",
                name, sides[side]);
            return true;
        }
        if (row->drifted[side] && index-- == 0) {
            snprintf(text, VERDICT_TEXT_LENGTH,
                     "%.60s: %c drifted, the halves of its invocations differ", name, sides[side]);
            return true;
        }
    }
    return false;
}

void comparison_write_source(FILE *out, enum escape escape, const char *name,
                             const struct stored_result *result)
{
    escape_write(out, escape, name);
    fprintf(out, " (%s", result->format);
    if (result->started != NULL) {
        fputs(", started ", out);
        escape_write(out, escape, result->started);
    }
    if (result->directory != NULL) {
        fputs(", directory ", out);
        escape_write(out, escape, result->directory);
        fputs(" on ", out);
        escape_write(out, escape, result->conditions[STORED_FILE_SYSTEM]);
    }
    if (!result->has_conditions) {
        fputs("; conditions not recorded", out);
    }
    if (result->incomplete) {
        fputs("; incomplete", out);
        if (result->why_incomplete != NULL) {
            fputs(": ", out);
            escape_write(out, escape, result->why_incomplete);
        }
    }
    if (result->warning != NULL) {
        fputs("; warning: ", out);
        escape_write(out, escape, result->warning);
    }
    fputc(')', out);
}

void comparison_write_difference(FILE *out, enum escape escape,
                                 const struct comparison_difference *difference)
{
    fprintf(out, "%s: ", difference->condition);
    escape_write(out, escape, difference->before);
    fputs(" in A, ", out);
    escape_write(out, escape, difference->after);
    fputs(" in B", out);
    if (difference->row_count > 1) {
        fprintf(out, " (%s and %zu more)", difference->row, difference->row_count - 1);
    } else if (difference->row_count == 1) {
        fprintf(out, " (%s)", difference->row);
    }
}

void comparison_write_count(FILE *out, const struct comparison_report *report)
{
    static const enum verdict_kind kinds[] = {VERDICT_SLOWER, VERDICT_FASTER, VERDICT_NO_DIFFERENCE,
                                              VERDICT_NOT_DECIDED};
    fprintf(out, "%zu case%s:", report->row_count, report->row_count == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t count = comparison_report_count(report, kinds[i]);
        fprintf(out, "%s %zu %s", i > 0 ? "," : "", count, verdict_kind_text(kinds[i]));
    }
    if (report->made_count < report->row_count) {
        fprintf(out, ", %zu not compared", report->row_count - report->made_count);
    }
}

/* ---- Columns ---- */

static void set_missing(char text[CELL_LENGTH])
{
    snprintf(text, CELL_LENGTH, "-");
}

static void test_cell(const struct comparison_report *report, const struct comparison_row *row,
                      char text[CELL_LENGTH])
{
    snprintf(text, CELL_LENGTH, "%s", row->test);
}

static void size_cell(const struct comparison_report *report, const struct comparison_row *row,
                      char text[CELL_LENGTH])
{
    comparison_size_text(row->size_bytes, text);
}

static void count_cell(const struct comparison_side *side, char text[CELL_LENGTH])
{
    snprintf(text, CELL_LENGTH, "%zu", side->count);
}

static void median_cell(const struct comparison_side *side, char text[CELL_LENGTH])
{
    if (side->count == 0) {
        set_missing(text);
    } else {
        snprintf(text, CELL_LENGTH, "%.3f", side->median_ns / (double)NS_PER_MS);
    }
}

static void rate_cell(const struct comparison_side *side, char text[CELL_LENGTH])
{
    if (side->rate_mib > 0) {
        snprintf(text, CELL_LENGTH, "%.2f", side->rate_mib);
    } else {
        set_missing(text);
    }
}

/* A column for each side. */
#define TWO_SIDES(name)                                                                            \
    static void name##_before_cell(const struct comparison_report *report,                         \
                                   const struct comparison_row *row, char text[CELL_LENGTH])       \
    {                                                                                              \
        name##_cell(&row->before, text);                                                           \
    }                                                                                              \
    static void name##_after_cell(const struct comparison_report *report,                          \
                                  const struct comparison_row *row, char text[CELL_LENGTH])        \
    {                                                                                              \
        name##_cell(&row->after, text);                                                            \
    }

TWO_SIDES(count)
TWO_SIDES(median)
TWO_SIDES(rate)

static void ratio_cell(const struct comparison_report *report, const struct comparison_row *row,
                       char text[CELL_LENGTH])
{
    if (row->state == COMPARISON_MADE) {
        snprintf(text, CELL_LENGTH, "%.3f", row->figures.ratio);
    } else {
        set_missing(text);
    }
}

static void interval_cell(const struct comparison_report *report, const struct comparison_row *row,
                          char text[CELL_LENGTH])
{
    if (row->state == COMPARISON_MADE && row->figures.k > 0) {
        snprintf(text, CELL_LENGTH, "%.3f to %.3f", row->figures.low, row->figures.high);
    } else {
        set_missing(text);
    }
}

static void p_cell(const struct comparison_report *report, const struct comparison_row *row,
                   char text[CELL_LENGTH])
{
    if (row->state != COMPARISON_MADE || row->figures.pairs < 2) {
        set_missing(text);
    } else if (row->figures.p < 0.0001) {
        snprintf(text, CELL_LENGTH, "<0.0001");
    } else {
        snprintf(text, CELL_LENGTH, "%.4f", row->figures.p);
    }
}

static void outcome_cell(const struct comparison_report *report, const struct comparison_row *row,
                         char text[CELL_LENGTH])
{
    char outcome[VERDICT_TEXT_LENGTH];
    snprintf(text, CELL_LENGTH, "%s", comparison_row_outcome(report, row, outcome));
}

const struct comparison_column comparison_columns[] = {
    {"operation", "", true, test_cell},
    {"size", "", false, size_cell},
    {"runs A", "", false, count_before_cell},
    {"runs B", "", false, count_after_cell},
    {"median A", "ms", false, median_before_cell},
    {"median B", "ms", false, median_after_cell},
    {"rate A", "MiB/s", false, rate_before_cell},
    {"rate B", "MiB/s", false, rate_after_cell},
    {"ratio", "B/A", false, ratio_cell},
    {"95 % interval", "B/A", false, interval_cell},
    {"p", "", false, p_cell},
    {"verdict", "", true, outcome_cell},
};
const size_t comparison_column_count = sizeof comparison_columns / sizeof comparison_columns[0];
