/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/dispatch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/reduce.h"
#include "io/store.h"
#include "kernels/base/clock.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/dispatch_parts.h"
#include "runner/wisdom_cache.h"

#define BLOCK            65536 /* members read at a time */
#define HEARTBEAT_PERIOD 1.0
#define MEMORY_MEMBERS   64.0 /* over so many members the mean time forgets */
#define MEDIAN_LEAST     5
#define STOPS_RATE       5.0  /* records of stopped points a second … */
#define STOPS_MOST       20.0 /* … and so many at once */

const char *member_state_name(int state)
{
    static const char *const names[] = {
        [MEMBER_PENDING] = "pending",         [MEMBER_DONE] = "done",
        [MEMBER_FAILED] = "failed",           [MEMBER_TIMED_OUT] = "timed_out",
        [MEMBER_QUARANTINED] = "quarantined", [MEMBER_NOT_NEEDED] = "not_needed",
        [MEMBER_EXCLUDED] = "excluded",
    };
    const int count = (int)(sizeof names / sizeof names[0]);
    return state >= 0 && state < count && names[state] != NULL ? names[state] : "pending";
}

/* A journal record on its way: what it fails of is kept, not passed up, so that the accounts of
 * a report are never left half-done. */
struct recording {
    struct status_saved saved;
    char text[STORE_REASON_SIZE];
};

static void begin_record(struct recording *recording)
{
    recording->saved = status_capture_save();
    status_capture(recording->text, sizeof recording->text);
}

static void end_record(struct dispatch *d, const struct recording *recording, int rc)
{
    status_capture_restore(recording->saved);
    if (rc == 0)
        return;
    dispatch_fail(d, rc, recording->text);
    d->journal = NULL;
}

static bool is_failure(int state)
{
    return state == MEMBER_FAILED || state == MEMBER_TIMED_OUT || state == MEMBER_QUARANTINED;
}

static int64_t structure_of(const void *context, int64_t id)
{
    const struct scan *scan = context;
    return scan_structure_of(scan, id / scan_realisations(scan));
}

/* Sort a block of members into ended and pending. */
static void note_states(struct dispatch *d, int64_t first, int64_t count, const uint8_t *state)
{
    const int64_t realisations = scan_realisations(d->scan);
    for (int64_t i = 0; i < count; i++) {
        const bool wanted = selection_has(d->selection, first + i);
        if (state[i] == MEMBER_PENDING && wanted) {
            dispatch_grow_holds(d, first + i);
            continue;
        }
        queue_set(&d->members, first + i, 1, false);
        if (d->left != NULL && state[i] != MEMBER_PENDING
            && (!d->growing.on || (first + i) % realisations < d->growing.rule.min))
            d->left[(first + i) / realisations]--;
        d->counts.total -= state[i] == MEMBER_NOT_NEEDED;
        if (!wanted || state[i] == MEMBER_NOT_NEEDED)
            continue;
        d->failed_before += is_failure(state[i]);
        d->timed_out_before += state[i] == MEMBER_TIMED_OUT;
        d->counts.before++;
    }
}

/* Whether a pending member has planes, or tries that ended: workers look at those only then. */
static void note_touched(struct dispatch *d, int64_t count, const uint8_t *state,
                         const int64_t *n_saved, const int32_t *tries)
{
    for (int64_t i = 0; i < count && !d->touched; i++)
        d->touched = state[i] == MEMBER_PENDING && (n_saved[i] > 0 || tries[i] > 0);
}

/* Points of ensembles that stop themselves. */
static int note_growing_points(struct dispatch *d, struct store *store)
{
    const int64_t realisations = scan_realisations(d->scan);
    uint8_t *state = NULL;
    int rc = 0;
    TRY(MEM_NEW((long)realisations, &state));
    for (int64_t p = 0; rc == 0 && p < d->points.total; p++) {
        rc = store_read_states(store, p * realisations, realisations, state, NULL);
        if (rc == 0)
            rc = dispatch_grow_point(d, store, p, state);
    }
    mem_free(state);
    return rc;
}

