/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Built with the flags of a fast unit; vmath_points_v3.c includes this file. */
#include "tests/kernels/vmath_points.h"

#include "kernels/bodies/vmath.h"

#ifndef POINTS_TABLE
#    define POINTS_TABLE vmath_points_baseline
#    define POINTS_ISA   "baseline"
#endif

static void points_sincos(const double *x, double *sine, double *cosine, long n)
{
#pragma omp simd
    for (long i = 0; i < n; i++) {
        const struct vmath_pair pair = vmath_sincos(x[i]);
        sine[i] = pair.sin;
        cosine[i] = pair.cos;
    }
}

static void points_exp(const double *x, double *out, long n)
{
#pragma omp simd
    for (long i = 0; i < n; i++)
        out[i] = vmath_exp(x[i]);
}

static void points_log(const double *x, double *out, long n)
{
#pragma omp simd
    for (long i = 0; i < n; i++)
        out[i] = vmath_log(x[i]);
}

static void points_expm1_small(const double *x, double *out, long n)
{
#pragma omp simd
    for (long i = 0; i < n; i++)
        out[i] = vmath_expm1_small(x[i]);
}

static void points_exp_both(const double *x, double *forth, double *back, long n)
{
#pragma omp simd
    for (long i = 0; i < n; i++) {
        const struct vmath_both both = vmath_exp_both(x[i]);
        forth[i] = both.forth;
        back[i] = both.back;
    }
}

static void points_exp_both_mild(const double *x, double *forth, double *back, long n)
{
#pragma omp simd
    for (long i = 0; i < n; i++) {
        const struct vmath_both both = vmath_exp_both_mild(x[i]);
        forth[i] = both.forth;
        back[i] = both.back;
    }
}

static void points_expm1_negative(const double *x, double *out, long n)
{
#pragma omp simd
    for (long i = 0; i < n; i++)
        out[i] = vmath_expm1_negative(x[i]);
}

const struct vmath_points POINTS_TABLE = {.isa = POINTS_ISA,
                                          .inlined = VMATH_INLINE,
                                          .sincos = points_sincos,
                                          .exp = points_exp,
                                          .log = points_log,
                                          .expm1_small = points_expm1_small,
                                          .exp_both = points_exp_both,
                                          .exp_both_mild = points_exp_both_mild,
                                          .expm1_negative = points_expm1_negative};
