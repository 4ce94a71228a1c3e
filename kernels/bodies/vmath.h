/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BODIES_VMATH_H
#define KERNELS_BODIES_VMATH_H

#include <math.h>

#include "kernels/kdefs.h"

/*
 * Elementary functions that a fused pass inlines: branch-free, so that a loop over them becomes
 * vector code (a library call per vector would spill every vector register). They need a fused
 * multiply-add for their range reduction and write it out; without one (plain x86-64) the same
 * names call the C library. Largest errors, in units in the last place:
 *
 * - vmath_sincos: 1.5 for |x| <= 2^30. NaN and Inf give NaN, -0 gives +0. Up to |x| = 2^48 the
 *   absolute error stays below 2^-52; beyond, the result means nothing.
 * - vmath_exp: 1.1 for all x, 1.6 where the result is sub-normal. Above 709.78 Inf, below
 * -745.2 0, NaN gives NaN.
 * - vmath_exp_both: 1.4 for each, 1.9 where the result is sub-normal. Beyond 745.2 Inf and 0,
 *   NaN gives NaN.
 * - vmath_exp_both_mild: 1.1 for |x| <= VMATH_MILD. NaN gives NaN.
 * - vmath_log: 1.0 for all x. 0 gives -Inf, a negative number NaN.
 * - vmath_expm1_small: 1.0 for |x| <= 0.02.
 * - vmath_expm1_negative: 1.5 for x <= 0. NaN gives NaN.
 *
 * tests/kernels/test_vmath.c holds all of this against MPFR.
 */

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(K_DEVICE)
#    define VMATH_INLINE 1
#else
#    define VMATH_INLINE 0
#endif

struct vmath_pair {
    double sin, cos;
};

/* exp(x) and exp(-x), neither the reciprocal of the other. */
struct vmath_both {
    double forth, back;
};

/* Range of vmath_exp_both_mild. */
#define VMATH_MILD 0x1p-4

#if VMATH_INLINE

/* Adding 1.5 * 2^52 leaves the nearest integer in the low bits of the sum. */
#    define VMATH_ROUNDER 0x1.8p52

