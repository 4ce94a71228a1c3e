/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_MODELS_PULSE_RAMAN_MIX_H
#define KERNELS_MODELS_PULSE_RAMAN_MIX_H

#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/raman_gas.h"

/*
 * The Raman response along a gradient. The widths of the lines follow the density, so rho h(t;
 * rho) is taken as a polynomial in rho through up to three densities, in Newton's form:
 *
 *   rho h = f_0 + w_0(rho) f_1 + w_1(rho) f_2
 *
 * As long as lines live longer than the window, rho h is linear in the collisional and
 * diffusional widths, and so quadratic in rho.
 */

#define RAMAN_MIX_MAX 3

/* Largest error that is accepted: of int |rho h| dt over the window, of its largest value. */
#define RAMAN_MIX_ERROR bound(BOUND_raman_mix)

/* A response at all densities of a guide. */
struct raman_mix {
    enum gas gas;
    double temperature;
    int count;                 /* functions f */
    double rho[RAMAN_MIX_MAX]; /* of the polynomial, 1/m^3 */
    double unit;               /* 1/m^3 */
    double error;
};

/**
 * As few functions as hold the response between two densities.
 *
 * @param window time that counts, s
 * @return 0, or ERR_UNSUPPORTED: no response (raman_gas_lines), or three do not hold it
 */
int raman_mix_init(enum gas gas, double temperature, double low, double high, double window,
                   struct raman_mix *out);

/** w_0, w_1 at a density. */
void raman_mix_weights(const struct raman_mix *mix, double rho,
                       double weight[RAMAN_MIX_MAX - 1]);

/**
 * Samples of f_k times dt, as raman_lines_sample.
 *
 * @param scratch [n]
 * @param out     [n]
 */
int raman_mix_sample(const struct raman_mix *mix, int k, double dt, long n, double *scratch,
                     double *out);

#endif
