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

static void add_span(struct dispatch *d, struct holding *to, int64_t first, int64_t count,
                     int64_t mark)
{
    const struct message_give give = {.pass = PASS_MEMBER, .first = first, .length = count};
    const struct holding_lot lot = {.give = mark};
    struct holding_span *const last = to->spans > 0 ? &to->span[to->spans - 1] : NULL;
    if (last != NULL && last->first + last->count == first && last->give == mark) {
        last->count += count;
        return;
    }
    const int rc = holding_add(to, &give, &lot);
    if (rc != 0)
        dispatch_fail(d, rc, "no memory for the list of unchecked members");
}

void dispatch_note_unchecked(struct dispatch *d, struct dispatch_worker *w,
                             const struct report_run *run)
{
    if (!d->checks.on || run->pass != PASS_MEMBER || run->state == MEMBER_PENDING || w->gone)
        return;
    add_span(d, &w->unchecked, run->first, run->count, run->state);
    w->unchecked_members += run->count;
    d->checks.unchecked += run->count;
}

static void forget_unchecked(struct dispatch *d, struct dispatch_worker *w)
{
    d->checks.unchecked -= w->unchecked_members;
    w->unchecked_members = 0;
    holding_clear(&w->unchecked);
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
    forget_unchecked(d, w);
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

static void withdraw(struct dispatch *d, const struct holding_span *span, const char *why)
{
    const struct report_run run = {.first = span->first, .count = span->count};
    const int state = (int)span->give;
    if (state == MEMBER_DONE)
        d->counts.done -= span->count;
    else
        d->counts.failed -= span->count;
    if (state == MEMBER_TIMED_OUT)
        d->counts.timed_out -= span->count;
    for (int64_t i = 0; i < span->count; i++)
        open_point(d, span->first + i);
    dispatch_record(d, &run, WITHDRAW_STATE, why);
    add_span(d, &d->checks.withdrawn, span->first, span->count, WITHDRAWN_FREE);
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
    for (int i = 0; i < w->unchecked.spans; i++)
        withdraw(d, &w->unchecked.span[i], why);
    forget_unchecked(d, w);
    /* What it has begun may have planes by now. */
    for (int i = 0; i < w->holding.spans; i++) {
        const struct holding_span *const span = &w->holding.span[i];
        const struct report_run run = {.first = span->first, .count = span->count};
        if (span->pass != PASS_MEMBER)
            continue;
        dispatch_record(d, &run, WITHDRAW_STATE, why);
        add_span(d, &d->checks.withdrawn, span->first, span->count, WITHDRAWN_HELD);
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
        forget_unchecked(d, w);
}

bool dispatch_wants_check(const struct dispatch *d, const struct dispatch_worker *w)
{
    const bool over = d->stopping || d->too_late || dispatch_pending(d) == 0;
    return d->error == 0 && !w->gone && w->unchecked_members > 0 && w->out == 0 && over;
}

bool dispatch_next_withdrawn(struct dispatch *d, int64_t *member)
{
    struct holding *const list = &d->checks.withdrawn;
    if (list->spans == 0)
        return false;
    struct holding_span *const last = &list->span[list->spans - 1];
    *member = last->first + --last->count;
    if (last->give == WITHDRAWN_FREE)
        queue_set(&d->members, *member, 1, true);
    if (last->count == 0)
        list->spans--;
    return true;
}
