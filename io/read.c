/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/read.h"

#include <stdio.h>
#include <string.h>

#include <hdf5.h>

#include "io/h5.h"
#include "io/store_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

_Static_assert(READ_DIMS_MAX == H5_DIMS_MAX, "readers see every dimension");

/* Every part of a path must be asked for: HDF5 fails on a missing intermediate group. */
bool read_exists(struct store *store, const char *path)
{
    char part[H5_PATH_MAX];
    if (strcmp(path, "/") == 0)
        return true;
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (part[0] != '\0' && H5Lexists(store->file, part, H5P_DEFAULT) <= 0)
            return false;
    }
    return H5Lexists(store->file, path, H5P_DEFAULT) > 0;
}

static int exists_or_fail(struct store *store, const char *path)
{
    if (!read_exists(store, path))
        FAIL(ERR_ARGUMENT, "%s has no %s", store->path, path);
    return 0;
}

static enum element element_of(enum h5_kind kind)
{
    if (kind <= H5_I64)
        return (enum element)kind;
    return ELEMENT_I64;
}

static int describe_open(struct store *store, const struct h5_dataset *dataset,
                         struct read_dataset *out)
{
    *out = (struct read_dataset){.dims = dataset->dims,
                                 .type = element_of(dataset->kind),
                                 .text = dataset->kind == H5_TEXT};
    const char *const slash = strrchr(dataset->name, '/');
    snprintf(out->name, sizeof out->name, "%.*s", READ_NAME_SIZE - 1,
             slash == NULL ? dataset->name : slash + 1);
    for (int d = 0; d < dataset->dims; d++) {
        out->length[d] = dataset->length[d];
        TRY_H5(h5_get_label(dataset->id, d, out->dim_name[d], sizeof out->dim_name[d]),
               store->path, dataset->name);
        if (out->dim_name[d][0] == '\0'
            && dataset->dims == 1) /* a scale is its own dimension */
            memcpy(out->dim_name[d], out->name, sizeof out->dim_name[d]);
    }
    TRY(h5_get_text(dataset->id, store->path, "units", out->unit, sizeof out->unit));
    TRY(h5_get_text(dataset->id, store->path, "long_name", out->long_name,
                    sizeof out->long_name));
    return h5_get_text(dataset->id, store->path, "as_written", out->as_written,
                       sizeof out->as_written);
}

static int open_checked(struct store *store, const char *path, struct h5_dataset *dataset)
{
    TRY(exists_or_fail(store, path));
    return store_open_dataset(store, path, dataset);
}

int read_describe(struct store *store, const char *path, struct read_dataset *out)
{
    struct h5_dataset dataset;
    TRY(open_checked(store, path, &dataset));
    const int rc = describe_open(store, &dataset, out);
    h5_dataset_close(&dataset);
    return rc;
}

