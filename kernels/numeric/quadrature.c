/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/numeric/quadrature.h"

#include <math.h>

#define PI 3.14159265358979323846

/* Legendre polynomial of degree n at x, |x| < 1, and its derivative. */
static double legendre(int n, double x, double *slope)
{
    double before = 0.0;
    double value = 1.0;
    for (int k = 1; k <= n; k++) {
        const double next = ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k;
        before = value;
        value = next;
    }
    *slope = n * (x * value - before) / (x * x - 1.0);
    return value;
}

void quadrature_legendre(struct quadrature *out, int n)
{
    out->n = n;
    for (int i = 0; i < (n + 1) / 2; i++) {
        double x = cos(PI * (i + 0.75) / (n + 0.5));
        double slope = 0.0;
        for (int k = 0; k < 8; k++)
            x -= legendre(n, x, &slope) / slope;
        legendre(n, x, &slope);
        const double weight = 1.0 / ((1.0 - x * x) * slope * slope);
        out->node[i] = 0.5 - 0.5 * x;
        out->node[n - 1 - i] = 0.5 + 0.5 * x;
        out->weight[i] = out->weight[n - 1 - i] = weight;
    }
}
