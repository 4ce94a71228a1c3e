/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/step/control.h"

#include <math.h>

#define STEP_SAFETY 0.9
#define STEP_GROW   5.0
#define STEP_SHRINK 0.2

double step_factor(double err)
{
    if (err == 0.0)
        return STEP_GROW;
    return fmin(STEP_GROW, fmax(STEP_SHRINK, STEP_SAFETY * pow(err, -0.2)));
}

double step_first(const struct step_control *control, double field, double slope)
{
    if (control->first_step > 0.0)
        return control->first_step;
    if (slope == 0.0)
        return (double)INFINITY;
    if (field == 0.0)
        return 1e-3 * control->length;
    const double tolerance = control->rtol + control->atol / field;
    return pow(fmin(tolerance, 1.0), 0.2) * field / slope;
}

double step_length(const struct step_plan *plan, const struct step_control *control,
                   double remaining, double guard, bool *lands)
{
    const double h = fmin(plan->natural, guard);
    /* What would be left is too short for a step of its own. */
    *lands = !(h < remaining - STEP_MINIMUM * control->length);
    return *lands ? remaining : h;
}

void step_accepted(struct step_plan *plan, double h, double err)
{
    const double factor = plan->rejected ? fmin(1.0, step_factor(err)) : step_factor(err);
    const double next = h * factor;
    const bool shortened = h < plan->natural;
    plan->rejected = false;
    plan->natural = shortened && factor >= 1.0 ? fmax(plan->natural, next) : next;
}

void step_rejected(struct step_plan *plan, double h, double err)
{
    plan->natural = h * step_factor(err);
    plan->rejected = true;
}

double step_error_l2(const struct step_control *control, double e2, double y2, double new2)
{
    if (e2 == 0.0)
        return 0.0;
    return sqrt(e2) / (control->rtol * sqrt(fmax(y2, new2)) + control->atol);
}
