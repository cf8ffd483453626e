#include "base/find_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool program_join(char path[PROGRAM_PATH_LENGTH], const char *first, const char *second)
{
    int length = snprintf(path, PROGRAM_PATH_LENGTH, "%s%s", first, second);
    return length >= 0 && length < PROGRAM_PATH_LENGTH;
}

static bool is_program(const char *root, const char *path)
{
    char outside[PROGRAM_PATH_LENGTH];
    struct stat status;
    return program_join(outside, root, path) && stat(outside, &status) == 0 &&
           S_ISREG(status.st_mode) && access(outside, X_OK) == 0;
}

bool program_own_directory(char path[PROGRAM_PATH_LENGTH])
{
    ssize_t length = readlink("/proc/self/exe", path, PROGRAM_PATH_LENGTH - 1);
    if (length <= 0) {
        return false;
    }
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    return true;
}

bool program_find(const char *name, const char *search, const char *root,
                  char path[PROGRAM_PATH_LENGTH])
{
    if (strchr(name, '/') != NULL) {
        return program_join(path, name, "") && is_program(root, path);
    }
    while (search != NULL && *search != '\0') {
        size_t length = strcspn(search, ":");
        int used = snprintf(path, PROGRAM_PATH_LENGTH, "%.*s/%s", (int)length, search, name);
        if (length > 0 && used < PROGRAM_PATH_LENGTH && is_program(root, path)) {
            return true;
        }
        search += length + (search[length] == ':');
    }
    return false;
}

bool program_find_ours(const char *name, char path[PROGRAM_PATH_LENGTH])
{
    char directory[PROGRAM_PATH_LENGTH];
    return (program_own_directory(directory) && program_find(name, directory, "", path)) ||
           program_find(name, getenv("PATH"), "", path);
}
