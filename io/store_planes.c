/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "io/store_private.h"
#include "kernels/base/clock.h"
#include "kernels/base/fault.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/*
 * Planes whose arrays are in the file and whose numbers, checksums and counts are not yet: they
 * go together, a write a dataset, because a number costs as much as a write of 4 KB. They are
 * planes of one member; or, where members have one plane each, of neighbours.
 */

/* Whether a plane lies behind those that wait, in every dataset. */
static bool follows(const struct store *store, int64_t member, long plane)
{
    const struct store_ready *const ready = &store->ready;
    return store->planes == 1 ? member == ready->member + ready->count
                              : member == ready->member && plane == ready->first + ready->count;
}

int store_set_planes_span(struct store *store, double seconds)
{
    struct store_ready *const ready = &store->ready;
    TRY(store_commit_planes(store));
#ifdef SCANFARM_FAULTS
    if (getenv("FARM_FAULT") != NULL)
        seconds = 0; /* faults are injected plane by plane */
#endif
    ready->span = seconds;
    return 0;
}

int store_plane_fault(const struct store *store, const char *point, int64_t member, long plane)
{
    fault_point(point, member, plane);
    const int error = fault_error(point, member, plane);
    if (error != 0)
        FAIL(ERR_IO, "cannot write %s: plane %ld of member %lld: %s (errno %d)", store->path,
             plane, (long long)member, strerror(error), error);
    return 0;
}

int store_begin_plane(struct store *store, int64_t member, long plane)
{
    struct store_ready *const ready = &store->ready;
    if (ready->value == NULL)
        TRY(MEM_NEW((long)store->parts * STORE_READY_MAX, &ready->value));
    if (ready->count > 0 && !follows(store, member, plane))
        TRY(store_commit_planes(store));
    if (ready->count == 0) {
        ready->member = member;
        ready->first = plane;
    }
    return 0;
}

int store_hold_number(struct store *store, const struct store_part *part, const void *value)
{
    if (part->data.size != sizeof *store->ready.value)
        FAIL(ERR_BUG, "%s: plane/%s has %zu bytes a plane, not %zu", store->path, part->name,
             part->data.size, sizeof *store->ready.value);
    const long row = (part - store->part) * (long)STORE_READY_MAX;
    memcpy(&store->ready.value[row + store->ready.count], value, sizeof *store->ready.value);
    return 0;
}

int store_end_plane(struct store *store)
{
    struct store_ready *const ready = &store->ready;
    ready->count++;
    if (ready->count < STORE_READY_MAX && ready->span > 0 && ready->committed > 0
        && clock_wall() - ready->committed < ready->span)
        return 0;
    return store_commit_planes(store);
}

/* The commit itself. */
static int put_counts(struct store *store, int64_t member, int64_t members, int64_t n_saved)
{
    int64_t counts[STORE_READY_MAX];
    for (int64_t i = 0; i < members; i++)
        counts[i] = n_saved;
    return store_put(store, &store->column[COLUMN_N_SAVED], &member, &members, counts);
}

/* What a test build asks for at a point of the commit of any of these planes. */
static int commit_fault(const struct store *store, const char *point, const int64_t *start,
                        const int64_t *count)
{
    for (int64_t m = start[0]; m < start[0] + count[0]; m++)
        for (int64_t p = start[1]; p < start[1] + count[1]; p++)
            TRY(store_plane_fault(store, point, m, (long)p));
    return 0;
}

int store_commit_planes(struct store *store)
{
    struct store_ready *const ready = &store->ready;
    const bool neighbours = store->planes == 1;
    const int64_t start[H5_DIMS_MAX] = {ready->member, ready->first};
    const int64_t count[H5_DIMS_MAX] = {neighbours ? ready->count : 1,
                                        neighbours ? 1 : ready->count};
    if (ready->count == 0)
        return 0;
    ready->count = 0; /* after an error too: what cannot be written is not tried again */
    for (int i = 0; i < store->parts; i++) {
        if (store->part[i].part == PART_CHECKSUM)
            TRY(commit_fault(store, "plane.checksum", start, count));
        if (store->part[i].part != PART_ARRAY)
            TRY(store_put(store, &store->part[i].data, start, count,
                          &ready->value[(long)i * STORE_READY_MAX]));
    }
    TRY(commit_fault(store, "plane.commit", start, count));
    TRY(put_counts(store, start[0], count[0], start[1] + count[1]));
    ready->committed = clock_wall();
    return 0;
}
