/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_PPT_SUM_H
#define KERNELS_MODELS_PULSE_PPT_SUM_H

#define PPT_SUMS 2 /* m = 0, |m| = 1 */

/**
 * Sums over the channels of multiphoton ionisation (Perelomov, Popov and Terent'ev 1966;
 * physics.md §4): S_m = sum over k >= v of exp(-a (k - v)) phi_m(sqrt(b (k - v))), m = 0, 1,
 *
 *   phi_0(x) = Dawson(x), phi_m(x) = exp(-x^2) int_0^x (x^2 - t^2)^m exp(t^2) dt.
 *
 * To about 1e-13, tail included, at the cost of some ten terms whatever a is: the tail is the
 * Euler-Maclaurin formula, whose integral and derivatives are closed forms. S_0 has a
 * square-root cusp at every whole v.
 *
 * @param a, b > 0; @param v >= 0
 * @param sums [PPT_SUMS]
 */
void ppt_sum(double a, double b, double v, double *sums);

/** phi_m(x), m = 0 or 1, x >= 0. */
double ppt_phi(int m, double x);

#endif
