/* workload/speed: Read, Write, Copy and ServerCopy against a target in memory. */
#include "unit.h"

#include "fake_target.h"
#include "workload/speed.h"

#include <stdio.h>

#define SIZE 2500U /* three chunks of 980 or 1000 bytes */

/* ---- One run of a test ---- */

struct bench {
    struct fake_target *fake;
    struct speed_options options;
    struct speed_run run;
    struct result result;
    struct error error;
    char notes[256];
    struct test_case test; /* as on_begin got it */
    unsigned begins;
    unsigned samples;
    unsigned ends;
    struct sample last;
    char log_before[4096]; /* of the target, when the test began */
};

static bool on_begin(void *context, const struct result_case *result_case, struct error *error)
{
    struct bench *bench = context;
    bench->test = result_case->test;
    bench->begins++;
    memcpy(bench->log_before, bench->fake->log, sizeof bench->log_before);
    return true;
}

static bool on_sample(void *context, const struct result_case *result_case,
                      const struct sample *sample, struct error *error)
{
    struct bench *bench = context;
    const struct test_facts *facts = known_test(result_case->test.name);
    for (size_t kind = 0; kind < REQUEST_KINDS; kind++) {
        bool may = (facts->requests & REQUEST_BIT(kind)) != 0;
        check(may || sample->counts.requests[kind] == 0, "%s: %s", facts->name,
              request_kind_names[kind]);
    }
    bench->samples++;
    bench->last = *sample;
    return true;
}

static bool on_end(void *context, const struct result *result,
                   const struct result_case *result_case, struct error *error)
{
    struct bench *bench = context;
    assert_ptr_equal(result, &bench->result);
    assert_ptr_equal(result_case, result->cases[result->case_count - 1]);
    assert_int_equal(result_case->ended, result_case->failure.domain == ERROR_NONE);
    bench->ends++;
    return true;
}

static void on_note(void *context, const char *text)
{
    struct bench *bench = context;
    snprintf(bench->notes, sizeof bench->notes, "%s", text);
}

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){.fake = fake_target_new(),
                            .options = {.size_bytes = SIZE,
                                        .size_given = true,
                                        .depth = 2,
                                        .sink = SINK_VERIFY,
                                        .flush = true,
                                        .measure = {.iterations = 1}}};
    fake_target_reset(bench->fake);
}

static bool bench_run_observed(struct bench *bench, const char *name,
                               const struct observer *observer)
{
    struct observers observers = {.list = {*observer}, .count = 1};
    struct target *target = &bench->fake->target;
    const struct speed_test *test = speed_test_by_name(name, strlen(name));
    assert_non_null(test);
    return speed_test_run(&bench->run, test, &bench->options, &target, 1, &bench->result,
                          &observers, &bench->error);
}

static bool bench_run(struct bench *bench, const char *name)
{
    struct observer observer = {.on_begin = on_begin,
                                .on_sample = on_sample,
                                .on_end = on_end,
                                .on_note = on_note,
                                .context = bench};
    bool ok = bench_run_observed(bench, name, &observer);
    assert_int_equal(bench->ends, bench->begins);
    if (bench->result.case_count > 0) {
        const struct result_case *result_case = bench->result.cases[0];
        assert_int_equal(result_case->sample_count, bench->samples);
        assert_int_equal(result_case->ended, ok);
        assert_string_equal(result_case->failure.message, ok ? "" : bench->error.message);
    }
    return ok;
}

#define RUN(bench, name) check(bench_run(bench, name), "%s: %s", name, (bench)->error.message)

static void bench_close(struct bench *bench)
{
    struct error error;
    best_effort(bench->fake->target.ops->clean_up(&bench->fake->target, TARGET_PATIENT, &error));
    speed_run_release(&bench->run);
    result_release(&bench->result);
    fake_target_free(bench->fake);
}

static const struct target_file *find(struct bench *bench, const char *name)
{
    const struct target_file *file = fake_find(bench->fake, TARGET_FIRST, name);
    return file != NULL ? file : fake_find(bench->fake, TARGET_SECOND, name);
}

/* The file holds the payload from its beginning to SIZE. */
static void check_content(struct bench *bench, const char *name, enum target_place place)
{
    const struct target_file *file = fake_find(bench->fake, place, name);
    check(file != NULL, "there is no '%s'", name);
    assert_int_equal(file->size, SIZE);
    check(payload_verify(&bench->run.payload, false, file->bytes, 0, SIZE, &bench->error), "%s",
          bench->error.message);
}

