/* scratch.h - a directory that a test may fill and that goes away with it. */
#ifndef AFPBENCH_TESTS_SCRATCH_H
#define AFPBENCH_TESTS_SCRATCH_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SCRATCH_SIZE 200

/* Below `parent`; NULL: TMPDIR or /tmp. False where none can be made. */
static inline bool scratch_try(char path[SCRATCH_SIZE], const char *parent)
{
    const char *directory = parent != NULL ? parent : getenv("TMPDIR");
    snprintf(path, SCRATCH_SIZE, "%s/afpbench-XXXXXX", directory != NULL ? directory : "/tmp");
    return mkdtemp(path) != NULL;
}

static inline void scratch_make(char path[SCRATCH_SIZE])
{
    if (!scratch_try(path, NULL)) {
        fail_msg("cannot make %s", path);
    }
}

static inline int scratch_remove_one(const char *path, const struct stat *status, int type,
                                     struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

/* Also an empty path, which is no directory. */
static inline void scratch_remove(char path[SCRATCH_SIZE])
{
    if (path[0] != '\0') {
        nftw(path, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
        path[0] = '\0';
    }
}

#endif
