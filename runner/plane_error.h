/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_PLANE_ERROR_H
#define RUNNER_PLANE_ERROR_H

#include <stdbool.h>

/* Distance of a stored plane from its reference. */

/**
 * ||c - r|| / ||r||, Euclidean norms.
 *
 * @param c  [n] as it is stored
 * @param r  [n] reference; complex numbers are pairs
 * @return NaN where the reference is zero everywhere, or a number is not finite
 */
double plane_error_l2(const double *c, const double *r, long n);

/** The same of the powers |c|^2, |r|^2 of n complex numbers: phases do not count. */
double plane_error_power(const double *c, const double *r, long n);

/** |c - r| / |r| of a number, 0 where both are zero, INFINITY where the reference alone is; NaN
 * where one is not finite. */
double plane_error_number(double c, double r);

/** The first judged plane without an error (NaN), -1: each has one. @param judged [planes] */
long plane_error_missing(const double *error, const bool *judged, long planes);

#endif
