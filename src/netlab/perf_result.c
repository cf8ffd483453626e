#include "netlab/perf_result.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Traffic ---- */

static void add_end(struct perf_end *sum, const struct perf_end *more)
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

void perf_traffic_add(struct perf_traffic *sum, const struct perf_traffic *more)
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

struct perf_size *perf_result_add_size(struct perf_result *result, uint64_t size_bytes,
                                       struct error *error)
{
    struct perf_size *sizes = memory_resize(result->sizes, result->size_count + 1, sizeof *sizes);
    if (sizes == NULL) {
        memory_error(error, "for the result of a size");
        return NULL;
    }
    result->sizes = sizes;
    struct perf_size *added = &sizes[result->size_count++];
    *added = (struct perf_size){.size_bytes = size_bytes};
    return added;
}

static struct perf_case *find_case(struct perf_size *size, const char *test)
{
    for (size_t i = 0; i < size->case_count; i++) {
        if (strcmp(size->cases[i].test, test) == 0) {
            return &size->cases[i];
        }
    }
    return NULL;
}

static struct perf_case *add_case(struct perf_size *size, const char *test)
{
    struct perf_case *cases = memory_resize(size->cases, size->case_count + 1, sizeof *cases);
    if (cases == NULL) {
        return NULL;
    }
    size->cases = cases;
    struct perf_case *added = &cases[size->case_count++];
    *added = (struct perf_case){.count = 0};
    snprintf(added->test, sizeof added->test, "%s", test);
    return added;
}

struct perf_run *perf_size_add_run(struct perf_size *size, const char *test, struct error *error)
{
    struct perf_case *perf_case = find_case(size, test);
    perf_case = perf_case != NULL ? perf_case : add_case(size, test);
    struct perf_run *runs = perf_case != NULL
                                ? memory_resize(perf_case->runs, perf_case->count + 1, sizeof *runs)
                                : NULL;
    if (runs == NULL) {
        memory_error(error, "for the counts of a run");
        return NULL;
    }
    perf_case->runs = runs;
    struct perf_run *added = &runs[perf_case->count++];
    *added = (struct perf_run){.number = 0};
    return added;
}

bool perf_result_add_fault(struct perf_result *result, struct error *error, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (result->fault_count++ >= PERF_FAULT_LIMIT) {
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

static void release_size(struct perf_size *size)
{
    for (size_t i = 0; i < size->case_count; i++) {
        memory_release(size->cases[i].runs);
    }
    memory_release(size->cases);
    memory_release(size->csv);
    memory_release(size->json);
}

void perf_result_release(struct perf_result *result)
{
    for (size_t i = 0; i < result->size_count; i++) {
        release_size(&result->sizes[i]);
    }
    for (size_t i = 0; i < result->fault_count && i < PERF_FAULT_LIMIT; i++) {
        memory_release(result->faults[i]);
    }
    memory_release(result->sizes);
    memory_release(result->faults);
    *result = (struct perf_result){.size_count = 0};
}
