#include "report/read_result.h"

#include "base/memory.h"
#include "base/units.h"
#include "report/read_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const stored_condition_names[STORED_CONDITIONS] = {
    [STORED_KERNEL] = "kernel",
    [STORED_MACHINE] = "machine",
    [STORED_CPU] = "CPU",
    [STORED_CPU_COUNT] = "CPU count",
    [STORED_CPUS_ALLOWED] = "CPUs allowed",
    [STORED_CPU_QUOTA] = "CPU quota in percent of one",
    [STORED_MEMORY_LIMIT] = "memory limit in bytes",
    [STORED_TARGET] = "target",
    [STORED_LINK] = "link",
    [STORED_SERVER_TYPE] = "server machine type",
    [STORED_QUANTUM] = "quantum offered in bytes",
    [STORED_AFP_VERSION] = "AFP version",
    [STORED_REFERENCE_STORE] = "reference store",
    [STORED_FILE_SYSTEM] = "file system type",
    [STORED_DIRECT] = "direct",
    [STORED_SECOND_PLACE] = "second volume or directory",
};

static const char *const flag_words[] = {"no", "yes", NULL};
static const char *const cache_words[] = {"none", "cold", "warm", "bypassed", NULL};
static const char *const sink_words[] = {"none", "copy", "discard", "verify", NULL};

const struct stored_case_condition_row stored_case_condition_rows[STORED_CASE_CONDITIONS] = {
    [STORED_CHUNK] = {"chunk in bytes", NULL},
    [STORED_OUTSTANDING] = {"outstanding", NULL},
    [STORED_INTERLEAVED] = {"interleaved", flag_words},
    [STORED_SESSIONS] = {"sessions", NULL},
    [STORED_SPARSE] = {"sparse source file", flag_words},
    [STORED_SINK] = {"sink", sink_words},
    [STORED_FLUSH] = {"flush", flag_words},
    [STORED_NEW_FILES] = {"new files", flag_words},
    [STORED_EXISTING_FILE] = {"existing file", flag_words},
    [STORED_CLIENT_CACHE] = {"client cache", cache_words, .may_be_absent = true},
};

/* The order matters: the strict CSV goes before the one that may be anywhere in a log. */
static const struct result_reader *const readers[] = {
    &json_result_reader, &csv_result_reader, &netatalk_result_reader, &summary_result_reader};

/* ---- The model ---- */

/* The alphabet is ASCII whatever the locale says. */
static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool stored_test_name_ok(const char *name, size_t length)
{
    if (length == 0 || length >= STORED_TEST_LENGTH || !is_letter(name[0])) {
        return false;
    }
    for (size_t i = 1; i < length; i++) {
        if (!is_letter(name[i]) && !(name[i] >= '0' && name[i] <= '9')) {
            return false;
        }
    }
    return true;
}

static bool is_case(const struct stored_case *stored_case, const char *test, size_t test_length,
                    uint64_t size_bytes)
{
    return stored_case->size_bytes == size_bytes &&
           strncmp(stored_case->test, test, test_length) == 0 &&
           stored_case->test[test_length] == '\0';
}

/* The items with room for one more, moved perhaps; NULL without memory, and they stay. */
static void *grown(void *items, size_t *capacity, size_t count, size_t item_size)
{
    if (count < *capacity) {
        return items;
    }
    size_t larger = *capacity > 0 ? *capacity * 2 : 16;
    void *moved = memory_resize(items, larger, item_size);
    *capacity = moved != NULL ? larger : *capacity;
    return moved;
}

/* From the end: the runs of a case usually follow each other. */
struct stored_case *stored_result_case(struct stored_result *result, const char *test,
                                       size_t test_length, uint64_t size_bytes, struct error *error)
{
    for (size_t i = result->case_count; i-- > 0;) {
        if (is_case(&result->cases[i], test, test_length, size_bytes)) {
            return &result->cases[i];
        }
    }
    if (result->case_count >= STORED_CASE_LIMIT) {
        error_set(error, ERROR_LIMIT, 0, "more than %d tests and sizes", STORED_CASE_LIMIT);
        return NULL;
    }
    struct stored_case *cases =
        grown(result->cases, &result->case_capacity, result->case_count, sizeof *cases);
    if (cases == NULL) {
        memory_error(error, "for a stored result");
        return NULL;
    }
    result->cases = cases;
    struct stored_case *added = &result->cases[result->case_count++];
    *added = (struct stored_case){.size_bytes = size_bytes, .run_bytes = size_bytes};
    memcpy(added->test, test, test_length);
    return added;
}

