#include "report/comparison_escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What stands for a character with a meaning of its own; NULL: the character itself. */
static const char *xml_entity(char c)
{
    static const struct {
        char c;
        const char *entity;
    } entities[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}};
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
        if (entities[i].c == c) {
            return entities[i].entity;
        }
    }
    return NULL;
}

/* The bytes of the character that begins here, 0 if they are no UTF-8 (too long a form, surrogates
 * and what lies beyond Unicode included). */
static size_t character_length(const char *text, uint32_t *character)
{
    static const struct {
        uint8_t mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    uint8_t first = (uint8_t)text[0];
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if ((first & forms[i].mask) != forms[i].lead) {
            continue;
        }
        uint32_t value = first & (uint8_t)~forms[i].mask;
        for (size_t j = 1; j <= i; j++) {
            uint8_t next = (uint8_t)text[j]; /* the end is no continuation either */
            if ((next & 0xC0) != 0x80) {
                return 0;
            }
            value = value << 6 | (next & 0x3F);
        }
        *character = value;
        bool surrogate = value >= 0xD800 && value <= 0xDFFF;
        return value >= forms[i].least && value <= 0x10FFFF && !surrogate ? i + 1 : 0;
    }
    return 0;
}

static bool is_printable(uint32_t character)
{
    bool control = character < 0x20 || (character >= 0x7F && character < 0xA0);
    /* Line separators, and marks that turn the direction of writing. */
    bool layout = (character >= 0x2028 && character <= 0x202E) ||
                  (character >= 0x2066 && character <= 0x2069);
    bool none = (character & 0xFFFE) == 0xFFFE;
    return !control && !layout && !none;
}

static void write_ascii(FILE *out, enum escape escape, char c)
{
    const char *entity = escape == ESCAPE_XML ? xml_entity(c) : NULL;
    if (entity != NULL) {
        fputs(entity, out);
    } else if (escape == ESCAPE_MARKDOWN && strchr("\\`*_{}[]<>#|&~!@", c) != NULL) {
        fprintf(out, "&#%d;", c);
    } else {
        fputc(c, out);
    }
}

void escape_write(FILE *out, enum escape escape, const char *text)
{
    while (*text != '\0') {
        uint32_t character = 0;
        size_t length = character_length(text, &character);
        if (length == 0 || !is_printable(character)) {
            fputc('?', out);
        } else if (length == 1) {
            write_ascii(out, escape, *text);
        } else {
            fwrite(text, 1, length, out);
        }
        text += length > 0 ? length : 1;
    }
}
