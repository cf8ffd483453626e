/* result/result: cases and samples, and who is told of them, in which order. */
#include "unit.h"

#include "made_result.h"

#include <stdio.h>

/* ---- Cases ---- */

static void warm_ups_are_not_measured(void **state)
{
    static const uint64_t durations[] = {1, 2, 3, 4, 5};
    for (uint32_t warmups = 0; warmups <= 4; warmups++) {
        struct test_case test = {.sessions = 1, .warmups = warmups, .iterations = 5 - warmups};
        struct result result = {0};
        struct result_case *made = made_case(&result, &test, durations);
        for (uint32_t samples = 0; samples <= 5; samples++) {
            struct error error;
            size_t count;
            made->sample_count = samples; /* as after a failure */
            const struct sample *first = result_measured(made, &count);
            assert_int_equal(count, samples > warmups ? samples - warmups : 0);
            assert_true(result_summarize(made, &error));
            assert_int_equal(made->summary.times.count, count);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(first[i].duration_ns, warmups + i + 1);
            }
            if (count > 0) {
                assert_true(made->summary.times.minimum == (double)(warmups + 1));
                assert_true(made->summary.times.maximum == (double)samples);
                assert_true(made->summary.times.mean == (double)(warmups + 1 + samples) / 2);
            }
        }
        result_release(&result);
        assert_int_equal(result.case_count, 0);
    }
}

/* A case stays where it is while others are added: observers keep pointers to it. */
static void cases_stay_where_they_are(void **state)
{
    static const uint64_t durations[] = {7, 8};
    struct test_case test = {.name = "Read", .sessions = 3, .iterations = 2};
    struct result result = {0};
    struct result_case *first = made_case(&result, &test, durations);
    for (size_t i = 1; i < 100; i++) {
        made_case(&result, &test, durations);
        assert_ptr_equal(result.cases[0], first);
    }
    assert_int_equal(result.case_count, 100);
    assert_int_equal(first->session_ns[5], 8);
    result_release(&result);
}

static void requests_of_all_kinds(void **state)
{
    const struct sample_counts counts = {.requests = {1, 20, 300, 4000}};
    assert_int_equal(sample_requests(&counts), 4321);
    assert_string_equal(request_kind_names[REQUEST_READ], "read");
    assert_string_equal(request_kind_names[REQUEST_COPY], "server_copy");
}

/* ---- Observers ---- */

static char heard[400];
static const char *refusal; /* the word at which everybody fails; NULL: none */

static bool hear(void *context, const char *word, struct error *error)
{
    char entry[40];
    snprintf(entry, sizeof entry, "%s%s", (const char *)context, word);
    size_t used = strlen(heard);
    snprintf(heard + used, sizeof heard - used, "%s ", entry);
    return refusal == NULL || strcmp(word, refusal) != 0 ||
           error_set(error, ERROR_SYSTEM, 0, "%s fails", entry);
}

static bool on_begin(void *context, const struct result_case *result_case, struct error *error)
{
    return hear(context, "begin", error);
}

static bool on_run_begin(void *context, const struct result_case *result_case,
                         const struct sample *sample, struct error *error)
{
    return hear(context, "run begins", error);
}

static bool on_run_end(void *context, const struct result_case *result_case,
                       const struct sample *sample, bool *again, struct error *error)
{
    *again = *again || strcmp(context, "a:") == 0;
    return hear(context, "run ends", error);
}

static bool on_sample(void *context, const struct result_case *result_case,
                      const struct sample *sample, struct error *error)
{
    return hear(context, "sample", error);
}

static bool on_end(void *context, const struct result *result,
                   const struct result_case *result_case, struct error *error)
{
    return hear(context, "end", error);
}

static bool on_finish(void *context, const struct result *result, struct error *error)
{
    return hear(context, "finish", error);
}

static void on_note(void *context, const char *text)
{
    struct error error;
    hear(context, text, &error);
}

static void on_progress(void *context, const struct result_case *result_case, uint32_t number,
                        bool warmup, uint64_t pause_left_ns)
{
    struct error error;
    hear(context, warmup ? "warm-up" : number == 2 ? "run2" : "run", &error);
}

static struct observer named(char *name)
{
    return (struct observer){on_begin,  on_run_begin, on_run_end,  on_sample, on_end,
                             on_finish, on_note,      on_progress, name};
}

static void make_observers(struct observers *observers)
{
    char *const names[] = {"a:", "b:"};
    *observers = (struct observers){.count = 0};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct observer deaf = {.context = NULL};
        struct observer observer = named(names[i]);
        observers_add(observers, &deaf);
        observers_add(observers, &observer);
    }
    heard[0] = '\0';
    refusal = NULL;
}

static void all_are_told_in_turn(void **state)
{
    struct observers observers;
    struct error error;
    make_observers(&observers);
    assert_true(observers_begin(&observers, NULL, &error));
    observers_progress(&observers, NULL, 1, true, 0);
    observers_progress(&observers, NULL, 2, false, 0);
    assert_true(observers_run_begin(&observers, NULL, NULL, &error));
    bool again = false;
    assert_true(observers_run_end(&observers, NULL, NULL, &again, &error));
    assert_true(again);
    assert_true(observers_sample(&observers, NULL, NULL, &error));
    observers_note(&observers, "note");
    assert_true(observers_end(&observers, NULL, NULL, &error));
    assert_true(observers_finish(&observers, NULL, &error));
    assert_string_equal(heard, "a:begin b:begin a:warm-up b:warm-up a:run2 b:run2 "
                               "a:run begins b:run begins a:run ends b:run ends a:sample "
                               "b:sample a:note b:note a:end b:end a:finish b:finish ");
}

/* One that cannot write ends the run: those after it are not told any more, but of ends, so that a
 * full disk under one report does not cost the other. The first error is the one that counts. */
static void the_first_failure_is_told(void **state)
{
    static const struct {
        const char *refusal, *heard;
    } rows[] = {
        {"begin", "a:begin "},   {"run begins", "a:run begins "},  {"sample", "a:sample "},
        {"end", "a:end b:end "}, {"finish", "a:finish b:finish "}, {"run ends", "a:run ends "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct observers observers;
        struct error error;
        bool again;
        char expected[40];
        make_observers(&observers);
        refusal = rows[i].refusal;
        bool ok = i == 0   ? observers_begin(&observers, NULL, &error)
                  : i == 1 ? observers_run_begin(&observers, NULL, NULL, &error)
                  : i == 2 ? observers_sample(&observers, NULL, NULL, &error)
                  : i == 3 ? observers_end(&observers, NULL, NULL, &error)
                  : i == 4 ? observers_finish(&observers, NULL, &error)
                           : observers_run_end(&observers, NULL, NULL, &again, &error);
        assert_false(ok);
        assert_string_equal(heard, rows[i].heard);
        snprintf(expected, sizeof expected, "a:%s fails", refusal);
        assert_string_equal(error.message, expected);
    }
}

static void no_more_observers_than_fit(void **state)
{
    struct observers observers = {.count = 0};
    struct observer observer = {.context = NULL};
    for (size_t i = 0; i < OBSERVER_LIMIT + 3; i++) {
        observers_add(&observers, &observer);
    }
    assert_int_equal(observers.count, OBSERVER_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warm_ups_are_not_measured), cmocka_unit_test(cases_stay_where_they_are),
        cmocka_unit_test(requests_of_all_kinds),     cmocka_unit_test(all_are_told_in_turn),
        cmocka_unit_test(the_first_failure_is_told), cmocka_unit_test(no_more_observers_than_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
