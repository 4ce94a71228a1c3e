/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/worker_device.h"

#include "kernels/base/clock.h"
#include "kernels/base/log.h"

/* A model whose rows do not advance together counts steps alone. */
static long long trials_of(const struct run_control *control)
{
    const long long trials = atomic_load(&control->trials);
    return trials > 0 ? trials : atomic_load(&control->steps_done);
}

static long long copies_of(const struct device_counts *counts)
{
    return counts->uploads + counts->downloads;
}

static long long launches_of(const struct device_counts *counts)
{
    return counts->launches + counts->transforms;
}

void device_effort_begin(struct device_effort *e, struct backend *be,
                         const struct run_control *control)
{
    if (be->ops->device == NULL)
        return;
    e->before = *be->ops->device->counts(be);
    e->trials_before = trials_of(control);
    e->begin = clock_wall();
}

void device_effort_end(struct device_effort *e, struct backend *be,
                       const struct run_control *control)
{
    if (be->ops->device == NULL)
        return;
    const struct device_counts *const now = be->ops->device->counts(be);
    e->trials += trials_of(control) - e->trials_before;
    e->launches += launches_of(now) - launches_of(&e->before);
    e->copies += copies_of(now) - copies_of(&e->before);
    e->waited += now->waited - e->before.waited;
    e->total += clock_wall() - e->begin;
}

void device_effort_tell(const struct device_effort *e, int rank)
{
    const double trials = (double)e->trials;
    if (e->trials == 0)
        return;
    log_info("rank %d: %lld trial steps of its batch, %.1f launches and %.1f copies each; "
             "waited %.3g s for the device, host time %.3g ms a trial step",
             rank, e->trials, (double)e->launches / trials, (double)e->copies / trials,
             e->waited, 1e3 * (e->total - e->waited) / trials);
}
