/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stored planes beside computed ones, within rounding (R) and in the envelope's norm (T). */
#include "runner/verify_again.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/read.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "runner/judging.h"
#include "runner/plane_error.h"
#include "runner/rounding.h"

void again_clear(struct again *again)
{
    mem_free(again->judged);
    mem_free(again->plane[0]);
    mem_free(again->plane[1]);
    again->judged = NULL;
    again->plane[0] = again->plane[1] = NULL;
    again->room = 0;
}

static bool is_complex(const struct layout_array *array)
{
    return array->type == ELEMENT_C128 || array->type == ELEMENT_C64;
}

/* Elements as doubles; pairs of complex ones. @return false for a type that is not compared */
static bool as_doubles(const struct layout_array *array, const void *values, long n,
                       double *out)
{
    for (long i = 0; i < n; i++) {
        if (array->type == ELEMENT_F64 || array->type == ELEMENT_C128)
            out[i] = ((const double *)values)[i];
        else if (array->type == ELEMENT_F32 || array->type == ELEMENT_C64)
            out[i] = (double)((const float *)values)[i];
        else if (array->type == ELEMENT_I64)
            out[i] = (double)((const int64_t *)values)[i];
        else
            return false;
    }
    return true;
}

static int make_room(struct again *again, long n)
{
    if (n <= again->room)
        return 0;
    for (int i = 0; i < 2; i++) {
        mem_free(again->plane[i]);
        again->plane[i] = NULL;
        TRY(MEM_NEW(n, &again->plane[i]));
    }
    again->room = n;
    return 0;
}

static void keep(struct verify_offender *worst, const struct again *again, const char *what,
                 long plane, long index, double observed, double allowed)
{
    const double margin = observed == 0 ? 0 : observed / allowed; /* NaN stays */
    if (margin <= worst->margin)
        return;
    worst->member = again->member;
    worst->plane = plane;
    worst->index = index;
    worst->observed = observed;
    worst->allowed = allowed;
    worst->margin = isnan(margin) ? (double)INFINITY : margin;
    snprintf(worst->what, sizeof worst->what, "%.47s", what);
}

/* Stored narrowed numbers have their own rounding. */
static int narrowing_of(const struct again *again, const char *path, double peak, double *out)
{
    char reduced[16];
    TRY(read_attribute(again->v->store, path, "reduced", reduced, sizeof reduced));
    *out = reduced[0] != '\0'
               ? precision_roundoff(PRECISION_F32) * peak + precision_tiny(PRECISION_F32)
               : 0;
    return 0;
}

static int compare_rounding(struct again *again, const struct layout_array *array, long n,
                            const struct row_status *status, const char *path)
{
    const bool pairs = is_complex(array);
    const double peak = plane_error_peak(again->plane[1], n, pairs);
    double off = 0;
    double narrowing = 0;
    double allowed = 0;
    const double steps = (double)status->steps;
    TRY(narrowing_of(again, path, peak, &narrowing));
    for (long i = 0; !pairs && i < n; i++) {
        if (isnan(again->plane[0][i]) && isnan(again->plane[1][i]))
            continue;
        TRY(rounding_of_real(steps, peak, again->plane[1][i], &allowed));
        keep(&again->rounding, again, array->name, status->plane, i,
             fabs(again->plane[0][i] - again->plane[1][i]), allowed + narrowing);
    }
    if (!pairs)
        return 0;
    const long worst = plane_error_worst(again->plane[0], again->plane[1], n, pairs, &off);
    TRY(rounding_of_field(steps, peak, &allowed));
    keep(&again->rounding, again, array->name, status->plane, worst, off, allowed + narrowing);
    return 0;
}

/* In the norm of the envelope. */
static void compare_norm(struct again *again, const struct plane_layout *layout, int a, long n,
                         long plane)
{
    const struct layout_array *const array = &layout->array[a];
    int observable = -1;
    const enum envelope_norm norm = scan_envelope_norm(again->scan, &observable);
    const bool pairs = is_complex(array);
    double off = 0;
    if (!(again->bound > 0) || !again->judged[plane]
        || !judging_compares(again->scan, layout, a))
        return;
    const double error =
        norm == NORM_SPECTRUM_L2
            ? plane_error_power(again->plane[0], again->plane[1], n)
            : plane_error_l2(again->plane[0], again->plane[1], pairs ? 2 * n : n);
    keep(&again->difference, again, array->name, plane,
         plane_error_worst(again->plane[0], again->plane[1], n, pairs, &off), error,
         again->bound);
}

static int compare_array(struct again *again, const struct plane_layout *layout, int a,
                         const struct row_status *status, const void *values)
{
    const struct layout_array *const array = &layout->array[a];
    const long n = layout_array_count(layout, a);
    const long doubles = is_complex(array) ? 2 * n : n;
    char path[READ_NAME_SIZE + 8];
    snprintf(path, sizeof path, "plane/%s", array->name);
    if (!read_exists(again->v->store, path))
        return 0;
    TRY(make_room(again, doubles));
    if (!as_doubles(array, values, doubles, again->plane[1]))
        return 0;
    TRY(store_read_plane(again->v->store, array->name, again->member, status->plane, n,
                         again->plane[0]));
    again->compared = true;
    TRY(compare_rounding(again, array, n, status, path));
    compare_norm(again, layout, a, n, status->plane);
    return 0;
}

/* A number of a plane: sums over its bins, after so many steps. */
static int compare_number(struct again *again, int i, const struct row_status *status,
                          const double *values)
{
    const struct model_info *const model = scan_model(again->scan)->info;
    const struct observable_info *const info = &model->observables[i];
    const double value = values[i];
    int observable = -1;
    char path[READ_NAME_SIZE + 8];
    const int64_t start[2] = {again->member, status->plane};
    const int64_t count[2] = {1, 1};
    double stored = 0;
    double allowed = 0;
    snprintf(path, sizeof path, "plane/%s", info->name);
    if (!read_exists(again->v->store, path))
        return 0;
    TRY(read_block(again->v->store, path, start, count, &stored));
    if (isnan(stored) && isnan(value))
        return 0;
    again->compared = true;
    TRY(rounding_of_number((double)status->steps, model, values, i, &allowed));
    keep(&again->rounding, again, info->name, status->plane, -1, fabs(stored - value), allowed);
    if (scan_envelope_norm(again->scan, &observable) == NORM_OBSERVABLE && observable == i
        && again->bound > 0 && again->judged[status->plane])
        keep(&again->difference, again, info->name, status->plane, -1,
             plane_error_number(stored, value), again->bound);
    return 0;
}

int again_plane(void *context, const struct plane_layout *layout,
                const struct row_status *status, const struct plane_buffers *buffers)
{
    struct again *const again = context;
    for (int a = 0; a < layout->arrays; a++)
        if (buffers->array[a] != NULL)
            TRY(compare_array(again, layout, a, status, buffers->array[a]));
    for (int i = 0; i < layout->observables; i++)
        TRY(compare_number(again, i, status, buffers->observable));
    return 0;
}
