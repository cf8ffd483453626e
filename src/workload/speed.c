#include "workload/speed.h"

#include "base/memory.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TEST_ROW(id, implementation, ...) extern const struct speed_test implementation;
#include "result/test_rows.h"
#undef TEST_ROW

#define TEST_ROW(id, implementation, ...) [TEST_##id] = &implementation,
const struct speed_test *const speed_tests[] = {
#include "result/test_rows.h"
};
#undef TEST_ROW

const size_t speed_test_count = TEST_COUNT;

const struct speed_test *speed_test_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < speed_test_count; i++) {
        const char *known = speed_tests[i]->facts->name;
        if (strlen(known) == length && strncasecmp(known, name, length) == 0) {
            return speed_tests[i];
        }
    }
    return NULL;
}

static bool sends(const struct speed_test *test, enum request_kind kind)
{
    return (test->facts->requests & REQUEST_BIT(kind)) != 0;
}

/* ---- Plans ---- */

/* Of a test that the server does alone no flow is timed, but it has the size of a write's chunk. */
static const enum flow_direction directions[] = {[DATA_STAYS] = FLOW_WRITE,
                                                 [DATA_TO_CLIENT] = FLOW_READ,
                                                 [DATA_TO_SERVER] = FLOW_WRITE,
                                                 [DATA_BOTH_WAYS] = FLOW_COPY};

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
                     " that the calls of this AFP version reach",
                     size_bytes, facts->size_limit) ||
           error_remedy(error, REMEDY_AFP_VERSION);
}

