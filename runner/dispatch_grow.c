/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ensembles that stop themselves: a point gets the members of its next look only, then a
 * reduction says whether there is another one (io/until.h). Points that go on wait with their
 * errors; when nothing else waits, the members of the one with the largest error are given.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/dispatch_parts.h"

int dispatch_grow_init(struct dispatch *d, struct store *store)
{
    struct dispatch_growing *g = &d->growing;
    const int64_t points = scan_points(d->scan);
    if (d->left == NULL || !until_is_on(store))
        return 0;
    TRY(until_read_rule(store, &g->rule));
    TRY(queue_init_part(&g->held, d->part.first, d->part.first + d->part.count, false));
    TRY(MEM_NEW((long)points, &g->heap));
    TRY(MEM_NEW((long)points, &g->looks));
    for (int64_t p = 0; p < points; p++)
        d->left[p] = g->rule.min;
    g->on = true;
    return 0;
}

void dispatch_grow_clear(struct dispatch *d)
{
    queue_clear(&d->growing.held);
    mem_free(d->growing.heap);
    mem_free(d->growing.looks);
    d->growing = (struct dispatch_growing){.on = false};
}

bool dispatch_grow_holds(struct dispatch *d, int64_t member)
{
    struct dispatch_growing *g = &d->growing;
    if (!g->on || member % scan_realisations(d->scan) < g->rule.min)
        return false;
    queue_set(&g->held, member, 1, true);
    queue_set(&d->members, member, 1, false);
    return true;
}

/* Part: the heap. */

/* The larger error first; one that is not known is the largest. */
static bool is_before(const struct dispatch_growing *g, int64_t a, int64_t b)
{
    const double x = isnan(g->heap[a].error) ? (double)INFINITY : g->heap[a].error;
    const double y = isnan(g->heap[b].error) ? (double)INFINITY : g->heap[b].error;
    if (x > y || x < y)
        return x > y;
    return g->heap[a].point < g->heap[b].point;
}

static void swap(struct dispatch_growing *g, int64_t a, int64_t b)
{
    const struct dispatch_open_point kept = g->heap[a];
    g->heap[a] = g->heap[b];
    g->heap[b] = kept;
}

