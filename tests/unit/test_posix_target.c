/* target/posix_target and target/workname: everything around the transfers, against real
 * directories. openat() goes through this program (--wrap), so that it can be counted. */
#include "posix_fixture.h"

#include "base/clock.h"
#include "target/workname.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define OTHER_DEVICE "/dev/shm"

static unsigned opened; /* calls of openat() */

int __real_openat64(int directory, const char *name, int flags, mode_t mode);
int __wrap_openat64(int directory, const char *name, int flags, mode_t mode);

int __wrap_openat64(int directory, const char *name, int flags, mode_t mode)
{
    opened++;
    return __real_openat64(directory, name, flags, mode);
}

/* Valid until three more are made; `directory` may be one of them. */
static const char *path_in(const char *directory, const char *name)
{
    static char paths[4][3 * SCRATCH_SIZE];
    static unsigned next;
    char path[sizeof paths[0]];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return memcpy(paths[next++ % COUNT(paths)], path, sizeof path);
}

/* A file of our own with these bytes, open. */
static struct target_file *own_file(struct posix_fixture *fixture, const char *name,
                                    const void *bytes, size_t size)
{
    struct target_file *file;
    struct error error;
    must(fixture->ops->create_file(fixture->target, TARGET_FIRST, name, &error));
    make_plain_file(path_in(own_directory(fixture->first), name), bytes, size);
    must(fixture->ops->open_file(fixture->target, TARGET_FIRST, name, &file, &error));
    return file;
}

/* ---- Files ---- */

static void files_come_and_go(void **state)
{
    struct posix_fixture fixture;
    struct target_file *file;
    struct error error;
    size_t size;
    posix_begin(&fixture, NULL, false);
    assert_string_equal(tree(fixture.first), "");
    file = own_file(&fixture, "a", "abc", 3);
    assert_false(fixture.ops->create_file(fixture.target, TARGET_FIRST, "a", &error));
    check_error(&error, ERROR_SYSTEM, "cannot create file 'a'");
    assert_false(fixture.ops->open_file(fixture.target, TARGET_FIRST, "b", &file, &error));
    check_error(&error, ERROR_SYSTEM, "cannot open file 'b'");
    const char *path = path_in(own_directory(fixture.first), "a");
    must(fixture.ops->set_length(fixture.target, file, 10000, &error));
    must(fixture.ops->flush(fixture.target, file, &error));
    uint8_t *bytes = file_bytes(path, &size);
    assert_int_equal(size, 10000);
    assert_memory_equal(bytes, "abc\0\0", 5);
    free(bytes);
    must(fixture.ops->close_file(fixture.target, file, &error));
    must(fixture.ops->remove_file(fixture.target, TARGET_FIRST, "a", &error));
    assert_int_equal(access(path, F_OK), -1);
    must(fixture.ops->remove_file(fixture.target, TARGET_FIRST, "a", &error)); /* gone is gone */
    must(fixture.ops->create_file(fixture.target, TARGET_FIRST, "a", &error));
    posix_end(&fixture);
}

static void too_many_files(void **state)
{
    struct posix_fixture fixture;
    struct target_file *file;
    struct error error;
    unsigned count = 0;
    posix_begin(&fixture, NULL, false);
    own_file(&fixture, "file", "", 0);
    while (count < 100 &&
           fixture.ops->open_file(fixture.target, TARGET_FIRST, "file", &file, &error)) {
        count++;
    }
    check_error(&error, ERROR_LIMIT, "too many files");
    posix_end(&fixture);
}

