/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_STEP_CONTROL_H
#define KERNELS_STEP_CONTROL_H

#include <stdbool.h>

/* Lengths of steps (numerics.md §4). Pure functions. */

/* In the order of stepper_methods. */
enum step_method { STEP_RK45, STEP_FIXED };
/* In the order of stepper_norms. */
enum step_norm { STEP_NORM_L2, STEP_NORM_RMS, STEP_NORM_MAX };

/* A step below this fraction of the length ends the member; positions closer than it are one.
 */
#define STEP_MINIMUM 1e-12
/* |Re L h| at most: exp(600) times a field stays finite, exp(709.8) does not. */
#define STEP_LOSS_LIMIT 600.0
/* |Im L h| at most: where vmath_sincos is exact to 1.5 ulp. */
#define STEP_PHASE_LIMIT 0x1p29
/* Of these limits a given step may use this much: those that another build chose were judged
 * with other roundings. */
#define STEP_GIVEN_EXCESS 1.01

/* What a member asks of the stepper. */
struct step_control {
    double length; /* end of the integration, m */
    double rtol;
    double atol; /* in the field's unit */
    enum step_norm norm;
    double first_step; /* m; 0: chosen from the nonlinear term */
    long max_steps;    /* trial steps */
};

/* The controller's memory. */
struct step_plan {
    double natural; /* length that the error allows; INFINITY when nothing limits it */
    bool rejected;  /* the last trial was: the next accepted step may not grow */
};

/**
 * Factor from one step to the next: min(5, max(0.2, 0.9 err^(-1/5))), 5 for err = 0.
 *
 * @param err error over tolerance, >= 0
 */
double step_factor(double err);

/**
 * First step: that of the request, else where the nonlinear term would change the field by
 * tol^(1/5), which is a few times shorter than what the tolerance allows; INFINITY when the
 * nonlinear term is zero.
 *
 * @param field  norm of the state
 * @param slope  norm of the nonlinear term
 */
double step_first(const struct step_control *control, double field, double slope);

/**
 * Length of the next trial: the natural one, shortened by the guard and to land on the plane.
 *
 * @param remaining  distance to the next plane, > STEP_MINIMUM * length
 * @param guard      longest step that the linear operator allows
 * @param lands      receives whether the step ends on the plane
 */
double step_length(const struct step_plan *plan, const struct step_control *control,
                   double remaining, double guard, bool *lands);

/**
 * Take an accepted step of length h into account. A shortened length is not taken for the
 * natural one: it may raise it, and lowers it only when its own error says so.
 */
void step_accepted(struct step_plan *plan, double h, double err);

/** Take a rejected step of length h into account. */
void step_rejected(struct step_plan *plan, double h, double err);

/**
 * Error over tolerance from the sums of a step, l2 norm: ||e|| / (rtol max(||y||, ||ynew||) +
 * atol), 0 when e is zero.
 */
double step_error_l2(const struct step_control *control, double e2, double y2, double new2);

#endif
