/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_SQUEUE_H
#define KERNELS_BASE_SQUEUE_H

#include <stdbool.h>

#include "kernels/base/submission.h"

#define SQUEUE_WHY_SIZE 320

/* One job, or one task of an array, as Slurm knows it. */
struct squeue_task {
    long job; /* of the whole array, as sbatch gave it */
    enum submission_kind kind;
    long shard;      /* that it computes; 0: none */
    char state[24];  /* "PENDING", "RUNNING", …; also of jobs that have ended a while ago */
    char reason[48]; /* "Priority", "JobHeldUser", …; "None" */
    char
        since[32]; /* start, of a pending one as expected, UTC: "2026-01-31T12:00:00Z"; "N/A" */
    long restarts; /* times that it was requeued */
};

/* Slurm's word on the jobs of a submission. */
struct squeue {
    bool known;                /* false: it did not answer; nothing can be said of the jobs */
    char why[SQUEUE_WHY_SIZE]; /* … and why */
    struct squeue_task *task;  /* [tasks] owned; those that Slurm has forgotten are absent */
    long tasks;
};

/* What a task is at. */
enum squeue_phase { SQUEUE_PENDING, SQUEUE_HELD, SQUEUE_RUNNING, SQUEUE_ENDED, SQUEUE_PHASES };

/**
 * Ask Slurm for the jobs of a submission by one call of squeue.
 *
 * @param limit  s that it may take
 * @param out    free with squeue_clear, also after an error
 * @return 0 also when squeue does not answer, or knows none of the jobs; ERR_MEMORY, ERR_IO
 */
int squeue_ask(const struct submission *submission, double limit, struct squeue *out);

/** Take in squeue's output: what squeue_ask does with it. 0 or ERR_MEMORY */
int squeue_read(const char *text, const struct submission *submission, struct squeue *out);

/**
 * What a task is at. Completing is running; what has ended is done with, however it ended. One
 * that was preempted is pending: our scripts allow that it is requeued.
 */
enum squeue_phase squeue_phase(const struct squeue_task *task);

/** "pending", "held", "running", "ended". */
const char *squeue_phase_name(enum squeue_phase phase);

/** The word that says why it waits, is held, or how it ended; "" when there is none. */
const char *squeue_word(const struct squeue_task *task);

/** When a pending task may start, as Slurm expects; NULL: it does not say. */
const char *squeue_expected(const struct squeue_task *task);

/** Free; legal on a zeroed object. */
void squeue_clear(struct squeue *queue);

#endif
