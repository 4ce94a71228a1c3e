/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/serial.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/status.h"
#include "runner/attempt.h"
#include "runner/batch.h"
#include "runner/deadline.h"
#include "runner/dispatch.h"
#include "runner/early.h"
#include "runner/notes.h"
#include "runner/placement.h"
#include "runner/settle.h"
#include "runner/stop.h"
#include "runner/withdraw.h"
#include "runner/worker.h"

/* The controller's side of the one worker. */
struct inline_controller {
    struct dispatch *dispatch;
    struct prepared *prepared;
    struct dispatch_worker worker;
    struct notes_load notes;
    struct run_control *control;
    struct store *const *store; /* the worker's */
    const char *host;
    bool checked;  /* that the self-check passes has been said */
    int64_t ended; /* members */
};

/* What the worker is doing, for the journal; it tells so itself. */
static bool read_load(void *context, struct journal_load *load)
{
    struct inline_controller *const c = context;
    load->held = c->worker.out;
    load->ended = c->ended;
    load->steps = atomic_load(&c->control->steps_done);
    return true;
}

static int poll_inline(void *context, struct worker *worker, bool idle)
{
    struct inline_controller *c = context;
    struct message_give give;
    if (stop_signal() != 0)
        dispatch_stop(c->dispatch);
    if (dispatch_heed_deadline(c->dispatch))
        atomic_store(&worker->control.stop, 1);
    if (worker->gives == 0 && dispatch_take(c->dispatch, &c->worker, &give)) {
        TRY(worker_give(worker, &give));
        notes_given(c->dispatch, 0, &give);
    } else if (idle && dispatch_wants_check(c->dispatch, &c->worker)) {
        worker->check.asked = true;
    } else if (idle && dispatch_ended(c->dispatch)) {
        worker->quit = true;
    }
    notes_load(&c->notes, c->dispatch, 0, 0, read_load, c);
    return dispatch_tick(c->dispatch);
}

static int check_inline(void *context)
{
    struct inline_controller *c = context;
    TRY(lease_check(c->prepared->lease));
    return prepare_check_file(c->prepared);
}

/* A process that fails its check has nobody to give its members to: dispatch_report has ended
 * the run. */
static int note_check(struct inline_controller *c, const struct message_report *report)
{
    int64_t count = 0;
    if (report->check == CHECK_FAILED) {
        TRY(withdraw_members(*c->store, c->dispatch, &count));
        dispatch_note_worker(c->dispatch, 0, c->host, (long)getpid(), WITHDRAW_DONE);
        return 0;
    }
    if (report->check == CHECK_VOID)
        log_warn("no self-check was possible: the points make no steps");
    if (report->check == CHECK_PASSED && !c->checked) {
        c->checked = true;
        progress_wipe(&c->dispatch->progress);
        log_info("the self-check passes: %s", report->check_text);
    }
    return 0;
}

/* There is no other one: its members wait for the next run. */
static void lose_device(struct inline_controller *c, const char *text)
{
    char end[STORE_REASON_SIZE];
    dispatch_lost(c->dispatch, &c->worker, text);
    dispatch_note_worker(c->dispatch, 0, c->host, (long)getpid(), DEVICE_FAILED);
    snprintf(end, sizeof end, "%.200s; the same command continues", text);
    dispatch_fail(c->dispatch, ERR_DEVICE, end);
}

static int report_inline(void *context, const struct message_report *report)
{
    struct inline_controller *c = context;
    if (report->device_failed) {
        lose_device(c, report->text);
        return 0;
    }
    for (int i = 0; i < report->runs; i++)
        if (report->run[i].pass == PASS_MEMBER && report->run[i].state != MEMBER_PENDING)
            c->ended += report->run[i].count;
    TRY(dispatch_report(c->dispatch, &c->worker, report));
    return note_check(c, report);
}

