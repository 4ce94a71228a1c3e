/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_OBSERVABLES_H
#define KERNELS_MODELS_PULSE_OBSERVABLES_H

#include "kernels/kdefs.h"

/* Observables of an envelope, in the order of pulse_observable_info. */
enum pulse_observable {
    PULSE_ENERGY,
    PULSE_PHOTON_NUMBER,
    PULSE_PEAK_POWER,
    PULSE_FWHM_T,
    PULSE_T_PEAK,
    PULSE_OMEGA_MEAN,
    PULSE_WIDTH_20DB,
    PULSE_EDGE_T,
    PULSE_EDGE_OMEGA,
    PULSE_OBSERVABLES
};

/* Edge fractions above this mean that window or band is too small. */
#define PULSE_EDGE_ALARM 1e-6

/* One plane, host memory. */
struct pulse_plane {
    const cplx *spectrum; /* [n] a = fft(A)/n, sqrt(W) */
    const cplx *samples;  /* [n] A, sqrt(W) */
    long n;
    double window; /* T, s */
    double omega0; /* rad/s */
};

/**
 * All observables of a plane, SI: plain sums (Parseval holds exactly). A field that is zero has
 * zeros everywhere but in omega_mean, which is then omega0.
 *
 * @param values  [PULSE_OBSERVABLES]
 */
void pulse_observe(const struct pulse_plane *plane, double *values);

#endif
