/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_NUMERIC_TAYLOR_H
#define KERNELS_NUMERIC_TAYLOR_H

#include "kernels/kdefs.h"

/*
 * Truncated Taylor series of complex functions of one real variable: what is computed with them
 * has its derivatives to rounding, without a formula for each (Griewank and Walther, Evaluating
 * Derivatives, SIAM 2008, chapter 13). Order 0 is plain complex arithmetic.
 */

#define TAYLOR_ORDER 5

/* f(x0 + h) = sum over k <= order of c_k h^k; coefficients above the order are 0. */
struct taylor {
    int order; /* 0 … TAYLOR_ORDER; that of both operands where there are two */
    cplx c[TAYLOR_ORDER + 1];
};

/** A constant. */
struct taylor taylor_constant(int order, cplx value);

/** The variable itself, at x0. */
struct taylor taylor_variable(int order, double x0);

/** a + b. */
struct taylor taylor_add(struct taylor a, struct taylor b);

/** a - b. */
struct taylor taylor_sub(struct taylor a, struct taylor b);

/** a b. */
struct taylor taylor_mul(struct taylor a, struct taylor b);

/** s a. */
struct taylor taylor_scale(double s, struct taylor a);

/** a + s. */
struct taylor taylor_shift(struct taylor a, double s);

/** 1/a; a must not vanish at x0. */
struct taylor taylor_inverse(struct taylor a);

/** sqrt(a), principal branch; a must not vanish at x0. */
struct taylor taylor_sqrt(struct taylor a);

/** Derivative of order k <= a.order at x0: k! c_k. */
cplx taylor_derivative(const struct taylor *a, int k);

#endif
