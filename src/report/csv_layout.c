#include "report/csv_layout.h"

#include <string.h>

static const struct {
    const char *header;
    size_t columns;
} blocks[CSV_BLOCK_COUNT] = {
    [CSV_RUNS] = {CSV_RUN_HEADER, 5},
    [CSV_SUMMARY] = {CSV_SUMMARY_HEADER, 8},
    [CSV_SHORT_SUMMARY] = {CSV_SHORT_SUMMARY_HEADER, 7},
    [CSV_TCP] = {CSV_TCP_HEADER, 4},
};

size_t csv_columns(enum csv_block block)
{
    return blocks[block].columns;
}

bool csv_pieces_equal(struct csv_piece a, struct csv_piece b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

bool csv_piece_is(struct csv_piece piece, const char *text)
{
    return csv_pieces_equal(piece, (struct csv_piece){text, strlen(text)});
}

bool csv_piece_begins(struct csv_piece piece, const char *text)
{
    size_t length = strlen(text);
    return piece.length >= length && memcmp(piece.text, text, length) == 0;
}

bool csv_next_line(struct csv_lines *lines, struct csv_piece *line)
{
    if (lines->left == 0) {
        return false;
    }
    const char *end = memchr(lines->at, '\n', lines->left);
    lines->ended = end != NULL;
    *line = (struct csv_piece){lines->at, end != NULL ? (size_t)(end - lines->at) : lines->left};
    lines->at += line->length + lines->ended;
    lines->left -= line->length + lines->ended;
    lines->number++;
    return true;
}

enum csv_block csv_block_begun(struct csv_piece line)
{
    enum csv_block block = CSV_BLOCK_COUNT - 1;
    while (block > CSV_NONE && !csv_piece_is(line, blocks[block].header)) {
        block--;
    }
    return block;
}

size_t csv_split(struct csv_piece line, struct csv_piece fields[CSV_FIELD_LIMIT])
{
    size_t count = 0;
    for (;;) {
        const char *comma = line.length > 0 ? memchr(line.text, ',', line.length) : NULL;
        size_t length = comma != NULL ? (size_t)(comma - line.text) : line.length;
        if (count == CSV_FIELD_LIMIT) {
            return CSV_FIELD_LIMIT + 1;
        }
        fields[count++] = (struct csv_piece){line.text, length};
        if (comma == NULL) {
            return count;
        }
        line.text += length + 1;
        line.length -= length + 1;
    }
}
