/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels/bodies/vmath.h against MPFR with 200 bits, in the build for each instruction set that
 * runs here. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <mpfr.h>

#include "kernels/base/rng.h"
#include "kernels/contract/bounds.h"
#include "tests/exact.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/vmath_points.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

#define BITS 200
#define INF  ((double)INFINITY)
#define NONE ((double)NAN)

static bool is_here(const struct vmath_points *points)
{
    return points != NULL
           && (points == &vmath_points_baseline || isa_runs(isa_named(points->isa)));
}

static const struct vmath_points *const builds[] = {&vmath_points_baseline,
#ifdef TEST_HAS_V3
                                                    &vmath_points_v3,
#endif
#ifdef TEST_HAS_V4
                                                    &vmath_points_v4,
#endif
                                                    NULL};

/* Uniform numbers in (low, high]. */
static void fill_uniform(double *x, long n, double low, double high)
{
    const struct rng_stream stream = {.seed = 20250131};
    for (long i = 0; i < n; i++) {
        double u[2];
        rng_uniform2(&stream, (uint64_t)i, u);
        x[i] = low + (high - low) * u[0];
    }
}

static double *array_new(long n)
{
    double *array = calloc((size_t)n, sizeof *array);
    ck_assert_ptr_nonnull(array);
    return array;
}

/* Exponent of the unit in the last place of a double near this number. */
static long ulp_exponent(const mpfr_t exact)
{
    const long exponent = mpfr_zero_p(exact) ? -1022 : (long)mpfr_get_exp(exact) - 1;
    return (exponent < -1022 ? -1022 : exponent) - 52;
}

/* |got - exact| / 2^exponent; scaled before it becomes a double, which may be sub-normal. */
static double error_of(double got, const mpfr_t exact, long exponent)
{
    mpfr_t difference;
    mpfr_init2(difference, BITS);
    mpfr_set_d(difference, got, MPFR_RNDN);
    mpfr_sub(difference, difference, exact, MPFR_RNDN);
    mpfr_div_2si(difference, difference, exponent, MPFR_RNDN);
    const double error = fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
}

typedef int mpfr_function(mpfr_t, const mpfr_t, mpfr_rnd_t);

/* Largest error of got[] in ulp, or absolute. */
static double largest_error(mpfr_function *exact_of, const double *x, const double *got, long n,
                            bool absolute)
{
    mpfr_t exact;
    mpfr_init2(exact, BITS);
    double largest = 0.0;
    for (long i = 0; i < n; i++) {
        mpfr_set_d(exact, x[i], MPFR_RNDN);
        exact_of(exact, exact, MPFR_RNDN);
        const double error = error_of(got[i], exact, absolute ? 0 : ulp_exponent(exact));
        ck_assert_msg(isfinite(got[i]), "not finite at %.17g", x[i]);
        if (error > largest)
            largest = error;
    }
    mpfr_clear(exact);
    return largest;
}

/* A flipped sign, a dropped term and 1e-9 too much of the largest value must each be seen. */
static void check_faults_seen(mpfr_function *exact_of, const double *x, const double *got,
                              long n, enum bound_id id, bool absolute)
{
    static const double factors[] = {-1.0, 0.0, 1.0 + 1e-9};
    long at = 0;
    for (long i = 1; i < n; i++)
        at = fabs(got[i]) > fabs(got[at]) ? i : at;
    if (fabs(got[at]) < DBL_MIN) /* a sub-normal number has no place for 1e-9 of it */
        return;
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        const double wrong = got[at] * factors[f];
        ck_assert_msg(largest_error(exact_of, x + at, &wrong, 1, absolute) > bound(id),
                      "%g for %g at %g is not seen", wrong, got[at], x[at]);
    }
    double seen = (double)INFINITY;
    for (int decade = 1; perturb_wanted() && decade <= 18; decade++) {
        const double wrong = got[at] * (1.0 + pow(10.0, -decade));
        if (largest_error(exact_of, x + at, &wrong, 1, absolute) <= bound(id))
            break;
        seen = pow(10.0, -decade);
    }
    perturb_record(bound_entry(id)->name, seen,
                   largest_error(exact_of, x + at, got + at, 1, absolute) / bound(id));
}

struct range {
    double low, high;
    long n;
};

