/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Members count once their worker has passed a self-check after them. When it fails, what it
 * computed since the last good one is withdrawn: made pending in the file, and computed again
 * by others; the worker gets nothing any more.
 */
#include <stdio.h>
#include <string.h>

#include "kernels/base/status.h"
#include "runner/dispatch_parts.h"

/* What a withdrawn span becomes: given again, or held by its worker, who gives it back. */
enum { WITHDRAWN_FREE, WITHDRAWN_HELD };

static void add_span(struct dispatch *d, struct holding *to, const struct report_run *run,
                     int64_t mark)
{
    const struct message_give give = {
        .pass = run->pass, .first = run->first, .length = run->count};
    const struct holding_lot lot = {.give = mark, .seconds = run->seconds / (double)run->count};
    const int rc = holding_add(to, &give, &lot);
    if (rc != 0)
        dispatch_fail(d, rc, "no memory for the list of unchecked members");
}

void dispatch_note_unchecked(struct dispatch *d, struct dispatch_worker *w,
                             const struct report_run *run)
{
    if (!d->checks.on || run->pass == PASS_REDUCE || run->state == MEMBER_PENDING)
        return;
    if (w->gone) { /* it confirms nothing any more */
        if (run->pass == PASS_MEMBER)
            dispatch_judge_ready(d, run);
        return;
    }
    add_span(d, &w->unchecked, run, run->state);
    w->unchecked_members += run->count;
    d->checks.unchecked += run->count;
}

static struct report_run run_of(const struct holding_span *span)
{
    return (struct report_run){.first = span->first,
                               .count = span->count,
                               .pass = span->pass,
                               .state = (int32_t)span->give,
                               .seconds = span->seconds * (double)span->count};
}

static void forget_unchecked(struct dispatch *d, struct dispatch_worker *w)
{
    d->checks.unchecked -= w->unchecked_members;
    w->unchecked_members = 0;
    holding_clear(&w->unchecked);
}

/* Nothing more is known against these members: they may be judged. */
static void confirm(struct dispatch *d, struct dispatch_worker *w)
{
    for (int i = 0; i < w->unchecked.spans; i++) {
        const struct report_run run = run_of(&w->unchecked.span[i]);
        if (run.pass == PASS_MEMBER)
            dispatch_judge_ready(d, &run);
    }
    forget_unchecked(d, w);
}

static void fail_without_workers(struct dispatch *d)
{
    char text[STORE_REASON_SIZE];
    if (d->checks.unsound == 0 || d->checks.unsound < d->workers)
        return;
    snprintf(text, sizeof text, "the self-check fails%s: %.180s",
             d->checks.unsound > 1 ? " in every worker, in the last" : "", d->checks.text);
    dispatch_fail(d, ERR_DEVICE, text);
}

void dispatch_check_leave(struct dispatch *d, struct dispatch_worker *w)
{
    confirm(d, w);
    d->checks.unsound -= w->unsound;
    w->unsound = false;
    fail_without_workers(d);
}

/* A point whose members have not all ended any more: its reduction, where there is one, is
 * stale. */
static void open_point(struct dispatch *d, int64_t member)
{
    const int64_t point = member / scan_realisations(d->scan);
    if (d->left == NULL)
        return;
    if (d->left[point]++ > 0)
        return;
    if (queue_has(&d->points, point))
        queue_set(&d->points, point, 1, false);
    else
        d->counts.reduced--;
}

static void withdraw(struct dispatch *d, const struct report_run *run, const char *why)
{
    if (run->state == MEMBER_DONE)
        d->counts.done -= run->count;
    else
        d->counts.failed -= run->count;
    if (run->state == MEMBER_TIMED_OUT)
        d->counts.timed_out -= run->count;
    for (int64_t i = 0; i < run->count; i++)
        open_point(d, run->first + i);
    dispatch_record(d, run, WITHDRAW_STATE, why);
    add_span(d, &d->checks.withdrawn, run, WITHDRAWN_FREE);
}

static void withdraw_verdict(struct dispatch *d, const struct report_run *run, const char *why)
{
    d->judging.ended -= run->count;
    if (run->state == JUDGED_OUTSIDE)
        d->judging.outside -= run->count;
    else if (run->state != MEMBER_DONE)
        d->judging.none -= run->count;
    dispatch_record(d, run, WITHDRAW_VERDICT, why);
    add_span(d, &d->checks.withdrawn, run, WITHDRAWN_FREE);
}

static void condemn(struct dispatch *d, struct dispatch_worker *w, const char *figures)
{
    char why[STORE_REASON_SIZE];
    snprintf(why, sizeof why, "self-check failed: %.200s", figures);
    snprintf(d->checks.text, sizeof d->checks.text, "%.*s", (int)sizeof d->checks.text - 1,
             figures);
    w->unsound = true;
    d->losses.any = true; /* members may have been begun */
    d->checks.unsound++;
    for (int i = 0; i < w->unchecked.spans; i++) {
        const struct report_run run = run_of(&w->unchecked.span[i]);
        if (run.pass == PASS_MEMBER)
            withdraw(d, &run, why);
        else
            withdraw_verdict(d, &run, why);
    }
    forget_unchecked(d, w);
    /* What it has begun may have planes by now. */
    for (int i = 0; i < w->holding.spans; i++) {
        struct report_run run = run_of(&w->holding.span[i]);
        run.state = MEMBER_PENDING;
        if (run.pass != PASS_MEMBER)
            continue;
        dispatch_record(d, &run, WITHDRAW_STATE, why);
        add_span(d, &d->checks.withdrawn, &run, WITHDRAWN_HELD);
    }
    fail_without_workers(d);
}

void dispatch_note_check(struct dispatch *d, struct dispatch_worker *w,
                         const struct message_report *report)
{
    if (report->check == CHECK_NONE || w->unsound || w->gone)
        return;
    if (report->check == CHECK_FAILED)
        condemn(d, w, report->check_text);
    else
        confirm(d, w);
}

bool dispatch_wants_check(const struct dispatch *d, const struct dispatch_worker *w)
{
    const bool over = d->stopping || d->too_late || dispatch_pending(d) == 0;
    return d->error == 0 && !w->gone && w->unchecked_members > 0 && w->out == 0 && over;
}

bool dispatch_next_withdrawn(struct dispatch *d, int64_t *member, enum task_pass *pass)
{
    struct holding *const list = &d->checks.withdrawn;
    if (list->spans == 0)
        return false;
    struct holding_span *const last = &list->span[list->spans - 1];
    *member = last->first + --last->count;
    *pass = (enum task_pass)last->pass;
    if (last->give == WITHDRAWN_FREE)
        dispatch_return(d, last->pass, *member, 1, last->seconds);
    if (last->count == 0)
        list->spans--;
    return true;
}
