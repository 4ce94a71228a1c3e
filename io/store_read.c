/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "io/store_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

static int check_plane(const struct store *store, int64_t member, long plane)
{
    TRY(store_check_member(store, member));
    if (plane < 0 || plane >= store->planes)
        FAIL(ERR_ARGUMENT, "%s: plane %ld of %ld", store->path, plane, store->planes);
    return 0;
}

static void plane_block(const struct store_part *part, int64_t member, long plane,
                        int64_t *start, int64_t *count)
{
    for (int d = 0; d < part->data.dims; d++) {
        start[d] = d == 0 ? member : d == 1 ? plane : 0;
        count[d] = d < 2 ? 1 : part->data.length[d];
    }
}

int store_read_plane(struct store *store, const char *array, int64_t member, long plane,
                     long elements, double *values)
{
    TRY(check_plane(store, member, plane));
    struct store_part *const part = store_find_name(store, array);
    if (part == NULL)
        FAIL(ERR_ARGUMENT, "%s has no dataset plane/%s", store->path, array);
    struct store_shape shape;
    TRY(store_shape(store, part, member, &shape));
    if (elements != store_shape_valid(&shape))
        FAIL(ERR_ARGUMENT, "%s: plane/%s of member %lld has %ld values, %ld asked for",
             store->path, array, (long long)member, store_shape_valid(&shape), elements);
    int64_t start[H5_DIMS_MAX];
    int64_t count[H5_DIMS_MAX];
    plane_block(part, member, plane, start, count);
    if (memcmp(shape.whole, shape.valid, sizeof shape.whole) == 0)
        return h5_read_double(&part->data, start, count, values);
    const bool pairs = part->data.kind == H5_C128 || part->data.kind == H5_C64;
    const long whole = shape.whole[0] * shape.whole[1] * shape.whole[2];
    double *buffer = NULL;
    TRY(mem_alloc(whole, pairs ? 16 : 8, (void **)&buffer));
    const int rc = h5_read_double(&part->data, start, count, buffer);
    if (rc == 0)
        store_take_valid(&shape, pairs ? 16 : 8, buffer, values);
    mem_free(buffer);
    return rc;
}

/* Hash of a plane's bytes, and the checksum that is stored. */
static int plane_checksums(struct store *store, int64_t member, long plane, uint64_t seed,
                           uint64_t *computed, uint64_t *stored)
{
    TRY(check_plane(store, member, plane));
    hash_stream_reset(store->hash, seed);
    for (int i = 0; i < store->parts; i++) {
        struct store_part *const part = &store->part[i];
        int64_t start[H5_DIMS_MAX];
        int64_t count[H5_DIMS_MAX];
        plane_block(part, member, plane, start, count);
        if (part->part == PART_CHECKSUM) {
            TRY(store_get(store, &part->data, start, count, stored));
            continue;
        }
        struct store_shape shape;
        TRY(store_shape(store, part, member, &shape));
        TRY(store_get(store, &part->data, start, count, store->padded));
        store_take_valid(&shape, part->data.size, store->padded, store->dense);
        hash_stream_add(store->hash, store->dense,
                        (size_t)store_shape_valid(&shape) * part->data.size);
    }
    *computed = hash_stream_value(store->hash);
    return 0;
}

int store_hash_plane(struct store *store, int64_t member, long plane, uint64_t seed,
                     uint64_t *hash)
{
    uint64_t stored = 0;
    return plane_checksums(store, member, plane, seed, hash, &stored);
}

int store_test_plane(struct store *store, int64_t member, long plane, bool *right)
{
    uint64_t computed = 0;
    uint64_t stored = 0;
    TRY(plane_checksums(store, member, plane, hash_plane_seed(member, plane), &computed,
                        &stored));
    *right = computed == stored;
    return 0;
}

int store_check_plane(struct store *store, int64_t member, long plane)
{
    uint64_t computed = 0;
    uint64_t stored = 0;
    TRY(plane_checksums(store, member, plane, hash_plane_seed(member, plane), &computed,
                        &stored));
    if (computed != stored)
        FAIL(ERR_IO,
             "%s: plane %ld of member %lld is damaged: checksum %016llx, stored %016llx",
             store->path, plane, (long long)member, (unsigned long long)computed,
             (unsigned long long)stored);
    return 0;
}
