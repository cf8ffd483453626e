/*
 * write_json.h - NAME.json: the test program's documents of all sizes as one, with what crossed
 * the link beside them (doc/result.schema.json, "link").
 */
#ifndef AFPBENCH_HARNESS_WRITE_JSON_H
#define AFPBENCH_HARNESS_WRITE_JSON_H

#include "harness/result.h"
#include "report/fields.h"

/* Takes the test program's document for a size: its cases join those of earlier sizes in
 * result->document. ERROR_CONTENT if it is no result. */
MUST_CHECK bool harness_json_join(struct harness_result *result, const char *text,
                                  uint64_t size_bytes, struct error *error);

/* What NAME-net.txt tells too: of a struct harness_result how late packets were sent; of a struct
 * lab_settings all but the MTU and the congestion control, which come in another order there. */
extern const struct field harness_lateness_fields[], harness_settings_fields[];

/* Puts into result->document, which must be there, what the test program does not know. */
MUST_CHECK bool harness_json_finish(const struct harness_result *result, struct error *error);

#endif
