/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/worker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/reduce.h"
#include "kernels/backend/wrong.h"
#include "kernels/base/clock.h"
#include "kernels/base/fault.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/judging.h"
#include "runner/memory_limit.h"
#include "runner/slot.h"
#include "runner/worker_parts.h"

/* A chunk that takes so many times longer than it should is given back but for the next tasks:
 * its members are slower than those it was measured by. */
#define CHUNK_OVERRUN 4.0

/* s that a call of the model with rows free may last at least. */
#define CALL_LEAST 10e-3

/* Planes that come faster than this (s) share a commit: so much work a killed process loses. */
#define PLANES_SPAN 10e-3

/* The part that messages, or the calls in their place, belong to. */
static enum work_part link_part(const struct worker *w)
{
    return w->link.messages ? PART_MPI : PART_HOST;
}

static bool is_stopping(const struct worker *w)
{
    return w->check.failed || atomic_load(&w->control.stop)
           || (w->draining != NULL && atomic_load(w->draining));
}

/* Before anything is made to count in the file: another worker may have this one's tasks. */
int worker_check_right(const struct worker *w)
{
    return w->link.may_write != NULL ? w->link.may_write(w->link.context) : 0;
}

int worker_open(struct worker *w)
{
    const long kept = scan_get_store(w->scan)->history;
    const bool judges = judging_is_on(w->scan) && kept < WORKER_JUDGE_STEPS;
    const long history = judges ? WORKER_JUDGE_STEPS : kept;
    if (w->device.sharers == 0) /* else it bounds the device's memory */
        TRY(memory_limit_set(scan_get_resources(w->scan)->memory, w->placement.threads));
    w->ops = scan_model(w->scan);
    w->current = -1;
    stopwatch_start(&w->watch, PART_HOST);
    w->last_report = w->watch.begin;
    w->text_size = scan_text_bound(w->scan) + 1;
    snprintf(w->kernel_id, sizeof w->kernel_id, "none");
    TRY(scan_params_init(w->scan, &w->params));
    TRY(MEM_NEW((long)w->text_size, &w->text));
    TRY(MEM_NEW(w->placement.capacity, &w->row));
    for (int r = 0; r < w->placement.capacity; r++) {
        w->row[r].member = -1;
        TRY(MEM_NEW(history, &w->row[r].history));
    }
    stopwatch_switch(&w->watch, PART_OUTPUT);
    TRY(store_open(w->options->file, &w->store));
    stopwatch_switch(&w->watch, PART_HOST);
    store_set_sync(w->store, scan_get_store(w->scan)->sync == SYNC_MEMBER);
    store_begin_chunk(w->store);
    TRY(store_set_planes_span(w->store, PLANES_SPAN));
    return checkpoint_open(w);
}

int worker_close(struct worker *w)
{
    stopwatch_switch(&w->watch, PART_OUTPUT);
    const int rc = store_close(w->store);
    stopwatch_switch(&w->watch, PART_HOST);
    w->store = NULL;
    device_effort_tell(&w->effort, w->rank);
    slots_clear(w);
    checkpoint_close(w);
    worker_judges_clear(w);
    for (int r = 0; w->row != NULL && r < w->placement.capacity; r++) {
        worker_drop_judgment(&w->row[r]);
        mem_free(w->row[r].history);
    }
    mem_free(w->row);
    w->row = NULL;
    mem_free(w->give);
    w->give = NULL;
    w->gives = 0;
    mem_free(w->text);
    w->text = NULL;
    params_clear(&w->params);
    return rc;
}

int worker_give(struct worker *w, const struct message_give *give)
{
    if (w->give == NULL) { /* chunks may be as small as one task, and as many as rows */
        w->gives_max = w->placement.capacity + WORKER_GIVES_MAX;
        TRY(MEM_NEW(w->gives_max, &w->give));
    }
    if (w->gives == w->gives_max)
        FAIL(ERR_BUG, "a worker was given more than %d chunks", w->gives_max);
    w->give[(w->first_give + w->gives) % w->gives_max] = *give;
    w->gives++;
    return 0;
}

