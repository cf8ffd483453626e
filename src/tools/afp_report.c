/* afp_report - stored results against each other. */
#include "base/claim.h"
#include "base/whole_file.h"
#include "cli/options.h"
#include "cli/process_guard.h"
#include "report/comparison_format.h"
#include "report/comparison_report.h"
#include "report/read_result.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESULT_LIMIT 2

struct settings {
    const char *results[RESULT_LIMIT];
    size_t result_count;
    struct comparison_gates gates;
    const struct comparison_format *format;
    const char *output; /* NULL or "-": stdout */
    bool compare;
    bool force;
};

/* ---- The command line ---- */

static bool add_result(void *context, const char *word, struct error *error)
{
    struct settings *settings = context;
    if (settings->result_count == RESULT_LIMIT) {
        return error_set(error, ERROR_USAGE, 0, "'%s' is one result too many: --compare takes two",
                         word);
    }
    settings->results[settings->result_count++] = word;
    return true;
}

static bool add_gates(void *context, const struct option_row *row, const char *value,
                      struct error *error)
{
    return comparison_gates_parse(value, &((struct settings *)context)->gates, error) ||
           error_prefix(error, "--fail-if");
}

static bool set_format(void *context, const struct option_row *row, const char *value,
                       struct error *error)
{
    struct settings *settings = context;
    settings->format = comparison_format_by_name(value);
    return settings->format != NULL ||
           error_set(error, ERROR_USAGE, 0, "--format '%s' is none of %s", value,
                     comparison_format_names());
}

#define FIELD(name) .offset = offsetof(struct settings, name)

static const struct option_row rows[] = {
    {0, "compare", NULL, "compare the second result with the first", OPTION_FLAG, FIELD(compare),
     .group = "What is done"},
    {0, "force", NULL, "compare although conditions differ", OPTION_FLAG, FIELD(force)},
    {0, "fail-if", "EXPR", "exit 1 if a case is so: 'slower>5%', 'slower,faster>50%'", OPTION_CALL,
     .call = add_gates},

    {0, "format", "NAME", "how it is written", OPTION_CALL, .call = set_format,
     .words = "text,markdown,junit", .fallback = "text", .group = "What is written"},
    {'o', "output", "FILE", "write there, not to stdout", OPTION_TEXT, FIELD(output)},
};

static const char *const remedies[REMEDIES] = {
    [REMEDY_SAME_TESTS] = ": measure both with the same -f and -d or -z",
    [REMEDY_RESULT] = ": expected the JSON of afp_speedtest -j, or the CSV of afp_speedtest -c "
                      "(ours or Netatalk's)",
};

static const struct option_program program = {
    .name = "afp_report",
    .purpose = "compare stored results of AFP benchmarks",
    .usage = "--compare A B [OPTION]...",
    .closing = "A and B are JSON of afp_speedtest -j, or CSV of afp_speedtest -c, ours or\n"
               "Netatalk's.\n\n"
               "Example: afp_report --compare before.json after.json --fail-if 'slower>5%'\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .word = add_result,
    .words = OPTION_WORDS_FILES,
    .remedies = remedies,
};

static bool parse(struct settings *settings, int argc, char **argv, enum options_outcome *outcome,
                  struct error *error)
{
    *settings = (struct settings){.format = comparison_format_by_name("text")};
    if (!options_parse(&program, argc, argv, settings, outcome, error)) {
        return false;
    }
    if (*outcome == OPTIONS_PRINTED) {
        return true;
    }
    if (!settings->compare) {
        return error_set(error, ERROR_USAGE, 0, "nothing to do: give --compare and two results");
    }
    return settings->result_count == RESULT_LIMIT ||
           error_set(error, ERROR_USAGE, 0, "--compare takes two results, not %zu",
                     settings->result_count);
}

/* ---- Messages ---- */

/* Names and texts of files may hold anything. */
static void warn_of_result(const char *name, const struct stored_result *result)
{
    if (!result->has_conditions) {
        fprintf(stderr, "%s: warning: ", program.name);
        escape_write(stderr, ESCAPE_PLAIN, name);
        fputs(" is CSV and carries no conditions: see yourself that they agree\n", stderr);
    }
    if (result->incomplete) {
        fprintf(stderr, "%s: warning: ", program.name);
        escape_write(stderr, ESCAPE_PLAIN, name);
        fputs(" is incomplete", stderr);
        if (result->why_incomplete != NULL) {
            fputs(" (", stderr);
            escape_write(stderr, ESCAPE_PLAIN, result->why_incomplete);
            fputc(')', stderr);
        }
        fputs(": only what both results have is compared\n", stderr);
    }
    if (result->warning != NULL) {
        fprintf(stderr, "%s: warning: ", program.name);
        escape_write(stderr, ESCAPE_PLAIN, name);
        fputs(": ", stderr);
        escape_write(stderr, ESCAPE_PLAIN, result->warning);
        fputc('\n', stderr);
    }
}

