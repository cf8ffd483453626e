#include "result/marks.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum field_kind {
    FIELD_CHOICE, /* bool: the second word stands for true */
    FIELD_NAME,   /* char[MARK_TEST_LENGTH] */
    FIELD_NUMBER, /* uint32_t, from 1 */
    FIELD_COUNT   /* uint64_t */
};

#define AT(name) offsetof(struct mark, name)

/* In the order of the line. */
static const struct field {
    enum field_kind kind;
    size_t offset;
    const char *words[2];
} fields[] = {
    {FIELD_CHOICE, AT(begin), {"end", "begin"}},
    {FIELD_NAME, AT(test), {NULL}},
    {FIELD_COUNT, AT(size_bytes), {NULL}},
    {FIELD_NUMBER, AT(number), {NULL}},
    {FIELD_CHOICE, AT(warmup), {"measured", "warmup"}},
    {FIELD_COUNT, AT(counts.bytes), {NULL}},
    {FIELD_COUNT, AT(counts.requests[REQUEST_READ]), {NULL}},
    {FIELD_COUNT, AT(counts.requests[REQUEST_WRITE]), {NULL}},
    {FIELD_COUNT, AT(counts.requests[REQUEST_FLUSH]), {NULL}},
    {FIELD_COUNT, AT(counts.requests[REQUEST_COPY]), {NULL}},
    {FIELD_COUNT, AT(counts.runts), {NULL}},
    {FIELD_COUNT, AT(counts.round_trips), {NULL}},
    {FIELD_COUNT, AT(duration_ns), {NULL}},
};
#define BEGIN_FIELDS 5
#define END_FIELDS   (sizeof fields / sizeof fields[0])

static size_t field_count(const struct mark *mark)
{
    return mark->begin ? BEGIN_FIELDS : END_FIELDS;
}

/* ---- Writing ---- */

size_t mark_write(const struct mark *mark, char line[MARK_LENGTH])
{
    int length = 0;
    for (size_t i = 0; i < field_count(mark); i++) {
        const void *value = (const char *)mark + fields[i].offset;
        char number[24];
        const char *text = number;
        switch (fields[i].kind) {
        case FIELD_CHOICE:
            text = fields[i].words[*(const bool *)value];
            break;
        case FIELD_NAME:
            text = value;
            break;
        case FIELD_NUMBER:
            snprintf(number, sizeof number, "%" PRIu32, *(const uint32_t *)value);
            break;
        case FIELD_COUNT:
            snprintf(number, sizeof number, "%" PRIu64, *(const uint64_t *)value);
            break;
        }
        length +=
            snprintf(line + length, MARK_LENGTH - (size_t)length, "%s%s", i > 0 ? " " : "", text);
    }
    line[length++] = '\n';
    return (size_t)length;
}

/* ---- Reading ---- */

static bool read_field(const struct field *field, const char *text, struct mark *mark)
{
    void *value = (char *)mark + field->offset;
    size_t length = strlen(text);
    uint64_t number;
    struct error unused;
    switch (field->kind) {
    case FIELD_CHOICE:
        *(bool *)value = strcmp(text, field->words[true]) == 0;
        return *(bool *)value || strcmp(text, field->words[false]) == 0;
    case FIELD_NAME:
        if (length == 0 || length >= MARK_TEST_LENGTH) {
            return false;
        }
        memcpy(value, text, length + 1);
        return true;
    case FIELD_NUMBER:
        if (!parse_unsigned(text, "a mark", 1, UINT32_MAX, &number, &unused)) {
            return false;
        }
        *(uint32_t *)value = (uint32_t)number;
        return true;
    case FIELD_COUNT:
        return parse_unsigned(text, "a mark", 0, INT64_MAX, value, &unused);
    }
    return false;
}

/* Cuts the text at its blanks. */
static bool read_fields(char *text, struct mark *mark)
{
    for (size_t i = 0; i == 0 || i < field_count(mark); i++) {
        char *blank = text != NULL ? strchr(text, ' ') : NULL;
        if (blank != NULL) {
            *blank = '\0';
        }
        if (text == NULL || !read_field(&fields[i], text, mark)) {
            return false;
        }
        text = blank != NULL ? blank + 1 : NULL;
    }
    return text == NULL;
}

bool mark_read(const char *line, struct mark *mark, struct error *error)
{
    char text[MARK_LENGTH];
    size_t length = strlen(line);
    *mark = (struct mark){.begin = true};
    if (length < sizeof text) {
        memcpy(text, line, length + 1);
        if (read_fields(text, mark)) {
            return true;
        }
    }
    return error_set(error, ERROR_PROTOCOL, 0, "the test program wrote '%.100s', which is no mark",
                     line);
}

bool mark_ends(const struct mark *end, const struct mark *begin)
{
    return begin->begin && !end->begin && strcmp(begin->test, end->test) == 0 &&
           begin->size_bytes == end->size_bytes && begin->number == end->number &&
           begin->warmup == end->warmup;
}
