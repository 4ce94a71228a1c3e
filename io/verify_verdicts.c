/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A judgment follows from the stored errors of its planes and the envelope: else it is forged.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/verdict.h"
#include "io/verify_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/envelope.h"

/* What is stored of a judgment. */
struct stored {
    uint8_t outcome, verdict, class;
    uint64_t envelope;
    double bound, observed, margin;
    char norm[128];
    char reason[STORE_REASON_SIZE + 1];
    bool windowed; /* class N: */
    struct verdict_window window;
};

static int read_stored(struct store *store, int64_t member, double *gain, struct stored *out)
{
    const struct {
        enum verdict_column column;
        void *value;
    } columns[] = {{VERDICT_OUTCOME, &out->outcome}, {VERDICT_VERDICT, &out->verdict},
                   {VERDICT_CLASS, &out->class},     {VERDICT_ENVELOPE, &out->envelope},
                   {VERDICT_BOUND, &out->bound},     {VERDICT_OBSERVED, &out->observed},
                   {VERDICT_MARGIN, &out->margin}};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        TRY(store_get_row(store, &store->verdict[columns[i].column], member, columns[i].value));
    if (store->verdict[VERDICT_NORM].size < sizeof out->norm)
        TRY(store_get_row(store, &store->verdict[VERDICT_NORM], member, out->norm));
    if (store->verdict[VERDICT_REASON].size < sizeof out->reason)
        TRY(store_get_row(store, &store->verdict[VERDICT_REASON], member, out->reason));
    out->window.gain = gain;
    return verdict_read_window(store, member, &out->window, &out->windowed);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Outcome, verdict and reason must fit each other. NULL: they do. @param state of the member */
static const char *find_contradiction(const struct stored *s, uint8_t state)
{
    const bool bare = s->reason[0] == '\0';
    if (s->outcome != MEMBER_DONE && s->verdict != VERDICT_UNJUDGED)
        return "has failed, and yet there is a verdict";
    if (s->outcome != MEMBER_DONE)
        return bare ? "ended without a verdict and without a reason" : NULL;
    if (s->verdict == VERDICT_OUTSIDE && bare)
        return "is outside and does not say by how much";
    return state != MEMBER_DONE ? "is of a member that is not done" : NULL;
}

/* The first thing that is not as it should be. */
static bool check_columns(const struct verify_judged *j, const struct stored *s,
                          struct verify_report *report)
{
    const int64_t member = j->member;
    const char *what = NULL;
    const uint8_t class = j->envelope->gain > 0 ? CONTRACT_N : CONTRACT_T;
    const bool known = j->other ? s->class == CONTRACT_T || s->windowed : s->class == class;
    if (s->envelope != j->key)
        what = "belongs to another envelope than the others";
    else if (s->outcome == MEMBER_DONE && !known)
        what = class == CONTRACT_N ? "has another class than N" : "has another class than T";
    else if (!j->other && strcmp(s->norm, j->envelope->norm) != 0)
        what = "was made in another norm than the envelope's";
    else
        what = find_contradiction(s, j->state);
    if (what != NULL)
        verify_break_member(report, VERIFY_VERDICTS, member,
                            "the judgment of member %" PRId64 " %s", member, what);
    return what == NULL;
}

/* Gains stand at the planes that were to be judged, and the window ends before the first one
 * that is too large. The planes beyond are not to be judged any more. */
static bool check_window(const struct verify_judged *j, const struct stored *s,
                         struct verify_report *report)
{
    const struct verify_planes *const planes = j->planes;
    struct envelope_reach reach;
    long strange = -1;
    if (!s->windowed || j->other)
        return true;
    for (long k = 0; k < planes->planes && strange < 0; k++)
        if (!planes->judged[k] && !isnan(s->window.gain[k]))
            strange = k;
    if (strange >= 0) {
        verify_break_member(report, VERIFY_VERDICTS, j->member,
                            "plane %ld of member %" PRId64
                            " is not to be judged and has a gain",
                            strange, j->member);
        return false;
    }
    envelope_narrow(s->window.gain, planes->judged, planes->planes, j->envelope->gain, &reach);
    const double end = reach.last < 0 ? (double)NAN : planes->position[reach.last];
    if (same(end, s->window.reach) && reach.beyond == s->window.beyond)
        return true;
    verify_break_member(
        report, VERIFY_VERDICTS, j->member,
        "member %" PRId64 ": a window up to %.17g with %" PRId64
        " planes beyond it is stored; its gains and the envelope give %.17g, %ld",
        j->member, s->window.reach, s->window.beyond, end, reach.beyond);
    return false;
}

/* Judged planes have an error, the others none. @param list [2][planes] errors, positions */
static long list_errors(const struct verify_judged *j, long whole, double *list,
                        struct verify_report *report)
{
    long count = 0;
    for (long k = 0; k < whole; k++) {
        const bool there = k < j->planes->planes;
        const bool judged = there && (j->other ? !isnan(j->error[k]) : j->planes->judged[k]);
        if (judged == !isnan(j->error[k])) {
            if (!judged)
                continue;
            list[count] = j->error[k];
            list[whole + count++] = j->planes->position[k];
            continue;
        }
        verify_break_member(report, VERIFY_VERDICTS, j->member,
                            "plane %ld of member %" PRId64 " %s", k, j->member,
                            judged ? "is to be judged and has no error"
                                   : "is not to be judged and has an error");
        return -1;
    }
    return count;
}

static int judge(const struct verify_judged *j, const struct stored *s, long count,
                 const double *list, long whole, struct envelope_judgment *out)
{
    const struct verify_envelope *const e = j->envelope;
    const struct envelope envelope = {
        .reference = e->source == SOURCE_STORED ? REFERENCE_STORED : REFERENCE_TIGHTER,
        .norm = j->other ? s->norm : e->norm,
        .tolerance = j->other ? s->bound : e->tolerance,
        .safety = j->other ? 1 : e->safety,
        .planes = count,
        .observed = list,
        .position = list + whole};
    return envelope_judge(&envelope, out);
}

static void compare(const struct verify_judged *j, const struct stored *s,
                    const struct envelope_judgment *right, struct verify_report *report)
{
    const int64_t member = j->member;
    if (!same(s->bound, right->bound) || !same(s->observed, right->observed)
        || !same(s->margin, right->margin))
        verify_break_member(report, VERIFY_VERDICTS, member,
                            "member %" PRId64 ": bound %.17g, observed %.17g, margin %.17g are "
                            "stored; its errors and the envelope give %.17g, %.17g, %.17g",
                            member, s->bound, s->observed, s->margin, right->bound,
                            right->observed, right->margin);
    else if (s->verdict != right->verdict)
        verify_break_member(
            report, VERIFY_VERDICTS, member,
            "member %" PRId64 ": the verdict is %s, %.3g of %.3g observed is %s", member,
            s->verdict <= VERDICT_OUTSIDE ? verdict_name((enum verdict)s->verdict) : "unknown",
            right->observed, right->bound, verdict_name(right->verdict));
}

static int check_errors(struct store *store, const struct verify_judged *j,
                        const struct stored *s, double *list, struct verify_report *report)
{
    const int64_t start[2] = {j->member, 0};
    const int64_t shape[2] = {1, store->planes};
    struct envelope_judgment right;
    TRY(store_get(store, &store->verdict[VERDICT_ERROR], start, shape, j->error));
    if (!check_window(j, s, report))
        return 0;
    const long count = list_errors(j, store->planes, list, report);
    if (count < 0)
        return 0;
    for (long i = 0; i < count; i++)
        if (list[i] < 0 || !(s->bound > 0)) {
            verify_break_member(report, VERIFY_VERDICTS, j->member,
                                "member %" PRId64 " has an error of %g and a bound of %g",
                                j->member, list[i], s->bound);
            return 0;
        }
    TRY(judge(j, s, count, list, store->planes, &right));
    compare(j, s, &right, report);
    struct verify_offender offender = {.kind = VERIFY_VERDICTS,
                                       .member = j->member,
                                       .plane = -1,
                                       .index = -1,
                                       .observed = right.observed,
                                       .allowed = right.bound,
                                       .margin = right.margin};
    snprintf(offender.what, sizeof offender.what, "%.47s", s->norm);
    for (long k = 0; k < store->planes && offender.plane < 0; k++)
        if (same(j->error[k], right.observed))
            offender.plane = k;
    verify_offend(report, &offender);
    return 0;
}

/* The planes are those of all members with the same positions: the window is this one's alone.
 */
static int check_done(struct store *store, const struct verify_judged *j,
                      const struct stored *stored, double *list, struct verify_report *report)
{
    struct verify_planes planes = *j->planes;
    struct verify_judged own = *j;
    TRY(MEM_NEW(store->planes, &planes.judged));
    memcpy(planes.judged, j->planes->judged, (size_t)store->planes * sizeof *planes.judged);
    own.planes = &planes;
    const int rc = check_errors(store, &own, stored, list, report);
    mem_free(planes.judged);
    return rc;
}

int verify_verdict(struct store *store, const struct verify_judged *j,
                   struct verify_report *report)
{
    struct stored stored;
    double *list = NULL;
    report->kind[VERIFY_VERDICTS].checked++;
    TRY(read_stored(store, j->member, j->gain, &stored));
    if (!check_columns(j, &stored, report) || stored.outcome != MEMBER_DONE)
        return 0;
    TRY(MEM_NEW(2 * store->planes, &list));
    const int rc = check_done(store, j, &stored, list, report);
    mem_free(list);
    return rc;
}
