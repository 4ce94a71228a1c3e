/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_NOTES_H
#define RUNNER_NOTES_H

#include "runner/dispatch.h"

/*
 * What the journal is told of the workers, for `status` and `log`: who was given what, and from
 * time to time what each holds. A journal that takes no record is a run error (dispatch_fail).
 */

/** A worker was given members. Short ones are left out: they have ended before anybody asks.
 *  @param rank of the worker; 0: one process */
void notes_given(struct dispatch *dispatch, int rank, const struct message_give *give);

/* When which workers are told of next. */
struct notes_load {
    double next;
    int rank;
};

/**
 * When it is time for it, tell of the next workers: a record in NOTES_PERIOD seconds, whatever
 * their number.
 *
 * @param first, last  ranks of the workers
 * @param read         what a rank is doing; `rank` is set; false: nothing is told of it
 */
void notes_load(struct notes_load *notes, struct dispatch *dispatch, int first, int last,
                bool (*read)(void *context, struct journal_load *load), void *context);

#endif
