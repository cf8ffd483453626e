/* What others make of a result, and what is none: a CSV that went through a spreadsheet is brought
 * back to the layout of report/csv_layout.h, and of all else it is said what it seems to be. */
#include "base/memory.h"
#include "report/csv_layout.h"
#include "report/read_internal.h"

#include <string.h>
#include <strings.h>

#define LOOK_LENGTH 4096 /* enough to see what a file is */

static const char byte_order_mark[] = "\xEF\xBB\xBF";

/* ---- Spreadsheets ---- */

void input_skip_mark(struct input *input)
{
    size_t length = sizeof byte_order_mark - 1;
    if (input->size >= length && memcmp(input->bytes, byte_order_mark, length) == 0) {
        input->bytes += length;
        input->size -= length;
        input->spreadsheet = true;
    }
}

/* Without its carriage return and the quotes around its fields; returns the new length. */
static size_t copy_unquoted(struct csv_piece line, char *to)
{
    size_t used = 0;
    line.length -= line.length > 0 && line.text[line.length - 1] == '\r';
    for (size_t i = 0; i < line.length; i++) {
        bool first = i == 0 || line.text[i - 1] == ',';
        bool last = i + 1 == line.length || line.text[i + 1] == ',';
        if (line.text[i] != '"' || !(first || last)) {
            to[used++] = line.text[i];
        }
    }
    return used;
}

/* Spreadsheets write rows of one length: the empty fields beyond those of the row's block go. */
static size_t cut_padding(const char *line, size_t length, enum csv_block *block)
{
    struct csv_piece bare = {line, length};
    while (bare.length > 0 && line[bare.length - 1] == ',') {
        bare.length--;
    }
    enum csv_block begun = csv_block_begun(bare);
    if (bare.length == 0 || line[0] == '#' || begun != CSV_NONE) {
        *block = begun;
        return bare.length;
    }
    size_t fields = 1;
    for (size_t i = 0; i < bare.length; i++) {
        fields += line[i] == ',';
    }
    size_t wanted = csv_columns(*block);
    size_t most = bare.length + (wanted > fields ? wanted - fields : 0);
    return most < length ? most : length;
}

bool input_from_spreadsheet(struct input *input, char **copy, struct error *error)
{
    *copy = NULL;
    input->spreadsheet = input->spreadsheet || memchr(input->bytes, '"', input->size) != NULL ||
                         memchr(input->bytes, '\r', input->size) != NULL;
    if (!input->spreadsheet) {
        return true;
    }
    *copy = memory_allocate(input->size + 1, 1);
    if (*copy == NULL) {
        return memory_error(error, "for a stored result");
    }
    struct csv_lines lines = {.at = input->bytes, .left = input->size};
    struct csv_piece line;
    enum csv_block block = CSV_NONE;
    size_t used = 0;
    while (csv_next_line(&lines, &line)) {
        size_t length = copy_unquoted(line, *copy + used);
        used += cut_padding(*copy + used, length, &block);
        if (lines.ended) {
            (*copy)[used++] = '\n';
        }
    }
    input->bytes = *copy;
    input->size = used;
    return true;
}

/* ---- What it is not ---- */

static const struct {
    const char *start; /* any case; blanks before it do not count */
    size_t length;
    const char *kind;
} starts[] = {
    {"<!doctype html", 14, "an HTML page"},
    {"<html", 5, "an HTML page"},
    {"<", 1, "XML"},
    {"[", 1, "JSON, but no object as results are"},
    {"PK\x03\x04", 4, "a ZIP archive or a workbook (save it as CSV)"},
    {"\x1F\x8B", 2, "compressed (unpack it first)"},
    {"BZh", 3, "compressed (unpack it first)"},
    {"\xFD"
     "7zXZ",
     5, "compressed (unpack it first)"},
    {"\x28\xB5\x2F\xFD", 4, "compressed (unpack it first)"},
    {"\x89PNG", 4, "a picture"},
    {"\xFF\xFE", 2, "UTF-16 text (save it as UTF-8)"},
    {"\xFE\xFF", 2, "UTF-16 text (save it as UTF-8)"},
    {"test_name;", 10, "CSV with semicolons (save it with commas and decimal points)"},
    {"\"test_name\";", 12, "CSV with semicolons (save it with commas and decimal points)"},
};

static bool is_binary(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < 0x20 && memchr("\t\n\v\f\r\x1B", c, 6) == NULL) {
            return true;
        }
    }
    return false;
}

const char *input_kind(const struct input *input)
{
    size_t size = input->size < LOOK_LENGTH ? input->size : LOOK_LENGTH;
    const char *bytes = input->bytes;
    while (size > 0 && memchr(" \t\r\n", bytes[0], 4) != NULL) {
        bytes++;
        size--;
    }
    if (size == 0) {
        return "empty";
    }
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (size >= starts[i].length &&
            strncasecmp(bytes, starts[i].start, starts[i].length) == 0) {
            return starts[i].kind;
        }
    }
    return is_binary(bytes, size) ? "a binary file" : "other text";
}
