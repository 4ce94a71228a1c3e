/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_ROUNDING_H
#define RUNNER_ROUNDING_H

#include "kernels/model.h"

/*
 * Class R for whole members: the same discrete computation done twice. Each step has the
 * rounding of the one-step ladder, and a well-conditioned run lets errors grow by no more than
 * their sum: eta = steps x 16 eps of the peak.
 */

/**
 * How far elements of a field may be apart.
 *
 * @param steps  accepted ones up to there; fewer than one counts as one
 * @param peak   largest modulus of the field; 0, or not finite: nothing is allowed
 */
int rounding_of_field(double steps, double peak, double *out);

/**
 * How far an observable may be apart: v = sum over |A|^2 of some bins or samples, out of a
 * whole S, changes by 2 eta sqrt(v S) + eta^2 S; the sum itself has the bound `observable`. A
 * share (unit "1") has an S of at least 1; others that of |v| over `weak_bin`, or the largest
 * observable of their unit: the energy of a band without light is rounding of the pulse's.
 *
 * @param value  [info->observable_count], the observables of the plane
 * @param index  which one
 */
int rounding_of_number(double steps, const struct model_info *info, const double *value,
                       int index, double *out);

/**
 * How far an element of a real array may be apart: a quantity of its own, as an observable, or,
 * where that allows more, as an element of a field.
 *
 * @param peak  largest modulus of the array
 */
int rounding_of_real(double steps, double peak, double value, double *out);

#endif
