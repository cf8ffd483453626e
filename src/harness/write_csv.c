#include "harness/write_csv.h"

#include "report/csv.h"

#include <string.h>

#define BLOCK_LIMIT 8 /* tests */

/* A line without its end, inside a fragment. */
struct line {
    const char *text;
    size_t length;
};

/* The next line of a text, which moves on; false at its end. */
static bool next_line(const char **text, struct line *line)
{
    if (**text == '\0') {
        return false;
    }
    size_t length = strcspn(*text, "\n");
    *line = (struct line){*text, length};
    *text += length + ((*text)[length] == '\n');
    return true;
}

static bool line_is(struct line line, const char *text)
{
    return strlen(text) == line.length && memcmp(line.text, text, line.length) == 0;
}

static bool line_begins(struct line line, const char *text)
{
    return line.length >= strlen(text) && memcmp(line.text, text, strlen(text)) == 0;
}

static bool lines_equal(struct line a, struct line b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static void put(FILE *out, struct line line)
{
    fwrite(line.text, 1, line.length, out);
    fputc('\n', out);
}

static bool no_csv(size_t fragment, struct line line, const char *expected, struct error *error)
{
    return error_set(error, ERROR_CONTENT, 0,
                     "the test program's output for size %zu is not the CSV of a sweep: expected "
                     "%s, not '%.*s'",
                     fragment + 1, expected, (int)(line.length < 80 ? line.length : 80), line.text);
}

/* Where the block with this title begins, behind the title; NULL: it is not there. */
static const char *find_block(const char *text, struct line title)
{
    struct line line;
    while (next_line(&text, &line)) {
        if (lines_equal(line, title)) {
            return text;
        }
    }
    return NULL;
}

/* Copies lines up to a blank one or the end. */
static void copy_block(FILE *out, const char *text)
{
    struct line line;
    while (next_line(&text, &line) && line.length > 0) {
        put(out, line);
    }
}

/* The rows of the runs: everything up to the first blank line, without the header. */
static bool copy_runs(FILE *out, const char *text, size_t fragment, struct error *error)
{
    struct line line = {text, 0};
    if (!next_line(&text, &line) || !line_is(line, CSV_RUN_HEADER)) {
        return no_csv(fragment, line, "the header", error);
    }
    while (next_line(&text, &line) && line.length > 0) {
        size_t commas = 0;
        for (size_t i = 0; i < line.length; i++) {
            commas += line.text[i] == ',';
        }
        if (commas != 4) {
            return no_csv(fragment, line, "a row of five fields", error);
        }
        put(out, line);
    }
    return true;
}

/* Adds the titles of a fragment's summary blocks that are new. */
static bool collect_titles(const char *text, size_t fragment, struct line titles[BLOCK_LIMIT],
                           size_t *count, struct error *error)
{
    struct line line;
    while (next_line(&text, &line)) {
        if (!line_begins(line, CSV_SUMMARY_TITLE)) {
            continue;
        }
        size_t known = 0;
        while (known < *count && !lines_equal(titles[known], line)) {
            known++;
        }
        if (known == BLOCK_LIMIT) {
            return no_csv(fragment, line, "fewer tests", error);
        }
        titles[known] = line;
        *count += known == *count;
        if (!next_line(&text, &line) || !line_is(line, CSV_SUMMARY_HEADER)) {
            return no_csv(fragment, line, "the header of a summary", error);
        }
    }
    return true;
}

static void write_summary(FILE *out, struct line title, const struct harness_result *result)
{
    fputc('\n', out);
    put(out, title);
    fputs(CSV_SUMMARY_HEADER "\n", out);
    for (size_t i = 0; i < result->size_count; i++) {
        const char *fragment = result->sizes[i].csv;
        const char *block = fragment != NULL ? find_block(fragment, title) : NULL;
        struct line header;
        if (block != NULL && next_line(&block, &header)) {
            copy_block(out, block);
        }
    }
}

static void write_tcp(FILE *out, const char *fragment)
{
    static const struct line title = {CSV_TCP_TITLE, sizeof CSV_TCP_TITLE - 1};
    const char *block = find_block(fragment, title);
    if (block != NULL) {
        fputs("\n" CSV_TCP_TITLE "\n", out);
        copy_block(out, block);
    }
}

bool harness_write_csv(FILE *out, const struct harness_result *result, struct error *error)
{
    struct line titles[BLOCK_LIMIT];
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
