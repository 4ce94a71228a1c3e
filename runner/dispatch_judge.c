/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pass 1: members that are done and chosen are judged, by any worker, when no member waits:
 * a member at the time limit is worth more than a verdict. The longest first, by the member's
 * own time.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "io/verdict.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/dispatch_parts.h"
#include "runner/judging.h"

enum { HEAP_LEAST = 64 };

int dispatch_judge_init(struct dispatch *d)
{
    struct dispatch_judging *j = &d->judging;
    if (!judging_is_on(d->scan))
        return 0;
    j->on = true;
    j->stretch = judging_stretch(d->scan);
    return queue_init_part(&j->chosen, d->part.first, d->part.first + d->part.count, false);
}

void dispatch_judge_clear(struct dispatch *d)
{
    queue_clear(&d->judging.chosen);
    mem_free(d->judging.heap);
    d->judging = (struct dispatch_judging){.on = false};
}

/* Part: the heap. */

static void swap(struct dispatch_judging *j, int64_t a, int64_t b)
{
    const struct dispatch_judgment kept = j->heap[a];
    j->heap[a] = j->heap[b];
    j->heap[b] = kept;
}

/* Equal times keep the order of the members. */
static bool is_before(const struct dispatch_judging *j, int64_t a, int64_t b)
{
    const struct dispatch_judgment *const x = &j->heap[a];
    const struct dispatch_judgment *const y = &j->heap[b];
    if (x->seconds > y->seconds || x->seconds < y->seconds)
        return x->seconds > y->seconds;
    return x->member < y->member;
}

