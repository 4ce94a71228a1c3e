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

int rounding_of_number(double steps, double value, const char *unit, double *out)
{
    const double v = fabs(value);
    double eta = 0;
    *out = 0;
    if (!(v > 0) || !isfinite(v))
        return 0;
    TRY(rounding_of_field(steps, 1, &eta));
    const double whole = strcmp(unit, "1") == 0 ? fmax(1, v) : v / bound(BOUND_weak_bin);
    *out = bound(BOUND_observable) * v + 2 * eta * sqrt(v * whole) + eta * eta * whole;
    return 0;
}
