#include "cli/gnuplot.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/whole_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_NS     (60 * NS_PER_S) /* a picture takes less than a second */
#define WORDS_LENGTH 251

/* In the child. */
static const char *prepare(const void *directory)
{
    bool ok = setenv("LC_ALL", "C", 1) == 0 && chdir(directory) == 0;
    return ok ? NULL : "cannot prepare the place for";
}

static bool check_end(int status, int messages, struct error *error)
{
    char end[CHILD_END_LENGTH];
    char said[WORDS_LENGTH];
    child_end_text(status, end);
    child_last_words(messages, said, sizeof said); /* they name file, line and fault */
    if (WIFSIGNALED(status)) {
        return error_set(error, ERROR_SYSTEM, 0, "gnuplot %s", end);
    }
    return status == 0 || error_set(error, ERROR_SYSTEM, 0, "gnuplot %s: %s", end, said);
}

static bool run(const char *directory, char *const *arguments, const struct interrupt *interrupt,
                struct error *error)
{
    const struct child_watch watch = {
        .name = "gnuplot", .limit_ns = LIMIT_NS, .interrupt = interrupt};
    int status = 0;
    int messages = child_output_open(error);
    if (messages < 0) {
        return false;
    }
    const int descriptors[] = {-1, -1, messages};
    const struct child_program program = {.arguments = arguments,
                                          .descriptors = descriptors,
                                          .descriptor_count = 3,
                                          .prepare = prepare,
                                          .context = directory};
    bool ok = child_run(&program, &watch, &status, error) && check_end(status, messages, error);
    close(messages);
    return ok;
}

/* gnuplot takes some first characters of a file name for a command to run: "./" prevents that. */
static bool make_name(char text[PROGRAM_PATH_LENGTH], const char *directory, const char *name,
                      const char *suffix, struct error *error)
{
    int length = snprintf(text, PROGRAM_PATH_LENGTH, "%s/%s%s", directory, name, suffix);
    return (length > 0 && length < PROGRAM_PATH_LENGTH) ||
           error_set(error, ERROR_USAGE, 0, "the name '%.80s…' is too long", name);
}

/* gnuplot opens the file by its name, which lies in the directory that it works in. */
static bool is_drawn(const struct whole_file *file, struct error *error)
{
    struct stat status;
    return (fstat(fileno(file->out), &status) == 0 && status.st_size > 0) ||
           error_set(error, ERROR_SYSTEM, 0, "gnuplot made no picture '%s'", file->path);
}

bool plotting_find(char gnuplot[PROGRAM_PATH_LENGTH], struct error *error)
{
    return program_find("gnuplot", getenv("PATH"), "", gnuplot) ||
           error_set(error, ERROR_SYSTEM, ENOENT,
                     "gnuplot is not in PATH: install the package gnuplot-nox");
}

/* An earlier picture stays until the new one is whole. */
bool plotting_draw(const char *gnuplot, const char *directory, const char *name,
                   const struct interrupt *interrupt, struct error *error)
{
    char script[PROGRAM_PATH_LENGTH];
    char picture[PROGRAM_PATH_LENGTH];
    char drawn[PROGRAM_PATH_LENGTH];
    struct whole_file file;
    if (!make_name(script, ".", name, PLOTTING_SCRIPT_SUFFIX, error) ||
        !make_name(picture, directory, name, PLOTTING_PICTURE_SUFFIX, error) ||
        !interrupt_check(interrupt, error) || !whole_file_begin(&file, picture, error)) {
        return false;
    }
    char *const arguments[] = {(char *)gnuplot, "-d", "-c", script, drawn, NULL};
    bool ok = make_name(drawn, ".", strrchr(file.name, '/') + 1, "", error) &&
              run(directory, arguments, interrupt, error) && is_drawn(&file, error);
    return whole_file_end(&file, ok, error);
}