/* Points of which all members have ended and whose row is missing or stale. */
static int note_points(struct dispatch *d, struct store *store, uint8_t *state)
{
    const int64_t realisations = scan_realisations(d->scan);
    uint8_t reduced = 0;
    int64_t n = 0;
    if (d->growing.on)
        return note_growing_points(d, store);
    for (int64_t p = 0; p < d->points.total; p++) {
        if (d->left[p] > 0)
            continue;
        TRY(reduce_read_rows(store, p, 1, &reduced, &n));
        int64_t done = 0;
        for (int64_t r = 0; r < realisations; r += BLOCK) {
            const int64_t count = realisations - r < BLOCK ? realisations - r : BLOCK;
            TRY(store_read_states(store, p * realisations + r, count, state, NULL));
            for (int64_t i = 0; i < count; i++)
                done += state[i] == MEMBER_DONE;
        }
        if (reduced && n == done)
            d->counts.reduced++;
        else
            queue_set(&d->points, p, 1, true);
    }
    return 0;
}

static int read_file(struct dispatch *d, struct store *store)
{
    uint8_t *state = NULL;
    int64_t *n_saved = NULL;
    int32_t *tries = NULL;
    int rc = 0;
    TRY_OR(rc, done, dispatch_grow_init(d, store));
    TRY_OR(rc, done, MEM_NEW(BLOCK, &state));
    TRY_OR(rc, done, MEM_NEW(BLOCK, &n_saved));
    TRY_OR(rc, done, MEM_NEW(BLOCK, &tries));
    const int64_t end = d->part.first + d->part.count;
    for (int64_t m = d->part.first; m < end; m += BLOCK) {
        const int64_t left = end - m;
        const int64_t count = left < BLOCK ? left : BLOCK;
        TRY_OR(rc, done, store_read_states(store, m, count, state, n_saved));
        TRY_OR(rc, done, store_read_tries(store, m, count, tries));
        note_states(d, m, count, state);
        TRY_OR(rc, done, dispatch_judge_read(d, store, m, count, state));
        note_touched(d, count, state, n_saved, tries);
    }
    if (d->left != NULL)
        TRY_OR(rc, done, note_points(d, store, state));
done:
    mem_free(state);
    mem_free(n_saved);
    mem_free(tries);
    return rc;
}

static int prepare_points(struct dispatch *d)
{
    const int64_t points = scan_points(d->scan);
    TRY(MEM_NEW((long)points, &d->left));
    for (int64_t p = 0; p < points; p++)
        d->left[p] = scan_realisations(d->scan);
    d->counts.points = points;
    return queue_init(&d->points, points, false);
}

static int prepare_queues(struct dispatch *d, bool reduce)
{
    const struct store_window *const w = &d->part;
    d->counts.total = selection_count(d->selection, w->first, w->count);
    TRY(queue_init_part(&d->members, w->first, w->first + w->count, true));
    TRY(dispatch_judge_init(d));
    return reduce && w->shards < 2 ? prepare_points(d) : 0;
}

int dispatch_open(const struct scan *scan, const char *path, bool reduce, double chunk_time,
                  int workers, const struct selection *selection, struct dispatch *out)
{
    memset(out, 0, sizeof *out);
    out->scan = scan;
    out->chunk_time = chunk_time;
    out->workers = workers > 0 ? workers : 1;
    out->selection = selection;
    out->keys = (struct queue_keys){.key = scan_structures(scan) > 1 ? structure_of : NULL,
                                    .context = scan,
                                    .block = scan_realisations(scan)};
    char why[WISDOM_WHY_SIZE]; /* nobody misses times that cannot be kept */
    wisdom_cache_folder(out->cache, why);
    struct store *store = NULL;
    TRY(store_open_read(path, &store));
    out->part = store_window(store);
    int rc = prepare_queues(out, reduce);
    if (rc == 0)
        rc = read_file(out, store);
    const int closed = store_close(store);
    out->pending_before = out->members.pending + out->growing.held.pending;
    return rc != 0 ? rc : closed;
}

void dispatch_clear(struct dispatch *dispatch)
{
    queue_clear(&dispatch->members);
    queue_clear(&dispatch->points);
    order_clear(&dispatch->order);
    cost_clear(&dispatch->cost);
    mem_free(dispatch->begun);
    dispatch->begun = NULL;
    dispatch->begun_count = 0;
    dispatch_losses_clear(&dispatch->losses);
    holding_clear(&dispatch->checks.withdrawn);
    dispatch_judge_clear(dispatch);
    dispatch_grow_clear(dispatch);
    mem_free(dispatch->left);
    dispatch->left = NULL;
}

