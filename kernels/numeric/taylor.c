/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/numeric/taylor.h"

#include <math.h>

struct taylor taylor_constant(int order, cplx value)
{
    return (struct taylor){order, {value}};
}

struct taylor taylor_variable(int order, double x0)
{
    struct taylor out = {order, {{x0, 0.0}}};
    if (order > 0)
        out.c[1].r = 1.0;
    return out;
}

struct taylor taylor_add(struct taylor a, struct taylor b)
{
    for (int k = 0; k <= a.order; k++)
        a.c[k] = cplx_add(a.c[k], b.c[k]);
    return a;
}

struct taylor taylor_sub(struct taylor a, struct taylor b)
{
    for (int k = 0; k <= a.order; k++)
        a.c[k] = cplx_sub(a.c[k], b.c[k]);
    return a;
}

struct taylor taylor_mul(struct taylor a, struct taylor b)
{
    struct taylor out = {.order = a.order};
    for (int k = 0; k <= a.order; k++)
        for (int i = 0; i <= k; i++)
            out.c[k] = cplx_add(out.c[k], cplx_mul(a.c[i], b.c[k - i]));
    return out;
}

struct taylor taylor_scale(double s, struct taylor a)
{
    for (int k = 0; k <= a.order; k++)
        a.c[k] = cplx_scale(s, a.c[k]);
    return a;
}

struct taylor taylor_shift(struct taylor a, double s)
{
    a.c[0].r += s;
    return a;
}

static cplx inverse(cplx z)
{
    const double norm = cplx_abs2(z);
    return cplx_make(z.r / norm, -z.i / norm);
}

/* Principal square root without loss where one part is small. */
static cplx root(cplx z)
{
    const double big = sqrt(0.5 * (hypot(z.r, z.i) + fabs(z.r)));
    const double small = 0.5 * fabs(z.i) / big;
    return z.r >= 0.0 ? cplx_make(big, copysign(small, z.i))
                      : cplx_make(small, copysign(big, z.i));
}

struct taylor taylor_inverse(struct taylor a)
{
    struct taylor out = {.order = a.order};
    out.c[0] = inverse(a.c[0]);
    for (int k = 1; k <= a.order; k++) {
        cplx sum = cplx_make(0.0, 0.0);
        for (int i = 1; i <= k; i++)
            sum = cplx_add(sum, cplx_mul(a.c[i], out.c[k - i]));
        out.c[k] = cplx_scale(-1.0, cplx_mul(out.c[0], sum));
    }
    return out;
}

struct taylor taylor_sqrt(struct taylor a)
{
    struct taylor out = {.order = a.order};
    out.c[0] = root(a.c[0]);
    const cplx half = cplx_scale(0.5, inverse(out.c[0]));
    for (int k = 1; k <= a.order; k++) {
        cplx sum = a.c[k];
        for (int i = 1; i < k; i++)
            sum = cplx_sub(sum, cplx_mul(out.c[i], out.c[k - i]));
        out.c[k] = cplx_mul(half, sum);
    }
    return out;
}

cplx taylor_derivative(const struct taylor *a, int k)
{
    double factorial = 1.0;
    for (int i = 2; i <= k; i++)
        factorial *= (double)i;
    return cplx_scale(factorial, a->c[k]);
}
