/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_WORKER_DEVICE_H
#define RUNNER_WORKER_DEVICE_H

#include "kernels/backend.h"
#include "kernels/model.h"

/* What calls of a model's `advance` took of a device and of the host. */
struct device_effort {
    long long trials;   /* of batches */
    long long launches; /* transforms too */
    long long copies;   /* planes that leave too */
    double waited;      /* for the device, s */
    double total;       /* of all calls, s */
    struct device_counts before;
    long long trials_before;
    double begin;
};

/** A call of `advance` begins; nothing is done for the CPU. */
void device_effort_begin(struct device_effort *e, struct backend *be,
                         const struct run_control *control);

/** It has ended. */
void device_effort_end(struct device_effort *e, struct backend *be,
                       const struct run_control *control);

/** One line of the log by a worker at its end; none when there was no trial. */
void device_effort_tell(const struct device_effort *e, int rank);

#endif