static struct message_give *give_at(struct worker *w, int i)
{
    return &w->give[(w->first_give + i) % w->gives_max];
}

/* Tasks of the i-th chunk that have not been started. */
static int64_t unstarted_of(struct worker *w, int i)
{
    return give_count(give_at(w, i)) - (i == 0 ? w->next_task : 0);
}

static int64_t unstarted(struct worker *w)
{
    int64_t sum = 0;
    for (int i = 0; i < w->gives; i++)
        sum += unstarted_of(w, i);
    return sum;
}

static void drop_first_give(struct worker *w)
{
    w->first_give = (w->first_give + 1) % w->gives_max;
    w->gives--;
    w->next_task = 0;
}

/* What ended last, and planes that wait for others, into the file for good. */
static int commit(struct worker *w)
{
    TRY(worker_check_right(w));
    TRY(store_end_chunk(w->store));
    TRY(worker_commit_judgments(w));
    store_begin_chunk(w->store);
    return 0;
}

/* Make what ended last for good, then say so. */
int worker_flush(struct worker *w)
{
    const enum work_part before = stopwatch_switch(&w->watch, PART_OUTPUT);
    w->last_report = w->watch.since;
    if (w->report.runs == 0 && w->report.error == 0 && w->report.check == CHECK_NONE) {
        stopwatch_switch(&w->watch, before);
        return 0;
    }
    if (w->report.error == 0 && w->store != NULL)
        TRY(commit(w));
    stopwatch_switch(&w->watch, link_part(w));
    w->report.rows = slot_rows(w);
    TRY(w->link.report(w->link.context, &w->report));
    memset(&w->report, 0, sizeof w->report);
    stopwatch_switch(&w->watch, before);
    return 0;
}

int worker_add_report(struct worker *w, const struct report_run *run)
{
    if (report_add(&w->report, run))
        return 0;
    TRY(worker_flush(w));
    report_add(&w->report, run);
    return 0;
}

/* A report has room for one reason: another one goes with the next. */
int worker_add_reason(struct worker *w, const char *reason)
{
    if (w->report.text[0] != '\0' && strcmp(w->report.text, reason) != 0)
        TRY(worker_flush(w));
    snprintf(w->report.text, sizeof w->report.text, "%s", reason);
    return 0;
}

int worker_end_member(struct worker *w, int64_t member, const struct row_status *status,
                      const struct worker_effort *effort)
{
    static const enum member_state states[] = {[ROW_DONE] = MEMBER_DONE,
                                               [ROW_FAILED] = MEMBER_FAILED,
                                               [ROW_TIMED_OUT] = MEMBER_TIMED_OUT};
    const enum work_part before = stopwatch_switch(&w->watch, PART_OUTPUT);
    const struct store_member_end end = {
        .state = states[status->outcome],
        .reason = status->reason,
        .attempts = (int)effort->tries,
        .wall = effort->wall,
        .cpu = effort->cpu,
        .rank = w->rank,
        .host = w->host,
        .device = w->backend != NULL ? w->backend->device : "",
        .kernel_id = w->kernel_id,
        .row = status,
        .steps_kept = effort->kept,
    };
    TRY(store_end_member(w->store, member, &end));
    stopwatch_switch(&w->watch, before);
    w->members++;
    w->check.members++;
    if (status->outcome != ROW_DONE)
        TRY(worker_add_reason(w, status->reason));
    const struct report_run run = {.first = member,
                                   .count = 1,
                                   .pass = PASS_MEMBER,
                                   .state = (int32_t)end.state,
                                   .seconds = effort->wall};
    return worker_add_report(w, &run);
}

void worker_release_row(struct worker *w, int r)
{
    memset(&w->slot[w->current].status[r], 0, sizeof(struct row_status));
    checkpoint_release(w, r);
    worker_drop_judgment(&w->row[r]);
    w->row[r].member = -1;
    w->running--;
}

