#include "cli/progress.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_LENGTH   400
#define USUAL_COLUMNS 80 /* of a terminal that does not say */

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

/* "" as long as nothing is known. */
static void estimate_text(const struct progress *progress, char *text, size_t size)
{
    text[0] = '\0';
    if (progress->done == 0 || progress->planned <= progress->done) {
        return;
    }
    double elapsed_s = (double)(clock_now_ns() - progress->begin_ns) / (double)NS_PER_S;
    double left = (double)(progress->planned - progress->done) / (double)progress->done;
    snprintf(text, size, " (%.0f %% done, about %.0f s left)",
             100.0 * (double)progress->done / (double)progress->planned, elapsed_s * left);
}

/* The last column stays free: some terminals wrap when it is written to. */
static size_t most_characters(void)
{
    struct winsize window;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
    return known ? window.ws_col - 1U : USUAL_COLUMNS - 1U;
}

void progress_show(struct progress *progress, const char *format, ...)
{
    char text[LINE_LENGTH];
    char estimate[80];
    if (!progress->enabled) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    estimate_text(progress, estimate, sizeof estimate);
    strncat(text, estimate, sizeof text - strlen(text) - 1);
    progress_clear(progress);
    progress->shown = strnlen(text, most_characters());
    fprintf(stderr, "%.*s", (int)progress->shown, text);
    fflush(stderr);
}

void progress_clear(struct progress *progress)
{
    if (progress->shown > 0) {
        fprintf(stderr, "\r%*s\r", (int)progress->shown, "");
        fflush(stderr);
        progress->shown = 0;
    }
}
