/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_SNL1_SEA_H
#define KERNELS_MODELS_SNL1_SEA_H

#include <stdint.h>

/* Sea states made from a few numbers, on the grid of a spectral wave model. */

/* A wind sea or a swell: JONSWAP over frequency, cos^2s(theta/2) over direction. */
struct snl1_system {
    double height;    /* significant wave height 4 sqrt(m0), m; 0: there is none */
    double peak;      /* Hz */
    double gamma;     /* peak enhancement; 1: Pierson-Moskowitz */
    double spread;    /* s of cos^2s(theta/2) */
    double direction; /* towards which it runs, rad */
};

/* A sea state at one point. */
struct snl1_sea {
    double depth; /* m */
    struct snl1_system sea;
    struct snl1_system swell;
    double noise;  /* 0 to 1: share of each bin that is drawn, exponential as a periodogram's */
    uint64_t seed; /* of the draw */
    uint32_t point;
};

/* The grid. */
struct snl1_grid {
    int32_t nk, nth;
    double xfr;
    const float *sig; /* [nk] rad/s */
};

/**
 * Wavenumber and group velocity of linear waves.
 *
 * @param sigma rad/s, > 0
 * @param depth m, > 0
 * @param k     receives sigma^2 = g k tanh(k depth), g = 9.806 m/s^2
 * @param cg    receives d sigma/d k
 */
void snl1_dispersion(double sigma, double depth, double *k, double *cg);

/**
 * Spectrum, group velocities and relative depth of a sea state.
 *
 * @param a      [nk][nth] action density N(k, theta) = E(f, theta) cg / (2 pi sigma)
 * @param cg     [nk]
 * @param kdmean k depth with k the mean wavenumber, (m0 / integral E k^-1/2)^2; that of k = 1
 *               without waves
 *
 * Source: Hasselmann et al. 1973 (JONSWAP); Longuet-Higgins et al. 1963 (spread).
 */
void snl1_sea_fill(const struct snl1_grid *grid, const struct snl1_sea *sea, float *a,
                   float *cg, float *kdmean);

/** Significant wave height of a spectrum, m. */
double snl1_sea_height(const struct snl1_grid *grid, const float *a, const float *cg);

#endif