void dispatch_worker_clear(struct dispatch_worker *worker)
{
    holding_clear(&worker->holding);
    holding_clear(&worker->unchecked);
}

int64_t dispatch_pending_rows(const struct dispatch *dispatch)
{
    return dispatch_waiting(dispatch) + dispatch->judging.count + dispatch->losses.suspects;
}

int64_t dispatch_pending(const struct dispatch *dispatch)
{
    return dispatch_pending_rows(dispatch) + dispatch->points.pending;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

double dispatch_median(const struct dispatch *d)
{
    double sorted[DISPATCH_TIMES];
    const size_t count = d->timed < DISPATCH_TIMES ? (size_t)d->timed : DISPATCH_TIMES;
    if (count < MEDIAN_LEAST)
        return 0;
    memcpy(sorted, d->times, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], compare_doubles);
    return sorted[count / 2];
}

/* Seconds that a member may take: absolute, or a multiple of the median so far. 0: no limit. */
static double member_timeout(const struct dispatch *d)
{
    const struct scan_limits *limits = scan_get_limits(d->scan);
    if (limits->timeout > 0 || limits->times_median <= 0)
        return limits->timeout;
    return limits->times_median * dispatch_median(d);
}

/* What comes next for a worker that may have something. */
static int64_t take_next(struct dispatch *d, struct dispatch_worker *worker,
                         struct message_give *give, double *seconds)
{
    const int64_t suspect = dispatch_take_suspect(d, worker, give);
    if (suspect > 0)
        return suspect;
    if (d->points.pending > 0) {
        give->pass = PASS_REDUCE;
        return queue_take(&d->points, 1, &(struct queue_keys){.block = 1}, give);
    }
    give->pass = PASS_MEMBER;
    const int64_t members = dispatch_take_members(d, worker, give, seconds);
    return members > 0 ? members : dispatch_take_judgments(d, worker, give, seconds);
}

/* Whether a worker may have something now. */
static bool may_take(struct dispatch *d, struct dispatch_worker *worker)
{
    return !d->stopping && !worker->gone && !worker->unsound
           && !dispatch_holds_enough(d, worker) && !dispatch_parked(d, worker)
           && !dispatch_doubts(d, worker) && !dispatch_keeps_free(d, worker)
           && dispatch_pending(d) > 0;
}

/* Tasks that could not be noted are nobody's. */
static void return_tasks(struct dispatch *d, const struct message_give *give, double seconds)
{
    for (int64_t i = 0; i < give_count(give); i++)
        dispatch_return(d, give->pass, give_id(give, i), 1, seconds);
}

static void note_given(struct dispatch *d, struct dispatch_worker *worker, int64_t taken,
                       double seconds)
{
    const double now = clock_wall();
    if (d->begin <= 0)
        d->begin = now;
    if (!worker->known)
        d->rows += worker->capacity;
    worker->known = true;
    d->gives++;
    worker->out += taken;
    worker->last = taken;
    d->out += taken;
    d->out_seconds += seconds * (double)taken;
    d->finish = fmax(d->finish, now + seconds);
}

bool dispatch_take(struct dispatch *d, struct dispatch_worker *worker,
                   struct message_give *give)
{
    memset(give, 0, sizeof *give);
    if (!may_take(d, worker))
        return false;
    struct holding_lot lot = {.give = d->gives + 1};
    dispatch_begin_order(d, worker->capacity);
    const int64_t taken = take_next(d, worker, give, &lot.seconds);
    if (taken == 0)
        return false;
    const int rc = holding_add(&worker->holding, give, &lot);
    if (rc != 0) {
        return_tasks(d, give, lot.seconds);
        dispatch_fail(d, rc, "no memory for the list of a worker's tasks");
        return false;
    }
    if (give->pass == PASS_MEMBER)
        give->timeout = member_timeout(d);
    else if (give->pass == PASS_JUDGE)
        give->timeout = member_timeout(d) * fmax(d->judging.stretch, 1);
    give->again = d->losses.any;
    note_given(d, worker, taken, lot.seconds);
    if (give->pass == PASS_MEMBER)
        d->counts.running += taken;
    return true;
}

/* Each time is as likely to be kept as any other (Vitter's algorithm R): long members come
 * first, so that the last ones say little. */
