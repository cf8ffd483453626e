/*
 * json_build.h - what the writers of JSON documents share: values that go into a document, and
 * documents that go into a file. For report/ and tools/ that build documents.
 *
 * Integers stay integers; a figure that does not exist is null, never NaN or Infinity. Values are
 * new references that the setters take over.
 */
#ifndef AFPBENCH_REPORT_JSON_BUILD_H
#define AFPBENCH_REPORT_JSON_BUILD_H

#include "base/error.h"

#include <jansson.h>
#include <stdio.h>

/* jansson's setters say -1 when there was no memory for the value; the document then lacks it, and
 * its maker notices by the flag. */
struct json_builder {
    bool failed;
};

void json_set(struct json_builder *builder, json_t *object, const char *key, json_t *value);
void json_append(struct json_builder *builder, json_t *array, json_t *value);

json_t *json_count(uint64_t value);

/* null for NULL. Servers may send names in any charset; what is no UTF-8 becomes '?'. */
json_t *json_text(const char *value);

/* Indented, with an end of line. */
MUST_CHECK bool json_write(const json_t *document, FILE *out, const char *path,
                           struct error *error);

/* To "PATH.part", or if `finished` to PATH. Never half written under these names. */
MUST_CHECK bool json_write_file(const json_t *document, const char *path, bool finished,
                                struct error *error);

#endif
