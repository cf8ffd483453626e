/* scratch.h - a directory that a test may fill and that goes away with it. */
#ifndef AFPBENCH_TESTS_SCRATCH_H
#define AFPBENCH_TESTS_SCRATCH_H

#include <dirent.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* A file's text, to be freed; NULL: there is none. */
static inline char *scratch_content(const char *directory, const char *name)
{
    char path[SCRATCH_SIZE + 80];
    char *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "re");
    if (file != NULL && getdelim(&text, &size, '\0', file) < 0) {
        free(text); /* it is empty */
        text = calloc(1, 1);
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

static inline void scratch_check(const char *directory, const char *name, const char *expected)
{
    char *text = scratch_content(directory, name);
    if (text == NULL) {
        fail_msg("no %s", name);
    }
    assert_string_equal(text, expected);
    free(text);
}

static inline void scratch_check_absent(const char *directory, const char *name)
{
    char *text = scratch_content(directory, name);
    if (text != NULL) {
        fail_msg("there is a %s: %s", name, text);
    }
}

/* No entry's name holds this. */
static inline void scratch_check_none(const char *directory, const char *part)
{
    DIR *entries = opendir(directory);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strstr(entry->d_name, part) != NULL) {
            fail_msg("there is a %s", entry->d_name);
        }
    }
    closedir(entries);
}

#endif
