/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_INPUT_H
#define KERNELS_MODELS_PULSE_CAPILLARY_INPUT_H

#include "kernels/kdefs.h"
#include "kernels/model.h"
#include "kernels/models/pulse/capillary_params.h"
#include "kernels/numeric/host_fft.h"

/* Input of a carrier-resolved field (physics.md §6.1, A8). Host memory. */

/**
 * Spectrum a = rfft(A)/fine, sqrt(W), of the input: the sum of the pulses, each a shape times
 * cos(omega t), Re(envelope exp(i omega t)) of a table over time, or a table over frequency,
 * with the spectral window and exp(-i phi), phi = cep + delay Omega + gdd Omega^2/2 + tod
 * Omega^3/6 in Omega from the pulse's own centre, scaled to the energy 4 T sum |a|^2 or to the
 * peak of |A_analytic|^2. Of an earlier run the plane as it is, exp(-i phi) on top. With
 * `field: envelope` exp(+i omega t)/2 in place of the cosine, and fft: the same bins but for
 * what the negative frequencies of a very short pulse add.
 *
 * @param fft      of grid.fine numbers
 * @param scratch  [grid.fine]
 * @param a        [real_grid_bins] receives it, zero outside the active bins
 * @return 0; ERR_ARGUMENT of a table; ERR_MEMORY
 */
int capillary_input(const struct capillary_point *point, struct host_fft *fft, cplx *scratch,
                    cplx *a);

/**
 * Add the input noise of a realisation to the active bins, which hold an energy of 4 T |a|^2
 * each (physics.md A8, §6.3):
 *
 *   one_photon           hbar omega_k with a random phase
 *   half_photon_gaussian a complex Gaussian of mean energy hbar omega_k/2
 *   direct               the same of hbar omega_0/2
 *
 * The numbers of a bin depend on the seed and on its number alone.
 */
void capillary_noise_add(const struct capillary_point *point, const struct seed *seed, cplx *a);

#endif
