/*
 * whole_file.h - files that are never seen half written.
 *
 * What is written goes to a new file beside the wanted one, whose name no other process has, and
 * which takes the wanted name at the end; a failure leaves an earlier file as it was. It has the
 * permissions of any new file. What is there and is no regular file (a link, as /dev/stdout is, a
 * device, a pipe) is written to as it is: a rename would put a file in its place. Any thread.
 */
#ifndef AFPBENCH_BASE_WHOLE_FILE_H
#define AFPBENCH_BASE_WHOLE_FILE_H

#include "base/error.h"

#include <stdio.h>

#define WHOLE_FILE_NAME_LENGTH 4096

struct whole_file {
    FILE *out;                         /* to write to; closed by whole_file_end() */
    const char *path;                  /* the caller's */
    char name[WHOLE_FILE_NAME_LENGTH]; /* what the file is called until it is whole */
};

/* Opens it; `path` must stay until the end. */
MUST_CHECK bool whole_file_begin(struct whole_file *file, const char *path, struct error *error);

/* Closes it; if it is `whole`, and everything could be written, gives it its name, else removes it.
 * True: both were so. `error` is filled only when the writing failed, not for what is not whole. */
MUST_CHECK bool whole_file_end(struct whole_file *file, bool whole, struct error *error);

#endif
