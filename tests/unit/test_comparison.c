/* report/comparison_*: rows, verdicts, differences, gates, and the forms they are written in. */
#include "unit.h"

#include "failing_memory.h"
#include "report/comparison_format.h"

#include <math.h>
#include <stdio.h>

/* ---- Made-up results ---- */

#define RUNS 20

static struct stored_result made(void)
{
    static const char *const conditions[STORED_CONDITIONS] = {
        [STORED_KERNEL] = "Linux 6",
        [STORED_MACHINE] = "x86_64",
        [STORED_CPU] = "A|B <CPU> & \x1b[1m\"x\" \xff_",
        [STORED_CPU_COUNT] = "2",
        [STORED_TARGET] = "AFP server",
        [STORED_LINK] = "none",
        [STORED_SERVER_TYPE] = "Netatalk4.5.1",
        [STORED_QUANTUM] = "1048576",
        [STORED_AFP_VERSION] = "AFP3.4",
        [STORED_REFERENCE_STORE] = "none",
        [STORED_SECOND_PLACE] = "no",
    };
    struct stored_result result = {.format = "made up", .has_conditions = true};
    for (size_t i = 0; i < STORED_CONDITIONS; i++) {
        result.conditions[i] = conditions[i] != NULL ? strdup(conditions[i]) : NULL;
    }
    return result;
}

/* Adds `count` runs of about `base_ns`, spread over 2 % in an order that looks random. */
static struct stored_case *add_case(struct stored_result *result, const char *test,
                                    uint64_t size_bytes, double base_ns, size_t count)
{
    result->cases = reallocarray(result->cases, result->case_count + 1, sizeof *result->cases);
    struct stored_case *added = &result->cases[result->case_count++];
    *added = (struct stored_case){.size_bytes = size_bytes,
                                  .run_bytes = size_bytes,
                                  .size_exact = true,
                                  .conditions = {1048576, 1, 1, 1, 0, 1, 0, 0, 0, 2},
                                  .count = count,
                                  .capacity = count};
    snprintf(added->test, sizeof added->test, "%s", test);
    added->durations_ns = calloc(count + 1, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        added->durations_ns[i] = base_ns * (1 + 0.001 * (double)(i * 7 % 20));
    }
    return added;
}

static void set_condition(struct stored_result *result, enum stored_condition condition,
                          const char *text)
{
    free(result->conditions[condition]);
    result->conditions[condition] = strdup(text);
}

/* Makes a result one of POSIX calls. */
static void set_directory(struct stored_result *result, const char *directory, const char *type)
{
    set_condition(result, STORED_TARGET, "directory");
    for (size_t i = STORED_SERVER_TYPE; i < STORED_FILE_SYSTEM; i++) {
        free(result->conditions[i]);
        result->conditions[i] = NULL;
    }
    set_condition(result, STORED_FILE_SYSTEM, type);
    set_condition(result, STORED_DIRECT, "no");
    result->directory = strdup(directory);
}

/* The runs of both results as invocations of one run each, until the report is released. */
static struct {
    struct stored_result results[2][RUNS];
    const struct stored_result *list[2][RUNS];
} split;

static void split_side(size_t side, const struct stored_result *whole)
{
    for (size_t i = 0; i < RUNS; i++) {
        struct stored_result *part = &split.results[side][i];
        free(part->cases);
        *part = *whole;
        part->run_count = whole->case_count;
        part->cases = calloc(whole->case_count + 1, sizeof *part->cases);
        for (size_t j = 0; j < whole->case_count; j++) {
            part->cases[j] = whole->cases[j];
            part->cases[j].count = i < whole->cases[j].count;
            part->cases[j].durations_ns += i;
        }
        split.list[side][i] = part;
    }
}

static void release_split(void)
{
    for (size_t i = 0; i < 2 * RUNS; i++) {
        free(split.results[i / RUNS][i % RUNS].cases);
        split.results[i / RUNS][i % RUNS].cases = NULL;
    }
}

static struct comparison_request request_of(const struct stored_result *before,
                                            const struct stored_result *after)
{
    split_side(0, before);
    split_side(1, after);
    return (struct comparison_request){.basis = COMPARISON_PAIRS,
                                       .planned_pairs = RUNS,
                                       .names = {"a.json", "b.json"},
                                       .results = {split.list[0], split.list[1]},
                                       .counts = {RUNS, RUNS}};
}

static void must_make_request(struct comparison_report *report, struct comparison_request *request,
                              const char *gates)
{
    static struct comparison_gates parsed;
    struct error error;
    parsed = (struct comparison_gates){.count = 0};
    if (gates != NULL) {
        check(comparison_gates_parse(gates, &parsed, &error), "%s", error.message);
    }
    request->gates = &parsed;
    check(comparison_report_make(report, request, &error), "%s", error.message);
}

static void must_make(struct comparison_report *report, const struct stored_result *before,
                      const struct stored_result *after, const char *gates)
{
    struct comparison_request request = request_of(before, after);
    must_make_request(report, &request, gates);
}