static void rise(struct dispatch_judging *j, int64_t i)
{
    for (; i > 0 && is_before(j, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(j, i, (i - 1) / 2);
}

static void sink(struct dispatch_judging *j, int64_t i)
{
    for (int64_t child = 2 * i + 1; child < j->count; child = 2 * i + 1) {
        if (child + 1 < j->count && is_before(j, child + 1, child))
            child++;
        if (!is_before(j, child, i))
            return;
        swap(j, i, child);
        i = child;
    }
}

static int make_room(struct dispatch_judging *j)
{
    struct dispatch_judgment *grown = NULL;
    const int64_t room = 2 * j->count > HEAP_LEAST ? 2 * j->count : HEAP_LEAST;
    if (j->count < j->room)
        return 0;
    TRY(MEM_NEW((long)room, &grown));
    if (j->count > 0)
        memcpy(grown, j->heap, (size_t)j->count * sizeof grown[0]);
    mem_free(j->heap);
    j->heap = grown;
    j->room = room;
    return 0;
}

static void push(struct dispatch *d, int64_t member, double seconds)
{
    struct dispatch_judging *j = &d->judging;
    const int rc = make_room(j);
    if (rc != 0) {
        dispatch_fail(d, rc, "no memory for the list of members to judge");
        return;
    }
    j->heap[j->count++] = (struct dispatch_judgment){member, seconds};
    j->seconds += seconds;
    rise(j, j->count - 1);
}

static struct dispatch_judgment pull(struct dispatch_judging *j, int64_t i)
{
    const struct dispatch_judgment one = j->heap[i];
    j->count--;
    j->seconds = j->count > 0 ? fmax(j->seconds - one.seconds, 0) : 0;
    if (i < j->count) {
        j->heap[i] = j->heap[j->count];
        sink(j, i);
        rise(j, i);
    }
    return one;
}

/* Part: who waits. */

/* What the file says of one chosen member. */
static int note_found(struct dispatch *d, struct store *store, int64_t member, uint8_t state,
                      const struct verdict_state *found)
{
    struct dispatch_judging *j = &d->judging;
    double wall = 0;
    queue_set(&j->chosen, member, 1, true);
    if (state == MEMBER_PENDING) {
        j->total++;
        j->to_come++;
        return 0;
    }
    if (state != MEMBER_DONE)
        return 0; /* there is nothing to judge */
    j->total++;
    if (found->outcome == MEMBER_PENDING) {
        TRY(read_rows(store, "member/wall_s", member, 1, 1, &wall));
        push(d, member, wall * j->stretch);
        return 0;
    }
    j->before++;
    j->outside += found->verdict == VERDICT_OUTSIDE;
    j->none += found->verdict == VERDICT_UNJUDGED;
    return 0;
}

int dispatch_judge_read(struct dispatch *d, struct store *store, int64_t first, int64_t count,
                        const uint8_t *state)
{
    struct verdict_state *found = NULL;
    int rc = 0;
    if (!d->judging.on)
        return 0;
    TRY(MEM_NEW((long)count, &found));
    TRY_OR(rc, done, verdict_read(store, first, count, found));
    for (int64_t i = 0; i < count; i++)
        if (found[i].chosen && selection_has(d->selection, first + i))
            TRY_OR(rc, done, note_found(d, store, first + i, state[i], &found[i]));
done:
    mem_free(found);
    return rc;
}

void dispatch_judge_ready(struct dispatch *d, const struct report_run *run)
{
    struct dispatch_judging *j = &d->judging;
    const double seconds = run->seconds / (double)run->count * j->stretch;
    for (int64_t m = run->first; j->on && m < run->first + run->count; m++) {
        if (!queue_has(&j->chosen, m))
            continue;
        j->to_come--;
        if (run->state == MEMBER_DONE)
            push(d, m, seconds);
        else
            j->total--;
    }
}

/* The word of the journal for the end of a judgment. */
static const char *word_of(int state)
{
    return state == MEMBER_DONE ? "within" : state == JUDGED_OUTSIDE ? "outside" : "unjudged";
}

void dispatch_judge_ended(struct dispatch *d, const struct report_run *run, const char *reason)
{
    struct dispatch_judging *j = &d->judging;
    j->ended += run->count;
    if (run->state == JUDGED_OUTSIDE)
        j->outside += run->count;
    else if (run->state != MEMBER_DONE)
        j->none += run->count;
    dispatch_record(d, run, word_of(run->state), run->state == MEMBER_DONE ? "" : reason);
}

/* Part: the next ones. */

/* The longest judgment that ends before the deadline, -1: none does. */
static int64_t find_fitting(const struct dispatch *d)
{
    const struct dispatch_judging *j = &d->judging;
    int64_t best = -1;
    for (int64_t i = 0; i < j->count; i++) {
        if (dispatch_has_time(d, j->heap[i].seconds) && (best < 0 || is_before(j, i, best)))
            best = i;
        if (best == 0)
            return 0;
    }
    return best;
}

static int64_t key_of(const struct dispatch *d, int64_t member)
{
    return d->keys.key != NULL ? d->keys.key(d->keys.context, member) : 0;
}

/* More of the same structure, while they are next. */
static void take_more(struct dispatch *d, struct message_give *give, int64_t most)
{
    struct dispatch_judging *j = &d->judging;
    const int64_t key = key_of(d, give->id[0]);
    while (give->count < most && j->count > 0 && key_of(d, j->heap[0].member) == key
           && dispatch_has_time(d, j->heap[0].seconds))
        give->id[give->count++] = pull(j, 0).member;
}

int64_t dispatch_take_judgments(struct dispatch *d, const struct dispatch_worker *w,
                                struct message_give *give, double *seconds)
{
    struct dispatch_judging *j = &d->judging;
    *seconds = 0;
    if (j->count == 0)
        return 0;
    const int64_t first = find_fitting(d);
    j->too_late = first < 0;
    if (first < 0)
        return 0;
    const struct dispatch_judgment one = pull(j, first);
    int64_t most = dispatch_most_tasks(d, w, one.seconds, j->count + 1);
    *seconds = one.seconds;
    most = most < PROTOCOL_IDS_MAX ? most : PROTOCOL_IDS_MAX;
    give->pass = PASS_JUDGE;
    give->count = 1;
    give->id[0] = one.member;
    take_more(d, give, most);
    return give->count;
}

void dispatch_return(struct dispatch *d, int32_t pass, int64_t first, int64_t count,
                     double seconds)
{
    if (pass != PASS_JUDGE) {
        queue_set(pass == PASS_REDUCE ? &d->points : &d->members, first, count, true);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        push(d, first + i, seconds / (double)count);
}

double dispatch_judge_share(const struct dispatch *d)
{
    const struct dispatch_judging *j = &d->judging;
    const double open =
        (double)(d->counts.total - d->counts.before - d->counts.done - d->counts.failed);
    return j->on && open > 0 ? (double)j->to_come / open * j->stretch : 0;
}

static void append(char *text, size_t size, int64_t count, const char *what)
{
    const size_t used = strlen(text);
    if (count > 0)
        snprintf(text + used, size - used, "%s%" PRId64 " %s", used > 0 ? ", " : "", count,
                 what);
}

void dispatch_judge_text(const struct dispatch *d, char *text, size_t size)
{
    const struct dispatch_judging *j = &d->judging;
    append(text, size, j->outside, "outside the envelope");
    append(text, size, j->none, "without a verdict");
}
