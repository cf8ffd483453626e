#include "cli/environment.h"

#include "base/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define STEAL_LIMIT_PERCENT 1.0

/* The value of the first line of /proc/cpuinfo that names the processor. */
static void read_cpu_name(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name, size, "%s", colon + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* user nice system idle iowait irq softirq steal */
static void read_clock(struct environment_clock *clock)
{
    uint64_t ticks[8] = {0};
    *clock = (struct environment_clock){0};
    FILE *file = fopen("/proc/stat", "re");
    if (file == NULL) {
        return;
    }
    int fields = fscanf(file,
                        "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                        " %" SCNu64 " %" SCNu64,
                        &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6],
                        &ticks[7]);
    fclose(file);
    clock->known = fields == 8;
    clock->steal_ticks = ticks[7];
    for (size_t i = 0; i < 8; i++) {
        clock->total_ticks += ticks[i];
    }
}

static double load_average(void)
{
    double load = 0;
    return getloadavg(&load, 1) == 1 ? load : 0;
}

void environment_begin(struct conditions *conditions, struct environment_clock *clock)
{
    struct limits limits;
    struct utsname system;
    time_t now = time(NULL);
    struct tm utc;
    gethostname(conditions->host_name, sizeof conditions->host_name - 1);
    if (uname(&system) == 0) {
        snprintf(conditions->kernel, sizeof conditions->kernel, "%s %s", system.sysname,
                 system.release);
        snprintf(conditions->machine, sizeof conditions->machine, "%s", system.machine);
    }
    read_cpu_name(conditions->cpu, sizeof conditions->cpu);
    conditions->cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    limits_read(&limits);
    conditions->cpus_allowed = limits.processors;
    conditions->cpu_quota_percent = (uint32_t)ceil(100 * limits.processor_quota);
    conditions->memory_limit_bytes = limits.memory_bytes;
    if (gmtime_r(&now, &utc) != NULL) {
        strftime(conditions->started, sizeof conditions->started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    conditions->load_before = load_average();
    conditions->steal_percent = -1;
    read_clock(clock);
}

/* One of them, the gravest first: each alone makes the figures doubtful. */
static void set_warning(struct conditions *conditions)
{
    size_t size = sizeof conditions->warning;
    if (conditions->steal_percent > STEAL_LIMIT_PERCENT) {
        snprintf(conditions->warning, size,
                 "%.1f %% of the CPU time was stolen by the hypervisor during the run: the figures "
                 "may be low",
                 conditions->steal_percent);
    } else if (conditions->load_before > (double)conditions->cpu_count) {
        snprintf(conditions->warning, size,
                 "the machine was loaded when the run began (load %.1f on %" PRIu32
                 " CPUs): the figures may be low",
                 conditions->load_before, conditions->cpu_count);
    } else if (conditions->cpu_quota_percent > 0 &&
               conditions->cpu_quota_percent < 100 * conditions->cpus_allowed) {
        snprintf(conditions->warning, size,
                 "this process gets %" PRIu32
                 " %% of one processor (a control group's quota, %" PRIu32
                 " allowed): the figures may be low",
                 conditions->cpu_quota_percent, conditions->cpus_allowed);
    }
}

void environment_end(struct conditions *conditions, const struct environment_clock *clock)
{
    struct environment_clock now;
    read_clock(&now);
    conditions->load_after = load_average();
    if (now.known && clock->known && now.total_ticks > clock->total_ticks) {
        conditions->steal_percent = 100.0 * (double)(now.steal_ticks - clock->steal_ticks) /
                                    (double)(now.total_ticks - clock->total_ticks);
    }
    set_warning(conditions);
}
