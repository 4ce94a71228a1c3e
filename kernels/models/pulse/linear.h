/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_LINEAR_H
#define KERNELS_MODELS_PULSE_LINEAR_H

#include "kernels/kdefs.h"
#include "kernels/models/pulse/gnlse_params.h"

/* Tables of the envelope equation da/dz = L a + pre fft(A R). Host memory, [n] in FFT order. */

/** Im L = -sum over m >= 2 of beta_m Omega^m / m!, rad/m; of a table that of the point. */
void pulse_linear_phase(const struct gnlse_point *point, double *li);

/** Whether Re L differs from zero anywhere. */
bool pulse_linear_has_loss(const struct gnlse_point *point);

/**
 * Re L = -loss/2 - absorber rate, 1/m. Masked bins (pulse_linear_masked) get 0: they hold
 * nothing that could decay.
 */
void pulse_linear_loss(const struct gnlse_point *point, double *lr);

/** Whether the absorber holds bin k at exactly zero: its taper is zero there. */
bool pulse_linear_masked(const struct gnlse_point *point, long k);

/** pre = -i gamma (1 + Omega/omega0) / n with steepening, -i gamma / n without; 0 if masked. */
void pulse_linear_prefactor(const struct gnlse_point *point, cplx *pre);

/** Temporal absorber: -rate(t_j)/n, the factor of A inside the right-hand side, 1/m. */
void pulse_linear_edge(const struct gnlse_point *point, double *edge);

/**
 * Transfer function of the response, [n/2 + 1]: (1 - f + f H_k) / n, H the transform of the
 * Raman response times dt: filtering the unnormalised r2c spectrum of |A|^2 with it and going
 * back with c2r gives R.
 *
 * @param scale  raman_silica_scale() for a point that has `silica`, else not used
 * @param h      [n] samples h_j dt, h_j = 0 for j >= n/2: not renormalised
 */
void pulse_raman_samples(const struct gnlse_point *point, double scale, double *h);

/** Fold the instantaneous part and 1/n into H, in place: see pulse_raman_samples. */
void pulse_raman_transfer(const struct gnlse_point *point, cplx *h);

#endif
