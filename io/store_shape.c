/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "io/store_private.h"
#include "kernels/base/status.h"

long store_shape_valid(const struct store_shape *shape)
{
    long count = 1;
    for (int d = 0; d < LAYOUT_DIMS_MAX; d++)
        count *= shape->valid[d];
    return count;
}

int store_shape(struct store *store, struct store_part *part, int64_t member,
                struct store_shape *shape)
{
    const int inner = part->data.dims - 2;
    for (int d = 0; d < LAYOUT_DIMS_MAX; d++) {
        const int real = d - (LAYOUT_DIMS_MAX - inner);
        shape->whole[d] = real < 0 ? 1 : (long)part->data.length[2 + real];
        shape->valid[d] = shape->whole[d];
        if (real < 0 || part->valid[real].size == 0)
            continue;
        int64_t valid = 0;
        TRY(store_get_row(store, &part->valid[real], member, &valid));
        if (valid < 0 || valid > shape->whole[d])
            FAIL(ERR_IO, "%s: %s of member %lld is %lld, more than %ld", store->path,
                 part->valid[real].name, (long long)member, (long long)valid, shape->whole[d]);
        shape->valid[d] = (long)valid;
    }
    return 0;
}

/* Copy the runs along the last dimension: out of the whole plane (take) or into it. */
static void copy_runs(const struct store_shape *shape, size_t size, char *whole, char *dense,
                      bool take)
{
    const size_t run = (size_t)shape->valid[2] * size;
    for (long i = 0; i < shape->valid[0]; i++)
        for (long j = 0; j < shape->valid[1]; j++) {
            char *const at =
                whole + (size_t)((i * shape->whole[1] + j) * shape->whole[2]) * size;
            memcpy(take ? dense : at, take ? at : dense, run);
            dense += run;
        }
}

void store_take_valid(const struct store_shape *shape, size_t size, const void *whole,
                      void *dense)
{
    copy_runs(shape, size, (char *)(uintptr_t)whole, dense, true);
}

void store_fill_whole(const struct store_shape *shape, enum h5_kind kind, const void *dense,
                      void *whole)
{
    const size_t count = (size_t)(shape->whole[0] * shape->whole[1] * shape->whole[2]);
    const size_t size = h5_kind_size(kind, 0);
    if (kind == H5_F64 || kind == H5_C128) {
        double *const values = whole;
        for (size_t i = 0; i < count * size / sizeof *values; i++)
            values[i] = (double)NAN;
    } else if (kind == H5_F32 || kind == H5_C64) {
        float *const values = whole;
        for (size_t i = 0; i < count * size / sizeof *values; i++)
            values[i] = NAN;
    } else if (kind == H5_BF16) {
        uint16_t *const values = whole;
        for (size_t i = 0; i < count; i++)
            values[i] = 0x7fc0;
    } else {
        memset(whole, 0, count * size);
    }
    copy_runs(shape, size, whole, (char *)(uintptr_t)dense, false);
}
