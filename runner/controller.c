/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/controller.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/deadline.h"
#include "runner/fence.h"
#include "runner/lease.h"
#include "runner/notes.h"
#include "runner/peer.h"
#include "runner/placement.h"
#include "runner/stop.h"

#define READY_LIMIT 60.0 /* s until a silent rank is named */
#define SIDE_PERIOD 0.01 /* s between two looks at heartbeats and stop requests */
#define LEAVE_LIMIT 60.0 /* s until a worker that was told to leave has closed the file */

const char *peer_host(const struct controller *c, int rank)
{
    return c->names[rank].host;
}

/* Two ranks on one core: said once a host, with the cause. */
static void warn_shared(struct controller *c, int from)
{
    const struct message_ready *mine = &c->peer[from].ready;
    int workers = 0;
    int other = 0;
    bool warned = false;
    for (int r = 1; r < c->comm->size; r++) {
        if (strcmp(peer_host(c, r), mine->host) != 0)
            continue;
        workers++;
        warned = warned || c->peer[r].shared;
        if (r != from && c->peer[r].phase != WORKER_SILENT
            && placement_overlap(c->peer[r].ready.mask, mine->mask))
            other = r;
    }
    const bool bound = mine->cores < mine->allowed;
    if (other == 0 || warned || (!bound && workers * mine->threads <= mine->allowed))
        return;
    c->peer[from].shared = true;
    log_warn("ranks %d and %d share core %s of %s: %d workers have %d cores there (allowed by "
             "the batch system, the control group or mpirun's binding)",
             other, from, mine->cpus, mine->host, workers, mine->allowed);
}

/* Two ranks on one device: said once a device, with both, unless they were meant to. */
static void warn_shared_device(struct controller *c, int from)
{
    const struct message_ready *mine = &c->peer[from].ready;
    int other = 0;
    bool warned = false;
    for (int r = 1; r < c->comm->size && mine->key != 0; r++) {
        const struct peer *peer = &c->peer[r];
        if (r == from || peer->phase == WORKER_SILENT || peer->ready.key != mine->key
            || strcmp(peer_host(c, r), mine->host) != 0)
            continue;
        warned = warned || peer->shared_device;
        other = other == 0 ? r : other;
    }
    if (other == 0 || warned || mine->served != 0)
        return;
    c->peer[from].shared_device = true;
    log_warn("ranks %d and %d share device %s of %s: one worker a device is faster, unless "
             "NVIDIA's MPS serves it (then CUDA_MPS_PIPE_DIRECTORY is set)",
             other, from, mine->bus, mine->host);
}

static int handle_ready(struct controller *c, int from, const struct message_ready *ready)
{
    struct peer *peer = &c->peer[from];
    if (peer->phase != WORKER_SILENT)
        FAIL(ERR_BUG, "rank %d said READY twice", from);
    peer->phase = WORKER_READY;
    peer->ready = *ready;
    peer->held.capacity = ready->capacity;
    c->ready++;
    const char *cores = ready->cores == 1 ? "core" : "cores";
    log_info("rank %d on %s, %s %s, %s", from, ready->host, cores, ready->cpus, ready->device);
    if (ready->batch[0] != '\0')
        log_info("rank %d takes %d member%s at a time: %s", from, ready->capacity,
                 ready->capacity == 1 ? "" : "s", ready->batch);
    warn_shared(c, from);
    warn_shared_device(c, from);
    dispatch_note_worker(c->dispatch, from, ready->host, (long)ready->pid, "ready");
    return 0;
}

static int handle_ack(struct controller *c, int from, const struct message_ack *ack)
{
    struct peer *peer = &c->peer[from];
    if (peer->phase != WORKER_LEAVING)
        FAIL(ERR_BUG, "rank %d left without having been told to", from);
    peer->phase = WORKER_GONE;
    peer->timing = ack->timing;
    c->gone++;
    dispatch_note_worker(c->dispatch, from, peer_host(c, from),
                         (long)c->names[from].process.pid, "left");
    return 0;
}

