#include "tools/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void progress_start(struct progress *progress)
{
    *progress = (struct progress){.enabled = isatty(STDERR_FILENO) != 0};
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
