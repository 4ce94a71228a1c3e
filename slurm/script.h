/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_SCRIPT_H
#define SLURM_SCRIPT_H

#include "slurm/batch.h"

/**
 * Write the script of a kind of job: settings for sbatch, the site's block, the command, and
 * what becomes of signals and of work that is left.
 *
 * @param kind  SUBMISSION_RUN (a retry's too), SUBMISSION_COLLECT or SUBMISSION_PLOT
 */
void script_write(const struct batch *batch, enum submission_kind kind, FILE *out);

#endif
