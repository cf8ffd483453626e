/* afp_report - stored results against each other. */
#include "base/claim.h"
#include "base/memory.h"
#include "base/whole_file.h"
#include "cli/options.h"
#include "cli/process_guard.h"
#include "report/comparison_format.h"
#include "report/comparison_report.h"
#include "report/read_set.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    const char **words; /* files and directories: those of A, then those of B */
    size_t word_count;
    size_t before_count; /* of A; 0: nothing separates them */
    struct comparison_gates gates;
    const struct comparison_format *format;
    const char *output; /* NULL or "-": stdout */
    bool compare;
    bool force;
    bool accept_drift;
    bool undecided_passes;
};

/* ---- The command line ---- */

/* Stands for "--" among the words: getopt would lose its place, and take what follows for words. */
static char separator[] = "";

static void keep_separator(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            argv[i] = separator;
            return;
        }
    }
}

static bool add_word(void *context, const char *word, struct error *error)
{
    struct settings *settings = context;
    if (word != separator) {
        settings->words[settings->word_count++] = word;
        return true;
    }
    settings->before_count = settings->word_count;
    return settings->word_count > 0 ||
           error_set(error, ERROR_USAGE, 0, "no result stands before --");
}

static bool set_undecided(void *context, const struct option_row *row, const char *value,
                          struct error *error)
{
    ((struct settings *)context)->undecided_passes = true;
    return strcmp(value, "pass") == 0 ||
           error_set(error, ERROR_USAGE, 0, "--undecided '%s' is not pass", value);
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
    {0, "compare", NULL, "compare the results after -- with those before it", OPTION_FLAG,
     FIELD(compare), .group = "What is done"},
    {0, "force", NULL, "compare although conditions differ", OPTION_FLAG, FIELD(force)},
    {0, "fail-if", "EXPR", "exit 1 if a case is so, 2 if that is not decided: 'slower>5%'",
     OPTION_CALL, .call = add_gates},
    {0, "undecided", "WORD", "exit 0, not 2, where a gate is not decided", OPTION_CALL,
     .call = set_undecided, .words = "pass"},
    {0, "accept-drift", NULL, "let results measured one after the other decide gates", OPTION_FLAG,
     FIELD(accept_drift)},

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
    .usage = "--compare A... -- B... [OPTION]...",
    .closing = "A and B are JSON of afp_speedtest -j, CSV of afp_speedtest -c, ours or\n"
               "Netatalk's, or directories of JSON. Two files need no --; one alone holds\n"
               "pairs.\n\n"
               "Example: afp_report --compare old -- new --fail-if 'slower>10%'\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .word = add_word,
    .words = OPTION_WORDS_FILES,
    .remedies = remedies,
};

static bool parse(struct settings *settings, int argc, char **argv, enum options_outcome *outcome,
                  struct error *error)
{
    *settings = (struct settings){
        .format = comparison_format_by_name("text"),
        .words = memory_allocate((size_t)argc + 1, sizeof *settings->words),
    };
    if (settings->words == NULL) {
        return memory_error(error, "for the command line");
    }
    keep_separator(argc, argv);
    if (!options_parse(&program, argc, argv, settings, outcome, error)) {
        return false;
    }
    if (*outcome == OPTIONS_PRINTED) {
        return true;
    }
    if (!settings->compare) {
        return error_set(error, ERROR_USAGE, 0, "nothing to do: give --compare and results");
    }
    if (settings->before_count == 0 && settings->word_count == 2) {
        settings->before_count = 1;
    }
    bool alone = settings->before_count == 0 && settings->word_count == 1;
    return alone || (settings->before_count > 0 && settings->before_count < settings->word_count) ||
           error_set(error, ERROR_USAGE, 0,
                     "--compare takes two results, or A... -- B..., or a file of pairs, not %zu",
                     settings->word_count);
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

static void name_gates(const struct comparison_report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        const struct comparison_row *row = &report->rows[i];
        char name[COMPARISON_NAME_LENGTH];
        if (row->gate != NULL && row->outcome != GATE_PASSED) {
            fprintf(stderr, "%s: %s, '%s': %s\n", program.name, comparison_row_name(row, name),
                    row->gate->text, row->reason);
        }
    }
}

