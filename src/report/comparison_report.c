#include "report/comparison_report.h"

#include "base/memory.h"
#include "base/units.h"
#include "report/figures.h"
#include "result/tests.h"
#include "stats/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONDITION_LENGTH 24 /* of a case's condition as text */

const char *comparison_basis_text(const struct comparison_report *report)
{
    static const char *const texts[] = {
        [COMPARISON_SINGLE] =
            "One invocation a side: ratios only. Two processes differ for many reasons, so these "
            "show no difference and decide no gate; measure in pairs (afp_perftest AB).",
        [COMPARISON_SETS] =
            "Measured one after the other: a hint. What changed meanwhile on the machine looks "
            "like "
            "a difference; pairs in random order are the honest way (afp_perftest AB).",
        [COMPARISON_PAIRS] =
            "Measured in pairs in random order: equal sides show a difference in any case in at "
            "most 5 comparisons of 100.",
    };
    return texts[report->basis];
}

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

const char *comparison_row_outcome(const struct comparison_report *report,
                                   const struct comparison_row *row, char text[VERDICT_TEXT_LENGTH])
{
    static const char *const outcomes[COMPARISON_STATES] = {
        [COMPARISON_NO_RATIO] = "no ratio: a run of duration 0",
        [COMPARISON_NO_RUNS_BEFORE] = "no measured run in A",
        [COMPARISON_NO_RUNS_AFTER] = "no measured run in B",
        [COMPARISON_GAPS] = "not measured in every invocation",
        [COMPARISON_ONLY_BEFORE] = "only in A",
        [COMPARISON_ONLY_AFTER] = "only in B",
    };
    if (row->state != COMPARISON_MADE) {
        return outcomes[row->state];
    }
    return report->basis == COMPARISON_SINGLE ? "ratio only" : verdict_text(&row->figures, text);
}

size_t comparison_report_count(const struct comparison_report *report, enum verdict_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < report->row_count; i++) {
        const struct comparison_row *row = &report->rows[i];
        count += row->state == COMPARISON_MADE && row->figures.kind == kind;
    }
    return count;
}

/* ---- Rows ---- */

/* What making a report needs beside it: of each row and side the times of the invocations, in
 * their order, and how their first run stands to the others. */
struct making {
    struct comparison_report *report;
    const struct comparison_request *request;
    double *times[COMPARISON_SIDES];  /* medians; row after row */
    double *firsts[COMPARISON_SIDES]; /* log(first run ÷ median of the others) */
    double *scratch;                  /* as many as the pairs, or the runs of a result */
};

