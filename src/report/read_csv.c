/* The CSV of afp_speedtest -c, ours and Netatalk's (doc/formats.md): the rows of single runs. The
 * summary blocks of a sweep are read for the exact sizes, which single rows round to a thousandth
 * of a MiB. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "report/csv_layout.h"
#include "report/read_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_LIMIT 1024

#define LARGEST_MICROSECONDS (UINT64_C(1) << 50) /* 35 years */
#define LARGEST_MIB          (UINT64_C(1) << 30)

/* An exact size and what single rows print of it. */
struct known_size {
    uint64_t thousandths, size_bytes;
};

struct csv_reader {
    struct csv_lines lines;
    struct stored_result *result;
    bool spreadsheet;     /* numbers lost the zeros at their ends */
    bool tolerant;        /* lines that are none of ours are skipped: a log around the CSV */
    enum csv_block block; /* that the lines belong to */
    struct known_size sizes[STORED_CASE_LIMIT];
    size_t size_count;
};

/* ---- Lines and fields ---- */

static bool piece_ends(struct csv_piece piece, const char *text)
{
    size_t length = strlen(text);
    return piece.length >= length && memcmp(piece.text + piece.length - length, text, length) == 0;
}

static struct csv_lines lines_of(const struct input *input)
{
    return (struct csv_lines){.at = input->bytes, .left = input->size};
}

static bool expected(const struct csv_reader *reader, struct error *error, const char *what)
{
    return error_set(error, ERROR_CONTENT, 0, "line %zu: expected %s", reader->lines.number, what);
}

/* Digits, then a point and exactly `decimals` digits if that is above 0, or fewer from a
 * spreadsheet: as a whole number of the last decimal, at most `maximum`. */
static bool scaled(const struct csv_reader *reader, struct csv_piece field, size_t decimals,
                   uint64_t maximum, uint64_t *value)
{
    const char *point = field.length > 0 ? memchr(field.text, '.', field.length) : NULL;
    size_t whole = point != NULL ? (size_t)(point - field.text) : field.length;
    size_t given = point != NULL ? field.length - whole - 1 : 0;
    bool fits = reader->spreadsheet ? given <= decimals && (point == NULL || given > 0)
                                    : given == decimals && (point != NULL) == (decimals > 0);
    *value = 0;
    if (whole == 0 || !fits) {
        return false;
    }
    for (size_t i = 0; i < whole + 1 + decimals; i++) {
        char c = i < field.length ? field.text[i] : '0';
        if (i == whole) {
            continue;
        }
        if (c < '0' || c > '9' || *value > maximum) {
            return false;
        }
        *value = *value * 10 + (uint64_t)(c - '0');
    }
    return *value <= maximum;
}

static bool is_rate(const struct csv_reader *reader, struct csv_piece field)
{
    uint64_t rate;
    return scaled(reader, field, 2, UINT64_MAX / 16, &rate);
}

/* ---- Sizes ---- */

/* The likeliest size that prints as this: of the whole KiB that do, the roundest. */
static uint64_t likely_size(uint64_t thousandths)
{
    uint64_t first = thousandths * 1024 / 1000;
    uint64_t best = 0;
    for (uint64_t kib = first > 0 ? first - 1 : 0; kib <= first + 2; kib++) {
        bool rounder = best == 0 || (kib & -kib) > (best & -best);
        if (kib > 0 && rounder && stored_size_thousandths(kib * KIB) == thousandths) {
            best = kib;
        }
    }
    return best > 0 ? best * KIB : thousandths * MIB / 1000;
}

/* Notes what a row of a summary block says of a size. */
static bool note_size(struct csv_reader *reader, uint64_t thousandths, uint64_t size_bytes,
                      struct error *error)
{
    for (size_t i = 0; i < reader->size_count; i++) {
        if (reader->sizes[i].thousandths == thousandths) {
            return reader->sizes[i].size_bytes == size_bytes ||
                   expected(reader, error,
                            "one size for each file_size_mb: single runs of two sizes that print "
                            "alike cannot be told apart; use the JSON");
        }
    }
    if (reader->size_count == STORED_CASE_LIMIT) {
        return expected(reader, error, "fewer sizes");
    }
    reader->sizes[reader->size_count++] = (struct known_size){thousandths, size_bytes};
    return true;
}

static void set_exact_sizes(struct csv_reader *reader)
{
    struct stored_result *result = reader->result;
    for (size_t i = 0; i < result->case_count; i++) {
        struct stored_case *stored_case = &result->cases[i];
        uint64_t thousandths = stored_size_thousandths(stored_case->size_bytes);
        for (size_t j = 0; j < reader->size_count; j++) {
            if (reader->sizes[j].thousandths == thousandths) {
                stored_case->size_exact = true;
                stored_case->size_bytes = reader->sizes[j].size_bytes;
                stored_case->run_bytes = stored_case->size_bytes;
                break;
            }
        }
    }
}

