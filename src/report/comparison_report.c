#include "report/comparison_report.h"

#include "base/memory.h"
#include "base/units.h"
#include "report/figures.h"
#include "result/tests.h"
#include "stats/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same files give the same intervals. */
#define BOOTSTRAP_SEED UINT64_C(0xAFB0C0DE)

#define CONDITION_LENGTH 24 /* of a case's condition as text */

const char comparison_closing[] =
    "Stored sets drift: these were measured one after the other, and what changed meanwhile on the "
    "machine looks like a difference between them. Interleaved pairs are the honest way "
    "(afp_perftest AB).";

/* ---- Names ---- */

const char *comparison_size_text(uint64_t size_bytes, char text[COMPARISON_NAME_LENGTH])
{
    static const struct {
        uint64_t bytes;
        const char *name;
    } units[] = {{GIB, "GiB"}, {MIB, "MiB"}, {KIB, "KiB"}, {1, "bytes"}};
    size_t unit = 0;
    if (size_bytes == 0) {
        snprintf(text, COMPARISON_NAME_LENGTH, "under 0.001 MiB");
        return text;
    }
    while (size_bytes % units[unit].bytes != 0) {
        unit++;
    }
    snprintf(text, COMPARISON_NAME_LENGTH, "%" PRIu64 " %s", size_bytes / units[unit].bytes,
             units[unit].name);
    return text;
}

const char *comparison_row_name(const struct comparison_row *row, char name[COMPARISON_NAME_LENGTH])
{
    char size[COMPARISON_NAME_LENGTH];
    snprintf(name, COMPARISON_NAME_LENGTH, "%s %.40s", row->test,
             comparison_size_text(row->size_bytes, size));
    return name;
}

bool comparison_row_smallest_effect(const struct comparison_row *row, double *effect)
{
    *effect = row->figures.smallest_effect - 1;
    return row->state == COMPARISON_MADE && !row->too_few_runs && row->before.count > 1 &&
           row->after.count > 1;
}

const char *comparison_row_outcome(const struct comparison_row *row)
{
    static const char *const outcomes[COMPARISON_STATES] = {
        [COMPARISON_NO_RATIO] = "no ratio: a run of duration 0",
        [COMPARISON_NO_RUNS_BEFORE] = "no measured run in A",
        [COMPARISON_NO_RUNS_AFTER] = "no measured run in B",
        [COMPARISON_ONLY_BEFORE] = "only in A",
        [COMPARISON_ONLY_AFTER] = "only in B",
    };
    if (row->state != COMPARISON_MADE) {
        return outcomes[row->state];
    }
    return row->too_few_runs ? "no difference shown (too few runs)"
                             : compare_verdict_text(row->figures.verdict);
}

size_t comparison_report_count(const struct comparison_report *report, enum compare_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < report->row_count; i++) {
        const struct comparison_row *row = &report->rows[i];
        count += row->state == COMPARISON_MADE && row->figures.verdict == verdict;
    }
    return count;
}

/* ---- Rows ---- */

static bool median(const double *values, size_t count, double *value, struct error *error)
{
    double *sorted = memory_allocate(count, sizeof *sorted);
    if (sorted == NULL) {
        return memory_error(error, "for a comparison");
    }
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, stats_compare_doubles);
    *value = stats_percentile(sorted, count, 0.5);
    memory_release(sorted);
    return true;
}

static bool fill_side(struct comparison_side *side, const struct stored_case *stored_case,
                      struct error *error)
{
    side->count = stored_case != NULL ? stored_case->count : 0;
    if (side->count == 0) {
        return true;
    }
    if (!median(stored_case->durations_ns, side->count, &side->median_ns, error)) {
        return false;
    }
    side->rate_mib = rate_mib((double)stored_case->run_bytes, side->median_ns);
    return true;
}

static bool has_zero(const struct stored_case *stored_case)
{
    for (size_t i = 0; i < stored_case->count; i++) {
        if (!(stored_case->durations_ns[i] > 0)) {
            return true;
        }
    }
    return false;
}

static enum comparison_state state_of(const struct stored_case *before,
                                      const struct stored_case *after)
{
    if (before == NULL || after == NULL) {
        return before != NULL ? COMPARISON_ONLY_BEFORE : COMPARISON_ONLY_AFTER;
    }
    if (before->count == 0 || after->count == 0) {
        return before->count == 0 ? COMPARISON_NO_RUNS_BEFORE : COMPARISON_NO_RUNS_AFTER;
    }
    return has_zero(before) || has_zero(after) ? COMPARISON_NO_RATIO : COMPARISON_MADE;
}

