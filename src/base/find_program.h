/*
 * find_program.h - where the programs are that a run starts. Reads the environment (PATH) and
 * /proc/self/exe; any thread.
 */
#ifndef AFPBENCH_BASE_FIND_PROGRAM_H
#define AFPBENCH_BASE_FIND_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#define PROGRAM_PATH_LENGTH 4096

/* The directory of the running program's executable file, resolved. */
bool program_own_directory(char path[PROGRAM_PATH_LENGTH]);

/* A program of ours: beside the one that runs, else in PATH. */
bool program_find_ours(const char *name, char path[PROGRAM_PATH_LENGTH]);

/* A program in the directories of `search` ("/usr/bin:/bin"), each below `root` ("": none); `path`
 * is what it is called inside. A name with a slash is taken as it is. */
bool program_find(const char *name, const char *search, const char *root,
                  char path[PROGRAM_PATH_LENGTH]);

/* Joins two texts; false when they do not fit. */
bool program_join(char path[PROGRAM_PATH_LENGTH], const char *first, const char *second);

#endif
