/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_DISPATCH_H
#define RUNNER_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "io/journal.h"
#include "io/until.h"
#include "runner/cost.h"
#include "runner/holding.h"
#include "runner/order.h"
#include "runner/progress.h"
#include "runner/protocol.h"
#include "runner/queue.h"
#include "runner/run.h"
#include "runner/selection.h"
#include "scans/scan.h"

/*
 * The controller's mind, without transport: which tasks are left, who gets what, what came
 * back, how the run ends. The farm feeds it messages (controller.c), one process calls it in
 * line (serial.c).
 */

#define DISPATCH_TIMES 64 /* member times kept for the median */

/* Event of a worker that failed its self-check, when its members have been taken back. */
#define WITHDRAW_DONE "self-check failed"
/* Event of a worker whose device has failed: it computes nothing any more. */
#define DEVICE_FAILED "device failed"
/* State in the journal of a member that is being taken back. */
#define WITHDRAW_STATE "withdrawn"
/* … and of one whose verdict is. */
#define WITHDRAW_VERDICT "verdict withdrawn"

/* A task that may have ended its worker. */
struct dispatch_suspect {
    int64_t id;
    int32_t pass;
    int losses; /* workers that died over it */
};

/* A member that nobody gets any more, or that nobody judges, and why. */
struct dispatch_quarantined {
    int64_t member;
    int32_t pass;
    char reason[STORE_REASON_SIZE];
};

/* What the deaths of workers left behind. */
struct dispatch_losses {
    struct dispatch_suspect *suspect; /* [suspects] each is given alone */
    int64_t suspects, suspects_room;
    struct dispatch_quarantined *quarantined; /* [quarantines] not yet asked for */
    int64_t quarantines, quarantines_room;
    int64_t abandoned; /* tasks of workers that are out of reach: not given in this run */
    int reserved;      /* workers that are kept for a suspect */
    int parked;
    bool any; /* a worker was lost, or failed its check: members may have been begun or ended */
};

/* What self-checks have left open (dispatch_check.c). */
struct dispatch_checks {
    bool on;                      /* workers check themselves */
    int64_t unchecked;            /* members that ended and are not confirmed */
    int unsound;                  /* workers that failed */
    struct holding withdrawn;     /* members to be made pending in the file */
    char text[REPORT_CHECK_SIZE]; /* figures of the last failure */
};

/* A member that is done and waits to be judged. */
struct dispatch_judgment {
    int64_t member;
    double seconds; /* predicted; 0: not known */
};

/* How the judgments of a scan with an envelope stand. */
struct dispatch_judging {
    bool on;
    uint64_t key;        /* of the envelope */
    double stretch;      /* a judgment's time / its member's */
    struct queue chosen; /* members to be judged once they are done; "pending": yes */
    struct dispatch_judgment *heap; /* [count] the longest first */
    int64_t count, room;
    double seconds;  /* predicted for all that wait */
    int64_t total;   /* chosen members, those that failed apart */
    int64_t to_come; /* chosen members that have not ended */
    bool too_late;   /* none that waits would end before the deadline */
    int64_t before;  /* judged in earlier runs */
    int64_t ended;   /* judged in this one */
    int64_t outside; /* verdicts, of earlier runs too … */
    int64_t none;    /* … and judgments that ended without one */
};

/* A point whose next look waits for members. */
struct dispatch_open_point {
    int64_t point;
    double error;    /* at its last look */
    int64_t members; /* that the next one waits for */
};

/* How ensembles that stop themselves stand. */
struct dispatch_growing {
    bool on;
    struct store_until rule;
    struct queue held; /* members beyond the look that their point waits for; "pending": yes */
    int32_t *looks;    /* [points] that were taken */
    struct dispatch_open_point *heap; /* [count] the largest error first */
    int64_t count;
    int64_t members; /* that the looks of those points wait for, in `held` still */
    int64_t reached; /* points that stopped with a small error, in earlier runs too … */
    int64_t all;     /* … and with all realisations */
    int64_t used;    /* realisations that count at both */
    double worst;    /* largest error of the second */
    double credit;   /* records of stops that may be written now … */
    double credited; /* … as it was at this time */
    int64_t untold;  /* points that stopped since the last record */
};