bool speed_options_check(const struct speed_options *options, const struct target *target,
                         struct error *error)
{
    const struct target_facts *facts = &target->facts;
    if (options->chunk_bytes > facts->chunk_limit) {
        return error_set(error, ERROR_LIMIT, 0,
                         "requests of %" PRIu32
                         " bytes are more than the server's quantum of %" PRIu32,
                         options->chunk_bytes, facts->chunk_limit) ||
               error_remedy(error, REMEDY_REQUEST_SIZE);
    }
    if (options->chunk_bytes % facts->alignment != 0) {
        return error_set(error, ERROR_LIMIT, 0,
                         "requests past the cache have a multiple of %" PRIu32
                         " bytes, not %" PRIu32,
                         facts->alignment, options->chunk_bytes) ||
               error_remedy(error, REMEDY_BLOCKS);
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

/* ---- Files ---- */

bool speed_close(struct speed_run *run, struct target_file **file, struct error *error)
{
    struct target_file *open = *file;
    *file = NULL;
    return open == NULL || run->target->ops->close_file(run->target, open, error);
}

bool speed_nothing(void *run, struct error *error)
{
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

/* A file that is there helps a test that reads it and writes nowhere near. Returns false. */
static bool keep_remedy(bool helps, struct error *error)
{
    return error->remedy == REMEDY_EXISTING_FILE && !helps && error_remedy(error, REMEDY_NONE);
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
        bool elsewhere = !test->has_destination || run->target->facts.second_place;
        return keep_remedy(test->uses_existing_file && elsewhere, error);
    }
    return !test->has_destination ||
           make_file(run, destination_place(test), SPEED_DESTINATION, &run->destination, error) ||
           keep_remedy(false, error);
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

static void note(const struct observers *observers, const char *test, const char *text)
{
    char line[240];
    snprintf(line, sizeof line, "%s %s", test, text);
    observers_note(observers, line);
}

/* A courtesy: a server's word may mean a quota that does not bind, or nothing, and is passed on. */
static bool check_place(struct speed_run *run, enum target_place place, uint64_t need_bytes,
                        const struct observers *observers, struct error *error)
{
    uint64_t free_bytes;
    bool exact;
    char text[200];
    char have[SIZE_TEXT_LENGTH];
    char need[SIZE_TEXT_LENGTH];
    if (need_bytes == 0) {
        return true;
    }
    if (!run->target->ops->free_space(run->target, place, &free_bytes, &exact, error)) {
        return false;
    }
    if (free_bytes >= need_bytes) {
        return true;
    }
    const char *volume = place == TARGET_FIRST ? "first" : "second";
    size_text(free_bytes, have);
    size_text(need_bytes, need);
    if (exact) {
        return error_set(error, ERROR_LIMIT, 0,
                         "too little free space on the %s volume: %s, the test needs %s", volume,
                         have, need);
    }
    snprintf(text, sizeof text,
             "goes on although the server claims %s of free space on the %s volume: the test needs "
             "%s",
             have, volume, need);
    note(observers, run->test->facts->name, text);
    return true;
}

/* All sessions fill and write at once. */
static bool check_free_space(struct speed_run *run, size_t sessions,
                             const struct observers *observers, struct error *error)
{
    const struct speed_test *test = run->test;
    bool fills = test->has_source && !reads_existing(run) && !run->options->sparse;
    bool writes = test->has_destination || sends(test, REQUEST_COPY);
    uint64_t first = fills ? run->size_bytes * sessions : 0;
    uint64_t second = writes ? run->size_bytes * sessions : 0;
    if (!run->target->facts.second_place || destination_place(test) == TARGET_FIRST) {
        first += second;
        second = 0;
    }
    return check_place(run, TARGET_FIRST, first, observers, error) &&
           check_place(run, TARGET_SECOND, second, observers, error);
}

/* ---- The test ---- */

static bool prepare_run(struct speed_run *run, struct error *error)
{
    const struct target_facts *facts = &run->target->facts;
    if (reads_existing(run) && !open_existing(run, error)) {
        return false;
    }
    uint32_t write_chunk = chunk_bytes(run->options, facts, FLOW_WRITE);
    enum flow_direction direction = directions[run->test->facts->data];
    uint32_t chunk = chunk_bytes(run->options, facts, direction);
    size_t piece = run->size_bytes < chunk ? (size_t)run->size_bytes : chunk;
    size_t written = run->size_bytes < write_chunk ? (size_t)run->size_bytes : write_chunk;
    struct flow_plan fill = plan_flow(run, FLOW_WRITE, write_chunk);
    struct flow_plan timed = plan_flow(run, direction, chunk);
    return payload_make(&run->payload, facts->alignment, piece, written, error) &&
           flow_prepare(&run->fill, &fill, error) && flow_prepare(&run->flow, &timed, error);
}

static struct test_case describe(const struct speed_run *run, size_t sessions)
{
    const struct speed_options *options = run->options;
    const struct test_facts *facts = run->test->facts;
    return (struct test_case){
        .name = facts->name,
        .chunk_bytes = run->flow.plan.chunk_bytes,
        .size_bytes = run->size_bytes,
        .sparse = options->sparse && run->test->has_source && !reads_existing(run),
        .batched = options->policy == FLOW_BATCH,
        .sink = facts->data == DATA_TO_CLIENT ? flow_sink_names[options->sink] : NULL,
        .flush = sends(run->test, REQUEST_FLUSH) && options->flush,
        .new_files = options->measure.fresh_files,
        .existing_file = reads_existing(run),
        .depth = run->target->facts.in_turn ? 1 : options->depth,
        .sessions = (uint32_t)sessions,
        .warmups = options->measure.warmups,
        .iterations = options->measure.iterations,
    };
}

/* A server's own part in the figures, which nobody would look for. */
static void note_short_replies(const struct result_case *result_case,
                               const struct observers *observers)
{
    uint64_t replies = 0;
    char text[160];
    for (uint32_t i = 0; i < result_case->sample_count; i++) {
        replies += result_case->samples[i].counts.short_replies;
    }
    snprintf(text, sizeof text,
             "short replies: %" PRIu64 " (the server returned less than was asked for, and no "
             "error; the rest was asked for again)",
             replies);
    if (replies > 0) {
        note(observers, result_case->test.name, text);
    }
}

static bool can_copy(const struct speed_test *test, struct target *const *targets, size_t count)
{
    bool can = true;
    for (size_t i = 0; i < count && sends(test, REQUEST_COPY); i++) {
        can = can && targets[i]->facts.server_copy;
    }
    return can;
}

static void note_skipped(const struct speed_test *test, struct target *const *targets, size_t count,
                         const struct observers *observers)
{
    char reason[160];
    const char *refusal = NULL;
    for (size_t i = 0; i < count && refusal == NULL; i++) {
        refusal = targets[i]->facts.copy_refusal;
    }
    snprintf(reason, sizeof reason, "skipped: %s",
             refusal != NULL ? refusal : "the server does not offer to copy files");
    note(observers, test->facts->name, reason);
}

/* Observers hear of the end whatever came before; the first failure is the one that is told. */
static bool measure(struct speed_run *runs, const struct test_case *description,
                    struct result *result, const struct observers *observers, struct error *error)
{
    struct result_case *result_case = result_add_case(result, description, error);
    struct measure_session *sessions = memory_allocate(description->sessions, sizeof *sessions);
    if (result_case == NULL || sessions == NULL) {
        memory_release(sessions);
        return result_case != NULL ? memory_error(error, "for the sessions of a test") : false;
    }
    for (uint32_t i = 0; i < description->sessions; i++) {
        sessions[i] = (struct measure_session){runs[i].target, &runs[i]};
    }
    const struct speed_test *test = runs[0].test;
    struct workload workload = {test->prepare, test->timed, test->restore};
    bool ok = observers_begin(observers, result_case, error) &&
              measure_run(&runs[0].options->measure, &workload, sessions, description->sessions,
                          result_case, observers, error);
    memory_release(sessions);
    struct error later;
    ok = result_summarize(result_case, ok ? error : &later) && ok;
    if (!ok) {
        result_case->failure = *error;
    }
    result_case->ended = ok;
    result_case->cache = runs[0].cache;
    note_short_replies(result_case, observers);
    return observers_end(observers, result, result_case, ok ? error : &later) && ok;
}

bool speed_test_run(struct speed_run *runs, const struct speed_test *test,
                    const struct speed_options *options, struct target *const *targets,
                    size_t target_count, struct result *result, const struct observers *observers,
                    struct error *error)
{
    for (size_t i = 0; i < target_count; i++) {
        runs[i] = (struct speed_run){.test = test,
                                     .options = options,
                                     .target = targets[i],
                                     .size_bytes = options->size_bytes};
    }
    if (!can_copy(test, targets, target_count)) {
        note_skipped(test, targets, target_count, observers);
        return true;
    }
    for (size_t i = 0; i < target_count; i++) {
        if (!prepare_run(&runs[i], error)) {
            return false;
        }
    }
    struct test_case description = describe(&runs[0], target_count);
    if (!check_free_space(&runs[0], target_count, observers, error)) {
        return false;
    }
    size_t cases = result->case_count;
    bool ok = measure(runs, &description, result, observers, error);
    bool begun = result->case_count > cases && result->cases[cases]->sample_count > 0;
    if (ok || begun || can_copy(test, targets, target_count)) {
        return ok;
    }
    /* What it offered it does not have: as if it had not offered it. */
    result_drop_case(result);
    note_skipped(test, targets, target_count, observers);
    return true;
}

void speed_run_release(struct speed_run *run)
{
    flow_release(&run->flow);
    flow_release(&run->fill);
    payload_release(&run->payload);
}
