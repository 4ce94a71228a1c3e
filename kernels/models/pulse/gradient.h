/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_GRADIENT_H
#define KERNELS_MODELS_PULSE_GRADIENT_H

#include "kernels/models/pulse/mixture.h"

/*
 * How gas and radius change along a guide. Between two points of a gradient the squared
 * pressure is linear in z (compressible viscous flow, physics.md §3.2), between two points of a
 * taper the radius is; before the first and after the last point both are constant. The points
 * are kinks: a value at one is the point's own, and an increment is made of the pieces that it
 * covers, so a kink at its start counts to the right and one at its end to the left.
 *
 * Integrals over a step are formed as direct increments, never as differences of integrals from
 * the start, in a strict unit (gradient_strict.c).
 */

#define GRADIENT_POINTS 64
#define GRADIENT_POWERS 3 /* of the density that are integrated */

/* Points of a law: (z, value); one point means constant. */
struct gradient_points {
    int count;                     /* 1 … GRADIENT_POINTS */
    double z[GRADIENT_POINTS];     /* m, ascending */
    double value[GRADIENT_POINTS]; /* Pa >= 0, or m > 0 */
};

/* A guide along its length. */
struct gradient {
    struct gradient_points pressure;
    double square[GRADIENT_POINTS]; /* pressure squared at the points, Pa^2 */
    struct gradient_points radius;
    double ideal;            /* rho/p of an ideal gas, 1/(m^3 Pa); 0: see table */
    double constant;         /* rho/p where the pressure is constant; 0: see table */
    struct chebyshev *table; /* rho/p over the pressure */
    double error;            /* of the table, relative: of every density and its integrals */
};

/* What the model asks for at a position. */
struct gradient_values {
    double pressure; /* Pa */
    double rho;      /* 1/m^3 */
    double radius;   /* m */
    /* integrals from the anchor to the position: */
    double rho_dz[GRADIENT_POWERS]; /* of rho, rho^2, rho^3: 1/m^2, 1/m^5, 1/m^8 */
    double inverse_square_dz;       /* of radius^-2, 1/m */
    double inverse_cube_dz;         /* of radius^-3, 1/m^2 */
    double inverse_fourth_dz;       /* of radius^-4, 1/m^3 */
    double rho_inverse_square_dz;   /* of rho radius^-2, 1/m^4; 0 unless both change */
};

/**
 * Make a gradient ready; free with gradient_clear.
 *
 * @param pressure, radius points of the two laws, copied
 * @param gas      the filling; not kept
 * @return 0, ERR_ARGUMENT (points that do not ascend, a pressure that is negative or that the
 *         equation of state refuses, a radius that is not positive), ERR_UNSUPPORTED,
 * ERR_MEMORY
 *
 * A real gas is tabulated over the pressures of the law to 1e-12; gradient.error holds what was
 * measured.
 */
int gradient_init(struct gradient *out, const struct gradient_points *pressure,
                  const struct gradient_points *radius, const struct mixture *gas);

/** Free; legal on a zeroed or cleared object. */
void gradient_clear(struct gradient *gradient);

/**
 * All positions of a step at once: values at anchor + dz[i] and integrals from the anchor
 * there.
 *
 * @param anchor start of the step, m
 * @param dz     [n] distances from it, >= 0, m: c_i h, not differences of positions
 * @param out    [n]; out[i] has the bits of a call with dz[i] alone
 */
void gradient_read(const struct gradient *gradient, double anchor, const double *dz, int n,
                   struct gradient_values *out);

#endif
