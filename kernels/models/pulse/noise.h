/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_NOISE_H
#define KERNELS_MODELS_PULSE_NOISE_H

#include "kernels/kdefs.h"
#include "kernels/model.h"

/* A spectrum a = fft(A)/n that receives noise. Host memory. */
struct pulse_spectrum {
    cplx *a; /* [n] sqrt(W) */
    long n;
    double window; /* T, s */
    double omega0; /* rad/s */
};

/**
 * Add the input noise of a realisation (physics.md A8, §6.3):
 *
 *   one_photon           a_k += sqrt(hbar omega_k / T) exp(2 pi i U)
 *   half_photon_gaussian a_k += sqrt(hbar omega_k / (4 T)) (G1 + i G2)
 *   direct               a_k += sqrt(hbar omega_0 / (4 T)) (G1 + i G2), the spectrum of white
 *                        Gaussian noise in time of variance hbar omega_0 / (2 dt)
 *
 * omega_k is absolute; bins with omega_k <= 0 get none. The numbers of a bin depend on the seed
 * and on its signed number alone, not on n.
 */
void pulse_noise_add(const struct pulse_spectrum *spectrum, const struct seed *seed);

/**
 * The number that the noise of a realisation adds to one bin.
 *
 * @param seed   its noise is not NOISE_NONE
 * @param bin    signed number of the bin
 * @param photon |a|^2 of one photon there
 */
cplx pulse_noise_bin(const struct seed *seed, long bin, double photon);

#endif
