/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_LAUNCH_H
#define RUNNER_LAUNCH_H

#include "runner/prepare.h"
#include "runner/starter.h"

/* The launcher: no MPI in this process. */

/* How the ranks ended. */
struct launch_end {
    bool twice;    /* interrupted twice: the ranks were killed */
    bool stopped;  /* a stop was asked for */
    bool late;     /* the ranks never began, and were ended */
    bool ended;    /* the starter was ended by us, for whatever reason */
    int exit_code; /* of mpirun or srun; with --enable-recovery always 0 */
    int left;      /* code that rank 0 has left in the lease, -1: none */
    int signal;    /* that killed mpirun or srun, 0: none */
};

/**
 * Start options->workers + 1 ranks of this program and wait until none of them is left.
 * SIGINT, SIGTERM, SIGHUP and SIGUSR1 become SIGUSR1 for the ranks, which stop in order; a
 * second SIGINT ends them.
 *
 * @return 0, or ERR_MPI when nothing could be started
 */
int launch_ranks(const struct prepared *prepared, const struct starter *starter,
                 struct launch_end *end);

#endif
