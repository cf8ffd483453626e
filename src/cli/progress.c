#include "cli/progress.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void progress_start(struct progress *progress)
{
    *progress = (struct progress){.enabled = isatty(STDERR_FILENO) != 0};
}

void progress_plan(struct progress *progress, uint64_t planned_bytes)
{
    progress->planned = planned_bytes;
    progress->done = 0;
    progress->begin_ns = clock_now_ns();
}

void progress_done(struct progress *progress, uint64_t bytes)
{
    progress->done += bytes;
}

static void show_estimate(const struct progress *progress)
{
    if (progress->done == 0 || progress->planned <= progress->done) {
        return;
    }
    double elapsed_s = (double)(clock_now_ns() - progress->begin_ns) / (double)NS_PER_S;
    double left = (double)(progress->planned - progress->done) / (double)progress->done;
    fprintf(stderr, " (%.0f %% done, about %.0f s left)",
            100.0 * (double)progress->done / (double)progress->planned, elapsed_s * left);
}

void progress_show(struct progress *progress, const char *format, ...)
{
    if (!progress->enabled) {
        return;
    }
    progress_clear(progress);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    show_estimate(progress);
    fflush(stderr);
    progress->shown = true;
}

void progress_clear(struct progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        progress->shown = false;
    }
}