static int give(struct controller *c, int rank, bool idle_only)
{
    struct peer *peer = &c->peer[rank];
    if (idle_only && peer->held.out > 0)
        return 0;
    struct message message = message_make(MESSAGE_GIVE, c->comm->attempt);
    while (peer->phase == WORKER_READY && outbox_has_room(&peer->tasks)
           && dispatch_take(c->dispatch, &peer->held, &message.give)) {
        TRY(outbox_send(&peer->tasks, c->comm->tasks, rank, &message));
        notes_given(c->dispatch, rank, &message.give);
    }
    return 0;
}

/* Members that have ended in a worker. */
static void count_ended(struct peer *peer, const struct message_report *report)
{
    for (int i = 0; i < report->runs; i++)
        if (report->run[i].pass == PASS_MEMBER && report->run[i].state != MEMBER_PENDING)
            peer->ended += report->run[i].count;
}

/* What a worker is doing, for the journal. */
static bool read_load(void *context, struct journal_load *load)
{
    const struct controller *const c = context;
    const struct peer *const peer = &c->peer[load->rank];
    load->held = peer->held.out;
    load->ended = peer->ended;
    load->steps = peer->steps;
    load->silent = clock_wall() - peer->heard;
    return peer->phase == WORKER_READY;
}

/* Workers that get nothing any more: said when the reason for it arrives, by the others. */
static void say_parked(struct controller *c)
{
    if (c->dispatch->losses.parked == c->parked)
        return;
    c->parked = c->dispatch->losses.parked;
    for (int r = 1; r < c->comm->size; r++) {
        struct peer *peer = &c->peer[r];
        if (!peer->held.parked || peer->parked)
            continue;
        peer->parked = true;
        progress_wipe(&c->dispatch->progress);
        log_warn("rank %d on %s is parked: members fail in it at once while those given to "
                 "others are done",
                 r, peer_host(c, r));
        dispatch_note_worker(c->dispatch, r, peer_host(c, r), (long)c->names[r].process.pid,
                             "parked");
    }
}

static int handle_report(struct controller *c, int from, const struct message_report *report)
{
    if (report->error != 0 && c->dispatch->error == 0) { /* the first one says it for all */
        progress_wipe(&c->dispatch->progress);
        log_error("rank %d on %s: %s", from, peer_host(c, from), report->text);
        c->dispatch->said = true;
    }
    if (report->device_failed) {
        fence_device(c, from, report->text);
        return 0;
    }
    count_ended(&c->peer[from], report);
    TRY(dispatch_report(c->dispatch, &c->peer[from].held, report));
    peer_note_check(c, from, report);
    say_parked(c);
    /* It does not wait until all messages have been read. A chunk in reserve does when few
     * tasks are left: others may have nothing. */
    return give(c, from, dispatch_pending(c->dispatch) < c->comm->size);
}

/* What comes of a worker that is taken for dead counts for nothing: others have its tasks. */
static bool is_heard(const struct controller *c, int from)
{
    return c->peer[from].phase != WORKER_DEAD && c->peer[from].phase != WORKER_GONE;
}

/* The heartbeat goes back: so a worker knows that the controller counts on it. */
static int answer_heartbeat(struct controller *c, int from, const struct message *message)
{
    struct outbox *side = &c->peer[from].side;
    return outbox_has_room(side) ? outbox_send(side, c->comm->side, from, message) : 0;
}

static int handle(struct controller *c, int from, const struct message *message)
{
    if (!is_heard(c, from))
        return 0;
    c->peer[from].heard = clock_wall();
    c->peer[from].named = false;
    switch (message->kind) {
    case MESSAGE_READY:
        return handle_ready(c, from, &message->ready);
    case MESSAGE_REPORT:
        return handle_report(c, from, &message->report);
    case MESSAGE_ACK:
        return handle_ack(c, from, &message->ack);
    case MESSAGE_STOP_REQUEST:
        dispatch_stop(c->dispatch);
        return 0;
    case MESSAGE_HEARTBEAT:
        c->peer[from].steps = message->heartbeat.steps_done;
        return answer_heartbeat(c, from, message);
    case MESSAGE_CONFIRM:
        return fence_confirm(c, &message->confirm);
    default:
        FAIL(ERR_BUG, "rank %d sent a %s message to the controller", from,
             message_name(message->kind));
    }
}

