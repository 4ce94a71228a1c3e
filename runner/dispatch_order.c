/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which members come next, and how long they and all that is left will take. */
#include <math.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/cost_cache.h"
#include "runner/dispatch_parts.h"

#define ORDERED_MOST 10000000 /* members; a larger scan goes through in file order */
#define FIRST_LOOK   0.1      /* s of looking at members before the first task is given */
#define LOOK         1e-4     /* s of looking at a time */
#define LOOK_SHARE   0.2      /* of the controller's time */
#define LEARN_SHARE  0.1      /* of the controller's time */
#define LEARN_FIRST  0.01     /* s of it in advance */
#define PREFETCH     0.2      /* a worker that has work for so many seconds needs no reserve */
#define FORECAST_AGE 0.2      /* s after which a forecast is made anew */
#define SHORT_MEMBER 1.0      /* s: members whose handling may count as much as their work */
#define BAND         2.0      /* standard deviations */

/* Put pending members into the window, from the first, for a while. One point at least. */
static void look_ahead(struct dispatch *d, double seconds)
{
    struct queue *queue = &d->members;
    const int64_t realisations = scan_realisations(d->scan);
    const double begin = clock_wall();
    double now = begin;
    struct cost_input input;
    while (queue->pending > 0 && order_room(&d->order) > 0 && now - begin <= seconds) {
        const int64_t first = queue_next(queue, queue->first);
        const int64_t point = first / realisations;
        const int64_t room = order_room(&d->order);
        const int64_t end = (point + 1) * realisations;
        int64_t count = 1;
        while (count < room && first + count < end && queue_has(queue, first + count))
            count++;
        cost_look(&d->cost, point, &input);
        const struct order_node node = {
            .first = first,
            .count = (int32_t)count,
            .point = point,
            .key = d->keys.key != NULL ? d->keys.key(d->keys.context, first) : 0,
            .work = (float)input.work,
            .planes = (float)input.planes,
            .rank = (float)cost_rank(&d->cost, &input)};
        order_add(&d->order, &node);
        queue_set(queue, first, count, false);
        queue->first = first + count;
        now = clock_wall();
    }
    d->looked = now;
    d->look_pause = (now - begin) * (1 / LOOK_SHARE - 1);
}

/* The points whose members the file holds, all or some. */
static int64_t first_point(const struct dispatch *d)
{
    return d->part.shards > 1 ? d->part.first / scan_realisations(d->scan) : 0;
}

static int64_t last_point(const struct dispatch *d)
{
    return d->part.shards > 1 ? (d->part.first + d->part.count - 1) / scan_realisations(d->scan)
                              : scan_points(d->scan) - 1;
}

void dispatch_begin_order(struct dispatch *d, int capacity)
{
    if (d->cost.scan != NULL)
        return;
    const bool shard = d->part.shards > 1;
    const int64_t members = shard ? d->part.count : scan_members(d->scan);
    const int64_t first = first_point(d);
    int rc = cost_open(d->scan, first, last_point(d) - first + 1, &d->cost);
    if (rc == 0 && d->cache[0] != '\0')
        cost_cache_read(d->cache, &d->cost);
    d->learn_credit = LEARN_FIRST;
    const bool alone = d->workers < 2 && capacity < 2;
    if (rc == 0 && !alone && members <= ORDERED_MOST) {
        rc = order_init(&d->order, members);
        look_ahead(d, FIRST_LOOK);
    }
    if (rc != 0)
        dispatch_fail(d, rc, "no memory for the order of the members");
}

void dispatch_look_ahead(struct dispatch *d)
{
    if (d->order.node != NULL && d->members.pending > 0 && order_room(&d->order) > 0
        && clock_wall() - d->looked >= d->look_pause)
        look_ahead(d, LOOK);
}

int64_t dispatch_waiting(const struct dispatch *d)
{
    return d->members.pending + d->order.members + d->begun_count;
}

static double mean_seconds(const struct dispatch *d)
{
    return d->recent_count > 0 ? d->recent_seconds / d->recent_count : 0;
}

bool dispatch_has_time(const struct dispatch *d, double seconds)
{
    return d->deadline <= 0 || clock_wall() + seconds < d->deadline;
}

