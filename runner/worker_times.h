/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_WORKER_TIMES_H
#define RUNNER_WORKER_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "io/store.h"
#include "runner/stopwatch.h"

/* Where the time of the newest recorded attempt went: /timing of a result file. */

/* The time of one worker. */
struct worker_time {
    int worker; /* MPI rank; 0: one process without MPI */
    double part[PARTS];
    double total;
};

/* The time of all workers of an attempt. */
struct worker_times {
    int64_t attempt; /* from 1; 0: nothing is recorded */
    int workers;
    struct worker_time *worker; /* [workers] by rank */
};

/** Word for a part: "kernels", "MPI". */
const char *work_part_name(enum work_part part);

/** Read /timing; nothing recorded is no error. Free with worker_times_clear. */
int worker_times_read(struct store *store, struct worker_times *out);

/** Free; legal on a zeroed object. */
void worker_times_clear(struct worker_times *times);

/* The same in a few numbers. */
struct time_summary {
    int64_t attempt; /* 0: nothing is recorded */
    int workers;
    double total;           /* mean over the workers, s */
    double share[PARTS];    /* of the sum over all workers; 1 together */
    int extreme;            /* the worker that computed least … */
    double extreme_kernels; /* … and the kernels' share of its time */
};

/** Sum up; {0} when nothing is recorded. */
struct time_summary worker_times_sum(const struct worker_times *times);

/** One line: "2 workers, 12.3 s: kernels 92 %, output 5 %, …; least computing: worker 2, 88 %".
 */
void time_summary_text(const struct time_summary *summary, FILE *out);

/** A JSON object: attempt, workers, seconds, share{}, extreme{worker, kernels}. */
void time_summary_json(const struct time_summary *summary, FILE *out);

#endif