static void name_doubts(const struct comparison_report *report)
{
    char text[VERDICT_TEXT_LENGTH];
    for (size_t i = 0; comparison_doubt(report, i, text); i++) {
        fprintf(stderr, "%s: warning: %s\n", program.name, text);
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

static int status_of(const struct settings *settings, const struct comparison_report *report)
{
    const int statuses[] = {
        [GATE_PASSED] = EXIT_DONE,
        [GATE_NOT_DECIDED] = settings->undecided_passes ? EXIT_DONE : EXIT_CANNOT_RUN,
        [GATE_FAILED] = EXIT_TEST_FAILED,
    };
    return statuses[report->outcome];
}

/* Pairs were made to differ in something: that is what they compare. */
static int finish(const struct settings *settings, const struct comparison_report *report)
{
    struct error error;
    bool allowed = settings->force || report->basis == COMPARISON_PAIRS;
    name_differences(report, allowed);
    if (report->difference_count > 0 && !allowed) {
        error_set(&error, ERROR_CONTENT, 0,
                  "the conditions differ, so the results do not compare; --force does it anyway");
        return options_report(&program, &error, EXIT_CANNOT_RUN);
    }
    if (!write_report(settings, report, &error)) {
        return options_report(&program, &error, EXIT_CANNOT_RUN);
    }
    name_doubts(report);
    name_gates(report);
    return status_of(settings, report);
}

/* What is compared, with room for pointers to all results. */
struct comparing {
    struct stored_set sets[COMPARISON_SIDES];
    const struct stored_result **results[COMPARISON_SIDES];
    struct comparison_request request;
};

static bool read_side(const struct settings *settings, size_t first, size_t last,
                      struct stored_set *set, struct error *error)
{
    for (size_t i = first; i < last; i++) {
        size_t known = set->count;
        if (!read_set(settings->words[i], set, error)) {
            return false;
        }
        for (; known < set->count; known++) {
            warn_of_result(settings->words[i], &set->list[known].result);
        }
    }
    stored_set_sort(set);
    return true;
}

static void use_sets(struct comparing *comparing)
{
    struct comparison_request *request = &comparing->request;
    for (size_t side = 0; side < COMPARISON_SIDES; side++) {
        const struct stored_set *set = &comparing->sets[side];
        for (size_t i = 0; i < set->count; i++) {
            comparing->results[side][request->counts[side]++] = &set->list[i].result;
        }
    }
    bool single = request->counts[0] == 1 || request->counts[1] == 1;
    request->basis = single ? COMPARISON_SINGLE : COMPARISON_SETS;
}

/* Each pair once and whole, numbered from 1. */
static bool use_pairs(struct comparing *comparing, struct error *error)
{
    const struct stored_set *set = &comparing->sets[0];
    struct comparison_request *request = &comparing->request;
    size_t pairs = set->count / COMPARISON_SIDES;
    request->basis = COMPARISON_PAIRS;
    request->planned_pairs = set->plan.planned_pairs;
    for (size_t i = 0; i < set->count; i++) {
        const struct stored_invocation *invocation = &set->list[i];
        size_t side = invocation->place.side == 'B';
        size_t pair = invocation->place.pair;
        if (invocation->place.side == '\0' || pair == 0 || pair > pairs ||
            comparing->results[side][pair - 1] != NULL) {
            return error_set(error, ERROR_CONTENT, 0,
                             "%s: invocations[%zu] makes no whole pair with another",
                             request->names[0], i);
        }
        comparing->results[side][pair - 1] = &invocation->result;
        request->counts[side]++;
    }
    return (pairs > 0 && pairs * COMPARISON_SIDES == set->count) ||
           error_set(error, ERROR_CONTENT, 0, "%s: a pair is not whole", request->names[0]);
}

static bool make_request(const struct settings *settings, struct comparing *comparing,
                         struct error *error)
{
    struct stored_set *sets = comparing->sets;
    size_t split = settings->before_count > 0 ? settings->before_count : settings->word_count;
    size_t second = split < settings->word_count ? split : 0;
    comparing->request = (struct comparison_request){
        .names = {settings->words[0], settings->words[second]},
        .gates = &settings->gates,
        .accept_drift = settings->accept_drift,
    };
    if (!read_side(settings, 0, split, &sets[0], error) ||
        !read_side(settings, split, settings->word_count, &sets[1], error)) {
        return false;
    }
    for (size_t side = 0; side < COMPARISON_SIDES; side++) {
        size_t room = sets[0].count + sets[1].count + 1;
        comparing->results[side] = memory_allocate(room, sizeof *comparing->results[side]);
        if (comparing->results[side] == NULL) {
            return memory_error(error, "for a comparison");
        }
        comparing->request.results[side] = comparing->results[side];
    }
    bool alone = second == 0;
    bool paired = sets[0].plan.planned_pairs > 0 || sets[1].plan.planned_pairs > 0;
    if (alone != paired) {
        return error_set(error, ERROR_CONTENT, 0,
                         paired ? "a file of pairs holds both sides: give it alone"
                                : "%s holds no pairs: give the results of both sides",
                         settings->words[0]);
    }
    if (!paired) {
        use_sets(comparing);
        return true;
    }
    return use_pairs(comparing, error);
}

static int compare(const struct settings *settings)
{
    struct comparing comparing = {.request = {.planned_pairs = 0}};
    struct comparison_report report = {0};
    struct error error;
    bool ok = make_request(settings, &comparing, &error) &&
              comparison_report_make(&report, &comparing.request, &error);
    int status = ok ? finish(settings, &report) : options_report(&program, &error, EXIT_CANNOT_RUN);
    comparison_report_release(&report);
    for (size_t side = 0; side < COMPARISON_SIDES; side++) {
        memory_release(comparing.results[side]);
        stored_set_release(&comparing.sets[side]);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct error error;
    enum options_outcome outcome;
    process_guard();
    if (!parse(&settings, argc, argv, &outcome, &error)) {
        memory_release(settings.words);
        return options_report(&program, &error, EXIT_TEST_FAILED);
    }
    if (outcome == OPTIONS_PRINTED) {
        memory_release(settings.words);
        return EXIT_DONE;
    }
    /* Before anything is read: results may be large, or on their way through a pipe. */
    struct claim claim = {.file = -1};
    if (!to_stdout(&settings) && !claim_take(&claim, settings.output, &error)) {
        memory_release(settings.words);
        return options_report(&program, &error, EXIT_CANNOT_RUN);
    }
    int status = compare(&settings);
    claim_give_back(&claim);
    memory_release(settings.words);
    return status;
}
