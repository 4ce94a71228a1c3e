/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_CONTROLLER_H
#define RUNNER_CONTROLLER_H

#include "runner/comm.h"
#include "runner/prepare.h"

#define CONTROLLER_HOST_SIZE 64

/* How the text of a run begins that has no worker left: the launcher may start it again. */
#define CONTROLLER_ALONE "no worker is left: "

/* What rank 0 learned of a rank at start-up. */
struct rank_name {
    char host[CONTROLLER_HOST_SIZE];
    struct process_id process;
};

/**
 * Rank 0 of the farm: hands out tasks until all has ended, then lets the workers go. Never
 * computes, never blocks, sleeps while nothing happens. Workers that die are no error: see
 * runner/fence.h.
 *
 * @param names    [comm->size]
 * @param prepared its dispatch says afterwards how the run ended
 * @param died     receives how many workers have died: MPI_Finalize may hang
 * @return 0 when every worker has closed the file and left, or died; else a run error after
 *         which MPI_Finalize may hang
 */
int controller_run(const struct comm *comm, const struct rank_name *names,
                   struct prepared *prepared, int attempt, int *died);

#endif
