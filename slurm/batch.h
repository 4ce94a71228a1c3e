/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SLURM_BATCH_H
#define SLURM_BATCH_H

#include "kernels/base/submission.h"
#include "slurm/choice.h"
#include "slurm/place.h"
#include "slurm/plan.h"
#include "slurm/site.h"

/* One submission in the making: what is asked for, what was found, where things lie. */
struct batch {
    const struct choice *choice;
    struct scan_plan plan;
    struct site site;
    char scanfarm[PLACE_SIZE]; /* absolute paths */
    char scan[PLACE_SIZE];
    char result[PLACE_SIZE];
    char stem[STEM_SIZE];        /* the result without .h5: the names of all beside it */
    char submission[PLACE_SIZE]; /* STEM.submission */
    char image[PLACE_SIZE];      /* of --container, "" */
    char name[PLAN_NAME_SIZE];   /* of the jobs: the last part of the stem */
    char *block;                 /* lines of the site, owned */
    long piece;                  /* shards that one array may have */
    long signal;                 /* s before the limit at which the script hears USR1 */
};

/** The script of a kind of job: STEM.sbatch, STEM.collect.sbatch, STEM.plot.sbatch. */
void batch_script(const struct batch *batch, enum submission_kind kind, char path[PLACE_SIZE]);

/** Whether a submission has jobs of a kind. */
bool batch_has(const struct batch *batch, enum submission_kind kind);

/** Tasks of an array that begins behind so many shards; 0 when the scan is one job. */
long batch_tasks(const struct batch *batch, long offset);

/** How many of them may run at once, 0: all. */
long batch_throttle(const struct batch *batch);

#endif