static void name_differences(const struct comparison_report *report, bool forced)
{
    for (size_t i = 0; i < report->difference_count; i++) {
        fprintf(stderr, "%s: %s", program.name, forced ? "warning: " : "");
        comparison_write_difference(stderr, ESCAPE_PLAIN, &report->differences[i]);
        fputc('\n', stderr);
    }
}

static void name_failed_cases(const struct comparison_report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        const struct comparison_row *row = &report->rows[i];
        char name[COMPARISON_NAME_LENGTH];
        if (row->failed_gate != NULL) {
            fprintf(stderr, "%s: %s fails '%s': its time is %.3f times that of A\n", program.name,
                    comparison_row_name(row, name), row->failed_gate->text, row->figures.ratio);
        }
    }
}

/* ---- Output ---- */

static bool to_stdout(const struct settings *settings)
{
    return settings->output == NULL || strcmp(settings->output, "-") == 0;
}

static bool write_report(const struct settings *settings, const struct comparison_report *report,
                         struct error *error)
{
    struct whole_file file;
    if (to_stdout(settings)) {
        bool ok = comparison_write(settings->format, stdout, report, error);
        return (ok && fclose(stdout) == 0) ||
               (ok ? error_set_errno(error, errno, "cannot write to stdout")
                   : error_prefix(error, "stdout"));
    }
    if (!whole_file_begin(&file, settings->output, error)) {
        return false;
    }
    bool ok = comparison_write(settings->format, file.out, report, error) ||
              error_prefix(error, "%s", settings->output);
    return whole_file_end(&file, ok, error);
}

/* ---- Comparing ---- */

static int finish(const struct settings *settings, const struct comparison_report *report)
{
    struct error error;
    name_differences(report, settings->force);
    if (report->difference_count > 0 && !settings->force) {
        error_set(&error, ERROR_CONTENT, 0,
                  "the conditions differ, so the results do not compare; --force does it anyway");
        return options_report(&program, &error, EXIT_CANNOT_RUN);
    }
    if (!write_report(settings, report, &error)) {
        return options_report(&program, &error, EXIT_CANNOT_RUN);
    }
    name_failed_cases(report);
    return report->failed_count > 0 ? EXIT_TEST_FAILED : EXIT_DONE;
}

static int compare(const struct settings *settings)
{
    const char *const *names = settings->results;
    struct stored_result results[RESULT_LIMIT] = {0};
    struct comparison_report report = {0};
    struct error error;
    int status = EXIT_DONE;
    bool ok = true;
    for (size_t i = 0; ok && i < RESULT_LIMIT; i++) {
        ok = read_result_file(names[i], &results[i], &error);
    }
    for (size_t i = 0; ok && i < RESULT_LIMIT; i++) {
        warn_of_result(names[i], &results[i]);
    }
    ok = ok && comparison_report_make(&report, names[0], &results[0], names[1], &results[1],
                                      &settings->gates, COMPARISON_NOISE_FLOOR, &error);
    status = ok ? finish(settings, &report) : options_report(&program, &error, EXIT_CANNOT_RUN);
    comparison_report_release(&report);
    stored_result_release(&results[0]);
    stored_result_release(&results[1]);
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct error error;
    enum options_outcome outcome;
    process_guard();
    if (!parse(&settings, argc, argv, &outcome, &error)) {
        return options_report(&program, &error, EXIT_TEST_FAILED);
    }
    if (outcome == OPTIONS_PRINTED) {
        return EXIT_DONE;
    }
    /* Before anything is read: results may be large, or on their way through a pipe. */
    struct claim claim = {.file = -1};
    if (!to_stdout(&settings) && !claim_take(&claim, settings.output, &error)) {
        return options_report(&program, &error, EXIT_CANNOT_RUN);
    }
    int status = compare(&settings);
    claim_give_back(&claim);
    return status;
}
