#include "workload/measure.h"

#include "base/clock.h"
#include "base/memory.h"
#include "result/shares.h"
#include "workload/crew.h"

#include <string.h>
#include <time.h>

/* One session's part of the current run. */
struct worker {
    const struct workload *workload;
    const struct measure_session *session;
    uint64_t pause_until_ns;
    bool fresh;
    struct sample_counts counts;
    struct histogram service;
    struct target_account before, after;
    uint64_t begin_ns, end_ns, cpu_ns;
};

/* How often the session of a worker that waits is looked after, and how long that takes. */
#define CARE_INTERVAL_NS (1 * NS_PER_S)
#define CARE_NS          (1 * NS_PER_MS)
/* How often a pause is told of. */
#define PAUSE_PIECE_NS (1 * NS_PER_S)

/* ---- The steps of a run ---- */

static uint64_t thread_cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * NS_PER_S + (uint64_t)used.tv_nsec;
}

static bool pause_step(void *context, struct error *error)
{
    struct worker *worker = context;
    struct target *target = worker->session->target;
    bool readable;
    return target->ops->idle(target, worker->pause_until_ns, -1, &readable, error);
}

/* While a worker waits for the others: tickles out when they are due, and the server's in. */
static bool care(void *context, struct error *error)
{
    struct worker *worker = context;
    struct target *target = worker->session->target;
    bool readable;
    return target->ops->idle(target, clock_now_ns() + CARE_NS, -1, &readable, error);
}

static bool prepare_step(void *context, struct error *error)
{
    struct worker *worker = context;
    worker->counts = (struct sample_counts){.service = &worker->service};
    worker->service = (struct histogram){0};
    return worker->workload->prepare(worker->session->context, worker->fresh, error);
}

/* A step of its own: what an observer waits before a run must not count as the target's waiting. */
static bool account_before_step(void *context, struct error *error)
{
    struct worker *worker = context;
    struct target *target = worker->session->target;
    return target->ops->account(target, &worker->before, error);
}

/* The timed section: nothing but the workload lies between the two readings. */
static bool timed_step(void *context, struct error *error)
{
    struct worker *worker = context;
    uint64_t cpu_before_ns = thread_cpu_ns();
    worker->begin_ns = clock_now_ns();
    bool ok = worker->workload->timed(worker->session->context, &worker->counts, error);
    worker->end_ns = clock_now_ns();
    worker->cpu_ns = thread_cpu_ns() - cpu_before_ns;
    return ok;
}

static bool restore_step(void *context, struct error *error)
{
    struct worker *worker = context;
    return worker->workload->restore(worker->session->context, error);
}

static bool account_after_step(void *context, struct error *error)
{
    struct worker *worker = context;
    struct target *target = worker->session->target;
    return target->ops->account(target, &worker->after, error);
}

/* ---- A run ---- */

static void add_counts(struct sample_counts *sum, const struct sample_counts *counts)
{
    sum->bytes += counts->bytes;
    sum->runts += counts->runts;
    sum->short_replies += counts->short_replies;
    sum->round_trips =
        counts->round_trips > sum->round_trips ? counts->round_trips : sum->round_trips;
    for (size_t kind = 0; kind < REQUEST_KINDS; kind++) {
        sum->requests[kind] += counts->requests[kind];
    }
}

/* From the first start to the last end; what the sessions moved, together. */
static void gather(const struct worker *workers, size_t count, struct result_case *result_case,
                   struct sample *sample)
{
    uint64_t begin_ns = workers[0].begin_ns;
    uint64_t end_ns = workers[0].end_ns;
    uint64_t *session_ns = result_case->session_ns + result_case->sample_count * count;
    for (size_t i = 0; i < count; i++) {
        const struct worker *worker = &workers[i];
        begin_ns = worker->begin_ns < begin_ns ? worker->begin_ns : begin_ns;
        end_ns = worker->end_ns > end_ns ? worker->end_ns : end_ns;
        session_ns[i] = worker->end_ns - worker->begin_ns;
        sample_add_account(sample, session_ns[i], worker->cpu_ns, worker->counts.round_trips,
                           &worker->before, &worker->after);
        add_counts(&sample->counts, &worker->counts);
    }
    sample->duration_ns = end_ns - begin_ns;
    sample->tcp_before = workers[0].before.tcp;
    sample->tcp_after = workers[0].after.tcp;
}

struct measurement {
    const struct measure_plan *plan;
    struct crew *crew;
    struct worker *workers;
    size_t count;
    struct result_case *result_case;
    const struct observers *observers;
};

/* Of run `run`, warm-ups first: "run 1 of 5" comes after them. */
static uint32_t number_of(const struct measure_plan *plan, uint32_t run)
{
    return run < plan->warmups ? run + 1 : run - plan->warmups + 1;
}

