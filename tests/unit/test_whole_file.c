#include "unit.h"

#include "base/whole_file.h"
#include "scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[SCRATCH_SIZE];
static char path[SCRATCH_SIZE + 20];

static int set_up(void **state)
{
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/result", directory);
    return 0;
}

static int tear_down(void **state)
{
    scratch_remove(directory);
    return 0;
}

static bool write_text(const char *name, const char *text, bool whole, struct error *error)
{
    struct whole_file file;
    check(whole_file_begin(&file, name, error), "%s", error->message);
    assert_true(fcntl(fileno(file.out), F_GETFD) & FD_CLOEXEC);
    fputs(text, file.out);
    return whole_file_end(&file, whole, error);
}

/* Until the end the earlier file stands, and two writers at once do not meet. */
static void takes_its_name_at_the_end(void **state)
{
    struct whole_file first;
    struct whole_file second;
    struct error error;
    struct stat status;
    assert_true(write_text(path, "old", true, &error));
    mode_t before = umask(027);
    assert_true(whole_file_begin(&first, path, &error));
    umask(before);
    assert_true(whole_file_begin(&second, path, &error));
    assert_string_not_equal(first.name, second.name);
    fputs("first", first.out);
    fputs("second", second.out);
    scratch_check(directory, "result", "old");
    assert_true(whole_file_end(&second, true, &error));
    scratch_check(directory, "result", "second");
    assert_true(whole_file_end(&first, true, &error));
    scratch_check(directory, "result", "first");
    scratch_check_none(directory, "result.");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
}

static void what_is_not_whole_is_dropped(void **state)
{
    struct error error = {.message = "the writer's"};
    assert_true(write_text(path, "old", true, &error));
    assert_false(write_text(path, "new", false, &error));
    assert_string_equal(error.message, "the writer's");
    scratch_check(directory, "result", "old");
    scratch_check_none(directory, "result.");
}

/* At a limit of a file's size, in a write that only flushes at the end and in an earlier one. */
static void what_cannot_be_written(void **state)
{
    static const size_t sizes[] = {2000, 20000};
    struct error error;
    struct rlimit all;
    struct rlimit limit;
    assert_true(write_text(path, "old", true, &error));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
    limit = (struct rlimit){.rlim_cur = 1000, .rlim_max = all.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char *text = calloc(sizes[i] + 1, 1);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        bool ok = write_text(path, memset(text, 'x', sizes[i]), true, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
        free(text);
        assert_false(ok);
        check_error(&error, ERROR_SYSTEM, "cannot write '");
        check_error(&error, ERROR_SYSTEM, "/result': File too large");
        scratch_check(directory, "result", "old");
        scratch_check_none(directory, "result.");
    }
}

static void what_cannot_be_opened(void **state)
{
    char missing[SCRATCH_SIZE + 40];
    char long_name[WHOLE_FILE_NAME_LENGTH] = "";
    snprintf(missing, sizeof missing, "%s/none/result", directory);
    memset(long_name, '/', sizeof long_name - 5);
    memcpy(long_name + sizeof long_name - 5, "none", 4);
    const struct {
        const char *path, *message;
    } rows[] = {
        {missing, "No such file"},
        {directory, "Is a directory"},
        {long_name, "cannot write '/"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct whole_file file;
        struct error error;
        assert_false(whole_file_begin(&file, rows[i].path, &error));
        check_error(&error, ERROR_SYSTEM, rows[i].message);
    }
}

/* A link, a pipe and a device stay what they are. */
static void written_to_as_it_is(void **state)
{
    char target[SCRATCH_SIZE + 20];
    char text[8] = "";
    struct error error;
    struct stat status;
    snprintf(target, sizeof target, "%s/target", directory);
    assert_int_equal(symlink("target", path), 0);
    assert_true(write_text(target, "long old text", true, &error));
    assert_true(write_text(path, "new", true, &error));
    assert_true(lstat(path, &status) == 0 && S_ISLNK(status.st_mode));
    scratch_check(directory, "target", "new");
    assert_false(write_text(path, "half", false, &error)); /* nothing to go back to */
    assert_true(lstat(path, &status) == 0 && S_ISLNK(status.st_mode));

    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(write_text(path, "through", true, &error));
    assert_int_equal(read(reader, text, sizeof text), 7);
    assert_memory_equal(text, "through", 7);
    close(reader);
    assert_true(lstat(path, &status) == 0 && S_ISFIFO(status.st_mode));

    assert_false(write_text("/dev/full", "text", true, &error));
    check_error(&error, ERROR_SYSTEM, "cannot write '/dev/full': No space left");
    assert_true(lstat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(takes_its_name_at_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_whole_is_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_opened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(written_to_as_it_is, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