/* Part: the next chunk. */

/* ln of the most that a member may cost for each plane. INFINITY: anything. */
static double cost_limit(const struct dispatch *d)
{
    if (d->deadline <= 0)
        return (double)INFINITY;
    const double left = d->deadline - clock_wall();
    if (d->cost.known && left > 0)
        return log(left) - d->cost.coefficient[0];
    return left > mean_seconds(d) ? (double)INFINITY : -(double)INFINITY;
}

int64_t dispatch_most_tasks(const struct dispatch *d, const struct dispatch_worker *w,
                            double seconds, int64_t pending)
{
    struct chunk_request request = {.chunk_time = d->chunk_time,
                                    .member_seconds = seconds,
                                    .pending = pending,
                                    .workers = d->workers,
                                    .capacity = w->capacity};
    const int64_t rows = w->capacity - w->out;
    const int64_t size = chunk_size(&request);
    /* Long members: one for each free row, none in reserve. */
    return seconds >= PREFETCH && rows > 0 && size > rows ? rows : size;
}

static int64_t take_ordered(struct dispatch *d, const struct dispatch_worker *w,
                            struct message_give *give, double *seconds)
{
    const double limit = cost_limit(d);
    double rank = 0;
    if (d->order.members == 0)
        look_ahead(d, LOOK);
    if (!order_peek(&d->order, limit, &rank)) {
        d->too_late = d->deadline > 0;
        return 0;
    }
    const double predicted = cost_seconds(&d->cost, rank);
    *seconds = predicted > 0 ? predicted : mean_seconds(d);
    return order_take(&d->order, dispatch_most_tasks(d, w, *seconds, dispatch_waiting(d)),
                      limit, give);
}

static int64_t take_in_file_order(struct dispatch *d, const struct dispatch_worker *w,
                                  struct message_give *give, double *seconds)
{
    *seconds = mean_seconds(d);
    if (!dispatch_has_time(d, *seconds)) {
        d->too_late = true;
        return 0;
    }
    return queue_take(&d->members, dispatch_most_tasks(d, w, *seconds, dispatch_waiting(d)),
                      &d->keys, give);
}

/* A member that can go on where it was interrupted: one at a time. */
static int64_t take_begun(struct dispatch *d, struct message_give *give, double *seconds)
{
    give->first = d->begun[--d->begun_count];
    give->length = 1;
    *seconds = mean_seconds(d);
    return 1;
}

int64_t dispatch_take_members(struct dispatch *d, const struct dispatch_worker *w,
                              struct message_give *give, double *seconds)
{
    *seconds = 0;
    if (d->too_late || dispatch_waiting(d) == 0)
        return 0;
    if (!dispatch_has_time(d, 0)) {
        d->too_late = true;
        return 0;
    }
    if (d->begun_count > 0)
        return take_begun(d, give, seconds);
    if (d->order.node != NULL)
        return take_ordered(d, w, give, seconds);
    return take_in_file_order(d, w, give, seconds);
}

bool dispatch_holds_enough(const struct dispatch *d, const struct dispatch_worker *w)
{
    double next = mean_seconds(d);
    double rank = 0;
    if (w->out < w->capacity)
        return false;
    if (d->cost.known && order_peek(&d->order, (double)INFINITY, &rank))
        next = cost_seconds(&d->cost, rank);
    return next <= 0 || next >= PREFETCH || w->out > w->last
           || holding_seconds(&w->holding) >= PREFETCH * w->capacity;
}

int dispatch_begin_with(struct dispatch *d, const int64_t *member, int64_t count)
{
    mem_free(d->begun);
    d->begun = NULL;
    d->begun_count = 0;
    TRY(MEM_NEW((long)(count > 0 ? count : 1), &d->begun));
    /* Taken from the end. */
    for (int64_t i = count - 1; i >= 0; i--) {
        if (!queue_has(&d->members, member[i]))
            continue;
        d->begun[d->begun_count++] = member[i];
        queue_set(&d->members, member[i], 1, false);
    }
    return 0;
}

/* Part: what times say. */