/* ---- Rows ---- */

static bool add_run(struct csv_reader *reader, const struct csv_piece *fields, uint64_t thousandths,
                    struct error *error)
{
    uint64_t iteration;
    uint64_t microseconds;
    if (!stored_test_name_ok(fields[0].text, fields[0].length)) {
        return expected(reader, error, "the name of a test in column 1");
    }
    if (!scaled(reader, fields[1], 0, STORED_RUN_LIMIT, &iteration) || iteration == 0) {
        return expected(reader, error, "a whole number from 1 to 1000000 in column 2, iteration");
    }
    if (!scaled(reader, fields[3], 0, LARGEST_MICROSECONDS, &microseconds)) {
        return expected(reader, error, "a whole number in column 4, microseconds");
    }
    if (!is_rate(reader, fields[4])) {
        return expected(reader, error, "a number with two decimals in column 5, throughput_mbs");
    }
    struct stored_case *stored_case =
        stored_result_case(reader->result, fields[0].text, fields[0].length,
                           likely_size(thousandths), error);
    double duration_ns = (double)microseconds * (double)NS_PER_US;
    return (stored_case != NULL &&
            stored_result_add_run(reader->result, stored_case, duration_ns, error)) ||
           error_prefix(error, "line %zu", reader->lines.number);
}

/* "Read_mean,,0.004,64,60.41": nothing that the single runs do not say, but checked. */
static bool check_summary(struct csv_reader *reader, const struct csv_piece *fields,
                          struct error *error)
{
    static const char *const endings[] = {"_mean", "_median", "_stddev", "_min", "_max"};
    uint64_t microseconds;
    bool known = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        known = known || piece_ends(fields[0], endings[i]);
    }
    if (!known) {
        return expected(reader, error, "a whole number in column 2, iteration");
    }
    if (!scaled(reader, fields[3], 0, LARGEST_MICROSECONDS, &microseconds)) {
        return expected(reader, error, "a whole number in column 4, microseconds");
    }
    return is_rate(reader, fields[4]) ||
           (fields[4].length == 0 && piece_ends(fields[0], "_stddev")) ||
           expected(reader, error, "a number with two decimals in column 5, throughput_mbs");
}

static bool read_run_row(struct csv_reader *reader, const struct csv_piece *fields, size_t count,
                         struct error *error)
{
    uint64_t thousandths;
    if (count != 5) {
        return expected(reader, error,
                        "the 5 columns test_name to throughput_mbs, or a line that begins with #");
    }
    if (!scaled(reader, fields[2], 3, LARGEST_MIB * 1000, &thousandths)) {
        return expected(reader, error, "a number with three decimals in column 3, file_size_mb");
    }
    return fields[1].length == 0 ? check_summary(reader, fields, error)
                                 : add_run(reader, fields, thousandths, error);
}

static bool read_exact_row(struct csv_reader *reader, const struct csv_piece *fields, size_t count,
                           struct error *error)
{
    uint64_t size_bytes;
    uint64_t thousandths;
    if (count != 8) {
        return expected(reader, error, "the 8 columns file_size_bytes to mean_time_ms");
    }
    if (!scaled(reader, fields[0], 0, LARGEST_MIB * MIB, &size_bytes) || size_bytes == 0) {
        return expected(reader, error, "a whole number from 1 on in column 1, file_size_bytes");
    }
    if (!scaled(reader, fields[1], 3, LARGEST_MIB * 1000, &thousandths) ||
        stored_size_thousandths(size_bytes) != thousandths) {
        return expected(reader, error, "the MiB of column 1 in column 2, file_size_mb");
    }
    return note_size(reader, thousandths, size_bytes, error);
}

static bool read_short_row(struct csv_reader *reader, const struct csv_piece *fields, size_t count,
                           struct error *error)
{
    uint64_t thousandths;
    if (count != 7) {
        return expected(reader, error, "the 7 columns file_size_mb to mean_time_ms");
    }
    return scaled(reader, fields[0], 3, LARGEST_MIB * 1000, &thousandths) ||
           expected(reader, error, "a number with three decimals in column 1, file_size_mb");
}

static bool read_tcp_row(struct csv_reader *reader, const struct csv_piece *fields, size_t count,
                         struct error *error)
{
    return count == 4 || expected(reader, error, "the 4 columns metric to delta");
}

static bool read_stray_row(struct csv_reader *reader, const struct csv_piece *fields, size_t count,
                           struct error *error)
{
    return expected(reader, error, "a heading that begins with #, or a row of column names");
}

