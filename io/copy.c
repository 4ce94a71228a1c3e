/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/copy.h"

#include <string.h>

#include "io/read.h"
#include "io/verdict.h"
#include "io/verdict_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

int copy_init(struct store *to, struct copy *out)
{
    *out = (struct copy){.to = to};
    return to->history_open ? MEM_NEW(to->history.capacity, &out->step) : 0;
}

void copy_clear(struct copy *copy)
{
    mem_free(copy->step);
    *copy = (struct copy){0};
}

bool copy_holds(const struct copy *copy, int64_t member)
{
    for (int i = 0; i < copy->held; i++)
        if (copy->order[i].to == member)
            return true;
    return false;
}

/* What fails here is the new file. */
static int put(struct copy *copy, const struct h5_dataset *dataset, const int64_t *start,
               const int64_t *count, const void *values)
{
    const int rc = store_put(copy->to, dataset, start, count, values);
    copy->stuck = rc != 0;
    return rc;
}

static int put_row(struct copy *copy, const struct h5_dataset *dataset, int64_t row,
                   const void *value)
{
    const int rc = store_put_row(copy->to, dataset, row, value);
    copy->stuck = rc != 0;
    return rc;
}

static void plane_block(const struct store_part *part, int64_t member, long plane,
                        int64_t *start, int64_t *count)
{
    for (int d = 0; d < part->data.dims; d++) {
        start[d] = d == 0 ? member : d == 1 ? plane : 0;
        count[d] = d < 2 ? 1 : part->data.length[d];
    }
}

static void hash_add(struct copy *copy, const struct copy_order *order, const void *bytes,
                     size_t length)
{
    hash_stream_add(copy->from->hash, bytes, length);
    if (order->from != order->to)
        hash_stream_add(copy->to->hash, bytes, length);
}

/* The valid part of a plane, in the new file's shape. */
static int copy_part(struct copy *copy, int part, const struct copy_order *order, long plane)
{
    struct store *const from = copy->from;
    struct store_part *const old = &from->part[part];
    struct store_part *const new = &copy->to->part[part];
    struct store_shape shape;
    struct store_shape wanted;
    int64_t start[H5_DIMS_MAX];
    int64_t count[H5_DIMS_MAX];
    const void *values = from->padded;
    TRY(store_shape(from, old, order->from, &shape));
    TRY(store_shape(copy->to, new, order->to, &wanted));
    if (memcmp(shape.valid, wanted.valid, sizeof shape.valid) != 0)
        FAIL(ERR_CONFLICT, "%s: plane/%s of member %lld has other lengths than in %s",
             from->path, old->name, (long long)order->from, copy->to->path);
    plane_block(old, order->from, plane, start, count);
    TRY(store_get(from, &old->data, start, count, from->padded));
    if (memcmp(shape.whole, shape.valid, sizeof shape.whole) != 0) {
        store_take_valid(&shape, old->data.size, from->padded, from->dense);
        values = from->dense;
    }
    hash_add(copy, order, values, (size_t)store_shape_valid(&shape) * old->data.size);
    if (memcmp(wanted.whole, wanted.valid, sizeof wanted.whole) != 0) {
        store_fill_whole(&wanted, new->data.kind, values, copy->to->padded);
        values = copy->to->padded;
    }
    plane_block(new, order->to, plane, start, count);
    return put(copy, &new->data, start, count, values);
}

static int copy_checksum(struct copy *copy, int part, const struct copy_order *order,
                         long plane, bool *right)
{
    struct store_part *const old = &copy->from->part[part];
    struct store_part *const new = &copy->to->part[part];
    int64_t start[H5_DIMS_MAX];
    int64_t count[H5_DIMS_MAX];
    uint64_t stored = 0;
    plane_block(old, order->from, plane, start, count);
    TRY(store_get(copy->from, &old->data, start, count, &stored));
    *right = stored == hash_stream_value(copy->from->hash);
    if (order->from != order->to)
        stored = hash_stream_value(copy->to->hash);
    plane_block(new, order->to, plane, start, count);
    return *right ? put(copy, &new->data, start, count, &stored) : 0;
}

/* Parts are in the same order in both files, the checksum last: that has been compared. */
static int copy_plane(struct copy *copy, const struct copy_order *order, long plane,
                      bool *right)
{
    hash_stream_reset(copy->from->hash, hash_plane_seed(order->from, plane));
    hash_stream_reset(copy->to->hash, hash_plane_seed(order->to, plane));
    for (int i = 0; i < copy->to->parts; i++)
        if (copy->to->part[i].part != PART_CHECKSUM)
            TRY(copy_part(copy, i, order, plane));
        else
            TRY(copy_checksum(copy, i, order, plane, right));
    return 0;
}

/* Planes [first, end) that are none must not look like data. */
static int blank_planes(struct copy *copy, int64_t member, long first, long end)
{
    static const struct store_shape nothing = {.whole = {0}};
    for (int i = 0; i < copy->to->parts; i++) {
        const struct store_part *const part = &copy->to->part[i];
        struct store_shape shape = nothing;
        shape.whole[0] = shape.whole[1] = shape.whole[2] = 1;
        for (int d = 2; d < part->data.dims; d++)
            shape.whole[d - 2] = (long)part->data.length[d];
        store_fill_whole(&shape, part->data.kind, copy->to->dense, copy->to->padded);
        for (long plane = first; plane < end; plane++) {
            int64_t start[H5_DIMS_MAX];
            int64_t count[H5_DIMS_MAX];
            plane_block(part, member, plane, start, count);
            TRY(put(copy, &part->data, start, count, copy->to->padded));
        }
    }
    return 0;
}

