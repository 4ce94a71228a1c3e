/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runner/rounding.h"

#include <math.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"

int rounding_of_field(double steps, double peak, double *out)
{
    double one = 0;
    *out = 0;
    if (!(peak > 0) || !isfinite(peak))
        return 0;
    TRY(bound_steps(1, peak, &one));
    *out = fmax(steps, 1) * one;
    return 0;
}

/* What v is a part of. */
static double whole_of(const struct model_info *info, const double *value, int index)
{
    const double v = fabs(value[index]);
    const char *const unit = info->observables[index].unit;
    if (strcmp(unit, "1") == 0)
        return fmax(1, v);
    double whole = v / bound(BOUND_weak_bin);
    for (int i = 0; i < info->observable_count; i++)
        if (isfinite(value[i]) && strcmp(info->observables[i].unit, unit) == 0)
            whole = fmax(whole, fabs(value[i]));
    return whole;
}

/* v out of a whole, both > 0, of a field known to eta. */
static double of_part(double eta, double v, double whole)
{
    return bound(BOUND_observable) * v + 2 * eta * sqrt(v * whole) + eta * eta * whole;
}

int rounding_of_number(double steps, const struct model_info *info, const double *value,
                       int index, double *out)
{
    const double v = fabs(value[index]);
    double eta = 0;
    *out = 0;
    if (!(v > 0) || !isfinite(v))
        return 0;
    TRY(rounding_of_field(steps, 1, &eta));
    *out = of_part(eta, v, whole_of(info, value, index));
    return 0;
}

int rounding_of_real(double steps, double peak, double value, double *out)
{
    const double v = fabs(value);
    double eta = 0;
    TRY(rounding_of_field(steps, 1, &eta));
    TRY(rounding_of_field(steps, peak, out));
    if (isfinite(v))
        *out = fmax(*out, of_part(eta, v, v / bound(BOUND_weak_bin)));
    return 0;
}
