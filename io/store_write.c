/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "io/store_private.h"
#include "kernels/base/status.h"

#define PIECE_MAX ((size_t)1 << 30) /* bytes of one call */

/* Where a block that is one contiguous byte range lies in the file. */
static int locate(const struct store *store, const struct h5_dataset *dataset,
                  const int64_t *start, const int64_t *count, off_t *offset, size_t *bytes)
{
    int64_t element = 0;
    int64_t elements = 1;
    bool split = false; /* an outer dimension has more than one piece */
    for (int d = 0; d < dataset->dims; d++) {
        const int64_t from = d == 0 ? start[d] - dataset->origin : start[d];
        element = element * dataset->length[d] + from;
        split = elements > 1 && count[d] != dataset->length[d];
        elements *= count[d];
        if (split || from < 0 || from + count[d] > dataset->length[d])
            FAIL(ERR_BUG, "%s: %s: rows %lld to %lld of dimension %d are no block of it",
                 store->path, dataset->name, (long long)start[d],
                 (long long)(start[d] + count[d]), d);
    }
    if (dataset->offset < 0)
        FAIL(ERR_IO, "%s: %s is not contiguous: no file of format 1", store->path,
             dataset->name);
    *offset = (off_t)(dataset->offset + element * (int64_t)dataset->size);
    *bytes = (size_t)elements * dataset->size;
    return 0;
}

/*
 * Raw data go past HDF5: every dataset has its place and size from the start, so a block's
 * bytes are one pwrite (1.3 us for a number; 10 us through H5Dwrite and MPI-IO), and it says
 * why when it fails.
 */
int store_put(struct store *store, const struct h5_dataset *dataset, const int64_t *start,
              const int64_t *count, const void *values)
{
    off_t offset = 0;
    size_t left = 0;
    const char *bytes = values;
    if (!store->writes)
        FAIL(ERR_BUG, "%s is open for reading only", store->path);
    TRY(locate(store, dataset, start, count, &offset, &left));
    while (left > 0) {
        const ssize_t written =
            pwrite(store->fd, bytes, left < PIECE_MAX ? left : PIECE_MAX, offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            const int error = written < 0 ? errno : ENOSPC;
            FAIL(ERR_IO, "cannot write %s: %s: %s (errno %d)", store->path, dataset->name,
                 strerror(error), error);
        }
        bytes += written;
        offset += written;
        left -= (size_t)written;
    }
    return 0;
}

int store_put_row(struct store *store, const struct h5_dataset *dataset, int64_t row,
                  const void *value)
{
    int64_t start[H5_DIMS_MAX] = {row};
    int64_t count[H5_DIMS_MAX] = {1};
    for (int d = 1; d < dataset->dims; d++)
        count[d] = dataset->length[d];
    return store_put(store, dataset, start, count, value);
}

