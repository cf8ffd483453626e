#include "harness/result.h"

#include "base/memory.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Traffic ---- */

static void add_end(struct harness_end *sum, const struct harness_end *more)
{
    sum->connections = more->connections > sum->connections ? more->connections : sum->connections;
    sum->bytes_sent += more->bytes_sent;
    sum->segments_out += more->segments_out;
    sum->data_segments_out += more->data_segments_out;
    sum->retransmits += more->retransmits;
    sum->busy_us += more->busy_us;
    sum->receive_window_us += more->receive_window_us;
    sum->send_buffer_us += more->send_buffer_us;
    if (more->connections > 0) {
        sum->segment_bytes = more->segment_bytes;
        sum->tcp = more->tcp;
    }
}

void harness_traffic_add(struct harness_traffic *sum, const struct harness_traffic *more)
{
    for (size_t way = 0; way < LINK_WAYS; way++) {
        packet_counts_add(&sum->ways[way], &more->ways[way]);
        sum->lost[way] += more->lost[way];
        sum->dropped[way] += more->dropped[way];
    }
    for (size_t side = 0; side < LAB_SIDES; side++) {
        sum->segments_out[side] += more->segments_out[side];
        add_end(&sum->ends[side], &more->ends[side]);
    }
}

/* ---- A result ---- */

struct harness_size *harness_result_add_size(struct harness_result *result, uint64_t size_bytes,
                                             struct error *error)
{
    struct harness_size *sizes =
        memory_resize(result->sizes, result->size_count + 1, sizeof *sizes);
    if (sizes == NULL) {
        memory_error(error, "for the result of a size");
        return NULL;
    }
    result->sizes = sizes;
    struct harness_size *added = &sizes[result->size_count++];
    *added = (struct harness_size){.size_bytes = size_bytes};
    return added;
}

struct harness_case *harness_size_case(const struct harness_size *size, const char *test)
{
    for (size_t i = 0; i < size->case_count; i++) {
        if (strcmp(size->cases[i].test, test) == 0) {
            return &size->cases[i];
        }
    }
    return NULL;
}

static struct harness_case *add_case(struct harness_size *size, const char *test)
{
    struct harness_case *cases = memory_resize(size->cases, size->case_count + 1, sizeof *cases);
    if (cases == NULL) {
        return NULL;
    }
    size->cases = cases;
    struct harness_case *added = &cases[size->case_count++];
    *added = (struct harness_case){.count = 0};
    snprintf(added->test, sizeof added->test, "%s", test);
    return added;
}

struct harness_run *harness_size_add_run(struct harness_size *size, const char *test,
                                         struct error *error)
{
    struct harness_case *harness_case = harness_size_case(size, test);
    harness_case = harness_case != NULL ? harness_case : add_case(size, test);
    struct harness_run *runs =
        harness_case != NULL
            ? memory_resize(harness_case->runs, harness_case->count + 1, sizeof *runs)
            : NULL;
    if (runs == NULL) {
        memory_error(error, "for the counts of a run");
        return NULL;
    }
    harness_case->runs = runs;
    struct harness_run *added = &runs[harness_case->count++];
    *added = (struct harness_run){.number = 0};
    return added;
}

bool harness_result_add_fault(struct harness_result *result, struct error *error,
                              const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (result->fault_count++ >= HARNESS_FAULT_LIMIT) {
        return true;
    }
    char **faults = memory_resize(result->faults, result->fault_count, sizeof *faults);
    char *copy = memory_copy_string(text);
    if (faults != NULL) {
        result->faults = faults;
    }
    if (faults == NULL || copy == NULL) {
        result->fault_count--;
        memory_release(copy);
        return memory_error(error, "for a message");
    }
    faults[result->fault_count - 1] = copy;
    return true;
}

static void release_size(struct harness_size *size)
{
    for (size_t i = 0; i < size->case_count; i++) {
        memory_release(size->cases[i].runs);
    }
    memory_release(size->cases);
    memory_release(size->csv);
}

void harness_result_release(struct harness_result *result)
{
    for (size_t i = 0; i < result->size_count; i++) {
        release_size(&result->sizes[i]);
    }
    for (size_t i = 0; i < result->fault_count && i < HARNESS_FAULT_LIMIT; i++) {
        memory_release(result->faults[i]);
    }
    json_decref(result->document);
    memory_release(result->messages);
    memory_release(result->sizes);
    memory_release(result->faults);
    *result = (struct harness_result){.size_count = 0};
}
