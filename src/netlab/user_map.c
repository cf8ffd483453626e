#include "netlab/user_map.h"

#include "base/child.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is different for users and for groups. */
struct kind {
    const char *map;     /* in /proc/PID */
    const char *ranges;  /* who may use which */
    const char *program; /* that maps them for ordinary users */
};
static const struct kind user_kind = {"uid_map", "/etc/subuid", "newuidmap"};
static const struct kind group_kind = {"gid_map", "/etc/subgid", "newgidmap"};

#define MAP_TEXT 4096

/* ---- Text ---- */

bool user_map_identity(const char *own, char *map, size_t size, uint64_t *count)
{
    size_t used = 0;
    *count = 0;
    while (*own != '\0') {
        uint64_t inside;
        uint64_t outside;
        uint64_t length;
        int line_length = 0;
        if (sscanf(own, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &inside, &outside, &length,
                   &line_length) != 3) {
            return false;
        }
        int written = snprintf(map + used, size - used, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                               inside, inside, length);
        if (written < 0 || (size_t)written >= size - used) {
            return false;
        }
        used += (size_t)written;
        *count += length;
        own += line_length;
    }
    return used > 0;
}

bool user_map_range(const char *line, const char *name, uid_t uid, uint64_t *first, uint64_t *count)
{
    char copy[256];
    char number[16];
    struct error unused;
    snprintf(copy, sizeof copy, "%s", line);
    copy[strcspn(copy, "\n")] = '\0';
    snprintf(number, sizeof number, "%u", (unsigned)uid);
    char *rest = copy;
    const char *owner = strsep(&rest, ":");
    const char *first_text = strsep(&rest, ":");
    return rest != NULL && (strcmp(owner, name) == 0 || strcmp(owner, number) == 0) &&
           parse_unsigned(first_text, "range", 1, UINT32_MAX, first, &unused) &&
           parse_unsigned(rest, "range", USER_MAP_RANGE_LEAST, UINT32_MAX, count, &unused);
}

/* ---- Files ---- */

static bool write_file(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    bool done = write(file, text, strlen(text)) == (ssize_t)strlen(text);
    int cause = errno;
    close(file);
    errno = cause;
    return done;
}

static bool write_process_file(pid_t process, const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)process, name);
    return write_file(path, text);
}

/* ---- All of the parent's users ---- */

static bool read_own(const struct kind *kind, char map[MAP_TEXT], uint64_t *count)
{
    char path[64];
    char own[MAP_TEXT] = "";
    snprintf(path, sizeof path, "/proc/self/%s", kind->map);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    ssize_t got = read(file, own, sizeof own - 1);
    close(file);
    return got > 0 && user_map_identity(own, map, MAP_TEXT, count);
}

enum supervisor_users user_map_own(void)
{
    char map[MAP_TEXT];
    uint64_t users = 0;
    uint64_t groups = 0;
    bool all = read_own(&user_kind, map, &users) && read_own(&group_kind, map, &groups) &&
               users > USER_MAP_RANGE_LEAST && groups > USER_MAP_RANGE_LEAST;
    return all ? SUPERVISOR_ALL_USERS : SUPERVISOR_ONE_USER;
}

static bool map_all(pid_t process, const struct kind *kind)
{
    char map[MAP_TEXT];
    uint64_t count;
    return read_own(kind, map, &count) && write_process_file(process, kind->map, map);
}

/* ---- A range ---- */

static bool find_range(const struct kind *kind, uint64_t *first, uint64_t *count)
{
    const struct passwd *user = getpwuid(getuid());
    const char *name = user != NULL ? user->pw_name : ":"; /* no name holds a colon */
    FILE *file = fopen(kind->ranges, "re");
    if (file == NULL) {
        return false;
    }
    char line[256];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        found = user_map_range(line, name, getuid(), first, count);
    }
    fclose(file);
    return found;
}

/* Its messages are dropped: without a range there is another way. */
static bool run_quietly(char *const *arguments)
{
    static const int nowhere[] = {-1, -1, -1};
    const struct child_program program = {
        .arguments = arguments, .descriptors = nowhere, .descriptor_count = 3};
    const struct child_watch watch = {.name = arguments[0]};
    struct error unused;
    int status = 0;
    return child_run(&program, &watch, &status, &unused) && status == 0;
}

/* The caller becomes 0 inside, the range of /etc/subuid (subgid) everything from 1 on. */
static bool map_range(pid_t process, const struct kind *kind, unsigned own)
{
    uint64_t first;
    uint64_t count;
    if (!find_range(kind, &first, &count)) {
        return false;
    }
    char process_text[24];
    char own_text[24];
    char first_text[24];
    char count_text[24];
    snprintf(process_text, sizeof process_text, "%ld", (long)process);
    snprintf(own_text, sizeof own_text, "%u", own);
    snprintf(first_text, sizeof first_text, "%" PRIu64, first);
    snprintf(count_text, sizeof count_text, "%" PRIu64, count);
    char program[16];
    char zero[] = "0";
    char one[] = "1";
    char one_each[] = "1";
    snprintf(program, sizeof program, "%s", kind->program);
    char *const arguments[] = {program,  process_text, zero,       own_text, one,
                               one_each, first_text,   count_text, NULL};
    return run_quietly(arguments);
}

/* ---- One user ---- */

static bool map_one(pid_t process, const struct kind *kind, unsigned own)
{
    char map[32];
    snprintf(map, sizeof map, "0 %u 1\n", own);
    return write_process_file(process, kind->map, map);
}

bool user_map_write(pid_t process, enum supervisor_users *users, struct error *error)
{
    if (geteuid() == 0 && map_all(process, &group_kind) && map_all(process, &user_kind)) {
        *users = user_map_own();
        return true;
    }
    bool groups = map_range(process, &group_kind, getegid());
    bool both = groups && map_range(process, &user_kind, geteuid());
    if (both) {
        *users = SUPERVISOR_USER_RANGE;
        return true;
    }
    *users = SUPERVISOR_ONE_USER;
    /* An ordinary user may map the own group only once no other can be dropped. */
    if (!groups && (!write_process_file(process, "setgroups", "deny") ||
                    !map_one(process, &group_kind, getegid()))) {
        return error_set_errno(error, errno, "cannot map the group of the run's user namespace");
    }
    return map_one(process, &user_kind, geteuid()) ||
           error_set_errno(error, errno, "cannot map the user of the run's user namespace");
}
