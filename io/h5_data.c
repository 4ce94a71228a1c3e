/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

#include "io/h5.h"
#include "kernels/base/status.h"

#define PIECE_MAX (INT64_C(1) << 30) /* above 2 GB a single write can be silently wrong */

size_t h5_kind_size(enum h5_kind kind, size_t text)
{
    static const size_t sizes[] = {
        [H5_F64] = 8, [H5_C128] = 16, [H5_F32] = 4, [H5_C64] = 8, [H5_BF16] = 2,
        [H5_I64] = 8, [H5_U64] = 8,   [H5_I32] = 4, [H5_U8] = 1};
    return kind == H5_TEXT ? text : sizes[kind];
}

static hid_t complex_type(hid_t part)
{
    const size_t size = H5Tget_size(part);
    const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * size);
    if (type >= 0
        && (H5Tinsert(type, "r", 0, part) < 0 || H5Tinsert(type, "i", size, part) < 0))
        return H5I_INVALID_HID;
    return type;
}

int64_t h5_type_create(enum h5_kind kind, size_t text)
{
    switch (kind) {
    case H5_F64:
        return H5Tcopy(H5T_IEEE_F64LE);
    case H5_C128:
        return complex_type(H5T_IEEE_F64LE);
    case H5_F32:
        return H5Tcopy(H5T_IEEE_F32LE);
    case H5_C64:
        return complex_type(H5T_IEEE_F32LE);
    case H5_BF16:
        return H5Tcopy(H5T_STD_U16LE);
    case H5_I64:
        return H5Tcopy(H5T_STD_I64LE);
    case H5_U64:
        return H5Tcopy(H5T_STD_U64LE);
    case H5_I32:
        return H5Tcopy(H5T_STD_I32LE);
    case H5_U8:
        return H5Tcopy(H5T_STD_U8LE);
    case H5_TEXT:
        break;
    }
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0 || H5Tset_size(type, text) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0
        || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)
        return H5I_INVALID_HID;
    return type;
}

int h5_type_kind(int64_t type, size_t *size)
{
    *size = H5Tget_size(type);
    if (H5Tget_class(type) == H5T_STRING)
        return H5Tis_variable_str(type) > 0 ? -1 : H5_TEXT;
    for (int kind = H5_F64; kind < H5_TEXT; kind++) {
        const hid_t ours = h5_type_create((enum h5_kind)kind, 0);
        const htri_t equal = H5Tequal(ours, type);
        H5Tclose(ours);
        if (equal > 0)
            return kind;
    }
    return -1;
}

static int dataset_inspect(struct h5_dataset *ds)
{
    ds->space = H5Dget_space(ds->id);
    TRY_H5(ds->space, ds->path, ds->name);
    ds->dims = H5Sget_simple_extent_ndims(ds->space);
    ds->type = H5Dget_type(ds->id);
    TRY_H5(ds->type, ds->path, ds->name);
    const int kind = h5_type_kind(ds->type, &ds->size);
    if (ds->dims < 0 || ds->dims > H5_DIMS_MAX || kind < 0)
        FAIL(ERR_IO, "%s: %s: type or number of dimensions (%d) is none of format 1", ds->path,
             ds->name, ds->dims);
    ds->kind = (enum h5_kind)kind;
    const haddr_t offset = H5Dget_offset(ds->id);
    ds->offset = offset == HADDR_UNDEF ? -1 : (int64_t)offset;
    hsize_t length[H5_DIMS_MAX] = {0};
    TRY_H5(H5Sget_simple_extent_dims(ds->space, length, NULL), ds->path, ds->name);
    for (int d = 0; d < ds->dims; d++)
        ds->length[d] = (int64_t)length[d];
    const hsize_t one = 1;
    ds->scratch = H5Screate_simple(1, &one, NULL);
    TRY_H5(ds->scratch, ds->path, ds->name);
    return 0;
}

int h5_dataset_open(int64_t file, const char *path, const char *name, struct h5_dataset *out)
{
    *out = (struct h5_dataset){.path = path};
    snprintf(out->name, sizeof out->name, "%s", name);
    out->id = H5Dopen2(file, name, H5P_DEFAULT);
    if (out->id < 0) {
        out->id = 0;
        return h5_fail(path, name);
    }
    const int rc = dataset_inspect(out);
    if (rc != 0)
        h5_dataset_close(out);
    return rc;
}

void h5_dataset_close(struct h5_dataset *dataset)
{
    if (dataset->scratch > 0)
        H5Sclose(dataset->scratch);
    if (dataset->type > 0)
        H5Tclose(dataset->type);
    if (dataset->space > 0)
        H5Sclose(dataset->space);
    if (dataset->id > 0)
        H5Dclose(dataset->id);
    *dataset = (struct h5_dataset){0};
}

