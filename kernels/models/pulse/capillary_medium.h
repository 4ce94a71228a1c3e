/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_MEDIUM_H
#define KERNELS_MODELS_PULSE_CAPILLARY_MEDIUM_H

#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/band_table.h"
#include "kernels/models/pulse/capillary_params.h"
#include "kernels/models/pulse/capillary_terms.h"
#include "kernels/models/pulse/raman_mix.h"

/*
 * Gas, wall and mode of a point, and its linear operator in the frame of the local group
 * velocity at the carrier (physics.md §3.3), without what the vacuum does, which cancels:
 *
 *   L(omega, z) = -i (X(omega) - X'(omega0) omega) - alpha/2 - edge, X = (omega/c) (n_eff - 1)
 *
 * as a sum of terms q_j(z) L_j(omega), q_j powers of the density or of 1/radius whose integrals
 * are exact. The same gas and radius everywhere: one term. Reduced form: one more for a
 * gradient, two more for a taper, without error. Full form: as many as keep the phase over the
 * whole length within CAPILLARY_PHASE_ERROR, certified at places between those that they were
 made of. n_eff out of a table at several positions: linear in z between them, a term each.
 */

#define CAPILLARY_PHASE_ERROR bound(BOUND_capillary_phase) /* rad, or nepers */

/* Where along the guide, and q_j there. */
struct capillary_place {
    struct guide_place at;
    double weight[CAPILLARY_TERMS];
};

/* A medium. `guide` points into the object: it must stay where it was made. */
struct capillary_medium {
    struct mixture gas;
    struct glass wall;
    struct guide guide;
    struct guide_bin pump; /* of the guide at the carrier */
    struct gradient gradient;
    struct band_table index;       /* n_eff - 1 in place of the guide's, where there is one */
    struct gradient_points column; /* z of its columns */
    struct band_table loss;        /* alpha in place of the guide's, where there is one */
    double loss_factor;            /* on that */
    struct raman_mix raman;        /* delayed response at these densities */
    double low, high;              /* densities along the guide, 1/m^3 */
    double narrow, wide;           /* radii along the guide, m */
    double mean;                   /* of the density along the guide, 1/m^3 */
    double radius;                 /* of the mean of radius^-2, m */
    double area;                   /* Aeff there, m^2 */
    struct capillary_place middle; /* mean density, radius and weights */
    int terms;                     /* 1 … CAPILLARY_TERMS */
    struct term_set set;           /* the terms */
    double error;                  /* of the terms over the length, rad */
    double edge;                   /* 1/absorption length, 1/m; 0: no absorber */
    double
        slope[CAPILLARY_TERMS]; /* of the frame, X'(omega0) at the places of the terms, s/m */
    struct real_grid grid;      /* of the point */
    double omega0;
    double length;
};

/**
 * Make a medium ready; free with capillary_medium_clear.
 *
 * @return 0, ERR_ARGUMENT (a pressure that the equation of state refuses, a band that wall or
 *         gas are not known for, loss from a wall that gives none), ERR_UNSUPPORTED (a full
 *         form along a gradient or taper that its terms do not hold) or ERR_MEMORY
 */
int capillary_medium_init(const struct capillary_point *point, struct capillary_medium *out);

/** Refuse files that were not read: a stored configuration can be looked at, not run. */
int capillary_medium_data_check(const struct capillary_point *point);

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
 * places there. Does not allocate.
 *
 * @param at   [n]
 * @param out  [n], the terms of the medium
 */
void capillary_medium_path(const struct capillary_medium *medium, double anchor,
                           const double *dz, int n, struct capillary_place *at,
                           double (*out)[STEP_TERMS]);

/** -ln of a window, at most 40: what an absorber takes over its length. */
double capillary_absorber(double window);

/** The place at a position. */
struct capillary_place capillary_medium_place(const struct capillary_medium *medium, double z);

/** Real part of n_eff at an angular frequency and a place. */
double capillary_medium_index(const struct capillary_medium *medium, double omega,
                              const struct capillary_place *at);

/** (u/(k a))^2 of the carrier in the narrowest place: what the guide is made for is far
 * below 1.
 */
double capillary_medium_grazing(const struct capillary_medium *medium);

/** Power loss without its limit GUIDE_ALPHA_MAX at an angular frequency, where the wall's is
 * largest, or out of the table, 1/m. */
double capillary_medium_loss(const struct capillary_medium *medium, double omega);

/** Share of the energy at the carrier that passes the whole length. */
double capillary_medium_transmission(const struct capillary_medium *medium);

/**
 * Prefactor of the nonlinear term per bin without constants, omega spectral_window / n_eff at
 * the middle (or without n_eff, as in vacuum), rad/s. At another place it is to be divided by 1
 * + capillary_medium_lean times `tilt`, and the response to be multiplied by
 * capillary_medium_drift: together exact for the reduced form along a gradient or a taper, and
 * for two columns of a table.
 *
 * @param tilt  receives the change of n_eff over n_eff in the middle, per lean
 */
double capillary_medium_prefactor(const struct capillary_medium *medium, long k, bool vacuum,
                                  double *tilt);

/** What n_eff is linear in, at a place less in the middle: density, else radius^-2, else the
 * share of the second column, each over its unit. */
double capillary_medium_lean(const struct capillary_medium *medium,
                             const struct capillary_place *at);

/** sqrt(Aeff) at a place over that in the middle; times what lean and tilt leave of n_eff at
 * the carrier. */
double capillary_medium_drift(const struct capillary_medium *medium,
                              const struct capillary_place *at, bool vacuum);

#endif