bool stored_result_add_run(struct stored_result *result, struct stored_case *stored_case,
                           double duration_ns, struct error *error)
{
    if (result->run_count >= STORED_RUN_LIMIT) {
        return error_set(error, ERROR_LIMIT, 0, "more than %d runs", STORED_RUN_LIMIT);
    }
    double *durations_ns = grown(stored_case->durations_ns, &stored_case->capacity,
                                 stored_case->count, sizeof *durations_ns);
    if (durations_ns == NULL) {
        return memory_error(error, "for a stored result");
    }
    stored_case->durations_ns = durations_ns;
    stored_case->durations_ns[stored_case->count++] = duration_ns;
    result->run_count++;
    return true;
}

void stored_result_release(struct stored_result *result)
{
    for (size_t i = 0; i < result->case_count; i++) {
        memory_release(result->cases[i].durations_ns);
    }
    for (size_t i = 0; i < STORED_CONDITIONS; i++) {
        memory_release(result->conditions[i]);
    }
    memory_release(result->cases);
    memory_release(result->started);
    memory_release(result->directory);
    memory_release(result->why_incomplete);
    memory_release(result->warning);
    *result = (struct stored_result){0};
}

uint64_t stored_size_thousandths(uint64_t size_bytes)
{
    uint64_t whole = size_bytes / MIB * 1000;
    uint64_t rest = size_bytes % MIB * 1000;
    uint64_t thousandths = whole + rest / MIB;
    uint64_t fraction = rest % MIB * 2;
    bool up = fraction > MIB || (fraction == MIB && thousandths % 2 == 1);
    return thousandths + up;
}

bool stored_case_matches(const struct stored_case *a, const struct stored_case *b)
{
    if (strcmp(a->test, b->test) != 0) {
        return false;
    }
    if (a->size_exact && b->size_exact) {
        return a->size_bytes == b->size_bytes;
    }
    return stored_size_thousandths(a->size_bytes) == stored_size_thousandths(b->size_bytes);
}

/* ---- Reading ---- */

static bool read_input(const struct input *input, struct stored_result *result, bool *recognised,
                       struct error *error)
{
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (readers[i]->recognises(input)) {
            *recognised = true;
            result->format = readers[i]->name;
            return readers[i]->read(input, result, error) || error_prefix(error, "%s", input->name);
        }
    }
    *recognised = false;
    return false;
}

static bool refuse(const struct input *input, struct error *error)
{
    return error_set(error, ERROR_CONTENT, 0, "%s is no result, it is %s", input->name,
                     input_kind(input)) ||
           error_remedy(error, REMEDY_RESULT);
}

/* JSON may hold quotes, and is left as it is. */
bool read_result_buffer(const char *name, const char *bytes, size_t size,
                        struct stored_result *result, struct error *error)
{
    struct input input = {name, bytes, size, false};
    char *copy;
    bool recognised;
    *result = (struct stored_result){0};
    if (size > STORED_FILE_LIMIT) {
        return error_set(error, ERROR_LIMIT, 0, "%s: a result has at most %d MiB", name,
                         (int)(STORED_FILE_LIMIT / MIB));
    }
    input_skip_mark(&input);
    if (json_result_reader.recognises(&input)) {
        return read_input(&input, result, &recognised, error);
    }
    struct input plain = input;
    if (!input_from_spreadsheet(&plain, &copy, error)) {
        return false;
    }
    bool ok = read_input(&plain, result, &recognised, error);
    memory_release(copy);
    return ok || (!recognised && refuse(&input, error));
}

/* Appends what is left of the file to a growing block. */
static bool read_all(int file, char **bytes, size_t *size, struct error *error)
{
    size_t capacity = 0;
    for (;;) {
        if (*size == capacity) {
            capacity = capacity > 0 ? capacity * 2 : 64 * KIB;
            char *larger = memory_resize(*bytes, capacity, 1);
            if (larger == NULL) {
                return memory_error(error, "for a stored result");
            }
            *bytes = larger;
        }
        ssize_t got = read(file, *bytes + *size, capacity - *size);
        if (got < 0 && errno != EINTR) {
            return error_set_errno(error, errno, "cannot read it");
        }
        *size += got > 0 ? (size_t)got : 0;
        if (got == 0 || *size > STORED_FILE_LIMIT) {
            return true; /* the size is judged by read_result_buffer() */
        }
    }
}

bool read_result_bytes(const char *path, char **bytes, size_t *size, struct error *error)
{
    *bytes = NULL;
    *size = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return error_set_errno(error, errno, "cannot open '%s'", path);
    }
    bool ok = read_all(file, bytes, size, error) || error_prefix(error, "%s", path);
    close(file);
    return ok;
}

bool read_result_file(const char *path, struct stored_result *result, struct error *error)
{
    char *bytes;
    size_t size;
    *result = (struct stored_result){0};
    bool ok = read_result_bytes(path, &bytes, &size, error) &&
              read_result_buffer(path, bytes, size, result, error);
    memory_release(bytes);
    return ok;
}