/* The controller's knowledge: what is open, who has what, what has ended. */
struct dispatch {
    const struct scan *scan;
    struct store_window part;          /* what the file holds: other members are absent */
    const struct selection *selection; /* borrowed; NULL: all members */
    struct journal *journal;           /* borrowed; NULL: none */
    double chunk_time;
    int workers;
    struct queue members; /* pending ones that are not in the window */
    struct order order;   /* the window: longest first */
    struct cost cost;
    char cache[RUN_PATH_SIZE]; /* folder of what earlier scans took; "": none */
    int64_t *begun;            /* [begun_count] members that can go on, the last one first */
    int64_t begun_count;
    struct queue points; /* to reduce; empty total without reductions */
    int64_t *left;       /* [points] members that have not ended; NULL without reductions */
    struct dispatch_judging judging;
    struct dispatch_growing growing;
    struct queue_keys keys;
    int64_t pending_before;   /* members that had not ended at the start */
    int64_t failed_before;    /* members that ended otherwise than done, earlier */
    int64_t timed_out_before; /* of those */
    int64_t out;              /* tasks that workers hold */
    double recent_seconds;    /* decaying sums over ended members */
    double recent_count;
    double ended_seconds;         /* of all ended members */
    double out_seconds;           /* predicted, of what workers hold */
    double finish;                /* clock_wall() at which the longest of those is done */
    int rows;                     /* of all workers that have had something */
    double looked;                /* when members were looked at last … */
    double look_pause;            /* … and s until that may be done again */
    double learn_credit;          /* s that may be spent on learning from times */
    double forecast;              /* when the time left was found last */
    double times[DISPATCH_TIMES]; /* seconds of members done, a fair sample of all */
    int64_t timed;
    int64_t gives;   /* GIVEs so far */
    int64_t success; /* number of the newest GIVE of which a member was done */
    struct dispatch_losses losses;
    struct dispatch_checks checks;
    double deadline; /* clock_wall() at which the run must have ended; 0: none */
    bool too_late;   /* nothing that is pending would reach a plane before it */
    bool stopping;
    bool touched; /* pending members may have planes or tries of an earlier run */
    int error;    /* enum status_code of the first run error */
    bool said;    /* that error has been logged */
    char text[STORE_REASON_SIZE];
    double begin; /* when the first task was given; 0: not yet */
    double last_heartbeat;
    struct progress_counts counts;
    struct progress progress;
};

/* Failures in a row that took a worker next to no time. */
struct dispatch_streak {
    int length;     /* GIVEs with such failures */
    int64_t give;   /* number of the last of them */
    int64_t mark;   /* GIVEs of the run when it began */
    int64_t others; /* failures of the others then */
    double seconds; /* of its longest member */
};

/* What one worker holds. Zeroed but for the capacity at first; free with dispatch_worker_clear.
 */
struct dispatch_worker {
    int capacity;
    int64_t out;  /* tasks */
    int64_t last; /* tasks of the chunk given last */
    struct holding holding;
    bool tries; /* it holds a suspect and nothing else: */
    struct dispatch_suspect alone;
    bool reserved; /* it is to have a suspect as soon as it holds nothing */
    bool parked;
    struct holding unchecked; /* members that ended, and judgments, since its last good
                                 self-check; the state of each in `give` */
    int64_t unchecked_members;
    bool unsound;   /* a self-check failed: it gets nothing */
    bool known;     /* it has had something */
    bool gone;      /* dead: it gets nothing */
    bool forgotten; /* dead, as far as is known */
    int64_t failed; /* members */
    struct dispatch_streak streak;
};

/**
 * Read what is left to do from a file that store_define or store_compare accepted.
 *
 * @param reduce      whether points are reduced; never in the file of a shard
 * @param chunk_time  s of work in one message
 * @param workers     that will share the work
 * @param selection   the members to compute, borrowed; the others count as absent. NULL: all
 * @param out         free with dispatch_clear, also after an error
 */
int dispatch_open(const struct scan *scan, const char *path, bool reduce, double chunk_time,
                  int workers, const struct selection *selection, struct dispatch *out);

/** Free; legal on a zeroed object. */
void dispatch_clear(struct dispatch *dispatch);

/**
 * Members that can go on where they were interrupted come before all others, in this order.
 * Before the first dispatch_take. Those that are not pending are left out.
 */
