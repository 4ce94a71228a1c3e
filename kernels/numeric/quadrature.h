/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_NUMERIC_QUADRATURE_H
#define KERNELS_NUMERIC_QUADRATURE_H

#define QUADRATURE_MAX 64

/* A rule on [0, 1]: the integral of f is the sum of weight f(node). */
struct quadrature {
    int n;
    double node[QUADRATURE_MAX]; /* ascending, inside (0, 1) */
    double weight[QUADRATURE_MAX];
};

/**
 * Gauss-Legendre rule of n points on [0, 1], exact for polynomials of degree 2n - 1 (Press et
 * al., Numerical Recipes, 3rd ed., section 4.6.1).
 *
 * @param n 1 … QUADRATURE_MAX
 */
void quadrature_legendre(struct quadrature *out, int n);

#endif
