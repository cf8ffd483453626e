/*
 * write_json.h - NAME.json: the test program's documents of all sizes as one, with what crossed
 * the link beside them (doc/result.schema.json, "link").
 */
#ifndef AFPBENCH_HARNESS_WRITE_JSON_H
#define AFPBENCH_HARNESS_WRITE_JSON_H

#include "harness/result.h"

#include <jansson.h>

/* The document, to be released with json_decref(); NULL with an error, or without one (domain
 * ERROR_NONE) where no size has a document. */
json_t *harness_json(const struct harness_result *result, struct error *error);

#endif
