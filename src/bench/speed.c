#include "bench/speed.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

extern const struct speed_test speed_read, speed_write, speed_copy, speed_server_copy;

const struct speed_test *const speed_tests[] = {&speed_read, &speed_write, &speed_copy,
                                                &speed_server_copy};
const size_t speed_test_count = sizeof speed_tests / sizeof speed_tests[0];

const struct speed_test *speed_test_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < speed_test_count; i++) {
        if (strlen(speed_tests[i]->name) == length &&
            strncasecmp(speed_tests[i]->name, name, length) == 0) {
            return speed_tests[i];
        }
    }
    return NULL;
}

/* ---- Plans ---- */

/* -q where it is given, else what the target takes: writes may be smaller than reads. */
static uint32_t chunk_bytes(const struct speed_options *options, const struct target_facts *facts,
                            enum flow_direction direction)
{
    if (options->chunk_bytes != 0) {
        return options->chunk_bytes;
    }
    return direction == FLOW_READ ? facts->read_chunk : facts->write_chunk;
}

static bool check_size(uint64_t size_bytes, const struct target_facts *facts, struct error *error)
{
    return size_bytes <= facts->size_limit ||
           error_set(error, ERROR_LIMIT, 0,
                     "a file of %" PRIu64 " bytes is larger than the %" PRIu64
                     " that the calls of this AFP version reach: use -3 or higher",
                     size_bytes, facts->size_limit);
}

bool speed_options_check(const struct speed_options *options, const struct target *target,
                         struct error *error)
{
    const struct target_facts *facts = &target->facts;
    if (options->chunk_bytes > facts->chunk_limit) {
        return error_set(error, ERROR_LIMIT, 0,
                         "-q asks for requests of %" PRIu32
                         " bytes, but the server's quantum is %" PRIu32,
                         options->chunk_bytes, facts->chunk_limit);
    }
    return check_size(options->size_bytes, facts, error);
}

static struct flow_plan plan_flow(const struct speed_run *run, enum flow_direction direction,
                                  uint32_t chunk)
{
    return (struct flow_plan){
        .target = run->target,
        .payload = &run->payload,
        .direction = direction,
        .policy = run->options->policy,
        .sink = run->options->sink,
        .zeros = run->options->sparse,
        .depth = run->options->depth,
        .chunk_bytes = chunk,
        .size_bytes = run->size_bytes,
    };
}

static bool reads_existing(const struct speed_run *run)
{
    return run->test->uses_existing_file && run->options->existing_file != NULL;
}

static bool prepare_flows(struct speed_run *run, struct error *error)
{
    const struct target_facts *facts = &run->target->facts;
    uint32_t write_chunk = chunk_bytes(run->options, facts, FLOW_WRITE);
    uint32_t chunk = chunk_bytes(run->options, facts, run->test->direction);
    uint32_t largest = chunk > write_chunk ? chunk : write_chunk;
    size_t piece = run->size_bytes < largest ? (size_t)run->size_bytes : largest;
    struct flow_plan fill = plan_flow(run, FLOW_WRITE, write_chunk);
    struct flow_plan timed = plan_flow(run, run->test->direction, chunk);
    return payload_make(&run->payload, piece, error) && flow_prepare(&run->fill, &fill, error) &&
           flow_prepare(&run->flow, &timed, error);
}

/* ---- Files ---- */

bool speed_close(struct speed_run *run, struct target_file **file, struct error *error)
{
    struct target_file *open = *file;
    *file = NULL;
    return open == NULL || run->target->ops->close_file(run->target, open, error);
}

bool speed_nothing(void *run, struct error *error)
{
    (void)run;
    (void)error;
    return true;
}

static bool make_file(struct speed_run *run, enum target_place place, const char *name,
                      struct target_file **file, struct error *error)
{
    const struct target_ops *ops = run->target->ops;
    return ops->create_file(run->target, place, name, error) &&
           ops->open_file(run->target, place, name, file, error);
}

static bool fill_source(struct speed_run *run, struct error *error)
{
    const struct target_ops *ops = run->target->ops;
    if (run->options->sparse) {
        return ops->set_length(run->target, run->source, run->size_bytes, error);
    }
    struct sample_counts untimed = {0};
    if (!flow_run(&run->fill, NULL, run->source, &untimed, error)) {
        return error_prefix(error, "filling the source file");
    }
    return !run->options->flush || ops->flush(run->target, run->source, error);
}

/* Where a test writes: copies go to the second volume, Write stays on the first. */
static enum target_place destination_place(const struct speed_test *test)
{
    return test->has_source ? TARGET_SECOND : TARGET_FIRST;
}

