/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_DISPATCH_PARTS_H
#define RUNNER_DISPATCH_PARTS_H

#include "runner/dispatch.h"

/* What the files of the dispatch share; nobody else includes this. */

/** Members have ended: counts, points, journal. */
void dispatch_note_ended(struct dispatch *dispatch, const struct report_run *run,
                         const char *reason);

/** Record in the journal what became of members; a failure is a run error. */
void dispatch_record(struct dispatch *dispatch, const struct report_run *run, const char *state,
                     const char *reason);

/** Seconds of the middle member of those done lately; 0: too few are known. */
double dispatch_median(const struct dispatch *dispatch);

/** Whether a worker is kept for a suspect and must become empty first. */
bool dispatch_keeps_free(struct dispatch *dispatch, struct dispatch_worker *worker);

/** A suspect for a worker that holds nothing. @return tasks taken: 0 or 1 */
int64_t dispatch_take_suspect(struct dispatch *dispatch, struct dispatch_worker *worker,
                              struct message_give *give);

/** What a report says of a suspect that its worker holds: it has ended, or comes back. */
void dispatch_note_suspect(struct dispatch *dispatch, struct dispatch_worker *worker,
                           const struct report_run *run);

/** A worker's failures and successes, for parking. @param give number of the GIVE */
void dispatch_note_outcome(struct dispatch *dispatch, struct dispatch_worker *worker,
                           const struct report_run *run, int64_t give);

/** Whether a worker whose members fail at once has to wait for the outcome of others'. */
bool dispatch_doubts(struct dispatch *dispatch, struct dispatch_worker *worker);

/** Before the first task: what members cost, and a first window. A failure is a run error. */
void dispatch_begin_order(struct dispatch *dispatch, int capacity);

/** Look at some members more; when there is time for it. */
void dispatch_look_ahead(struct dispatch *dispatch);

/** Whether what takes so long ends before the deadline. */
bool dispatch_has_time(const struct dispatch *dispatch, double seconds);

/** Members that nobody has, suspects apart. */
int64_t dispatch_waiting(const struct dispatch *dispatch);

/** Whether a worker has as many tasks as it computes at a time, and a chunk in reserve when
 * they are short. */
bool dispatch_holds_enough(const struct dispatch *dispatch,
                           const struct dispatch_worker *worker);

/** Members for a worker. @param seconds receives what one will take, 0: not known */
int64_t dispatch_take_members(struct dispatch *dispatch, const struct dispatch_worker *worker,
                              struct message_give *give, double *seconds);

/** Tasks have ended or come back that were predicted to take so long together. */
void dispatch_learn(struct dispatch *dispatch, const struct report_run *run, double predicted);

/** Time left and its band, into the counts; when the last one is old. */
void dispatch_forecast(struct dispatch *dispatch);

/** Members have ended in a worker that checks itself: they wait for its next check. */
void dispatch_note_unchecked(struct dispatch *dispatch, struct dispatch_worker *worker,
                             const struct report_run *run);

/** What a report says of a self-check, after its runs. */
void dispatch_note_check(struct dispatch *dispatch, struct dispatch_worker *worker,
                         const struct message_report *report);

/** A worker that is gone confirms nothing, and is missed by those that are left. */
void dispatch_check_leave(struct dispatch *dispatch, struct dispatch_worker *worker);

/** Tasks that are nobody's wait again. @param seconds predicted for all of them, 0: not known
 */
void dispatch_return(struct dispatch *dispatch, int32_t pass, int64_t first, int64_t count,
                     double seconds);

/* Part: ensembles that stop themselves (dispatch_grow.c). */

/** Read the rule of a file and what is needed to follow it; points are known, members not yet.
 */
int dispatch_grow_init(struct dispatch *dispatch, struct store *store);

/** Free; legal on a zeroed object. */
void dispatch_grow_clear(struct dispatch *dispatch);

/** Keep back a pending member that its point's first look does not need. @return whether it is
 */
bool dispatch_grow_holds(struct dispatch *dispatch, int64_t member);

/** A point of the file as it was found. @param state [realisations] */
int dispatch_grow_point(struct dispatch *dispatch, struct store *store, int64_t point,
                        const uint8_t *state);

/** When no member waits: those of the next look of the point with the largest error do now. */
void dispatch_grow_release(struct dispatch *dispatch);

/** A point was looked at: it goes on, or its other members are not needed. */
void dispatch_grow_looked(struct dispatch *dispatch, const struct report_run *run);

/** How the run ended for its points. @param text [size] */
void dispatch_grow_text(const struct dispatch *dispatch, char *text, size_t size);

/** Record in the journal that a point has stopped; a failure is a run error. */
void dispatch_record_stop(struct dispatch *dispatch, const struct report_run *run);

/* Part: judgments (dispatch_judge.c). */

/** Room to know who is chosen. The part is known. */
int dispatch_judge_init(struct dispatch *dispatch);

/** Free; legal on a zeroed object. */
void dispatch_judge_clear(struct dispatch *dispatch);

/** Members of the file as they were found: which are chosen, which wait, which are judged. */
int dispatch_judge_read(struct dispatch *dispatch, struct store *store, int64_t first,
                        int64_t count, const uint8_t *state);

/** Members have ended: done ones that are chosen wait to be judged. */
void dispatch_judge_ready(struct dispatch *dispatch, const struct report_run *run);

/** Judgments have ended. */
void dispatch_judge_ended(struct dispatch *dispatch, const struct report_run *run,
                          const char *reason);

/** Judgments for a worker. @param seconds receives what the longest will take */
int64_t dispatch_take_judgments(struct dispatch *dispatch, const struct dispatch_worker *worker,
                                struct message_give *give, double *seconds);

/** Seconds that judgments of members yet to come will take, beside what those take. */
double dispatch_judge_share(const struct dispatch *dispatch);

/** ", 2 outside their envelope", "" for none. @param text [size] appended to */
void dispatch_judge_text(const struct dispatch *dispatch, char *text, size_t size);

/** What a worker may hold of tasks that take so long. */
int64_t dispatch_most_tasks(const struct dispatch *dispatch,
                            const struct dispatch_worker *worker, double seconds,
                            int64_t pending);

/** Free what deaths left behind. */
void dispatch_losses_clear(struct dispatch_losses *losses);

#endif
