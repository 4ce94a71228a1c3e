/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/ppt_sum.h"

#include <math.h>

#include <gsl/gsl_sf_dawson.h>

/* Terms taken one by one; what is left is smooth over a unit. */
#define DIRECT 40
/* exp(-NEGLIGIBLE) of the sum is below its rounding. */
#define NEGLIGIBLE 34.0
/* Points of a panel of the tail, its width in decay lengths, step of its derivatives. */
#define POINTS 12 /* of the rule below */
#define WIDTH  5.0
#define STEP   0.25

/* Gauss-Legendre rule (Abramowitz and Stegun, table 25.4), nodes -+ on [-1, 1]. */
static const double rule_node[POINTS / 2] = {0.125233408511468915, 0.367831498998180194,
                                             0.587317954286617447, 0.769902674194304687,
                                             0.904117256370474857, 0.981560634246719251};
static const double rule_weight[POINTS / 2] = {0.249147045813402785, 0.233492536538354809,
                                               0.203167426723065922, 0.160078328543346226,
                                               0.106939325995318431, 0.047175336386511827};

/* Below this, phi_1 is summed as a series: the closed form cancels. */
#define SMALL 0.3

/* phi_1 = sum over k of (-1)^k 2^(k+1) (k+1)! x^(2k+3)/((2k+3)!!), from its Kummer function
 * (2/3) x^3 M(2, 5/2, -x^2). */
static double phi_one_series(double x)
{
    double term = 2.0 / 3.0 * x * x * x;
    double sum = term;
    for (int k = 1; k < 12; k++) {
        term *= -x * x * (1.0 + k) / (1.5 + k) / k;
        sum += term;
    }
    return sum;
}

double ppt_phi(int m, double x)
{
    if (m == 0)
        return gsl_sf_dawson(x);
    if (x < SMALL)
        return phi_one_series(x);
    return (x * x + 0.5) * gsl_sf_dawson(x) - 0.5 * x;
}

/* The term at a distance above v, for both m. */
static void channel(double a, double b, double distance, double *terms)
{
    const double x = sqrt(b * distance);
    const double decay = exp(-a * distance);
    const double dawson = gsl_sf_dawson(x);
    terms[0] = decay * dawson;
    terms[1] = decay * (x < SMALL ? phi_one_series(x) : (x * x + 0.5) * dawson - 0.5 * x);
}

/* Integral of the term from `start` on: panels that double until they are WIDTH decay lengths.
 */
static void add_integral(double a, double b, double start, double *sums)
{
    for (double x = start; a * (x - start) < NEGLIGIBLE;) {
        const double width = fmin(x, WIDTH / a);
        for (int i = 0; i < POINTS; i++) {
            double terms[PPT_SUMS];
            const double node = i < POINTS / 2 ? -rule_node[i] : rule_node[i - POINTS / 2];
            channel(a, b, x + width * 0.5 * (1.0 + node), terms);
            for (int m = 0; m < PPT_SUMS; m++)
                sums[m] += width * 0.5 * rule_weight[i % (POINTS / 2)] * terms[m];
        }
        x += width;
    }
}

/* Terms at start + 1/2, start + 3/2 …: the midpoint form of the Euler-Maclaurin formula, int +
 * f'/24 - 7 f'''/5760 at the start (Abramowitz and Stegun 25.4.2 and 23.1); the next one is
 * below 1e-14 here. */
static void add_tail(double a, double b, double start, double *sums)
{
    double t[5][PPT_SUMS];
    for (int i = 0; i < 5; i++)
        channel(a, b, start + STEP * (i - 2), t[i]);
    add_integral(a, b, start, sums);
    for (int m = 0; m < PPT_SUMS; m++) {
        const double far = t[4][m] - t[0][m];
        const double near = t[3][m] - t[1][m];
        const double first = (8.0 * near - far) / (12.0 * STEP);
        const double third = (far - 2.0 * near) / (2.0 * STEP * STEP * STEP);
        sums[m] += first / 24.0 - 7.0 * third / 5760.0;
    }
}

void ppt_sum(double a, double b, double v, double *sums)
{
    const double first = ceil(v) - v;
    for (int m = 0; m < PPT_SUMS; m++)
        sums[m] = 0.0;
    for (int k = 0; k < DIRECT; k++) {
        double terms[PPT_SUMS];
        channel(a, b, first + k, terms);
        for (int m = 0; m < PPT_SUMS; m++)
            sums[m] += terms[m];
        if (a * k > NEGLIGIBLE)
            return;
    }
    add_tail(a, b, first + DIRECT - 0.5, sums);
}
