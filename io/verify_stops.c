/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether ensembles stopped where the stored members say. */
#include <inttypes.h>
#include <math.h>

#include "io/reduce.h"
#include "io/until.h"
#include "io/verify_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"

/* A point that is looked at. */
struct stop {
    struct store *store;
    struct verify_report *report;
    int64_t point;
    const uint8_t *state; /* [realisations] */
    struct until_end row; /* as it is stored */
    struct until_end now; /* as the members have it */
    bool reduced;
    int64_t n;
};

/* Two numbers that another machine may have rounded otherwise. */
static bool is_near(double a, double b)
{
    return fabs(a - b) <= bound(BOUND_until_error) * fabs(b) || (isnan(a) && isnan(b));
}

/* A look whose error is the wanted one to rounding may end either way. */
static bool is_close_call(const struct stop *s)
{
    struct store_until rule;
    return until_read_rule(s->store, &rule) == 0
           && (is_near(s->row.error, rule.error) || is_near(s->now.error, rule.error));
}

static void verify_counts(const struct stop *s)
{
    int64_t done = 0;
    for (int64_t r = 0; r < s->store->realisations; r++) {
        const bool counts = r < s->row.realisations;
        done += counts && s->state[r] == MEMBER_DONE;
        if (s->state[r] == MEMBER_NOT_NEEDED && (counts || s->row.stopped == UNTIL_OPEN))
            verify_break(s->report, VERIFY_STOPS,
                         "point %" PRId64 " needs its realisation %" PRId64
                         ", whose state says it is not",
                         s->point, r);
    }
    if (s->reduced && s->row.stopped != UNTIL_OPEN && done != s->n)
        verify_break(s->report, VERIFY_STOPS,
                     "point %" PRId64 " is made of %" PRId64 " members, %" PRId64
                     " of the %" PRId64 " that count are done",
                     s->point, s->n, done, s->row.realisations);
}

static void verify_stop(const struct stop *s)
{
    const struct until_end *const row = &s->row;
    const struct until_end *const now = &s->now;
    const bool same = row->stopped == now->stopped && row->realisations == now->realisations
                      && row->looks == now->looks;
    if (!same && !is_close_call(s))
        verify_break(s->report, VERIFY_STOPS,
                     "point %" PRId64 " stopped after %d looks and %" PRId64
                     " realisations, its members say %d and %" PRId64,
                     s->point, row->looks, row->realisations, now->looks, now->realisations);
    else if (same && (!is_near(row->error, now->error) || !is_near(row->value, now->value)))
        verify_break(s->report, VERIFY_STOPS,
                     "point %" PRId64 " has the error %.9g of %.9g, its members say %.9g of "
                     "%.9g",
                     s->point, row->error, row->value, now->error, now->value);
}

static int verify_point(struct stop *s, uint8_t *state)
{
    const int64_t m = s->store->realisations;
    uint8_t reduced = 0;
    TRY(store_read_states(s->store, s->point * m, m, state, NULL));
    TRY(until_read_rows(s->store, s->point, 1, &s->row));
    TRY(reduce_read_rows(s->store, s->point, 1, &reduced, &s->n));
    s->reduced = reduced == 1;
    s->report->kind[VERIFY_STOPS].checked++;
    verify_counts(s);
    if (!s->reduced || s->row.stopped == UNTIL_OPEN)
        return 0;
    TRY(until_decide(s->store, s->point, state, &s->now));
    verify_stop(s);
    return 0;
}

int verify_stops(struct store *store, struct verify_report *report)
{
    uint8_t *state = NULL;
    if (!until_is_on(store)) {
        verify_skip(report, VERIFY_STOPS, "the realisations of the scan are given");
        return 0;
    }
    TRY(MEM_NEW((long)store->realisations, &state));
    int rc = 0;
    for (int64_t point = 0; rc == 0 && point < store->points; point++) {
        struct stop stop = {.store = store, .report = report, .point = point, .state = state};
        rc = verify_point(&stop, state);
    }
    mem_free(state);
    return rc;
}
