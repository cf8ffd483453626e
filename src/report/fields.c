#include "report/fields.h"

#include <inttypes.h>

/* A member, as each of the formats takes it. */
struct value {
    enum { NONE, FLAG, COUNT, REAL, TEXT } kind;
    bool flag;
    uint64_t count;
    double real;
    const char *text; /* NULL: none */
};

static struct value count(uint64_t value)
{
    return (struct value){COUNT, .count = value};
}

static struct value text(const char *value)
{
    return (struct value){value != NULL ? TEXT : NONE, .text = value};
}

static const char *failure(const struct error *error)
{
    return error->domain == ERROR_NONE ? NULL : error->message;
}

static struct value member_value(const struct field *field, const void *member)
{
    if (field->compute != NULL) {
        return (struct value){REAL, .real = field->compute(member)};
    }
    switch (field->kind) {
    case FIELD_KIND_FLAG:
        return (struct value){FLAG,
                              .flag = *(const bool *)member != (field->rule == FIELD_INVERTED)};
    case FIELD_KIND_COUNT_32:
        return field->names != NULL ? text(field->names[*(const uint32_t *)member])
                                    : count(*(const uint32_t *)member);
    case FIELD_KIND_COUNT_64:
        return count(*(const uint64_t *)member);
    case FIELD_KIND_REAL:
        return (struct value){REAL, .real = *(const double *)member};
    case FIELD_KIND_TEXT:
        return text(*(const char *const *)member);
    case FIELD_KIND_CHARACTERS:
        return text(member);
    case FIELD_KIND_ERROR:
        return text(failure(member));
    default:
        return (struct value){NONE};
    }
}

static bool follows(enum field_rule rule, const struct value *value)
{
    if (rule == FIELD_POSITIVE) {
        return value->count > 0 || value->real > 0 ||
               (value->text != NULL && value->text[0] != '\0');
    }
    return rule != FIELD_NOT_NEGATIVE || !(value->real < 0);
}

static bool is_present(const struct field *field, const void *structure)
{
    return field->present == NULL || field->present(structure);
}

static struct value value_of(const struct field *field, const void *structure)
{
    struct value value = member_value(field, (const char *)structure + field->offset);
    return is_present(field, structure) && follows(field->rule, &value) ? value
                                                                        : (struct value){NONE};
}

/* ---- JSON ---- */

static json_t *value_json(const struct value *value)
{
    switch (value->kind) {
    case FLAG:
        return json_boolean(value->flag);
    case COUNT:
        return json_count(value->count);
    case REAL:
        return json_real_or_null(value->real);
    default:
        return json_text(value->text);
    }
}

static json_t *counts_json(struct json_builder *builder, const struct field *field,
                           const uint64_t *counts)
{
    json_t *object = json_object();
    for (size_t i = 0; i < field->size / sizeof *counts; i++) {
        json_set(builder, object, field->names[i], json_count(counts[i]));
    }
    return object;
}

static json_t *inline_texts_json(struct json_builder *builder, const char *first, size_t size,
                                 size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_append(builder, array, json_text(first + i * size));
    }
    return array;
}

static json_t *field_json(struct json_builder *builder, const struct field *field,
                          const void *structure, const void *whole)
{
    const void *member = (const char *)structure + field->offset;
    const void *number = (const char *)structure + field->count_offset;
    struct value value = value_of(field, structure);
    if (!is_present(field, structure)) {
        return json_null();
    }
    if (field->make != NULL) {
        return field->make(builder, member, whole);
    }
    if (field->table != NULL) {
        return fields_json(builder, field->table, member, whole);
    }
    switch (field->kind) {
    case FIELD_KIND_COUNTS:
        return counts_json(builder, field, member);
    case FIELD_KIND_TEXTS:
        return json_texts(builder, *(const char *const *const *)member, *(const size_t *)number);
    case FIELD_KIND_INLINE_TEXTS:
        return inline_texts_json(builder, member, field->size, *(const size_t *)number);
    case FIELD_KIND_TCP:
        return json_tcp_snapshot(builder, member);
    default:
        return value_json(&value);
    }
}

void fields_set(struct json_builder *builder, json_t *object, const struct fields *fields,
                const void *structure, const void *whole)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct field *field = &fields->rows[i];
        json_set(builder, object, field->key, field_json(builder, field, structure, whole));
    }
}

json_t *fields_json(struct json_builder *builder, const struct fields *fields,
                    const void *structure, const void *whole)
{
    json_t *object = json_object();
    fields_set(builder, object, fields, structure, whole);
    return object;
}

/* ---- Text ---- */

static void print_value(FILE *out, const struct value *value, const char *none)
{
    switch (value->kind) {
    case FLAG:
        fputs(value->flag ? "yes" : "no", out);
        break;
    case COUNT:
        fprintf(out, "%" PRIu64, value->count);
        break;
    case REAL:
        fprintf(out, "%.0f", value->real);
        break;
    case TEXT:
        fputs(value->text, out);
        break;
    default:
        fputs(none, out);
    }
}

void fields_print_lines(FILE *out, const char *prefix, const struct fields *fields,
                        const void *structure)
{
    for (size_t i = 0; i < fields->count; i++) {
        struct value value = value_of(&fields->rows[i], structure);
        fprintf(out, "%s%s: ", prefix, fields->rows[i].key);
        print_value(out, &value, "default");
        fputc('\n', out);
    }
}

void fields_print_keys(FILE *out, const struct fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct field *field = &fields->rows[i];
        if (field->kind != FIELD_KIND_COUNTS) {
            fprintf(out, ",%s", field->key);
            continue;
        }
        for (size_t name = 0; name < field->size / sizeof(uint64_t); name++) {
            fprintf(out, ",%s_%s", field->key, field->names[name]);
        }
    }
}

static void print_counts(FILE *out, const struct field *field, const void *structure)
{
    const uint64_t *counts = (const void *)((const char *)structure + field->offset);
    bool present = is_present(field, structure);
    for (size_t i = 0; i < field->size / sizeof *counts; i++) {
        struct value value = present ? count(counts[i]) : (struct value){NONE};
        fputc(',', out);
        print_value(out, &value, "");
    }
}

void fields_print_values(FILE *out, const struct fields *fields, const void *structure)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->rows[i].kind == FIELD_KIND_COUNTS) {
            print_counts(out, &fields->rows[i], structure);
            continue;
        }
        struct value value = value_of(&fields->rows[i], structure);
        fputc(',', out);
        print_value(out, &value, "");
    }
}