int store_get(struct store *store, const struct h5_dataset *dataset, const int64_t *start,
              const int64_t *count, void *values)
{
    off_t offset = 0;
    size_t left = 0;
    char *bytes = values;
    if (dataset->offset < 0) /* chunked, or by another program */
        return h5_read(dataset, start, count, values);
    TRY(locate(store, dataset, start, count, &offset, &left));
    while (left > 0) {
        const ssize_t got =
            pread(store->fd, bytes, left < PIECE_MAX ? left : PIECE_MAX, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            FAIL(ERR_IO, "cannot read %s: %s: %s", store->path, dataset->name,
                 got < 0 ? strerror(errno) : "the file is too short");
        bytes += got;
        offset += got;
        left -= (size_t)got;
    }
    return 0;
}

int store_get_row(struct store *store, const struct h5_dataset *dataset, int64_t row,
                  void *value)
{
    int64_t start[H5_DIMS_MAX] = {row};
    int64_t count[H5_DIMS_MAX] = {1};
    for (int d = 1; d < dataset->dims; d++)
        count[d] = dataset->length[d];
    return store_get(store, dataset, start, count, value);
}

/* Write one plane of a part. */
static int put_plane(struct store *store, const struct store_part *part, int64_t member,
                     long plane, const void *values)
{
    int64_t start[H5_DIMS_MAX] = {member, plane};
    int64_t count[H5_DIMS_MAX] = {1, 1};
    for (int d = 2; d < part->data.dims; d++)
        count[d] = part->data.length[d];
    return store_put(store, &part->data, start, count, values);
}

/* An array of a plane: where faults are injected in two pieces, death may come between them. */
static int put_array(struct store *store, struct store_part *part, int64_t member, long plane,
                     const void *values)
{
    store_reserve(store, part, member, plane);
#ifdef SCANFARM_FAULTS
    int64_t start[H5_DIMS_MAX] = {member, plane};
    int64_t count[H5_DIMS_MAX] = {1, 1};
    size_t bytes = part->data.size;
    for (int d = 2; d < part->data.dims; d++) {
        count[d] = d == 2 ? part->data.length[d] / 2 : part->data.length[d];
        bytes *= (size_t)count[d];
    }
    if (part->data.dims > 2 && bytes > 0) {
        TRY(store_put(store, &part->data, start, count, values));
        TRY(store_plane_fault(store, "plane.mid", member, plane));
        start[2] = count[2];
        count[2] = part->data.length[2] - count[2];
        return store_put(store, &part->data, start, count, (const char *)values + bytes);
    }
#endif
    return put_plane(store, part, member, plane, values);
}

static int layout_shape(const struct store *store, const struct store_part *part,
                        const struct plane_layout *layout, struct store_shape *shape)
{
    if (part->index >= layout->arrays
        || strcmp(layout->array[part->index].name, part->name) != 0)
        FAIL(ERR_BUG, "%s: array %s is not in the member's layout", store->path, part->name);
    const struct layout_array *const array = &layout->array[part->index];
    const int inner = part->data.dims - 2;
    if (array->dims != inner)
        FAIL(ERR_BUG, "%s: array %s has %d dimensions, %d in the file", store->path, part->name,
             array->dims, inner);
    for (int d = 0; d < LAYOUT_DIMS_MAX; d++) {
        const int real = d - (LAYOUT_DIMS_MAX - inner);
        shape->whole[d] = real < 0 ? 1 : (long)part->data.length[2 + real];
        shape->valid[d] = real < 0 ? 1 : layout->axis[array->axis[real]].length;
        if (shape->valid[d] > shape->whole[d])
            FAIL(ERR_BUG, "%s: array %s has %ld values along a dimension, %ld in the file",
                 store->path, part->name, shape->valid[d], shape->whole[d]);
    }
    return 0;
}

/* Doubles to floats. Values beyond the range of float become infinite, as the hardware does it.
 */
static void narrow(const double *from, float *to, long count)
{
    for (long i = 0; i < count; i++)
        to[i] = (float)from[i];
}

/* One array of a plane: narrow, hash the valid part, pad, write. */
static int write_array(struct store *store, struct store_part *part, int64_t member,
                       const struct plane_layout *layout, long plane, const void *values)
{
    if (values == NULL)
        FAIL(ERR_ARGUMENT, "%s: array %s of member %lld is stored but was not given",
             store->path, part->name, (long long)member);
    struct store_shape shape;
    TRY(layout_shape(store, part, layout, &shape));
    const long count = store_shape_valid(&shape);
    const enum element type = layout->array[part->index].type;
    const void *stored = values;
    if (part->data.kind == H5_F32 && type == ELEMENT_F64) {
        narrow(values, store->dense, count);
        stored = store->dense;
    } else if (part->data.kind == H5_C64 && type == ELEMENT_C128) {
        narrow(values, store->dense, 2 * count);
        stored = store->dense;
    } else if ((int)part->data.kind != (int)type) {
        FAIL(ERR_BUG, "%s: array %s is stored as another type", store->path, part->name);
    }
    hash_stream_add(store->hash, stored, (size_t)count * part->data.size);
    if (memcmp(shape.whole, shape.valid, sizeof shape.whole) != 0) {
        store_fill_whole(&shape, part->data.kind, stored, store->padded);
        stored = store->padded;
    }
    return put_array(store, part, member, plane, stored);
}

static int write_number(struct store *store, const struct store_part *part, double value)
{
    hash_stream_add(store->hash, &value, sizeof value);
    return store_hold_number(store, part, &value);
}

/* A plane on its way into the file. */
struct plane_job {
    int64_t member;
    long plane;
    double progress;
    const struct plane_layout *layout;
    const struct plane_buffers *buffers;
};

static int write_part(struct store *store, struct store_part *part, const struct plane_job *job)
{
    switch (part->part) {
    case PART_PROGRESS:
        return write_number(store, part, job->progress);
    case PART_ARRAY:
        return write_array(store, part, job->member, job->layout, job->plane,
                           job->buffers->array[part->index]);
    case PART_OBSERVABLE:
        return write_number(store, part, job->buffers->observable[part->index]);
    case PART_CHECKSUM: {
        const uint64_t checksum = hash_stream_value(store->hash);
        return store_hold_number(store, part, &checksum);
    }
    case PART_NONE:
        break;
    }
    FAIL(ERR_BUG, "%s: plane/%s is of no kind", store->path, part->name);
}

int store_write_plane(struct store *store, int64_t member, const struct plane_layout *layout,
                      long plane, double progress, const struct plane_buffers *buffers)
{
    TRY(store_check_member(store, member));
    if (plane < 0 || plane >= store->planes)
        FAIL(ERR_ARGUMENT, "%s: plane %ld of %ld", store->path, plane, store->planes);
    const struct plane_job job = {member, plane, progress, layout, buffers};
    TRY(store_begin_plane(store, member, plane));
    hash_stream_reset(store->hash, hash_plane_seed(member, plane));
    TRY(store_plane_fault(store, "plane.data", member, plane));
    /* The parts are in the order of the checksum, which itself comes last. */
    for (int i = 0; i < store->parts; i++)
        TRY(write_part(store, &store->part[i], &job));
    TRY(store_end_plane(store));
    return store_plane_fault(store, "plane.done", member, plane);
}
