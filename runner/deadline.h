/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_DEADLINE_H
#define RUNNER_DEADLINE_H

#include <stdbool.h>

/*
 * When a run must have ended: `--time-limit`, else the end of the Slurm job from
 * SLURM_JOB_END_TIME, else from one call of squeue, else never. Times are seconds of the Unix
 * epoch: the ranks' other clocks differ.
 */

/** Seconds of "90 s", "2 h", "1:30:00", "2-12:00:00" or a bare number of seconds: ERR_ARGUMENT
 *  for what is none or not above 0. @param option named in the error */
int deadline_read(const char *option, const char *text, double *seconds);

/** End of the batch job this process belongs to, 0: none or not known. */
double deadline_of_job(void);

/**
 * When to stop so that all is closed in time: 20 s before the end, or a tenth of what is left
 * when that is less, and so much earlier as the last writing takes; never more than half of
 * what is left.
 *
 * @param closing  s that writing the last planes and checkpoints takes
 * @return on clock_wall(); 0 for no deadline
 */
double deadline_stop(double deadline, double closing);

#endif
