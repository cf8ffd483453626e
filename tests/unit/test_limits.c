/* base/limits: what control groups of both versions allow, and those above them. */
#include "unit.h"

#include "base/limits.h"
#include "base/units.h"

#include "scratch.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const char *path, *text; /* below the mount */
};

struct row {
    const char *name, *groups;
    struct file files[8];
    uint64_t memory_bytes, left_bytes;
    double quota;
};

static const struct row rows[] = {
    {"no groups", "", {{NULL, NULL}}, 0, 0, 0},
    {"version 2",
     "0::/a/b\n",
     {{"a/b/memory.max", "max\n"},
      {"a/b/cpu.max", "max 100000\n"},
      {"a/memory.max", "104857600\n"},
      {"a/memory.current", "4857600\n"},
      {"a/cpu.max", "10000 100000\n"}},
     104857600,
     100000000,
     0.1},
    {"version 2 beside version 1",
     "1:cpu:/\n0::/a\n",
     {{"unified/a/memory.max", "1000\n"}, {"cpu/cpu.cfs_quota_us", "-1\n"}},
     1000,
     1000,
     0},
    {"a group of version 2 that has the name of ours in version 1",
     "2:memory:/b\n1:name=systemd:/c\n0::/a\n",
     {{"unified/b/cpu.max", "10000 100000\n"}, {"c/memory.max", "1000\n"}},
     0,
     0,
     0},
    {"version 1",
     "5:cpu,cpuacct:/c\n4:memory:/m\n1:name=systemd:/x\n",
     {{"cpu/c/cpu.cfs_quota_us", "150000\n"},
      {"cpu/c/cpu.cfs_period_us", "100000\n"},
      {"memory/m/memory.limit_in_bytes", "5000\n"},
      {"memory/m/memory.usage_in_bytes", "4000\n"},
      {"memory/memory.limit_in_bytes", "9223372036854771712\n"}},
     5000,
     1000,
     1.5},
    {"the least of all above",
     "0::/a/b/c",
     {{"a/b/c/memory.max", "900\n"},
      {"a/b/c/memory.current", "100\n"},
      {"a/b/memory.max", "max\n"},
      {"a/memory.max", "1000\n"},
      {"a/memory.current", "700\n"},
      {"memory.max", "5000\n"}},
     900,
     300,
     0},
    {"a path of the host", "0::/docker/4711\n", {{"memory.max", "2000\n"}}, 2000, 2000, 0},
    {"over its limit", "0::/\n", {{"memory.max", "10\n"}, {"memory.current", "20\n"}}, 10, 1, 0},
    {"nonsense",
     "x\n::\n0:\n0::/\n",
     {{"memory.max", "lots\n"}, {"cpu.max", "100000 0\n"}},
     0,
     0,
     0},
};

static void make_file(const char *mount, const struct file *file)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", mount, file->path);
    for (char *slash = path + strlen(mount) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    int out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(out >= 0);
    assert_int_equal(write(out, file->text, strlen(file->text)), strlen(file->text));
    close(out);
}

static void test_groups(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char mount[SCRATCH_SIZE];
        struct limits limits = {0};
        scratch_make(mount);
        for (size_t j = 0; j < COUNT(rows[i].files) && rows[i].files[j].path != NULL; j++) {
            make_file(mount, &rows[i].files[j]);
        }
        limits_read_groups(&limits, rows[i].groups, mount);
        check(limits.memory_bytes == rows[i].memory_bytes, "%s: %llu bytes", rows[i].name,
              (unsigned long long)limits.memory_bytes);
        check(limits.memory_left_bytes == rows[i].left_bytes, "%s: %llu left", rows[i].name,
              (unsigned long long)limits.memory_left_bytes);
        check(fabs(limits.processor_quota - rows[i].quota) < 1e-9, "%s: %g", rows[i].name,
              limits.processor_quota);
        scratch_remove(mount);
    }
}

static void test_affinity(void **state)
{
    (void)state;
    cpu_set_t before;
    cpu_set_t one;
    struct limits limits;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    limits_read(&limits);
    assert_int_equal(limits.processors, CPU_COUNT(&before));
    assert_true(limits.memory_left_bytes > MIB);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET((size_t)i, &before)) {
            CPU_SET((size_t)i, &one);
            break;
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    limits_read(&limits);
    assert_int_equal(limits.processors, 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_affinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