/* Five cases that end in each verdict and in most states. */
static void make_pair(struct stored_result *before, struct stored_result *after)
{
    *before = made();
    *after = made();
    add_case(before, "Write", 1 << 20, 1e6, RUNS);
    add_case(before, "Read", 64 << 20, 1e6, RUNS);
    add_case(before, "Read", 4096, 1e6, RUNS);
    add_case(before, "Copy", 4096, 1e6, RUNS);
    add_case(before, "ServerCopy", 4096, 1e6, 0);
    add_case(after, "Other", 4096, 1e6, RUNS);
    add_case(after, "Read", 4096, 1.2e6, RUNS);
    add_case(after, "Read", 64 << 20, 0.5e6, RUNS);
    add_case(after, "Write", 1 << 20, 1.001e6, RUNS);
    add_case(after, "ServerCopy", 4096, 1e6, RUNS);
}

static void release_pair(struct comparison_report *report, struct stored_result *before,
                         struct stored_result *after)
{
    comparison_report_release(report);
    release_split();
    stored_result_release(before);
    stored_result_release(after);
}

/* ---- Rows and verdicts ---- */

static void rows_are_sorted_and_judged(void **state)
{
    static const struct {
        const char *name, *outcome;
        double ratio;
        size_t before, after;
    } wanted[] = {
        {"Read 4 KiB", "slower, by 20.0 to 20.0 %", 1.2, RUNS, RUNS},
        {"Read 64 MiB", "faster, by 50.0 to 50.0 %", 0.5, RUNS, RUNS},
        {"Write 1 MiB", "no difference shown: 0.1 to 0.1 % slower", 1.001, RUNS, RUNS},
        {"Copy 4 KiB", "only in A", 0, 1, 0},
        {"ServerCopy 4 KiB", "no measured run in A", 0, 0, 1},
        {"Other 4 KiB", "only in B", 0, 0, 1},
    };
    struct stored_result before;
    struct stored_result after;
    struct comparison_report report;
    make_pair(&before, &after);
    must_make(&report, &before, &after, NULL);
    assert_int_equal(report.row_count, COUNT(wanted));
    assert_int_equal(report.made_count, 3);
    for (size_t i = 0; i < COUNT(wanted); i++) {
        const struct comparison_row *row = &report.rows[i];
        char name[COMPARISON_NAME_LENGTH];
        assert_string_equal(comparison_row_name(row, name), wanted[i].name);
        char outcome[VERDICT_TEXT_LENGTH];
        assert_string_equal(comparison_row_outcome(&report, row, outcome), wanted[i].outcome);
        assert_int_equal(row->before.count, wanted[i].before);
        assert_int_equal(row->after.count, wanted[i].after);
        if (wanted[i].ratio > 0) {
            check(fabs(row->figures.ratio - wanted[i].ratio) < 1e-9, "%s: %f", name,
                  row->figures.ratio);
        }
    }
    /* 4096 bytes in a median of 1.0095 ms */
    check(fabs(report.rows[0].before.median_ns - 1009500) < 1e-6, "%f",
          report.rows[0].before.median_ns);
    check(fabs(report.rows[0].before.rate_mib - 4096 / 1048576.0 / 0.0010095) < 1e-9, "%f",
          report.rows[0].before.rate_mib);
    check(fabs(report.rows[0].figures.p - 18.0 / (1 << RUNS)) < 1e-12, "p is %g",
          report.rows[0].figures.p); /* all heads, both sides, three looks, three cases */
    assert_int_equal(comparison_report_count(&report, VERDICT_SLOWER), 1);
    assert_int_equal(comparison_report_count(&report, VERDICT_FASTER), 1);
    assert_int_equal(comparison_report_count(&report, VERDICT_NO_DIFFERENCE), 1);
    assert_int_equal(report.difference_count, 0);
    release_pair(&report, &before, &after);
}

static void no_ratio_without_time(void **state)
{
    struct stored_result before = made();
    struct stored_result after = made();
    struct comparison_report report;
    char outcome[VERDICT_TEXT_LENGTH];
    add_case(&before, "Read", 4096, 1000, RUNS)->durations_ns[1] = 0;
    add_case(&before, "Write", 4096, 0, RUNS);
    add_case(&after, "Read", 4096, 1000, RUNS);
    add_case(&after, "Write", 4096, 0, RUNS);
    must_make(&report, &before, &after, "slower,faster");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(report.rows[i].state, COMPARISON_NO_RATIO);
        assert_string_equal(comparison_row_outcome(&report, &report.rows[i], outcome),
                            "no ratio: a run of duration 0");
    }
    check(report.rows[1].after.rate_mib == 0, "a rate without time");
    assert_int_equal(report.failed_count, 0);
    assert_int_equal(report.outcome, GATE_NOT_DECIDED);
    release_pair(&report, &before, &after);
}

