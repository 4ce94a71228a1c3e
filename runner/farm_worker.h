/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_FARM_WORKER_H
#define RUNNER_FARM_WORKER_H

#include "io/resume.h"
#include "runner/comm.h"
#include "runner/devices.h"
#include "runner/placement.h"
#include "runner/run.h"
#include "scans/scan.h"

/* What a worker rank has when start-up is over; all borrowed. */
struct farm_place {
    const struct comm *comm;
    const struct scan *scan;
    const struct run_options *options;
    const struct placement *placement;
    const struct device_choice *device;
    const char *host;
    const char *wisdom; /* stored in the file, "" without */
    int attempt;
    int64_t open;                      /* rows wanted of all workers at the start */
    bool touched;                      /* members may have planes of an earlier run */
    const struct resume_table *resume; /* where members can go on */
};

/**
 * A rank above 0: the worker, its second thread and its end of the protocol, from READY to ACK.
 *
 * @param at_once  receives whether the process is to end by _exit: a rank has died
 * @return 0 when it left in order (an error of its own was reported to the controller); ERR_MPI
 *         when it could not
 */
int farm_worker_run(const struct farm_place *place, bool *at_once);

#endif
