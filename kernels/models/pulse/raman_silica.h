/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_RAMAN_SILICA_H
#define KERNELS_MODELS_PULSE_RAMAN_SILICA_H

/*
 * Raman response of silica as thirteen broadened vibrations (Hollenbeck and Cantrell, J. Opt.
 * Soc. Am. B 19, 2886, 2002):
 *
 *   h(t) = scale sum of A_i exp(-gamma_i t - Gamma_i^2 t^2/4) sin(omega_i t), integral 1.
 */

/** The scale, 1/s: one over the integral of the sum. Quadrature, so keep it. */
double raman_silica_scale(void);

/** h(t), 1/s; 0 for t < 0. @param scale from raman_silica_scale */
double raman_silica_response(double scale, double t);

#endif
