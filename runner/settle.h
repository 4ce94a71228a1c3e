/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_SETTLE_H
#define RUNNER_SETTLE_H

#include "runner/comm.h"
#include "runner/devices.h"
#include "runner/placement.h"
#include "runner/run.h"
#include "scans/scan.h"

/* Where a rank of the farm runs: its cores and its device. */
struct settled {
    struct placement placement;
    struct device_choice device;
    char note[DEVICE_TEXT_SIZE]; /* what is to be said of the devices, once for all, "" */
    bool first;                  /* of the workers of its node that inherited the same cores */
};

/**
 * Find the cores and the device of this rank among the workers of its node, and bind it.
 * Collective over comm->tasks: each rank gets there, whatever fails; rank 0 gets nothing.
 *
 * @return 0, ERR_DEVICE, ERR_ARGUMENT, ERR_MEMORY: of this rank alone; ERR_MPI
 */
int settle_rank(const struct comm *comm, const struct run_options *options,
                const struct scan *scan, struct settled *out);

/** The same for a process that is a farm by itself and bound to nothing. */
int settle_alone(const struct run_options *options, const struct scan *scan,
                 struct settled *out);

#endif
