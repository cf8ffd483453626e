#include "target/workname.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FORM        "afpbench-%08x-%06x-%06x"
#define NUMBER_MASK 0xFFFFFFU

/* FNV-1a, so that what comes before counts too. */
static uint32_t hash_text(uint32_t hash, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        hash = (hash ^ (uint8_t)*at) * 16777619U;
    }
    return hash;
}

/* The boot and the PID namespace that this process runs in: inside them, and only there, a process
 * number says whether a process is gone. Hosts share names, containers share hosts. False: unknown,
 * so nothing can be proven. */
static bool own_place(uint32_t *place)
{
    char boot[64] = "";
    char space[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file == NULL) {
        return false;
    }
    bool read = fgets(boot, sizeof boot, file) != NULL;
    fclose(file);
    if (!read || readlink("/proc/self/ns/pid", space, sizeof space - 1) <= 0) {
        return false;
    }
    *place = hash_text(hash_text(2166136261U, boot), space);
    return true;
}

void workname_make(char name[WORKNAME_LENGTH])
{
    /* The clock, not chance: a run may have hundreds of sessions, and opens them one by one. */
    unsigned number = (unsigned)(clock_now_ns() / NS_PER_US) & NUMBER_MASK;
    uint32_t place;
    if (!own_place(&place)) {
        place = (uint32_t)(clock_now_ns() * 2654435761U); /* nobody's */
    }
    snprintf(name, WORKNAME_LENGTH, FORM, place, (unsigned)getpid(), number);
}

/* A killed process whose parent has not asked for it yet. Only told by a /proc of our own
 * namespace; any other would speak of somebody else's process. */
static bool is_zombie(pid_t process)
{
    char own[16] = "";
    int shown;
    char path[32];
    char state = 'R';
    if (readlink("/proc/self", own, sizeof own - 1) <= 0 ||
        (sscanf(own, "%d", &shown) != 1 || shown != getpid())) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *stat = fopen(path, "re");
    if (stat == NULL) {
        return false;
    }
    int fields = fscanf(stat, "%*d (%*[^)]) %c", &state);
    fclose(stat);
    return fields == 1 && (state == 'Z' || state == 'X');
}

/* Not by the program's name: it may have been renamed, or run under a debugger. */
static bool is_gone(unsigned process)
{
    pid_t id = (pid_t)process;
    return (kill(id, 0) < 0 && errno == ESRCH) || is_zombie(id);
}

bool workname_is_ours(const char *name, const char **reason)
{
    unsigned place;
    unsigned process;
    unsigned number;
    uint32_t ours;
    char again[WORKNAME_LENGTH];
    *reason = NULL;
    if (sscanf(name, FORM, &place, &process, &number) != 3) {
        return false;
    }
    snprintf(again, sizeof again, FORM, place, process, number & NUMBER_MASK);
    if (!own_place(&ours) || place != ours || process == 0) {
        *reason = "made on another machine, in another container or before this boot: its run may "
                  "still be going";
    } else if (!is_gone(process)) {
        *reason = "its run, or another process of the same number, is still there";
    }
    return strcmp(again, name) == 0;
}