/* All messages that have arrived on one communicator. */
static int receive(struct controller *c, MPI_Comm on, int looks, bool *active)
{
    struct message message;
    int from = 0;
    for (int vain = 0; vain < looks;) {
        bool arrived = false;
        TRY(comm_receive(c->comm, on, &message, &from, &arrived));
        vain += !arrived;
        if (!arrived)
            continue;
        /* Heartbeats must not keep an idle controller awake. */
        *active = *active || message.kind != MESSAGE_HEARTBEAT;
        TRY(handle(c, from, &message));
    }
    return 0;
}

/* Signs of life can wait a little; tasks are looked at each time. */
static int receive_all(struct controller *c, bool *active)
{
    TRY(receive(c, c->comm->tasks, COMM_LOOKS, active));
    const double now = clock_wall();
    if (now < c->next_side)
        return 0;
    c->next_side = now + SIDE_PERIOD;
    return receive(c, c->comm->side, 1, active);
}

/* Those who have nothing first, then reserves. */
static int give_all(struct controller *c)
{
    for (int r = 1; r < c->comm->size; r++)
        TRY(give(c, r, true));
    for (int r = 1; r < c->comm->size; r++)
        TRY(give(c, r, false));
    return 0;
}

static int send_stop(struct controller *c)
{
    const struct message message = message_make(MESSAGE_STOP, c->comm->attempt);
    if (c->stopped || !c->dispatch->stopping)
        return 0;
    c->stopped = true;
    for (int r = 1; r < c->comm->size; r++)
        if (c->peer[r].phase == WORKER_SILENT || c->peer[r].phase == WORKER_READY)
            TRY(outbox_send(&c->peer[r].side, c->comm->side, r, &message));
    return 0;
}

/* A worker that holds nothing is let go when nothing is left. */
static int let_go(struct controller *c)
{
    struct message message = message_make(MESSAGE_QUIT, c->comm->attempt);
    if (!dispatch_ended(c->dispatch))
        return 0;
    message.quit.at_once = c->dead > 0;
    for (int r = 1; r < c->comm->size; r++) {
        struct peer *peer = &c->peer[r];
        if (peer->phase != WORKER_READY || !outbox_has_room(&peer->tasks))
            continue;
        TRY(outbox_send(&peer->tasks, c->comm->tasks, r, &message));
        peer->phase = WORKER_LEAVING;
        if (c->leave_begin <= 0)
            c->leave_begin = clock_wall();
    }
    return 0;
}

static void name_silent(struct controller *c)
{
    const double now = clock_wall();
    for (int r = 1; r < c->comm->size; r++) {
        struct peer *peer = &c->peer[r];
        if (peer->phase != WORKER_SILENT || peer->unready || now - c->begin < READY_LIMIT)
            continue;
        peer->unready = true;
        progress_wipe(&c->dispatch->progress);
        log_warn("rank %d (process %" PRId64 " on %s) has not become ready for %.0f s", r,
                 c->names[r].process.pid, peer_host(c, r), now - c->begin);
    }
}

/* Why a worker must end, whatever it says; NULL: it need not. */
static const char *condemnation(const struct controller *c, const struct peer *peer)
{
    const double now = clock_wall();
    if (peer->phase == WORKER_SILENT && peer->unready && dispatch_ended(c->dispatch))
        return "has never become ready";
    if (peer->phase == WORKER_LEAVING && now - c->leave_begin > LEAVE_LIMIT)
        return "does not leave";
    if (peer->held.out > 0 && c->stop_begin > 0 && now - c->stop_begin > LEAVE_LIMIT)
        return "does not give back its tasks";
    if (peer->asked && c->stop_begin > 0 && now - c->stop_begin > LEAVE_LIMIT)
        return "does not end its self-check";
    return NULL;
}

/* Nobody is waited for without a limit: who does not end is ended. */
static void condemn(struct controller *c)
{
    if (c->dispatch->stopping && c->stop_begin <= 0)
        c->stop_begin = clock_wall();
    for (int r = 1; r < c->comm->size; r++) {
        struct peer *peer = &c->peer[r];
        const char *why = peer->fence.condemned ? NULL : condemnation(c, peer);
        if (why == NULL)
            continue;
        peer->fence.condemned = true;
        progress_wipe(&c->dispatch->progress);
        log_warn("rank %d (process %" PRId64 " on %s) %s: it is ended", r,
                 c->names[r].process.pid, peer_host(c, r), why);
    }
}

