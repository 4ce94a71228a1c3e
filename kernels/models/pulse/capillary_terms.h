/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_CAPILLARY_TERMS_H
#define KERNELS_MODELS_PULSE_CAPILLARY_TERMS_H

#include "kernels/models/pulse/gradient.h"
#include "kernels/models/pulse/marcatili.h"
#include "kernels/step/rk45.h"

/*
 * A function of the place in a guide as a sum of few products, f(place) = sum of q_j(place)
 * c_j, from its values at as many places. The q_j have integrals along the guide that are exact
 * (gradient.h).
 */

#define CAPILLARY_TERMS STEP_TERMS
#define CAPILLARY_FEW   4 /* more only where density and radius change, in the full form */

/* What a term may be: a power of the density or of 1/radius, or the density over the area. */
enum term_function {
    TERM_ONE,
    TERM_RHO,
    TERM_RHO2,
    TERM_RHO3,
    TERM_A2,
    TERM_A3,
    TERM_A4,
    TERM_RHO_A2
};

/* A choice of terms; the first is TERM_ONE. */
struct term_choice {
    int count; /* 1 … CAPILLARY_TERMS */
    enum term_function function[CAPILLARY_TERMS];
};

/*
 * Terms made ready. More than CAPILLARY_FEW powers are close to being dependent along a guide.
 * They are taken in Newton's form: q_j is power j less what the powers before tell of it, so
 * that it is 0 at the nodes before j and its coefficient as small as what it adds.
 */
struct term_set {
    struct term_choice choice;
    double rho;                                       /* unit of the density, 1/m^3 */
    double radius;                                    /* unit of the radius, m */
    struct guide_place node[CAPILLARY_TERMS];         /* where f is to be known */
    int place[CAPILLARY_TERMS];                       /* their numbers among the places */
    double inverse[CAPILLARY_TERMS][CAPILLARY_TERMS]; /* from values to coefficients */
    bool newton;
    double upper[CAPILLARY_TERMS][CAPILLARY_TERMS]; /* of Newton's form: powers at the nodes,
                                                       reduced by those before */
};

/**
 * Terms through places that are given.
 *
 * @param out   choice, units and nodes are set; receives the rest
 * @return whether the places tell the terms apart
 */
bool term_set_solve(struct term_set *out);

/**
 * Terms through the places among many that tell them apart best.
 *
 * @param out   choice and units are set; receives the rest
 * @param place [n]
 * @return whether any places do
 */
bool term_set_choose(struct term_set *out, const struct guide_place *place, int n);

/** c_j from values at the nodes. Differences of them alone are multiplied, so that places which
 * hardly differ do not amplify rounding. */
void term_set_coefficients(const struct term_set *set, const double *values,
                           double *coefficients);

/** q_j at a place. */
void term_set_weights(const struct term_set *set, struct guide_place at, double *weights);

/** Integrals of q_j from those of the guide. */
void term_set_integrals(const struct term_set *set, const struct gradient_values *values,
                        double dz, double *integrals);

#endif