/* One transfer of a block that is small enough. */
static herr_t transfer_piece(const struct h5_dataset *ds, const int64_t *start,
                             const int64_t *count, hid_t type, void *values, bool write)
{
    hsize_t from[H5_DIMS_MAX];
    hsize_t length[H5_DIMS_MAX];
    hsize_t elements = 1;
    for (int d = 0; d < ds->dims; d++) {
        from[d] = (hsize_t)(d == 0 ? start[d] - ds->origin : start[d]);
        length[d] = (hsize_t)count[d];
        elements *= length[d];
    }
    if (ds->dims > 0
        && H5Sselect_hyperslab(ds->space, H5S_SELECT_SET, from, NULL, length, NULL) < 0)
        return -1;
    if (H5Sset_extent_simple(ds->scratch, 1, &elements, NULL) < 0)
        return -1;
    return write ? H5Dwrite(ds->id, type, ds->scratch, ds->space, H5P_DEFAULT, values)
                 : H5Dread(ds->id, type, ds->scratch, ds->space, H5P_DEFAULT, values);
}

/* Halve the first dimension that is longer than 1 until a piece fits. */
static herr_t transfer(const struct h5_dataset *ds, const int64_t *start, const int64_t *count,
                       hid_t type, void *values, bool write)
{
    int64_t bytes = (int64_t)H5Tget_size(type);
    int split = -1;
    for (int d = 0; d < ds->dims; d++) {
        bytes *= count[d];
        if (split < 0 && count[d] > 1)
            split = d;
    }
    if (bytes <= PIECE_MAX || split < 0)
        return bytes > 0 ? transfer_piece(ds, start, count, type, values, write) : 0;
    int64_t part_start[H5_DIMS_MAX];
    int64_t part_count[H5_DIMS_MAX];
    memcpy(part_start, start, (size_t)ds->dims * sizeof *start);
    memcpy(part_count, count, (size_t)ds->dims * sizeof *count);
    const int64_t half = count[split] / 2;
    part_count[split] = half;
    if (transfer(ds, part_start, part_count, type, values, write) < 0)
        return -1;
    part_start[split] += half;
    part_count[split] = count[split] - half;
    char *const rest = (char *)values + bytes / count[split] * half;
    return transfer(ds, part_start, part_count, type, rest, write);
}

int h5_write(const struct h5_dataset *dataset, const int64_t *start, const int64_t *count,
             const void *values)
{
    /* H5Dread and H5Dwrite share the path; a write leaves the values alone. */
    TRY_H5(transfer(dataset, start, count, dataset->type, (void *)(uintptr_t)values, true),
           dataset->path, dataset->name);
    return 0;
}

int h5_read(const struct h5_dataset *dataset, const int64_t *start, const int64_t *count,
            void *values)
{
    TRY_H5(transfer(dataset, start, count, dataset->type, values, false), dataset->path,
           dataset->name);
    return 0;
}

/* bfloat16 widens in place, from the end: two bytes each become eight. */
static void widen_bf16(int64_t elements, double *values)
{
    const unsigned char *const bytes = (const unsigned char *)values;
    for (int64_t i = elements - 1; i >= 0; i--) {
        uint16_t half;
        memcpy(&half, bytes + 2 * i, sizeof half);
        const uint32_t bits = (uint32_t)half << 16;
        float wide;
        memcpy(&wide, &bits, sizeof wide);
        values[i] = (double)wide;
    }
}

int h5_read_double(const struct h5_dataset *dataset, const int64_t *start, const int64_t *count,
                   double *values)
{
    if (dataset->kind == H5_TEXT)
        FAIL(ERR_ARGUMENT, "%s: %s holds text, not numbers", dataset->path, dataset->name);
    if (dataset->kind == H5_BF16) {
        TRY(h5_read(dataset, start, count, values));
        int64_t elements = 1;
        for (int d = 0; d < dataset->dims; d++)
            elements *= count[d];
        widen_bf16(elements, values);
        return 0;
    }
    const bool pairs = dataset->kind == H5_C128 || dataset->kind == H5_C64;
    const hid_t type = h5_type_create(pairs ? H5_C128 : H5_F64, 0);
    TRY_H5(type, dataset->path, dataset->name);
    const herr_t done = transfer(dataset, start, count, type, values, false);
    const int rc = done < 0 ? h5_fail(dataset->path, dataset->name) : 0;
    H5Tclose(type);
    return rc;
}

static void rows_block(const struct h5_dataset *dataset, int64_t first, int64_t rows,
                       int64_t *start, int64_t *count)
{
    for (int d = 0; d < dataset->dims; d++) {
        start[d] = d == 0 ? first : 0;
        count[d] = d == 0 ? rows : dataset->length[d];
    }
}

int h5_write_rows(const struct h5_dataset *dataset, int64_t first, int64_t count,
                  const void *values)
{
    int64_t start[H5_DIMS_MAX];
    int64_t block[H5_DIMS_MAX];
    rows_block(dataset, first, count, start, block);
    return h5_write(dataset, start, block, values);
}

int h5_read_rows(const struct h5_dataset *dataset, int64_t first, int64_t count, void *values)
{
    int64_t start[H5_DIMS_MAX];
    int64_t block[H5_DIMS_MAX];
    rows_block(dataset, first, count, start, block);
    return h5_read(dataset, start, block, values);
}
