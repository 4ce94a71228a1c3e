/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_PLAN_H
#define SLURM_PLAN_H

#include "kernels/base/submission.h"
#include "slurm/choice.h"

#define PLAN_NAME_SIZE 256

/* What `scanfarm plan` says of the scan, as far as a job needs it. */
struct scan_plan {
    char name[PLAN_NAME_SIZE];
    double members;
    char configuration[SUBMISSION_HASH_SIZE]; /* "": not told */
    long threads;                             /* cores of a worker, 0: all of a socket */
    double worker_bytes;                      /* memory of one */
    double plane_bytes;                       /* of what one writes at a stop: a plane … */
    double state_bytes;                       /* … and a checkpoint */
};

/**
 * Ask `scanfarm plan --json`, which reads the scan file as `run` would and compares the result
 * file and those of the shards, where they are there, with it. Its own errors are passed on as
 * they are, warnings of its sanity report are told, and pictures of numbers that the files will
 * not hold are refused.
 *
 * @param scanfarm  the program
 * @return 0, or the code that its exit code stands for: ERR_CONFLICT for files of another
 * configuration
 */
int plan_ask(const char *scanfarm, const struct choice *choice, struct scan_plan *out);

#endif
