#include "report/read_set.h"

#include "base/memory.h"
#include "report/read_internal.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_LENGTH 4096
#define HEAD_LENGTH 200 /* the schema is a document's first key */

static struct stored_invocation *add(struct stored_set *set, struct error *error)
{
    if (set->count >= STORED_INVOCATION_LIMIT) {
        error_set(error, ERROR_LIMIT, 0, "more than %d invocations", STORED_INVOCATION_LIMIT);
        return NULL;
    }
    if (set->count == set->capacity) {
        size_t larger = set->capacity > 0 ? set->capacity * 2 : 16;
        struct stored_invocation *moved = memory_resize(set->list, larger, sizeof *moved);
        if (moved == NULL) {
            memory_error(error, "for stored results");
            return NULL;
        }
        set->list = moved;
        set->capacity = larger;
    }
    struct stored_invocation *added = &set->list[set->count++];
    *added = (struct stored_invocation){.place = {0}};
    return added;
}

/* ---- Documents of several invocations ---- */

/* A whole number from `least` to UINT32_MAX, or 0 for null. */
static bool take_number(const json_t *object, const char *key, json_int_t least, uint32_t *number,
                        struct error *error)
{
    const json_t *value = json_object_get(object, key);
    json_int_t whole = json_integer_value(value);
    *number = 0;
    if (json_is_null(value)) {
        return true;
    }
    if (!json_is_integer(value) || whole < least || whole > UINT32_MAX) {
        return error_set(error, ERROR_CONTENT, 0, "%s: expected a whole number from %d on or null",
                         key, (int)least);
    }
    *number = (uint32_t)whole;
    return true;
}

static bool take_place(const json_t *object, struct invocation_place *place, struct error *error)
{
    const json_t *side = json_object_get(object, "side");
    const char *text = json_string_value(side);
    if (!json_is_null(side) &&
        (text == NULL || (strcmp(text, "A") != 0 && strcmp(text, "B") != 0))) {
        return error_set(error, ERROR_CONTENT, 0, "side: expected \"A\", \"B\" or null");
    }
    place->side = text != NULL ? text[0] : '\0';
    return take_number(object, "pair", 1, &place->pair, error) &&
           take_number(object, "place", 1, &place->place, error);
}

static bool take_invocation(struct stored_set *set, const json_t *object, struct error *error)
{
    struct stored_invocation *added = add(set, error);
    return added != NULL && take_place(object, &added->place, error) &&
           (read_result_document(json_object_get(object, "result"), &added->result, error) ||
            error_prefix(error, "result"));
}

static bool take_invocations(struct stored_set *set, const json_t *document, struct error *error)
{
    const json_t *list = json_object_get(document, "invocations");
    const json_t *seed = json_object_get(document, "seed");
    json_int_t version = json_integer_value(json_object_get(document, "schema_version"));
    if (version != INVOCATIONS_SCHEMA_VERSION) {
        return error_set(error, ERROR_CONTENT, 0, "schema_version: expected %d",
                         INVOCATIONS_SCHEMA_VERSION);
    }
    if (!json_is_array(list) || !(json_is_integer(seed) || json_is_null(seed))) {
        return error_set(error, ERROR_CONTENT, 0,
                         "expected an array of invocations and a seed, a whole number or null");
    }
    set->plan.seed = (uint64_t)json_integer_value(seed);
    if (!take_number(document, "planned_pairs", 1, &set->plan.planned_pairs, error)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!take_invocation(set, json_array_get(list, i), error)) {
            return error_prefix(error, "invocations[%zu]", i);
        }
    }
    return true;
}

static bool read_invocations(const char *path, const char *bytes, size_t size,
                             struct stored_set *set, struct error *error)
{
    json_error_t where;
    json_t *document = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &where);
    if (document == NULL) {
        return error_set(error, ERROR_CONTENT, 0, "%s: line %d: expected JSON", path, where.line);
    }
    bool ok = take_invocations(set, document, error) || error_prefix(error, "%s", path);
    json_decref(document);
    return ok;
}

/* ---- Files and directories ---- */

static bool holds_invocations(const char *bytes, size_t size)
{
    size_t head = size < HEAD_LENGTH ? size : HEAD_LENGTH;
    const char *name = "\"" INVOCATIONS_SCHEMA_NAME "\"";
    return memmem(bytes, head, name, strlen(name)) != NULL;
}

static bool read_one(const char *path, struct stored_set *set, struct error *error)
{
    char *bytes = NULL;
    size_t size = 0;
    bool ok = read_result_bytes(path, &bytes, &size, error);
    if (ok && holds_invocations(bytes, size)) {
        ok = read_invocations(path, bytes, size, set, error);
    } else if (ok) {
        struct stored_invocation *added = add(set, error);
        ok = added != NULL && read_result_buffer(path, bytes, size, &added->result, error);
    }
    memory_release(bytes);
    return ok;
}

static int is_document(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static bool read_directory(const char *path, struct stored_set *set, struct error *error)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_document, alphasort);
    bool ok = count > 0;
    if (count < 0) {
        return error_set_errno(error, errno, "cannot read '%s'", path);
    }
    if (count == 0) {
        error_set(error, ERROR_CONTENT, 0, "no .json in '%s'", path);
    }
    for (int i = 0; i < count; i++) {
        char name[PATH_LENGTH];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        ok = ok && read_one(name, set, error);
        memory_release(entries[i]);
    }
    memory_release(entries);
    return ok;
}

bool read_set(const char *path, struct stored_set *set, struct error *error)
{
    struct stat status;
    bool directory = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    return directory ? read_directory(path, set, error) : read_one(path, set, error);
}

/* ---- The set ---- */

static bool is_later(const struct stored_invocation *a, const struct stored_invocation *b)
{
    return a->result.started != NULL && b->result.started != NULL &&
           strcmp(a->result.started, b->result.started) > 0;
}

/* By insertion: stable, and most sets are in order already. */
void stored_set_sort(struct stored_set *set)
{
    for (size_t i = 1; i < set->count; i++) {
        struct stored_invocation moving = set->list[i];
        size_t at = i;
        for (; at > 0 && is_later(&set->list[at - 1], &moving); at--) {
            set->list[at] = set->list[at - 1];
        }
        set->list[at] = moving;
    }
}

void stored_set_release(struct stored_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        stored_result_release(&set->list[i].result);
    }
    memory_release(set->list);
    *set = (struct stored_set){0};
}
