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

/* A mean over realisations at many bins, and its standard errors. */
struct ensemble_mean {
    const double *mean;  /* [bins] */
    const double *error; /* [bins] standard errors of the means */
    long runs;           /* realisations, independent of the other ensemble's */
};

/* Two means compared bin by bin: z = (a - b) / sqrt(error_a^2 + error_b^2). */
struct ensemble_difference {
    long bins;          /* compared: at least weak_bin of either peak, with an error */
    double freedom;     /* M_a + M_b - 2: z follows Student's t where the means agree */
    double correlation; /* bins that vary together: 1 + 2 sum of the autocorrelations of z */
    double chi2;        /* mean of z^2 … */
    double expected;    /* … where the means agree: f / (f - 2) … */
    double spread;      /* … and its standard deviation by chance */
    long beyond2;       /* bins with |z| > 2 … */
    long beyond3;       /* … > 3 … */
    double chance2;     /* … and how many chance gives */
    double chance3;
    double largest; /* |z| */
    long worst;     /* bin of it */
};

/**
 * Compare two means of independent ensembles.
 *
 * @param bins  of both
 * @return 0; ERR_ARGUMENT for fewer than 7 realisations together (the spread of z^2 needs four
 *         degrees of freedom), or no bin that can be compared
 *
 * Source: Welch's t of two samples of about one variance; F(1, f) for z^2, so that its mean is
 * f/(f - 2) and its variance 2 f^2 (f - 1)/((f - 2)^2 (f - 4)).
 */
int ensemble_compare(const struct ensemble_mean *a, const struct ensemble_mean *b, long bins,
                     struct ensemble_difference *out);

/** How many standard deviations the largest of so many independent normal numbers exceeds with
 * the chance that a single one exceeds `sigmas` of bounds.def. @param tests >= 1 */
double ensemble_limit(double tests);

/**
 * How far a comparison is from what chance gives, in standard deviations: the largest of chi2
 * and of the bins beyond 3, each with bins that vary together counted once, and of the largest
 * |z| of so many bins, which holds whatever they have in common. The correlation is that of z
 * itself, so that a broad difference hides in the first two: the third sees it.
 */
double ensemble_excess(const struct ensemble_difference *difference);

#endif