/* In pieces, so that somebody who watches sees it pass. */
static bool pause_before(struct measurement *measurement, uint32_t run, struct error *error)
{
    const struct measure_plan *plan = measurement->plan;
    for (uint64_t left_ns = plan->pause_ns; left_ns > 0;) {
        uint64_t piece_ns = left_ns < PAUSE_PIECE_NS ? left_ns : PAUSE_PIECE_NS;
        observers_progress(measurement->observers, measurement->result_case, number_of(plan, run),
                           run < plan->warmups, left_ns);
        for (size_t i = 0; i < measurement->count; i++) {
            measurement->workers[i].pause_until_ns = clock_now_ns() + piece_ns;
        }
        if (!crew_step(measurement->crew, pause_step, error)) {
            return false;
        }
        left_ns -= piece_ns;
    }
    return true;
}

/* Among the samples that count, or among the spoiled ones; there is room for as many of those as
 * there are iterations, and a run that would be one more counts. */
static const struct sample *keep(struct measurement *measurement, struct sample *sample, bool again)
{
    struct result_case *result_case = measurement->result_case;
    uint32_t index = result_case->sample_count;
    sample->spoiled = again && result_case->spoiled_count < measurement->plan->iterations;
    if (sample->spoiled) {
        uint64_t *session_ns = result_case->session_ns;
        size_t count = measurement->count;
        index = result_spoiled(result_case) + result_case->spoiled_count++;
        memcpy(session_ns + index * count, session_ns + result_case->sample_count * count,
               count * sizeof *session_ns);
    } else {
        result_case->sample_count++;
        for (size_t i = 0; !sample->warmup && i < measurement->count; i++) {
            histogram_merge(&result_case->service, &measurement->workers[i].service);
        }
    }
    result_case->samples[index] = *sample;
    return &result_case->samples[index];
}

/* The accounts are taken in steps of their own: no session is looked at while another is timed. */
static bool run_once(struct measurement *measurement, uint32_t run, bool *spoiled,
                     struct error *error)
{
    bool again;
    const struct measure_plan *plan = measurement->plan;
    struct result_case *result_case = measurement->result_case;
    bool warmup = run < plan->warmups;
    struct sample sample = {.number = number_of(plan, run),
                            .warmup = warmup,
                            .size_bytes = result_case->test.size_bytes * measurement->count};
    observers_progress(measurement->observers, result_case, sample.number, warmup, 0);
    for (size_t i = 0; i < measurement->count; i++) {
        measurement->workers[i].fresh =
            result_case->sample_count + result_case->spoiled_count == 0 || plan->fresh_files;
    }
    if (!crew_step(measurement->crew, prepare_step, error) ||
        !observers_run_begin(measurement->observers, result_case, &sample, error) ||
        !crew_step(measurement->crew, account_before_step, error) ||
        !crew_step(measurement->crew, timed_step, error) ||
        !crew_step(measurement->crew, account_after_step, error)) {
        return false;
    }
    gather(measurement->workers, measurement->count, result_case, &sample);
    if (!observers_run_end(measurement->observers, result_case, &sample, &again, error)) {
        return false;
    }
    const struct sample *kept = keep(measurement, &sample, again);
    *spoiled = kept->spoiled;
    return observers_sample(measurement->observers, result_case, kept, error) &&
           crew_step(measurement->crew, restore_step, error);
}

bool measure_run(const struct measure_plan *plan, const struct workload *workload,
                 const struct measure_session *sessions, size_t session_count,
                 struct result_case *result_case, const struct observers *observers,
                 struct error *error)
{
    struct measurement measurement = {
        .plan = plan,
        .workers = memory_allocate(session_count, sizeof(struct worker)),
        .count = session_count,
        .result_case = result_case,
        .observers = observers,
    };
    if (measurement.workers == NULL) {
        return memory_error(error, "for the sessions of a run");
    }
    for (size_t i = 0; i < session_count; i++) {
        measurement.workers[i].workload = workload;
        measurement.workers[i].session = &sessions[i];
    }
    static const struct crew_care care_of_session = {care, CARE_INTERVAL_NS};
    bool ok = crew_start(&measurement.crew, measurement.workers, session_count,
                         sizeof(struct worker), &care_of_session, error);
    bool first = true;
    for (uint32_t run = 0; ok && run < plan->warmups + plan->iterations;) {
        bool spoiled = false;
        ok = (first || pause_before(&measurement, run, error)) &&
             run_once(&measurement, run, &spoiled, error);
        run += !spoiled;
        first = false;
    }
    crew_end(measurement.crew);
    memory_release(measurement.workers);
    return ok;
}
