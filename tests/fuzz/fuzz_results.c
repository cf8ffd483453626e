/* Stored results of any format: the reader, and the comparison of a small one with itself.
 *
 * Input: the file. */
#include "fuzz.h"
#include "report/comparison_format.h"
#include "report/comparison_report.h"
#include "report/read_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A comparison of more takes too long for thousands of inputs a second. */
#define RUNS_COMPARED 200

static void check_result(const struct stored_result *result)
{
    size_t runs = 0;
    fuzz_require(result->format != NULL, "a result without a format");
    fuzz_require(result->case_count <= STORED_CASE_LIMIT, "too many cases");
    for (size_t i = 0; i < result->case_count; i++) {
        const struct stored_case *one = &result->cases[i];
        fuzz_require(memchr(one->test, '\0', sizeof one->test) != NULL && one->test[0] != '\0',
                     "a test without a name");
        fuzz_require(stored_case_matches(one, one), "a case does not match itself");
        for (size_t k = 0; k < one->count; k++) {
            fuzz_require(isfinite(one->durations_ns[k]) && one->durations_ns[k] >= 0,
                         "a duration that is none");
        }
        runs += one->count;
    }
    fuzz_require(runs == result->run_count && runs <= STORED_RUN_LIMIT, "runs are miscounted");
}

static void compare(const struct stored_result *result)
{
    struct comparison_report report;
    struct error error = {0};
    const struct comparison_request request = {
        .names = {"a", "b"}, .results = {&result, &result}, .counts = {1, 1}};
    bool ok = comparison_report_make(&report, &request, &error);
    fuzz_require_error(ok, &error);
    if (ok) {
        fuzz_require(report.difference_count == 0, "a result differs from itself");
        FILE *sink = fopen("/dev/null", "w");
        fuzz_require(sink != NULL, "nowhere to write to");
        comparison_text_write(sink, &report);
        comparison_markdown_write(sink, &report);
        comparison_junit_write(sink, &report);
        fclose(sink);
    }
    comparison_report_release(&report);
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    struct wire input = wire_decoder(bytes, size);
    struct span file = fuzz_rest(&input);
    struct stored_result result;
    struct error error = {0};
    bool ok = read_result_buffer("input", (const char *)file.data, file.size, &result, &error);
    fuzz_require_error(ok, &error);
    if (ok) {
        check_result(&result);
        if (result.run_count <= RUNS_COMPARED) {
            compare(&result);
        }
    }
    stored_result_release(&result);
    fuzz_release(file);
}
