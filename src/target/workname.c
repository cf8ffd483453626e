#include "target/workname.h"

#include "base/clock.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FORM        "afpbench-%08x-%06x-%06x"
#define NUMBER_MASK 0xFFFFFFU

/* FNV-1a of the host's name: tells our own host's directories from others'. */
static uint32_t host_mark(void)
{
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    uint32_t hash = 2166136261U;
    for (const char *at = name; *at != '\0'; at++) {
        hash = (hash ^ (uint8_t)*at) * 16777619U;
    }
    return hash;
}

void workname_make(char name[WORKNAME_LENGTH])
{
    /* The clock, not chance: a run may have hundreds of sessions, and opens them one by one. */
    unsigned number = (unsigned)(clock_now_ns() / NS_PER_US) & NUMBER_MASK;
    snprintf(name, WORKNAME_LENGTH, FORM, host_mark(), (unsigned)getpid(), number);
}

/* Whether the process is there, is no zombie, and is a program of our name. */
static bool runs_still(unsigned process)
{
    char path[32];
    char theirs[32] = "";
    char ours[32] = "";
    char state = 'X';
    snprintf(path, sizeof path, "/proc/%u/stat", process);
    FILE *stat = fopen(path, "re");
    if (stat == NULL) {
        return false;
    }
    int fields = fscanf(stat, "%*d (%31[^)]) %c", theirs, &state);
    fclose(stat);
    prctl(PR_GET_NAME, ours);
    return fields == 2 && strcmp(theirs, ours) == 0 && state != 'Z' && state != 'X';
}

bool workname_is_ours(const char *name, const char **reason)
{
    unsigned host;
    unsigned process;
    unsigned number;
    char again[WORKNAME_LENGTH];
    *reason = NULL;
    if (sscanf(name, FORM, &host, &process, &number) != 3) {
        return false;
    }
    snprintf(again, sizeof again, FORM, host, process, number & NUMBER_MASK);
    if (host != host_mark()) {
        *reason = "made on another host; clean up there";
    } else if (runs_still(process)) {
        *reason = "its run is still going";
    }
    return strcmp(again, name) == 0;
}
