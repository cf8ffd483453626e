#include "harness/rig.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* The ends are connected last: it is the link that makes their interfaces. */
static bool make_link(struct harness_rig *rig, const struct harness_setup *setup,
                      struct harness_result *result, struct error *error)
{
    const struct link_shape *shape = &result->link.shapes[LINK_TO_SERVER];
    struct lab_config config = {.mtu = result->link.mtu,
                                .rate_bits_per_s = shape->rate_bits_per_s,
                                .delay_ns = shape->delay_ns,
                                .congestion_control = result->congestion_control};
    if (!lab_up(&rig->lab, &config, error) ||
        !link_up(&rig->link, setup->settings->link, &result->link, &rig->lab, error) ||
        !lab_connect(&rig->lab, &config, error)) {
        return false;
    }
    result->backend = rig->link.backend->name;
    snprintf(result->link_conditions, sizeof result->link_conditions, "%s",
             rig->link.backend->conditions(&rig->link));
    memcpy(result->settings, rig->lab.settings, sizeof result->settings);
    return true;
}

/* A machine that is too slow changes the label; over a false link nothing is measured. */
static bool calibrate(struct harness_rig *rig, const struct harness_setup *setup,
                      struct harness_result *result, struct error *error)
{
    struct error why;
    if (!calibration_measure(&result->calibration, &rig->lab, &rig->link, setup->interrupt->fd,
                             error)) {
        return false;
    }
    result->calibrated = true;
    result->verdict = CALIBRATION_TRUE;
    if (result->shaped) {
        result->verdict = calibration_judge(&result->calibration, &result->link, &why);
    }
    if (result->verdict == CALIBRATION_FALSE) {
        *error = why;
        return error_prefix(error, "%s: the link is not what it should be", result->name);
    }
    if (result->verdict == CALIBRATION_TOO_SLOW && setup->settings->strict) {
        *error = why;
        return error_prefix(error, "%s: the machine does not keep the rate (STRICT=1)",
                            result->name);
    }
    return true;
}

bool harness_rig_up(struct harness_rig *rig, const struct harness_setup *setup,
                    struct harness_result *result, struct error *error)
{
    return make_link(rig, setup, result, error) && calibrate(rig, setup, result, error);
}

void harness_rig_lateness(struct harness_rig *rig, struct harness_result *result)
{
    if (rig->link.backend == NULL || rig->link.backend->lateness == NULL) {
        return;
    }
    struct histogram *lateness = memory_allocate(1, sizeof *lateness);
    if (lateness == NULL) {
        return; /* a figure less */
    }
    rig->link.backend->lateness(&rig->link, lateness);
    result->has_lateness = lateness->count > 0;
    result->lateness_median_ns = histogram_percentile(lateness, 0.5);
    result->lateness_p99_ns = histogram_percentile(lateness, 0.99);
    result->lateness_maximum_ns = lateness->count > 0 ? lateness->maximum : 0;
    memory_release(lateness);
}

void harness_rig_down(struct harness_rig *rig)
{
    link_down(&rig->link);
    lab_down(&rig->lab);
}