static bool is_dataset(struct store *store, const char *path)
{
    H5O_info_t info;
    return H5Oget_info_by_name2(store->file, path, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0
           && info.type == H5O_TYPE_DATASET;
}

static int list_fill(struct store *store, const char *group, hsize_t links,
                     struct read_dataset *list, int *count)
{
    for (hsize_t i = 0; i < links; i++) {
        char name[READ_NAME_SIZE] = "";
        TRY_H5(H5Lget_name_by_idx(store->file, group, H5_INDEX_NAME, H5_ITER_INC, i, name,
                                  sizeof name, H5P_DEFAULT),
               store->path, group);
        char path[H5_PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", strcmp(group, "/") == 0 ? "" : group, name);
        if (is_dataset(store, path))
            TRY(read_describe(store, path, &list[(*count)++]));
    }
    return 0;
}

int read_list(struct store *store, const char *group, struct read_dataset **list, int *count)
{
    *list = NULL;
    *count = 0;
    TRY(exists_or_fail(store, group));
    H5G_info_t info;
    TRY_H5(H5Gget_info_by_name(store->file, group, &info, H5P_DEFAULT), store->path, group);
    TRY(MEM_NEW((long)info.nlinks, list));
    const int rc = list_fill(store, group, info.nlinks, *list, count);
    if (rc != 0) {
        mem_free(*list);
        *list = NULL;
        *count = 0;
    }
    return rc;
}

static int scale_read(const struct h5_dataset *dataset, int64_t grid, double **values,
                      long *count)
{
    if (dataset->dims < 1 || dataset->dims > 2)
        FAIL(ERR_ARGUMENT, "%s: %s has %d dimensions, a scale has 1 or 2", dataset->path,
             dataset->name, dataset->dims);
    const int64_t length = dataset->length[dataset->dims - 1];
    const int64_t start[] = {dataset->dims == 1 ? 0 : grid, 0};
    const int64_t block[] = {dataset->dims == 1 ? length : 1, length};
    if (dataset->dims == 2 && (grid < 0 || grid >= dataset->length[0]))
        FAIL(ERR_ARGUMENT, "%s: grid %lld of %lld", dataset->path, (long long)grid,
             (long long)dataset->length[0]);
    TRY(MEM_NEW((long)length, values));
    *count = (long)length;
    return h5_read_double(dataset, start, block, *values);
}

int read_scale(struct store *store, const char *name, int64_t grid, double **values,
               long *count)
{
    *values = NULL;
    *count = 0;
    struct h5_dataset dataset;
    TRY(open_checked(store, name, &dataset));
    const int rc = scale_read(&dataset, grid, values, count);
    h5_dataset_close(&dataset);
    if (rc != 0) {
        mem_free(*values);
        *values = NULL;
    }
    return rc;
}

static int check_block(const struct h5_dataset *dataset, const int64_t *start,
                       const int64_t *count)
{
    for (int d = 0; d < dataset->dims; d++) {
        const int64_t origin = d == 0 ? dataset->origin : 0;
        if (start[d] < origin || count[d] < 0
            || start[d] - origin + count[d] > dataset->length[d])
            FAIL(
                ERR_ARGUMENT,
                "%s: %s: %lld values from %lld on along dimension %d, it has %lld from %lld on",
                dataset->path, dataset->name, (long long)count[d], (long long)start[d], d,
                (long long)dataset->length[d], (long long)origin);
    }
    return 0;
}

int read_block(struct store *store, const char *path, const int64_t *start,
               const int64_t *count, double *values)
{
    struct h5_dataset dataset;
    TRY(open_checked(store, path, &dataset));
    int rc = check_block(&dataset, start, count);
    if (rc == 0)
        rc = h5_read_double(&dataset, start, count, values);
    h5_dataset_close(&dataset);
    return rc;
}

static int rows_read(const struct h5_dataset *dataset, int64_t first, int64_t count,
                     long elements, double *values)
{
    int64_t start[H5_DIMS_MAX] = {first};
    int64_t block[H5_DIMS_MAX] = {count};
    int64_t total = count;
    for (int d = 1; d < dataset->dims; d++) {
        block[d] = dataset->length[d];
        total *= block[d];
    }
    TRY(check_block(dataset, start, block));
    if (total != elements)
        FAIL(ERR_ARGUMENT, "%s: %s has %lld values in %lld rows, %ld asked for", dataset->path,
             dataset->name, (long long)total, (long long)count, elements);
    return h5_read_double(dataset, start, block, values);
}

int read_rows(struct store *store, const char *path, int64_t first, int64_t count,
              long elements, double *values)
{
    struct h5_dataset dataset;
    TRY(open_checked(store, path, &dataset));
    const int rc = rows_read(&dataset, first, count, elements, values);
    h5_dataset_close(&dataset);
    return rc;
}

int read_attribute(struct store *store, const char *path, const char *name, char *text,
                   size_t size)
{
    TRY(exists_or_fail(store, path));
    const hid_t object = H5Oopen(store->file, path, H5P_DEFAULT);
    TRY_H5(object, store->path, path);
    const int rc = h5_get_text(object, store->path, name, text, size);
    H5Oclose(object);
    return rc;
}

static int text_read(const struct h5_dataset *dataset, int64_t row, char **text)
{
    if (dataset->kind != H5_TEXT)
        FAIL(ERR_ARGUMENT, "%s: %s holds numbers, not text", dataset->path, dataset->name);
    const int64_t at = row - dataset->origin;
    if (dataset->dims > 0 && (at < 0 || at >= dataset->length[0]))
        FAIL(ERR_ARGUMENT, "%s: row %lld of %s, which has %lld from %lld on", dataset->path,
             (long long)row, dataset->name, (long long)dataset->length[0],
             (long long)dataset->origin);
    TRY(MEM_NEW((long)dataset->size + 1, text));
    return h5_read_rows(dataset, row, 1, *text);
}

static int text_read_path(struct store *store, const char *path, int64_t row, char **text)
{
    *text = NULL;
    struct h5_dataset dataset;
    TRY(open_checked(store, path, &dataset));
    const int rc = text_read(&dataset, row, text);
    h5_dataset_close(&dataset);
    if (rc != 0) {
        mem_free(*text);
        *text = NULL;
    }
    return rc;
}

int read_text(struct store *store, const char *path, char **text)
{
    return text_read_path(store, path, 0, text);
}

int read_text_row(struct store *store, const char *path, int64_t row, char *text, size_t size)
{
    char *whole = NULL;
    TRY(text_read_path(store, path, row, &whole));
    snprintf(text, size, "%s", whole);
    mem_free(whole);
    return 0;
}
