#include "posix_fixture.h"

#include "target/workname.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* ---- Beginning and end ---- */

void posix_open(struct posix_fixture *fixture, bool direct)
{
    struct posix_options options = {.directory = fixture->first,
                                    .second_directory =
                                        fixture->second[0] != '\0' ? fixture->second : NULL,
                                    .direct = direct,
                                    .interrupt = &fixture->interrupt};
    struct error error;
    must(posix_target_open(&fixture->target, &options, &error));
    fixture->ops = fixture->target->ops;
    fixture->ops->describe(fixture->target, &fixture->conditions);
}

bool posix_notes(const struct posix_fixture *fixture, const char *text)
{
    char line[160];
    bool found = false;
    for (size_t i = 0; fixture->ops->note(fixture->target, i, line, sizeof line); i++) {
        found = found || strstr(line, text) != NULL;
    }
    return found;
}

void posix_begin(struct posix_fixture *fixture, const char *second_parent, bool direct)
{
    *fixture = (struct posix_fixture){.interrupt.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    scratch_make(fixture->first);
    if (second_parent != NULL && !scratch_try(fixture->second, second_parent)) {
        fail_msg("cannot make %s", fixture->second);
    }
    posix_open(fixture, direct);
}

void posix_end(struct posix_fixture *fixture)
{
    struct error error;
    must(fixture->ops->clean_up(fixture->target, clock_now_ns() + TARGET_HURRY_NS, &error));
    fixture->ops->close(fixture->target);
    assert_string_equal(tree(fixture->first), "");
    umount2(fixture->first, MNT_DETACH); /* where something is mounted */
    scratch_remove(fixture->first);
    scratch_remove(fixture->second);
    close(fixture->interrupt.fd);
}

void posix_interrupt(struct posix_fixture *fixture)
{
    uint64_t one = 1;
    assert_int_equal(write(fixture->interrupt.fd, &one, sizeof one), sizeof one);
}

bool posix_begin_mounted(struct posix_fixture *fixture, const char *type, const char *options)
{
    *fixture = (struct posix_fixture){.interrupt.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    scratch_make(fixture->first);
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(type, fixture->first, type, 0, options) != 0) {
        print_message("# skipped: needs root and a mount of %s\n", type);
        scratch_remove(fixture->first);
        return false;
    }
    posix_open(fixture, false);
    return true;
}

/* ---- What is there ---- */

static char names[4096];
static size_t root_length;

static int add_name(const char *path, const struct stat *status, int type, struct FTW *place)
{
    if (place->level > 0) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s ", path + root_length);
    }
    return 0;
}

static int compare_words(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

const char *tree(const char *directory)
{
    static char sorted[4096];
    char *words[64];
    size_t count = 0;
    names[0] = sorted[0] = '\0';
    root_length = strlen(directory) + 1;
    nftw(directory, add_name, 8, FTW_PHYS);
    for (char *word = strtok(names, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(count < COUNT(words));
        words[count++] = word;
    }
    qsort(words, count, sizeof words[0], compare_words);
    for (size_t i = 0; i < count; i++) {
        strcat(strcat(sorted, words[i]), " ");
    }
    return sorted;
}

const char *own_directory(const char *parent)
{
    static char path[2 * SCRATCH_SIZE];
    unsigned found = 0;
    DIR *directory = opendir(parent);
    assert_non_null(directory);
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        if (strncmp(entry->d_name, "afpbench-", 9) == 0) {
            snprintf(path, sizeof path, "%s/%.*s", parent, WORKNAME_LENGTH, entry->d_name);
            found++;
        }
    }
    closedir(directory);
    assert_int_equal(found, 1);
    return path;
}

uint8_t *file_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "re");
    check(file != NULL, "cannot open %s", path);
    struct stat status;
    assert_int_equal(fstat(fileno(file), &status), 0);
    uint8_t *bytes = malloc((size_t)status.st_size + 1);
    assert_non_null(bytes);
    *size = fread(bytes, 1, (size_t)status.st_size + 1, file);
    fclose(file);
    return bytes;
}

void make_plain_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "we");
    check(file != NULL, "cannot make %s", path);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- Moving data ---- */

bool try_flow(struct flow *flow, const struct flow_plan *plan, struct target_file *source,
              struct target_file *destination, struct error *error)
{
    struct sample_counts counts = {0};
    check(flow_prepare(flow, plan, error), "%s", error->message);
    bool ok = flow_run(flow, source, destination, &counts, error);
    check(!ok || counts.bytes == plan->size_bytes, "%zu bytes counted", (size_t)counts.bytes);
    return ok;
}

void run_flow(const struct flow_plan *plan, struct target_file *source,
              struct target_file *destination)
{
    struct flow flow;
    struct error error;
    must(try_flow(&flow, plan, source, destination, &error));
    flow_release(&flow);
}