static int place(const struct prepared *p, struct worker *worker)
{
    struct settled settled;
    char batch[BATCH_TEXT_SIZE];
    char device[96];
    TRY(settle_alone(p->options, p->scan, &settled));
    worker->placement = settled.placement;
    worker->device = settled.device;
    worker->open = dispatch_pending_rows(&p->dispatch);
    if (settled.note[0] != '\0')
        log_info("%s", settled.note);
    TRY(batch_open(worker, batch));
    device_text(&worker->device, device, sizeof device);
    if (batch[0] != '\0')
        log_info("on %s, %d member%s at a time: %s", device, worker->placement.capacity,
                 worker->placement.capacity == 1 ? "" : "s", batch);
    return 0;
}

static int work(struct prepared *p, struct worker *worker, int attempt)
{
    struct inline_controller controller = {.dispatch = &p->dispatch,
                                           .prepared = p,
                                           .control = &worker->control,
                                           .store = &worker->store,
                                           .host = worker->host};
    worker->scan = p->scan;
    worker->options = p->options;
    worker->link = (struct worker_link){
        .poll = poll_inline,
        .report = report_inline,
        .may_write = check_inline,
        .context = &controller,
    };
    worker->attempt = attempt;
    worker->touched = p->dispatch.touched;
    worker->checkpoints.table = &p->resume;
    worker->checkpoints.workers = 1;
    gethostname(worker->host, sizeof worker->host - 1);
    wisdom_init(&worker->wisdom, p->options->file, worker->host, p->wisdom);
    wisdom_unclaim(&worker->wisdom);
    status_capture(worker->error_text, sizeof worker->error_text);
    const int placed = place(p, worker);
    status_capture(NULL, 0);
    TRY(placed);
    controller.worker.capacity = worker->placement.capacity;
    p->dispatch.deadline = deadline_stop(p->options->deadline, prepare_closing(p));
    p->dispatch.checks.on = p->options->self_check > 0;
    worker->deadline = p->dispatch.deadline;
    status_capture(worker->error_text, sizeof worker->error_text);
    const int opened = worker_open(worker);
    status_capture(NULL, 0);
    TRY(opened);
    stop_attach(&worker->control.stop);
    progress_begin(&p->dispatch.progress, p->options->terminal, p->options->quiet);
    dispatch_note_worker(&p->dispatch, 0, worker->host, (long)getpid(), "ready");
    const int rc = worker_run(worker);
    dispatch_note_worker(&p->dispatch, 0, worker->host, (long)getpid(), "left");
    dispatch_worker_clear(&controller.worker);
    stop_attach(NULL);
    progress_end(&p->dispatch.progress, &p->dispatch.counts);
    return rc;
}

/* The worker has closed the file, so that its time is complete. */
static int write_timing(struct prepared *p, struct worker *worker, int attempt)
{
    struct store *store = NULL;
    const struct store_timing timing = stopwatch_read(&worker->watch);
    if (p->dispatch.error != 0)
        return 0; /* the file takes nothing any more */
    TRY(store_open(p->options->file, &store));
    const int rc = store_write_timing(store, attempt, 0, &timing);
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}

static int begin(struct prepared *prepared, int *attempt)
{
    TRY(placement_check_rounding());
    return attempt_begin(prepared, "one process, no MPI", 1, attempt);
}

static int end(struct prepared *prepared, struct worker *worker, int attempt)
{
    const int closed = worker_close(worker);
    const int timed = write_timing(prepared, worker, attempt);
    return closed != 0 ? closed : timed;
}

void serial_run(struct prepared *prepared, int *attempt)
{
    struct dispatch *dispatch = &prepared->dispatch;
    struct worker worker;
    char text[STORE_REASON_SIZE];
    memset(&worker, 0, sizeof worker);
    status_capture(text, sizeof text);
    int rc = begin(prepared, attempt);
    status_capture(NULL, 0);
    if (rc != 0) {
        dispatch_fail(dispatch, rc, text);
        return;
    }
    rc = work(prepared, &worker, *attempt);
    if (rc != 0)
        dispatch_fail(dispatch, rc, worker.error_text);
    status_capture(text, sizeof text);
    rc = end(prepared, &worker, *attempt);
    status_capture(NULL, 0);
    if (rc != 0)
        dispatch_fail(dispatch, rc, text);
}