static void check_sincos(const double *x, long n, enum bound_id id, bool absolute)
{
    double *sine = array_new(n);
    double *cosine = array_new(n);
    for (int b = 0; builds[b] != NULL; b++) {
        if (!is_here(builds[b]))
            continue;
        builds[b]->sincos(x, sine, cosine, n);
        const double s = largest_error(mpfr_sin, x, sine, n, absolute);
        const double c = largest_error(mpfr_cos, x, cosine, n, absolute);
        ck_assert_msg(s <= bound(id) && c <= bound(id),
                      "%s, x = %g…: sin %g, cos %g, allowed %g", builds[b]->isa, x[0], s, c,
                      bound(id));
        ck_assert_msg(s > 0.0 && c > 0.0, "no error at all: the comparison compares nothing");
        check_faults_seen(mpfr_sin, x, sine, n, id, absolute);
        check_faults_seen(mpfr_cos, x, cosine, n, id, absolute);
    }
    free(sine);
    free(cosine);
}

START_TEST(sincos_keeps_its_ulp_bound_to_2_30)
{
    static const struct range ranges[] = {
        {-0.79, 0.79, 8000}, {-20, 20, 3000}, {-1e5, 1e5, 3000}, {-0x1p30, 0x1p30, 3000}};
    for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        double *x = array_new(ranges[r].n);
        fill_uniform(x, ranges[r].n, ranges[r].low, ranges[r].high);
        check_sincos(x, ranges[r].n, BOUND_sincos_ulp, false);
        free(x);
    }
}
END_TEST

/* The hardest arguments: doubles next to a multiple of pi/2, where all leading bits cancel. */
START_TEST(sincos_keeps_its_ulp_bound_next_to_multiples_of_half_pi)
{
    enum { N = 4000 };
    double *x = array_new(N);
    double *k = array_new(N);
    fill_uniform(k, N, 1.0, 0x1p29);
    mpfr_t half_pi;
    mpfr_t product;
    mpfr_init2(half_pi, BITS);
    mpfr_init2(product, BITS);
    mpfr_const_pi(half_pi, MPFR_RNDN);
    mpfr_div_ui(half_pi, half_pi, 2, MPFR_RNDN);
    for (long i = 0; i < N; i++) {
        mpfr_mul_ui(product, half_pi, i < N / 2 ? (unsigned long)i + 1 : (unsigned long)k[i],
                    MPFR_RNDN);
        x[i] = mpfr_get_d(product, MPFR_RNDN);
    }
    mpfr_clear(half_pi);
    mpfr_clear(product);
    check_sincos(x, N, BOUND_sincos_ulp, false);
    free(k);
    free(x);
}
END_TEST

START_TEST(sincos_keeps_its_absolute_bound_to_2_48)
{
    enum { N = 4000 };
    double *x = array_new(N);
    fill_uniform(x, N, 0x1p30, 0x1p48);
    check_sincos(x, N, BOUND_sincos_far, true);
    free(x);
}
END_TEST

/* Takes a function of one argument from each build over a range. */
static void check_range(mpfr_function *exact_of, int which, struct range range,
                        enum bound_id id)
{
    double *x = array_new(range.n);
    double *got = array_new(range.n);
    fill_uniform(x, range.n, range.low, range.high);
    for (int b = 0; builds[b] != NULL; b++) {
        const struct vmath_points *p = builds[b];
        void (*const functions[])(const double *, double *,
                                  long) = {p->exp, p->log, p->expm1_small, p->expm1_negative};
        if (!is_here(p))
            continue;
        functions[which](x, got, range.n);
        const double error = largest_error(exact_of, x, got, range.n, false);
        ck_assert_msg(error <= bound(id), "%s on (%g, %g]: %g ulp, allowed %g", p->isa,
                      range.low, range.high, error, bound(id));
        check_faults_seen(exact_of, x, got, range.n, id, false);
    }
    free(x);
    free(got);
}

START_TEST(exp_keeps_its_ulp_bound)
{
    check_range(mpfr_exp, 0, (struct range){-0.35, 0.35, 8000}, BOUND_exp_ulp);
    check_range(mpfr_exp, 0, (struct range){-708.0, 709.78, 8000}, BOUND_exp_ulp);
    check_range(mpfr_exp, 0, (struct range){-1e-9, 1e-9, 1000}, BOUND_exp_ulp);
    check_range(mpfr_exp, 0, (struct range){-745.1, -708.0, 3000}, BOUND_exp_subnormal_ulp);
}
END_TEST

static int exp_of_negative(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_neg(out, x, rounding);
    return mpfr_exp(out, out, rounding);
}

