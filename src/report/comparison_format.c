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
    "ratio: the median time of B by that of A, above 1 is slower, with its 95 % bootstrap "
    "interval.",
    "p: Mann-Whitney's test of the runs, then adjusted by Holm's correction over all cases.",
    "smallest: the effect that these runs would have shown 9 times in 10 in a single case; more "
    "cases take more.",
};

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
    static const enum compare_verdict verdicts[] = {COMPARE_SLOWER, COMPARE_FASTER,
                                                    COMPARE_NO_DIFFERENCE};
    fprintf(out, "%zu case%s:", report->row_count, report->row_count == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
        fprintf(out, "%s %zu %s", i > 0 ? "," : "", comparison_report_count(report, verdicts[i]),
                compare_verdict_text(verdicts[i]));
    }
    if (report->made_count < report->row_count) {
        fprintf(out, ", %zu not compared", report->row_count - report->made_count);
    }
}

const char *comparison_change_text(const struct comparison_row *row, char text[CELL_LENGTH])
{
    double ratio = row->figures.ratio;
    bool slower = ratio > 1;
    snprintf(text, CELL_LENGTH, "%.1f %% %s", ((slower ? ratio : 1 / ratio) - 1) * 100,
             slower ? "slower" : "faster");
    return text;
}

/* ---- Columns ---- */

static void set_missing(char text[CELL_LENGTH])
{
    snprintf(text, CELL_LENGTH, "-");
}

static void test_cell(const struct comparison_row *row, char text[CELL_LENGTH])
{
    snprintf(text, CELL_LENGTH, "%s", row->test);
}

static void size_cell(const struct comparison_row *row, char text[CELL_LENGTH])
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
    static void name##_before_cell(const struct comparison_row *row, char text[CELL_LENGTH])       \
    {                                                                                              \
        name##_cell(&row->before, text);                                                           \
    }                                                                                              \
    static void name##_after_cell(const struct comparison_row *row, char text[CELL_LENGTH])        \
    {                                                                                              \
        name##_cell(&row->after, text);                                                            \
    }

TWO_SIDES(count)
TWO_SIDES(median)
TWO_SIDES(rate)

static void ratio_cell(const struct comparison_row *row, char text[CELL_LENGTH])
{
    if (row->state == COMPARISON_MADE) {
        snprintf(text, CELL_LENGTH, "%.3f", row->figures.ratio);
    } else {
        set_missing(text);
    }
}

static void interval_cell(const struct comparison_row *row, char text[CELL_LENGTH])
{
    if (row->state == COMPARISON_MADE) {
        snprintf(text, CELL_LENGTH, "%.3f to %.3f", row->figures.ratio_low,
                 row->figures.ratio_high);
    } else {
        set_missing(text);
    }
}

static void set_chance(const struct comparison_row *row, double p, char text[CELL_LENGTH])
{
    if (row->state != COMPARISON_MADE) {
        set_missing(text);
    } else if (p < 0.0001) {
        snprintf(text, CELL_LENGTH, "<0.0001");
    } else {
        snprintf(text, CELL_LENGTH, "%.4f", p);
    }
}

static void p_cell(const struct comparison_row *row, char text[CELL_LENGTH])
{
    set_chance(row, row->figures.p, text);
}

static void adjusted_cell(const struct comparison_row *row, char text[CELL_LENGTH])
{
    set_chance(row, row->figures.p_adjusted, text);
}

static void effect_cell(const struct comparison_row *row, char text[CELL_LENGTH])
{
    double effect;
    if (comparison_row_smallest_effect(row, &effect)) {
        snprintf(text, CELL_LENGTH, "%.1f", effect * 100);
    } else {
        set_missing(text);
    }
}

static void outcome_cell(const struct comparison_row *row, char text[CELL_LENGTH])
{
    snprintf(text, CELL_LENGTH, "%s", comparison_row_outcome(row));
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
    {"p adjusted", "", false, adjusted_cell},
    {"smallest", "%", false, effect_cell},
    {"verdict", "", true, outcome_cell},
};
const size_t comparison_column_count = sizeof comparison_columns / sizeof comparison_columns[0];