static int reduce(struct worker *w, int64_t point)
{
    const enum work_part before = stopwatch_switch(&w->watch, PART_OUTPUT);
    const double begin = w->watch.since;
    struct reduce_result result = {0};
    TRY(reduce_look(w->store, point, &result));
    stopwatch_switch(&w->watch, before);
    const double seconds = w->watch.since - begin;
    const struct until_end *const until = &result.until;
    const double estimate = until->looks > 0 ? until->value : result.coherence;
    const double error = until->looks > 0 ? until->error : result.error;
    const struct report_run run = {.first = point,
                                   .count = 1,
                                   .pass = PASS_REDUCE,
                                   .state = MEMBER_DONE,
                                   .seconds = seconds,
                                   .stopped = (int32_t)until->stopped,
                                   .looks = until->looks,
                                   .realisations = until->realisations,
                                   .value = {estimate, error}};
    return worker_add_report(w, &run);
}

/* Whether the next member cannot start beside the running rows. */
static bool must_wait(const struct worker *w, int64_t member)
{
    if (w->running == 0)
        return false;
    if (w->running == slot_rows(w))
        return true;
    const int64_t point = member / scan_realisations(w->scan);
    return w->slot[w->current].structure != scan_structure_of(w->scan, point);
}

/* A worker with wrong kernels must not get further than `--self-check` says. */
static int check_before(struct worker *w, int64_t member)
{
    w->check.point = member / scan_realisations(w->scan);
    return worker_check_due(w) ? worker_check(w, false) : 0;
}

/* Start tasks until the rows are full. */
static int fill_rows(struct worker *w)
{
    while (w->gives > 0 && !is_stopping(w)) {
        const struct message_give *give = give_at(w, 0);
        const int64_t id = give_id(give, w->next_task);
        if (give->pass != PASS_REDUCE && must_wait(w, id))
            return 0;
        if (w->next_task == 0)
            w->chunk_begin = clock_wall();
        if (give->pass != PASS_REDUCE) {
            TRY(check_before(w, id));
            if (w->check.failed)
                return 0;
        }
        if (give->pass == PASS_REDUCE)
            TRY(reduce(w, id));
        else if (give->pass == PASS_JUDGE)
            TRY(worker_start_judgment(w, id, give));
        else
            TRY(worker_start_member(w, id, give));
        if (++w->next_task == give_count(give))
            drop_first_give(w);
    }
    return 0;
}

static int write_plane(struct worker *w, int r)
{
    struct worker_slot *slot = &w->slot[w->current];
    const struct row_status *status = &slot->status[r];
    if (status->plane < w->row[r].resume.saved)
        return 0; /* committed before: it stays as it is */
    const enum work_part before = stopwatch_switch(&w->watch, PART_ADVANCE);
    TRY(w->ops->plane(slot->model, r, &slot->buffers));
    stopwatch_switch(&w->watch, PART_OUTPUT);
    TRY(worker_check_right(w));
    fault_point("write", w->row[r].member, status->plane);
    TRY(store_write_plane(w->store, w->row[r].member, &w->row[r].layout, status->plane,
                          status->progress, &slot->buffers));
    stopwatch_switch(&w->watch, before);
    return 0;
}

static int collect_row(struct worker *w, int r)
{
    struct row_status *status = &w->slot[w->current].status[r];
    if (status->plane_ready) {
        TRY(w->row[r].judgment != NULL ? worker_judge_plane(w, r) : write_plane(w, r));
        status->plane_ready = false;
    }
    if (status->outcome == ROW_RUNNING)
        return 0;
    const struct worker_row *row = &w->row[r];
    if (row->judgment != NULL)
        return worker_end_judgment(w, r);
    const struct worker_effort effort = {.wall = clock_wall() - row->begin,
                                         .cpu = row->cpu,
                                         .tries = row->resume.tries,
                                         .kept = row->resume.kept};
    TRY(worker_end_member(w, row->member, status, &effort));
    worker_release_row(w, r);
    return 0;
}

/* Rows that are free wait for what a report brings: a call of the model must not outlast that,
 * however far the rows that work are from their next planes. */
static void limit_call(struct worker *w)
{
    const bool waits = w->running < slot_rows(w) && w->link.messages;
    const double most = fmax(w->options->chunk_time, CALL_LEAST);
    if (w->backend->apart)
        checkpoint_limit(w, waits ? clock_wall() + most : (double)INFINITY);
}

