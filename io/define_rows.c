/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/define_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/h5.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

#define BLOCK 8192 /* members or indices handled at a time */

static int64_t block_length(int64_t first, int64_t total)
{
    return total - first < BLOCK ? total - first : BLOCK;
}

static int write_named(int64_t file, const char *path, const char *name, int64_t first,
                       int64_t count, const void *values)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(file, path, name, &dataset));
    const int rc = h5_write_rows(&dataset, first, count, values);
    h5_dataset_close(&dataset);
    return rc;
}

static int define_index(int64_t file, const char *path, const struct store_spec *spec,
                        const struct schema_entry *entry)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(file, path, entry->path, &dataset));
    int64_t values[BLOCK];
    int rc = 0;
    const int64_t origin = strcmp(entry->path, SCHEMA_MEMBER_ID) == 0 ? schema_first(spec) : 0;
    for (int64_t first = 0; first < entry->length[0]; first += BLOCK) {
        const int64_t count = block_length(first, entry->length[0]);
        for (int64_t i = 0; i < count; i++)
            values[i] = origin + first + i;
        TRY_OR(rc, done, h5_write_rows(&dataset, first, count, values));
    }
done:
    h5_dataset_close(&dataset);
    return rc;
}

/* One axis of the layout in one grid; beyond its valid length NaN. */
static int define_axis(int64_t file, const char *path, const struct store_spec *spec, int axis)
{
    const struct layout_axis *const info = &spec->layout->axis[axis];
    const long whole = spec->layout->axis[info->dimension].length;
    double *values = NULL;
    TRY(MEM_NEW(whole, &values));
    int rc = 0;
    for (int64_t grid = 0; grid < spec->grids; grid++) {
        const long valid = spec->grid_layout[grid].axis[info->dimension].length;
        if (valid > whole) {
            rc = status_fail(ERR_BUG, "axis %s of grid %lld has %ld values, more than %ld",
                             info->name, (long long)grid, valid, whole);
            goto done;
        }
        TRY_OR(rc, done, spec->axis_values(spec->context, grid, axis, values));
        for (long i = valid; i < whole; i++)
            values[i] = (double)NAN;
        if (spec->grids > 1)
            TRY_OR(rc, done, write_named(file, path, info->name, grid, 1, values));
        else
            TRY_OR(rc, done, write_named(file, path, info->name, 0, whole, values));
    }
done:
    mem_free(values);
    return rc;
}

int define_scales(int64_t file, const char *path, const struct schema *schema,
                  const struct store_spec *spec)
{
    for (int i = 0; i < schema->count; i++)
        if (schema->entry[i].scale && schema->entry[i].kind == H5_I64)
            TRY(define_index(file, path, spec, &schema->entry[i]));
    for (int p = 0; p < spec->params; p++) {
        char name[SCHEMA_NAME_MAX];
        schema_param_name(&spec->param[p], "_values", name, sizeof name);
        TRY(write_named(file, path, name, 0, spec->axis_length[spec->param[p].axis],
                        spec->param[p].values));
    }
    for (int a = 0; a < spec->layout->axes; a++)
        TRY(define_axis(file, path, spec, a));
    return 0;
}

static int write_text(int64_t file, const char *path, const char *name, int64_t row,
                      const char *text)
{
    struct h5_dataset dataset;
    TRY(h5_dataset_open(file, path, name, &dataset));
    char *padded = NULL;
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW((long)dataset.size + 1, &padded));
    snprintf(padded, dataset.size + 1, "%s", text);
    TRY_OR(rc, done, h5_write_rows(&dataset, row, 1, padded));
done:
    mem_free(padded);
    h5_dataset_close(&dataset);
    return rc;
}

static int define_bounds(int64_t file, const char *path, const struct model_info *model)
{
    static const char *const classes[] = {"P", "R", "T", "N"};
    for (int i = 0; i < model->bound_count; i++) {
        const struct bound_info *const bound = &model->bounds[i];
        TRY(write_text(file, path, "provenance/bounds/quantity", i, bound->quantity));
        TRY(write_text(file, path, "provenance/bounds/class", i, classes[bound->class]));
        TRY(write_text(file, path, "provenance/bounds/norm", i, bound->norm));
        TRY(write_text(file, path, "provenance/bounds/rule", i, bound->rule));
        TRY(write_text(file, path, "provenance/bounds/source", i, bound->source));
    }
    return 0;
}

