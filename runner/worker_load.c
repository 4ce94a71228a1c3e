/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a member comes into a row: from its start, or from where an earlier run left it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "kernels/base/clock.h"
#include "kernels/base/fault.h"
#include "kernels/base/log.h"
#include "kernels/base/status.h"
#include "runner/slot.h"
#include "runner/spec.h"
#include "runner/worker_parts.h"

static int free_row(const struct worker *w)
{
    int r = 0;
    while (w->row[r].member >= 0)
        r++;
    return r;
}

/* A model that refuses this member's parameters: the member fails, the scan goes on. */
bool worker_is_refusal(int code)
{
    return code == ERR_ARGUMENT || code == ERR_UNSUPPORTED || code == ERR_PARSE;
}

bool worker_is_limited(const struct worker *w)
{
    return w->device.sharers == 0 && scan_get_resources(w->scan)->memory > 0;
}

/* Load a row from one source. `done` stays false where there is nothing to load from. */
static int load_from(struct worker *w, int r, enum resume_source source,
                     struct continuation *from, bool *done)
{
    struct worker_row *row = &w->row[r];
    struct worker_slot *slot = &w->slot[w->current];
    char text[STORE_REASON_SIZE];
    struct state_in state;
    struct seed seed;
    TRY(checkpoint_fetch(w, r, source, from, &state, done));
    if (!*done)
        return 0;
    spec_seed(w->scan, row->member, w->text, w->text_size, &seed);
    seed.perturbation = from->perturbation;
    const bool whole = source == RESUME_START;
    const struct status_saved saved = status_capture_save();
    if (!whole)
        status_capture(text, sizeof text);
    const int rc = w->ops->load(slot->model, r, &w->params, &seed, whole ? NULL : &state,
                                &slot->status[r]);
    status_capture_restore(saved);
    *done = rc == 0 || whole || !worker_is_refusal(rc);
    if (!*done)
        log_warn("member %lld does not go on from its %s: %s", (long long)row->member,
                 source == RESUME_PLANE ? "last plane" : "checkpoint", text);
    if (rc != 0 && *done && !whole)
        FAIL(rc, "%s", text);
    return *done ? rc : 0;
}

int worker_load_member(struct worker *w, int64_t member, const struct plane_layout *layout,
                       double timeout, struct continuation *from, int *out)
{
    const int64_t point = member / scan_realisations(w->scan);
    const int r = free_row(w);
    *out = r;
    struct worker_row *row = &w->row[r];
    row->begin = clock_wall();
    row->cpu = -clock_cpu_thread();
    row->layout = *layout;
    TRY(slot_select(w, scan_structure_of(w->scan, point), &row->layout));
    struct row_status *status = &w->slot[w->current].status[r];
    memset(status, 0, sizeof *status);
    status->deadline = timeout > 0 ? clock_wall() + timeout : (double)INFINITY;
    status->history = row->history;
    status->history_capacity =
        from->judges ? WORKER_JUDGE_STEPS : scan_get_store(w->scan)->history;
    row->member = member;
    w->running++;
    int source = from->known ? RESUME_CHECKPOINT : RESUME_START;
    bool done = false;
    int rc = load_from(w, r, (enum resume_source)source, from, &done);
    while (rc == 0 && !done)
        rc = load_from(w, r, (enum resume_source)++ source, from, &done);
    if (rc == 0)
        rc = checkpoint_adopt(w, r, (enum resume_source)source, from);
    row->cpu += clock_cpu_thread();
    if (rc != 0)
        worker_release_row(w, r);
    return rc;
}

/* The worker that died had ended this member: it is reported as though it had. */
static int report_ended(struct worker *w, int64_t member, int state)
{
    double wall = 0;
    char reason[STORE_REASON_SIZE] = "";
    TRY(read_rows(w->store, "member/wall_s", member, 1, 1, &wall));
    if (state != MEMBER_DONE)
        TRY(read_text_row(w->store, "member/reason", member, reason, sizeof reason));
    if (reason[0] != '\0')
        TRY(worker_add_reason(w, reason));
    const struct report_run run = {
        .first = member, .count = 1, .pass = PASS_MEMBER, .state = state, .seconds = wall};
    return worker_add_report(w, &run);
}

/* A member that cannot be computed, and no other is to suffer for it. */
static int refuse_member(struct worker *w, int64_t member, const struct row_status *refused,
                         double begin, double cpu, const struct continuation *from)
{
    const struct worker_effort effort = {.wall = clock_wall() - begin,
                                         .cpu = clock_cpu_thread() - cpu,
                                         .tries = from->past.tries + 1};
    return worker_end_member(w, member, refused, &effort);
}

int worker_start_member(struct worker *w, int64_t member, const struct message_give *give)
{
    const enum work_part before = stopwatch_switch(&w->watch, PART_LOAD);
    const double begin = w->watch.since;
    const double cpu = clock_cpu_thread();
    struct row_status refused = {.outcome = ROW_FAILED};
    struct plane_layout layout = {0};
    struct continuation from;
    fault_point("member.start", member, -1);
    TRY(checkpoint_look(w, member, give->again != 0, &from));
    if (from.past.state != MEMBER_PENDING) {
        stopwatch_switch(&w->watch, before);
        return report_ended(w, member, from.past.state);
    }
    scan_point(w->scan, member / scan_realisations(w->scan), &w->params);
    status_capture(refused.reason, sizeof refused.reason);
    int rc = w->ops->layout(&w->params, &layout);
    status_capture(w->error_text, sizeof w->error_text);
    if (worker_is_refusal(rc)) {
        stopwatch_switch(&w->watch, before);
        return refuse_member(w, member, &refused, begin, cpu, &from);
    }
    if (rc != 0)
        FAIL(rc, "%s", refused.reason);
    int row = 0;
    rc = worker_load_member(w, member, &layout, give->timeout, &from, &row);
    stopwatch_switch(&w->watch, before);
    if (rc == ERR_MEMORY && worker_is_limited(w)) {
        snprintf(refused.reason, sizeof refused.reason, "resources.memory is used up: %.180s",
                 w->error_text);
        return refuse_member(w, member, &refused, begin, cpu, &from);
    }
    /* the scan file has been accepted: it is not to blame any more */
    return worker_is_refusal(rc) ? ERR_DEVICE : rc;
}
