#include "report/fields.h"

#include <inttypes.h>
#include <math.h>

/* A member, as each of the formats takes it. */
struct value {
    enum { NONE, FLAG, COUNT, REAL, TEXT } kind;
    bool flag;
    uint64_t count;
    double real;
    const char *text; /* NULL: none */
};

static struct value text(const char *value)
{
    return (struct value){value != NULL ? TEXT : NONE, .text = value};
}

static const char *failure(const struct error *error)
{
    return error->domain == ERROR_NONE ? NULL : error->message;
}

static size_t cells(const struct field *field)
{
    return field->kind == FIELD_KIND_COUNTS ? field->size / sizeof(uint64_t) : 1;
}

/* `cell` is 0 for all but FIELD_KIND_COUNTS. */
static struct value member_value(const struct field *field, const void *member, size_t cell)
{
    if (field->text != NULL) {
        return text(field->text);
    }
    if (field->compute != NULL) {
        return (struct value){REAL, .real = field->compute(member)};
    }
    switch (field->kind) {
    case FIELD_KIND_FLAG:
        return (struct value){FLAG,
                              .flag = *(const bool *)member != (field->rule == FIELD_INVERTED)};
    case FIELD_KIND_COUNT_32:
        return field->names != NULL ? text(field->names[*(const uint32_t *)member])
                                    : (struct value){COUNT, .count = *(const uint32_t *)member};
    case FIELD_KIND_COUNT_64:
    case FIELD_KIND_COUNTS:
        return (struct value){COUNT, .count = ((const uint64_t *)member)[cell]};
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

static struct value value_of(const struct field *field, const void *structure, size_t cell)
{
    struct value value = member_value(field, (const char *)structure + field->offset, cell);
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
        return isfinite(value->real) ? json_real(value->real) : json_null();
    default:
        return json_text(value->text);
    }
}

static json_t *counts_json(struct json_builder *builder, const struct field *field,
                           const uint64_t *counts)
{
    json_t *object = json_object();
    for (size_t i = 0; i < cells(field); i++) {
        json_set(builder, object, field->names[i], json_count(counts[i]));
    }
    return object;
}

/* All that the kernel returned; null without a connection. */
static json_t *tcp_json(struct json_builder *builder, const struct tcp_snapshot *snapshot)
{
    if (snapshot->length == 0) {
        return json_null();
    }
    json_t *object = json_object();
    json_set(builder, object, "send_buffer_bytes", json_count(snapshot->send_buffer_bytes));
    json_set(builder, object, "receive_buffer_bytes", json_count(snapshot->receive_buffer_bytes));
    json_set(builder, object, "segment_bytes", json_count(snapshot->segment_bytes));
    json_set(builder, object, "congestion_control", json_text(snapshot->congestion_control));
    for (size_t i = 0; i < tcp_field_count; i++) {
        uint64_t value;
        if (tcp_snapshot_value(snapshot, i, &value)) {
            /* Rates without a limit are all ones in the kernel. */
            json_set(builder, object, tcp_fields[i].name,
                     value <= INT64_MAX ? json_count(value) : json_null());
        }
    }
    return object;
}

static json_t *list_json(struct json_builder *builder, const struct field *field,
                         const void *structure, const void *whole)
{
    const void *member = (const char *)structure + field->offset;
    const void *number = (const char *)structure + field->count_offset;
    size_t count = field->count_size == sizeof(uint32_t) ? *(const uint32_t *)number
                                                         : *(const uint64_t *)number;
    bool is_inline = field->kind == FIELD_KIND_INLINE_TEXTS;
    const char *place = is_inline ? member : *(const void *const *)member;
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++, place += field->size) {
        const void *item = field->kind == FIELD_KIND_TEXTS ? *(const void *const *)place : place;
        json_append(builder, array,
                    field->table != NULL ? fields_json(builder, field->table, item, whole)
                                         : json_text(item));
    }
    return array;
}

static json_t *field_json(struct json_builder *builder, const struct field *field,
                          const void *structure, const void *whole)
{
    const void *member = (const char *)structure + field->offset;
    struct value value = value_of(field, structure, 0);
    if (!is_present(field, structure)) {
        return json_null();
    }
    if (field->make != NULL) {
        return field->make(builder, member, whole);
    }
    if (field->count_size > 0) {
        return list_json(builder, field, structure, whole);
    }
    if (field->table != NULL) {
        return fields_json(builder, field->table, member, whole);
    }
    switch (field->kind) {
    case FIELD_KIND_COUNTS:
        return counts_json(builder, field, member);
    case FIELD_KIND_TCP:
        return tcp_json(builder, member);
    default:
        return value_json(&value);
    }
}

void fields_set(struct json_builder *builder, json_t *object, const struct field *fields,
                const void *structure, const void *whole)
{
    for (const struct field *field = fields; field->key != NULL; field++) {
        json_set(builder, object, field->key, field_json(builder, field, structure, whole));
    }
}

json_t *fields_json(struct json_builder *builder, const struct field *fields, const void *structure,
                    const void *whole)
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

void fields_print_lines(FILE *out, const char *prefix, const struct field *fields,
                        const void *structure)
{
    for (const struct field *field = fields; field->key != NULL; field++) {
        struct value value = value_of(field, structure, 0);
        fprintf(out, "%s%s: ", prefix, field->key);
        print_value(out, &value, "default");
        fputc('\n', out);
    }
}

void fields_print_keys(FILE *out, const struct field *fields)
{
    for (const struct field *field = fields; field->key != NULL; field++) {
        for (size_t i = 0; i < cells(field); i++) {
            bool counts = field->kind == FIELD_KIND_COUNTS;
            fprintf(out, ",%s%s%s", field->key, counts ? "_" : "", counts ? field->names[i] : "");
        }
    }
}

void fields_print_values(FILE *out, const struct field *fields, const void *structure)
{
    for (const struct field *field = fields; field->key != NULL; field++) {
        for (size_t i = 0; i < cells(field); i++) {
            struct value value = value_of(field, structure, i);
            fputc(',', out);
            print_value(out, &value, "");
        }
    }
}
