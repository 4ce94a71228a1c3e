/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/adaptive.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/until.h"
#include "kernels/base/log.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/sequential.h"
#include "runner/spec.h"

_Static_assert(SCAN_UNTIL_LEAST == SEQUENTIAL_LEAST, "one least number of realisations");

bool adaptive_is_on(const struct scan *scan)
{
    return scan_get_ensemble(scan)->until.kind != UNTIL_NONE;
}

int adaptive_looks(const struct scan *scan, int look, int64_t *count)
{
    const struct scan_until *const until = &scan_get_ensemble(scan)->until;
    const struct sequential_rule rule = {
        .error = until->error, .min = until->min, .max = until->max};
    *count = sequential_count(&rule, look);
    return sequential_looks(&rule);
}

/* The array of which a spectrum is made, -1: the model saves none. */
static int find_spectrum(const struct plane_layout *layout)
{
    for (int a = 0; a < layout->arrays; a++) {
        const struct layout_array *const array = &layout->array[a];
        if (array->is_field && array->dims == 1
            && (array->type == ELEMENT_C128 || array->type == ELEMENT_C64))
            return a;
    }
    return -1;
}

/* Frequencies of a grid that lie in the band. @param omega scratch, [length] */
static int count_band(const struct scan *scan, const struct params *point, int axis,
                      long length, double *omega, long *count)
{
    const double *const band = scan_get_ensemble(scan)->until.band;
    const double c = 299792458.0; /* m/s, exact (SI) */
    *count = 0;
    TRY(scan_model(scan)->axis(point, axis, omega));
    for (long k = 0; k < length; k++)
        *count += omega[k] >= 2 * M_PI * c / band[1] && omega[k] <= 2 * M_PI * c / band[0];
    return 0;
}

static int check_grid(const struct scan *scan, struct params *point, int64_t grid, int array,
                      long *count)
{
    struct plane_layout layout;
    double *omega = NULL;
    scan_point(scan, scan_grid_point(scan, grid), point);
    TRY(scan_model(scan)->layout(point, &layout));
    const int axis = layout.array[array].axis[0];
    TRY(MEM_NEW(layout.axis[axis].length, &omega));
    const int rc = count_band(scan, point, axis, layout.axis[axis].length, omega, count);
    mem_free(omega);
    return rc;
}

static int check_band(const struct scan *scan, const struct plane_layout *layout, int array)
{
    struct params point;
    char text[200];
    int rc = 0;
    if (strcmp(layout->axis[layout->array[array].axis[0]].name, "omega") != 0)
        return scan_fail(scan, ERR_PARSE,
                         "ensemble.until.band: the model's spectrum has no axis omega");
    TRY(scan_params_init(scan, &point));
    for (int64_t grid = 0; rc == 0 && grid < scan_grids(scan); grid++) {
        long count = 0;
        rc = check_grid(scan, &point, grid, array, &count);
        if (rc == 0 && count == 0) {
            snprintf(text, sizeof text,
                     "ensemble.until.band: the grid of point %" PRId64
                     " has no frequency in it",
                     scan_grid_point(scan, grid));
            rc = scan_fail(scan, ERR_PARSE, text);
        }
    }
    params_clear(&point);
    return rc;
}

int adaptive_check_layout(const struct scan *scan, const struct plane_layout *layout)
{
    const struct scan_until *const until = &scan_get_ensemble(scan)->until;
    char text[200];
    if (until->kind == UNTIL_NONE || until->kind == UNTIL_OBSERVABLE)
        return 0;
    const int array = find_spectrum(layout);
    if (array < 0) {
        snprintf(text, sizeof text,
                 "ensemble.until.quantity: model %s saves no spectrum for %s",
                 scan_model(scan)->info->name, until->quantity);
        return scan_fail(scan, ERR_PARSE, text);
    }
    return until->banded ? check_band(scan, layout, array) : 0;
}

int adaptive_check_shards(const struct scan *scan, long shards)
{
    if (!adaptive_is_on(scan) || shards < 2)
        return 0;
    return scan_fail(
        scan, ERR_UNSUPPORTED,
        "ensemble.until: a scan in shards cannot decide it, members of a point may "
        "lie in several; run it whole, or give realisations");
}

int adaptive_check_options(const struct scan *scan, const struct run_options *options)
{
    if (!adaptive_is_on(scan))
        return 0;
    TRY(adaptive_check_shards(scan, options->shards));
    if (!options->reduce)
        return scan_fail(scan, ERR_UNSUPPORTED,
                         "ensemble.until: it is decided by reductions, leave out --no-reduce");
    if (options->only != NULL)
        return scan_fail(scan, ERR_UNSUPPORTED,
                         "ensemble.until: which members are needed is its decision, leave out "
                         "--only");
    return 0;
}

int adaptive_prepare(const struct prepared *p)
{
    struct store *store = NULL;
    int64_t reopened = 0;
    if (!adaptive_is_on(p->scan))
        return 0;
    TRY(store_open(p->options->file, &store));
    const int rc = until_prepare(store, &reopened);
    const int closed = store_close(store);
    TRY(rc);
    TRY(closed);
    if (reopened == 0)
        return 0;
    log_info("%" PRId64 " member%s may be needed after all: members before them are computed "
             "again",
             reopened, reopened == 1 ? "" : "s");
    return store_finish(p->options->file, -1, 0, ""); /* it is not complete */
}
