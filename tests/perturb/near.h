/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_PERTURB_NEAR_H
#define TESTS_PERTURB_NEAR_H

#include <math.h>
#include <stdbool.h>

#include <check.h>

#include "tests/perturb/record.h"

/*
 * Comparisons within a tolerance that is written where it is used. Each shows in the same call
 * that it would fail: with a fault in what is tested, which is named, small, and worked out
 * there. lint_loosened refuses such tolerances elsewhere in the tests.
 *
 *   ck_assert_near      |got - want| <= tolerance; `faulty` is what would be got with `fault`
 *   ck_assert_ratio     the same for a tolerance relative to want
 *   ck_assert_rounding  the same as ck_assert_ratio where nothing but rounding differs: two
 *                       tolerances more are seen; ck_assert_rounding_of: relative to a scale
 *   ck_assert_norm      an error that is a norm of a difference, or the largest of many: it
 *                       sees a result off by tolerance + error, whatever the direction
 *
 * A fault is at most NEAR_FAR tolerances large, so that it says how much is still seen; the
 * tolerance of a rounding comparison is at most NEAR_ROUNDING.
 */
#define NEAR_FAR      100.0
#define NEAR_ROUNDING 1e-12

/** One such comparison. */
struct near {
    const char *file;
    int line;
    double got, want, tolerance; /* in one unit */
    double faulty;               /* in place of got */
    const char *fault;
};

/** Whether the values are within the tolerance of each other; NaN is not. */
static inline bool near_holds(const struct near *n)
{
    return fabs(n->got - n->want) <= n->tolerance;
}

/** How many tolerances the fault moves the result; NaN counts as far. */
static inline double near_moved(const struct near *n)
{
    const double moved = fabs(n->faulty - n->want) / n->tolerance;
    return isnan(moved) ? NEAR_FAR : moved;
}

/** Whether the comparison fails with its fault, and the fault is small. One of zero is exact.
 */
static inline bool near_sees(const struct near *n)
{
    return !(n->tolerance > 0.0)
           || (!(fabs(n->faulty - n->want) <= n->tolerance) && near_moved(n) <= NEAR_FAR);
}

/** Leave a record, unless the fault was seen as clearly before. */
static inline void near_record(const struct near *n, double *least)
{
    if (!(n->tolerance > 0.0) || near_moved(n) >= 0.9 * *least)
        return;
    *least = near_moved(n);
    perturb_record_place(
        &(struct perturb_place){.file = n->file,
                                .line = n->line,
                                .moved = near_moved(n),
                                .margin = fabs(n->got - n->want) / n->tolerance,
                                .fault = n->fault});
}

/* A loop makes a comparison often; its records are few. */
#define near_assert(near_text, ...)                                                            \
    do {                                                                                       \
        static double near_least = (double)INFINITY;                                           \
        const struct near near_it = {.file = __FILE__, .line = __LINE__, __VA_ARGS__};         \
        ck_assert_msg(near_holds(&near_it), "%s is %.17g, not %.17g within %g", near_text,     \
                      near_it.got, near_it.want, near_it.tolerance);                           \
        ck_assert_msg(near_sees(&near_it),                                                     \
                      "%s, want %.17g within %g: %s gives %.17g, %g of it", near_text,         \
                      near_it.want, near_it.tolerance, near_it.fault, near_it.faulty,          \
                      near_moved(&near_it));                                                   \
        near_record(&near_it, &near_least);                                                    \
    } while (0)

/** Assert |computed - wanted| <= off, and that faulty_value would fail. */
#define ck_assert_near(computed, wanted, off, faulty_value, what)                              \
    near_assert(#computed, .got = (computed), .want = (wanted), .tolerance = (off),            \
                .faulty = (faulty_value), .fault = what)

/** Assert |computed - wanted| <= off |wanted|, and that faulty_value would fail. */
#define ck_assert_ratio(computed, wanted, off, faulty_value, what)                             \
    do {                                                                                       \
        const double near_want = (wanted);                                                     \
        near_assert(#computed, .got = (computed), .want = near_want,                           \
                    .tolerance = (off)*fabs(near_want), .faulty = (faulty_value),              \
                    .fault = what);                                                            \
    } while (0)

/** Assert |computed - wanted| <= off * scale where only rounding differs. */
#define ck_assert_rounding_of(computed, wanted, scale, off)                                    \
    do {                                                                                       \
        const double near_want = (wanted), near_off = (off) * (scale);                         \
        ck_assert_msg((off) <= NEAR_ROUNDING, "%g is no rounding", (double)(off));             \
        near_assert(#computed, .got = (computed), .want = near_want, .tolerance = near_off,    \
                    .faulty = near_want + 2.0 * near_off, .fault = "two tolerances");          \
    } while (0)

/** The same relative to the wanted value. */
#define ck_assert_rounding(computed, wanted, off)                                              \
    do {                                                                                       \
        const double near_wanted = (wanted);                                                   \
        ck_assert_rounding_of(computed, near_wanted, fabs(near_wanted), off);                  \
    } while (0)

/** Assert that an error, the norm of a difference, is at most `off`. */
#define ck_assert_norm(error, off)                                                             \
    do {                                                                                       \
        const double near_error = (error), near_off = (off);                                   \
        ck_assert_msg(near_error >= 0.0, "%s is %g: no norm", #error, near_error);             \
        near_assert(#error, .got = near_error, .want = 0.0, .tolerance = near_off,             \
                    .faulty = nextafter(near_off + near_error, (double)INFINITY),              \
                    .fault = "tolerance and error together");                                  \
    } while (0)

#endif