static int copy_column(struct copy *copy, enum store_column column,
                       const struct copy_order *order)
{
    const struct h5_dataset *const old = &copy->from->column[column];
    const struct h5_dataset *const new = &copy->to->column[column];
    char value[512];
    if (old->size != new->size || old->size > sizeof value)
        FAIL(ERR_CONFLICT, "%s: %s has %zu bytes, %zu in %s", copy->from->path, old->name,
             old->size, new->size, copy->to->path);
    TRY(store_get_row(copy->from, old, order->from, value));
    return put_row(copy, new, order->to, value);
}

static int copy_columns(struct copy *copy, const struct copy_order *order)
{
    static const enum store_column columns[] = {
        COLUMN_REASON, COLUMN_ATTEMPTS, COLUMN_WALL,      COLUMN_CPU,
        COLUMN_RANK,   COLUMN_HOST,     COLUMN_DEVICE,    COLUMN_KERNEL_ID,
        COLUMN_STEPS,  COLUMN_REJECTED, COLUMN_RHS_CALLS, COLUMN_TRANSFORMS};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        TRY(copy_column(copy, columns[i], order));
    return 0;
}

/* Steps that the old file has and the new one has room for. */
static int kept_steps(struct copy *copy, int64_t member, long *kept)
{
    struct store *const from = copy->from;
    int64_t steps = 0;
    *kept = 0;
    if (!copy->to->history_open || !from->history_open)
        return 0;
    TRY(store_get_row(from, &from->history.n_steps, member, &steps));
    if (steps < 0 || steps > from->history.capacity)
        FAIL(ERR_CONFLICT, "%s is damaged: %lld steps of member %lld", from->path,
             (long long)steps, (long long)member);
    const long room = copy->to->history.capacity;
    *kept = steps < room ? (long)steps : room;
    return 0;
}

static int copy_history(struct copy *copy, const struct copy_order *order)
{
    struct store *const from = copy->from;
    long kept = 0;
    int64_t accepted = 0;
    int64_t rejected = 0;
    uint8_t truncated = 0;
    TRY(kept_steps(copy, order->from, &kept));
    if (kept > 0)
        TRY(store_read_steps(from, order->from, kept, copy->step));
    const struct row_status row = {.history = copy->step, .history_count = kept};
    const int rc = store_put_steps(copy->to, order->to, &row, 0);
    copy->stuck = rc != 0;
    TRY(rc);
    TRY(store_get_row(from, &from->column[COLUMN_STEPS], order->from, &accepted));
    TRY(store_get_row(from, &from->column[COLUMN_REJECTED], order->from, &rejected));
    TRY(store_get_row(from, &from->column[COLUMN_TRUNCATED], order->from, &truncated));
    truncated = truncated != 0 || kept < accepted + rejected ? 1 : 0;
    return put_row(copy, &copy->to->column[COLUMN_TRUNCATED], order->to, &truncated);
}

/* It counts with the member: its outcome means nothing before the member is done. */
static int copy_verdict(struct copy *copy, const struct copy_order *order)
{
    const int rc = verdict_copy(copy->from, order->from, copy->to, order->to);
    copy->stuck = rc != 0;
    return rc;
}

int copy_member(struct copy *copy, const struct copy_order *order, bool *right)
{
    *right = true;
    copy->stuck = false;
    if (copy->held == COPY_HELD_MAX)
        FAIL(ERR_BUG, "%s: %d members wait already", copy->to->path, copy->held);
    long plane = 0;
    for (; *right && plane < order->planes; plane++)
        TRY(copy_plane(copy, order, plane, right));
    if (!*right)
        return blank_planes(copy, order->to, 0, plane);
    if (order->state == MEMBER_PENDING) {
        TRY(copy_column(copy, COLUMN_ATTEMPTS, order));
    } else {
        TRY(blank_planes(copy, order->to, (long)order->planes, copy->to->planes));
        TRY(copy_columns(copy, order));
        TRY(copy_history(copy, order));
        TRY(copy_verdict(copy, order));
    }
    copy->order[copy->held++] = *order;
    return 0;
}

/* The row of the point is not made of the members that are going to be there. */
static int forget_reduction(struct copy *copy, int64_t point)
{
    struct store *const to = copy->to;
    struct h5_dataset reduced;
    const uint8_t none = 0;
    if (!read_exists(to, "ensemble"))
        return 0;
    TRY(store_open_dataset(to, "ensemble/reduced", &reduced));
    const int rc = put_row(copy, &reduced, point, &none);
    h5_dataset_close(&reduced);
    return rc;
}

int copy_forget(struct copy *copy, int64_t member)
{
    const uint8_t pending = MEMBER_PENDING;
    const int64_t none = 0;
    TRY(put_row(copy, &copy->to->column[COLUMN_STATE], member, &pending));
    TRY(put_row(copy, &copy->to->column[COLUMN_N_SAVED], member, &none));
    const int forgotten = verdict_forget(copy->to, member);
    copy->stuck = forgotten != 0;
    TRY(forgotten);
    return forget_reduction(copy, member / copy->to->realisations);
}

int copy_flush(struct copy *copy)
{
    struct store *const to = copy->to;
    const int held = copy->held;
    copy->held = 0;
    copy->stuck = true; /* whatever fails from here on */
    if (held > 0)
        TRY(store_sync(to));
    for (int i = 0; i < held; i++) {
        const struct copy_order *const order = &copy->order[i];
        const uint8_t state = (uint8_t)order->state;
        TRY(put_row(copy, &to->column[COLUMN_N_SAVED], order->to, &order->planes));
        TRY(put_row(copy, &to->column[COLUMN_STATE], order->to, &state));
    }
    copy->stuck = false;
    return 0;
}