static void sample_time(struct dispatch *d, double seconds)
{
    const uint64_t draw = (uint64_t)d->timed * UINT64_C(6364136223846793005) >> 33;
    const int64_t place = d->timed < DISPATCH_TIMES ? d->timed : (int64_t)draw % d->timed;
    d->timed++;
    if (place < DISPATCH_TIMES)
        d->times[place] = seconds;
}

static void note_time(struct dispatch *d, const struct report_run *run)
{
    const double keep = exp(-(double)run->count / MEMORY_MEMBERS);
    d->recent_seconds = d->recent_seconds * keep + run->seconds;
    d->recent_count = d->recent_count * keep + (double)run->count;
    if (run->state == MEMBER_DONE)
        sample_time(d, run->seconds / (double)run->count);
}

/* Members of these points have ended: points without open members can be reduced. */
static void count_points(struct dispatch *d, const struct report_run *run)
{
    const int64_t realisations = scan_realisations(d->scan);
    const int64_t end = run->first + run->count;
    for (int64_t member = run->first; member < end;) {
        const int64_t point = member / realisations;
        const int64_t next =
            (point + 1) * realisations < end ? (point + 1) * realisations : end;
        d->left[point] -= next - member;
        if (d->left[point] == 0)
            queue_set(&d->points, point, 1, true);
        member = next;
    }
}

void dispatch_record(struct dispatch *d, const struct report_run *run, const char *state,
                     const char *reason)
{
    struct recording recording;
    if (d->journal == NULL)
        return;
    begin_record(&recording);
    const int rc = journal_write_members(d->journal, run->first, run->count, state, reason);
    end_record(d, &recording, rc);
}

/* Whether a stop gets a record of its own: a journal stays small however fast points are. */
static bool may_tell_stop(struct dispatch_growing *g)
{
    const double now = clock_wall();
    g->credit = fmin(STOPS_MOST, g->credit + STOPS_RATE * (now - g->credited));
    g->credited = now;
    g->untold++;
    if (g->credit < 1)
        return false;
    g->credit--;
    return true;
}

void dispatch_record_stop(struct dispatch *d, const struct report_run *run)
{
    struct recording recording;
    struct dispatch_growing *const g = &d->growing;
    if (d->journal == NULL || !may_tell_stop(g))
        return;
    const struct journal_stop stop = {.point = run->first,
                                      .count = g->untold,
                                      .realisations = run->realisations,
                                      .looks = run->looks,
                                      .reached = run->stopped == UNTIL_REACHED,
                                      .value = run->value[0],
                                      .error = run->value[1]};
    g->untold = 0;
    begin_record(&recording);
    end_record(d, &recording, journal_write_stop(d->journal, &stop));
}

void dispatch_note_ended(struct dispatch *d, const struct report_run *run, const char *reason)
{
    if (run->state == MEMBER_DONE)
        d->counts.done += run->count;
    else
        d->counts.failed += run->count;
    if (run->state == MEMBER_TIMED_OUT)
        d->counts.timed_out += run->count;
    if (d->left != NULL)
        count_points(d, run);
    if (!d->checks.on || run->state == MEMBER_QUARANTINED)
        dispatch_judge_ready(d, run); /* else when their worker has confirmed them */
    dispatch_record(d, run, member_state_name(run->state), reason);
}

/* Tasks of a run are no worker's any more. */
static void note_run(struct dispatch *d, struct dispatch_worker *worker,
                     const struct report_run *run, const char *text, double predicted)
{
    const bool pending = run->state == MEMBER_PENDING;
    if (pending && worker->tries)
        return; /* dispatch_note_suspect keeps it apart */
    if (pending) {
        dispatch_return(d, run->pass, run->first, run->count, predicted);
    } else if (run->pass == PASS_REDUCE && d->growing.on) {
        dispatch_grow_looked(d, run);
    } else if (run->pass == PASS_REDUCE) {
        d->counts.reduced += run->count;
    } else if (run->pass == PASS_JUDGE) {
        dispatch_judge_ended(d, run, text);
    } else {
        note_time(d, run);
        dispatch_note_ended(d, run, is_failure(run->state) ? text : "");
    }
}

