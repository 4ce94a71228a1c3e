/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_KERNELS_VMATH_POINTS_H
#define TESTS_KERNELS_VMATH_POINTS_H

#include <stdbool.h>

/* The functions of kernels/bodies/vmath.h over arrays, as one build has them. */
struct vmath_points {
    const char *isa;
    bool inlined; /* polynomials, not the C library */
    void (*sincos)(const double *x, double *sine, double *cosine, long n);
    void (*exp)(const double *x, double *out, long n);
    void (*log)(const double *x, double *out, long n);
    void (*expm1_small)(const double *x, double *out, long n);
    void (*exp_both)(const double *x, double *forth, double *back, long n);
    void (*exp_both_mild)(const double *x, double *forth, double *back, long n);
    void (*expm1_negative)(const double *x, double *out, long n);
};

extern const struct vmath_points vmath_points_baseline;
extern const struct vmath_points vmath_points_v3;
extern const struct vmath_points vmath_points_v4;

#endif