static void say_error(struct dispatch *d)
{
    if (d->error == 0 || d->said)
        return;
    progress_wipe(&d->progress);
    log_error("%s", d->text);
    d->said = true;
}

/* Another run may have taken the file: whoever is still alive then must not write into it. */
static void look_at_lease(struct controller *c)
{
    const struct lease *lease = c->prepared->lease;
    if (c->dispatch->error == 0 && lease != NULL && lease_is_lost(lease))
        dispatch_fail(c->dispatch, ERR_CONFLICT,
                      "the lease of the file has been taken by another run, or removed");
}

/* Members that are computed into a file without a name are lost. */
static void look_at_file(struct controller *c)
{
    char text[STORE_REASON_SIZE];
    if (c->prepared->lease == NULL || c->dispatch->error != 0)
        return;
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = prepare_check_file(c->prepared);
    status_capture_restore(saved);
    if (rc != 0)
        dispatch_fail(c->dispatch, rc, text);
}

static int look_around(struct controller *c)
{
    say_error(c->dispatch);
    if (stop_signal() != 0 && !c->dispatch->stopping) {
        progress_wipe(&c->dispatch->progress);
        log_info("%s: stopping in order", stop_signal_name(stop_signal()));
        dispatch_stop(c->dispatch);
    }
    dispatch_heed_deadline(c->dispatch);
    look_at_lease(c);
    look_at_file(c);
    TRY(send_stop(c));
    TRY(peer_ask_checks(c));
    TRY(let_go(c));
    name_silent(c);
    condemn(c);
    TRY(fence_look(c));
    notes_load(&c->notes, c->dispatch, 1, c->comm->size - 1, read_load, c);
    return dispatch_tick(c->dispatch);
}

static int serve(struct controller *c)
{
    struct backoff backoff = {0};
    while (c->gone < c->comm->size - 1) {
        bool active = false;
        TRY(receive_all(c, &active));
        if (active || c->returned)
            TRY(give_all(c));
        c->returned = false;
        TRY(look_around(c));
        for (int r = 1; r < c->comm->size; r++) {
            TRY(outbox_progress(&c->peer[r].tasks));
            TRY(outbox_progress(&c->peer[r].side));
        }
        if (active)
            backoff_reset(&backoff);
        else
            backoff_wait(&backoff);
    }
    return 0;
}

/* All workers have closed the file: rank 0 is the only writer. */
static int write_timings(struct controller *c)
{
    struct store *store = NULL;
    if (c->dispatch->error != 0)
        return 0;
    TRY(store_open(c->prepared->options->file, &store));
    int rc = 0;
    for (int r = 1; r < c->comm->size && rc == 0; r++)
        rc = store_write_timing(store, c->attempt, r, &c->peer[r].timing);
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}

/* With the workers gone a file that takes no more is an orderly end. */
static void finish(struct controller *c)
{
    char text[STORE_REASON_SIZE];
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const int rc = write_timings(c);
    status_capture_restore(saved);
    if (rc != 0)
        dispatch_fail(c->dispatch, rc, text);
    say_error(c->dispatch);
}

int controller_run(const struct comm *comm, const struct rank_name *names,
                   struct prepared *prepared, int attempt, int *died)
{
    struct controller c = {.comm = comm,
                           .names = names,
                           .prepared = prepared,
                           .dispatch = &prepared->dispatch,
                           .attempt = attempt,
                           .begin = clock_wall()};
    c.dispatch->checks.on = prepared->options->self_check > 0;
    c.dispatch->deadline =
        deadline_stop(prepared->options->deadline, prepare_closing(prepared));
    TRY(MEM_NEW(comm->size, &c.peer));
    for (int r = 1; r < comm->size; r++)
        c.peer[r].heard = c.begin;
    progress_begin(&c.dispatch->progress, prepared->options->terminal,
                   prepared->options->quiet);
    const int rc = serve(&c);
    progress_end(&c.dispatch->progress, &c.dispatch->counts);
    if (rc == 0)
        finish(&c);
    for (int r = 1; r < comm->size; r++)
        dispatch_worker_clear(&c.peer[r].held);
    mem_free(c.peer);
    *died = c.dead;
    return rc;
}