/* ---- What each test does, and in which order ---- */

struct steps {
    const char *name;
    uint32_t iterations;
    bool fresh, sparse, no_flush;
    const char *log;
    uint32_t chunk_bytes;
    uint64_t requests[REQUEST_KINDS]; /* read, write, flush, server copy */
    uint64_t runts, round_trips;
};

static const struct steps all_steps[] = {
    {"Read",
     2,
     false,
     false,
     false,
     "free:1 create:Source open:Source flush:Source ",
     1000,
     {3},
     1,
     2},
    {"Read", 1, false, false, true, "free:1 create:Source open:Source ", 1000, {3}, 1, 2},
    {"Read", 1, false, true, false, "create:Source open:Source length:Source ", 1000, {3}, 1, 2},
    {"Read",
     2,
     true,
     false,
     true,
     "free:1 create:Source open:Source close:Source remove:Source create:Source open:Source ",
     1000,
     {3},
     1,
     2},
    {"Write",
     2,
     false,
     false,
     false,
     "free:1 create:Destination open:Destination flush:Destination flush:Destination ",
     980,
     {0, 3, 1},
     1,
     3},
    {"Write",
     1,
     false,
     false,
     true,
     "free:1 create:Destination open:Destination ",
     980,
     {0, 3},
     1,
     2},
    {"Write",
     2,
     true,
     false,
     true,
     "free:1 create:Destination open:Destination close:Destination remove:Destination "
     "create:Destination open:Destination ",
     980,
     {0, 3},
     1,
     2},
    {"Copy",
     2,
     false,
     false,
     true,
     "free:1 free:2 create:Source open:Source create:Destination open:Destination ",
     980,
     {3, 3},
     2,
     3},
    {"Copy",
     1,
     false,
     false,
     false,
     "free:1 free:2 create:Source open:Source flush:Source create:Destination open:Destination ",
     980,
     {3, 3},
     2,
     3},
    {"ServerCopy",
     2,
     false,
     false,
     true,
     "free:1 free:2 create:Source open:Source close:Source copy:Destination remove:Destination "
     "copy:Destination remove:Destination ",
     980,
     {0, 0, 0, 1},
     0,
     1},
    {"ServerCopy",
     2,
     true,
     false,
     true,
     "free:1 free:2 create:Source open:Source close:Source copy:Destination remove:Destination "
     "remove:Source create:Source open:Source close:Source copy:Destination remove:Destination ",
     980,
     {0, 0, 0, 1},
     0,
     1},
};

static void does_its_steps(void **state)
{
    for (size_t i = 0; i < COUNT(all_steps); i++) {
        const struct steps *steps = &all_steps[i];
        for (int policy = FLOW_WINDOW; policy <= FLOW_BATCH; policy++) {
            struct bench bench;
            bench_open(&bench);
            bench.options.policy = (enum flow_policy)policy;
            bench.options.flush = !steps->no_flush;
            bench.options.sparse = steps->sparse;
            bench.options.measure.iterations = steps->iterations;
            bench.options.measure.fresh_files = steps->fresh;
            bench.fake->order = FAKE_LIFO;
            RUN(&bench, steps->name);
            check(strcmp(bench.fake->log, steps->log) == 0, "row %zu: %s", i, bench.fake->log);
            bool reads = strcmp(steps->name, "Read") == 0;
            assert_int_equal(bench.fake->cools, reads ? steps->iterations : 0);
            assert_int_equal(bench.begins, 1);
            assert_null(strstr(bench.log_before, "create"));
            assert_int_equal(bench.samples, steps->iterations);
            assert_string_equal(bench.test.name, steps->name);
            assert_int_equal(bench.test.chunk_bytes, steps->chunk_bytes);
            assert_int_equal(bench.test.size_bytes, SIZE);
            assert_int_equal(bench.test.sparse, steps->sparse && strcmp(steps->name, "Write") != 0);
            assert_int_equal(bench.last.counts.bytes, SIZE);
            const uint64_t *requests = bench.last.counts.requests;
            for (size_t kind = 0; kind < REQUEST_KINDS; kind++) {
                check(requests[kind] == steps->requests[kind], "row %zu: %llu %s", i,
                      (unsigned long long)requests[kind], request_kind_names[kind]);
            }
            /* The third chunk of a batched copy is read and written alone: a trip each. */
            bool lone = policy == FLOW_BATCH && strcmp(steps->name, "Copy") == 0;
            assert_int_equal(bench.last.counts.round_trips, steps->round_trips + lone);
            assert_int_equal(bench.last.counts.runts, steps->runts);
            bench_close(&bench);
        }
    }
}

