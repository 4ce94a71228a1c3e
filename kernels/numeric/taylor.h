/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_NUMERIC_TAYLOR_H
#define KERNELS_NUMERIC_TAYLOR_H

#include <math.h>

#include "kernels/kdefs.h"

/*
 * Truncated Taylor series of complex functions of one real variable: what is computed with them
 * has its derivatives to rounding, without a formula for each (Griewank and Walther, Evaluating
 * Derivatives, SIAM 2008, chapter 13). Order 0 is plain complex arithmetic, also in what the
 * compiler makes of it where the order is a constant: TAYLOR_PLAIN.
 */

/* A call of a function of this kind, always inlined, with the order as its last argument: the
 * constant 0 where it is that, since most calls, a bin each, want no derivatives. */
#define TAYLOR_PLAIN(call, order, ...)                                                         \
    ((order) == 0 ? call(__VA_ARGS__, 0) : call(__VA_ARGS__, order))

#define TAYLOR_ORDER 5

/* f(x0 + h) = sum over k <= order of c_k h^k; coefficients above the order are 0. */
struct taylor {
    int order; /* 0 … TAYLOR_ORDER; that of both operands where there are two */
    cplx c[TAYLOR_ORDER + 1];
};

/** A constant. */
K_FN struct taylor taylor_constant(int order, cplx value)
{
    return (struct taylor){order, {value}};
}

/** The variable itself, at x0. */
K_FN struct taylor taylor_variable(int order, double x0)
{
    struct taylor out = {order, {{x0, 0.0}}};
    if (order > 0)
        out.c[1].r = 1.0;
    return out;
}

/** a + b. */
K_FN struct taylor taylor_add(struct taylor a, struct taylor b)
{
    for (int k = 0; k <= a.order; k++)
        a.c[k] = cplx_add(a.c[k], b.c[k]);
    return a;
}

/** a - b. */
K_FN struct taylor taylor_sub(struct taylor a, struct taylor b)
{
    for (int k = 0; k <= a.order; k++)
        a.c[k] = cplx_sub(a.c[k], b.c[k]);
    return a;
}

/** a b. */
K_FN struct taylor taylor_mul(struct taylor a, struct taylor b)
{
    struct taylor out = {.order = a.order};
    for (int k = 0; k <= a.order; k++)
        for (int i = 0; i <= k; i++)
            out.c[k] = cplx_add(out.c[k], cplx_mul(a.c[i], b.c[k - i]));
    return out;
}

/** s a. */
K_FN struct taylor taylor_scale(double s, struct taylor a)
{
    for (int k = 0; k <= a.order; k++)
        a.c[k] = cplx_scale(s, a.c[k]);
    return a;
}

/** a + s. */
K_FN struct taylor taylor_shift(struct taylor a, double s)
{
    a.c[0].r += s;
    return a;
}

/** 1/z. */
K_FN cplx taylor_number_inverse(cplx z)
{
    const double norm = cplx_abs2(z);
    return cplx_make(z.r / norm, -z.i / norm);
}

/** 1/a; a must not vanish at x0. */
K_FN struct taylor taylor_inverse(struct taylor a)
{
    struct taylor out = {.order = a.order};
    out.c[0] = taylor_number_inverse(a.c[0]);
    for (int k = 1; k <= a.order; k++) {
        cplx sum = cplx_make(0.0, 0.0);
        for (int i = 1; i <= k; i++)
            sum = cplx_add(sum, cplx_mul(a.c[i], out.c[k - i]));
        out.c[k] = cplx_scale(-1.0, cplx_mul(out.c[0], sum));
    }
    return out;
}

/** Principal square root without loss where one part is small. */
K_FN cplx taylor_number_root(cplx z)
{
    const double big = sqrt(0.5 * (hypot(z.r, z.i) + fabs(z.r)));
    const double small = 0.5 * fabs(z.i) / big;
    return z.r >= 0.0 ? cplx_make(big, copysign(small, z.i))
                      : cplx_make(small, copysign(big, z.i));
}

/** sqrt(a), principal branch; a must not vanish at x0. */
K_FN struct taylor taylor_sqrt(struct taylor a)
{
    struct taylor out = {.order = a.order};
    out.c[0] = taylor_number_root(a.c[0]);
    const cplx half = cplx_scale(0.5, taylor_number_inverse(out.c[0]));
    for (int k = 1; k <= a.order; k++) {
        cplx sum = a.c[k];
        for (int i = 1; i < k; i++)
            sum = cplx_sub(sum, cplx_mul(out.c[i], out.c[k - i]));
        out.c[k] = cplx_mul(half, sum);
    }
    return out;
}

/** Derivative of order k <= a.order at x0: k! c_k. */
cplx taylor_derivative(const struct taylor *a, int k);

#endif
