/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of the tasks of workers that died, and of members that kill their workers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/dispatch_parts.h"

enum { LIST_LEAST = 16 };

/* So many workers of four are kept for suspects at a time, and one at least. */
enum { WORKERS_A_RESERVE = 4 };

/* Room for one item more. */
static int grow(void **list, int64_t count, int64_t *room, size_t size)
{
    void *grown = NULL;
    if (count < *room)
        return 0;
    const int64_t wanted = 2 * count > LIST_LEAST ? 2 * count : LIST_LEAST;
    TRY(mem_alloc((long)wanted, size, &grown));
    if (count > 0)
        memcpy(grown, *list, (size_t)count * size);
    mem_free(*list);
    *list = grown;
    *room = wanted;
    return 0;
}

/* Memory that is missing here must not lose a task: it becomes one like all others. */
static void add_suspect(struct dispatch *d, const struct dispatch_suspect *suspect)
{
    struct dispatch_losses *l = &d->losses;
    void *list = l->suspect;
    const int rc = grow(&list, l->suspects, &l->suspects_room, sizeof l->suspect[0]);
    l->suspect = list;
    if (rc == 0)
        l->suspect[l->suspects++] = *suspect;
    else
        dispatch_return(d, suspect->pass, suspect->id, 1, 0);
}

static void quarantine(struct dispatch *d, const struct dispatch_suspect *suspect,
                       const char *why)
{
    struct dispatch_losses *l = &d->losses;
    void *list = l->quarantined;
    const int rc = grow(&list, l->quarantines, &l->quarantines_room, sizeof l->quarantined[0]);
    l->quarantined = list;
    if (rc != 0) {
        dispatch_fail(d, rc, "no memory for the list of quarantined members");
        return;
    }
    struct dispatch_quarantined *item = &l->quarantined[l->quarantines++];
    item->member = suspect->id;
    item->pass = suspect->pass;
    snprintf(item->reason, sizeof item->reason, "ended %d worker%s, the last: %s",
             suspect->losses, suspect->losses == 1 ? "" : "s", why);
}

/* One worker more died over this task. A point has no state that could say so. */
static void blame(struct dispatch *d, const struct dispatch_suspect *suspect, const char *why)
{
    const int limit = scan_get_limits(d->scan)->attempts;
    const struct report_run run = {.first = suspect->id, .count = 1};
    if (suspect->pass != PASS_REDUCE && suspect->losses >= limit) {
        quarantine(d, suspect, why);
    } else if (suspect->pass == PASS_REDUCE && suspect->losses > limit) {
        char text[STORE_REASON_SIZE];
        snprintf(text, sizeof text, "reducing point %" PRId64 " ended %d workers, the last: %s",
                 suspect->id, suspect->losses, why);
        dispatch_fail(d, ERR_BUG, text);
    } else {
        if (suspect->pass == PASS_MEMBER)
            dispatch_record(d, &run, "lost", why);
        add_suspect(d, suspect);
    }
}

/*
 * How many of a worker's tasks, the oldest, it may have been computing or have ended without
 * a report: as many as it has rows, and of short ones the rest of the chunk it was at.
 */
static int64_t count_suspects(const struct dispatch_worker *w)
{
    const int64_t oldest = holding_oldest(&w->holding);
    const int64_t rows = w->out < w->capacity ? w->out : w->capacity;
    return oldest > rows ? oldest : rows;
}

/* With more suspects than rows most are innocent: none is condemned on this alone. */
static void suspect_tasks(struct dispatch *d, struct dispatch_worker *w, const char *why)
{
    const int limit = scan_get_limits(d->scan)->attempts;
    const int64_t suspects = count_suspects(w);
    const int losses = suspects > w->capacity && limit < 2 ? 0 : 1;
    int64_t seen = 0;
    for (int i = 0; i < w->holding.spans; i++) {
        const struct holding_span *span = &w->holding.span[i];
        int64_t id = span->first;
        for (; id < span->first + span->count && seen < suspects; id++, seen++) {
            const struct dispatch_suspect one = {
                .id = id, .pass = span->pass, .losses = losses};
            blame(d, &one, why);
        }
        if (id < span->first + span->count)
            dispatch_return(d, span->pass, id, span->first + span->count - id,
                            span->seconds * (double)(span->first + span->count - id));
    }
}

