/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_MEDIUM_H
#define KERNELS_MODELS_PULSE_CAPILLARY_MEDIUM_H

#include "kernels/models/pulse/capillary_params.h"

/*
 * Gas, wall and mode of a point, and its linear operator in the frame of the local group
 * velocity at the carrier (physics.md §3.3), without what the vacuum does, which cancels:
 *
 *   L(omega, z) = -i (X(omega) - X'(omega0) omega) - alpha/2 - edge, X = (omega/c) (n_eff - 1)
 *
 * as a sum of terms q_j(z) L_j(omega), q_j = (rho(z)/scale)^j. Same pressure everywhere: one
 * term. Reduced form along a gradient: two, exactly. Full form along a gradient: as many as
 * keep the phase over the whole length within CAPILLARY_PHASE_ERROR, certified between the
 * densities that they were made of.
 */

#define CAPILLARY_TERMS       STEP_TERMS
#define CAPILLARY_PHASE_ERROR 1e-6 /* rad, or nepers */

/* A medium. `guide` points into the object: it must stay where it was made. */
struct capillary_medium {
    struct mixture gas;
    struct glass wall;
    struct guide guide;
    struct guide_bin pump; /* of the guide at the carrier */
    struct gradient gradient;
    double area;                   /* Aeff, m^2 */
    double low, high;              /* densities along the guide, 1/m^3 */
    double mean;                   /* of the density along the guide, 1/m^3 */
    double scale;                  /* of q_j, 1/m^3 */
    int terms;                     /* 1 … CAPILLARY_TERMS */
    double error;                  /* of the terms over the length, rad */
    double edge;                   /* 1/absorption length, 1/m; 0: no absorber */
    double slope[CAPILLARY_TERMS]; /* of the frame, X'(omega0) at the densities of the terms,
                                      s/m */
    struct real_grid grid;         /* of the point */
    double omega0;
    double length;
};

/**
 * Make a medium ready; free with capillary_medium_clear.
 *
 * @return 0, ERR_ARGUMENT (a pressure that the equation of state refuses, a band that wall or
 *         gas are not known for, loss from a wall that gives none), ERR_UNSUPPORTED (a full
 * form along a gradient that four terms do not hold) or ERR_MEMORY
 */
int capillary_medium_init(const struct capillary_point *point, struct capillary_medium *out);

/** Free; legal on a zeroed or cleared object. */
void capillary_medium_clear(struct capillary_medium *medium);

/**
 * One bin of the linear operator.
 *
 * @param k   active bin
 * @param li  [terms] Im L_j, rad/m
 * @param lr  [terms] Re L_j, 1/m
 */
void capillary_medium_linear(const struct capillary_medium *medium, long k, double *li,
                             double *lr);

/**
 * All positions of a step at once: integrals of q_j from `anchor` to anchor + dz[i], m, and the
 * densities there, 1/m^3. Does not allocate.
 *
 * @param rho  [n]
 * @param out  [n], the terms of the medium
 */
void capillary_medium_path(const struct capillary_medium *medium, double anchor,
                           const double *dz, int n, double *rho, double (*out)[STEP_TERMS]);

/** -ln of a window, at most 40: what an absorber takes over its length. */
double capillary_absorber(double window);

/** Density at a position, 1/m^3. */
double capillary_medium_density(const struct capillary_medium *medium, double z);

/** Real part of n_eff at an angular frequency and density. */
double capillary_medium_index(const struct capillary_medium *medium, double omega, double rho);

/**
 * Prefactor of the nonlinear term per bin without constants, omega spectral_window / n_eff at
 * the mean density (or without n_eff, as in vacuum), rad/s. At another density it is to be
 * divided by 1 + (rho - mean)/scale capillary_medium_tilt: exactly for the reduced form.
 */
double capillary_medium_prefactor(const struct capillary_medium *medium, long k, bool vacuum);

/** Change of n_eff over n_eff at the mean density, per `scale` of density, between the ends. */
double capillary_medium_tilt(const struct capillary_medium *medium, long k);

#endif
