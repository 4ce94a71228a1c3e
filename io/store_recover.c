/* SPDX-License-Identifier: GPL-3.0-or-later */
/* After a crash of the node: what counts is checked, what is damaged does not count any more.
 */
#include "io/read.h"
#include "io/store_private.h"
#include "io/verdict.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define BLOCK 65536

/* The first damaged plane of those that count, their number when none is. */
static int check_planes(struct store *store, int64_t member, int64_t counted, int64_t *good)
{
    bool right = true;
    for (*good = 0; *good < counted; ++*good) {
        TRY(store_test_plane(store, member, (long)*good, &right));
        if (!right)
            return 0;
    }
    return 0;
}

/* The row of the point is stale: its members are not what it was made of. */
static int forget_reduction(struct store *store, int64_t point)
{
    struct h5_dataset reduced;
    const uint8_t none = 0;
    if (!read_exists(store, "ensemble"))
        return 0;
    TRY(h5_dataset_open(store->file, store->path, "ensemble/reduced", &reduced));
    const int rc = store_put_row(store, &reduced, point, &none);
    h5_dataset_close(&reduced);
    return rc;
}

/*
 * A member that goes on from planes counts the try that saved them then: the one that ended it
 * is no more than that. One that begins anew without planes would not know of it.
 */
static int recount_tries(struct store *store, int64_t member, uint8_t state, int64_t good)
{
    int tries = 0;
    const int change = state == MEMBER_DONE && good > 0       ? -1
                       : state == MEMBER_PENDING && good == 0 ? 1
                                                              : 0;
    TRY(store_read_attempts(store, member, &tries));
    const int32_t counted = tries + change;
    return store_put_row(store, &store->column[COLUMN_ATTEMPTS], member, &counted);
}

/* Planes from `good` on do not count any more. The state first: there is no moment at which a
 * done member lacks planes. */
static int lower(struct store *store, int64_t member, uint8_t state, int64_t good,
                 struct store_recovery *out)
{
    const uint8_t pending = MEMBER_PENDING;
    if (state == MEMBER_DONE) {
        TRY(store_put_row(store, &store->column[COLUMN_STATE], member, &pending));
        TRY(forget_reduction(store, member / store->realisations));
        TRY(verdict_forget(store, member));
        out->reopened++;
    }
    if (out->lowered++ == 0) {
        out->first = member;
        out->first_saved = good;
    }
    TRY(recount_tries(store, member, state, good));
    return store_put_row(store, &store->column[COLUMN_N_SAVED], member, &good);
}

static int recover_member(struct store *store, int64_t member, uint8_t state, int64_t counted,
                          struct store_recovery *out)
{
    int64_t good = 0;
    if (counted == 0 || (store->sync && state != MEMBER_PENDING))
        return 0;
    TRY(check_planes(store, member, counted, &good));
    out->members++;
    out->planes += good < counted ? good + 1 : counted;
    return good < counted ? lower(store, member, state, good, out) : 0;
}

static int recover_members(struct store *store, struct store_recovery *out)
{
    uint8_t *state = NULL;
    int64_t *saved = NULL;
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW(BLOCK, &state));
    TRY_OR(rc, done, MEM_NEW(BLOCK, &saved));
    const int64_t end = store->window.first + store->members;
    for (int64_t first = store->window.first; first < end; first += BLOCK) {
        const int64_t left = end - first;
        const int64_t count = left < BLOCK ? left : BLOCK;
        TRY_OR(rc, done, store_read_states(store, first, count, state, saved));
        for (int64_t i = 0; i < count; i++)
            TRY_OR(rc, done, recover_member(store, first + i, state[i], saved[i], out));
    }
done:
    mem_free(state);
    mem_free(saved);
    return rc;
}

static int recover(const char *path, bool synced, struct store_recovery *out)
{
    struct store *store = NULL;
    TRY(store_open(path, &store));
    store_set_sync(store, synced);
    int rc = recover_members(store, out);
    if (rc == 0)
        rc = store_close_attempts(store);
    const int closed = store_close(store);
    return rc != 0 ? rc : closed;
}

int store_recover(const char *path, struct store_recovery *out)
{
    struct store *store = NULL;
    bool well = true;
    bool synced = true;
    *out = (struct store_recovery){0};
    TRY(store_open_read(path, &store));
    int rc = store_ended_well(store, &well, &synced);
    const int closed = store_close(store);
    TRY(rc);
    TRY(closed);
    out->unclean = !well;
    return well ? 0 : recover(path, synced, out);
}