/* Removes what an earlier run made, so that the next starts anew. */
static bool unmake_files(struct speed_run *run, struct error *error)
{
    const struct target_ops *ops = run->target->ops;
    const struct speed_test *test = run->test;
    bool own_source = test->has_source && !reads_existing(run);
    run->made = false;
    return (!own_source || (speed_close(run, &run->source, error) &&
                            ops->remove_file(run->target, TARGET_FIRST, SPEED_SOURCE, error))) &&
           (!test->has_destination ||
            (speed_close(run, &run->destination, error) &&
             ops->remove_file(run->target, destination_place(test), SPEED_DESTINATION, error)));
}

bool speed_make_files(void *context, bool fresh, struct error *error)
{
    struct speed_run *run = context;
    const struct speed_test *test = run->test;
    if (!fresh) {
        return true;
    }
    if (run->made && !unmake_files(run, error)) {
        return false;
    }
    run->made = true;
    if (test->has_source && !reads_existing(run) &&
        (!make_file(run, TARGET_FIRST, SPEED_SOURCE, &run->source, error) ||
         !fill_source(run, error))) {
        return false;
    }
    return !test->has_destination ||
           make_file(run, destination_place(test), SPEED_DESTINATION, &run->destination, error);
}

/* ---- Before the first run ---- */

static bool open_existing(struct speed_run *run, struct error *error)
{
    uint64_t length;
    const char *name = run->options->existing_file;
    if (!run->target->ops->open_existing(run->target, name, &run->source, &length, error)) {
        return false;
    }
    if (!run->options->size_given) {
        run->size_bytes = length;
    }
    if (run->size_bytes > length || length == 0) {
        return error_set(error, ERROR_LIMIT, 0,
                         "the file '%s' has %" PRIu64 " bytes, the test needs %" PRIu64, name,
                         length, run->size_bytes > 0 ? run->size_bytes : 1);
    }
    return check_size(run->size_bytes, &run->target->facts, error);
}

static bool check_place(struct speed_run *run, enum target_place place, uint64_t need_bytes,
                        struct error *error)
{
    uint64_t free_bytes;
    bool exact;
    if (need_bytes == 0) {
        return true;
    }
    if (!run->target->ops->free_space(run->target, place, &free_bytes, &exact, error)) {
        return false;
    }
    if (exact && free_bytes < need_bytes) {
        char have[SIZE_TEXT_LENGTH];
        char need[SIZE_TEXT_LENGTH];
        return error_set(error, ERROR_LIMIT, 0,
                         "too little free space on the %s volume: %s, the test needs %s",
                         place == TARGET_FIRST ? "first" : "second", size_text(free_bytes, have),
                         size_text(need_bytes, need));
    }
    return true;
}

static bool check_free_space(struct speed_run *run, struct error *error)
{
    const struct speed_test *test = run->test;
    bool fills = test->has_source && !reads_existing(run) && !run->options->sparse;
    bool writes = test->has_destination || test->server_side;
    uint64_t first = fills ? run->size_bytes : 0;
    uint64_t second = writes ? run->size_bytes : 0;
    if (!run->target->facts.second_place || destination_place(test) == TARGET_FIRST) {
        first += second;
        second = 0;
    }
    return check_place(run, TARGET_FIRST, first, error) &&
           check_place(run, TARGET_SECOND, second, error);
}

/* ---- The test ---- */

static void note(const struct observer *observer, const char *test, const char *text)
{
    char line[160];
    snprintf(line, sizeof line, "%s %s", test, text);
    if (observer->on_note != NULL) {
        observer->on_note(observer->context, line);
    }
}

bool speed_test_run(struct speed_run *run, const struct speed_test *test,
                    const struct speed_options *options, struct target *target,
                    const struct observer *observer, struct error *error)
{
    *run = (struct speed_run){
        .test = test, .options = options, .target = target, .size_bytes = options->size_bytes};
    if (test->server_side && !target->facts.server_copy) {
        note(observer, test->name, "skipped: the server does not offer to copy files");
        return true;
    }
    if (options->existing_file != NULL && !test->uses_existing_file) {
        note(observer, test->name, "ignores -F: it makes its own file");
    }
    if ((reads_existing(run) && !open_existing(run, error)) || !check_free_space(run, error) ||
        !prepare_flows(run, error)) {
        return false;
    }
    struct test_case description = {
        .name = test->name,
        .chunk_bytes = run->flow.plan.chunk_bytes,
        .size_bytes = run->size_bytes,
        .sparse = options->sparse,
        .warmups = options->measure.warmups,
        .iterations = options->measure.iterations,
    };
    struct workload workload = {test->prepare, test->timed, test->restore, run};
    return (observer->on_begin == NULL ||
            observer->on_begin(observer->context, &description, error)) &&
           measure_run(&options->measure, target, &workload, &description, observer, error);
}

void speed_run_release(struct speed_run *run)
{
    flow_release(&run->flow);
    flow_release(&run->fill);
    payload_release(&run->payload);
}
