#include "target/made_files.h"

#include <string.h>

/* The entry of a file; with an empty name, a free entry. NULL if there is none. */
static struct made_file *find(struct made_files *files, enum target_place place, const char *name)
{
    for (size_t i = 0; i < MADE_FILES_LIMIT; i++) {
        struct made_file *made = &files->list[i];
        if (strcmp(made->name, name) == 0 && (name[0] == '\0' || made->place == place)) {
            return made;
        }
    }
    return NULL;
}

bool made_files_note(struct made_files *files, enum target_place place, const char *name,
                     struct error *error)
{
    struct made_file *made = find(files, place, name);
    if (made == NULL) {
        made = find(files, place, "");
    }
    if (made == NULL || strlen(name) >= sizeof made->name) {
        return error_set(error, ERROR_LIMIT, 0, "a workload uses too many files");
    }
    made->place = place;
    memcpy(made->name, name, strlen(name) + 1);
    return true;
}

void made_files_forget(struct made_files *files, enum target_place place, const char *name)
{
    struct made_file *made = find(files, place, name);
    if (made != NULL) {
        made->name[0] = '\0';
    }
}
