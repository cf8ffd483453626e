#include "harness/plot.h"

#include "base/memory.h"
#include "cli/gnuplot.h"
#include "harness/figures.h"
#include "harness/files.h"
#include "harness/write_csv.h"
#include "report/plot_speedtest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define LINE_LENGTH 400

/* A script's texts and what it shows. */
struct drawing {
    char title[LINE_LENGTH], conditions[LINE_LENGTH], picture[HARNESS_TEXT_LENGTH + 8];
    struct plot_lines lines;
    struct plot_speedtest plot;
};

/* ---- Texts ---- */

static void append(char text[LINE_LENGTH], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(char text[LINE_LENGTH], const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, LINE_LENGTH - length, format, arguments);
    va_end(arguments);
}

/* "AFP3.4" is 3.4 behind "AFP: ". */
static const char *version_number(const char *version)
{
    bool bare = strncmp(version, "AFP", 3) == 0 && version[3] >= '0' && version[3] <= '9';
    return bare ? version + 3 : version;
}

static void write_title(char text[LINE_LENGTH], const struct harness_result *result)
{
    char label[HARNESS_LABEL_LENGTH];
    append(text, "AFP throughput against file size: %s over ", result->server);
    if (!result->counted) {
        append(text, "the network that is there");
    } else if (result->shaped) {
        append(text, "%s, %s one way, MTU %" PRIu32, harness_rate_label(result, label),
               result->delay, result->link.mtu);
    } else {
        append(text, "a link without a shape, MTU %" PRIu32, result->link.mtu);
    }
    append(text, "%s", harness_flags(result));
}

/* What makes it comparable; what was left at its default is left out at the end. */
static void write_conditions(char text[LINE_LENGTH], const struct harness_result *result,
                             const char *version)
{
    char label[HARNESS_LABEL_LENGTH];
    char kib[PLOT_SIZE_LENGTH];
    append(text, "Iterations: %" PRIu32 " +%" PRIu32 " warmup · Ops: %s", result->iterations,
           result->warmups, result->tests);
    if (version != NULL) {
        append(text, " · AFP: %s", version_number(version));
    }
    if (result->quantum_offered_bytes > 0) {
        append(text, " · Quantum: %s KiB", plot_kib(result->quantum_offered_bytes, kib));
    }
    if (result->shaped) {
        append(text, " · Rate: %s · Delay: %s", harness_rate_label(result, label), result->delay);
    }
    if (result->outstanding > 1) {
        append(text, " · Outstanding: %" PRIu32, result->outstanding);
    }
    if (result->read_ahead_asked > 0) {
        append(text, " · Read-ahead: %" PRIu32, result->read_ahead_asked);
    }
    if (strcmp(result->jitter, "0") != 0) {
        append(text, " · Jitter: %s", result->jitter);
    }
    if (strcmp(result->loss, "0") != 0) {
        append(text, " · Loss: %s", result->loss);
    }
    if (harness_spoiled_runs(result) > 0) {
        append(text, " · Spoiled: %zu", harness_spoiled_runs(result));
    }
}

/* ---- What is drawn ---- */

/* The CSV as text in memory; NULL with an error. */
static char *csv_text(const struct harness_result *result, const char *name, struct error *error)
{
    int file = memfd_create("csv", MFD_CLOEXEC);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    char *text = NULL;
    if (out == NULL) {
        error_set_errno(error, errno, "cannot keep %s", name);
    } else if (harness_write_csv(out, result, error)) {
        fflush(out);
        text = harness_read_file(file, name, error);
    }
    if (out != NULL) {
        fclose(out);
    }
    return text;
}

/* Without a document the CSV tells the runs, as the test program rounded them. */
static bool read_runs(const struct harness_result *result, struct stored_result *stored,
                      struct error *error)
{
    char name[HARNESS_TEXT_LENGTH + 8];
    bool documented = result->document != NULL;
    snprintf(name, sizeof name, "%s.%s", result->name, documented ? "json" : "csv");
    if (documented) {
        return read_result_document(result->document, stored, error) ||
               error_prefix(error, "%s", name);
    }
    char *text = csv_text(result, name, error);
    bool ok = text != NULL && read_result_buffer(name, text, strlen(text), stored, error);
    memory_release(text);
    return ok;
}

/* ---- Files ---- */

static bool write_script(FILE *out, const void *context, struct error *error)
{
    const struct drawing *drawing = context;
    plot_speedtest_write(out, &drawing->plot);
    return true;
}

static bool write_plot(struct drawing *drawing, const char *directory,
                       const struct harness_result *result, struct error *error)
{
    drawing->plot = (struct plot_speedtest){.picture = drawing->picture,
                                            .title = drawing->title,
                                            .conditions = drawing->conditions,
                                            .quantum_bytes = result->quantum_offered_bytes,
                                            .lines = &drawing->lines};
    write_title(drawing->title, result);
    snprintf(drawing->picture, sizeof drawing->picture, "%s" PLOTTING_PICTURE_SUFFIX, result->name);
    return harness_file_write(directory, result->name, PLOTTING_SCRIPT_SUFFIX, write_script,
                              drawing, error);
}

bool harness_draw(const char *directory, struct harness_result *result, const char *gnuplot,
                  const struct interrupt *interrupt, struct error *error)
{
    struct drawing drawing = {.lines = {.count = 0}};
    struct stored_result stored = {.case_count = 0};
    if (result->size_count == 0 || !result->sizes[0].complete) {
        return true;
    }
    bool ok = read_runs(result, &stored, error) && plot_lines_read(&drawing.lines, &stored, error);
    if (ok && drawing.lines.count > 0) {
        write_conditions(drawing.conditions, result, stored.conditions[STORED_AFP_VERSION]);
        ok = write_plot(&drawing, directory, result, error);
        if (ok && gnuplot != NULL) {
            ok = plotting_draw(gnuplot, directory, result->name, interrupt, error);
            result->drawn = ok;
        }
    }
    plot_lines_release(&drawing.lines);
    stored_result_release(&stored);
    return ok;
}
