#include "bench/measure.h"

#include "base/clock.h"

/* The timed section: nothing but the workload lies between the two readings. */
static bool time_it(const struct workload *workload, struct sample *sample, struct error *error)
{
    uint64_t begin_ns = clock_now_ns();
    bool ok = workload->timed(workload->context, &sample->counts, error);
    uint64_t end_ns = clock_now_ns();
    sample->duration_ns = end_ns - begin_ns;
    return ok;
}

static bool run_once(const struct measure_plan *plan, const struct workload *workload,
                     const struct test_case *test, struct sample *sample, bool first,
                     const struct observer *observer, struct error *error)
{
    if (observer->on_progress != NULL) {
        observer->on_progress(observer->context, test, sample->number, sample->warmup);
    }
    if (!workload->prepare(workload->context, first || plan->fresh_files, error) ||
        !time_it(workload, sample, error)) {
        return false;
    }
    return (observer->on_sample == NULL ||
            observer->on_sample(observer->context, test, sample, error)) &&
           workload->restore(workload->context, error);
}

bool measure_run(const struct measure_plan *plan, struct target *target,
                 const struct workload *workload, const struct test_case *test,
                 const struct observer *observer, struct error *error)
{
    uint32_t runs = plan->warmups + plan->iterations;
    for (uint32_t run = 0; run < runs; run++) {
        bool warmup = run < plan->warmups;
        struct sample sample = {.number = warmup ? run + 1 : run - plan->warmups + 1,
                                .warmup = warmup,
                                .size_bytes = test->size_bytes};
        bool readable;
        if (run > 0 && plan->pause_ns > 0 &&
            !target->ops->idle(target, clock_now_ns() + plan->pause_ns, -1, &readable, error)) {
            return false;
        }
        if (!run_once(plan, workload, test, &sample, run == 0, observer, error)) {
            return false;
        }
    }
    return true;
}
