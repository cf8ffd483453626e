/*
 * files.h - the result files of a run: which there are, whether they may be written, and
 * writing them, each under a temporary name and then renamed.
 *
 * To add a file: a row in the table of files.c.
 */
#ifndef AFPBENCH_HARNESS_FILES_H
#define AFPBENCH_HARNESS_FILES_H

#include "harness/plan.h"
#include "harness/result.h"

#include <stdio.h>

#define HARNESS_PATH_LENGTH 4096

/* Makes the directory, sees that it can be written, and takes the names of the whole plan, which
 * then belong to it until harness_plan_release(). ERROR_USAGE if a result of the plan is there
 * already, unless `force` (nothing has been changed then), or if another run that is still going
 * has one of the names. */
MUST_CHECK bool harness_files_prepare(const char *directory, struct harness_plan *plan, bool force,
                                      struct error *error);

/* Where the test program puts its document for a size, for a while. */
MUST_CHECK bool harness_fragment_path(const char *directory, const char *name,
                                      char path[HARNESS_PATH_LENGTH], struct error *error);
void harness_fragment_remove(const char *path);

/* The text of a file, ended; NULL with an error. */
MUST_CHECK char *harness_read_file(int file, const char *name, struct error *error);

/* Writes one file through a writer, under a temporary name; an earlier one stays after a failure.
 */
MUST_CHECK bool harness_file_write(const char *directory, const char *name, const char *suffix,
                                   bool (*write)(FILE *out, const void *context,
                                                 struct error *error),
                                   const void *context, struct error *error);

/* All files of a run but the picture and its script (plot.h); earlier ones of these are
 * removed. */
MUST_CHECK bool harness_files_write(const char *directory, const struct harness_result *result,
                                    struct error *error);

#endif
