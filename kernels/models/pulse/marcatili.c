/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/marcatili.h"

#include <math.h>

#include "kernels/models/pulse/atomic.h"

/* Real part of n_eff below which the full form is no longer that of a guided mode. */
#define INDEX_FLOOR 1e-3

/* HE: (e + 1)/(2 sqrt(e - 1)), TE: 1/sqrt(e - 1), TM: e/sqrt(e - 1); e = n_wall^2. */
K_FN struct taylor wall_factor(const struct guide *guide, double omega, int order)
{
    const struct taylor n = glass_index(guide->wall, omega, order);
    const struct taylor e = taylor_mul(n, n);
    const struct taylor below = taylor_inverse(taylor_sqrt(taylor_shift(e, -1.0)));
    switch (guide->mode.kind) {
    case MODE_HE:
        return taylor_scale(0.5, taylor_mul(taylor_shift(e, 1.0), below));
    case MODE_TM:
        return taylor_mul(e, below);
    case MODE_TE:
    default:
        return below;
    }
}

void guide_bin_load(const struct guide *guide, double omega, int order, struct guide_bin *out)
{
    out->omega = taylor_variable(order, omega);
    out->g = mixture_susceptibility(guide->gas, omega, order);
    out->v = TAYLOR_PLAIN(wall_factor, order, guide, omega);
}

/* i v */
K_FN struct taylor turned(struct taylor v)
{
    for (int k = 0; k <= v.order; k++)
        v.c[k] = cplx_make(-v.c[k].i, v.c[k].r);
    return v;
}

/* sqrt(1 + x) - 1 without cancellation. */
K_FN struct taylor root_excess(struct taylor x)
{
    const struct taylor n = taylor_sqrt(taylor_shift(x, 1.0));
    if (n.c[0].r < INDEX_FLOOR)
        return taylor_constant(x.order, cplx_make(INDEX_FLOOR - 1.0, fmax(n.c[0].i, 0.0)));
    return taylor_mul(x, taylor_inverse(taylor_shift(n, 1.0)));
}

struct taylor guide_excess(const struct guide *guide, const struct guide_bin *bin,
                           struct guide_place at)
{
    const struct taylor w =
        taylor_scale(PULSE_C / at.radius, taylor_inverse(bin->omega)); /* 1/(k a) */
    const struct taylor transverse = taylor_scale(guide->mode.u, w);
    const struct taylor square = taylor_mul(transverse, transverse);
    const struct taylor chi = taylor_scale(at.rho, bin->g);
    const struct taylor ivw = turned(taylor_mul(bin->v, w));
    if (!guide->full)
        return taylor_add(taylor_scale(0.5, taylor_sub(chi, square)), taylor_mul(ivw, square));
    const struct taylor wall = taylor_shift(taylor_scale(-1.0, ivw), 1.0);
    return root_excess(taylor_sub(chi, taylor_mul(square, taylor_mul(wall, wall))));
}

/* Principal root of a number off the negative axis. */
static cplx root(cplx z)
{
    const double size = hypot(z.r, z.i);
    if (z.r > 0.0) {
        const double r = sqrt(0.5 * (size + z.r));
        return cplx_make(r, 0.5 * z.i / r);
    }
    const double i = copysign(sqrt(0.5 * (size - z.r)), z.i);
    return cplx_make(i != 0.0 ? 0.5 * z.i / i : 0.0, i);
}

cplx guide_excess_value(const struct guide *guide, const struct guide_bin *bin,
                        struct guide_place at)
{
    const double w = PULSE_C / (at.radius * bin->omega.c[0].r);
    const double square = guide->mode.u * w * (guide->mode.u * w);
    const cplx chi = cplx_scale(at.rho, bin->g.c[0]);
    const cplx ivw = cplx_make(-bin->v.c[0].i * w, bin->v.c[0].r * w);
    if (!guide->full)
        return cplx_add(cplx_scale(0.5, cplx_sub(chi, cplx_make(square, 0.0))),
                        cplx_scale(square, ivw));
    const cplx wall = cplx_sub(cplx_make(1.0, 0.0), ivw);
    const cplx x = cplx_sub(chi, cplx_scale(square, cplx_mul(wall, wall)));
    const cplx n = root(cplx_make(1.0 + x.r, x.i));
    if (n.r < INDEX_FLOOR)
        return cplx_make(INDEX_FLOOR - 1.0, fmax(n.i, 0.0));
    const cplx above = cplx_make(n.r + 1.0, n.i);
    return cplx_scale(1.0 / cplx_abs2(above), cplx_mul_conj(x, above));
}

struct taylor guide_beta(const struct guide *guide, const struct guide_bin *bin,
                         struct guide_place at)
{
    struct taylor beta = taylor_shift(guide_excess(guide, bin, at), 1.0);
    beta = taylor_scale(1.0 / PULSE_C, taylor_mul(bin->omega, beta));
    for (int k = 0; k <= beta.order; k++)
        beta.c[k].i = 0.0;
    return beta;
}

double guide_alpha(const struct guide *guide, const struct guide_bin *bin,
                   struct guide_place at)
{
    const double n = guide_excess(guide, bin, at).c[0].i;
    const double alpha = guide->loss * 2.0 * bin->omega.c[0].r / PULSE_C * n;
    return fmin(fmax(alpha, 0.0), GUIDE_ALPHA_MAX);
}
