/*
 * write_json.h - NAME.json: the test program's documents of all sizes as one, with what crossed
 * the link beside them (doc/result.schema.json, "link").
 */
#ifndef AFPBENCH_HARNESS_WRITE_JSON_H
#define AFPBENCH_HARNESS_WRITE_JSON_H

#include "harness/result.h"

/* Takes the test program's document for a size: its cases join those of earlier sizes in
 * result->document. ERROR_CONTENT if it is no result. */
MUST_CHECK bool harness_json_join(struct harness_result *result, const char *text,
                                  uint64_t size_bytes, struct error *error);

/* Puts into result->document, which must be there, what the test program does not know. */
MUST_CHECK bool harness_json_finish(const struct harness_result *result, struct error *error);

#endif
