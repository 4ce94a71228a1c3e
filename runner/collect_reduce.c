/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ensembles of a collected file: over the merged members, by the code of a run. */
#include <string.h>

#include "io/read.h"
#include "io/reduce.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/collecting.h"

#define POINTS 1024 /* looked at at a time */

/* Rows of /ensemble, and the members of one point. */
struct rows {
    uint8_t reduced[POINTS];
    int64_t n[POINTS];
    double failed[POINTS];
    uint8_t *state; /* [realisations] */
};

static int count_members(struct store *store, int64_t point, uint8_t *state, int64_t *done,
                         int64_t *failed)
{
    const int64_t m = store_realisations(store);
    *done = *failed = 0;
    TRY(store_read_states(store, point * m, m, state, NULL));
    for (int64_t r = 0; r < m; r++) {
        *done += state[r] == MEMBER_DONE;
        *failed += state[r] == MEMBER_FAILED || state[r] == MEMBER_TIMED_OUT
                   || state[r] == MEMBER_QUARANTINED;
    }
    return 0;
}

/* A point whose ensemble stopped itself needs no other member. */
static int is_settled(struct store *store, int64_t point, const uint8_t *state, bool *settled)
{
    struct until_end end;
    *settled = false;
    return until_is_on(store) ? until_is_settled(store, point, state, settled, &end) : 0;
}

static int reduce_stale(struct collecting *c, struct store *store, int64_t first, int64_t count,
                        struct rows *rows)
{
    TRY(reduce_read_rows(store, first, count, rows->reduced, rows->n));
    TRY(read_rows(store, "ensemble/n_failed", first, count, (long)count, rows->failed));
    for (int64_t i = 0; i < count && atomic_load(&c->stop) == 0; i++) {
        struct reduce_result result;
        int64_t done = 0;
        int64_t failed = 0;
        bool settled = false;
        TRY(count_members(store, first + i, rows->state, &done, &failed));
        TRY(is_settled(store, first + i, rows->state, &settled));
        if (done == 0 || settled
            || (rows->reduced[i] == 1 && rows->n[i] == done
                && rows->failed[i] == (double)failed))
            continue;
        TRY(reduce_point(store, first + i, &result));
        c->reduced++;
    }
    return 0;
}

static int reduce_all(struct collecting *c, struct store *store)
{
    struct rows *rows = NULL;
    const int64_t points = store_points(store);
    int rc = 0;
    if (!read_exists(store, "ensemble"))
        return 0;
    TRY(MEM_NEW(1, &rows));
    TRY_OR(rc, done, MEM_NEW((long)store_realisations(store), &rows->state));
    for (int64_t first = 0; first < points && atomic_load(&c->stop) == 0; first += POINTS) {
        const int64_t left = points - first;
        TRY_OR(rc, done, reduce_stale(c, store, first, left < POINTS ? left : POINTS, rows));
    }
done:
    mem_free(rows->state);
    mem_free(rows);
    return rc;
}

int collecting_reduce(struct collecting *c)
{
    struct store *store = NULL;
    TRY(store_open(c->result, &store));
    const int rc = reduce_all(c, store);
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}
