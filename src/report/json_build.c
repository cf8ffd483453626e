#include "report/json_build.h"

#include "base/whole_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void json_set(struct json_builder *builder, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) < 0) {
        builder->failed = true;
    }
}

void json_append(struct json_builder *builder, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) < 0) {
        builder->failed = true;
    }
}

json_t *json_count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *json_text(const char *value)
{
    json_t *string = value != NULL ? json_string(value) : json_null();
    if (string != NULL) {
        return string;
    }
    char replaced[256];
    size_t length = strnlen(value, sizeof replaced - 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)value[i];
        replaced[i] = c < 0x80 ? (char)c : '?';
    }
    replaced[length] = '\0';
    return json_string(replaced);
}

/* ---- Files ---- */

bool json_write(const json_t *document, FILE *out, const char *path, struct error *error)
{
    bool ok = json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0;
    ok = fputc('\n', out) != EOF && ok;
    if (!ok || fflush(out) != 0 || ferror(out)) {
        return error_set_errno(error, errno, "cannot write the results to '%s'", path);
    }
    return true;
}

/* A rename would put a file in the place of a device, and cannot replace a directory. */
static bool may_replace(const char *path, struct error *error)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return error_set(error, ERROR_LIMIT, 0,
                         "cannot write '%s': it is no regular file; '-' is stdout", path);
    }
    return true;
}

bool json_write_file(const json_t *document, const char *path, bool finished, struct error *error)
{
    struct whole_file file;
    char part[WHOLE_FILE_NAME_LENGTH];
    int length = snprintf(part, sizeof part, "%s.part", path);
    if (length < 0 || (size_t)length >= sizeof part) {
        return error_set(error, ERROR_LIMIT, 0, "the name '%s' is too long", path);
    }
    bool ok = may_replace(path, error) && whole_file_begin(&file, finished ? path : part, error) &&
              whole_file_end(&file, json_write(document, file.out, file.path, error), error);
    if (ok && finished) {
        unlink(part);
    }
    return ok;
}