/* Both results of each build over a range. */
static void check_both(bool mild, struct range range, enum bound_id id)
{
    double *x = array_new(range.n);
    double *forth = array_new(range.n);
    double *back = array_new(range.n);
    fill_uniform(x, range.n, range.low, range.high);
    for (int b = 0; builds[b] != NULL; b++) {
        const struct vmath_points *p = builds[b];
        if (!is_here(p))
            continue;
        (mild ? p->exp_both_mild : p->exp_both)(x, forth, back, range.n);
        const double ahead = largest_error(mpfr_exp, x, forth, range.n, false);
        const double behind = largest_error(exp_of_negative, x, back, range.n, false);
        ck_assert_msg(ahead <= bound(id) && behind <= bound(id),
                      "%s on (%g, %g]: %g and %g ulp, allowed %g", p->isa, range.low,
                      range.high, ahead, behind, bound(id));
        check_faults_seen(mpfr_exp, x, forth, range.n, id, false);
        check_faults_seen(exp_of_negative, x, back, range.n, id, false);
    }
    free(x);
    free(forth);
    free(back);
}

START_TEST(exp_both_keeps_its_ulp_bound)
{
    check_both(false, (struct range){-0.35, 0.35, 8000}, BOUND_exp_both_ulp);
    check_both(false, (struct range){-708.0, 708.0, 8000}, BOUND_exp_both_ulp);
    check_both(false, (struct range){-1e-9, 1e-9, 1000}, BOUND_exp_both_ulp);
    check_both(false, (struct range){-709.5, -708.0, 3000}, BOUND_exp_both_subnormal_ulp);
    check_both(false, (struct range){708.0, 709.5, 3000}, BOUND_exp_both_subnormal_ulp);
}
END_TEST

START_TEST(exp_both_mild_keeps_its_ulp_bound)
{
    check_both(true, (struct range){-0.0625, 0.0625, 16000}, BOUND_exp_ulp);
    check_both(true, (struct range){-1e-9, 1e-9, 1000}, BOUND_exp_ulp);
}
END_TEST

START_TEST(log_keeps_its_ulp_bound)
{
    check_range(mpfr_log, 1, (struct range){0.5, 2.0, 8000}, BOUND_log_ulp);
    check_range(mpfr_log, 1, (struct range){0.99, 1.01, 3000}, BOUND_log_ulp);
    check_range(mpfr_log, 1, (struct range){0.0, 1e300, 3000}, BOUND_log_ulp);
    check_range(mpfr_log, 1, (struct range){0.0, 1e-300, 3000}, BOUND_log_ulp);
    check_range(mpfr_log, 1, (struct range){0.0, 0x1p-1040, 3000}, BOUND_log_ulp);
}
END_TEST

START_TEST(expm1_small_keeps_its_ulp_bound)
{
    check_range(mpfr_expm1, 2, (struct range){-0.02, 0.02, 8000}, BOUND_expm1_small_ulp);
    check_range(mpfr_expm1, 2, (struct range){-1e-12, 1e-12, 1000}, BOUND_expm1_small_ulp);
}
END_TEST

START_TEST(expm1_negative_keeps_its_ulp_bound)
{
    check_range(mpfr_expm1, 3, (struct range){-1.1, 0.0, 16000}, BOUND_expm1_negative_ulp);
    check_range(mpfr_expm1, 3, (struct range){-0.36, -0.34, 4000}, BOUND_expm1_negative_ulp);
    check_range(mpfr_expm1, 3, (struct range){-60.0, -1.0, 8000}, BOUND_expm1_negative_ulp);
    check_range(mpfr_expm1, 3, (struct range){-1e-12, 0.0, 1000}, BOUND_expm1_negative_ulp);
}
END_TEST

static void check_value(const char *isa, double x, double got, double want)
{
    if (isnan(want))
        ck_assert_msg(isnan(got), "%s at %g: %g, not NaN", isa, x, got);
    else /* the sign of a zero is not part of the contract */
        ck_assert_msg(exactly(got, want) || (is_zero(got) && is_zero(want)),
                      "%s at %g: %.17g, not %.17g", isa, x, got, want);
}

START_TEST(expm1_negative_has_its_special_values)
{
    static const double x[] = {0.0, -INF, NONE, -1e308, -61.0, -5e-324};
    static const double want[] = {0.0, -1.0, NONE, -1.0, -1.0, -5e-324};
    enum { N = sizeof x / sizeof x[0] };
    for (int b = 0; builds[b] != NULL; b++) {
        double got[N];
        if (!is_here(builds[b]))
            continue;
        builds[b]->expm1_negative(x, got, N);
        for (int i = 0; i < N; i++)
            check_value(builds[b]->isa, x[i], got[i], want[i]);
    }
}
END_TEST