K_FN long long vmath_bits(double x)
{
    long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

K_FN double vmath_from_bits(long long bits)
{
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/* sin(r) on |r| <= pi/4: fdlibm's k_sin.c (Sun Microsystems, 1993), |error| < 2^-58 r. */
K_FN double vmath_sin_kernel(double r, double z)
{
    double p = __builtin_fma(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08);
    p = __builtin_fma(z, p, 2.75573137070700676789e-06);
    p = __builtin_fma(z, p, -1.98412698298579493134e-04);
    p = __builtin_fma(z, p, 8.33333333332248946124e-03);
    p = __builtin_fma(z, p, -1.66666666666666324348e-01);
    return __builtin_fma(z * r, p, r);
}

/* cos(r) on |r| <= pi/4: fdlibm's k_cos.c. With a fused multiply-add the head 1 - z/2 needs no
 * compensation: the inner sum is rounded at 1/2, a quarter of the result's last place times z.
 */
K_FN double vmath_cos_kernel(double z)
{
    double p = __builtin_fma(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09);
    p = __builtin_fma(z, p, -2.75573143513906633035e-07);
    p = __builtin_fma(z, p, 2.48015872894767294178e-05);
    p = __builtin_fma(z, p, -1.38888888888741095749e-03);
    p = __builtin_fma(z, p, 4.16666666666666019037e-02);
    p = __builtin_fma(z, p, -0.5);
    return __builtin_fma(z, p, 1.0);
}

/* pi/2 in three parts of 53 bits. The first subtraction is exact (x and q pi/2 are multiples of
 * 2^-53 and their difference is below 1), so that r keeps its relative accuracy near multiples
 * of pi/2 (Cody and Waite, 1980, with FMA). */
K_FN struct vmath_pair vmath_sincos(double x)
{
    const double shifted = __builtin_fma(x, 0x1.45f306dc9c883p-1, VMATH_ROUNDER);
    const double q = shifted - VMATH_ROUNDER;
    const long long quadrant = vmath_bits(shifted);
    double r = __builtin_fma(-q, 0x1.921fb54442d18p+0, x);
    r = __builtin_fma(-q, 0x1.1a62633145c07p-54, r);
    r = __builtin_fma(-q, -0x1.f1976b7ed8fbcp-110, r);
    const double z = r * r;
    const double s = vmath_sin_kernel(r, z);
    const double c = vmath_cos_kernel(z);
    /* The low bit as a sign: one comparison of 64-bit lanes. */
    const int odd = (long long)((unsigned long long)quadrant << 63) < 0;
    const double sine = odd ? c : s;
    const double cosine = odd ? s : c;
    /* sin changes sign in quadrants 2 and 3, cos in 1 and 2. */
    const long long flip_sin = (long long)((unsigned long long)(quadrant & 2) << 62);
    const long long flip_cos = (long long)((unsigned long long)((quadrant + 1) & 2) << 62);
    struct vmath_pair out;
    out.sin = vmath_from_bits(vmath_bits(sine) ^ flip_sin);
    out.cos = vmath_from_bits(vmath_bits(cosine) ^ flip_cos);
    return out;
}

/* 2^q for the integer in the low bits of `shifted`, -1022 <= q <= 1023. */
K_FN double vmath_power_of_two(double shifted)
{
    return vmath_from_bits((long long)((unsigned long long)(vmath_bits(shifted) + 1023) << 52));
}

/* r of x = q ln 2 + r with q whole, |r| <= ln 2/2. *shifted receives q + VMATH_ROUNDER. */
K_FN double vmath_exp_rest(double x, double *shifted)
{
    *shifted = __builtin_fma(x, 0x1.71547652b82fep+0, VMATH_ROUNDER);
    const double q = *shifted - VMATH_ROUNDER;
    const double r = __builtin_fma(-q, 0x1.62e42fefa39efp-1, x);
    return __builtin_fma(-q, 0x1.abc9e3b39803fp-56, r);
}

/* expm1(r) of x = q ln 2 + r: Taylor to degree 13. */
K_FN double vmath_expm1_reduced(double x, double *shifted)
{
    const double r = vmath_exp_rest(x, shifted);
    double p = __builtin_fma(r, 1.0 / 6227020800.0, 1.0 / 479001600.0);
    p = __builtin_fma(r, p, 1.0 / 39916800.0);
    p = __builtin_fma(r, p, 1.0 / 3628800.0);
    p = __builtin_fma(r, p, 1.0 / 362880.0);
    p = __builtin_fma(r, p, 1.0 / 40320.0);
    p = __builtin_fma(r, p, 1.0 / 5040.0);
    p = __builtin_fma(r, p, 1.0 / 720.0);
    p = __builtin_fma(r, p, 1.0 / 120.0);
    p = __builtin_fma(r, p, 1.0 / 24.0);
    p = __builtin_fma(r, p, 1.0 / 6.0);
    p = __builtin_fma(r, p, 0.5);
    return __builtin_fma(r * r, p, r);
}

/* exp by q = round(x / ln 2), |r| <= 0.3466 and the Taylor series to degree 13, whose remainder
 * is 4e-18. 2^q is applied as two factors, so that overflow and sub-normal results round once.
 */
K_FN double vmath_exp(double x)
{
    const double below = x > 710.0 ? 710.0 : x; /* NaN passes both comparisons */
    const double a = below < -746.0 ? -746.0 : below;
    double shifted;
    const double p = 1.0 + vmath_expm1_reduced(a, &shifted);
    const double q = shifted - VMATH_ROUNDER;
    const double half = __builtin_fma(q, 0.5, VMATH_ROUNDER);
    const double rest = (q - (half - VMATH_ROUNDER)) + VMATH_ROUNDER;
    return p * vmath_power_of_two(half) * vmath_power_of_two(rest);
}

/* exp(x) and exp(-x) of x = q ln 2 + r: cosh(r) and sinh(r) by their Taylor series to degree 12
 * and 13, added and subtracted; 2^q and 2^-q as in vmath_exp. */
K_FN struct vmath_both vmath_exp_both(double x)
{
    const double below = x > 746.0 ? 746.0 : x; /* NaN passes both comparisons */
    const double a = below < -746.0 ? -746.0 : below;
    double shifted;
    const double r = vmath_exp_rest(a, &shifted);
    const double q = shifted - VMATH_ROUNDER;
    const double z = r * r;
    double c = __builtin_fma(z, 1.0 / 479001600.0, 1.0 / 3628800.0);
    c = __builtin_fma(z, c, 1.0 / 40320.0);
    c = __builtin_fma(z, c, 1.0 / 720.0);
    c = __builtin_fma(z, c, 1.0 / 24.0);
    c = __builtin_fma(z, c, 0.5);
    double s = __builtin_fma(z, 1.0 / 6227020800.0, 1.0 / 39916800.0);
    s = __builtin_fma(z, s, 1.0 / 362880.0);
    s = __builtin_fma(z, s, 1.0 / 5040.0);
    s = __builtin_fma(z, s, 1.0 / 120.0);
    s = __builtin_fma(z, s, 1.0 / 6.0);
    s = __builtin_fma(z * r, s, r);
    const double half = __builtin_fma(q, 0.5, VMATH_ROUNDER);
    const double first = half - VMATH_ROUNDER;
    const double rest = q - first;
    struct vmath_both out;
    out.forth = (1.0 + __builtin_fma(z, c, s)) * vmath_power_of_two(half)
                * vmath_power_of_two(rest + VMATH_ROUNDER);
    out.back = (1.0 + __builtin_fma(z, c, -s)) * vmath_power_of_two(VMATH_ROUNDER - first)
               * vmath_power_of_two(VMATH_ROUNDER - rest);
    return out;
}

/* The same without reduction: to degree 8 and 7, remainder 4e-17 on the range. */
K_FN struct vmath_both vmath_exp_both_mild(double x)
{
    const double z = x * x;
    double c = __builtin_fma(z, 1.0 / 40320.0, 1.0 / 720.0);
    c = __builtin_fma(z, c, 1.0 / 24.0);
    c = __builtin_fma(z, c, 0.5);
    double s = __builtin_fma(z, 1.0 / 5040.0, 1.0 / 120.0);
    s = __builtin_fma(z, s, 1.0 / 6.0);
    s = __builtin_fma(z * x, s, x);
    struct vmath_both out;
    out.forth = 1.0 + __builtin_fma(z, c, s);
    out.back = 1.0 + __builtin_fma(z, c, -s);
    return out;
}

/* log by x = 2^k m, m in [sqrt(1/2), sqrt(2)), and fdlibm's e_log.c. */
K_FN double vmath_log(double x)
{
    const int tiny = x < 0x1p-1022;
    const double y = tiny ? x * 0x1p54 : x;
    /* Taking off the bits of sqrt(1/2) makes the exponent field change at sqrt(1/2). */
    const unsigned long long bits = (unsigned long long)vmath_bits(y);
    const unsigned long long moved = bits - 0x3fe6a09e667f3bcdULL + 0x3ff0000000000000ULL;
    const double m =
        vmath_from_bits((long long)((moved & 0x000fffffffffffffULL) + 0x3fe6a09e667f3bcdULL));
    const double biased =
        vmath_from_bits((long long)((moved >> 52) | 0x4330000000000000ULL)) - 0x1p52;
    const double k = biased - (tiny ? 1077.0 : 1023.0);
    const double f = m - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    double p = __builtin_fma(z, 1.479819860511658591e-01, 1.531383769920937332e-01);
    p = __builtin_fma(z, p, 1.818357216161805012e-01);
    p = __builtin_fma(z, p, 2.222219843214978396e-01);
    p = __builtin_fma(z, p, 2.857142874366239149e-01);
    p = __builtin_fma(z, p, 3.999999999940941908e-01);
    p = __builtin_fma(z, p, 6.666666666666735130e-01);
    const double half_square = 0.5 * f * f;
    const double low =
        __builtin_fma(s, __builtin_fma(z, p, half_square), k * 1.90821492927058770002e-10);
    const double head = k * 6.93147180369123816490e-01; /* exact: its low 21 bits are zero */
    double out = head - ((half_square - low) - f);
    out = x < __builtin_inf() ? out : x; /* Inf and NaN */
    out = x > 0.0 ? out : (x == 0.0 ? -__builtin_inf() : (x < 0.0 ? __builtin_nan("") : out));
    return out;
}

/* expm1 for x <= 0: x = q ln 2 + r as in vmath_exp, and 2^q expm1(r) + (2^q - 1), whose
 * bracket is exact down to q = -53. For q = 0 it is expm1(r), for q = -1 the two have the same
 * sign or the second is more than twice the first. */
K_FN double vmath_expm1_negative(double x)
{
    const double a = x < -60.0 ? -60.0 : x; /* NaN passes */
    double shifted;
    const double p = vmath_expm1_reduced(a, &shifted);
    const double power = vmath_power_of_two(shifted);
    return __builtin_fma(power, p, power - 1.0);
}

/* expm1(x) on |x| <= 0.02: Taylor to degree 7, remainder 3e-17 of the result. */
K_FN double vmath_expm1_small(double x)
{
    double p = __builtin_fma(x, 1.0 / 5040.0, 1.0 / 720.0);
    p = __builtin_fma(x, p, 1.0 / 120.0);
    p = __builtin_fma(x, p, 1.0 / 24.0);
    p = __builtin_fma(x, p, 1.0 / 6.0);
    p = __builtin_fma(x, p, 0.5);
    return __builtin_fma(x * x, p, x);
}

#else

K_FN struct vmath_pair vmath_sincos(double x)
{
    struct vmath_pair out;
    out.sin = sin(x);
    out.cos = cos(x);
    return out;
}

K_FN double vmath_exp(double x)
{
    return exp(x);
}

K_FN struct vmath_both vmath_exp_both(double x)
{
    struct vmath_both out;
    out.forth = exp(x);
    out.back = exp(-x);
    return out;
}

K_FN struct vmath_both vmath_exp_both_mild(double x)
{
    return vmath_exp_both(x);
}

K_FN double vmath_log(double x)
{
    return log(x);
}

K_FN double vmath_expm1_small(double x)
{
    return expm1(x);
}

K_FN double vmath_expm1_negative(double x)
{
    return expm1(x);
}

#endif

#endif