static int take_back(struct dispatch *d, struct dispatch_worker *worker,
                     const struct message_report *report, const struct report_run *run)
{
    struct holding_lot lot;
    if (run->count < 1 || run->count > worker->out)
        FAIL(ERR_BUG,
             "a worker reports tasks %" PRId64 " to %" PRId64 " of pass %d and holds %" PRId64,
             run->first, run->first + run->count - 1, run->pass, worker->out);
    TRY(holding_remove(&worker->holding, run->pass, run->first, run->count, &lot));
    worker->out -= run->count;
    if (worker->forgotten) {
        d->losses.abandoned -= run->count;
    } else {
        d->out -= run->count;
        if (run->pass == PASS_MEMBER)
            d->counts.running -= run->count;
    }
    note_run(d, worker, run, report->text, lot.seconds);
    dispatch_note_suspect(d, worker, run);
    dispatch_note_outcome(d, worker, run, lot.give);
    dispatch_learn(d, run, lot.seconds);
    dispatch_note_unchecked(d, worker, run);
    return 0;
}

/* A model object on a device may have fewer rows than its worker hoped for, or than another. */
static void note_rows(struct dispatch *d, struct dispatch_worker *worker, int rows)
{
    if (rows < 1 || worker->gone)
        return;
    d->rows += worker->known ? rows - worker->capacity : 0;
    worker->capacity = rows;
}

int dispatch_report(struct dispatch *d, struct dispatch_worker *worker,
                    const struct message_report *report)
{
    if (worker->gone && !worker->forgotten)
        return 0; /* its tasks are others' now, who look at the file first */
    for (int i = 0; i < report->runs; i++)
        TRY(take_back(d, worker, report, &report->run[i]));
    note_rows(d, worker, report->rows);
    dispatch_note_check(d, worker, report);
    if (report->error != 0 && !worker->forgotten)
        dispatch_fail(d, report->error, report->text);
    return 0;
}

void dispatch_note_worker(struct dispatch *d, int rank, const char *host, long pid,
                          const char *event)
{
    struct recording recording;
    if (d->journal == NULL)
        return;
    begin_record(&recording);
    end_record(d, &recording, journal_write_worker(d->journal, rank, host, pid, event));
}

void dispatch_stop(struct dispatch *d)
{
    d->stopping = true;
}

bool dispatch_heed_deadline(struct dispatch *d)
{
    if (d->deadline <= 0 || d->stopping || clock_wall() < d->deadline)
        return false;
    progress_wipe(&d->progress);
    log_info("the time limit is near: stopping in order");
    dispatch_stop(d);
    return true;
}

void dispatch_fail(struct dispatch *d, int code, const char *text)
{
    if (d->error == 0) {
        d->error = code;
        snprintf(d->text, sizeof d->text, "%s", text);
    }
    d->stopping = true;
}

bool dispatch_ended(const struct dispatch *d)
{
    if (d->out > 0 || (d->error == 0 && d->checks.unchecked > 0))
        return false;
    if (d->stopping)
        return true;
    const bool all = dispatch_pending(d) == 0 && d->losses.quarantines == 0;
    const bool members = d->too_late || dispatch_waiting(d) + d->losses.suspects == 0;
    const bool judged = d->judging.too_late || d->judging.count == 0;
    return all
           || ((d->too_late || d->judging.too_late) && members && judged
               && d->points.pending == 0);
}

/* Suspects of one pass. */
static int64_t suspects_of(const struct dispatch *d, bool judgments)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < d->losses.suspects; i++)
        sum += (d->losses.suspect[i].pass == PASS_JUDGE) == judgments;
    return sum;
}

static int write_heartbeat(struct dispatch *d)
{
    const struct progress_counts *c = &d->counts;
    const struct journal_counts counts = {
        .members = c->total,
        .pending = dispatch_waiting(d) + suspects_of(d, false),
        .running = c->running,
        .done = c->before - d->failed_before + c->done,
        .failed = d->failed_before + c->failed - d->timed_out_before - c->timed_out,
        .timed_out = d->timed_out_before + c->timed_out,
        .rate = progress_rate(c),
        .eta = progress_eta(c),
        .eta_low = c->left_low,
        .eta_high = c->left_high,
    };
    return journal_write_heartbeat(d->journal, &counts);
}