void dispatch_learn(struct dispatch *d, const struct report_run *run, double predicted)
{
    d->ended_seconds += run->seconds;
    d->out_seconds -= predicted;
    if (d->out == 0 || d->out_seconds < 0)
        d->out_seconds = 0;
    if (run->pass != PASS_MEMBER || run->state != MEMBER_DONE || d->cost.scan == NULL)
        return;
    d->learn_credit += LEARN_SHARE * run->seconds / (d->workers > 0 ? d->workers : 1);
    d->learn_credit = fmin(d->learn_credit, LEARN_FIRST);
    if (d->learn_credit <= 0)
        return;
    const double begin = clock_wall();
    const int64_t member = run->first + run->count / 2;
    if (cost_learn(&d->cost, member / scan_realisations(d->scan),
                   run->seconds / (double)run->count))
        order_sort(&d->order, &d->cost);
    d->learn_credit -= clock_wall() - begin;
}

void dispatch_remember(const struct dispatch *d)
{
    if (d->cache[0] != '\0' && d->cost.scan != NULL)
        cost_cache_write(d->cache, &d->cost);
}

/* The last member of a point that the file holds. */
static int64_t sample_member(const struct dispatch *d, int64_t point)
{
    const int64_t last = (point + 1) * scan_realisations(d->scan) - 1;
    return last < d->members.total ? last : d->members.total - 1;
}

/* Seconds of members that are not in the window, from samples among them; x: their mean. */
static double seconds_outside(const struct dispatch *d, double *x)
{
    const struct cost *c = &d->cost;
    double sum = 0;
    int found = 0;
    for (int pass = 0; pass < 2 && found == 0; pass++) {
        for (int i = 0; i < c->samples; i++) {
            /* Of those that wait; when none of them does, all. */
            if (pass == 0 && !queue_has(&d->members, sample_member(d, c->sample[i])))
                continue;
            sum += cost_seconds(c, cost_rank(c, &c->input[i]));
            for (int f = 1; f < c->features && pass == 0; f++)
                x[f] += c->input[i].x[f];
            found++;
        }
    }
    for (int f = 1; f < c->features && found > 0; f++)
        x[f] /= found;
    return found > 0 ? sum / found * (double)d->members.pending : 0;
}

/* Rows that work side by side; of short members as many as their handling lets work. */
static double parallel_rows(const struct dispatch *d)
{
    const double rows = d->rows > 0 ? d->rows : d->workers;
    const double elapsed = d->counts.elapsed;
    const double ended = (double)(d->counts.done + d->counts.failed);
    if (mean_seconds(d) >= SHORT_MEMBER || ended < 16 * rows || elapsed <= 0)
        return rows;
    return fmin(rows, fmax(d->ended_seconds / elapsed, 1e-3 * rows));
}

void dispatch_forecast(struct dispatch *d)
{
    const double now = clock_wall();
    struct progress_counts *p = &d->counts;
    double x[COST_FEATURES_MAX] = {1};
    if (now - d->forecast < FORECAST_AGE && d->forecast > 0)
        return;
    d->forecast = now;
    p->left = p->left_low = p->left_high = 0;
    const bool known = d->cost.scan != NULL && d->cost.known && d->cost.seen > 0;
    if (!known && (dispatch_waiting(d) > 0 || d->judging.count == 0))
        return;
    const double others = (double)(d->losses.suspects + d->begun_count) * mean_seconds(d);
    const double inside = known ? exp(d->cost.coefficient[0]) * d->order.sum : 0;
    const double outside = d->members.pending > 0 ? seconds_outside(d, x) : 0;
    /* What is out is half done, on average. */
    const double work = (inside + outside + others) * (1 + dispatch_judge_share(d))
                        + d->out_seconds / 2 + d->judging.seconds;
    const double left = fmax(work / parallel_rows(d), d->finish - now);
    const double tasks = (double)(dispatch_waiting(d) + d->out + d->judging.count);
    if (!(left > 0 && tasks > 0))
        return;
    p->left = left;
    if (!known)
        return;
    const double deviation = cost_deviation(&d->cost, x, tasks);
    p->left_low = left * exp(-BAND * deviation);
    p->left_high = left * exp(BAND * deviation);
}