/* Of values above 0; sorts a copy of them. */
static double median(struct making *making, const double *values, size_t count)
{
    memcpy(making->scratch, values, count * sizeof *values);
    qsort(making->scratch, count, sizeof *values, stats_compare_doubles);
    return stats_percentile(making->scratch, count, 0.5);
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

/* One invocation of one side of a row. */
static void take_times(struct making *making, enum comparison_sides side, size_t at,
                       const struct stored_case *stored_case)
{
    const double *runs = stored_case->durations_ns;
    making->times[side][at] = median(making, runs, stored_case->count);
    making->firsts[side][at] = stored_case->count > 1
                                   ? log(runs[0] / median(making, runs + 1, stored_case->count - 1))
                                   : 0;
}

/* The i-th invocations of both sides; what the first ones have belongs together in all. */
static enum comparison_state take_pair(struct making *making, size_t row, size_t i,
                                       const struct stored_case *first)
{
    const struct comparison_request *request = making->request;
    const struct stored_result *before = request->results[COMPARISON_BEFORE][i];
    const struct stored_result *after = request->results[COMPARISON_AFTER][i];
    const struct stored_case *a = best_match(before, first);
    const struct stored_case *b = a != NULL ? partner(before, after, a) : NULL;
    if (a == NULL || b == NULL || state_of(a, b) != COMPARISON_MADE) {
        return a != NULL && b != NULL && state_of(a, b) == COMPARISON_NO_RATIO ? COMPARISON_NO_RATIO
                                                                               : COMPARISON_GAPS;
    }
    size_t at = row * making->report->pairs + i;
    take_times(making, COMPARISON_BEFORE, at, a);
    take_times(making, COMPARISON_AFTER, at, b);
    making->report->rows[row].before.count += a->count;
    making->report->rows[row].after.count += b->count;
    return COMPARISON_MADE;
}

static void fill_side(struct making *making, struct comparison_side *side, const double *times,
                      const struct stored_case *stored_case)
{
    side->median_ns = median(making, times, making->report->pairs);
    side->rate_mib = rate_mib((double)stored_case->run_bytes, side->median_ns);
}

/* What only one side has, or has no pair of times, keeps the side's own runs. */
static void fill_lone_side(struct making *making, struct comparison_side *side,
                           const struct stored_case *stored_case)
{
    side->count = stored_case != NULL ? stored_case->count : 0;
    if (side->count > 0) {
        side->median_ns = median(making, stored_case->durations_ns, side->count);
        side->rate_mib = rate_mib((double)stored_case->run_bytes, side->median_ns);
    }
}

/* One of the cases, of the first invocations, may be missing. */
static void add_row(struct making *making, const struct stored_case *before,
                    const struct stored_case *after)
{
    struct comparison_report *report = making->report;
    const struct stored_case *either = before != NULL ? before : after;
    const struct stored_case *exact = after != NULL && after->size_exact ? after : either;
    size_t index = report->row_count++;
    struct comparison_row *row = &report->rows[index];
    *row = (struct comparison_row){
        .test = either->test, .size_bytes = exact->size_bytes, .state = state_of(before, after)};
    for (size_t i = 0; row->state == COMPARISON_MADE && i < report->pairs; i++) {
        row->state = take_pair(making, index, i, before);
    }
    if (row->state != COMPARISON_MADE) {
        fill_lone_side(making, &row->before, before);
        fill_lone_side(making, &row->after, after);
        return;
    }
    report->made_count++;
    fill_side(making, &row->before, &making->times[COMPARISON_BEFORE][index * report->pairs],
              before);
    fill_side(making, &row->after, &making->times[COMPARISON_AFTER][index * report->pairs], after);
}

/* In the order of the first result; what only the second one has comes last. */
static bool make_rows(struct making *making, struct error *error)
{
    struct comparison_report *report = making->report;
    const struct stored_result *before = report->before;
    const struct stored_result *after = report->after;
    size_t shared = 0;
    for (size_t i = 0; i < before->case_count; i++) {
        const struct stored_case *match = partner(before, after, &before->cases[i]);
        shared += match != NULL;
        add_row(making, &before->cases[i], match);
    }
    for (size_t i = 0; i < after->case_count; i++) {
        if (partner(after, before, &after->cases[i]) == NULL) {
            add_row(making, NULL, &after->cases[i]);
        }
    }
    if (shared == 0) {
        return error_set(error, ERROR_CONTENT, 0, "no test and size is in both %s and %s",
                         report->before_name, report->after_name) ||
               error_remedy(error, REMEDY_SAME_TESTS);
    }
    return true;
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

/* ---- Conditions that differ ---- */

/* A row that shares condition and values with an earlier one is only counted, once for all
 * invocations. */
static void add_difference(struct comparison_report *report, const char *condition,
                           const char *before, const char *after, const struct comparison_row *row,
                           bool again)
{
    for (size_t i = 0; i < report->difference_count; i++) {
        struct comparison_difference *known = &report->differences[i];
        if (strcmp(known->condition, condition) == 0 && strcmp(known->before, before) == 0 &&
            strcmp(known->after, after) == 0) {
            known->row_count += row != NULL && !again;
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
                                    const struct stored_case *after, bool again)
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
            add_difference(report, condition->name, texts[0], texts[1], &row, again);
        }
    }
}

static void compare_conditions(struct comparison_report *report, const struct stored_result *before,
                               const struct stored_result *after, bool again)
{
    if (!before->has_conditions || !after->has_conditions) {
        return;
    }
    for (size_t i = 0; i < STORED_CONDITIONS; i++) {
        const char *const texts[] = {before->conditions[i], after->conditions[i]};
        /* What only one target has is said by the target. */
        if (texts[0] != NULL && texts[1] != NULL && strcmp(texts[0], texts[1]) != 0) {
            add_difference(report, stored_condition_names[i], texts[0], texts[1], NULL, again);
        }
    }
    for (size_t i = 0; i < before->case_count; i++) {
        const struct stored_case *match = partner(before, after, &before->cases[i]);
        if (match != NULL && match->count > 0 && before->cases[i].count > 0) {
            compare_case_conditions(report, &before->cases[i], match, again);
        }
    }
}

static bool find_differences(struct comparison_report *report,
                             const struct comparison_request *request, struct error *error)
{
    size_t most = 0;
    for (size_t i = 0; i < report->pairs; i++) {
        most += STORED_CONDITIONS +
                request->results[COMPARISON_BEFORE][i]->case_count * STORED_CASE_CONDITIONS;
    }
    report->differences = memory_allocate(most, sizeof *report->differences);
    if (report->differences == NULL) {
        return memory_error(error, "for a comparison");
    }
    for (size_t i = 0; i < report->pairs; i++) {
        compare_conditions(report, request->results[COMPARISON_BEFORE][i],
                           request->results[COMPARISON_AFTER][i], i > 0);
    }
    return true;
}

/* ---- Verdicts ---- */

/* The gate's, or that of "slower" alone. */
static double least_margin(const struct comparison_gates *gates)
{
    double least = gates->count > 0 ? gates->list[0].asks.margin : VERDICT_WORDS;
    for (size_t i = 1; i < gates->count; i++) {
        least = fmin(least, gates->list[i].asks.margin);
    }
    return least;
}

/* Why these results decide nothing, whatever they show; NULL: they may. */
static const char *why_undecided(const struct comparison_report *report,
                                 const struct comparison_row *row)
{
    if (row->state != COMPARISON_MADE) {
        return "not decided: it was not measured in every invocation of both sides";
    }
    if (report->basis == COMPARISON_SINGLE) {
        return "not decided: one invocation a side decides nothing; measure in pairs "
               "(afp_perftest AB)";
    }
    return report->decides ? NULL
                           : "not decided: measured one after the other; measure in pairs "
                             "(afp_perftest AB)";
}

static void ask_gate(const struct comparison_report *report, struct comparison_row *row,
                     const struct comparison_gate *gate, const double *d)
{
    const char *why = why_undecided(report, row);
    struct verdict_answer answer = {.outcome = GATE_NOT_DECIDED};
    if (why == NULL) {
        answer = verdict_ask(&gate->asks, &row->figures, d, report->planned_pairs);
    }
    if (row->gate != NULL && answer.outcome <= row->outcome) {
        return;
    }
    row->gate = gate;
    row->outcome = answer.outcome;
    if (why != NULL) {
        snprintf(row->reason, sizeof row->reason, "%s", why);
    } else {
        verdict_answer_text(&answer, &gate->asks, &row->figures, row->reason);
    }
}

/* A case that one side never had is no part of the comparison. */
static void ask_gates(struct comparison_report *report, struct comparison_row *row, const double *d)
{
    if (row->state == COMPARISON_ONLY_BEFORE || row->state == COMPARISON_ONLY_AFTER) {
        return;
    }
    for (size_t i = 0; i < report->gates.count; i++) {
        ask_gate(report, row, &report->gates.list[i], d);
    }
    if (row->gate != NULL) {
        report->outcome = verdict_worse(report->outcome, row->outcome);
        report->failed_count += row->outcome == GATE_FAILED;
        report->undecided_count += row->outcome == GATE_NOT_DECIDED;
    }
}

static void judge(struct making *making, size_t index)
{
    struct comparison_report *report = making->report;
    struct comparison_row *row = &report->rows[index];
    double *d = making->scratch;
    size_t first = index * report->pairs;
    for (size_t i = 0; row->state == COMPARISON_MADE && i < report->pairs; i++) {
        d[i] = log(making->times[COMPARISON_AFTER][first + i] /
                   making->times[COMPARISON_BEFORE][first + i]);
    }
    if (row->state == COMPARISON_MADE) {
        row->figures = verdict_decide(d, report->pairs, report->made_count);
    }
    ask_gates(report, row, d);
    for (size_t side = 0; row->state == COMPARISON_MADE && side < COMPARISON_SIDES; side++) {
        row->warming[side] =
            verdict_still_warming(&making->firsts[side][first], report->pairs, report->made_count);
        row->drifted[side] = report->basis == COMPARISON_SETS &&
                             verdict_drifted(&making->times[side][first], report->pairs,
                                             least_margin(&report->gates));
    }
}

/* ---- The whole ---- */

static bool set_up(struct comparison_report *report, const struct comparison_request *request,
                   struct error *error)
{
    const size_t *counts = request->counts;
    *report = (struct comparison_report){
        .before_name = request->names[COMPARISON_BEFORE],
        .after_name = request->names[COMPARISON_AFTER],
        .before = request->results[COMPARISON_BEFORE][0],
        .after = request->results[COMPARISON_AFTER][0],
        .basis = request->basis,
        .pairs = counts[0] < counts[1] ? counts[0] : counts[1],
        .outcome = GATE_PASSED,
    };
    bool paired = report->basis == COMPARISON_PAIRS;
    report->planned_pairs = paired ? request->planned_pairs : report->pairs;
    report->decides = paired || (report->basis == COMPARISON_SETS && request->accept_drift);
    if (request->gates != NULL) {
        report->gates = *request->gates;
    }
    return verdict_is_look(report->pairs, report->planned_pairs) ||
           error_set(error, ERROR_CONTENT, 0,
                     "%zu pairs of a plan of %zu: only %zu, %zu or %zu may be looked at",
                     report->pairs, report->planned_pairs, report->planned_pairs,
                     2 * report->planned_pairs, 4 * report->planned_pairs);
}

static size_t most_runs(const struct comparison_request *request, size_t most)
{
    for (size_t side = 0; side < COMPARISON_SIDES; side++) {
        for (size_t i = 0; i < request->counts[side]; i++) {
            size_t runs = request->results[side][i]->run_count;
            most = runs > most ? runs : most;
        }
    }
    return most;
}

static bool making_begin(struct making *making, struct error *error)
{
    struct comparison_report *report = making->report;
    size_t rows = report->before->case_count + report->after->case_count + 1;
    bool ok = true;
    report->rows = memory_allocate(rows, sizeof *report->rows);
    making->scratch =
        memory_allocate(most_runs(making->request, report->pairs) + 1, sizeof *making->scratch);
    for (size_t side = 0; side < COMPARISON_SIDES; side++) {
        making->times[side] = memory_allocate(rows * report->pairs, sizeof(double));
        making->firsts[side] = memory_allocate(rows * report->pairs, sizeof(double));
        ok = ok && making->times[side] != NULL && making->firsts[side] != NULL;
    }
    return (ok && report->rows != NULL && making->scratch != NULL) ||
           memory_error(error, "for a comparison");
}

static void making_end(struct making *making)
{
    for (size_t side = 0; side < COMPARISON_SIDES; side++) {
        memory_release(making->times[side]);
        memory_release(making->firsts[side]);
    }
    memory_release(making->scratch);
}

bool comparison_report_make(struct comparison_report *report,
                            const struct comparison_request *request, struct error *error)
{
    struct making making = {.report = report, .request = request};
    bool ok = set_up(report, request, error) && making_begin(&making, error) &&
              make_rows(&making, error) && find_differences(report, request, error);
    for (size_t i = 0; ok && i < report->row_count; i++) {
        judge(&making, i);
    }
    if (ok) {
        qsort(report->rows, report->row_count, sizeof *report->rows, by_test_and_size);
    }
    making_end(&making);
    return ok;
}

void comparison_report_release(struct comparison_report *report)
{
    memory_release(report->rows);
    memory_release(report->differences);
    *report = (struct comparison_report){0};
}
