/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_CONTRACT_BOUNDS_H
#define KERNELS_CONTRACT_BOUNDS_H

/*
 * Rounding bounds (numerics.md §2). u is the unit roundoff (2^-53 in binary64),
 * eps = 2u; they are never interchanged. Notation and proofs: N. J. Higham, Accuracy and
 * Stability of Numerical Algorithms, 2nd ed., SIAM 2002, chapters 3 and 4.
 */

/* The rows of bounds.def. */
enum bound_id {
#define BOUND(name, value, unit, source) BOUND_##name,
#include "kernels/contract/bounds.def"
#undef BOUND
    BOUND_COUNT
};

/* A row of bounds.def. */
struct bound_entry {
    const char *name;
    double value;
    const char *unit;
    const char *source;
};

/** Row of bounds.def. */
const struct bound_entry *bound_entry(enum bound_id id);

/** Value of a row of bounds.def, in the row's unit. */
double bound(enum bound_id id);

/* Floating-point formats that a contract may speak of. */
enum precision { PRECISION_F64, PRECISION_F32, PRECISION_BF16 };

/** Unit roundoff u: 2^-53, 2^-24 or 2^-8. */
double precision_roundoff(enum precision precision);

/** Smallest positive sub-normal number: 2^-1074, 2^-149 or 2^-133. */
double precision_tiny(enum precision precision);

/**
 * gamma(k) = k u / (1 - k u), the relative error of k roundings one after the other.
 *
 * @param k roundings, >= 0; need not be whole
 * @return 0, or ERR_ARGUMENT when k < 0 or k u >= 1
 */
int bound_gamma(double k, enum precision precision, double *gamma);

/**
 * Additions on the longest path of a sum of n terms that `lanes` partial sums share, each one
 * loop, joined pairwise: ceil(n / lanes) - 1 + ceil(log2 lanes). One lane is a loop, n lanes
 * are a tree.
 *
 * @param n     terms, >= 1
 * @param lanes partial sums, 1 to n
 * @return 0, or ERR_ARGUMENT
 */
int bound_sum_depth(long n, long lanes, double *depth);

/**
 * |computed - exact| of a sum along a tree: gamma(depth) sum|x_i|. The difference of two
 * computed sums is within the sum of their two bounds.
 *
 * @param depth   additions on the longest path (bound_sum_depth): n - 1 for a loop over n terms
 * @param sum_abs sum of |x_i|
 * @return as bound_gamma, also ERR_ARGUMENT for a sum_abs that is negative or not finite
 */
int bound_sum(double depth, double sum_abs, enum precision precision, double *out);

/**
 * |computed - exact| of a dot product of n terms, added in any order, with fused products or
 * without: gamma(n) sum|a_i b_i| + n tiny (products may be sub-normal).
 */
int bound_dot(double n, double sum_abs, enum precision precision, double *out);

/**
 * Modulus of computed - exact of a dot product of n complex terms, of either conjugation.
 *
 * Real and imaginary part are dot products of 2 n real terms each, and the terms of one part
 * have sum|a_r b_r| + |a_i b_i| <= sum|a_i||b_i|: sqrt(2) (gamma(2 n) sum|a_i||b_i| + 2 n
 * tiny).
 *
 * @param sum_abs sum of |a_i||b_i|, moduli
 * @return as bound_sum
 *
 * Source: Higham 2002, §3.6 for n = 1.
 */
int bound_complex_dot(double n, double sum_abs, enum precision precision, double *out);

/**
 * |computed - exact| of a chunked prefix sum: gamma(m + D + 1) sum|x_i| up to there; the one is
 * the addition of the offset. m and D are those of the scan that runs.
 *
 * @param chunk   m: additions on the longest path within a chunk; its length for a loop
 * @param offsets D: additions on the longest path through the totals of the chunks before
 * @param sum_abs sum of |x_i| up to the element
 * @return as bound_sum
 */
int bound_scan(double chunk, double offsets, double sum_abs, enum precision precision,
               double *out);

/**
 * |computed - exact| of a symmetric stencil: gamma(2 side + 2) (|c_0 y_n| + sum|c_k|(|y_(n-k)|
 * + |y_(n+k)|)) + tiny of its products.
 *
 * @param side    taps a side, >= 0
 * @param sum_abs the bracket
 */
int bound_stencil(int side, double sum_abs, enum precision precision, double *out);

/**
 * Normwise relative error of a transform and its inverse, pointwise work between them included:
 * 512 eps ceil(log2 n); one for n = 1.
 *
 * @param n length, >= 1
 */
int bound_fft(long n, double *out);

/**
 * |difference| of two evaluations of the same short propagation: 16 eps (1 step) or 128 eps (up
 * to 8 steps) of the state's peak magnitude; well-conditioned windows only.
 *
 * @param steps 1 to 8
 * @param peak  largest magnitude of the state, > 0
 */
int bound_steps(int steps, double peak, double *out);

/* Steps of a matched propagation: what a step makes of an error that it meets, and the rounding
 * errors that it adds. */
struct propagation_step {
    double gain;     /* largest growth of an error over the step, >= 0 */
    double rounding; /* eta: error made in the step itself, in the state's unit, >= 0 */
};

/**
 * ||e_N|| of a propagation over N steps: prod(G_j) ||e_0|| + sum_k eta_k prod_{j > k} G_j.
 *
 * @param steps   [count], in the order of the propagation; not read when count is 0
 * @param count   N >= 0
 * @param initial ||e_0||, in the state's unit, >= 0
 * @return 0, or ERR_ARGUMENT for numbers that are negative or not finite, also when the bound
 *         itself is not finite
 *
 * Source: numerics.md §2; induction over e_k <= G_k e_(k-1) + eta_k.
 */
int bound_propagation(const struct propagation_step *steps, int count, double initial,
                      double *out);

#endif
