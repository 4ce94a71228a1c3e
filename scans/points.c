/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/status.h"
#include "scans/internal.h"

int scan_axes(const struct scan *scan)
{
    return scan->axes;
}

const struct scan_axis *scan_get_axis(const struct scan *scan, int axis)
{
    return &scan->axis[axis];
}

double scan_axis_value(const struct scan *scan, int axis, int param, int64_t index)
{
    return axis_values_at(&scan->values[axis][param], index);
}

const char *scan_axis_written(const struct scan *scan, int axis, int param)
{
    return scan->values[axis][param].written;
}

int64_t scan_points(const struct scan *scan)
{
    return scan->points;
}

int64_t scan_realisations(const struct scan *scan)
{
    return scan->realisations;
}

int64_t scan_members(const struct scan *scan)
{
    return scan->members;
}

void scan_point_indices(const struct scan *scan, int64_t point, int64_t *index)
{
    for (int a = scan->axes - 1; a >= 0; a--) {
        index[a] = point % scan->axis[a].length;
        point /= scan->axis[a].length;
    }
}

int scan_params_init(const struct scan *scan, struct params *out)
{
    return params_init(out, scan->info->params, scan->info->param_count);
}

void scan_point(const struct scan *scan, int64_t point, struct params *out)
{
    params_copy(out, &scan->base);
    out->planes = scan->save.planes;
    for (int a = scan->axes - 1; a >= 0; a--) {
        const struct scan_axis *axis = &scan->axis[a];
        const int64_t index = point % axis->length;
        point /= axis->length;
        for (int k = 0; k < axis->params; k++)
            axis_values_set(&scan->values[a][k], index, &out->values[axis->param[k].param]);
    }
}

/* Keys over the axes that scan a parameter with one of these flags */

static bool axis_has(const struct scan *scan, int axis, unsigned flags)
{
    for (int k = 0; k < scan->axis[axis].params; k++)
        if ((scan->info->params[scan->axis[axis].param[k].param].flags & flags) != 0)
            return true;
    return false;
}

static int64_t key_count(const struct scan *scan, unsigned flags)
{
    int64_t count = 1;
    for (int a = 0; a < scan->axes; a++)
        if (axis_has(scan, a, flags))
            count *= scan->axis[a].length;
    return count;
}

static int64_t key_of(const struct scan *scan, unsigned flags, int64_t point)
{
    int64_t key = 0;
    int64_t weight = 1;
    for (int a = scan->axes - 1; a >= 0; a--) {
        const int64_t index = point % scan->axis[a].length;
        point /= scan->axis[a].length;
        if (!axis_has(scan, a, flags))
            continue;
        key += index * weight;
        weight *= scan->axis[a].length;
    }
    return key;
}

/* The first point of a key: index 0 on all other axes. */
static int64_t key_point(const struct scan *scan, unsigned flags, int64_t key)
{
    int64_t point = 0;
    int64_t weight = 1;
    for (int a = scan->axes - 1; a >= 0; a--) {
        if (axis_has(scan, a, flags)) {
            point += key % scan->axis[a].length * weight;
            key /= scan->axis[a].length;
        }
        weight *= scan->axis[a].length;
    }
    return point;
}

int64_t scan_grids(const struct scan *scan)
{
    return key_count(scan, PARAM_GRID);
}

int64_t scan_grid_of(const struct scan *scan, int64_t point)
{
    return key_of(scan, PARAM_GRID, point);
}

int64_t scan_grid_point(const struct scan *scan, int64_t grid)
{
    return key_point(scan, PARAM_GRID, grid);
}

int64_t scan_structures(const struct scan *scan)
{
    return key_count(scan, PARAM_STRUCTURAL);
}

int64_t scan_structure_of(const struct scan *scan, int64_t point)
{
    return key_of(scan, PARAM_STRUCTURAL, point);
}

int64_t scan_structure_point(const struct scan *scan, int64_t structure)
{
    return key_point(scan, PARAM_STRUCTURAL, structure);
}

int64_t scan_shapes(const struct scan *scan)
{
    return key_count(scan, PARAM_GRID | PARAM_STRUCTURAL);
}

int64_t scan_shape_point(const struct scan *scan, int64_t shape)
{
    return key_point(scan, PARAM_GRID | PARAM_STRUCTURAL, shape);
}