static bool (*const read_row[CSV_BLOCK_COUNT])(struct csv_reader *reader,
                                               const struct csv_piece *fields, size_t count,
                                               struct error *error) = {
    [CSV_NONE] = read_stray_row,          [CSV_RUNS] = read_run_row, [CSV_SUMMARY] = read_exact_row,
    [CSV_SHORT_SUMMARY] = read_short_row, [CSV_TCP] = read_tcp_row,
};

/* A name or a number, as the first column of every table has. */
static bool is_word(struct csv_piece field)
{
    for (size_t i = 0; i < field.length; i++) {
        char c = field.text[i];
        if (!(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
            c != '_' && c != '.') {
            return false;
        }
    }
    return field.length > 0;
}

/* Nothing of the table that it stands in: for a log around the CSV. */
static bool is_foreign(const struct csv_reader *reader, struct csv_piece line,
                       const struct csv_piece *fields, size_t count)
{
    return line.length > LINE_LIMIT || count != csv_columns(reader->block) || !is_word(fields[0]);
}

static bool read_line(struct csv_reader *reader, struct csv_piece line, struct error *error)
{
    struct csv_piece fields[CSV_FIELD_LIMIT];
    if (line.length > LINE_LIMIT && !reader->tolerant) {
        return expected(reader, error, "a line of at most 1024 bytes");
    }
    if (line.length == 0 || line.text[0] == '#') {
        /* A log may break a table with an empty line of its own. */
        bool ends = line.length > 0 || !reader->tolerant;
        reader->block = ends ? CSV_NONE : reader->block;
        return true;
    }
    enum csv_block begun = csv_block_begun(line);
    if (begun != CSV_NONE) {
        reader->block = begun;
        return true;
    }
    size_t count = csv_split(line, fields);
    return (reader->tolerant && is_foreign(reader, line, fields, count)) ||
           read_row[reader->block](reader, fields, count, error);
}

static bool read_lines(struct csv_reader *reader, struct error *error)
{
    struct csv_piece line;
    while (csv_next_line(&reader->lines, &line)) {
        if (read_line(reader, line, error)) {
            continue;
        }
        /* A last line without an end that makes no sense was cut off. */
        if (reader->lines.ended || error->domain != ERROR_CONTENT) {
            return false;
        }
        reader->result->incomplete = true;
        reader->result->why_incomplete = memory_copy_string("it ends in the middle of a line");
        if (reader->result->why_incomplete == NULL) {
            return memory_error(error, "for a stored result");
        }
    }
    set_exact_sizes(reader);
    return true;
}

static bool read_csv(const struct input *input, bool tolerant, struct stored_result *result,
                     struct error *error)
{
    struct csv_reader *reader = memory_allocate(1, sizeof *reader);
    if (reader == NULL) {
        return memory_error(error, "for a stored result");
    }
    *reader = (struct csv_reader){.lines = lines_of(input),
                                  .result = result,
                                  .spreadsheet = input->spreadsheet,
                                  .tolerant = tolerant};
    bool ok = read_lines(reader, error);
    memory_release(reader);
    return ok;
}

/* ---- The formats ---- */

/* Whether a line of the input is this text, or begins with it. */
static bool has_line(const struct input *input, const char *text, bool whole)
{
    struct csv_lines lines = lines_of(input);
    struct csv_piece line;
    while (csv_next_line(&lines, &line)) {
        if (whole ? csv_piece_is(line, text) : csv_piece_begins(line, text)) {
            return true;
        }
    }
    return false;
}

static bool recognises_csv(const struct input *input)
{
    struct csv_piece all = {input->bytes, input->size};
    return csv_piece_begins(all, CSV_RUN_HEADER) &&
           !has_line(input, CSV_SHORT_SUMMARY_HEADER, true);
}

static bool read_strict(const struct input *input, struct stored_result *result,
                        struct error *error)
{
    return read_csv(input, false, result, error);
}

static bool recognises_netatalk(const struct input *input)
{
    return has_line(input, CSV_RUN_HEADER, true);
}

static bool read_tolerant(const struct input *input, struct stored_result *result,
                          struct error *error)
{
    return read_csv(input, true, result, error);
}

/* Summaries alone: of the test program for latency, or of a log that lost its single rows. */
static bool recognises_summaries(const struct input *input)
{
    return has_line(input, "Test,Time_ms", false) || has_line(input, CSV_SUMMARY_TITLE, false);
}

static bool refuse_summaries(const struct input *input, struct stored_result *result,
                             struct error *error)
{
    return error_set(error, ERROR_CONTENT, 0,
                     "expected the rows of single runs: this CSV has only their summaries, which "
                     "cannot be compared");
}

const struct result_reader csv_result_reader = {"speed test CSV", recognises_csv, read_strict};
const struct result_reader netatalk_result_reader = {"Netatalk CSV", recognises_netatalk,
                                                     read_tolerant};
const struct result_reader summary_result_reader = {"CSV of summaries", recognises_summaries,
                                                    refuse_summaries};
