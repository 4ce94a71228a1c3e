/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_JOB_LOG_H
#define RUNNER_JOB_LOG_H

#include <stddef.h>

#include "kernels/base/submission.h"

#define JOB_LOG_PATH_SIZE 4200
#define JOB_LOG_LINE_SIZE 320

/* What a job has written: why it ended as it did, as far as anybody said it. */
struct job_log {
    char path[JOB_LOG_PATH_SIZE]; /* "": it has none */
    char line[JOB_LOG_LINE_SIZE]; /* the last one with words on it; "": none */
    char why[80];                 /* that the log cannot be read; "" otherwise */
};

/**
 * Look at the log of a job of a submission.
 *
 * @param shard  that the task computes, of a job that computes several
 */
void job_log_read(const struct submission *submission, const struct submission_job *job,
                  long shard, struct job_log *out);

#endif
