/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_MPI_MAIN_H
#define TESTS_MPI_MAIN_H

#include <stdio.h>
#include <stdlib.h>

#include <check.h>
#include <mpi.h>

#include "tests/perturb/record.h"

/**
 * Run a test program on all ranks of MPI_COMM_WORLD, between its MPI_Init_thread and
 * MPI_Finalize: `rc = mpi_main(my_suite());`.
 *
 * No fork (it is not reliable after MPI_Init): a failing assert jumps out of its test, so a
 * test makes all its MPI calls first and asserts last, or the other ranks wait for ever. Rank 0
 * reports; another rank speaks only when it has a failure of its own. Collective.
 *
 * @param suite  the program's only suite; freed here
 * @return the exit code of the program, the same on every rank
 */
static inline int mpi_main(Suite *suite)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        perturb_begin();
    SRunner *const runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, rank == 0 ? CK_ENV : CK_SILENT);
    const int failed = srunner_ntests_failed(runner);
    if (rank != 0 && failed != 0) {
        printf("rank %d:\n", rank);
        srunner_print(runner, CK_NORMAL);
        fflush(stdout);
    }
    srunner_free(runner);
    int worst = 0;
    MPI_Allreduce(&failed, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
