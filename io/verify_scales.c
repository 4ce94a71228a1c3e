/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scales in the root: order and values as the configuration gives them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "io/verify_private.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"

#define BLOCK 4096 /* indices read at a time */

/* The distance that two evaluations of a scale may have: a part of its step. */
static double step_of(const double *values, long n)
{
    double least = (double)INFINITY;
    for (long i = 1; i < n; i++)
        if (fabs(values[i] - values[i - 1]) > 0)
            least = fmin(least, fabs(values[i] - values[i - 1]));
    return isfinite(least) ? least : 1;
}

static void compare(struct verify_report *report, const char *name, const double *got,
                    const double *want, long n, double allowed)
{
    for (long i = 0; i < n; i++) {
        report->kind[VERIFY_AXES].checked++;
        if (!(fabs(got[i] - want[i]) <= allowed)) {
            verify_break(report, VERIFY_AXES,
                         "scale %s: value %ld is %.17g, it should be %.17g", name, i, got[i],
                         want[i]);
            return;
        }
    }
}

/* A scale of the model on one grid. */
static int check_axis(struct store *store, const struct store_spec *spec, int64_t grid,
                      int axis, struct verify_report *report)
{
    const struct layout_axis *const a = &spec->grid_layout[grid].axis[axis];
    double *got = NULL;
    double *want = NULL;
    long count = 0;
    int rc = 0;
    if (!read_exists(store, a->name))
        return 0;
    TRY(read_scale(store, a->name, grid, &got, &count));
    TRY_OR(rc, done, MEM_NEW(a->length, &want));
    TRY_OR(rc, done, spec->axis_values(spec->context, grid, axis, want));
    if (count < a->length)
        verify_break(report, VERIFY_AXES, "scale %s has %ld values, grid %" PRId64 " has %ld",
                     a->name, count, grid, a->length);
    else
        compare(report, a->name, got, want, a->length,
                bound(BOUND_same_grid) * step_of(want, a->length));
done:
    mem_free(got);
    mem_free(want);
    return rc;
}

/* A scanned parameter: its values are those of the canonical form, bit for bit. */
static int check_param(struct store *store, const struct store_spec *spec,
                       const struct store_param *param, struct verify_report *report)
{
    char name[SCHEMA_NAME_MAX];
    double *got = NULL;
    long count = 0;
    schema_param_name(param, "_values", name, sizeof name);
    TRY(read_scale(store, name, 0, &got, &count));
    const int64_t length = spec->axis_length[param->axis];
    if (count != length)
        verify_break(report, VERIFY_AXES, "scale %s has %ld values, its axis has %" PRId64,
                     name, count, length);
    else
        compare(report, name, got, param->values, count, 0);
    mem_free(got);
    return 0;
}

/* Indices: each value is its place. */
static int check_index(const struct store *store, const struct schema_entry *entry,
                       struct verify_report *report)
{
    int64_t values[BLOCK];
    struct h5_dataset dataset;
    int rc = 0;
    TRY(h5_dataset_open(store->file, store->path, entry->path, &dataset));
    for (int64_t first = 0; first < entry->length[0]; first += BLOCK) {
        const int64_t left = entry->length[0] - first;
        const int64_t count = left < BLOCK ? left : BLOCK;
        TRY_OR(rc, done, h5_read_rows(&dataset, first, count, values));
        for (int64_t i = 0; i < count; i++) {
            report->kind[VERIFY_AXES].checked++;
            if (values[i] == first + i)
                continue;
            verify_break(report, VERIFY_AXES,
                         "scale %s: value %" PRId64 " is %" PRId64 ", it should be %" PRId64,
                         entry->path, first + i, values[i], first + i);
            goto done;
        }
    }
done:
    h5_dataset_close(&dataset);
    return rc;
}

static int check_indices(const struct store *store, const struct store_spec *spec,
                         struct verify_report *report)
{
    struct schema schema;
    int rc = 0;
    TRY(schema_init(spec, &schema));
    for (int i = 0; rc == 0 && i < schema.count; i++) {
        const struct schema_entry *const entry = &schema.entry[i];
        /* those of members are looked at row by row, with their points */
        const bool ids = strcmp(entry->path, SCHEMA_MEMBER_ID) == 0;
        if (entry->scale && entry->kind == H5_I64 && !ids && !store_skips_entry(store, entry))
            rc = check_index(store, entry, report);
    }
    schema_clear(&schema);
    return rc;
}

int verify_scales(struct store *store, const struct store_spec *spec,
                  struct verify_report *report)
{
    TRY(check_indices(store, spec, report));
    for (int p = 0; p < spec->params; p++)
        TRY(check_param(store, spec, &spec->param[p], report));
    for (int64_t g = 0; g < spec->grids; g++)
        for (int a = 0; a < spec->layout->axes; a++)
            TRY(check_axis(store, spec, g, a, report));
    return 0;
}