/* A server 1,000 times slower, in one invocation a side with as many runs as one likes. */
static void one_invocation_decides_nothing(void **state)
{
    struct stored_result before = made();
    struct stored_result after = made();
    struct comparison_report report;
    char outcome[VERDICT_TEXT_LENGTH];
    for (size_t i = 1; i <= 7; i++) {
        add_case(&before, "Read", 4096 * i, 1e6, RUNS);
        add_case(&after, "Read", 4096 * i, 1e9, RUNS);
    }
    before.run_count = after.run_count = 7 * RUNS;
    const struct stored_result *lists[] = {&before, &after};
    struct comparison_request request = {.names = {"a", "b"},
                                         .results = {&lists[0], &lists[1]},
                                         .counts = {1, 1},
                                         .accept_drift = true};
    must_make_request(&report, &request, "slower>5%");
    assert_int_equal(report.outcome, GATE_NOT_DECIDED);
    assert_int_equal(report.undecided_count, 7);
    check(fabs(report.rows[0].figures.ratio - 1000) < 1e-9, "%f", report.rows[0].figures.ratio);
    assert_string_equal(comparison_row_outcome(&report, &report.rows[0], outcome), "ratio only");
    assert_non_null(strstr(report.rows[0].reason, "afp_perftest AB"));
    release_pair(&report, &before, &after);
}

/* Sets decide gates only for those who accept the drift, which is told. */
static void sets_are_a_hint(void **state)
{
    for (size_t accepted = 0; accepted < 2; accepted++) {
        struct stored_result before;
        struct stored_result after;
        struct comparison_report report;
        char text[VERDICT_TEXT_LENGTH];
        make_pair(&before, &after);
        for (size_t i = RUNS / 2; i < RUNS; i++) {
            after.cases[1].durations_ns[i] *= 1.1;
        }
        struct comparison_request request = request_of(&before, &after);
        request.basis = COMPARISON_SETS;
        request.accept_drift = accepted == 1;
        must_make_request(&report, &request, "slower>5%");
        assert_int_equal(report.outcome, accepted == 1 ? GATE_FAILED : GATE_NOT_DECIDED);
        assert_int_equal(report.rows[0].figures.kind, VERDICT_SLOWER);
        check(!report.rows[0].drifted[0] && report.rows[0].drifted[1], "drift is not told");
        assert_true(comparison_doubt(&report, 0, text));
        assert_non_null(strstr(text, "Read 4 KiB: B drifted"));
        assert_false(comparison_doubt(&report, 1, text));
        release_pair(&report, &before, &after);
    }
}

static void first_runs_that_are_slower(void **state)
{
    struct stored_result results[2];
    struct comparison_report report;
    const struct stored_result *lists[2][RUNS];
    char text[VERDICT_TEXT_LENGTH];
    for (size_t side = 0; side < 2; side++) {
        results[side] = made();
        add_case(&results[side], "Read", 4096, 1e6, 5);
        results[side].run_count = 5;
        for (size_t i = 0; i < RUNS; i++) {
            lists[side][i] = &results[side];
        }
    }
    results[1].cases[0].durations_ns[0] = 1.2e6;
    struct comparison_request request = request_of(&results[0], &results[1]);
    request.results[0] = lists[0];
    request.results[1] = lists[1];
    must_make_request(&report, &request, NULL);
    check(!report.rows[0].warming[0] && report.rows[0].warming[1], "warming is not told");
    assert_true(comparison_doubt(&report, 0, text));
    assert_non_null(strstr(text, "Read 4 KiB: B is still warming up"));
    release_pair(&report, &results[0], &results[1]);
}