/* One call of the model for all rows, then what it left behind. */
static int advance(struct worker *w)
{
    struct worker_slot *slot = &w->slot[w->current];
    const double cpu = clock_cpu_process();
    const enum work_part before = stopwatch_switch(&w->watch, PART_ADVANCE);
    limit_call(w);
    for (int r = 0; r < w->placement.capacity; r++)
        if (w->row[r].member >= 0) {
            fault_point("step", w->row[r].member, slot->status[r].plane);
            const char *const kernels =
                w->row[r].judgment != NULL ? "judge.kernels" : "kernels";
            if (fault_wrong(kernels, w->row[r].member, slot->status[r].plane))
                backend_make_wrong(w->backend);
        }
    device_effort_begin(&w->effort, w->backend, &w->control);
    TRY(w->ops->advance(slot->model, &w->control, slot->status));
    device_effort_end(&w->effort, w->backend, &w->control);
    stopwatch_switch(&w->watch, before);
    const double share = (clock_cpu_process() - cpu) / w->running;
    for (int r = 0; r < w->placement.capacity; r++) {
        if (w->row[r].member < 0)
            continue;
        w->row[r].cpu += share;
        TRY(collect_row(w, r));
    }
    return 0;
}

static int give_back_one(struct worker *w, int32_t pass, int64_t first, int64_t count)
{
    const struct report_run run = {
        .first = first, .count = count, .pass = pass, .state = MEMBER_PENDING};
    return worker_add_report(w, &run);
}

/* Return tasks that were not started, from the last, until `keep` are left. */
static int give_back(struct worker *w, int64_t keep)
{
    int64_t surplus = unstarted(w) - keep;
    while (surplus > 0) {
        const int last = w->gives - 1;
        struct message_give *give = give_at(w, last);
        const int64_t held = unstarted_of(w, last);
        const int64_t count = surplus < held ? surplus : held;
        const int64_t left = give_count(give) - count;
        if (give->count == 0) {
            TRY(give_back_one(w, give->pass, give->first + left, count));
            give->length = left;
        } else {
            for (int64_t i = left; i < left + count; i++)
                TRY(give_back_one(w, give->pass, give->id[i], 1));
            give->count = (int32_t)left;
            give->length = 0;
        }
        surplus -= count;
        if (count == held) {
            w->gives--;
            w->next_task = w->gives == 0 ? 0 : w->next_task;
        }
    }
    return 0;
}

/* Reports go out when there is nothing to do and about once in a chunk's time. */
static int report_progress(struct worker *w)
{
    const double now = clock_wall();
    const double chunk = w->options->chunk_time;
    if (w->gives > 0 && now - w->chunk_begin > CHUNK_OVERRUN * chunk
        && unstarted(w) > slot_rows(w))
        TRY(give_back(w, slot_rows(w)));
    const bool idle = w->running == 0 && w->gives == 0;
    if (w->report.runs > 0 && (idle || now - w->last_report >= chunk))
        return worker_flush(w);
    return 0;
}

/* One look at what the controller sends. Without messages there is nobody to wait for. */
static int poll_link(struct worker *w, bool idle)
{
    stopwatch_switch(&w->watch, idle && w->link.messages ? PART_IDLE : link_part(w));
    TRY(w->link.poll(w->link.context, w, idle));
    stopwatch_switch(&w->watch, PART_HOST);
    return 0;
}

/* A batch costs what it costs however few of its rows work: all that there is goes in first. */
static int fill_batch(struct worker *w)
{
    int before = -1;
    TRY(fill_rows(w));
    while (w->backend != NULL && w->backend->apart && w->running > before && w->gives == 0
           && w->running < slot_rows(w) && !is_stopping(w)) {
        before = w->running;
        TRY(poll_link(w, false));
        TRY(fill_rows(w));
    }
    return 0;
}