/* What is not ours stays: beside our directory, and in it. */
static void clean_up_removes_only_its_own(void **state)
{
    struct posix_fixture fixture;
    struct error error;
    posix_begin(&fixture, NULL, false);
    make_plain_file(path_in(fixture.first, "theirs"), "x", 1);
    assert_int_equal(mkdir(path_in(fixture.first, "their-directory"), 0700), 0);
    own_file(&fixture, "a", "abc", 3);
    own_file(&fixture, "b", "abc", 3);
    const char *foreign = path_in(own_directory(fixture.first), "foreign");
    make_plain_file(foreign, "y", 1);
    assert_false(fixture.ops->clean_up(fixture.target, TARGET_PATIENT, &error));
    check_error(&error, ERROR_SYSTEM, "stays in");
    check_error(&error, ERROR_SYSTEM, fixture.first);
    assert_int_equal(access(foreign, F_OK), 0);
    assert_int_equal(access(path_in(own_directory(fixture.first), "a"), F_OK), -1);
    assert_int_equal(access(path_in(own_directory(fixture.first), "b"), F_OK), -1);
    assert_int_equal(unlink(foreign), 0);
    assert_int_equal(rmdir(own_directory(fixture.first)), 0);
    assert_string_equal(tree(fixture.first), "their-directory theirs ");
    assert_int_equal(unlink(path_in(fixture.first, "theirs")), 0);
    assert_int_equal(rmdir(path_in(fixture.first, "their-directory")), 0);
    posix_end(&fixture);
}

static void symlinks_are_not_followed(void **state)
{
    struct posix_fixture fixture;
    struct target_file *file;
    struct error error;
    char ours[2 * SCRATCH_SIZE];
    char bait[SCRATCH_SIZE];
    posix_begin(&fixture, NULL, false);
    scratch_make(bait);
    make_plain_file(path_in(bait, "a"), "theirs", 6);
    own_file(&fixture, "a", "abc", 3);
    snprintf(ours, sizeof ours, "%s", own_directory(fixture.first));
    /* in place of a file */
    assert_int_equal(unlink(path_in(ours, "a")), 0);
    assert_int_equal(symlink(path_in(bait, "a"), path_in(ours, "a")), 0);
    assert_false(fixture.ops->open_file(fixture.target, TARGET_FIRST, "a", &file, &error));
    assert_int_equal(error.code, ELOOP);
    assert_false(fixture.ops->create_file(fixture.target, TARGET_FIRST, "a", &error));
    assert_int_equal(error.code, EEXIST);
    must(fixture.ops->clean_up(fixture.target, TARGET_PATIENT, &error));
    /* in place of the directory: the name is the same for the whole run */
    assert_int_equal(symlink(bait, ours), 0);
    assert_false(fixture.ops->create_file(fixture.target, TARGET_FIRST, "b", &error));
    check_error(&error, ERROR_SYSTEM, "cannot create directory");
    must(fixture.ops->clean_up(fixture.target, TARGET_PATIENT, &error));
    assert_int_equal(unlink(ours), 0);
    /* put there while we work */
    own_file(&fixture, "a", "abc", 3);
    assert_int_equal(rename(ours, path_in(fixture.first, "moved")), 0);
    assert_int_equal(symlink(bait, ours), 0);
    assert_false(fixture.ops->clean_up(fixture.target, TARGET_PATIENT, &error));
    check_error(&error, ERROR_SYSTEM, "stays in");
    assert_string_equal(tree(bait), "a ");
    assert_int_equal(unlink(ours), 0);
    assert_int_equal(rmdir(path_in(fixture.first, "moved")), 0);
    scratch_remove(bait);
    posix_end(&fixture);
}

