/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/ppt_sum.h"

#include <math.h>

#include <gsl/gsl_sf_dawson.h>

#include "kernels/models/pulse/constants.h"

/* Terms taken one by one; what is left is smooth over a unit. */
#define DIRECT 12
/* exp(-NEGLIGIBLE) of the sum is below its rounding. */
#define NEGLIGIBLE 34.0

/* Midpoint form of the Euler-Maclaurin formula (Abramowitz and Stegun 23.1 and 25.4): terms at
 * x + 1/2, x + 3/2 … sum to int_x f + sum of correction[n] f^(2n + 1)(x), the coefficients
 * -B_{2n+2}(1/2)/(2n + 2)!. */
#define CORRECTIONS 5
static const double correction[CORRECTIONS] = {1.0 / 24.0, -7.0 / 5760.0, 31.0 / 967680.0,
                                               -127.0 / 154828800.0, 73.0 / 3503554560.0};

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

/*
 * The terms f_m(x) = exp(-a x) phi_m(sqrt(b x)) obey, as Dawson' = 1 - 2 x Dawson,
 *
 *   f_0' = -(a + b) f_0 + h,  h(x) = (sqrt(b)/2) exp(-a x)/sqrt(x),
 *   f_1' = -(a + b) f_1 + b f_0,
 *
 * so their integrals are closed forms, that of h an error function, and every derivative
 * follows from the one before; x h' = -(a x + 1/2) h gives those of h.
 */
static void integrals(double a, double b, double x, const double *terms, double *out)
{
    const double h = 0.5 * sqrt(b * PULSE_PI / a) * erfc(sqrt(a * x));
    out[0] = (terms[0] + h) / (a + b);
    out[1] = (terms[1] + b * out[0]) / (a + b);
}

/* Terms at start + 1/2, start + 3/2 … */
static void add_tail(double a, double b, double start, double *sums)
{
    double f[PPT_SUMS];
    double whole[PPT_SUMS];
    double h = 0.5 * sqrt(b / start) * exp(-a * start);
    double before = 0.0; /* the derivative of h below */
    channel(a, b, start, f);
    integrals(a, b, start, f, whole);
    for (int m = 0; m < PPT_SUMS; m++)
        sums[m] += whole[m];
    for (int n = 0; n < 2 * CORRECTIONS - 1; n++) {
        f[1] = -(a + b) * f[1] + b * f[0];
        f[0] = -(a + b) * f[0] + h;
        const double next = -((a * start + 0.5 + n) * h + n * a * before) / start;
        before = h;
        h = next;
        for (int m = 0; n % 2 == 0 && m < PPT_SUMS; m++)
            sums[m] += correction[n / 2] * f[m];
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
