/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_CONTRACT_ENSEMBLE_H
#define KERNELS_CONTRACT_ENSEMBLE_H

/*
 * Statistical errors of ensemble observables (numerics.md §2, class N). The realisations are
 * independent; their fields at a bin are a mean plus circular Gaussian noise where a formula
 * says so.
 */

/**
 * Standard error of a mean over realisations: sqrt(sum (x - mean)^2 / (M - 1) / M), in the unit
 * of x. The mean spectrum of an ensemble is such a mean, bin by bin.
 *
 * @param values [count * stride] one number of each realisation, at 0, stride, 2 stride, ...
 * @param count  M >= 2 realisations
 * @param mean   may be NULL
 * @return 0, or ERR_ARGUMENT for less than two, or values that are not finite
 */
int ensemble_mean_error(const double *values, long count, long stride, double *mean,
                        double *error);

/* Which estimate of the modulus of a coherence is meant. */
enum coherence_estimate {
    /* |sum_i a_i* b_i| / sqrt(sum|a_i|^2 sum|b_i|^2): two fields of each realisation */
    COHERENCE_PRODUCTS,
    /* ||S|^2 - Q| / ((M - 1) Q), S = sum E_i, Q = sum|E_i|^2: pairs i != j of one field */
    COHERENCE_PAIRS
};

/* What M realisations can say of |g|. */
struct coherence_error {
    double floor;    /* mean of the estimate where nothing is coherent */
    double variance; /* of the estimate, to leading order in 1/M */
};

/**
 * Bias floor and variance of an estimate of |g12| from M realisations.
 *
 * Products: 1/sqrt(M), the root of the mean square (its mean is sqrt(pi)/2 of it), and
 * (1 - g^2)^2 / (2 M).
 * Pairs: |S|^2/Q is exponential where g = 0, so that the mean is (2/e)/(M - 1) and the variance
 * (1 - 4/e^2)/(M - 1)^2; otherwise, by error propagation through |S|^2 and Q,
 * g (1 - g)^2 (2 - g) / M. The variance given is the second plus (1 - g)^4 times the first.
 *
 * @param g    coherence, 0 to 1
 * @param runs M >= 2
 * @return 0, or ERR_ARGUMENT
 *
 * Source: numerics.md §2; J. W. Goodman, Statistical Optics, Wiley 1985, §6.2, for products;
 * derived for pairs (Dudley and Coen, Opt. Lett. 27, 1180, define them).
 */
int ensemble_coherence_error(enum coherence_estimate estimate, double g, double runs,
                             struct coherence_error *out);

#endif
