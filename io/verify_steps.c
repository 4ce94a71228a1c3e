/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters of a member against its history and against each other. */
#include <inttypes.h>
#include <math.h>

#include "io/verify_private.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"

/* Whether two positions are one: their sum was rounded once or twice. */
static int are_one(double a, double b, double scale, bool *one)
{
    double allowed = 0;
    TRY(bound_sum(2, scale, PRECISION_F64, &allowed));
    *one = fabs(a - b) <= allowed;
    return 0;
}

/* A step begins where the one before it ended: at its start when that was rejected. */
static int check_chain(const struct verify_counts *c, struct verify_report *report)
{
    const struct step_record *const step = c->step;
    for (int64_t s = 0; s + 1 < c->kept; s++) {
        const double end =
            step[s].accepted ? step[s].position + step[s].length : step[s].position;
        bool one = false;
        TRY(are_one(step[s + 1].position, end, fabs(step[s].position) + fabs(step[s].length),
                    &one));
        if (!one) {
            verify_break_member(report, VERIFY_STEPS, c->member,
                                "member %" PRId64 ": step %" PRId64
                                " begins at %.17g, the one before ended at %.17g",
                                c->member, s + 1, step[s + 1].position, end);
            return 0;
        }
    }
    return 0;
}

/* Accepted: its error was at most one tolerance; in a replay all are. */
static void check_errors(const struct verify_counts *c, const struct verify_law *law,
                         struct verify_report *report)
{
    for (int64_t s = 0; s < c->kept; s++)
        if ((c->step[s].accepted != 0) != (!law->controlled || c->step[s].error <= 1)) {
            verify_break_member(
                report, VERIFY_STEPS, c->member,
                "member %" PRId64 ": step %" PRId64 " was %s with an error of %g tolerances",
                c->member, s, c->step[s].accepted ? "accepted" : "rejected", c->step[s].error);
            return;
        }
}

static void check_calls(const struct verify_counts *c, const struct verify_law *law,
                        struct verify_report *report)
{
    const int64_t want = law->first + law->each * (c->steps + c->rejected);
    if (c->rhs_calls != want)
        verify_break_member(report, VERIFY_STEPS, c->member,
                            "member %" PRId64 ": %" PRId64 " right-hand sides, %" PRId64
                            " trial steps make %" PRId64,
                            c->member, c->rhs_calls, c->steps + c->rejected, want);
    else if (c->rhs_calls > 0 && c->transforms % c->rhs_calls != 0)
        verify_break_member(report, VERIFY_STEPS, c->member,
                            "member %" PRId64 ": %" PRId64
                            " transforms are no multiple of its %" PRId64 " right-hand sides",
                            c->member, c->transforms, c->rhs_calls);
}

int verify_counts_check(const struct verify_counts *c, const struct verify_law *law,
                        struct verify_report *report)
{
    int64_t accepted = 0;
    const int64_t before = report->kind[VERIFY_STEPS].broken;
    for (int64_t s = 0; s < c->kept; s++)
        accepted += c->step[s].accepted ? 1 : 0;
    if (c->whole ? accepted != c->steps || c->kept - accepted != c->rejected
                 : accepted > c->steps || c->kept - accepted > c->rejected)
        verify_break_member(report, VERIFY_STEPS, c->member,
                            "member %" PRId64 ": %" PRId64 " steps and %" PRId64
                            " rejected, its history has %" PRId64 " and %" PRId64,
                            c->member, c->steps, c->rejected, accepted, c->kept - accepted);
    /* one word a member: the others follow from it */
    if (law == NULL || !law->known || !c->done)
        return 0;
    if (report->kind[VERIFY_STEPS].broken == before)
        check_errors(c, law, report);
    if (report->kind[VERIFY_STEPS].broken == before)
        TRY(check_chain(c, report));
    if (report->kind[VERIFY_STEPS].broken == before)
        check_calls(c, law, report);
    return 0;
}
