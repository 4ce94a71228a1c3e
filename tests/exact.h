/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_EXACT_H
#define TESTS_EXACT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <check.h>

/*
 * Comparisons of class P (numerics.md §1) for tests, beside those of
 * kernels/contract/compare.h. A test that compares floating numbers exactly says so by calling
 * one of these; lint_exact refuses ==, != and memcmp on them elsewhere. Values that were
 * computed with rounding have a bound instead.
 */

/** Whether two doubles are the same bits: +0 and -0 differ, NaN payloads count. */
static inline bool exactly(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/** Whether a number is a zero of either sign. */
static inline bool is_zero(double x)
{
    return fpclassify(x) == FP_ZERO;
}

/** Whether two runs of bytes are equal: copies, states, what was stored and read again. */
static inline bool equal_bits(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

/** Assert that two doubles are the same bits. */
#define ck_assert_exactly(value, wanted)                                                       \
    do {                                                                                       \
        const double exact_value = (value);                                                    \
        const double exact_wanted = (wanted);                                                  \
        ck_assert_msg(exactly(exact_value, exact_wanted), "%s is %.17g, not %.17g", #value,    \
                      exact_value, exact_wanted);                                              \
    } while (0)

#endif
