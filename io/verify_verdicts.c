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
};

static int read_stored(struct store *store, int64_t member, struct stored *out)
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
    return 0;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The first thing that is not as it should be. */
static bool check_columns(const struct verify_judged *j, const struct stored *s,
                          struct verify_report *report)
{
    const int64_t member = j->member;
    const char *what = NULL;
    if (s->envelope != j->key)
        what = "belongs to another envelope than the others";
    else if (s->class != CONTRACT_T)
        what = "has another class than T";
    else if (!j->other && strcmp(s->norm, j->envelope->norm) != 0)
        what = "was made in another norm than the envelope's";
    else if (s->outcome != MEMBER_DONE && s->verdict != VERDICT_UNJUDGED)
        what = "has failed, and yet there is a verdict";
    else if (s->outcome != MEMBER_DONE && s->reason[0] == '\0')
        what = "ended without a verdict and without a reason";
    else if (s->outcome == MEMBER_DONE && s->verdict == VERDICT_OUTSIDE && s->reason[0] == '\0')
        what = "is outside and does not say by how much";
    else if (s->outcome == MEMBER_DONE && j->state != MEMBER_DONE)
        what = "is of a member that is not done";
    if (what != NULL)
        verify_break_member(report, VERIFY_VERDICTS, member,
                            "the judgment of member %" PRId64 " %s", member, what);
    return what == NULL;
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

int verify_verdict(struct store *store, const struct verify_judged *j,
                   struct verify_report *report)
{
    struct stored stored;
    double *list = NULL;
    report->kind[VERIFY_VERDICTS].checked++;
    TRY(read_stored(store, j->member, &stored));
    if (!check_columns(j, &stored, report) || stored.outcome != MEMBER_DONE)
        return 0;
    TRY(MEM_NEW(2 * store->planes, &list));
    const int rc = check_errors(store, j, &stored, list, report);
    mem_free(list);
    return rc;
}
