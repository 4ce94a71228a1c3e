/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/gradient.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/numeric/chebyshev.h"

/* Of the density table: far below what an equation of state knows, above rounding. */
#define TABLE_TOLERANCE bound(BOUND_gradient_table)
#define TABLE_BUDGET    256

static int check_points(const struct gradient_points *points, const char *name,
                        const char *unit)
{
    if (points->count < 1 || points->count > GRADIENT_POINTS)
        FAIL(ERR_ARGUMENT, "%s: %d points given; 1 to %d are accepted", name, points->count,
             GRADIENT_POINTS);
    for (int i = 0; i < points->count; i++) {
        if (!(points->value[i] >= 0.0 && isfinite(points->value[i])))
            FAIL(ERR_ARGUMENT, "%s: %g %s at point %d; it must be finite and not negative",
                 name, points->value[i], unit, i);
        if (!isfinite(points->z[i]) || (i > 0 && !(points->z[i] > points->z[i - 1])))
            FAIL(ERR_ARGUMENT, "%s.z: point %d is at %g m; positions must ascend", name, i,
                 points->z[i]);
    }
    return 0;
}

/* rho/p at a pressure; its limit at none. */
static int compressed(const struct mixture *gas, double pressure, double *ratio)
{
    struct eos_density density;
    TRY(mixture_density(gas, pressure, &density));
    *ratio = pressure > 0.0 ? density.rho / pressure : density.drhodp;
    return 0;
}

static int sample_ratio(const void *context, const double *x, double *y, long n)
{
    for (long i = 0; i < n; i++)
        TRY(compressed(context, x[i], &y[i]));
    return 0;
}

static int make_table(struct gradient *g, const struct mixture *gas)
{
    double low = g->pressure.value[0];
    double high = low;
    for (int i = 1; i < g->pressure.count; i++) {
        low = fmin(low, g->pressure.value[i]);
        high = fmax(high, g->pressure.value[i]);
    }
    if (gas->request.model == DENSITY_IDEAL)
        return compressed(gas, high, &g->ideal);
    if (low == high)
        return compressed(gas, high, &g->constant);
    const struct chebyshev_request request = {.low = low,
                                              .high = high,
                                              .tolerance = TABLE_TOLERANCE,
                                              .budget = TABLE_BUDGET,
                                              .sample = sample_ratio,
                                              .context = gas,
                                              .name = "density over pressure"};
    TRY(chebyshev_create(&request, &g->table));
    g->error = chebyshev_error(g->table);
    return 0;
}

/* The pressures as they are given, so that a refusal names them, not a node between them. */
static int check_pressures(const struct mixture *gas, const struct gradient_points *pressure)
{
    struct eos_density density;
    for (int i = 0; i < pressure->count; i++)
        TRY(mixture_density(gas, pressure->value[i], &density));
    return 0;
}

int gradient_init(struct gradient *out, const struct gradient_points *pressure,
                  const struct gradient_points *radius, const struct mixture *gas)
{
    *out = (struct gradient){.pressure = *pressure, .radius = *radius};
    TRY(check_points(pressure, "pressure", "Pa"));
    TRY(check_pressures(gas, pressure));
    TRY(check_points(radius, "core_radius", "m"));
    for (int i = 0; i < radius->count; i++)
        if (!(radius->value[i] > 0.0))
            FAIL(ERR_ARGUMENT, "core_radius: %g m at point %d; it must be positive",
                 radius->value[i], i);
    for (int i = 0; i < pressure->count; i++)
        out->square[i] = pressure->value[i] * pressure->value[i];
    return make_table(out, gas);
}

void gradient_clear(struct gradient *gradient)
{
    chebyshev_destroy(gradient->table);
    *gradient = (struct gradient){0};
}
