#include "report/comparison_columns.h"

#include "base/clock.h"

#include <stdio.h>

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

const char *comparison_change_text(const struct comparison_row *row, char text[CELL_LENGTH])
{
    double ratio = row->figures.ratio;
    bool slower = ratio > 1;
    snprintf(text, CELL_LENGTH, "%.1f %% %s", ((slower ? ratio : 1 / ratio) - 1) * 100,
             slower ? "slower" : "faster");
    return text;
}
