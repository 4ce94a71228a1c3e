/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_terms.h"

#include <math.h>

#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/constants.h"

static double power(double x, int n)
{
    double y = 1.0;
    for (int i = 0; i < n; i++)
        y *= x;
    return y;
}

/* Powers of density and 1/radius in a term. */
static void powers(enum term_function function, int *of_rho, int *of_radius)
{
    *of_rho =
        function >= TERM_RHO && function <= TERM_RHO3 ? (int)(function - TERM_RHO) + 1 : 0;
    *of_radius = function >= TERM_A2 ? (int)(function - TERM_A2) + 2 : 0;
    if (function == TERM_RHO_A2) {
        *of_rho = 1;
        *of_radius = 2;
    }
}

/* Powers at a place, or their integrals, less what the nodes chosen so far tell. */
static void reduce(const struct term_set *set, int chosen, double *values)
{
    for (int j = 0; j < chosen; j++) {
        const double factor = values[j] / set->upper[j][j];
        for (int k = j + 1; k < set->choice.count; k++)
            values[k] -= factor * set->upper[j][k];
    }
}

static void powers_at(const struct term_set *set, struct guide_place at, double *values)
{
    for (int j = 0; j < set->choice.count; j++) {
        int of_rho = 0;
        int of_radius = 0;
        powers(set->choice.function[j], &of_rho, &of_radius);
        values[j] =
            power(at.rho / set->rho, of_rho) * power(set->radius / at.radius, of_radius);
    }
}

void term_set_weights(const struct term_set *set, struct guide_place at, double *weights)
{
    powers_at(set, at, weights);
    if (set->newton)
        reduce(set, set->choice.count, weights);
}

void term_set_integrals(const struct term_set *set, const struct gradient_values *values,
                        double dz, double *integrals)
{
    /* by the power of 1/radius */
    const double inverse[5] = {0.0, 0.0, values->inverse_square_dz, values->inverse_cube_dz,
                               values->inverse_fourth_dz};
    for (int j = 0; j < set->choice.count; j++) {
        int of_rho = 0;
        int of_radius = 0;
        powers(set->choice.function[j], &of_rho, &of_radius);
        integrals[j] = dz;
        if (of_rho > 0)
            integrals[j] = values->rho_dz[of_rho - 1] * power(1.0 / set->rho, of_rho);
        if (of_radius > 0)
            integrals[j] = inverse[of_radius] * power(set->radius, of_radius);
        if (of_rho > 0 && of_radius > 0)
            integrals[j] = values->rho_inverse_square_dz / set->rho * power(set->radius, 2);
    }
    if (set->newton)
        reduce(set, set->choice.count, integrals);
}

static void swap_rows(double (*a)[2 * CAPILLARY_TERMS], int i, int k)
{
    for (int j = 0; j < 2 * CAPILLARY_TERMS; j++) {
        const double kept = a[i][j];
        a[i][j] = a[k][j];
        a[k][j] = kept;
    }
}

/* Take column j out of all rows but its own. */
static void eliminate(double (*a)[2 * CAPILLARY_TERMS], int n, int j)
{
    const double pivot = a[j][j];
    for (int k = 0; k < 2 * CAPILLARY_TERMS; k++)
        a[j][k] /= pivot;
    for (int i = 0; i < n; i++) {
        const double factor = a[i][j];
        for (int k = 0; i != j && k < 2 * CAPILLARY_TERMS; k++)
            a[i][k] -= factor * a[j][k];
    }
}

bool term_set_solve(struct term_set *out)
{
    const int n = out->choice.count;
    double a[CAPILLARY_TERMS][2 * CAPILLARY_TERMS] = {{0.0}};
    for (int i = 0; i < n; i++) {
        term_set_weights(out, out->node[i], a[i]);
        a[i][CAPILLARY_TERMS + i] = 1.0;
    }
    for (int j = 0; j < n; j++) {
        int best = j;
        for (int i = j + 1; i < n; i++)
            if (fabs(a[i][j]) > fabs(a[best][j]))
                best = i;
        if (!(fabs(a[best][j]) > bound(BOUND_pivot)))
            return false;
        swap_rows(a, j, best);
        eliminate(a, n, j);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out->inverse[i][j] = a[i][CAPILLARY_TERMS + j];
    return true;
}

/* What a term changes with: density or 1/radius. */
static double variable(enum term_function function, struct guide_place at)
{
    return function >= TERM_A2 ? 1.0 / at.radius : at.rho;
}

/* Powers of one variable: the places next to its Chebyshev nodes. */
static bool choose_nodes(struct term_set *out, const struct guide_place *place, int n)
{
    const enum term_function function = out->choice.function[1];
    double low = (double)INFINITY;
    double high = -(double)INFINITY;
    for (int i = 0; i < n; i++) {
        low = fmin(low, variable(function, place[i]));
        high = fmax(high, variable(function, place[i]));
    }
    for (int j = 0; j < out->choice.count; j++) {
        const double x = cos(PULSE_PI * (j + 0.5) / out->choice.count);
        const double want = 0.5 * (low + high) + 0.5 * (high - low) * x;
        int best = 0;
        for (int i = 1; i < n; i++)
            if (fabs(variable(function, place[i]) - want)
                < fabs(variable(function, place[best]) - want))
                best = i;
        out->node[j] = place[best];
        out->place[j] = best;
    }
    return term_set_solve(out);
}

/* Whether all terms but the first are powers of one variable. */
static bool is_single(const struct term_choice *choice)
{
    for (int j = 2; j < choice->count; j++)
        if ((choice->function[j] >= TERM_A2) != (choice->function[1] >= TERM_A2))
            return false;
    return choice->count > 1;
}

bool term_set_choose(struct term_set *out, const struct guide_place *place, int n)
{
    const int count = out->choice.count;
    if (is_single(&out->choice) && choose_nodes(out, place, n))
        return true;
    for (int step = 0; step < count; step++) {
        double most = bound(BOUND_pivot);
        int best = -1;
        for (int i = 0; i < n; i++) {
            double weights[CAPILLARY_TERMS] = {0.0};
            powers_at(out, place[i], weights);
            reduce(out, step, weights);
            if (fabs(weights[step]) > most) {
                most = fabs(weights[step]);
                best = i;
            }
        }
        if (best < 0)
            return false;
        out->node[step] = place[best];
        out->place[step] = best;
        powers_at(out, place[best], out->upper[step]);
        reduce(out, step, out->upper[step]);
    }
    out->newton = count > CAPILLARY_FEW;
    return term_set_solve(out);
}

void term_set_coefficients(const struct term_set *set, const double *values,
                           double *coefficients)
{
    for (int i = 0; i < set->choice.count; i++) {
        coefficients[i] = i == 0 ? values[0] : 0.0;
        for (int j = 1; j < set->choice.count; j++)
            coefficients[i] += set->inverse[i][j] * (values[j] - values[0]);
    }
}
