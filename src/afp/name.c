#include "afp/name.h"

#include <string.h>
#include <utf8proc.h>

/* More than the longest name can have: two bytes of UTF-8 give at most three characters. */
#define POINT_LIMIT 512

/* MacRoman's 0x80 to 0xFF in Unicode; below is ASCII. */
static const uint16_t upper_half[128] = {
    0x00C4, 0x00C5, 0x00C7, 0x00C9, 0x00D1, 0x00D6, 0x00DC, 0x00E1, 0x00E0, 0x00E2, 0x00E4, 0x00E3,
    0x00E5, 0x00E7, 0x00E9, 0x00E8, 0x00EA, 0x00EB, 0x00ED, 0x00EC, 0x00EE, 0x00EF, 0x00F1, 0x00F3,
    0x00F2, 0x00F4, 0x00F6, 0x00F5, 0x00FA, 0x00F9, 0x00FB, 0x00FC, 0x2020, 0x00B0, 0x00A2, 0x00A3,
    0x00A7, 0x2022, 0x00B6, 0x00DF, 0x00AE, 0x00A9, 0x2122, 0x00B4, 0x00A8, 0x2260, 0x00C6, 0x00D8,
    0x221E, 0x00B1, 0x2264, 0x2265, 0x00A5, 0x00B5, 0x2202, 0x2211, 0x220F, 0x03C0, 0x222B, 0x00AA,
    0x00BA, 0x03A9, 0x00E6, 0x00F8, 0x00BF, 0x00A1, 0x00AC, 0x221A, 0x0192, 0x2248, 0x2206, 0x00AB,
    0x00BB, 0x2026, 0x00A0, 0x00C0, 0x00C3, 0x00D5, 0x0152, 0x0153, 0x2013, 0x2014, 0x201C, 0x201D,
    0x2018, 0x2019, 0x00F7, 0x25CA, 0x00FF, 0x0178, 0x2044, 0x20AC, 0x2039, 0x203A, 0xFB01, 0xFB02,
    0x2021, 0x00B7, 0x201A, 0x201E, 0x2030, 0x00C2, 0x00CA, 0x00C1, 0x00CB, 0x00C8, 0x00CD, 0x00CE,
    0x00CF, 0x00CC, 0x00D3, 0x00D4, 0xF8FF, 0x00D2, 0x00DA, 0x00DB, 0x00D9, 0x0131, 0x02C6, 0x02DC,
    0x00AF, 0x02D8, 0x02D9, 0x02DA, 0x00B8, 0x02DD, 0x02DB, 0x02C7,
};

/* The same in every character set here. */
static bool is_ascii(struct span text)
{
    uint8_t all = 0;
    for (size_t i = 0; i < text.size; i++) {
        all |= text.data[i];
    }
    return all < 0x80;
}

static bool is_utf8(struct span text)
{
    int32_t point;
    for (size_t at = 0; at < text.size;) {
        ptrdiff_t taken = utf8proc_iterate(text.data + at, (ptrdiff_t)(text.size - at), &point);
        if (taken <= 0) {
            return false;
        }
        at += (size_t)taken;
    }
    return true;
}

static bool copy(struct name_buffer *name, struct span text)
{
    if (text.size > sizeof name->bytes) {
        return false;
    }
    if (text.size > 0) {
        memcpy(name->bytes, text.data, text.size);
    }
    name->size = text.size;
    return true;
}

/* ---- Forms of Unicode ---- */

/* Characters that Macs neither take apart nor put together. */
static bool is_left_alone(int32_t point)
{
    return (point >= 0x2000 && point <= 0x2FFF) || (point >= 0xF900 && point <= 0xFAFF) ||
           (point >= 0x2F800 && point <= 0x2FAFF);
}

struct points {
    int32_t list[POINT_LIMIT];
    size_t count;
};

