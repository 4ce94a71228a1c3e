/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_CONTRACT_COMPARE_H
#define KERNELS_CONTRACT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/contract/bounds.h"
#include "kernels/model.h"

/*
 * Comparisons of numbers (numerics.md §1, §2): within a tolerance (classes R and T), and bit
 * for bit (class P). What is compared must be finite in the first kind, a reference that is
 * empty or zero everywhere is refused there, and every result carries its margin
 * observed/bound. A strict unit: an error is the rounded difference of the two numbers, no more
 * and no less.
 */

/* Part: Doubles within a tolerance. */

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

/* Where an element stands. */
struct comparison_place {
    long member; /* row of the first dimension */
    long plane;  /* of that member */
    long index;  /* element of that plane, C order */
};

/* An array against its reference, element by element. */
struct comparison {
    bool within;     /* all finite, and margin <= 1 */
    double margin;   /* largest |error| / bound; INFINITY where the bound is 0 and the error is
                        not, or where a value is not finite */
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

/* How the |errors| of all elements are distributed, in the unit of the array. P of a share: the
 * smallest error that at least this share of the elements does not exceed. */
struct error_distribution {
    double largest;
    double mean;
    double p99;
    double p999; /* P99.9 */
};

/**
 * Distribution of the errors of a comparison; bounds, atol and rtol are not read. A value that
 * is not finite has the error INFINITY.
 *
 * @return as comparison_run, also ERR_MEMORY: it sorts a copy of n errors
 */
int comparison_distribution(const struct comparison_input *in, struct error_distribution *out);

/* Part: Arrays with their type and shape. */

/* Planes of members: [members][planes][dim[0]]...[dim[dims - 1]], C order. */
struct compared_array {
    const void *data;
    enum element type;
    long members;
    long planes;
    int dims; /* of one plane, 0: one element */
    long dim[LAYOUT_DIMS_MAX];
};

/** Where element i of such an array stands. */
struct comparison_place comparison_place(const struct compared_array *array, long i);

/**
 * |value - reference| <= atol + rtol |reference| for arrays of any floating type, computed in
 * double; comparison_place(value, out->worst) says where.
 *
 * @return as comparison_run, also ERR_ARGUMENT for other type or shape than the reference's,
 * and for whole numbers, which are of class P
 */
int comparison_arrays(const struct compared_array *value,
                      const struct compared_array *reference, double atol, double rtol,
                      struct comparison *out);

/* What NaN is worth in a comparison of bits. */
enum nan_policy {
    NAN_FORBID,   /* a NaN on either side is a difference, equal or not */
    NAN_BITWISE,  /* payload and sign count */
    NAN_CANONICAL /* one NaN is like the other, and unlike any number */
};

/* An array against another, bit for bit. */
struct bit_comparison {
    bool equal;
    long different;                /* elements */
    long nans;                     /* elements that hold a NaN on either side */
    long first;                    /* first element that differs, -1: none */
    struct comparison_place place; /* of the first */
};

/**
 * Compare bit for bit: +0 and -0 differ. Zeros are legal here: exact zeros are of class P.
 *
 * @return 0 with the result in out, or ERR_ARGUMENT for an empty array, other type or shape
 */
int comparison_exact(const struct compared_array *a, const struct compared_array *b,
                     enum nan_policy policy, struct bit_comparison *out);

/**
 * Largest distance of two arrays in units in the last place.
 *
 * @param largest steps from one number of the type to the next that lie between the two; +0 and
 *                -0 are one; UINT64_MAX where either is not finite
 * @param at      element with it; may be NULL
 * @return as comparison_exact, also ERR_ARGUMENT for whole numbers
 */
int comparison_ulps(const struct compared_array *a, const struct compared_array *b,
                    uint64_t *largest, long *at);

/* Part: Single numbers and plain bytes. */

/** Steps between neighbouring doubles from a to b; as comparison_ulps. */
uint64_t ulp_distance(double a, double b);

/**
 * First element that differs in its bits (+0 and -0 differ, NaN payloads count), -1 when none.
 *
 * @param size  bytes of one element
 * @param count elements
 */
long comparison_bits(const void *a, const void *b, size_t size, long count);

#endif
