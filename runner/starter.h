/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_STARTER_H
#define RUNNER_STARTER_H

#include <stdbool.h>

#include "runner/arguments.h"

/* The program that starts the ranks: mpirun, or srun inside a Slurm allocation. */
struct starter {
    bool srun;
    long nodes;     /* of the allocation, 0: not known */
    char note[160]; /* for the banner: what was chosen and why, "" outside an allocation */
};

/**
 * Choose it: inside an allocation srun when its `--mpi=list` has pmix, else mpirun; outside of
 * one mpirun.
 *
 * @param wanted  of --launcher
 * @return 0, or ERR_MPI with one line that says what to do: none is on the PATH, root is
 *         refused; ERR_ARGUMENT for srun without an allocation
 */
int starter_choose(enum run_launcher wanted, struct starter *out);

/**
 * Add the program and its options, up to the number of ranks. With srun the ranks go round the
 * nodes: rank 0, which does not compute, is one more on the first.
 */
void starter_add(const struct starter *starter, struct arguments *arguments, int ranks,
                 bool verbose);

/** In the child before it becomes the starter: forget the settings of the batch job that would
 *  make srun start the ranks otherwise than it is told. */
void starter_clean(const struct starter *starter);

#endif