static void writes_the_payload(void **state)
{
    static const struct {
        const char *name;
        const char *file;
        enum target_place place;
    } rows[] = {
        {"Read", "Source", TARGET_FIRST},       {"Write", "Destination", TARGET_FIRST},
        {"Copy", "Source", TARGET_FIRST},       {"Copy", "Destination", TARGET_SECOND},
        {"ServerCopy", "Source", TARGET_FIRST},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench bench;
        bench_open(&bench);
        bench.options.depth = 3;
        bench.fake->order = FAKE_RANDOM;
        RUN(&bench, rows[i].name);
        check_content(&bench, rows[i].file, rows[i].place);
        bench_close(&bench);
    }
}

/* The copy is removed after each run, so it is looked at while the sample is told. */
static bool look_at_the_copy(void *context, const struct result_case *result_case,
                             const struct sample *sample, struct error *error)
{
    check_content(context, "Destination", TARGET_SECOND);
    return on_sample(context, result_case, sample, error);
}

static void the_server_copies_all(void **state)
{
    struct bench bench;
    bench_open(&bench);
    bench.options.measure.iterations = 2;
    struct observer observer = {
        .on_begin = on_begin, .on_sample = look_at_the_copy, .context = &bench};
    assert_true(bench_run_observed(&bench, "servercopy", &observer));
    assert_int_equal(bench.samples, 2);
    assert_null(find(&bench, "Destination"));
    bench_close(&bench);
}

/* With -q the chunk is as asked for, in every direction. */
static void takes_the_chunk_asked_for(void **state)
{
    static const char *const names[] = {"Read", "Write", "Copy"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct bench bench;
        bench_open(&bench);
        bench.options.chunk_bytes = 500;
        bench.options.flush = false;
        RUN(&bench, names[i]);
        assert_int_equal(bench.test.chunk_bytes, 500);
        assert_int_equal(sample_requests(&bench.last.counts),
                         strcmp(names[i], "Copy") == 0 ? 10 : 5);
        assert_int_equal(bench.last.counts.runts, 0);
        bench_close(&bench);
    }
}

static void the_depth_that_was_reached_is_told(void **state)
{
    for (unsigned in_turn = 0; in_turn < 2; in_turn++) {
        struct bench bench;
        bench_open(&bench);
        bench.options.depth = 2;
        bench.fake->target.facts.in_turn = in_turn;
        RUN(&bench, "Read");
        assert_int_equal(bench.test.depth, in_turn ? 1 : 2);
        bench_close(&bench);
    }
}

static void a_sparse_source_is_zeros(void **state)
{
    struct bench bench;
    bench_open(&bench);
    bench.options.sparse = true;
    RUN(&bench, "Copy");
    const struct target_file *copy = find(&bench, "Destination");
    assert_int_equal(copy->size, SIZE);
    for (size_t i = 0; i < SIZE; i++) {
        assert_int_equal(copy->bytes[i], 0);
    }
    bench_close(&bench);
}

/* A quantum of 1048603 and a server that refuses more than it for block and data: the write chunk
 * is the payload's first choice of a period, and both chunks must still differ from their
 * neighbours. */
static void the_payload_fits_both_chunks(void **state)
{
    static const char *const names[] = {"Read", "Write", "Copy", "ServerCopy"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct bench bench;
        bench_open(&bench);
        bench.fake->target.facts.read_chunk = 1048603;
        bench.fake->target.facts.write_chunk = 1048583;
        bench.options.size_bytes = 2 * 1048603;
        RUN(&bench, names[i]);
        assert_int_equal(bench.test.chunk_bytes, i == 0 ? 1048603 : 1048583);
        assert_int_not_equal(1048603 % bench.run.payload.period_bytes, 0);
        assert_int_not_equal(1048583 % bench.run.payload.period_bytes, 0);
        const struct target_file *file = find(&bench, i == 1 ? "Destination" : "Source");
        assert_memory_not_equal(file->bytes, file->bytes + 1048583, 1048583);
        assert_memory_not_equal(file->bytes, file->bytes + 1048603, 1048603);
        bench_close(&bench);
    }
}