/* A directory that was made but cannot be opened goes away again. */
static void no_descriptor_for_the_directory(void **state)
{
    struct posix_fixture fixture;
    struct error error;
    struct rlimit limit;
    posix_begin(&fixture, NULL, false);
    int next = dup(STDIN_FILENO);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    struct rlimit none = {(rlim_t)next, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool made = fixture.ops->create_file(fixture.target, TARGET_FIRST, "a", &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_false(made);
    assert_int_equal(error.code, EMFILE);
    assert_string_equal(tree(fixture.first), "");
    posix_end(&fixture);
}

/* ---- Files that were there before ---- */

static void existing_files_are_not_changed(void **state)
{
    static uint8_t data[3 * 4096 + 100];
    for (int direct = 0; direct < 2; direct++) {
        struct posix_fixture fixture;
        struct target_file *file;
        struct target_file *copy;
        struct error error;
        struct stat before;
        struct stat after;
        uint64_t size;
        size_t copied;
        enum cache_state cache;
        posix_begin(&fixture, NULL, direct != 0);
        memset(data, 'x', sizeof data);
        make_plain_file(path_in(fixture.first, "theirs"), data, sizeof data);
        assert_int_equal(stat(path_in(fixture.first, "theirs"), &before), 0);
        must(fixture.ops->open_existing(fixture.target, "theirs", &file, &size, &error));
        assert_int_equal(size, sizeof data);
        must(fixture.ops->cool(fixture.target, file, &cache, &error));
        copy = own_file(&fixture, "copy", "", 0);
        struct flow_plan plan = {.target = fixture.target,
                                 .direction = FLOW_COPY,
                                 .depth = 3,
                                 .chunk_bytes = 4096,
                                 .size_bytes = size};
        run_flow(&plan, file, copy);
        uint8_t *bytes = file_bytes(path_in(own_directory(fixture.first), "copy"), &copied);
        assert_int_equal(copied, sizeof data);
        assert_memory_equal(bytes, data, sizeof data);
        free(bytes);
        plan.direction = FLOW_WRITE; /* it is open for reading only */
        struct payload payload;
        struct flow flow;
        must(payload_make(&payload, 4096, 4096, 4096, &error));
        plan.payload = &payload;
        assert_false(try_flow(&flow, &plan, NULL, file, &error));
        assert_int_equal(error.code, EBADF);
        must(fixture.ops->clean_up(fixture.target, clock_now_ns() + TARGET_HURRY_NS, &error));
        flow_release(&flow);
        payload_release(&payload);
        assert_int_equal(stat(path_in(fixture.first, "theirs"), &after), 0);
        assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
        assert_memory_equal(&before.st_ctim, &after.st_ctim, sizeof before.st_ctim);
        assert_string_equal(tree(fixture.first), "theirs ");
        unlink(path_in(fixture.first, "theirs"));
        posix_end(&fixture);
    }
}

static void existing_must_be_a_plain_file(void **state)
{
    struct posix_fixture fixture;
    struct target_file *file;
    struct error error;
    uint64_t size;
    posix_begin(&fixture, NULL, false);
    assert_int_equal(mkdir(path_in(fixture.first, "directory"), 0700), 0);
    assert_int_equal(mkfifo(path_in(fixture.first, "fifo"), 0600), 0);
    assert_int_equal(symlink("/dev/zero", path_in(fixture.first, "device")), 0);
    static const char *const names[] = {"directory", "fifo", "device"};
    alarm(20); /* to open a fifo waits for its writer */
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_false(fixture.ops->open_existing(fixture.target, names[i], &file, &size, &error));
        check_error(&error, ERROR_LIMIT, "is not a regular file");
        check_error(&error, ERROR_LIMIT, names[i]);
    }
    alarm(0);
    assert_false(fixture.ops->open_existing(fixture.target, "nowhere", &file, &size, &error));
    check_error(&error, ERROR_SYSTEM, "cannot open file 'nowhere'");
    assert_int_equal(rmdir(path_in(fixture.first, "directory")), 0);
    unlink(path_in(fixture.first, "fifo"));
    unlink(path_in(fixture.first, "device"));
    posix_end(&fixture);
}

/* ---- Two directories ---- */

static bool other_device(void)
{
    struct stat here;
    struct stat there;
    char scratch[SCRATCH_SIZE];
    scratch_make(scratch);
    bool other =
        stat(scratch, &here) == 0 && stat(OTHER_DEVICE, &there) == 0 && here.st_dev != there.st_dev;
    scratch_remove(scratch);
    if (!other) {
        print_message("# skipped: " OTHER_DEVICE " is no file system of its own\n");
    }
    return other;
}

/* Copies "a" to "copy" of the second place, and looks at it there. */
static void server_copy(struct posix_fixture *fixture, const char *copied_to)
{
    static uint8_t data[100001];
    struct target_file *file;
    struct error error;
    size_t size;
    memset(data, 'd', sizeof data);
    file = own_file(fixture, "a", data, sizeof data);
    must(fixture->ops->close_file(fixture->target, file, &error));
    must(fixture->ops->prepare_copy(fixture->target, "a", TARGET_SECOND, "copy", &error));
    opened = 0;
    must(fixture->ops->server_copy(fixture->target, "a", TARGET_SECOND, "copy", &error));
    assert_int_equal(opened, 0); /* what is timed opens and creates nothing */
    uint8_t *bytes = file_bytes(path_in(own_directory(copied_to), "copy"), &size);
    assert_int_equal(size, sizeof data);
    assert_memory_equal(bytes, data, size);
    free(bytes);
    must(fixture->ops->remove_file(fixture->target, TARGET_SECOND, "copy", &error));
    /* an existing file is never overwritten; without preparation it goes as well */
    must(fixture->ops->server_copy(fixture->target, "a", TARGET_SECOND, "copy", &error));
    assert_false(fixture->ops->prepare_copy(fixture->target, "a", TARGET_SECOND, "copy", &error));
    assert_int_equal(error.code, EEXIST);
}

static void one_directory(void **state)
{
    struct posix_fixture fixture;
    posix_begin(&fixture, NULL, false);
    assert_true(fixture.target->facts.server_copy);
    assert_false(fixture.target->facts.second_place);
    server_copy(&fixture, fixture.first);
    posix_end(&fixture);
}

static void two_directories_of_one_file_system(void **state)
{
    struct posix_fixture fixture;
    posix_begin(&fixture, "/tmp", false);
    struct stat first;
    struct stat second;
    assert_int_equal(stat(fixture.first, &first) + stat(fixture.second, &second), 0);
    /* the space that both files need is the same file system's */
    assert_int_equal(fixture.target->facts.second_place, first.st_dev != second.st_dev);
    server_copy(&fixture, fixture.second);
    posix_end(&fixture);
}

static void one_directory_under_two_names(void **state)
{
    struct posix_fixture fixture;
    posix_begin(&fixture, NULL, false);
    fixture.ops->close(fixture.target);
    snprintf(fixture.second, sizeof fixture.second, "%.100s/.", fixture.first);
    posix_open(&fixture, false);
    assert_true(fixture.target->facts.server_copy);
    assert_false(fixture.target->facts.second_place);
    server_copy(&fixture, fixture.first);
    fixture.second[0] = '\0';
    posix_end(&fixture);
}

static void two_file_systems(void **state)
{
    struct posix_fixture fixture;
    struct error error;
    if (!other_device()) {
        skip();
    }
    posix_begin(&fixture, OTHER_DEVICE, false);
    assert_true(fixture.target->facts.second_place);
    assert_false(fixture.target->facts.server_copy);
    assert_non_null(strstr(fixture.target->facts.copy_refusal, "copy_file_range"));
    must(fixture.ops->create_file(fixture.target, TARGET_SECOND, "a", &error));
    assert_int_equal(access(path_in(own_directory(fixture.second), "a"), F_OK), 0);
    must(fixture.ops->clean_up(fixture.target, TARGET_PATIENT, &error));
    assert_string_equal(tree(fixture.second), "");
    posix_end(&fixture);
}

static void free_space_is_the_file_system_s(void **state)
{
    struct posix_fixture fixture;
    struct error error;
    uint64_t bytes;
    bool exact;
    if (!posix_begin_mounted(&fixture, "tmpfs", "size=1m")) {
        skip();
    }
    must(fixture.ops->free_space(fixture.target, TARGET_FIRST, &bytes, &exact, &error));
    assert_true(exact);
    assert_in_range(bytes, 1, 1 << 20);
    posix_end(&fixture);
    /* one that does not count what it has, and takes no O_DIRECT */
    assert_true(posix_begin_mounted(&fixture, "ramfs", NULL));
    must(fixture.ops->free_space(fixture.target, TARGET_FIRST, &bytes, &exact, &error));
    assert_false(exact);
    assert_true(bytes == UINT64_MAX);
    fixture.ops->close(fixture.target);
    posix_open(&fixture, true);
    assert_true(posix_notes(&fixture, "takes no O_DIRECT"));
    assert_false(fixture.conditions.direct);
    assert_int_equal(fixture.target->facts.alignment, 1);
    posix_end(&fixture);
}

/* ---- The cache ---- */

static enum cache_state cooled(const char *parent, bool direct, bool *memory)
{
    static uint8_t data[1000000];
    struct posix_fixture fixture;
    enum cache_state state = CACHE_UNKNOWN;
    struct error error;
    if (parent != NULL) {
        setenv("TMPDIR", parent, 1);
    }
    posix_begin(&fixture, NULL, direct);
    unsetenv("TMPDIR");
    *memory = strcmp(fixture.conditions.file_system, "tmpfs") == 0;
    struct target_file *file = own_file(&fixture, "a", data, sizeof data);
    must(fixture.ops->cool(fixture.target, file, &state, &error));
    if (direct && posix_notes(&fixture, "takes no O_DIRECT")) {
        state = CACHE_BYPASSED;
    }
    posix_end(&fixture);
    return state;
}

static void the_cache_is_looked_at(void **state)
{
    bool memory;
    enum cache_state buffered = cooled(NULL, false, &memory);
    assert_int_equal(buffered, memory ? CACHE_CLIENT_WARM : CACHE_CLIENT_COLD);
    enum cache_state direct = cooled(NULL, true, &memory);
    assert_int_equal(direct, memory ? CACHE_CLIENT_WARM : CACHE_BYPASSED);
    if (access(OTHER_DEVICE, W_OK) == 0) {
        buffered = cooled(OTHER_DEVICE, false, &memory);
        assert_true(!memory || buffered == CACHE_CLIENT_WARM);
    }
}

/* ---- Waiting ---- */

static void idle_ends_in_three_ways(void **state)
{
    struct posix_fixture fixture;
    struct error error;
    bool readable = true;
    int ends[2];
    posix_begin(&fixture, NULL, false);
    assert_int_equal(pipe(ends), 0);
    uint64_t deadline_ns = clock_now_ns() + 20 * NS_PER_MS;
    must(fixture.ops->idle(fixture.target, deadline_ns, ends[0], &readable, &error));
    assert_false(readable);
    assert_true(clock_now_ns() >= deadline_ns);
    assert_int_equal(write(ends[1], "x", 1), 1);
    must(fixture.ops->idle(fixture.target, clock_now_ns() + 60 * NS_PER_S, ends[0], &readable,
                           &error));
    assert_true(readable);
    posix_interrupt(&fixture);
    assert_false(
        fixture.ops->idle(fixture.target, clock_now_ns() + 60 * NS_PER_S, -1, &readable, &error));
    check_error(&error, ERROR_INTERRUPTED, "interrupted");
    close(ends[0]);
    close(ends[1]);
    posix_end(&fixture);
}

/* ---- Directories that cannot be used ---- */

static void unusable_directories(void **state)
{
    static const struct {
        const char *first, *second;
        const char *message;
    } rows[] = {
        {"/nowhere/at/all", NULL, "cannot use the directory '/nowhere/at/all'"},
        {"/etc/passwd", NULL, "cannot use the directory '/etc/passwd'"},
        {"/proc", NULL, "'/proc'"},
        {"/tmp", "/nowhere/at/all", "cannot use the directory '/nowhere/at/all'"},
        {"/tmp", "/proc", "'/proc'"},
    };
    struct interrupt interrupt = {.fd = -1};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct posix_options options = {.directory = rows[i].first,
                                        .second_directory = rows[i].second,
                                        .interrupt = &interrupt};
        struct target *target;
        struct error error;
        check(!posix_target_open(&target, &options, &error), "row %zu", i);
        check_error(&error, ERROR_SYSTEM, rows[i].message);
    }
}

