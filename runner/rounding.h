/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef RUNNER_ROUNDING_H
#define RUNNER_ROUNDING_H

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
 * whole S, changes by 2 eta sqrt(v S) + eta^2 S; the sum itself has the bound `observable`.
 *
 * @param unit  "1": v is a share, and S at least 1; of others S is |v| over `weak_bin`
 */
int rounding_of_number(double steps, double value, const char *unit, double *out);

#endif