int define_texts(int64_t file, const char *path, const struct store_spec *spec)
{
    /* Not a C string: a scan file may hold any byte that YAML allows. */
    TRY(write_named(file, path, "config", 0, 1,
                    spec->config_length > 0 ? (const void *)spec->config : ""));
    TRY(write_named(file, path, "config_canonical", 0, 1, spec->config_canonical));
    return define_bounds(file, path, spec->model);
}

/* Buffers of a block of members. */
struct member_block {
    int64_t origin; /* member of the first row */
    struct store_member_row row[BLOCK];
    int32_t index[BLOCK];
    uint64_t pair[BLOCK][2];
    int64_t integer[BLOCK];
    double real[BLOCK];
    int32_t *point; /* [BLOCK][axes] */
};

/* Index of a point on an axis: mixed radix, last axis fastest. */
static int64_t point_index(const struct store_spec *spec, int64_t point, int axis)
{
    for (int a = spec->axes - 1; a > axis; a--)
        point /= spec->axis_length[a];
    return point % spec->axis_length[axis];
}

static int write_keys(int64_t file, const char *path, struct member_block *block, int64_t first,
                      int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(block->pair[i], block->row[i].identity, sizeof block->pair[i]);
    TRY(write_named(file, path, "member/identity", first - block->origin, count, block->pair));
    for (int64_t i = 0; i < count; i++) {
        block->pair[i][0] = block->row[i].point_key;
        block->pair[i][1] = (uint64_t)block->row[i].realisation;
    }
    TRY(write_named(file, path, "member/seed", first - block->origin, count, block->pair));
    for (int64_t i = 0; i < count; i++)
        block->integer[i] = block->row[i].grid;
    return write_named(file, path, "member/grid", first - block->origin, count, block->integer);
}

static int write_points(int64_t file, const char *path, const struct store_spec *spec,
                        struct member_block *block, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int a = 0; a < spec->axes; a++)
            block->point[i * spec->axes + a] =
                (int32_t)point_index(spec, (first + i) / spec->realisations, a);
    if (spec->axes > 0)
        TRY(write_named(file, path, "member/point", first - block->origin, count,
                        block->point));
    for (int p = 0; p < spec->params; p++) {
        const struct store_param *const param = &spec->param[p];
        char short_name[SCHEMA_NAME_MAX];
        schema_param_name(param, "", short_name, sizeof short_name);
        char name[SCHEMA_NAME_MAX + 16];
        snprintf(name, sizeof name, "member/param/%s", short_name);
        for (int64_t i = 0; i < count; i++)
            block->real[i] = param->values[block->point[i * spec->axes + param->axis]];
        TRY(write_named(file, path, name, first - block->origin, count, block->real));
    }
    return 0;
}

static int write_lengths(int64_t file, const char *path, const struct store_spec *spec,
                         struct member_block *block, int64_t first, int64_t count)
{
    for (int a = 0; a < spec->layout->axes; a++) {
        if (spec->layout->axis[a].dimension != a)
            continue;
        for (int64_t i = 0; i < count; i++)
            block->integer[i] = spec->grid_layout[block->row[i].grid].axis[a].length;
        char name[SCHEMA_NAME_MAX];
        snprintf(name, sizeof name, "member/n_%s", spec->layout->axis[a].name);
        TRY(write_named(file, path, name, first - block->origin, count, block->integer));
    }
    return 0;
}

static int define_block(int64_t file, const char *path, const struct store_spec *spec,
                        struct member_block *block, int64_t first, int64_t count)
{
    TRY(spec->member_rows(spec->context, first, count, block->row));
    for (int64_t i = 0; i < count; i++)
        if (block->row[i].grid < 0 || block->row[i].grid >= spec->grids)
            FAIL(ERR_BUG, "member %lld has grid %lld of %lld", (long long)(first + i),
                 (long long)block->row[i].grid, (long long)spec->grids);
    TRY(write_keys(file, path, block, first, count));
    TRY(write_points(file, path, spec, block, first, count));
    return write_lengths(file, path, spec, block, first, count);
}

int define_members(int64_t file, const char *path, const struct store_spec *spec)
{
    struct member_block *block = NULL;
    TRY(MEM_NEW(1, &block));
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW((long)BLOCK * (spec->axes + 1), &block->point));
    block->origin = schema_first(spec);
    const int64_t end = block->origin + schema_members(spec);
    for (int64_t first = block->origin; first < end; first += BLOCK)
        TRY_OR(rc, done,
               define_block(file, path, spec, block, first, block_length(first, end)));
done:
    mem_free(block->point);
    mem_free(block);
    return rc;
}