/* ---- Leftovers ---- */

/* The name that a run of this boot and namespace with a process that has gone would have. */
static const char *name_of_the_gone(void)
{
    static char name[64];
    char own[WORKNAME_LENGTH];
    workname_make(own);
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    snprintf(name, sizeof name, "%.17s-%06x-00abcd", own, (unsigned)child);
    return name;
}

struct told {
    char text[2000];
};

static void note_leftover(void *context, const char *name, bool removed, const char *reason)
{
    struct told *told = context;
    size_t used = strlen(told->text);
    snprintf(told->text + used, sizeof told->text - used, "%s %s: %s\n",
             removed ? "removed" : "kept", name, reason != NULL ? reason : "");
}

static void expect_told(const struct told *told, const char *outcome, const char *name)
{
    char line[100];
    snprintf(line, sizeof line, "%s %s: ", outcome, name);
    check(strstr(told->text, line) != NULL, "no '%s' in: %s", line, told->text);
}

static void leftovers_go_and_others_stay(void **state)
{
    struct posix_fixture fixture;
    struct told told = {""};
    struct error error;
    char names[5][64];
    char bait[SCRATCH_SIZE];
    scratch_make(bait);
    make_plain_file(path_in(bait, "Source"), "x", 1);
    posix_begin(&fixture, NULL, false);
    for (unsigned i = 0; i < COUNT(names); i++) {
        snprintf(names[i], sizeof names[i], "%.25s%06x", name_of_the_gone(), i);
    }
    mkdir(path_in(fixture.first, names[0]), 0700);
    mkdir(path_in(fixture.first, names[1]), 0700);
    make_plain_file(path_in(path_in(fixture.first, names[1]), "Source"), "x", 1);
    const char *link = path_in(path_in(fixture.first, names[1]), "Destination");
    assert_int_equal(symlink(path_in(bait, "Source"), link), 0);
    mkdir(path_in(fixture.first, names[2]), 0700);
    mkdir(path_in(path_in(fixture.first, names[2]), "directory"), 0700);
    assert_int_equal(symlink(bait, path_in(fixture.first, names[3])), 0);
    make_plain_file(path_in(fixture.first, names[4]), "x", 1);
    static const char *const others[] = {"afpbench-00000001-000002-000003", "afpbench-dir",
                                         "Source"};
    for (size_t i = 0; i < COUNT(others); i++) {
        mkdir(path_in(fixture.first, others[i]), 0700);
    }
    const struct leftover_sweep sweep = {UINT64_MAX, note_leftover, &told};
    must(fixture.ops->remove_leftovers(fixture.target, &sweep, &error));
    expect_told(&told, "removed", names[0]);
    expect_told(&told, "removed", names[1]);
    expect_told(&told, "kept", names[2]);
    expect_told(&told, "kept", others[0]);
    assert_null(strstr(told.text, others[1]));
    static const unsigned stays[] = {2, 3, 4};
    for (size_t i = 0; i < COUNT(stays); i++) {
        struct stat status;
        assert_int_equal(lstat(path_in(fixture.first, names[stays[i]]), &status), 0);
        remove(path_in(path_in(fixture.first, names[2]), "directory"));
        remove(path_in(fixture.first, names[stays[i]]));
    }
    assert_string_equal(tree(bait), "Source ");
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_int_equal(rmdir(path_in(fixture.first, others[i])), 0);
    }
    scratch_remove(bait);
    posix_end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_and_go),
        cmocka_unit_test(too_many_files),
        cmocka_unit_test(clean_up_removes_only_its_own),
        cmocka_unit_test(symlinks_are_not_followed),
        cmocka_unit_test(no_descriptor_for_the_directory),
        cmocka_unit_test(existing_files_are_not_changed),
        cmocka_unit_test(existing_must_be_a_plain_file),
        cmocka_unit_test(one_directory),
        cmocka_unit_test(two_directories_of_one_file_system),
        cmocka_unit_test(one_directory_under_two_names),
        cmocka_unit_test(two_file_systems),
        cmocka_unit_test(free_space_is_the_file_system_s),
        cmocka_unit_test(the_cache_is_looked_at),
        cmocka_unit_test(idle_ends_in_three_ways),
        cmocka_unit_test(unusable_directories),
        cmocka_unit_test(leftovers_go_and_others_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
