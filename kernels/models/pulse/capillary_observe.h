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

/* The pairs of neighbouring bins (k, k + 1) that count for the chirp: k in [from, from + count)
 * and a weight above `least`. */
struct capillary_pairs {
    double least; /* W */
    long from, count;
    double shift; /* place of the first, in bins from the mean frequency */
};

/* Sums over pairs by weight: 1, angle, x, x angle, x^2, x in bins from the mean frequency. */
enum capillary_line {
    LINE_WEIGHT,
    LINE_ANGLE,
    LINE_PLACE,
    LINE_SLOPE,
    LINE_SPREAD,
    CAPILLARY_LINE
};

/* Sums over the active bins of |a|^2, W: of it, of it over the bin's number, of it by that. */
enum capillary_powers_sum { POWERS_ALL, POWERS_OVER, POWERS_MOMENT, CAPILLARY_POWERS };

/* The powers of the bins. */
struct capillary_powers {
    const double *bin; /* [real_grid_bins] |a|^2 of the active bins, W; borrowed */
    double sums[CAPILLARY_POWERS];
};

/* Largest and sum of some powers, W. */
struct capillary_block {
    double top, sum;
};

/** Positions at each side of n that are its edge: the outer 5 %. */
long capillary_edge_count(long n);

/** Largest of n powers, and their sum. */
struct capillary_block capillary_observe_block(const double *power, long n);

/**
 * What follows from the powers of the bins: energy, photon_number, omega_mean, the bands,
 * rdw_peak, edge_omega. Plain sums over the active bins (Parseval holds exactly).
 *
 * @param values  [CAPILLARY_OBSERVABLES]
 * @param pairs   receives those that count for the chirp
 */
void capillary_observe_spectrum(const struct capillary_point *point,
                                const struct capillary_powers *powers, double *values,
                                struct capillary_pairs *pairs);

/**
 * The powers of the active bins and their sums, for a state that the host has alone.
 *
 * @param state  [2][ld] split row of all bins, sqrt(W)
 * @param power  [real_grid_bins] receives |a|^2 of the active bins, which `out` borrows
 */
void capillary_observe_powers(const struct real_grid *grid, const double *state, long ld,
                              double *power, struct capillary_powers *out);

/**
 * The sums of the chirp of such a state, by the bodies of the kernels that make them elsewhere.
 *
 * @param room  [2 count of the pairs]
 * @param sums  [CAPILLARY_LINE]
 */
void capillary_observe_line(const struct capillary_pairs *pairs, const double *state, long ld,
                            double *room, double *sums);

/** The chirp, s^2: slope of the group delay over the frequency, least squares with the energy
 * as weight. */
double capillary_observe_chirp(const struct real_grid *grid, const double *sums);

/**
 * What follows from the power: peak_power, fwhm_t, t_peak, edge_t.
 *
 * @param power   [grid.fine] |A_analytic(t_j)|^2, W
 * @param values  [CAPILLARY_OBSERVABLES]
 */
void capillary_observe_power(const struct capillary_point *point, const double *power,
                             double *values);

#endif
