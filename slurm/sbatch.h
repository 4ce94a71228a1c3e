/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_SBATCH_H
#define SLURM_SBATCH_H

#include "slurm/batch.h"

/*
 * The calls of sbatch of a submission, in order: the run (several arrays where one would be too
 * long), the retry of what failed, collecting, pictures. Each is noted in the submission file
 * as soon as Slurm has taken it.
 */

/**
 * Make the calls and print what became of each. The submission file is there, without jobs.
 *
 * @return 0, or ERR_IO in sbatch's own words, with what is submitted and what is not
 */
int sbatch_all(const struct batch *batch);

/** Print the calls instead, with a word in angle brackets where the number of a job would
 * stand.
 *  @return 0, ERR_MEMORY */
int sbatch_print(const struct batch *batch, FILE *out);

#endif
