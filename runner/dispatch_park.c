/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workers in which members fail at once. Members may be to blame as well: neighbours in a scan
 * fail alike. So after some failures in a row a worker waits, and what is given to others
 * meanwhile decides: when that is done the worker is parked, when it fails the worker goes on.
 */
#include "kernels/base/log.h"
#include "runner/dispatch_parts.h"

#define STREAK_LIMIT 3    /* GIVEs in a row with nothing but failures */
#define FAST         0.25 /* of the median: a failure that took less time is a fast one */

static bool is_failure(int state)
{
    return state == MEMBER_FAILED || state == MEMBER_TIMED_OUT;
}

static bool is_fast(const struct dispatch *d, double seconds)
{
    const double median = dispatch_median(d);
    return median <= 0 || seconds < FAST * median;
}

static void note_failure(struct dispatch *d, struct dispatch_worker *w,
                         const struct report_run *run, int64_t give)
{
    struct dispatch_streak *streak = &w->streak;
    const double seconds = run->seconds / (double)run->count;
    w->failed += run->count;
    if (!is_fast(d, seconds)) {
        *streak = (struct dispatch_streak){0};
        return;
    }
    if (streak->length == 0) {
        streak->mark = d->gives;
        streak->others = d->counts.failed - w->failed;
        streak->seconds = 0;
    }
    if (streak->length == 0 || streak->give != give)
        streak->length++;
    streak->give = give;
    streak->seconds = seconds > streak->seconds ? seconds : streak->seconds;
}

void dispatch_note_outcome(struct dispatch *d, struct dispatch_worker *w,
                           const struct report_run *run, int64_t give)
{
    if (run->pass != PASS_MEMBER)
        return;
    if (is_failure(run->state)) {
        note_failure(d, w, run, give);
    } else if (run->state == MEMBER_DONE) {
        w->streak = (struct dispatch_streak){0};
        d->success = give > d->success ? give : d->success;
    }
}

bool dispatch_doubts(struct dispatch *d, struct dispatch_worker *w)
{
    struct dispatch_streak *streak = &w->streak;
    if (streak->length < STREAK_LIMIT || w->parked)
        return false;
    const bool others_fail = d->counts.failed - w->failed > streak->others;
    const bool others_wait = d->out == w->out; /* there is nobody to compare with */
    if (others_fail || !is_fast(d, streak->seconds)) {
        *streak = (struct dispatch_streak){0};
        return false;
    }
    if (d->success > streak->mark) {
        w->parked = true;
        d->losses.parked++;
        return !others_wait || dispatch_parked(d, w);
    }
    return !others_wait;
}

bool dispatch_parked(const struct dispatch *d, const struct dispatch_worker *w)
{
    return w->parked && d->losses.parked < d->workers;
}
