/*
 * made_files.h - which files a target has made, so that clean-up knows them. Plain memory, no I/O.
 */
#ifndef AFPBENCH_TARGET_MADE_FILES_H
#define AFPBENCH_TARGET_MADE_FILES_H

#include "target/target.h"

#define MADE_FILES_LIMIT 8  /* files that a workload has at once, with room */
#define MADE_NAME_LENGTH 32 /* our own names, with the final zero */

struct made_file {
    enum target_place place;
    char name[MADE_NAME_LENGTH]; /* empty: the entry is free */
};

struct made_files {
    struct made_file list[MADE_FILES_LIMIT];
};

/* Notes a file, once however often it is noted. ERROR_LIMIT when there are too many. */
MUST_CHECK bool made_files_note(struct made_files *files, enum target_place place, const char *name,
                                struct error *error);

/* Fine for a file that was never noted. */
void made_files_forget(struct made_files *files, enum target_place place, const char *name);

#endif
