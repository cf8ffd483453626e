#include "result/result.h"

#include "base/memory.h"

const char *const request_kind_names[REQUEST_KINDS] = {
    [REQUEST_READ] = "read",
    [REQUEST_WRITE] = "write",
    [REQUEST_FLUSH] = "flush",
    [REQUEST_COPY] = "server_copy",
};

uint64_t sample_requests(const struct sample_counts *counts)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < REQUEST_KINDS; i++) {
        sum += counts->requests[i];
    }
    return sum;
}

struct result_case *result_add_case(struct result *result, const struct test_case *test,
                                    struct error *error)
{
    size_t runs = (size_t)test->warmups + 2 * (size_t)test->iterations; /* each may be spoiled */
    struct result_case **cases =
        memory_resize(result->cases, result->case_count + 1, sizeof(struct result_case *));
    struct result_case *added = memory_allocate(1, sizeof *added);
    if (cases != NULL) {
        result->cases = cases;
    }
    if (added != NULL) {
        added->test = *test;
        added->samples = memory_allocate(runs, sizeof *added->samples);
        added->session_ns = memory_allocate(runs * test->sessions, sizeof *added->session_ns);
    }
    if (cases == NULL || added == NULL || added->samples == NULL || added->session_ns == NULL) {
        if (added != NULL) {
            memory_release(added->samples);
            memory_release(added->session_ns);
            memory_release(added);
        }
        memory_error(error, "for the results of a test");
        return NULL;
    }
    result->cases[result->case_count++] = added;
    return added;
}

void result_drop_case(struct result *result)
{
    struct result_case *last = result->cases[--result->case_count];
    memory_release(last->samples);
    memory_release(last->session_ns);
    memory_release(last);
}

void result_release(struct result *result)
{
    while (result->case_count > 0) {
        result_drop_case(result);
    }
    memory_release(result->cases);
    result->cases = NULL;
}

uint32_t result_spoiled(const struct result_case *result_case)
{
    return result_case->test.warmups + result_case->test.iterations;
}

const struct sample *result_measured(const struct result_case *result_case, size_t *count)
{
    uint32_t first = 0;
    while (first < result_case->sample_count && result_case->samples[first].warmup) {
        first++;
    }
    *count = result_case->sample_count - first;
    return result_case->samples + first;
}

void observers_add(struct observers *observers, const struct observer *observer)
{
    if (observers->count < OBSERVER_LIMIT) {
        observers->list[observers->count++] = *observer;
    }
}

bool observers_begin(const struct observers *observers, const struct result_case *result_case,
                     struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < observers->count; i++) {
        const struct observer *observer = &observers->list[i];
        ok =
            observer->on_begin == NULL || observer->on_begin(observer->context, result_case, error);
    }
    return ok;
}

typedef bool run_listener(void *context, const struct result_case *result_case,
                          const struct sample *sample, struct error *error);

/* Before and after a run the same is told, to another function. */
static bool tell_run(const struct observers *observers, bool after,
                     const struct result_case *result_case, const struct sample *sample,
                     struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < observers->count; i++) {
        const struct observer *observer = &observers->list[i];
        run_listener *listener = after ? observer->on_sample : observer->on_run_begin;
        ok = listener == NULL || listener(observer->context, result_case, sample, error);
    }
    return ok;
}

bool observers_run_begin(const struct observers *observers, const struct result_case *result_case,
                         const struct sample *sample, struct error *error)
{
    return tell_run(observers, false, result_case, sample, error);
}

bool observers_run_end(const struct observers *observers, const struct result_case *result_case,
                       const struct sample *sample, bool *again, struct error *error)
{
    bool ok = true;
    *again = false;
    for (size_t i = 0; ok && i < observers->count; i++) {
        const struct observer *observer = &observers->list[i];
        ok = observer->on_run_end == NULL ||
             observer->on_run_end(observer->context, result_case, sample, again, error);
    }
    return ok;
}

bool observers_sample(const struct observers *observers, const struct result_case *result_case,
                      const struct sample *sample, struct error *error)
{
    return tell_run(observers, true, result_case, sample, error);
}

bool observers_end(const struct observers *observers, const struct result *result,
                   const struct result_case *result_case, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; i < observers->count; i++) {
        const struct observer *observer = &observers->list[i];
        struct error later;
        ok = (observer->on_end == NULL ||
              observer->on_end(observer->context, result, result_case, ok ? error : &later)) &&
             ok;
    }
    return ok;
}

bool observers_finish(const struct observers *observers, const struct result *result,
                      struct error *error)
{
    bool ok = true;
    for (size_t i = 0; i < observers->count; i++) {
        const struct observer *observer = &observers->list[i];
        struct error later;
        ok = (observer->on_finish == NULL ||
              observer->on_finish(observer->context, result, ok ? error : &later)) &&
             ok;
    }
    return ok;
}

void observers_note(const struct observers *observers, const char *text)
{
    for (size_t i = 0; i < observers->count; i++) {
        if (observers->list[i].on_note != NULL) {
            observers->list[i].on_note(observers->list[i].context, text);
        }
    }
}

void observers_progress(const struct observers *observers, const struct result_case *result_case,
                        uint32_t number, bool warmup, uint64_t pause_left_ns)
{
    for (size_t i = 0; i < observers->count; i++) {
        if (observers->list[i].on_progress != NULL) {
            observers->list[i].on_progress(observers->list[i].context, result_case, number, warmup,
                                           pause_left_ns);
        }
    }
}
