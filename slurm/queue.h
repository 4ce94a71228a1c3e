/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_QUEUE_H
#define SLURM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/squeue.h"
#include "kernels/base/submission.h"

/* Jobs of one call of sbatch that are still in the queue. */
struct queue_job {
    long pending; /* held ones too */
    long running;
};

/* Slurm's word on the jobs of a submission. */
struct queue {
    bool known;                /* false: it did not answer; what is in it is not known */
    char why[SQUEUE_WHY_SIZE]; /* … and why */
    struct queue_job *job;     /* [submission->jobs], owned */
    long total;                /* of all that are left */
};

/**
 * Ask squeue for the jobs of a submission and count those that have not ended.
 *
 * @param out  free with queue_clear, also after an error
 * @return 0 also when squeue does not answer; ERR_MEMORY, ERR_IO
 */
int queue_ask(const struct submission *submission, struct queue *out);

/** Write "2 running, 5 pending"; "" for none. */
void queue_text(const struct queue_job *job, char *text, size_t size);

/** Free; legal on a zeroed object. */
void queue_clear(struct queue *queue);

#endif
