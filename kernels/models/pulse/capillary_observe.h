/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_OBSERVE_H
#define KERNELS_MODELS_PULSE_CAPILLARY_OBSERVE_H

#include "kernels/kdefs.h"
#include "kernels/models/pulse/capillary_params.h"

/* Observables of a carrier-resolved field (physics.md §7), in the order of capillary_info. */
enum capillary_observable {
    CAPILLARY_ENERGY,
    CAPILLARY_PHOTON_NUMBER,
    CAPILLARY_PEAK_POWER,
    CAPILLARY_FWHM_T,
    CAPILLARY_T_PEAK,
    CAPILLARY_OMEGA_MEAN,
    CAPILLARY_CHIRP,
    CAPILLARY_ENERGY_RDW,
    CAPILLARY_ENERGY_UV,
    CAPILLARY_ENERGY_VISIBLE,
    CAPILLARY_ENERGY_INFRARED,
    CAPILLARY_RDW_PEAK,
    CAPILLARY_ELECTRON_DENSITY,
    CAPILLARY_IONISED_FRACTION,
    CAPILLARY_IONISATION_LOSS,
    CAPILLARY_ABSORBED,
    CAPILLARY_B_INTEGRAL,
    CAPILLARY_SATURATED,
    CAPILLARY_UNDERSHOOT,
    CAPILLARY_DENSITY,
    CAPILLARY_EDGE_T,
    CAPILLARY_EDGE_OMEGA,
    CAPILLARY_OBSERVABLES
};

/* Without bands.rdw, rdw_peak is looked for below this share of the carrier's wavelength. */
#define CAPILLARY_RDW_SHARE 0.6

/**
 * What follows from the spectrum: energy, photon_number, omega_mean, chirp, the bands,
 * rdw_peak, edge_omega. Plain sums over the active bins (Parseval holds exactly).
 *
 * @param a       [real_grid_bins] sqrt(W)
 * @param powers  [real_grid_bins] receives |a|^2 of the active bins
 * @param values  [CAPILLARY_OBSERVABLES]
 */
void capillary_observe_spectrum(const struct capillary_point *point, const cplx *a,
                                double *powers, double *values);

/**
 * What follows from the power: peak_power, fwhm_t, t_peak, edge_t.
 *
 * @param power   [grid.fine] |A_analytic(t_j)|^2, W
 * @param values  [CAPILLARY_OBSERVABLES]
 */
void capillary_observe_power(const struct capillary_point *point, const double *power,
                             double *values);

#endif
