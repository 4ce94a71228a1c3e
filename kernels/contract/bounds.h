/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_CONTRACT_BOUNDS_H
#define KERNELS_CONTRACT_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Rounding bounds and comparisons (numerics.md §2). u is the unit roundoff (2^-53 in binary64),
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
 * |computed - exact| of a sum along a tree: gamma(depth) sum|x_i|.
 *
 * @param depth   additions on the longest path: n - 1 for a loop over n terms
 * @param sum_abs sum of |x_i|
 * @return as bound_gamma, also ERR_ARGUMENT for a sum_abs that is negative or not finite
 */
int bound_sum(double depth, double sum_abs, enum precision precision, double *out);

/**
 * |computed - exact| of a dot product of n terms: gamma(n) sum|a_i b_i| + n tiny (products may
 * be sub-normal). A complex product counts as two real ones.
 */
int bound_dot(double n, double sum_abs, enum precision precision, double *out);

/**
 * |computed - exact| of a chunked prefix sum: gamma(chunk + offsets + 1) sum|x_i| up to there.
 *
 * @param chunk   additions on the longest path within a chunk
 * @param offsets additions on the longest path of the sums of the chunks before
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

/* What is compared with what: |value - reference| <= bound, element by element. */
struct comparison_input {
    const double *value;     /* [n], or [2 n] re, im pairs */
    const double *reference; /* the same shape */
    long n;                  /* elements */
    bool is_complex;         /* an element's error is its modulus */
    const double *bounds;    /* [n] absolute bounds, NULL: atol + rtol |reference| */
    double atol;
    double rtol;
};

/* An array against its reference, element by element. */
struct comparison {
    bool within;     /* all finite, and margin <= 1 */
    double margin;   /* largest |error| / bound; INFINITY where the bound is 0 and the error is
                        not,   or where a value is not finite */
    long worst;      /* index of the element with that margin */
    double observed; /* its |error| */
    double allowed;  /* its bound */
    long not_finite; /* values that are NaN or Inf */
    double weak;     /* largest |error| / |reference| of elements below weak_bin of the peak: an
                        observation, not part of the verdict */
};

/**
 * Compare with a reference.
 *
 * @return 0 with the result in out, or ERR_ARGUMENT when there is nothing to compare with: n <
 * 1, a reference or bound that is not finite, a negative bound, a reference that is zero
 *         everywhere
 */
int comparison_run(const struct comparison_input *in, struct comparison *out);

/**
 * Compare norms: ||value - reference||_2 <= bound ||reference||_2.
 *
 * @param in    bounds, atol and rtol are not read
 * @param limit relative bound, > 0
 * @return as comparison_run; observed, allowed and margin are of the norm, worst is -1
 */
int comparison_norm(const struct comparison_input *in, double limit, struct comparison *out);

/**
 * First element that differs in its bits (+0 and -0 differ, NaN payloads count), -1 when none.
 *
 * @param size  bytes of one element
 * @param count elements
 */
long comparison_bits(const void *a, const void *b, size_t size, long count);

#endif
