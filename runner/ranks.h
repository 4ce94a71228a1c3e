/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_RANKS_H
#define RUNNER_RANKS_H

#include "runner/run.h"

/**
 * One rank of the farm, from MPI_Init_thread to MPI_Finalize. Collective over all ranks at
 * start-up only.
 *
 * @param options  the same on every rank but for the placement of the process
 * @param begin    clock_wall at the command's start
 * @return exit code of the process: under a launcher 0 when all went in order (the journal's
 *         `end` record has the code), by hand the run's code on rank 0
 */
int ranks_run(struct run_options *options, double begin);

#endif