/* One of the cases may be missing. */
static bool add_row(struct comparison_report *report, const struct stored_case *before,
                    const struct stored_case *after, struct error *error)
{
    const struct stored_case *either = before != NULL ? before : after;
    const struct stored_case *exact = after != NULL && after->size_exact ? after : either;
    struct comparison_row *row = &report->rows[report->row_count++];
    *row = (struct comparison_row){
        .test = either->test, .size_bytes = exact->size_bytes, .state = state_of(before, after)};
    if (!fill_side(&row->before, before, error) || !fill_side(&row->after, after, error)) {
        return false;
    }
    if (row->state != COMPARISON_MADE) {
        return true;
    }
    report->made_count++;
    return compare_unpaired(before->durations_ns, before->count, after->durations_ns, after->count,
                            BOOTSTRAP_SEED, &row->figures, error);
}

/* The case with this very size, or else the first whose size prints alike. */
static const struct stored_case *best_match(const struct stored_result *result,
                                            const struct stored_case *wanted)
{
    const struct stored_case *match = NULL;
    for (size_t i = 0; i < result->case_count; i++) {
        const struct stored_case *candidate = &result->cases[i];
        if (!stored_case_matches(candidate, wanted)) {
            continue;
        }
        if (candidate->size_bytes == wanted->size_bytes) {
            return candidate;
        }
        match = match == NULL ? candidate : match;
    }
    return match;
}

/* The case of `other` that belongs to `wanted` of `own`: each is the other's best match. */
static const struct stored_case *partner(const struct stored_result *own,
                                         const struct stored_result *other,
                                         const struct stored_case *wanted)
{
    const struct stored_case *match = best_match(other, wanted);
    return match != NULL && best_match(own, match) == wanted ? match : NULL;
}

static int by_test_and_size(const void *a, const void *b)
{
    const struct comparison_row *x = a;
    const struct comparison_row *y = b;
    int order = test_order(x->test, y->test);
    if (order != 0) {
        return order;
    }
    return (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes);
}

/* In the order of the first result; what only the second one has comes last. */
static bool make_rows(struct comparison_report *report, struct error *error)
{
    const struct stored_result *before = report->before;
    const struct stored_result *after = report->after;
    size_t shared = 0;
    report->rows =
        memory_allocate(before->case_count + after->case_count + 1, sizeof *report->rows);
    if (report->rows == NULL) {
        return memory_error(error, "for a comparison");
    }
    for (size_t i = 0; i < before->case_count; i++) {
        const struct stored_case *match = partner(before, after, &before->cases[i]);
        shared += match != NULL;
        if (!add_row(report, &before->cases[i], match, error)) {
            return false;
        }
    }
    for (size_t i = 0; i < after->case_count; i++) {
        if (partner(after, before, &after->cases[i]) == NULL &&
            !add_row(report, NULL, &after->cases[i], error)) {
            return false;
        }
    }
    if (shared == 0) {
        return error_set(error, ERROR_CONTENT, 0, "no test and size is in both %s and %s",
                         report->before_name, report->after_name) ||
               error_remedy(error, REMEDY_SAME_TESTS);
    }
    return true;
}

/* ---- Conditions that differ ---- */

/* A row that shares condition and values with an earlier one is only counted. */
static void add_difference(struct comparison_report *report, const char *condition,
                           const char *before, const char *after, const struct comparison_row *row)
{
    for (size_t i = 0; i < report->difference_count; i++) {
        struct comparison_difference *known = &report->differences[i];
        if (strcmp(known->condition, condition) == 0 && strcmp(known->before, before) == 0 &&
            strcmp(known->after, after) == 0) {
            known->row_count++;
            return;
        }
    }
    struct comparison_difference *added = &report->differences[report->difference_count++];
    *added = (struct comparison_difference){.condition = condition, .row_count = row != NULL};
    snprintf(added->before, sizeof added->before, "%s", before);
    snprintf(added->after, sizeof added->after, "%s", after);
    if (row != NULL) {
        comparison_row_name(row, added->row);
    }
}

static void condition_text(const struct stored_case_condition_row *row, uint64_t value,
                           char text[CONDITION_LENGTH])
{
    if (row->words != NULL) {
        snprintf(text, CONDITION_LENGTH, "%s", row->words[value]);
    } else {
        snprintf(text, CONDITION_LENGTH, "%" PRIu64, value);
    }
}

