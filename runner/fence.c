/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/fence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/store.h"
#include "io/verdict.h"
#include "kernels/base/clock.h"
#include "kernels/base/fault.h"
#include "kernels/base/log.h"
#include "kernels/base/status.h"

#define LOOK_PERIOD 0.5  /* s between two looks */
#define PROBE_AFTER 3.0  /* s of silence until another worker is asked whether it lives */
#define ASK_PERIOD  5.0  /* s until another one is asked */
#define GIVE_UP     30.0 /* s without a confirmation until its tasks are left with it */
#define ASLEEP      5.0 /* s between two looks that say that the controller itself was stopped */

static bool is_over(const struct peer *peer)
{
    return peer->phase == WORKER_GONE || peer->phase == WORKER_DEAD;
}

/* In test builds `mute@machine` makes the controller blind. */
static bool is_here(const struct controller *c, int rank)
{
    return c->names[rank].process.machine == c->names[0].process.machine
           && !fault_mute("machine");
}

/* Workers that compute, or may. */
static int living_workers(const struct controller *c)
{
    int living = 0;
    for (int r = 1; r < c->comm->size; r++)
        living += !is_over(&c->peer[r]) && !c->peer[r].held.gone;
    return living;
}

static int write_member(struct store *store, const struct dispatch_quarantined *item)
{
    int tries = 0;
    TRY(store_read_attempts(store, item->member, &tries));
    const struct store_member_end end = {.state = MEMBER_QUARANTINED,
                                         .reason = item->reason,
                                         .attempts = tries + 1,
                                         .host = "",
                                         .device = "",
                                         .kernel_id = ""};
    return store_end_member(store, item->member, &end);
}

static int write_judgment(struct controller *c, struct store *store,
                          const struct dispatch_quarantined *item)
{
    const struct verdict_end end = {.reason = item->reason,
                                    .norm = "",
                                    .reference = "",
                                    .window = "",
                                    .bound = (double)NAN,
                                    .observed = (double)NAN,
                                    .margin = (double)NAN,
                                    .envelope = c->prepared->dispatch.judging.key};
    const struct verdict_word word = {item->member, MEMBER_QUARANTINED};
    TRY(verdict_put(store, item->member, &end));
    return verdict_commit(store, &word, 1);
}

/* Members that have ended too many workers: their state is written by the controller. */
static int write_quarantined(struct controller *c)
{
    struct store *store = NULL;
    struct dispatch_quarantined item;
    int rc = 0;
    while (rc == 0 && dispatch_next_quarantined(c->dispatch, &item)) {
        if (store == NULL)
            TRY(store_open(c->prepared->options->file, &store));
        rc = item.pass == PASS_JUDGE ? write_judgment(c, store, &item)
                                     : write_member(store, &item);
    }
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}

/* The controller is the only one to say it, and goes on where the file takes it. */
static void settle_quarantined(struct controller *c)
{
    char text[STORE_REASON_SIZE];
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = write_quarantined(c);
    status_capture_restore(saved);
    if (rc != 0)
        dispatch_fail(c->dispatch, rc, text);
}

/* A worker computes nothing any more: the journal says why; without others the run ends. */
static void note_loss(struct controller *c, int rank, const char *event, int code,
                      const char *end)
{
    dispatch_note_worker(c->dispatch, rank, peer_host(c, rank),
                         (long)c->names[rank].process.pid, event);
    if (living_workers(c) == 0 && dispatch_pending(c->dispatch) > 0 && !c->dispatch->stopping)
        dispatch_fail(c->dispatch, code, end);
}

static void leave(struct controller *c, int rank, const char *event)
{
    c->peer[rank].phase = WORKER_DEAD;
    c->gone++;
    c->dead++;
    note_loss(c, rank, event, ERR_MPI,
              CONTROLLER_ALONE "all have died; the same command continues");
}

/* What a worker held goes back to the queue. */
static void pass_on(struct controller *c, int rank, const char *why)
{
    dispatch_lost(c->dispatch, &c->peer[rank].held, why);
    c->returned = true;
    settle_quarantined(c);
}

/* Its process is gone: its tasks go to others. */
static void bury(struct controller *c, int rank)
{
    struct peer *peer = &c->peer[rank];
    char why[STORE_REASON_SIZE];
    const int64_t held = peer->held.out;
    snprintf(why, sizeof why, "rank %d (process %" PRId64 " on %s) died", rank,
             c->names[rank].process.pid, peer_host(c, rank));
    progress_wipe(&c->dispatch->progress);
    log_warn("%s; %" PRId64 " task%s of it go%s to others", why, held, held == 1 ? "" : "s",
             held == 1 ? "es" : "");
    pass_on(c, rank, why);
    leave(c, rank, "dead");
}

