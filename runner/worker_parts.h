/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_WORKER_PARTS_H
#define RUNNER_WORKER_PARTS_H

#include "runner/worker.h"

/* Inside of the worker: what worker.c and worker_load.c share. */

/* What a member took. */
struct worker_effort {
    double wall, cpu; /* s, earlier runs of what it continued included */
    int64_t tries;
    long kept; /* steps of its history that the file has */
};

/** Whether this worker may write into the file now; its error otherwise. */
int worker_check_right(const struct worker *worker);

/** Put a member into a free row, or say at once what becomes of it. */
int worker_start_member(struct worker *worker, int64_t member, const struct message_give *give);

/**
 * Put a member into a free row of the right model object: worker->params, which have passed
 * `layout`. A code is a run error but for ERR_MEMORY and refusals.
 *
 * @param out  receives the row
 */
int worker_load_member(struct worker *worker, int64_t member, const struct plane_layout *layout,
                       double timeout, struct continuation *from, int *out);

/** Whether resources.memory bounds what this worker's members may take of the host's memory. */
bool worker_is_limited(const struct worker *worker);

/** Whether a code means that the model refuses the parameters. */
bool worker_is_refusal(int code);

/** Begin to judge a member: its reference run goes into a free row, or it is judged at once. */
int worker_start_judgment(struct worker *worker, int64_t member,
                          const struct message_give *give);

/** The reference run of a row stands on a plane: compare it with what is stored. */
int worker_judge_plane(struct worker *worker, int row);

/** The reference run of a row has ended: verdict, columns, report. */
int worker_end_judgment(struct worker *worker, int row);

/** Judgments that have ended count in the file from here on. */
int worker_commit_judgments(struct worker *worker);

/** Forget the judgment of a row; legal without. */
void worker_drop_judgment(struct worker_row *row);

/** Free what judgments need. */
void worker_judges_clear(struct worker *worker);

/** Write the end of a member and report it. */
int worker_end_member(struct worker *worker, int64_t member, const struct row_status *status,
                      const struct worker_effort *effort);

/** Add a run to the report; a full one goes out first. */
int worker_add_report(struct worker *worker, const struct report_run *run);

/** Make what ended last for good, then say so. */
int worker_flush(struct worker *worker);

/** Whether a self-check is due before the next member is started. */
bool worker_check_due(const struct worker *worker);

/**
 * Check this worker's kernels by the point of check.point, and report the verdict with all that
 * has ended; when it fails check.failed is set.
 *
 * @param asked  the controller waits for a verdict
 */
int worker_check(struct worker *worker, bool asked);

/** Make a row free. */
void worker_release_row(struct worker *worker, int row);

/** Why the member failed that is reported next. */
int worker_add_reason(struct worker *w, const char *reason);

#endif
