/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_KERNELS_BACKEND_SUITE_H
#define TESTS_KERNELS_BACKEND_SUITE_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernels/backend.h"

/*
 * Conformance of backends: each kernel of fast.def and strict.def needs, in one of the
 * reference_*.c files,
 *
 *   const struct kernel_field fields_NAME[]   what its argument struct holds, ended by name
 * NULL void reference_NAME(args, s, row, n, answers)   the formula in long double, one row,
 * written without the body; and a bound derived beforehand
 *
 * A kernel without them does not link. The suite does the rest.
 */

enum field_role {
    FIELD_END,
    FIELD_COMPLEX,     /* input, [rows][ld] */
    FIELD_REAL,        /* input, [rows][ld], or [rows][ld_real] where there is FIELD_LD_REAL */
    FIELD_SCALARS,     /* input, [rows][width] */
    FIELD_COMPLEX_OUT, /* output, [rows][ld] */
    FIELD_COMPLEX_IN_OUT, /* output that is read first */
    FIELD_REAL_OUT,       /* output, as FIELD_REAL */
    FIELD_SPLIT,          /* input, split rows [rows][2][ld] (kernels/kdefs.h) */
    FIELD_SPLIT_OUT,      /* output, the same */
    FIELD_SPLIT_IN_OUT,   /* output that is read first, the same */
    FIELD_SUMS,           /* output, [rows][width] */
    FIELD_LD_REAL,        /* a stride of its own for real rows */
    FIELD_LD_SPEC,        /* a stride of its own for complex rows that are not split */
    FIELD_GROUP /* rows that share their scalars; to a reference each row has its own */
};

enum field_flag {
    FIELD_EVEN = 1,     /* a change of sign of all elements leaves the result */
    FIELD_HOLES = 2,    /* every third element is zero */
    FIELD_STEPWISE = 4, /* component c is read by instances s > c */
    FIELD_FRONT = 8     /* of the components the first half alone is read */
};

struct kernel_field {
    const char *name;
    enum field_role role;
    size_t offset; /* in the argument struct */
    int width;     /* scalars or sums of a row */
    int from;      /* instances s >= from use it; NULL is passed to the others */
    unsigned flags;
    double low, high; /* inputs are uniform between; 0, 0: -1 to 1 */
};

/* What one output field of one row must be. Complex elements are two numbers, with one bound
 * for the modulus of their error. */
struct answer {
    double *value;
    double *bound;
};

/* u = 2^-53, and the relative error of k roundings. */
#define ROUNDOFF 0x1p-53L

static inline long double roundings(long double k)
{
    return k * ROUNDOFF / (1.0L - k * ROUNDOFF);
}

/* Roundings of a complex product: its error is below sqrt(2) gamma(2) |a| |b| (Higham, 2002,
 * lemma 3.5). */
#define PRODUCT 2.83L

/* Error of the pair of vmath_sincos as a complex number: 1.5 ulp of each part, an ulp of a
 * number below 1 being at most u; and of the C library, which is better. */
#define PHASE 2.13L

/* Roundings of each result of vmath_exp_both at x: 1.4 ulp, 1.1 where x is not reduced, an ulp
 * being at most 2u of the number. */
static inline long double exponential_error(long double x)
{
    const long double mild = (long double)VMATH_MILD;
    return x < -mild || x > mild ? 2.8L : 2.2L;
}

/* The imaginary unit; C's I is a float, and clang warns of its widening. */
#define IMAGINARY ((long double complex)I)

static inline long double complex element(const cplx *array, long i)
{
    return (long double)array[i].r + (long double)array[i].i * IMAGINARY;
}

/* Element i of row `row` of split rows. */
static inline long double complex split_element(const double *array, long row, long ld, long i)
{
    const double *at = array + 2 * row * ld + i;
    return (long double)at[0] + (long double)at[ld] * IMAGINARY;
}

/* Stores a complex element; rounding it to double is part of the bound. */
static inline void answer_complex(struct answer *answer, long i, long double complex value,
                                  long double bound)
{
    answer->value[2 * i] = (double)creall(value);
    answer->value[2 * i + 1] = (double)cimagl(value);
    answer->bound[i] = (double)(bound + ROUNDOFF * cabsl(value));
}

static inline void answer_real(struct answer *answer, long i, long double value,
                               long double bound)
{
    answer->value[i] = (double)value;
    answer->bound[i] = (double)(bound + ROUNDOFF * fabsl(value));
}

/* Answers stand in the order of the output fields. */
#define KERNEL(name, args)                                                                     \
    extern const struct kernel_field fields_##name[];                                          \
    void reference_##name(const struct args##_args *a, int s, long row, long n,                \
                          struct answer *answers);
#define KERNEL_N(name, last, args)      KERNEL(name, args)
#define KERNEL_SUM(name, outputs, args) KERNEL(name, args)
#define KERNEL_NORM(name, args)         KERNEL(name, args)
#define KERNEL_ROW(name, outputs, args) KERNEL(name, args)
#define KERNEL_LINE(name, args)         KERNEL(name, args)
#include "kernels/fast.def"
#include "kernels/strict.def"
#undef KERNEL
#undef KERNEL_N
#undef KERNEL_SUM
#undef KERNEL_NORM
#undef KERNEL_ROW
#undef KERNEL_LINE

/* One row of the suite's own table, made from the .def lists. */
struct kernel_case {
    const char *name;
    int last; /* instances s = 0 … last */
    size_t size;
    size_t ld; /* offsets in the argument struct */
    size_t active;
    const struct kernel_field *fields;
    void (*reference)(const void *args, int s, long row, long n, struct answer *answers);
    int (*launch)(struct backend *be, const void *args, int s, long row, long rows, long n);
};

/** All kernels of the .def lists. @param count receives their number. */
const struct kernel_case *kernel_cases(int *count);

#endif