int dispatch_tick(struct dispatch *d)
{
    const double now = clock_wall();
    d->counts.elapsed = d->begin > 0 ? now - d->begin : 0;
    d->counts.judges = d->judging.total;
    d->counts.judged = d->judging.before + d->judging.ended;
    dispatch_look_ahead(d);
    dispatch_forecast(d);
    progress_update(&d->progress, &d->counts);
    if (d->journal == NULL || now - d->last_heartbeat < HEARTBEAT_PERIOD)
        return 0;
    d->last_heartbeat = now;
    struct recording recording;
    begin_record(&recording);
    end_record(d, &recording, write_heartbeat(d));
    return 0;
}

/* "2 failed", "1 timed out", "2 failed and 1 timed out" */
static void failures_text(int64_t failed, int64_t timed_out, char *text, size_t size)
{
    if (timed_out == 0)
        snprintf(text, size, "%" PRId64 " failed", failed);
    else if (failed == 0)
        snprintf(text, size, "%" PRId64 " timed out", timed_out);
    else
        snprintf(text, size, "%" PRId64 " failed and %" PRId64 " timed out", failed, timed_out);
}

/* Members that have not ended and that nobody computes. */
static int64_t members_left(const struct dispatch *d)
{
    const struct dispatch_losses *l = &d->losses;
    return dispatch_waiting(d) + suspects_of(d, false) + l->quarantines + l->abandoned;
}

/* Judgments that have not ended and that nobody makes, of members that are done. */
static int64_t judgments_left(const struct dispatch *d)
{
    return d->judging.count + suspects_of(d, true);
}

static void stopped_text(const struct dispatch *d, int64_t left, char *text, size_t size)
{
    const char *why = d->stopping                          ? "stopped on request"
                      : d->too_late || d->judging.too_late ? "stopped before the time limit"
                                                           : DISPATCH_OUT_OF_REACH;
    snprintf(text, size, "%s with %" PRId64 " of %" PRId64 " %smember%s left", why, left,
             d->counts.total, d->selection != NULL ? "selected " : "",
             d->counts.total == 1 ? "" : "s");
    const size_t used = strlen(text);
    const int64_t judgments = judgments_left(d);
    if (judgments > 0)
        snprintf(text + used, size - used, ", %" PRId64 " judgment%s too", judgments,
                 judgments == 1 ? "" : "s");
}

/* "2 failed of 8 members, 1 outside the envelope" */
static void bad_text(const struct dispatch *d, int64_t failed, int64_t timed_out, char *text,
                     size_t size)
{
    text[0] = '\0';
    if (failed > 0) {
        failures_text(failed - timed_out, timed_out, text, size);
        const size_t used = strlen(text);
        snprintf(text + used, size - used, " of %" PRId64 " %smembers", d->counts.total,
                 d->selection != NULL ? "selected " : "");
    }
    dispatch_judge_text(d, text, size);
}

static void done_text(const struct dispatch *d, char *text, size_t size)
{
    const char *const chosen = d->selection != NULL ? "selected " : "";
    if (d->growing.on)
        dispatch_grow_text(d, text, size);
    else if (d->counts.total == 0)
        snprintf(text, size, "none of the selected members is in shard %ld/%ld", d->part.shard,
                 d->part.shards);
    else if (d->counts.total == 1)
        snprintf(text, size, "the %smember is done", chosen);
    else
        snprintf(text, size, "all %" PRId64 " %smembers done", d->counts.total, chosen);
    const size_t used = strlen(text);
    if (d->judging.total > 0)
        snprintf(text + used, size - used, ", %" PRId64 " judged and within the envelope",
                 d->judging.total);
}

int dispatch_code(const struct dispatch *d, char *text, size_t size)
{
    const int64_t failed = d->failed_before + d->counts.failed;
    const int64_t timed_out = d->timed_out_before + d->counts.timed_out;
    const int64_t left = members_left(d);
    if (d->error != 0) {
        snprintf(text, size, "%s", d->text);
        return status_exit_code(d->error);
    }
    if (dispatch_pending(d) > 0 || left > 0) {
        stopped_text(d, left, text, size);
        return EXIT_STOPPED;
    }
    if (failed + d->judging.outside + d->judging.none > 0) {
        bad_text(d, failed, timed_out, text, size);
        return EXIT_MEMBERS_FAILED;
    }
    done_text(d, text, size);
    return 0;
}