static int work(struct worker *w)
{
    while (!is_stopping(w)) {
        const bool idle = w->running == 0 && w->gives == 0;
        TRY(poll_link(w, idle));
        if (w->quit)
            return 0;
        if (w->check.asked)
            TRY(worker_check(w, true));
        TRY(fill_batch(w));
        if (w->check.failed)
            return 0; /* no plane and no checkpoint more of its rows */
        if (w->running > 0)
            TRY(advance(w));
        TRY(checkpoint_when_due(w));
        TRY(report_progress(w));
    }
    /* Drain: rows go on to their next plane. */
    for (int r = 0;
         w->running > 0 && !atomic_load(&w->control.stop) && r < w->placement.capacity; r++) {
        const long plane = w->row[r].member < 0 ? 0 : w->slot[w->current].status[r].plane;
        while (w->row[r].member >= 0 && w->slot[w->current].status[r].plane == plane
               && !atomic_load(&w->control.stop))
            TRY(advance(w));
    }
    return checkpoint_rows(w);
}

/* Rows that did not end are not reported as anything. */
static int give_back_rows(struct worker *w)
{
    for (int r = 0; w->running > 0 && r < w->placement.capacity; r++) {
        if (w->row[r].member < 0)
            continue;
        const int32_t pass = w->row[r].judgment != NULL ? PASS_JUDGE : PASS_MEMBER;
        TRY(give_back_one(w, pass, w->row[r].member, 1));
        worker_release_row(w, r);
    }
    return 0;
}

/* Everything goes back; with an error also what ended but whose state is not in the file. */
static int give_back_all(struct worker *w, int error)
{
    if (error != 0) {
        for (int i = 0; i < w->report.runs; i++)
            w->report.run[i].state = MEMBER_PENDING;
        w->report.error = error;
        snprintf(w->report.text, sizeof w->report.text, "%s", w->error_text);
    }
    TRY(give_back_rows(w));
    TRY(give_back(w, 0));
    return worker_flush(w);
}

/* Whether an error means that the device is of no use any more. One that refuses a batch goes
 * on answering; with members on it whatever it fails with is as bad. */
static bool device_is_lost(const struct worker *w, int error)
{
    char text[STORE_REASON_SIZE];
    size_t left = 0;
    if (error != ERR_DEVICE || w->backend == NULL || !w->backend->apart)
        return false;
    const struct status_saved saved = status_capture_save();
    status_capture(text, sizeof text);
    const bool silent = backend_memory_left(w->backend, &left) != 0;
    status_capture_restore(saved);
    return silent || w->running > 0;
}

/*
 * What came from the device before it failed is sound, and is committed before anybody else
 * gets a member of it: nothing of this worker may reach the file later. Its rows are left as
 * they are and given back by nobody: to the controller they are those of a worker that died.
 */
static int leave_device(struct worker *w)
{
    char text[STORE_REASON_SIZE];
    snprintf(text, sizeof text, "%.95s has failed: %.120s", w->backend->device, w->error_text);
    status_capture(w->error_text, sizeof w->error_text);
    TRY(commit(w));
    TRY(worker_flush(w));
    w->report.device_failed = 1;
    snprintf(w->report.text, sizeof w->report.text, "%s", text);
    const int rc = w->link.report(w->link.context, &w->report);
    memset(&w->report, 0, sizeof w->report);
    return rc;
}

/* What a worker without a device still gets is others' already. */
static void drop_gives(struct worker *w)
{
    w->gives = 0;
    w->next_task = 0;
}

int worker_run(struct worker *w)
{
    status_capture(w->error_text, sizeof w->error_text);
    int error = work(w);
    bool lost = device_is_lost(w, error);
    if (lost) {
        error = leave_device(w);
        lost = error == 0;
    }
    stopwatch_switch(&w->watch, PART_HOST);
    status_capture(NULL, 0);
    int rc = lost ? 0 : give_back_all(w, error);
    /* Work that was on its way when the stop came goes back too. */
    while (rc == 0 && !w->quit) {
        rc = poll_link(w, true);
        if (lost)
            drop_gives(w);
        if (rc == 0 && w->check.asked && !lost)
            rc = worker_check(w, true);
        if (rc == 0 && w->gives > 0)
            rc = give_back_all(w, error);
    }
    return rc;
}