int dispatch_begin_with(struct dispatch *dispatch, const int64_t *member, int64_t count);

/** Keep the times seen for the next scan of this kind, in the user's cache folder. */
void dispatch_remember(const struct dispatch *dispatch);

/** Free what one worker holds; legal on a zeroed object. */
void dispatch_worker_clear(struct dispatch_worker *worker);

/** Number of tasks that nobody has. */
int64_t dispatch_pending(const struct dispatch *dispatch);

/** Those of them that take a row of a model: members and judgments, no reductions. */
int64_t dispatch_pending_rows(const struct dispatch *dispatch);

/**
 * The next chunk for a worker.
 *
 * @return false when it should get none now: nothing is pending, the run stops, it holds
 *         enough, it is parked, or nothing would reach a plane before the deadline
 */
bool dispatch_take(struct dispatch *dispatch, struct dispatch_worker *worker,
                   struct message_give *give);

/** Take note of a report: outcomes, journal, what became ready to reduce, run errors. */
int dispatch_report(struct dispatch *dispatch, struct dispatch_worker *worker,
                    const struct message_report *report);

/**
 * A worker is gone for certain: what it held is given again, to others. What it may have been
 * computing is suspected of its death: given again alone, and quarantined when it was lost as
 * often as `limits: attempts` says. Its reports from then on are ignored.
 *
 * @param why  "rank 3 on node7: killed by signal 9", for reasons and records
 */
void dispatch_lost(struct dispatch *dispatch, struct dispatch_worker *worker, const char *why);

/**
 * A worker is out of reach and perhaps alive, or never came: what it holds is given to nobody
 * in this run, which ends incomplete. Reports that still come from it count.
 */
void dispatch_forget(struct dispatch *dispatch, struct dispatch_worker *worker);

/**
 * The next member that is quarantined, or whose judgment is: from now on it counts as ended;
 * its state has to be written at once. The run does not end in order before all have been asked
 * for.
 *
 * @return false when there is none
 */
bool dispatch_next_quarantined(struct dispatch *dispatch, struct dispatch_quarantined *out);

/**
 * Whether a worker gets nothing any more because members fail in it at once, one after the
 * other, while those given to others later are done. False again when no other worker is left.
 */
bool dispatch_parked(const struct dispatch *dispatch, const struct dispatch_worker *worker);

/**
 * Whether a worker is to check itself because nothing more is given to it and members that it
 * computed are not confirmed. The run does not end in order before they are.
 */
bool dispatch_wants_check(const struct dispatch *dispatch,
                          const struct dispatch_worker *worker);

/**
 * The next member whose results count no more, because the worker that computed it has failed a
 * self-check: from now on it is pending. It has to be made so in the file at once, before
 * anything is given.
 *
 * @param pass  PASS_MEMBER; PASS_JUDGE: only its verdict counts no more
 * @return false when there is none
 */
bool dispatch_next_withdrawn(struct dispatch *dispatch, int64_t *member, enum task_pass *pass);

/** A worker appeared or left: journal record. */
void dispatch_note_worker(struct dispatch *dispatch, int rank, const char *host, long pid,
                          const char *event);

/** Give out nothing any more. */
void dispatch_stop(struct dispatch *dispatch);

/** Give out nothing any more when the deadline has come; said once. @return whether it has, now
 */
bool dispatch_heed_deadline(struct dispatch *dispatch);

/** A run error: the first one counts; the run stops. */
void dispatch_fail(struct dispatch *dispatch, int code, const char *text);

/**
 * Whether all is over: nothing is held and nothing will be given. That no worker is left to
 * give to is the caller's to see.
 */
bool dispatch_ended(const struct dispatch *dispatch);

/**
 * Progress line and heartbeat record, when it is time. A journal that takes no record is a run
 * error as any other: the run stops in order (dispatch_fail).
 */
int dispatch_tick(struct dispatch *dispatch);

/* How the text of dispatch_code begins where members are left with nobody to compute them. */
#define DISPATCH_OUT_OF_REACH "ended without workers that are out of reach,"

/**
 * Exit code of the run and one sentence.
 *
 * @param text [size]
 */
int dispatch_code(const struct dispatch *dispatch, char *text, size_t size);

/** Text of a member state: "done", "failed", …; "pending" for an unknown one. */
const char *member_state_name(int state);

#endif
