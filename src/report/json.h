/*
 * json.h - the whole result as one JSON document (doc/result.schema.json, doc/formats.md): every
 * sample with warm-ups marked, summaries, conditions, failures. Integers stay integers; a figure
 * that does not exist is null, never NaN or Infinity.
 *
 * The document is written to "PATH.part" after each case, marked as incomplete, and to PATH at the
 * end, where PATH.part goes. So a killed run leaves what it had, and neither is ever half written
 * (base/whole_file.h).
 */
#ifndef AFPBENCH_REPORT_JSON_H
#define AFPBENCH_REPORT_JSON_H

#include "result/result.h"

#define RESULT_SCHEMA_NAME    "afpbench-result"
#define RESULT_SCHEMA_VERSION 1

struct json_report {
    const char *path; /* "-": standard output, at the end only */
};

/* Writes the document without cases, so that a path that cannot be written is known before anything
 * runs. */
MUST_CHECK bool json_report_begin(const struct json_report *json, const struct result *result,
                                  struct error *error);

/* `json` must stay where it is. */
struct observer json_observer(struct json_report *json);

#endif
