#include "harness/files.h"

#include "base/child.h"
#include "base/memory.h"
#include "base/whole_file.h"
#include "cli/gnuplot.h"
#include "harness/write_csv.h"
#include "harness/write_json.h"
#include "harness/write_net.h"
#include "report/json_build.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_LIMIT ((size_t)256 << 20)

/* ---- The files ---- */

static bool write_csv(FILE *out, const void *result, struct error *error)
{
    return harness_write_csv(out, result, error);
}

static bool write_messages(FILE *out, const void *context, struct error *error)
{
    const struct harness_result *result = context;
    fputs(result->messages != NULL ? result->messages : "", out);
    return true;
}

static bool write_net_csv(FILE *out, const void *result, struct error *error)
{
    harness_write_net_csv(out, result);
    return true;
}

static bool write_net_text(FILE *out, const void *result, struct error *error)
{
    harness_write_net_text(out, result);
    return true;
}

static bool write_json(FILE *out, const void *context, struct error *error)
{
    const struct harness_result *result = context;
    char name[HARNESS_TEXT_LENGTH + 8];
    snprintf(name, sizeof name, "%s.json", result->name);
    return harness_json_finish(result, error) && json_write(result->document, out, name, error);
}

static bool has_document(const struct harness_result *result)
{
    return result->document != NULL;
}

static bool is_counted(const struct harness_result *result)
{
    return result->counted;
}

/* Drawn later, when all is taken down. */
static bool never(const struct harness_result *result)
{
    return false;
}

static const struct {
    const char *suffix;
    bool (*write)(FILE *out, const void *context, struct error *error);
    bool (*wanted)(const struct harness_result *result); /* NULL: always */
} files[] = {
    {".csv", write_csv, NULL},
    {"-stderr.log", write_messages, NULL},
    {"-net.csv", write_net_csv, is_counted},
    {"-net.txt", write_net_text, is_counted},
    {".json", write_json, has_document},
    {PLOTTING_SCRIPT_SUFFIX, NULL, never},
    {PLOTTING_PICTURE_SUFFIX, NULL, never},
};
#define FILE_COUNT (sizeof files / sizeof files[0])

static bool file_path(const char *directory, const char *name, const char *suffix,
                      char path[HARNESS_PATH_LENGTH], struct error *error)
{
    int length = snprintf(path, HARNESS_PATH_LENGTH, "%s/%s%s", directory, name, suffix);
    return (length > 0 && length < HARNESS_PATH_LENGTH) ||
           error_set(error, ERROR_USAGE, 0, "OUTDIR '%.80s…' is too long", directory);
}

/* ---- Before anything runs ---- */

/* As mkdir -p does. */
static bool make_directories(const char *directory, struct error *error)
{
    char path[HARNESS_PATH_LENGTH];
    if (!file_path(directory, "", "", path, error)) {
        return false;
    }
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST) {
            return error_set_errno(error, errno, "cannot make OUTDIR '%s'", path);
        }
        *slash = '/';
    }
    return true;
}

static bool check_free(const char *directory, const char *name, struct error *error)
{
    for (size_t i = 0; i < FILE_COUNT; i++) {
        char path[HARNESS_PATH_LENGTH];
        struct stat status;
        if (!file_path(directory, name, files[i].suffix, path, error)) {
            return false;
        }
        if (lstat(path, &status) == 0) {
            return error_set(error, ERROR_USAGE, 0,
                             "'%s' is there: --force overwrites it, or give another OUTDIR", path);
        }
    }
    return true;
}

static bool check_all_free(const char *directory, const struct harness_plan *plan,
                           struct error *error)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (!check_free(directory, plan->configurations[i].name, error)) {
            return false;
        }
    }
    return true;
}

static bool take_names(const char *directory, struct harness_plan *plan, struct error *error)
{
    if (plan->claims != NULL) {
        return true;
    }
    plan->claims = memory_allocate(plan->count, sizeof *plan->claims);
    if (plan->claims == NULL) {
        return memory_error(error, "for the names of the runs");
    }
    for (size_t i = 0; i < plan->count; i++) {
        char path[HARNESS_PATH_LENGTH];
        if (!file_path(directory, plan->configurations[i].name, "", path, error) ||
            !claim_take(&plan->claims[i], path, error)) {
            return false;
        }
    }
    return true;
}

bool harness_files_prepare(const char *directory, struct harness_plan *plan, bool force,
                           struct error *error)
{
    char inside[HARNESS_PATH_LENGTH]; /* DIR/: of a file, even an executable one, it fails */
    if ((!force && !check_all_free(directory, plan, error)) ||
        !make_directories(directory, error) || !file_path(directory, "", "", inside, error)) {
        return false;
    }
    if (access(inside, W_OK | X_OK) < 0) {
        return error_set_errno(error, errno, "cannot write into OUTDIR '%s'", directory);
    }
    /* and once more: a run may have ended between the look and the claim */
    return take_names(directory, plan, error) && (force || check_all_free(directory, plan, error));
}

/* ---- The test program's own files ---- */

bool harness_fragment_path(const char *directory, const char *name, char path[HARNESS_PATH_LENGTH],
                           struct error *error)
{
    return file_path(directory, name, ".json.size", path, error);
}

/* With what a test program left that was killed while it wrote, whatever its name ends in. */
void harness_fragment_remove(const char *path)
{
    char directory[HARNESS_PATH_LENGTH];
    const char *name = strrchr(path, '/') + 1;
    snprintf(directory, sizeof directory, "%.*s", (int)(name - path), path);
    DIR *entries = opendir(directory);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        const char *found = entry->d_name + (entry->d_name[0] == '.'); /* its claim is hidden */
        if (strncmp(found, name, strlen(name)) == 0) {
            unlinkat(dirfd(entries), entry->d_name, 0);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

char *harness_read_file(int file, const char *name, struct error *error)
{
    return child_output_text(file, TEXT_LIMIT, name, error);
}

/* ---- Afterwards ---- */

bool harness_file_write(const char *directory, const char *name, const char *suffix,
                        bool (*write)(FILE *out, const void *context, struct error *error),
                        const void *context, struct error *error)
{
    char path[HARNESS_PATH_LENGTH];
    struct whole_file file;
    return file_path(directory, name, suffix, path, error) &&
           whole_file_begin(&file, path, error) &&
           whole_file_end(&file, write(file.out, context, error), error);
}

static bool write_one(const char *directory, size_t index, const struct harness_result *result,
                      struct error *error)
{
    char path[HARNESS_PATH_LENGTH];
    if (files[index].wanted == NULL || files[index].wanted(result)) {
        return harness_file_write(directory, result->name, files[index].suffix, files[index].write,
                                  result, error);
    }
    if (file_path(directory, result->name, files[index].suffix, path, error)) {
        unlink(path); /* of an earlier run, with --force: it must not pass for this one's */
        return true;
    }
    return false;
}

bool harness_files_write(const char *directory, const struct harness_result *result,
                         struct error *error)
{
    bool ok = true;
    for (size_t i = 0; i < FILE_COUNT; i++) {
        struct error later;
        ok = write_one(directory, i, result, ok ? error : &later) && ok;
    }
    return ok;
}