/* UTF-8 without a character that is left alone. */
static bool decompose_run(struct points *points, const uint8_t *text, size_t size)
{
    size_t room = POINT_LIMIT - points->count;
    if (size == 0) {
        return true;
    }
    ptrdiff_t count = utf8proc_decompose(text, (ptrdiff_t)size, points->list + points->count,
                                         (ptrdiff_t)room, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
    if (count < 0 || (size_t)count > room) {
        return false;
    }
    points->count += (size_t)count;
    return true;
}

/* Macs keep some characters as they are: what lies between them is decomposed run by run. */
static bool decompose_points(struct points *points, struct span utf8)
{
    size_t run = 0;
    size_t at = 0;
    points->count = 0;
    while (at < utf8.size) {
        int32_t point;
        ptrdiff_t taken = utf8proc_iterate(utf8.data + at, (ptrdiff_t)(utf8.size - at), &point);
        if (taken <= 0) {
            return false;
        }
        if (is_left_alone(point)) {
            if (!decompose_run(points, utf8.data + run, at - run) || points->count == POINT_LIMIT) {
                return false;
            }
            points->list[points->count++] = point;
            run = at + (size_t)taken;
        }
        at += (size_t)taken;
    }
    return decompose_run(points, utf8.data + run, at - run);
}

static bool append(struct name_buffer *name, int32_t point)
{
    uint8_t bytes[4];
    ptrdiff_t size = utf8proc_encode_char(point, bytes);
    if (size <= 0 || (size_t)size > sizeof name->bytes - name->size) {
        return false;
    }
    memcpy(name->bytes + name->size, bytes, (size_t)size);
    name->size += (size_t)size;
    return true;
}

/* What Unicode would put together to a character that is left alone ("=" with U+0338) comes apart
 * again. */
static bool append_composed(struct name_buffer *name, int32_t point)
{
    int32_t parts[4] = {point};
    ptrdiff_t count = 1;
    int boundary = 0;
    if (is_left_alone(point)) {
        count = utf8proc_decompose_char(point, parts, 4, UTF8PROC_DECOMPOSE, &boundary);
    }
    for (ptrdiff_t i = 0; i < count; i++) {
        if (!append(name, parts[i])) {
            return false;
        }
    }
    return true;
}

/* Decomposed characters, none of which is left alone. */
static bool compose_run(struct name_buffer *name, int32_t *list, size_t count)
{
    ptrdiff_t composed =
        utf8proc_normalize_utf32(list, (ptrdiff_t)count, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    for (ptrdiff_t i = 0; i < composed; i++) {
        if (!append_composed(name, list[i])) {
            return false;
        }
    }
    return composed >= 0;
}

static bool take_points(struct points *points, struct name_buffer *name, struct span utf8)
{
    name->size = 0;
    return utf8.size <= AFP_NAME_LIMIT_UTF8 && decompose_points(points, utf8);
}

static bool append_all(struct name_buffer *name, const struct points *points)
{
    for (size_t i = 0; i < points->count; i++) {
        if (!append(name, points->list[i])) {
            return false;
        }
    }
    return true;
}

/* Run by run between the characters that are left alone. */
static bool compose_all(struct name_buffer *name, struct points *points)
{
    size_t run = 0;
    for (size_t i = 0; i < points->count; i++) {
        int32_t point = points->list[i];
        if (is_left_alone(point)) {
            if (!compose_run(name, points->list + run, i - run) || !append(name, point)) {
                return false;
            }
            run = i + 1;
        }
    }
    return compose_run(name, points->list + run, points->count - run);
}

bool name_decompose(struct name_buffer *name, struct span utf8)
{
    struct points points;
    if (is_ascii(utf8)) {
        return copy(name, utf8);
    }
    return take_points(&points, name, utf8) && append_all(name, &points);
}

bool name_compose(struct name_buffer *name, struct span utf8)
{
    struct points points;
    if (is_ascii(utf8)) {
        return copy(name, utf8);
    }
    return take_points(&points, name, utf8) && compose_all(name, &points);
}

bool name_equals(struct span a, struct span b)
{
    struct name_buffer first, second;
    return name_decompose(&first, a) && name_decompose(&second, b) &&
           span_equals(name_span(&first), name_span(&second));
}

/* ---- MacRoman ---- */

bool name_from_mac(struct name_buffer *name, struct span mac)
{
    struct name_buffer composed = {.size = 0};
    for (size_t i = 0; i < mac.size; i++) {
        uint8_t byte = mac.data[i];
        if (!append(&composed, byte < 0x80 ? byte : upper_half[byte - 0x80])) {
            return false;
        }
    }
    return name_decompose(name, name_span(&composed));
}

/* 0: there is none. */
static uint8_t mac_character(int32_t point)
{
    for (size_t i = 0; i < 128; i++) {
        if (upper_half[i] == point) {
            return (uint8_t)(0x80 + i);
        }
    }
    return point < 0x80 ? (uint8_t)point : 0;
}

size_t name_to_mac(uint8_t *mac, size_t room, struct span utf8, bool *exact)
{
    struct name_buffer composed;
    size_t size = 0;
    size_t at = 0;
    if (is_ascii(utf8)) {
        size = utf8.size < room ? utf8.size : room;
        if (size > 0) {
            memcpy(mac, utf8.data, size);
        }
        *exact = size == utf8.size;
        return size;
    }
    /* MacRoman has its accented letters composed. */
    *exact = name_compose(&composed, utf8);
    if (!*exact) {
        return 0;
    }
    while (at < composed.size && size < room) {
        int32_t point;
        at +=
            (size_t)utf8proc_iterate(composed.bytes + at, (ptrdiff_t)(composed.size - at), &point);
        uint8_t character = mac_character(point);
        *exact = *exact && character != 0;
        mac[size++] = character != 0 ? character : '_';
    }
    *exact = *exact && at == composed.size;
    return size;
}

/* ---- Names as people type them ---- */

/* What a name is for, and the most bytes of MacRoman that it may have (3.1, 5.1; a user's name has
 * a length byte). */
static const struct {
    const char *what;
    size_t mac_limit;
} uses[] = {
    [NAME_OF_VOLUME] = {"volume name", AFP_VOLUME_NAME_LIMIT_MAC},
    [NAME_OF_FILE] = {"file name", AFP_NAME_LIMIT_MAC},
    [NAME_OF_USER] = {"user name", AFP_NAME_LIMIT_UTF8},
};

static bool encode_mac(struct name_buffer *name, const char *text, enum name_use use,
                       enum afp_version version, struct error *error)
{
    bool exact;
    const char *label = afp_version_entry(version)->label;
    size_t limit = uses[use].mac_limit;
    struct span utf8 = span_from_string(text);
    name->size = name_to_mac(name->bytes, sizeof name->bytes, utf8, &exact);
    if (!exact) {
        return error_set(error, ERROR_USAGE, 0,
                         "the %s '%s' has a character that MacRoman lacks, and %s has no other",
                         uses[use].what, text, label) ||
               error_remedy(error, REMEDY_AFP_VERSION);
    }
    return name->size <= limit || error_set(error, ERROR_USAGE, 0,
                                            "the %s '%s' has %zu bytes in MacRoman, and %s takes "
                                            "%zu",
                                            uses[use].what, text, name->size, label, limit);
}

bool name_encode(struct name_buffer *name, const char *text, enum name_use use,
                 enum afp_version version, struct error *error)
{
    struct span utf8 = span_from_string(text);
    if (!is_utf8(utf8)) {
        return error_set(error, ERROR_USAGE, 0, "the %s '%s' is not UTF-8", uses[use].what, text);
    }
    if (!name_decompose(name, utf8)) {
        return error_set(error, ERROR_USAGE, 0,
                         "the %s '%s' is longer than the %d bytes of decomposed UTF-8 that a name "
                         "may have",
                         uses[use].what, text, AFP_NAME_LIMIT_UTF8);
    }
    return version >= AFP_3_0 || encode_mac(name, text, use, version, error);
}