START_TEST(exp_has_its_special_values)
{
    static const double x[] = {0.0, -0.0, INF, -INF, NONE, 709.79, 1e308, -745.14, -1e308};
    static const double want[] = {1.0, 1.0, INF, 0.0, NONE, INF, INF, 0.0, 0.0};
    enum { N = sizeof x / sizeof x[0] };
    for (int b = 0; builds[b] != NULL; b++) {
        double got[N];
        if (!is_here(builds[b]))
            continue;
        builds[b]->exp(x, got, N);
        for (int i = 0; i < N; i++)
            check_value(builds[b]->isa, x[i], got[i], want[i]);
    }
}
END_TEST

START_TEST(exp_both_has_its_special_values)
{
    static const double x[] = {0.0, -0.0, INF, -INF, NONE, 745.14, -745.14, 1e308, -1e308};
    static const double want[] = {1.0, 1.0, INF, 0.0, NONE, INF, 0.0, INF, 0.0};
    static const double other[] = {1.0, 1.0, 0.0, INF, NONE, 0.0, INF, 0.0, INF};
    enum { N = sizeof x / sizeof x[0] };
    for (int b = 0; builds[b] != NULL; b++) {
        double forth[N];
        double back[N];
        if (!is_here(builds[b]))
            continue;
        builds[b]->exp_both(x, forth, back, N);
        for (int i = 0; i < N; i++) {
            check_value(builds[b]->isa, x[i], forth[i], want[i]);
            check_value(builds[b]->isa, x[i], back[i], other[i]);
        }
    }
}
END_TEST

START_TEST(log_has_its_special_values)
{
    static const double x[] = {1.0, 0.0, -0.0, -1.0, INF, -INF, NONE, -0x1p-1074};
    static const double want[] = {0.0, -INF, -INF, NONE, INF, NONE, NONE, NONE};
    enum { N = sizeof x / sizeof x[0] };
    for (int b = 0; builds[b] != NULL; b++) {
        double got[N];
        if (!is_here(builds[b]))
            continue;
        builds[b]->log(x, got, N);
        for (int i = 0; i < N; i++)
            check_value(builds[b]->isa, x[i], got[i], want[i]);
    }
}
END_TEST

START_TEST(sincos_has_its_special_values)
{
    static const double x[] = {0.0, -0.0, INF, -INF, NONE, 0x1p-1074, 1e-300};
    static const double sine[] = {0.0, 0.0, NONE, NONE, NONE, 0x1p-1074, 1e-300};
    static const double cosine[] = {1.0, 1.0, NONE, NONE, NONE, 1.0, 1.0};
    enum { N = sizeof x / sizeof x[0] };
    for (int b = 0; builds[b] != NULL; b++) {
        double s[N];
        double c[N];
        if (!is_here(builds[b]))
            continue;
        builds[b]->sincos(x, s, c, N);
        for (int i = 0; i < N; i++) {
            check_value(builds[b]->isa, x[i], s[i], sine[i]);
            check_value(builds[b]->isa, x[i], c[i], cosine[i]);
        }
    }
}
END_TEST

START_TEST(builds_with_a_fused_multiply_add_inline_the_polynomials)
{
    for (size_t b = 1; b < sizeof builds / sizeof builds[0]; b++)
        if (builds[b] != NULL)
            ck_assert_msg(builds[b]->inlined, "%s calls the library", builds[b]->isa);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vmath");
    TCase *tests = tcase_create("vmath");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, sincos_keeps_its_ulp_bound_to_2_30);
    tcase_add_test(tests, sincos_keeps_its_ulp_bound_next_to_multiples_of_half_pi);
    tcase_add_test(tests, sincos_keeps_its_absolute_bound_to_2_48);
    tcase_add_test(tests, exp_keeps_its_ulp_bound);
    tcase_add_test(tests, exp_both_keeps_its_ulp_bound);
    tcase_add_test(tests, exp_both_mild_keeps_its_ulp_bound);
    tcase_add_test(tests, log_keeps_its_ulp_bound);
    tcase_add_test(tests, expm1_small_keeps_its_ulp_bound);
    tcase_add_test(tests, expm1_negative_keeps_its_ulp_bound);
    tcase_add_test(tests, expm1_negative_has_its_special_values);
    tcase_add_test(tests, exp_has_its_special_values);
    tcase_add_test(tests, exp_both_has_its_special_values);
    tcase_add_test(tests, log_has_its_special_values);
    tcase_add_test(tests, sincos_has_its_special_values);
    tcase_add_test(tests, builds_with_a_fused_multiply_add_inline_the_polynomials);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