/* ---- -F ---- */

static void an_existing_file_is_never_changed(void **state)
{
    static const struct {
        const char *name;
        bool size_given;
        uint64_t size;
        const char *log;
    } rows[] = {
        {"Read", false, 5000, "existing:theirs "},
        {"Read", true, SIZE, "existing:theirs "},
        {"Copy", false, 5000,
         "existing:theirs free:2 create:Destination open:Destination close:Destination "
         "remove:Destination create:Destination open:Destination "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench bench;
        bench_open(&bench);
        struct target_file *theirs = fake_file(bench.fake, TARGET_FIRST, "theirs", 5000);
        for (size_t at = 0; at < 5000; at++) {
            theirs->bytes[at] = (uint8_t)(at % 7);
        }
        uint8_t *before = exact_copy(theirs->bytes, 5000);
        bench.options.existing_file = "theirs";
        bench.options.size_given = rows[i].size_given;
        bench.options.sink = SINK_COPY;
        bench.options.measure = (struct measure_plan){.iterations = 2, .fresh_files = true};
        RUN(&bench, rows[i].name);
        assert_string_equal(bench.fake->log, rows[i].log);
        assert_int_equal(bench.test.size_bytes, rows[i].size);
        assert_int_equal(bench.last.size_bytes, rows[i].size);
        assert_int_equal(bench.last.counts.bytes, rows[i].size);
        assert_int_equal(theirs->size, 5000);
        assert_memory_equal(theirs->bytes, before, 5000);
        if (strcmp(rows[i].name, "Copy") == 0) {
            assert_memory_equal(find(&bench, "Destination")->bytes, before, 5000);
        }
        bench_close(&bench);
        free(before);
    }
}

static void an_existing_file_may_not_do(void **state)
{
    static const struct {
        const char *file;
        uint64_t wanted; /* 0: the file's size */
        enum error_domain domain;
        const char *message;
    } rows[] = {
        {"none", 0, ERROR_AFP, "there is no 'none'"},
        {"empty", 0, ERROR_LIMIT, "the file 'empty' has 0 bytes, the test needs 1"},
        {"small", 101, ERROR_LIMIT, "the file 'small' has 100 bytes, the test needs 101"},
        {"large", 0, ERROR_LIMIT, "that the calls of this AFP version reach"},
        {"large", 4001, ERROR_LIMIT, "that the calls of this AFP version reach"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench bench;
        bench_open(&bench);
        fake_file(bench.fake, TARGET_FIRST, "empty", 0);
        fake_file(bench.fake, TARGET_FIRST, "small", 100);
        fake_file(bench.fake, TARGET_FIRST, "large", 6000);
        bench.fake->target.facts.size_limit = 4000;
        bench.options.existing_file = rows[i].file;
        bench.options.size_given = rows[i].wanted != 0;
        bench.options.size_bytes = rows[i].wanted;
        bool ok = speed_options_check(&bench.options, &bench.fake->target, &bench.error) &&
                  bench_run(&bench, "Read");
        check(!ok, "row %zu", i);
        check_error(&bench.error, rows[i].domain, rows[i].message);
        assert_int_equal(bench.begins, 0);
        bench_close(&bench);
    }
}

static void tests_that_make_their_own_file_run(void **state)
{
    static const char *const names[] = {"Write", "ServerCopy"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct bench bench;
        bench_open(&bench);
        bench.options.existing_file = "theirs";
        RUN(&bench, names[i]);
        assert_int_equal(bench.samples, 1);
        bench_close(&bench);
    }
}

/* ---- What is refused or skipped before anything is made ---- */

static void a_server_that_cannot_copy_is_skipped(void **state)
{
    struct bench bench;
    bench_open(&bench);
    bench.fake->target.facts.server_copy = false;
    RUN(&bench, "ServerCopy");
    assert_string_equal(bench.notes, "ServerCopy skipped: the server does not offer to copy files");
    assert_int_equal(bench.samples, 0);
    assert_int_equal(bench.begins, 0);
    assert_string_equal(bench.fake->log, "");
    bench_close(&bench);
}

static void free_space_is_checked_first(void **state)
{
    static const struct {
        const char *name;
        bool second_place, sparse, exact;
        uint64_t first, second;
        const char *message; /* NULL: it runs */
    } rows[] = {
        {"Write", true, false, true, SIZE, 0, NULL},
        {"Write", true, false, true, SIZE - 1, 9999, "first volume: 2.4 KiB, the test needs 2.4"},
        {"Write", true, false, false, SIZE - 1, 0, NULL}, /* the server's word: it is told */
        {"Write", true, false, false, 0, 0, NULL},
        {"Read", true, false, true, SIZE, 0, NULL},
        {"Read", true, false, true, 100, 9999, "first volume: 100 bytes"},
        {"Read", true, true, true, 0, 0, NULL},
        {"Copy", true, false, true, SIZE, SIZE, NULL},
        {"Copy", true, false, true, SIZE, SIZE - 1, "second volume"},
        {"Copy", true, true, true, 0, SIZE, NULL},
        {"Copy", false, false, true, 2 * SIZE, 0, NULL},
        {"Copy", false, false, true, 2 * SIZE - 1, 9999, "first volume"},
        {"ServerCopy", true, false, true, SIZE, SIZE - 1, "second volume"},
        {"ServerCopy", false, false, true, 2 * SIZE - 1, 9999, "first volume"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench bench;
        bench_open(&bench);
        bench.options.sparse = rows[i].sparse;
        bench.fake->target.facts.second_place = rows[i].second_place;
        bench.fake->free_exact = rows[i].exact;
        bench.fake->free_bytes[TARGET_FIRST] = rows[i].first;
        bench.fake->free_bytes[TARGET_SECOND] = rows[i].second;
        bool ok = bench_run(&bench, rows[i].name);
        check(ok == (rows[i].message == NULL), "row %zu: %s", i, bench.error.message);
        bool doubtful = !rows[i].exact && rows[i].first < SIZE;
        const char *told = rows[i].first == 0 ? "claims 0 bytes of free" : "claims 2.4 KiB of free";
        check((strstr(bench.notes, told) != NULL) == doubtful, "row %zu: '%s'", i, bench.notes);
        if (!ok) {
            check_error(&bench.error, ERROR_LIMIT, rows[i].message);
            assert_null(strstr(bench.fake->log, "create"));
        }
        bench_close(&bench);
    }
}

static void options_beyond_the_target(void **state)
{
    static const struct {
        uint32_t chunk_bytes;
        uint64_t size_bytes;
        const char *message; /* NULL: fine */
    } rows[] = {
        {0, 4000, NULL},
        {1000, 4000, NULL},
        {1001, 4000, "requests of 1001 bytes are more than the server's quantum of 1000"},
        {0, 4001, "a file of 4001 bytes is larger than the 4000"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bench bench;
        bench_open(&bench);
        bench.fake->target.facts.size_limit = 4000;
        bench.options.chunk_bytes = rows[i].chunk_bytes;
        bench.options.size_bytes = rows[i].size_bytes;
        bool ok = speed_options_check(&bench.options, &bench.fake->target, &bench.error);
        check(ok == (rows[i].message == NULL), "row %zu", i);
        if (!ok) {
            check_error(&bench.error, ERROR_LIMIT, rows[i].message);
        }
        assert_int_equal(bench.fake->calls, 0);
        bench_close(&bench);
    }
}

/* ---- Failures ---- */

/* Whatever call fails, the test ends there. */
static void any_failing_call_ends_it(void **state)
{
    for (size_t t = 0; t < speed_test_count; t++) {
        const char *name = speed_tests[t]->facts->name;
        struct bench bench;
        bench_open(&bench);
        bench.options.measure.fresh_files = true;
        bench.options.measure.iterations = 2;
        RUN(&bench, name);
        unsigned calls = bench.fake->calls;
        bench_close(&bench);
        for (unsigned k = 1; k <= calls; k++) {
            bench_open(&bench);
            bench.options.measure.fresh_files = true;
            bench.options.measure.iterations = 2;
            bench.fake->fail_at = k;
            check(!bench_run(&bench, name), "%s: call %u failed unnoticed", name, k);
            check_error(&bench.error, ERROR_AFP, FAKE_MESSAGE);
            check(bench.fake->calls == k, "%s: went on after call %u", name, k);
            bench_close(&bench);
        }
    }
}

static void a_failing_fill_says_so(void **state)
{
    struct bench bench;
    bench_open(&bench);
    bench.fake->fail_at = 6; /* free:1, reserve twice, create, open, then the first write */
    assert_false(bench_run(&bench, "Read"));
    assert_string_equal(bench.error.message, "filling the source file: " FAKE_MESSAGE);
    bench_close(&bench);
}

static void wrong_bytes_are_found(void **state)
{
    struct bench bench;
    bench_open(&bench);
    bench.fake->reads_nothing = true;
    assert_false(bench_run(&bench, "Read"));
    check_error(&bench.error, ERROR_CONTENT, "wrong data at offset");
    assert_int_equal(bench.samples, 0);
    bench_close(&bench);
}

/* ---- Several sessions ---- */

#define SESSIONS 3

struct crowd {
    struct fake_target *fakes[SESSIONS];
    struct target *targets[SESSIONS];
    struct speed_run runs[SESSIONS];
    struct result result;
    struct error error;
};

static void crowd_open(struct crowd *crowd)
{
    *crowd = (struct crowd){0};
    for (size_t i = 0; i < SESSIONS; i++) {
        crowd->fakes[i] = fake_target_new();
        crowd->targets[i] = &crowd->fakes[i]->target;
        fake_target_reset(crowd->fakes[i]);
    }
}

static bool crowd_run(struct crowd *crowd, const char *name, uint32_t warmups)
{
    struct speed_options options = {.size_bytes = SIZE,
                                    .depth = 2,
                                    .sink = SINK_VERIFY,
                                    .flush = true,
                                    .measure = {.warmups = warmups, .iterations = 2}};
    struct observers observers = {.count = 0};
    return speed_test_run(crowd->runs, speed_test_by_name(name, strlen(name)), &options,
                          crowd->targets, SESSIONS, &crowd->result, &observers, &crowd->error);
}

static void crowd_close(struct crowd *crowd)
{
    for (size_t i = 0; i < SESSIONS; i++) {
        struct error error;
        best_effort(crowd->targets[i]->ops->clean_up(crowd->targets[i], TARGET_PATIENT, &error));
        speed_run_release(&crowd->runs[i]);
        fake_target_free(crowd->fakes[i]);
    }
    result_release(&crowd->result);
}

/* Each session has files of its own; a sample is what all of them moved. */
static void sessions_move_files_of_their_own(void **state)
{
    for (size_t t = 0; t < speed_test_count; t++) {
        struct crowd crowd;
        crowd_open(&crowd);
        check(crowd_run(&crowd, speed_tests[t]->facts->name, 1), "%s", crowd.error.message);
        const struct result_case *result_case = crowd.result.cases[0];
        assert_int_equal(crowd.result.case_count, 1);
        assert_int_equal(result_case->test.sessions, SESSIONS);
        assert_int_equal(result_case->test.size_bytes, SIZE);
        assert_int_equal(result_case->sample_count, 3);
        assert_true(result_case->ended);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(result_case->samples[i].size_bytes, SESSIONS * SIZE);
            assert_int_equal(result_case->samples[i].counts.bytes, SESSIONS * SIZE);
        }
        for (size_t i = 1; i < SESSIONS; i++) {
            /* Only the first one looks for free space, for all of them. */
            const char *log = crowd.fakes[0]->log;
            assert_memory_equal(log, "free:1 ", 7);
            assert_null(strstr(crowd.fakes[i]->log, "free"));
            assert_string_equal(strstr(log, "create"), crowd.fakes[i]->log);
        }
        crowd_close(&crowd);
    }
}

static void free_space_for_all_sessions(void **state)
{
    for (uint64_t missing = 0; missing < 2; missing++) {
        struct crowd crowd;
        crowd_open(&crowd);
        crowd.fakes[0]->free_bytes[TARGET_FIRST] = SESSIONS * SIZE - missing;
        assert_int_equal(crowd_run(&crowd, "Write", 0), missing == 0);
        if (missing) {
            check_error(&crowd.error, ERROR_LIMIT, "too little free space on the first volume");
            assert_int_equal(crowd.result.case_count, 0);
        }
        crowd_close(&crowd);
    }
}

/* Whichever call of the first or the last session fails: the error is told and noted, and the rest
 * can be cleaned up. */
static void any_failing_call_of_any_session_ends_it(void **state)
{
    for (size_t t = 0; t < speed_test_count; t++) {
        const char *name = speed_tests[t]->facts->name;
        for (size_t broken = 0; broken < SESSIONS; broken += SESSIONS - 1) {
            struct crowd crowd;
            crowd_open(&crowd);
            check(crowd_run(&crowd, name, 0), "%s: %s", name, crowd.error.message);
            unsigned calls = crowd.fakes[broken]->calls;
            crowd_close(&crowd);
            for (unsigned k = 1; k <= calls; k++) {
                crowd_open(&crowd);
                crowd.fakes[broken]->fail_at = k;
                check(!crowd_run(&crowd, name, 0), "%s: call %u failed unnoticed", name, k);
                check_error(&crowd.error, ERROR_AFP, FAKE_MESSAGE);
                check(crowd.fakes[broken]->calls == k, "%s: went on after call %u", name, k);
                if (crowd.result.case_count > 0) {
                    const struct result_case *result_case = crowd.result.cases[0];
                    assert_false(result_case->ended);
                    assert_string_equal(result_case->failure.message, crowd.error.message);
                }
                crowd_close(&crowd);
            }
        }
    }
}

/* ---- What a case remembers ---- */

/* One run that found its file in the client's cache makes the test warm. */
static void caches(void **state)
{
    for (unsigned warm = 0; warm <= 3; warm++) {
        struct bench bench;
        bench_open(&bench);
        bench.options.measure = (struct measure_plan){.warmups = 1, .iterations = 2};
        bench.fake->cooled = CACHE_CLIENT_COLD;
        bench.fake->warm_cool = warm;
        RUN(&bench, "Read");
        assert_int_equal(bench.result.cases[0]->cache,
                         warm == 0 ? CACHE_CLIENT_COLD : CACHE_CLIENT_WARM);
        bench_close(&bench);
        bench_open(&bench);
        RUN(&bench, "Write");
        assert_int_equal(bench.result.cases[0]->cache, CACHE_UNKNOWN);
        bench_close(&bench);
    }
}

/* Of the measured runs, from submission to completion. */
static void service_times(void **state)
{
    struct bench bench;
    bench_open(&bench);
    bench.options.measure = (struct measure_plan){.warmups = 2, .iterations = 3};
    bench.fake->service_ns = 42;
    RUN(&bench, "Copy");
    const struct histogram *service = &bench.result.cases[0]->service;
    assert_int_equal(service->count, 3 * 6);
    assert_int_equal(service->minimum, 42);
    assert_int_equal(service->maximum, 42);
    bench_close(&bench);
}

/* ---- The table ---- */

static void names(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        const char *name;
    } rows[] = {
        {"Read", 4, "Read"},
        {"write", 5, "Write"},
        {"COPY,Read", 4, "Copy"},
        {"ServerCopy", 6, NULL},
        {"servercopy", 10, "ServerCopy"},
        {"", 0, NULL},
        {"Reading", 7, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct speed_test *test = speed_test_by_name(rows[i].text, rows[i].length);
        check((test == NULL) == (rows[i].name == NULL), "row %zu", i);
        if (test != NULL) {
            assert_string_equal(test->facts->name, rows[i].name);
        }
    }
}

/* result.h: each of an observer's functions may be NULL. */
static void nobody_observes(void **state)
{
    struct bench bench;
    struct observer observer = {0};
    bench_open(&bench);
    bench.options.existing_file = "theirs";
    assert_true(bench_run_observed(&bench, "Write", &observer));
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_its_steps),
        cmocka_unit_test(writes_the_payload),
        cmocka_unit_test(the_server_copies_all),
        cmocka_unit_test(takes_the_chunk_asked_for),
        cmocka_unit_test(the_depth_that_was_reached_is_told),
        cmocka_unit_test(a_sparse_source_is_zeros),
        cmocka_unit_test(the_payload_fits_both_chunks),
        cmocka_unit_test(an_existing_file_is_never_changed),
        cmocka_unit_test(an_existing_file_may_not_do),
        cmocka_unit_test(tests_that_make_their_own_file_run),
        cmocka_unit_test(a_server_that_cannot_copy_is_skipped),
        cmocka_unit_test(free_space_is_checked_first),
        cmocka_unit_test(options_beyond_the_target),
        cmocka_unit_test(any_failing_call_ends_it),
        cmocka_unit_test(a_failing_fill_says_so),
        cmocka_unit_test(wrong_bytes_are_found),
        cmocka_unit_test(sessions_move_files_of_their_own),
        cmocka_unit_test(free_space_for_all_sessions),
        cmocka_unit_test(any_failing_call_of_any_session_ends_it),
        cmocka_unit_test(caches),
        cmocka_unit_test(service_times),
        cmocka_unit_test(names),
        cmocka_unit_test(nobody_observes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
