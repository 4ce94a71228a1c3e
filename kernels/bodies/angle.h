/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_ANGLE_H
#define KERNELS_BODIES_ANGLE_H

#include "kernels/kdefs.h"

/* Above tan(pi/8) the tangent of the angle less pi/4 is the smaller one. */
#define ANGLE_TURN 0.41421356237309503

/*
 * The angle of (x, y) in [-pi, pi], as atan2(y, x), within 3 ulp; branch-free and without a
 * fused multiply-add, so that a loop over it becomes vector code everywhere. 0 for (0, 0), also
 * where x is -0. NaN and infinite arguments mean nothing; a sub-normal larger one costs
 * accuracy.
 *
 * The polynomial is the minimax one of atan(t)/t - 1 over t^2 on |t| <= tan(pi/8), by
 * Chebyshev's nodes in 40 digits; its error is 2e-18. tests/kernels/test_angle.c holds it
 * against the C library in long double.
 */
K_FN double angle_of(double x, double y)
{
    const double ax = __builtin_fabs(x);
    const double ay = __builtin_fabs(y);
    const double large = ax < ay ? ay : ax;
    const double small = ax < ay ? ax : ay;
    const int turned = small > ANGLE_TURN * large;
    const double below = turned ? small + large : large;
    const double t = (turned ? small - large : small) / (below > 0.0 ? below : 1.0);
    const double z = t * t;
    double p = -0.017805397205419445 * z + 0.037965257453865936;
    p = p * z - 0.050351024566015518;
    p = p * z + 0.058468782973308725;
    p = p * z - 0.066629518136291901;
    p = p * z + 0.076920453309022250;
    p = p * z - 0.090908968090640271;
    p = p * z + 0.11111110744919658;
    p = p * z - 0.14285714279250244;
    p = p * z + 0.19999999999940891;
    p = p * z - 0.33333333333333121;
    const double near = (turned ? 0x1.921fb54442d18p-1 : 0.0) + (t + t * (z * p));
    const double half = ax < ay ? 0x1.921fb54442d18p+0 - near : near;
    const double whole = x < 0.0 ? 0x1.921fb54442d18p+1 - half : half;
    return __builtin_copysign(whole, y);
}

#endif