static void only_looks_are_looked_at(void **state)
{
    static const struct {
        uint32_t planned;
        bool ok;
    } rows[] = {{RUNS, true},      {RUNS / 2, true}, {RUNS / 4, true},
                {RUNS - 1, false}, {7, false},       {2 * RUNS, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stored_result before;
        struct stored_result after;
        struct comparison_report report;
        struct error error;
        make_pair(&before, &after);
        struct comparison_request request = request_of(&before, &after);
        request.planned_pairs = rows[i].planned;
        bool ok = comparison_report_make(&report, &request, &error);
        check(ok == rows[i].ok, "%u planned", rows[i].planned);
        if (!ok) {
            check_error(&error, ERROR_CONTENT, "20 pairs of a plan of");
        }
        release_pair(&report, &before, &after);
    }
}

static void a_case_with_gaps_passes_nothing(void **state)
{
    struct stored_result before = made();
    struct stored_result after = made();
    struct comparison_report report;
    char outcome[VERDICT_TEXT_LENGTH];
    add_case(&before, "Read", 4096, 1e6, RUNS);
    add_case(&after, "Read", 4096, 1e6, RUNS - 1);
    must_make(&report, &before, &after, "slower>90%");
    assert_string_equal(comparison_row_outcome(&report, &report.rows[0], outcome),
                        "not measured in every invocation");
    assert_int_equal(report.outcome, GATE_NOT_DECIDED);
    release_pair(&report, &before, &after);
}

static void nothing_in_common(void **state)
{
    struct stored_result before = made();
    struct stored_result after = made();
    struct comparison_report report;
    struct error error;
    add_case(&before, "Read", 4096, 1e6, RUNS);
    add_case(&after, "Read", 4097, 1e6, RUNS);
    struct comparison_request request = request_of(&before, &after);
    assert_false(comparison_report_make(&report, &request, &error));
    check_error(&error, ERROR_CONTENT, "no test and size is in both a.json and b.json");
    release_pair(&report, &before, &after);
    before = made();
    after = made();
    request = request_of(&before, &after);
    assert_false(comparison_report_make(&report, &request, &error));
    check_error(&error, ERROR_CONTENT, "no test and size is in both");
    release_pair(&report, &before, &after);
}

/* CSV knows sizes to a thousandth of a MiB. */
static void sizes_that_are_not_exact(void **state)
{
    struct stored_result before = made();
    struct stored_result after = made();
    struct comparison_report report;
    add_case(&before, "Read", 4096, 1e6, RUNS)->size_exact = false;
    add_case(&after, "Read", 4194, 1e6, RUNS);
    add_case(&after, "Read", 4095, 1e6, RUNS);
    must_make(&report, &before, &after, NULL);
    assert_int_equal(report.row_count, 2);
    assert_int_equal(report.made_count, 1);
    assert_int_equal(report.rows[1].size_bytes, 4194); /* the exact one */
    assert_int_equal(report.rows[1].state, COMPARISON_MADE);
    assert_int_equal(report.rows[0].state, COMPARISON_ONLY_AFTER);
    comparison_report_release(&report);
    add_case(&after, "Read", 4096, 1e6, RUNS);
    must_make(&report, &before, &after, NULL);
    assert_int_equal(report.made_count, 1);
    assert_int_equal(report.rows[1].size_bytes, 4096); /* the better match */
    assert_int_equal(report.rows[1].state, COMPARISON_MADE);
    release_pair(&report, &before, &after);
}

static void names_of_sizes(void **state)
{
    static const struct {
        uint64_t size_bytes;
        const char *text;
    } rows[] = {
        {4096, "4 KiB"},    {4194, "4194 bytes"},   {1572864, "1536 KiB"},
        {1 << 30, "1 GiB"}, {0, "under 0.001 MiB"}, {UINT64_MAX, "18446744073709551615 bytes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[COMPARISON_NAME_LENGTH];
        assert_string_equal(comparison_size_text(rows[i].size_bytes, text), rows[i].text);
    }
}

/* ---- Conditions ---- */

static void conditions_that_differ(void **state)
{
    struct stored_result before;
    struct stored_result after;
    struct comparison_report report;
    make_pair(&before, &after);
    set_condition(&after, STORED_KERNEL, "Linux 7");
    for (size_t i = 0; i < after.case_count; i++) {
        after.cases[i].conditions[STORED_CHUNK] = 65536;
    }
    after.cases[3].conditions[STORED_SPARSE] = 1;
    must_make(&report, &before, &after, NULL);
    assert_int_equal(report.difference_count, 3);
    static const struct {
        const char *condition, *before, *after, *row;
        size_t row_count;
    } wanted[] = {
        {"kernel", "Linux 6", "Linux 7", "", 0},
        {"chunk in bytes", "1048576", "65536", "Write 1 MiB", 3},
        {"sparse source file", "no", "yes", "Write 1 MiB", 1},
    };
    for (size_t i = 0; i < COUNT(wanted); i++) {
        const struct comparison_difference *difference = &report.differences[i];
        assert_string_equal(difference->condition, wanted[i].condition);
        assert_string_equal(difference->before, wanted[i].before);
        assert_string_equal(difference->after, wanted[i].after);
        assert_string_equal(difference->row, wanted[i].row);
        assert_int_equal(difference->row_count, wanted[i].row_count);
    }
    comparison_report_release(&report);
    /* CSV has none */
    after.has_conditions = false;
    must_make(&report, &before, &after, NULL);
    assert_int_equal(report.difference_count, 0);
    release_pair(&report, &before, &after);
}

static void every_condition_counts(void **state)
{
    for (size_t i = 0; i < STORED_CONDITIONS + STORED_CASE_CONDITIONS; i++) {
        struct stored_result before;
        struct stored_result after;
        struct comparison_report report;
        const char *name;
        make_pair(&before, &after);
        if (i < STORED_CONDITIONS) {
            set_condition(&before, (enum stored_condition)i, "one");
            set_condition(&after, (enum stored_condition)i, "other");
            name = stored_condition_names[i];
        } else {
            name = stored_case_condition_rows[i - STORED_CONDITIONS].name;
            after.cases[1].conditions[i - STORED_CONDITIONS] ^= 1;
        }
        must_make(&report, &before, &after, NULL);
        assert_int_equal(report.difference_count, 1);
        assert_string_equal(report.differences[0].condition, name);
        release_pair(&report, &before, &after);
    }
}

static void values_of_cases_are_named(void **state)
{
    static const struct {
        enum stored_case_condition condition;
        uint64_t values[2];
        const char *before, *after;
    } rows[] = {
        {STORED_OUTSTANDING, {1, 4}, "1", "4"},
        {STORED_SINK, {0, 1}, "none", "copy"},
        {STORED_SINK, {2, 3}, "discard", "verify"},
        {STORED_FLUSH, {1, 0}, "yes", "no"},
        {STORED_NEW_FILES, {0, 1}, "no", "yes"},
        {STORED_EXISTING_FILE, {0, 1}, "no", "yes"},
        {STORED_CLIENT_CACHE, {1, 3}, "cold", "bypassed"},
        {STORED_CHUNK, {UINT64_MAX, 1}, "18446744073709551615", "1"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stored_result before;
        struct stored_result after;
        struct comparison_report report;
        make_pair(&before, &after);
        before.cases[2].conditions[rows[i].condition] = rows[i].values[0];
        after.cases[1].conditions[rows[i].condition] = rows[i].values[1];
        must_make(&report, &before, &after, NULL);
        assert_int_equal(report.difference_count, 1);
        assert_string_equal(report.differences[0].before, rows[i].before);
        assert_string_equal(report.differences[0].after, rows[i].after);
        assert_string_equal(report.differences[0].row, "Read 4 KiB");
        release_pair(&report, &before, &after);
    }
}

/* Documents from before the cache was looked at compare with those that know of it. */
static void a_cache_that_nobody_looked_at(void **state)
{
    (void)state;
    struct stored_result before;
    struct stored_result after;
    struct comparison_report report;
    make_pair(&before, &after);
    for (size_t i = 0; i < after.case_count; i++) {
        after.cases[i].conditions[STORED_CLIENT_CACHE] = 0;
    }
    must_make(&report, &before, &after, NULL);
    assert_int_equal(report.difference_count, 0);
    release_pair(&report, &before, &after);
}

/* The path does not have to agree; the file system does. */
static void directories(void **state)
{
    struct stored_result before;
    struct stored_result after;
    struct comparison_report report;
    make_pair(&before, &after);
    set_directory(&before, "/mnt/a", "nfs4");
    set_directory(&after, "/mnt/b", "nfs4");
    must_make(&report, &before, &after, NULL);
    assert_int_equal(report.difference_count, 0);
    comparison_report_release(&report);
    set_condition(&after, STORED_FILE_SYSTEM, "cifs");
    must_make(&report, &before, &after, NULL);
    assert_int_equal(report.difference_count, 1);
    assert_string_equal(report.differences[0].condition, "file system type");
    release_pair(&report, &before, &after);
}

/* A server and a directory differ in the target, not in what only one of them has. */
static void server_against_directory(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        struct stored_result before;
        struct stored_result after;
        struct comparison_report report;
        make_pair(&before, &after);
        set_directory(i == 0 ? &after : &before, "/mnt/a", "nfs4");
        must_make(&report, &before, &after, NULL);
        assert_int_equal(report.difference_count, 1);
        assert_string_equal(report.differences[0].condition, "target");
        assert_string_equal(report.differences[0].before, i == 0 ? "AFP server" : "directory");
        assert_string_equal(report.differences[0].after, i == 0 ? "directory" : "AFP server");
        assert_int_equal(report.made_count, 3);
        release_pair(&report, &before, &after);
    }
}

/* ---- Gates ---- */

static void gates_are_parsed(void **state)
{
    static const struct {
        const char *text;
        size_t count; /* 0: an error */
        double last_threshold;
    } rows[] = {
        {"slower", 1, 0.01},
        {"slower>5%", 1, 0.05},
        {"faster>12.5%", 1, 0.125},
        {"faster,slower>0%", 2, 0},
        {"slower>5%,faster>50%,slower>300%", 3, 3},
        {"slower>123456789%", 1, 1234567.89},
        {"", 0, 0},
        {"slower,", 0, 0},
        {",slower", 0, 0},
        {"Slower", 0, 0},
        {"slower>", 0, 0},
        {"slower>%", 0, 0},
        {"slower>5", 0, 0},
        {"slower>5.%", 0, 0},
        {"slower>.5%", 0, 0},
        {"slower>1.2.3%", 0, 0},
        {"slower>-5%", 0, 0},
        {"slower>5%%", 0, 0},
        {"slower>5 %", 0, 0},
        {"slower>1234567890%", 0, 0},
        {"slower<5%", 0, 0},
        {"slowerish", 0, 0},
        {"different", 0, 0},
        {"slower>1,5%", 0, 0},
        {"slower>nan%", 0, 0},
        {"slower>0000000000000000000000000000000000000000000000000000000000001%", 0, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct comparison_gates gates = {.count = 0};
        struct error error = {0};
        bool ok = comparison_gates_parse(rows[i].text, &gates, &error);
        check(ok == (rows[i].count > 0), "'%s'", rows[i].text);
        if (ok) {
            assert_int_equal(gates.count, rows[i].count);
            double threshold = gates.list[gates.count - 1].asks.margin;
            check(fabs(threshold - rows[i].last_threshold) < 1e-12, "%s: %f", rows[i].text,
                  threshold);
        } else {
            check_error(&error, ERROR_USAGE, "the form is slower|faster[>NUMBER%]");
        }
    }
}

static void too_many_gates(void **state)
{
    char text[200] = "slower";
    for (int i = 0; i < GATE_LIMIT; i++) {
        strcat(text, ",slower");
    }
    struct comparison_gates gates = {.count = 0};
    struct error error;
    assert_false(comparison_gates_parse(text, &gates, &error));
    check_error(&error, ERROR_USAGE, "more than 16 gates");
}

static void gates_by_case(void **state)
{
    static const struct {
        const char *gates;
        enum gate_outcome outcome;
        size_t failed;
        const char *first; /* the gate that says most of the first row */
    } rows[] = {
        {"slower", GATE_FAILED, 1, "slower"},
        {"slower>19.9%", GATE_FAILED, 1, "slower>19.9%"},
        {"slower>20.1%", GATE_NOT_DECIDED, 0, "slower>20.1%"},
        {"faster", GATE_FAILED, 1, "faster"},
        {"faster>99%", GATE_FAILED, 1, "faster>99%"},
        {"faster>101%", GATE_NOT_DECIDED, 0, "faster>101%"},
        {"slower>50%,slower>5%,faster", GATE_FAILED, 2, "slower>5%"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stored_result before;
        struct stored_result after;
        struct comparison_report report;
        make_pair(&before, &after);
        must_make(&report, &before, &after, rows[i].gates);
        check(report.failed_count == rows[i].failed, "%s", rows[i].gates);
        /* ServerCopy failed on one side: nothing passes */
        assert_int_equal(report.undecided_count, 1);
        assert_int_equal(report.outcome, rows[i].outcome);
        assert_string_equal(report.rows[0].gate->text, rows[i].first);
        release_pair(&report, &before, &after);
    }
}

/* ---- Writing ---- */

static void texts_are_escaped(void **state)
{
    static const struct {
        enum escape escape;
        const char *text, *written;
    } rows[] = {
        {ESCAPE_PLAIN, "a<b>&\"'|", "a<b>&\"'|"},
        {ESCAPE_PLAIN, "a\x1b[1mb\nc\td\x7f", "a?[1mb?c?d?"},
        {ESCAPE_PLAIN, "é€𝄞", "é€𝄞"},
        {ESCAPE_PLAIN, "\xc2\x9b", "?"}, /* a control character of 8 bits */
        {ESCAPE_PLAIN,
         "\xe2\x80\xae"
         "abc",
         "?abc"}, /* right to left */
        {ESCAPE_PLAIN, "\xff\xc0\x80\xe2\x82", "?????"},
        {ESCAPE_PLAIN, "\xed\xa0\x80", "???"},      /* a surrogate */
        {ESCAPE_PLAIN, "\xf4\x90\x80\x80", "????"}, /* beyond Unicode */
        {ESCAPE_PLAIN, "\xe2", "?"},
        {ESCAPE_XML, "<&>\"'", "&lt;&amp;&gt;&quot;&apos;"},
        {ESCAPE_XML, "\x01\xef\xbf\xbe\xef\xbf\xbf", "???"},
        {ESCAPE_MARKDOWN, "a|b`c`<d>_e_", "a&#124;b&#96;c&#96;&#60;d&#62;&#95;e&#95;"},
        {ESCAPE_MARKDOWN, "a\nb", "a?b"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        escape_write(out, rows[i].escape, rows[i].text);
        fclose(out);
        check(strcmp(text, rows[i].written) == 0, "row %zu: '%s'", i, text);
        free(text);
    }
}

/* What a format makes of two results, which it releases; the caller frees it. */
static char *written_pair(const char *format, struct stored_result *before,
                          struct stored_result *after, const char *gates)
{
    struct comparison_report report;
    struct error error;
    char *text;
    size_t size;
    must_make(&report, before, after, gates);
    FILE *out = open_memstream(&text, &size);
    check(comparison_write(comparison_format_by_name(format), out, &report, &error), "%s",
          error.message);
    fclose(out);
    release_pair(&report, before, after);
    return text;
}

/* The same for a pair of which one is incomplete and of another AFP version. */
static char *written(const char *format, const char *gates)
{
    struct stored_result before;
    struct stored_result after;
    make_pair(&before, &after);
    set_condition(&after, STORED_AFP_VERSION, "AFP3.3");
    after.incomplete = true;
    after.why_incomplete = strdup("<disk full>");
    before.warning = strdup("a <busy> machine");
    return written_pair(format, &before, &after, gates);
}

static void expect_all(const char *text, const char *const *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check(strstr(text, wanted[i]) != NULL, "'%s' is not in:\n%s", wanted[i], text);
    }
}

static void as_text(void **state)
{
    static const char *const wanted[] = {
        ("A  a.json (made up; warning: a <busy> machine)\n"
         "B  b.json (made up; incomplete: <disk full>)\n\n20 invocations a side\n"),
        "Conditions that differ:\n  AFP version: AFP3.4 in A, AFP3.3 in B\n",
        "Read         4 KiB      20      20     1.010     1.211      3.87       3.22  1.200  ",
        "  slower, by 20.0 to 20.0 %\n",
        "only in A\n",
        "6 cases: 1 slower, 1 faster, 1 no difference shown, 0 not decided, 3 not compared.\n",
        ("Gates: slower>5%: failed; 1 failed, 1 not decided.\n"
         "  Read 4 KiB: failed: 20.0 to 20.0 % slower, gate 5 %\n"),
        "Measured in pairs in random order",
    };
    char *text = written("text", "slower>5%");
    expect_all(text, wanted, COUNT(wanted));
    assert_null(strstr(text, " \n"));
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        check(strcspn(line, "\n") < 160, "a long line: %.200s", line);
    }
    free(text);
}

static void as_markdown(void **state)
{
    static const char *const wanted[] = {
        "| Read | 63397.72 (64 MiB) | 126795.44 (64 MiB) | +100.0 % |\n",
        "| Write | 990.59 (1 MiB) | 989.60 (1 MiB) | -0.1 % |\n",
        "| Read | 4 KiB | 20 | 20 |",
        " | **slower, by 20.0 to 20.0 %** |\n",
        " | no difference shown: 0.1 to 0.1 % slower |\n",
        " | **only in B** |\n",
        ("Gates: `slower>5%`: **failed**\n* Read 4 KiB: failed: 20.0 to 20.0 % slower, gate 5 % "
         "(`slower>5%`)\n"),
        "* CPU: A&#124;B &#60;CPU&#62; &#38; ?&#91;1m\"x\" ?&#95;\n",
        "* **differs:** AFP version: AFP3.4 in A, AFP3.3 in B\n",
        "incomplete: &#60;disk full&#62;)",
        "warning: a &#60;busy&#62; machine)",
    };
    char *text = written("markdown", "slower>5%");
    expect_all(text, wanted, COUNT(wanted));
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        size_t bars = 0;
        for (const char *c = line; *line == '|' && *c != '\n'; c++) {
            bars += *c == '|';
        }
        check(bars == 0 || bars == 5 || bars == 13, "a broken row: %.200s", line);
    }
    assert_null(strstr(text, "| Copy | 0"));
    assert_null(strstr(text, "\n* AFP version"));
    free(text);
    text = written("markdown", "slower>90%");
    assert_non_null(strstr(text, "Gates: `slower>90%`: **not decided**\n"));
    free(text);
}

static void as_junit(void **state)
{
    static const char *const wanted[] = {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        "tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\">",
        "<property name=\"CPU A\" value=\"A|B &lt;CPU&gt; &amp; ?[1m&quot;x&quot; ?_\"/>",
        "<testcase classname=\"afpbench.Read\" name=\"Read 4 KiB\" time=\"0.001211\">\n",
        "      <failure type=\"slower&gt;5%\" message=\"failed: 20.0 to 20.0 % slower, gate 5 %\">",
        "<skipped message=\"only in A\"/>",
        "verdict: no difference shown: 0.1 to 0.1 % slower\n",
        "      <error type=\"slower&gt;5%\" message=\"not decided: it was not measured",
        "differs: AFP version: AFP3.4 in A, AFP3.3 in B\n",
        "incomplete: &lt;disk full&gt;)",
        "warning: a &lt;busy&gt; machine)",
        "</testsuites>\n",
    };
    char *text = written("junit", "slower>5%");
    expect_all(text, wanted, COUNT(wanted));
    free(text);
}

/* Each form names both, and what only one of them has. */
static void with_a_directory(void **state)
{
    static const struct {
        const char *format, *wanted[6];
    } rows[] = {
        {"text",
         {"A  a.json (made up)\n", "B  b.json (made up, directory /mnt/<a>?b on nfs4)\n",
          "Conditions that differ:\n  target: AFP server in A, directory in B\n\n"}},
        {"markdown",
         {"(made up, directory /mnt/&#60;a&#62;?b on nfs4)\n", "* AFP version: AFP3.4 in A\n",
          "* file system type: nfs4 in B\n", "* direct: no in B\n",
          "* **differs:** target: AFP server in A, directory in B\n", "* kernel: Linux 6\n"}},
        {"junit",
         {"(made up, directory /mnt/&lt;a&gt;?b on nfs4)\"/>",
          "<property name=\"AFP version A\" value=\"AFP3.4\"/>",
          "<property name=\"file system type B\" value=\"nfs4\"/>",
          "<property name=\"target B\" value=\"directory\"/>",
          "differs: target: AFP server in A, directory in B\n"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stored_result before;
        struct stored_result after;
        size_t count = 0;
        make_pair(&before, &after);
        set_directory(&after, "/mnt/<a>\nb", "nfs4");
        char *text = written_pair(rows[i].format, &before, &after, NULL);
        while (count < COUNT(rows[i].wanted) && rows[i].wanted[count] != NULL) {
            count++;
        }
        expect_all(text, rows[i].wanted, count);
        assert_null(strstr(text, "(null)"));
        assert_null(strstr(text, "AFP version B"));
        free(text);
    }
}

static void a_run_without_time(void **state)
{
    (void)state;
    static const char *const formats[] = {"text", "markdown", "junit"};
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct stored_result before;
        struct stored_result after;
        make_pair(&before, &after);
        memset(after.cases[1].durations_ns, 0, RUNS * sizeof(double));
        char *text = written_pair(formats[i], &before, &after, "slower,faster>90%");
        assert_non_null(strstr(text, "no ratio: a run of duration 0"));
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        free(text);
    }
}

/* CSV has no conditions at all. */
static void without_conditions(void **state)
{
    static const char *const formats[] = {"text", "markdown", "junit"};
    for (size_t i = 0; i < 2 * COUNT(formats); i++) {
        struct stored_result results[2];
        make_pair(&results[0], &results[1]);
        for (size_t side = i % 2; side < 2; side++) {
            results[side].has_conditions = false;
            for (size_t j = 0; j < STORED_CONDITIONS; j++) {
                free(results[side].conditions[j]);
                results[side].conditions[j] = NULL;
            }
        }
        char *text = written_pair(formats[i / 2], &results[0], &results[1], NULL);
        assert_non_null(strstr(text, "conditions not recorded"));
        assert_null(strstr(text, "(null)"));
        check((strstr(text, "Linux 6") != NULL) == (i % 2 == 1 && i > 1), "%s", text);
        free(text);
    }
}

static void full_disk(void **state)
{
    struct stored_result before;
    struct stored_result after;
    struct comparison_report report;
    struct error error;
    make_pair(&before, &after);
    must_make(&report, &before, &after, NULL);
    FILE *out = fopen("/dev/full", "w");
    assert_non_null(out);
    assert_false(comparison_write(comparison_format_by_name("text"), out, &report, &error));
    check_error(&error, ERROR_SYSTEM, "cannot write the report: No space left");
    fclose(out);
    release_pair(&report, &before, &after);
}

static void formats_by_name(void **state)
{
    assert_non_null(comparison_format_by_name("junit"));
    assert_null(comparison_format_by_name("html"));
    assert_null(comparison_format_by_name(""));
    char names[80];
    snprintf(names, sizeof names, "%s", comparison_format_names());
    for (const char *name = strtok(names, ", "); name != NULL; name = strtok(NULL, ", ")) {
        check(comparison_format_by_name(name) != NULL, "%s", name);
    }
}

static void out_of_memory(void **state)
{
    bool ok = false;
    for (unsigned number = 1; !ok; number++) {
        struct stored_result before;
        struct stored_result after;
        struct comparison_report report;
        struct error error;
        make_pair(&before, &after);
        struct comparison_request request = request_of(&before, &after);
        memory_fail_at(number);
        ok = comparison_report_make(&report, &request, &error);
        unsigned asked = memory_asked();
        memory_fail_at(0);
        if (!ok) {
            check_error(&error, ERROR_SYSTEM, "out of memory");
        }
        check(ok == (asked < number), "allocation %u", number);
        release_pair(&report, &before, &after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_and_judged),
        cmocka_unit_test(no_ratio_without_time),
        cmocka_unit_test(one_invocation_decides_nothing),
        cmocka_unit_test(sets_are_a_hint),
        cmocka_unit_test(first_runs_that_are_slower),
        cmocka_unit_test(only_looks_are_looked_at),
        cmocka_unit_test(a_case_with_gaps_passes_nothing),
        cmocka_unit_test(nothing_in_common),
        cmocka_unit_test(sizes_that_are_not_exact),
        cmocka_unit_test(names_of_sizes),
        cmocka_unit_test(conditions_that_differ),
        cmocka_unit_test(every_condition_counts),
        cmocka_unit_test(values_of_cases_are_named),
        cmocka_unit_test(a_cache_that_nobody_looked_at),
        cmocka_unit_test(directories),
        cmocka_unit_test(server_against_directory),
        cmocka_unit_test(gates_are_parsed),
        cmocka_unit_test(too_many_gates),
        cmocka_unit_test(gates_by_case),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(as_text),
        cmocka_unit_test(as_markdown),
        cmocka_unit_test(as_junit),
        cmocka_unit_test(with_a_directory),
        cmocka_unit_test(a_run_without_time),
        cmocka_unit_test(without_conditions),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(formats_by_name),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