/* Members, not points, among what a worker holds. */
static int64_t count_members(const struct dispatch_worker *w)
{
    int64_t sum = 0;
    for (int i = 0; i < w->holding.spans; i++)
        if (w->holding.span[i].pass == PASS_MEMBER)
            sum += w->holding.span[i].count;
    return sum;
}

/* It shares the work no longer. */
static void leave(struct dispatch *d, struct dispatch_worker *w)
{
    d->losses.reserved -= w->reserved;
    d->losses.parked -= w->parked;
    w->reserved = false;
    w->parked = false;
    d->workers--;
    d->rows -= w->known ? w->capacity : 0;
    d->out -= w->out;
    d->out_seconds -= holding_seconds(&w->holding);
    d->counts.running -= count_members(w);
    dispatch_check_leave(d, w);
}

void dispatch_lost(struct dispatch *d, struct dispatch_worker *w, const char *why)
{
    if (w->gone && !w->forgotten)
        return;
    if (w->forgotten)
        d->losses.abandoned -= w->out;
    else
        leave(d, w);
    w->gone = true;
    w->forgotten = false;
    d->losses.any = true;
    if (w->tries) {
        w->alone.losses++;
        blame(d, &w->alone, why);
    } else {
        suspect_tasks(d, w, why);
    }
    w->tries = false;
    w->out = 0;
    holding_clear(&w->holding);
}

void dispatch_forget(struct dispatch *d, struct dispatch_worker *w)
{
    if (w->gone)
        return;
    leave(d, w);
    w->gone = true;
    w->forgotten = true;
    d->losses.abandoned += w->out;
}

bool dispatch_next_quarantined(struct dispatch *d, struct dispatch_quarantined *out)
{
    struct dispatch_losses *l = &d->losses;
    if (l->quarantines == 0)
        return false;
    *out = l->quarantined[--l->quarantines];
    const struct report_run run = {
        .first = out->member, .count = 1, .pass = out->pass, .state = MEMBER_QUARANTINED};
    if (out->pass == PASS_JUDGE)
        dispatch_judge_ended(d, &run, out->reason);
    else
        dispatch_note_ended(d, &run, out->reason);
    return true;
}

/* Part: one suspect at a time, in a worker that holds nothing else. */

bool dispatch_keeps_free(struct dispatch *d, struct dispatch_worker *w)
{
    struct dispatch_losses *l = &d->losses;
    if (w->tries)
        return true;
    if (l->suspects == 0) {
        l->reserved -= w->reserved;
        w->reserved = false;
        return false;
    }
    if (!w->reserved && l->reserved < l->suspects
        && l->reserved < 1 + (d->workers - 1) / WORKERS_A_RESERVE) {
        w->reserved = true;
        l->reserved++;
    }
    return w->reserved && w->out > 0;
}

int64_t dispatch_take_suspect(struct dispatch *d, struct dispatch_worker *w,
                              struct message_give *give)
{
    struct dispatch_losses *l = &d->losses;
    if (l->suspects == 0 || w->out > 0)
        return 0;
    if (!dispatch_has_time(d, dispatch_median(d))) {
        d->too_late = d->too_late || dispatch_waiting(d) == 0;
        return 0;
    }
    w->alone = l->suspect[--l->suspects];
    w->tries = true;
    give->pass = w->alone.pass;
    give->first = w->alone.id;
    give->length = 1;
    return 1;
}

void dispatch_note_suspect(struct dispatch *d, struct dispatch_worker *w,
                           const struct report_run *run)
{
    if (!w->tries)
        return;
    w->tries = false;
    if (run->state == MEMBER_PENDING)
        add_suspect(d, &w->alone);
}

void dispatch_losses_clear(struct dispatch_losses *losses)
{
    mem_free(losses->suspect);
    mem_free(losses->quarantined);
    memset(losses, 0, sizeof *losses);
}