static void compare_case_conditions(struct comparison_report *report,
                                    const struct stored_case *before,
                                    const struct stored_case *after)
{
    const struct comparison_row row = {.test = before->test, .size_bytes = before->size_bytes};
    for (size_t i = 0; i < STORED_CASE_CONDITIONS; i++) {
        const struct stored_case_condition_row *condition = &stored_case_condition_rows[i];
        char texts[2][CONDITION_LENGTH];
        const uint64_t values[] = {before->conditions[i], after->conditions[i]};
        bool absent =
            stored_case_condition_rows[i].may_be_absent && (values[0] == 0 || values[1] == 0);
        if (values[0] != values[1] && !absent) {
            condition_text(condition, values[0], texts[0]);
            condition_text(condition, values[1], texts[1]);
            add_difference(report, condition->name, texts[0], texts[1], &row);
        }
    }
}

static bool find_differences(struct comparison_report *report, struct error *error)
{
    const struct stored_result *before = report->before;
    const struct stored_result *after = report->after;
    size_t most = STORED_CONDITIONS + before->case_count * STORED_CASE_CONDITIONS;
    report->differences = memory_allocate(most, sizeof *report->differences);
    if (report->differences == NULL) {
        return memory_error(error, "for a comparison");
    }
    if (!before->has_conditions || !after->has_conditions) {
        return true;
    }
    for (size_t i = 0; i < STORED_CONDITIONS; i++) {
        const char *const texts[] = {before->conditions[i], after->conditions[i]};
        /* What only one target has is said by the target. */
        if (texts[0] != NULL && texts[1] != NULL && strcmp(texts[0], texts[1]) != 0) {
            add_difference(report, stored_condition_names[i], texts[0], texts[1], NULL);
        }
    }
    for (size_t i = 0; i < before->case_count; i++) {
        const struct stored_case *match = partner(before, after, &before->cases[i]);
        if (match != NULL && match->count > 0 && before->cases[i].count > 0) {
            compare_case_conditions(report, &before->cases[i], match);
        }
    }
    return true;
}

/* ---- Verdicts ---- */

/* The p of two sets that do not overlap at all: 2 of all ways to choose one set from both. */
static double least_p(const struct comparison *figures)
{
    size_t fewer = figures->count_before;
    size_t more = figures->count_after;
    double p = 2;
    if (fewer > more) {
        fewer = figures->count_after;
        more = figures->count_before;
    }
    for (size_t i = 1; i <= fewer && p > 0; i++) {
        p *= (double)i / (double)(more + i);
    }
    return p < 1 ? p : 1;
}

/* Decides over copies, since Holm's correction wants all comparisons in a row; then once more over
 * the least p that the numbers of runs allow, to tell "no difference" from "too few runs". */
static bool decide(struct comparison_report *report, double noise_floor, struct error *error)
{
    struct comparison *all = memory_allocate(report->made_count + 1, 2 * sizeof *all);
    size_t count = 0;
    if (all == NULL) {
        return memory_error(error, "for a comparison");
    }
    struct comparison *best = all + report->made_count;
    for (size_t i = 0; i < report->row_count; i++) {
        if (report->rows[i].state == COMPARISON_MADE) {
            all[count] = report->rows[i].figures;
            best[count] = report->rows[i].figures;
            best[count].p = least_p(&best[count]);
            count++;
        }
    }
    bool ok = compare_decide(all, count, noise_floor, error) &&
              compare_decide(best, count, noise_floor, error);
    for (size_t i = report->row_count; ok && i-- > 0;) {
        if (report->rows[i].state == COMPARISON_MADE) {
            count--;
            report->rows[i].figures = all[count];
            report->rows[i].too_few_runs = best[count].p_adjusted >= COMPARE_LEVEL;
        }
    }
    memory_release(all);
    return ok;
}

static void apply_gates(struct comparison_report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        struct comparison_row *row = &report->rows[i];
        for (size_t j = 0; row->state == COMPARISON_MADE && j < report->gates.count; j++) {
            if (row->failed_gate == NULL &&
                comparison_gate_fails(&report->gates.list[j], &row->figures)) {
                row->failed_gate = &report->gates.list[j];
                report->failed_count++;
            }
        }
    }
}

bool comparison_report_make(struct comparison_report *report, const char *before_name,
                            const struct stored_result *before, const char *after_name,
                            const struct stored_result *after, const struct comparison_gates *gates,
                            double noise_floor, struct error *error)
{
    *report = (struct comparison_report){
        .before_name = before_name, .after_name = after_name, .before = before, .after = after};
    if (gates != NULL) {
        report->gates = *gates;
    }
    if (!make_rows(report, error) || !find_differences(report, error) ||
        !decide(report, noise_floor, error)) {
        return false;
    }
    qsort(report->rows, report->row_count, sizeof *report->rows, by_test_and_size);
    apply_gates(report);
    return true;
}

void comparison_report_release(struct comparison_report *report)
{
    memory_release(report->rows);
    memory_release(report->differences);
    *report = (struct comparison_report){0};
}
