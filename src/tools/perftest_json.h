/*
 * perftest_json.h - NAME.json: the test program's documents of all sizes as one, with what crossed
 * the link beside them (doc/result.schema.json, "link").
 */
#ifndef AFPBENCH_TOOLS_PERFTEST_JSON_H
#define AFPBENCH_TOOLS_PERFTEST_JSON_H

#include "netlab/perf_result.h"

#include <jansson.h>

/* The document, to be released with json_decref(); NULL with an error, or without one (domain
 * ERROR_NONE) where no size has a document. */
json_t *perftest_json(const struct perf_result *result, struct error *error);

#endif
