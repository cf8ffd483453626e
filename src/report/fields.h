/*
 * fields.h - documents as tables: which members of a structure they tell, under which keys.
 *
 * A row is a field; adding one to a document is adding a row. What kind of value it is follows from
 * the member's type. The same table makes JSON objects, "key: value" lines and columns of CSV.
 * Tables are static; nothing is owned.
 */
#ifndef AFPBENCH_REPORT_FIELDS_H
#define AFPBENCH_REPORT_FIELDS_H

#include "base/error.h"
#include "base/tcp_info.h"
#include "report/json_build.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum field_kind {
    FIELD_KIND_NONE, /* another type: the row says what to do */
    FIELD_KIND_FLAG,
    FIELD_KIND_COUNT_32, /* with `names` a word; NULL there is none */
    FIELD_KIND_COUNT_64,
    FIELD_KIND_REAL,       /* in JSON none if it is not finite */
    FIELD_KIND_TEXT,       /* const char *; NULL is none */
    FIELD_KIND_CHARACTERS, /* char[] */
    FIELD_KIND_ERROR,      /* its message; ERROR_NONE is none */
    FIELD_KIND_COUNTS,     /* uint64_t[], by `names` */
    /* In JSON only: */
    FIELD_KIND_TCP,
    FIELD_KIND_TEXTS,        /* const char *const * */
    FIELD_KIND_INLINE_TEXTS, /* char[][], or structures that begin so */
    FIELD_KIND_OBJECTS,      /* structures that a pointer leads to; `table` is of one */
};

/* When there is a value. */
enum field_rule {
    FIELD_ALWAYS,
    FIELD_POSITIVE, /* not 0, not "" */
    FIELD_NOT_NEGATIVE,
    FIELD_INVERTED, /* always; of a flag the opposite */
};

/* {FIELD(…)}, and more where the type does not say all; without FIELD() the member is the whole
 * structure: {"key", .table = fields}. Tables end with {NULL}. */
struct field {
    const char *key;
    enum field_kind kind;
    size_t offset, size;             /* of the member */
    size_t count_offset, count_size; /* of lists: of their number, 32 or 64 bits */
    enum field_rule rule;
    bool (*present)(const void *structure); /* NULL: always; else there may be no value */
    const char *const *names;
    const char *text;                      /* a constant */
    double (*compute)(const void *member); /* a real */
    /* In JSON only: an object, or whatever a function makes. `whole` is what fields_json() got. */
    const struct field *table;
    json_t *(*make)(struct json_builder *builder, const void *member, const void *whole);
};

#define FIELD(key, type, member)                                                                   \
    key, FIELD_KIND(((type *)NULL)->member), offsetof(type, member), sizeof((type *)NULL)->member
/* An array of `number` texts or structures; `size` is then from one to the next. */
#define FIELD_LIST(key, kind, type, member, number)                                                \
    key, kind, offsetof(type, member), sizeof((type *)NULL)->member[0], offsetof(type, number),    \
        sizeof((type *)NULL)->number

#define FIELD_KIND(member)                                                                         \
    _Generic(member, bool: FIELD_KIND_FLAG, uint32_t: FIELD_KIND_COUNT_32,                         \
             uint64_t: FIELD_KIND_COUNT_64, double: FIELD_KIND_REAL,                               \
             const char *: FIELD_KIND_TEXT, char *: FIELD_KIND_CHARACTERS,                         \
             struct error: FIELD_KIND_ERROR, uint64_t *: FIELD_KIND_COUNTS,                        \
             struct tcp_snapshot: FIELD_KIND_TCP, default: FIELD_KIND_NONE)

/* ---- JSON ---- */

/* An object; no value is null. */
json_t *fields_json(struct json_builder *builder, const struct field *fields, const void *structure,
                    const void *whole);

/* The same into an object that is there. */
void fields_set(struct json_builder *builder, json_t *object, const struct field *fields,
                const void *structure, const void *whole);

/* ---- Text ---- */

/* "key: value" lines, `prefix` before each key: yes or no, reals without decimals, "default" where
 * there is no value. */
void fields_print_lines(FILE *out, const char *prefix, const struct field *fields,
                        const void *structure);

/* ",key" and ",value", nothing where there is none. Counts are columns by their names, the row's
 * key and '_' before each. */
void fields_print_keys(FILE *out, const struct field *fields);
void fields_print_values(FILE *out, const struct field *fields, const void *structure);

#endif
