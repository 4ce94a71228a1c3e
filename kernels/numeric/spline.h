/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_NUMERIC_SPLINE_H
#define KERNELS_NUMERIC_SPLINE_H

#include "kernels/numeric/taylor.h"

/*
 * Cubic spline through given points, second derivative continuous, not-a-knot at both ends (the
 * third derivative is continuous at the second and the last but one point; de Boor, A Practical
 * Guide to Splines, Springer 2001, chapter IV).
 */

struct spline;

/**
 * Make a spline.
 *
 * @param x [n] strictly ascending, finite
 * @param y [n] finite
 * @param n points, >= 4
 * @return 0, ERR_ARGUMENT with the offending point, or ERR_MEMORY
 */
int spline_create(const double *x, const double *y, long n, struct spline **out);

/** Free; NULL is legal. */
void spline_destroy(struct spline *spline);

/** Value at x; outside the points the first or last cubic goes on. */
double spline_value(const struct spline *spline, double x);

/** Spline of a function: x holds value and derivatives of the argument. */
struct taylor spline_taylor(const struct spline *spline, struct taylor x);

#endif
