/*
 * read_internal.h - what the readers of stored results share: a row for each format, and the
 * functions that fill the model. For src/report/read_*.c only.
 */
#ifndef AFPBENCH_REPORT_READ_INTERNAL_H
#define AFPBENCH_REPORT_READ_INTERNAL_H

#include "report/read_result.h"

/* The bytes of a file and its name for messages. */
struct input {
    const char *name;
    const char *bytes;
    size_t size;
    bool spreadsheet; /* it shows signs of one, which also drops zeros after the point */
};

/* A format. The first row that recognises the content reads it. */
struct result_reader {
    const char *name;
    bool (*recognises)(const struct input *input);
    MUST_CHECK bool (*read)(const struct input *input, struct stored_result *result,
                            struct error *error);
};

extern const struct result_reader json_result_reader;
extern const struct result_reader csv_result_reader;
extern const struct result_reader netatalk_result_reader;
extern const struct result_reader summary_result_reader;

/* Goes past a byte order mark. */
void input_skip_mark(struct input *input);

/* Takes back what a spreadsheet, or Windows, did to a CSV: carriage returns, quotes around fields,
 * empty fields that fill rows up. The input is then a *copy, which the caller releases; NULL: it
 * stays what it is. */
MUST_CHECK bool input_from_spreadsheet(struct input *input, char **copy, struct error *error);

/* What a file that no reader recognises seems to be: "an HTML page". */
const char *input_kind(const struct input *input);

/* A letter, then letters and digits, at most STORED_TEST_LENGTH - 1 of them. */
bool stored_test_name_ok(const char *name, size_t length);

/* The case of this test and size, added if it is new. NULL: no memory or too many. */
MUST_CHECK struct stored_case *stored_result_case(struct stored_result *result, const char *test,
                                                  size_t test_length, uint64_t size_bytes,
                                                  struct error *error);

/* Adds a measured run to a case of the result. */
MUST_CHECK bool stored_result_add_run(struct stored_result *result, struct stored_case *stored_case,
                                      double duration_ns, struct error *error);

/* All bytes of a file, at most a little more than STORED_FILE_LIMIT; to be released after a failure
 * too. */
MUST_CHECK bool read_result_bytes(const char *path, char **bytes, size_t *size,
                                  struct error *error);

#endif