void fence_device(struct controller *c, int rank, const char *text)
{
    struct peer *peer = &c->peer[rank];
    char why[STORE_REASON_SIZE];
    const int64_t held = peer->held.out;
    snprintf(why, sizeof why, "rank %d on %.63s: %.160s", rank, peer_host(c, rank), text);
    progress_wipe(&c->dispatch->progress);
    log_warn("%s; %" PRId64 " task%s of it go%s back to the queue", why, held,
             held == 1 ? "" : "s", held == 1 ? "es" : "");
    pass_on(c, rank, why);
    peer->asked = false;
    note_loss(c, rank, DEVICE_FAILED, ERR_DEVICE,
              CONTROLLER_ALONE "the last one's device has failed; the same command continues");
}

static void give_up(struct controller *c, int rank)
{
    struct peer *peer = &c->peer[rank];
    progress_wipe(&c->dispatch->progress);
    log_warn("rank %d (process %" PRId64
             " on %s) is silent and nobody there can say whether it "
             "has ended: its %" PRId64 " tasks wait for the next run",
             rank, c->names[rank].process.pid, peer_host(c, rank), peer->held.out);
    dispatch_forget(c->dispatch, &peer->held);
    leave(c, rank, "lost");
}

static bool can_help(const struct controller *c, int rank, int helper)
{
    const struct peer *peer = &c->peer[helper];
    return helper != rank && peer->phase == WORKER_READY && !peer->fence.condemned
           && clock_wall() - peer->heard < PROBE_AFTER
           && c->names[helper].process.machine == c->names[rank].process.machine
           && outbox_has_room(&peer->side);
}

/* The next living worker of that machine after the one that was asked last; 0: none. */
static int find_helper(const struct controller *c, int rank)
{
    const int workers = c->comm->size - 1;
    for (int i = 0; i < workers; i++) {
        const int helper = 1 + (c->peer[rank].fence.by + i) % workers;
        if (can_help(c, rank, helper))
            return helper;
    }
    return 0;
}

static int ask(struct controller *c, int rank, bool force)
{
    struct fence *fence = &c->peer[rank].fence;
    const double now = clock_wall();
    if (force && fence->begin <= 0) {
        fence->begin = now;
        fence->asked = 0; /* now it is more than a question */
    }
    if (force && now - fence->begin > GIVE_UP) {
        give_up(c, rank);
        return 0;
    }
    if (fence->asked > 0 && now - fence->asked < ASK_PERIOD)
        return 0;
    const int helper = find_helper(c, rank);
    if (helper == 0)
        return 0;
    struct message message = message_make(MESSAGE_KILL, c->comm->attempt);
    message.kill.process = c->names[rank].process;
    message.kill.rank = rank;
    message.kill.force = force;
    fence->by = helper;
    fence->asked = now;
    return outbox_send(&c->peer[helper].side, c->comm->side, helper, &message);
}

/* A process that has ended at one look is buried at the next: what it sent before is read. */
static void look_here(struct controller *c, int rank, bool end)
{
    struct peer *peer = &c->peer[rank];
    const struct process_id *process = &c->names[rank].process;
    if (!process_is_gone(process)) {
        if (end)
            process_kill(process);
    } else if (peer->fence.gone) {
        bury(c, rank);
    } else {
        peer->fence.gone = true;
    }
}

static void announce(struct controller *c, int rank, double silence)
{
    struct peer *peer = &c->peer[rank];
    if (peer->named || silence < FENCE_SILENCE)
        return;
    peer->named = true;
    progress_wipe(&c->dispatch->progress);
    log_warn("rank %d (process %" PRId64
             " on %s) has not been heard of for %.0f s: it is ended",
             rank, c->names[rank].process.pid, peer_host(c, rank), silence);
}

/* Who was stopped has heard of nobody: what they say now is still to be read. */
static void forgive(struct controller *c)
{
    for (int r = 1; r < c->comm->size; r++)
        c->peer[r].heard = clock_wall();
}

int fence_look(struct controller *c)
{
    const double now = clock_wall();
    if (now < c->next_look)
        return 0;
    if (c->next_look > 0 && now - c->next_look > ASLEEP)
        forgive(c);
    c->next_look = now + LOOK_PERIOD;
    for (int r = 1; r < c->comm->size; r++) {
        const struct peer *peer = &c->peer[r];
        const double silence = now - peer->heard;
        const bool end = peer->fence.condemned || silence >= FENCE_SILENCE;
        if (is_over(peer))
            continue;
        announce(c, r, silence);
        if (is_here(c, r))
            look_here(c, r, end);
        else if (end || silence >= PROBE_AFTER)
            TRY(ask(c, r, end));
    }
    return 0;
}

int fence_confirm(struct controller *c, const struct message_confirm *confirm)
{
    const int rank = confirm->rank;
    if (rank < 1 || rank >= c->comm->size)
        FAIL(ERR_BUG, "a CONFIRM message names rank %d of %d", rank, c->comm->size);
    if (confirm->gone && !is_over(&c->peer[rank]))
        bury(c, rank);
    return 0;
}