static void push(struct dispatch_growing *g, const struct dispatch_open_point *open)
{
    int64_t i = g->count++;
    g->heap[i] = *open;
    g->members += open->members;
    for (; i > 0 && is_before(g, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(g, i, (i - 1) / 2);
}

static struct dispatch_open_point pull(struct dispatch_growing *g)
{
    const struct dispatch_open_point first = g->heap[0];
    g->heap[0] = g->heap[--g->count];
    g->members -= first.members;
    for (int64_t i = 0, child = 1; child < g->count; i = child, child = 2 * i + 1) {
        if (child + 1 < g->count && is_before(g, child + 1, child))
            child++;
        if (!is_before(g, child, i))
            break;
        swap(g, child, i);
    }
    return first;
}

/* Part: looks. */

/* End of the held members that follow `member` side by side. */
static int64_t held_end(const struct dispatch_growing *g, int64_t member, int64_t end)
{
    while (member < end && queue_has(&g->held, member))
        member++;
    return member;
}

/* Members of a point that its next look waits for. */
static int64_t count_held(const struct dispatch_growing *g, int64_t first, int64_t end)
{
    int64_t count = 0;
    for (int64_t m = first; m < end; m++)
        count += queue_has(&g->held, m);
    return count;
}

void dispatch_grow_release(struct dispatch *d)
{
    struct dispatch_growing *g = &d->growing;
    if (g->count == 0 || d->members.pending + d->order.members + d->begun_count > 0)
        return;
    const struct dispatch_open_point open = pull(g);
    const int64_t first = open.point * scan_realisations(d->scan);
    const int64_t end = first + until_next_count(&g->rule, g->looks[open.point]);
    for (int64_t m = first; m < end; m++) {
        if (!queue_has(&g->held, m))
            continue;
        queue_set(&g->held, m, 1, false);
        queue_set(&d->members, m, 1, true);
    }
}

/* The point goes on: what its next look waits for. */
static void wait_for_next(struct dispatch *d, int64_t point, double error)
{
    struct dispatch_growing *g = &d->growing;
    const int64_t first = point * scan_realisations(d->scan);
    const struct dispatch_open_point open = {
        .point = point,
        .error = error,
        .members = count_held(g, first, first + until_next_count(&g->rule, g->looks[point]))};
    d->left[point] = open.members;
    if (open.members > 0)
        push(g, &open);
    else
        queue_set(&d->points, point, 1, true); /* they have ended in an earlier run */
}

static void note_stop(struct dispatch_growing *g, enum until_stop stopped, int64_t realisations,
                      double error)
{
    g->reached += stopped == UNTIL_REACHED;
    g->all += stopped == UNTIL_ALL;
    g->used += realisations;
    if (stopped == UNTIL_ALL && !(error <= g->worst))
        g->worst = error;
}

/* Members that the point does not need: nobody computes or judges them. */
static void drop_members(struct dispatch *d, int64_t point)
{
    struct dispatch_growing *g = &d->growing;
    const int64_t first = point * scan_realisations(d->scan);
    const int64_t end = first + scan_realisations(d->scan);
    for (int64_t m = first; m < end; m++) {
        const struct report_run run = {.first = m,
                                       .count = held_end(g, m, end) - m,
                                       .pass = PASS_MEMBER,
                                       .state = MEMBER_NOT_NEEDED};
        if (run.count == 0)
            continue;
        queue_set(&g->held, m, run.count, false);
        d->counts.total -= run.count;
        dispatch_judge_ready(d, &run);
        dispatch_record(d, &run, member_state_name(MEMBER_NOT_NEEDED), "");
        m += run.count - 1;
    }
}

void dispatch_grow_looked(struct dispatch *d, const struct report_run *run)
{
    struct dispatch_growing *g = &d->growing;
    g->looks[run->first] = run->looks;
    if (run->stopped == UNTIL_OPEN) {
        wait_for_next(d, run->first, run->value[1]);
        return;
    }
    d->counts.reduced += run->count;
    note_stop(g, (enum until_stop)run->stopped, run->realisations, run->value[1]);
    dispatch_record_stop(d, run);
    drop_members(d, run->first);
}

/* Part: what an earlier run left. */

int dispatch_grow_point(struct dispatch *d, struct store *store, int64_t point,
                        const uint8_t *state)
{
    struct dispatch_growing *g = &d->growing;
    const int64_t m = scan_realisations(d->scan);
    struct until_end end;
    bool settled = false;
    TRY(until_is_settled(store, point, state, &settled, &end));
    if (!settled) {
        queue_set(&d->points, point, 1, d->left[point] == 0);
        return 0;
    }
    d->left[point] = 0;
    if (count_held(g, point * m, (point + 1) * m) > 0) {
        queue_set(&d->points, point, 1, true); /* killed before it said what is not needed */
        return 0;
    }
    g->looks[point] = end.looks;
    d->counts.reduced++;
    note_stop(g, end.stopped, end.realisations, end.error);
    return 0;
}

/* "all points have stopped: 3 where g12 is known to 2 %, 1 with all 2000 realisations (largest
 * error 3.1 %); 2380 of up to 8000 members count" */
void dispatch_grow_text(const struct dispatch *d, char *text, size_t size)
{
    const struct dispatch_growing *g = &d->growing;
    const int64_t points = g->reached + g->all;
    int used = snprintf(text, size, "%s: %" PRId64 " where %s is known to %.3g %%",
                        points == 1 ? "the point has stopped" : "all points have stopped",
                        g->reached, g->rule.quantity, 100 * g->rule.error);
    if (g->all > 0 && used > 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used,
                         ", %" PRId64 " with all %" PRId64 " realisations (largest error %.3g "
                         "%%)",
                         g->all, g->rule.max, 100 * g->worst);
    if (used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used,
                 "; %" PRId64 " of up to %" PRId64 " members count", g->used,
                 points * g->rule.max);
}
