#include "base/limits.h"

#include "base/units.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define TEXT_LENGTH 4096
#define PATH_LENGTH 4096

/* A limit of a group that is as good as none; version 1 says so with a number near 2^63. */
#define UNLIMITED (UINT64_C(1) << 60)

static bool read_text(const char *path, char text[TEXT_LENGTH])
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, TEXT_LENGTH - 1) : -1;
    if (file >= 0) {
        close(file);
    }
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static bool read_number(const char *directory, const char *name, int64_t *value)
{
    char path[PATH_LENGTH];
    char text[TEXT_LENGTH];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    return length > 0 && (size_t)length < sizeof path && read_text(path, text) &&
           sscanf(text, "%" SCNd64, value) == 1; /* "max" is none */
}

static void take_memory(struct limits *limits, int64_t limit, int64_t used)
{
    if (limit < 0 || (uint64_t)limit >= UNLIMITED) {
        return;
    }
    uint64_t left = limit > used ? (uint64_t)(limit - used) : 1;
    if (limits->memory_bytes == 0 || (uint64_t)limit < limits->memory_bytes) {
        limits->memory_bytes = (uint64_t)limit;
    }
    if (limits->memory_left_bytes == 0 || left < limits->memory_left_bytes) {
        limits->memory_left_bytes = left;
    }
}

static void take_quota(struct limits *limits, int64_t quota_us, int64_t period_us)
{
    if (quota_us > 0 && period_us > 0) {
        double quota = (double)quota_us / (double)period_us;
        bool less = limits->processor_quota <= 0 || quota < limits->processor_quota;
        limits->processor_quota = less ? quota : limits->processor_quota;
    }
}

static void read_memory(struct limits *limits, const char *directory, const char *limit_name,
                        const char *used_name)
{
    int64_t limit;
    int64_t used;
    if (read_number(directory, limit_name, &limit)) {
        bool known = read_number(directory, used_name, &used);
        take_memory(limits, limit, known ? used : 0);
    }
}

static void read_memory_v1(struct limits *limits, const char *directory)
{
    read_memory(limits, directory, "memory.limit_in_bytes", "memory.usage_in_bytes");
}

static void read_processors_v1(struct limits *limits, const char *directory)
{
    int64_t quota_us;
    int64_t period_us;
    if (read_number(directory, "cpu.cfs_quota_us", &quota_us) &&
        read_number(directory, "cpu.cfs_period_us", &period_us)) {
        take_quota(limits, quota_us, period_us);
    }
}

static void read_both_v2(struct limits *limits, const char *directory)
{
    read_memory(limits, directory, "memory.max", "memory.current");
    char path[PATH_LENGTH];
    char text[TEXT_LENGTH];
    int64_t quota_us;
    int64_t period_us;
    int length = snprintf(path, sizeof path, "%s/cpu.max", directory);
    if (length > 0 && (size_t)length < sizeof path && read_text(path, text) &&
        sscanf(text, "%" SCNd64 " %" SCNd64, &quota_us, &period_us) == 2) {
        take_quota(limits, quota_us, period_us);
    }
}

/* Where a hierarchy may be mounted, what it is called in /proc/self/cgroup, and its files. */
static const struct {
    const char *controller, *place;
    void (*read)(struct limits *limits, const char *directory);
} hierarchies[] = {
    {"memory", "/memory", read_memory_v1},
    {"cpu", "/cpu", read_processors_v1},
    {"", "", read_both_v2},
    {"", "/unified", read_both_v2},
};

/* The hierarchy of version 2 has an empty list. */
static bool has_controller(const char *list, size_t length, const char *controller)
{
    size_t wanted = strlen(controller);
    if (wanted == 0) {
        return length == 0;
    }
    while (length > 0) {
        const char *comma = memchr(list, ',', length);
        size_t word = comma != NULL ? (size_t)(comma - list) : length;
        if (word == wanted && memcmp(list, controller, wanted) == 0) {
            return true;
        }
        size_t step = comma != NULL ? word + 1 : word;
        list += step;
        length -= step;
    }
    return false;
}

/* A group obeys the limits of all groups above it. Inside a container the path may be that of the
 * host, which is not there; the topmost directory is the container's own then. */
static void climb(struct limits *limits, size_t hierarchy, const char *mount, const char *path,
                  size_t length)
{
    for (;;) {
        char directory[PATH_LENGTH];
        int size = snprintf(directory, sizeof directory, "%s%s%.*s", mount,
                            hierarchies[hierarchy].place, (int)length, path);
        if (size > 0 && (size_t)size < sizeof directory) {
            hierarchies[hierarchy].read(limits, directory);
        }
        if (length == 0) {
            return;
        }
        while (length > 0 && path[length - 1] != '/') {
            length--;
        }
        length -= length > 0;
    }
}

void limits_read_groups(struct limits *limits, const char *groups, const char *mount)
{
    /* NUMBER:CONTROLLER,CONTROLLER:PATH, a line each */
    while (*groups != '\0') {
        size_t line = strcspn(groups, "\n");
        const char *list = memchr(groups, ':', line);
        const char *path =
            list != NULL ? memchr(list + 1, ':', line - (size_t)(list + 1 - groups)) : NULL;
        for (size_t i = 0; path != NULL && i < sizeof hierarchies / sizeof hierarchies[0]; i++) {
            if (has_controller(list + 1, (size_t)(path - list - 1), hierarchies[i].controller)) {
                climb(limits, i, mount, path + 1, line - (size_t)(path + 1 - groups));
            }
        }
        groups += line + (groups[line] == '\n');
    }
}

/* What the machine could still give without swapping; 0: it does not say. */
static uint64_t machine_left_bytes(void)
{
    char text[TEXT_LENGTH];
    uint64_t kib = 0;
    const char *line = read_text("/proc/meminfo", text) ? strstr(text, "MemAvailable:") : NULL;
    return line != NULL && sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1 ? kib * KIB : 0;
}

void limits_read(struct limits *limits)
{
    cpu_set_t affinity;
    char groups[TEXT_LENGTH];
    *limits = (struct limits){.memory_left_bytes = machine_left_bytes()};
    limits->processors = sched_getaffinity(0, sizeof affinity, &affinity) == 0
                             ? (uint32_t)CPU_COUNT(&affinity)
                             : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (read_text("/proc/self/cgroup", groups)) {
        limits_read_groups(limits, groups, "/sys/fs/cgroup");
    }
}

void limits_raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}
