/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_SUBMISSION_H
#define KERNELS_BASE_SUBMISSION_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/clock.h"

/*
 * NAME.submission, a text beside the results, tells what `scanfarm submit` has handed to the
 * batch system:
 *
 *   scanfarm submission 1
 *   scan: /abs/scan.yaml
 *   result: /abs/NAME.h5
 *   shards: 16
 *   script: /abs/NAME.sbatch
 *   submitted: 2026-11-30T03:30:00.000Z
 *   configuration: 0123456789abcdef
 *   job: run 1234 1-16
 *   job: collect 1235 -
 *
 * A value goes to the end of its line. `configuration` tells the scan from one that was changed
 * since: a hash of what its results depend on. Job lines are appended, one after each call of
 * sbatch: kind, Slurm's job id, shards first-last or "-".
 */

#define SUBMISSION_HASH_SIZE 17 /* 16 digits */

/* What a job of a submission is for. */
enum submission_kind {
    SUBMISSION_RUN,
    SUBMISSION_RETRY,
    SUBMISSION_COLLECT,
    SUBMISSION_PLOT,
    SUBMISSION_KINDS
};

/* One call of sbatch. */
struct submission_job {
    enum submission_kind kind;
    long id;    /* of the job, or of the whole array */
    long first; /* shards, from 1; 0: the job is none of a shard */
    long last;
};

/* What the file says. */
struct submission {
    char *scan; /* absolute paths, owned */
    char *result;
    char *script;
    long shards; /* 1: one job, its file is the result itself */
    char submitted[CLOCK_ISO_SIZE];
    char configuration[SUBMISSION_HASH_SIZE]; /* of the scan as it was then; "": not told */
    struct submission_job *job;               /* in the order of the file, owned */
    int jobs;
};

/** "run", "retry", "collect" or "plot". */
const char *submission_kind_name(enum submission_kind kind);

/** Whether a file begins as a submission does; false too when it cannot be read. */
bool submission_is_one(const char *path);

/** Whether a submission is meant: a file that begins as one, or a path that ends as theirs do,
 *  be there what there may. */
bool submission_is_meant(const char *path);

/**
 * Read a submission file.
 *
 * @param out  free with submission_clear, also after an error
 * @return 0; ERR_ARGUMENT with the number of the line that is not understood, or for a file
 *         that does not exist; ERR_IO, ERR_MEMORY
 */
int submission_read(const char *path, struct submission *out);

/**
 * Write a submission file anew, whole or not at all (by rename), its jobs included.
 *
 * @return 0, or ERR_IO; ERR_ARGUMENT for a path with a newline in it
 */
int submission_write(const char *path, const struct submission *submission);

/** Append a job to a submission file. @return 0, or ERR_IO with the job in its text */
int submission_append(const char *path, const struct submission_job *job);

/**
 * Path of what a job writes, as its script has it: STEM.JOB.out, STEM.JOB_TASK.out of an array,
 * STEM.collect.JOB.out, STEM.plot.JOB.out.
 *
 * @param shard  of a job that computes several
 * @param path   [size]; one that has no room is ""
 */
void submission_log(const struct submission *submission, const struct submission_job *job,
                    long shard, char *path, size_t size);

/** Free what was read; legal on a zeroed object. */
void submission_clear(struct submission *submission);

#endif
