#include "harness/write_csv.h"

#include "report/csv_layout.h"

#include <string.h>

#define BLOCK_LIMIT 8 /* tests */

static struct csv_lines lines_of(const char *fragment)
{
    return (struct csv_lines){.at = fragment, .left = strlen(fragment)};
}

static void put(FILE *out, struct csv_piece line)
{
    fwrite(line.text, 1, line.length, out);
    fputc('\n', out);
}

static bool no_csv(size_t fragment, struct csv_piece line, const char *expected,
                   struct error *error)
{
    return error_set(error, ERROR_CONTENT, 0,
                     "the test program's output for size %zu is not the CSV of a sweep: expected "
                     "%s, not '%.*s'",
                     fragment + 1, expected, (int)(line.length < 80 ? line.length : 80), line.text);
}

/* Whether a fragment has a block with this title; `lines` then stands behind the title. */
static bool find_block(const char *fragment, struct csv_piece title, struct csv_lines *lines)
{
    struct csv_piece line;
    *lines = lines_of(fragment);
    while (csv_next_line(lines, &line)) {
        if (csv_pieces_equal(line, title)) {
            return true;
        }
    }
    return false;
}

/* Copies lines up to a blank one or the end. */
static void copy_block(FILE *out, struct csv_lines *lines)
{
    struct csv_piece line;
    while (csv_next_line(lines, &line) && line.length > 0) {
        put(out, line);
    }
}

/* The rows of the runs: everything up to the first blank line, without the header. */
static bool copy_runs(FILE *out, const char *text, size_t fragment, struct error *error)
{
    struct csv_lines lines = lines_of(text);
    struct csv_piece line = {text, 0};
    struct csv_piece fields[CSV_FIELD_LIMIT];
    if (!csv_next_line(&lines, &line) || csv_block_begun(line) != CSV_RUNS) {
        return no_csv(fragment, line, "the header", error);
    }
    while (csv_next_line(&lines, &line) && line.length > 0) {
        if (csv_split(line, fields) != csv_columns(CSV_RUNS)) {
            return no_csv(fragment, line, "a row of five fields", error);
        }
        put(out, line);
    }
    return true;
}

/* Adds the titles of a fragment's summary blocks that are new. */
static bool collect_titles(const char *text, size_t fragment, struct csv_piece titles[BLOCK_LIMIT],
                           size_t *count, struct error *error)
{
    struct csv_lines lines = lines_of(text);
    struct csv_piece line;
    while (csv_next_line(&lines, &line)) {
        if (!csv_piece_begins(line, CSV_SUMMARY_TITLE)) {
            continue;
        }
        size_t known = 0;
        while (known < *count && !csv_pieces_equal(titles[known], line)) {
            known++;
        }
        if (known == BLOCK_LIMIT) {
            return no_csv(fragment, line, "fewer tests", error);
        }
        titles[known] = line;
        *count += known == *count;
        if (!csv_next_line(&lines, &line) || csv_block_begun(line) != CSV_SUMMARY) {
            return no_csv(fragment, line, "the header of a summary", error);
        }
    }
    return true;
}

static void write_summary(FILE *out, struct csv_piece title, const struct harness_result *result)
{
    fputc('\n', out);
    put(out, title);
    fputs(CSV_SUMMARY_HEADER "\n", out);
    for (size_t i = 0; i < result->size_count; i++) {
        const char *fragment = result->sizes[i].csv;
        struct csv_lines lines;
        struct csv_piece header;
        if (fragment != NULL && find_block(fragment, title, &lines) &&
            csv_next_line(&lines, &header)) {
            copy_block(out, &lines);
        }
    }
}

static void write_tcp(FILE *out, const char *fragment)
{
    static const struct csv_piece title = {CSV_TCP_TITLE, sizeof CSV_TCP_TITLE - 1};
    struct csv_lines lines;
    if (find_block(fragment, title, &lines)) {
        fputs("\n" CSV_TCP_TITLE "\n", out);
        copy_block(out, &lines);
    }
}

bool harness_write_csv(FILE *out, const struct harness_result *result, struct error *error)
{
    struct csv_piece titles[BLOCK_LIMIT];
    size_t title_count = 0;
    const char *last = NULL;
    fputs(CSV_RUN_HEADER "\n", out);
    for (size_t i = 0; i < result->size_count; i++) {
        if (result->sizes[i].csv == NULL) {
            continue;
        }
        last = result->sizes[i].csv;
        if (!copy_runs(out, last, i, error) ||
            !collect_titles(last, i, titles, &title_count, error)) {
            return false;
        }
    }
    for (size_t i = 0; i < title_count; i++) {
        write_summary(out, titles[i], result);
    }
    if (last != NULL) {
        write_tcp(out, last);
    }
    return true;
}
