/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Budgets of propagations, envelopes and the errors of ensembles. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/rng.h"
#include "kernels/base/status.h"
#include "kernels/contract/ensemble.h"
#include "kernels/contract/envelope.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define PI 3.14159265358979323846

/* e_0 = 1; steps (2, 0.5), (3, 0.25), (0.5, 1): 2.5, 7.75, 4.875. By the formula
 * 2 3 0.5 + 0.5 3 0.5 + 0.25 0.5 + 1 = 3 + 0.75 + 0.125 + 1. */
START_TEST(a_propagation_carries_each_error_through_the_steps_behind_it)
{
    const struct propagation_step steps[3] = {{2.0, 0.5}, {3.0, 0.25}, {0.5, 1.0}};
    double e;
    ck_assert_int_eq(bound_propagation(steps, 3, 1.0, &e), 0);
    ck_assert(exactly(e, 4.875));
    ck_assert_int_eq(bound_propagation(NULL, 0, 0.25, &e), 0);
    ck_assert(exactly(e, 0.25));
}
END_TEST

START_TEST(a_propagation_without_a_finite_bound_is_refused)
{
    static const struct {
        struct propagation_step step;
        int count;
        double initial;
    } cases[] = {{{1.0, 1.0}, -1, 0.0},
                 {{-1.0, 1.0}, 1, 0.0},
                 {{1.0, -1.0}, 1, 0.0},
                 {{(double)NAN, 1.0}, 1, 0.0},
                 {{1.0, (double)INFINITY}, 1, 0.0},
                 {{1e300, 0.0}, 1, 1e300},
                 {{1.0, 0.0}, 1, -1.0},
                 {{1.0, 0.0}, 0, (double)NAN}};
    char text[200];
    double e;
    status_capture(text, sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(bound_propagation(&cases[i].step, cases[i].count, cases[i].initial, &e)
                          == ERR_ARGUMENT,
                      "case %zu", i);
    status_capture(NULL, 0);
}
END_TEST

/* Ten terms in four lanes: three, three, two, two; two additions each, then two to join. */
START_TEST(the_depth_of_a_sum_counts_the_longest_path)
{
    static const struct {
        long n, lanes;
        double depth;
    } cases[] = {{1, 1, 0.0}, {2, 1, 1.0},      {100, 1, 99.0}, {10, 4, 4.0}, {8, 8, 3.0},
                 {9, 9, 4.0}, {1024, 8, 130.0}, {5, 2, 3.0},    {12, 4, 4.0}, {13, 4, 5.0}};
    double depth;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(bound_sum_depth(cases[i].n, cases[i].lanes, &depth), 0);
        ck_assert_msg(exactly(depth, cases[i].depth), "case %zu: %g", i, depth);
    }
    char text[200];
    status_capture(text, sizeof text);
    ck_assert_int_eq(bound_sum_depth(0, 1, &depth), ERR_ARGUMENT);
    ck_assert_int_eq(bound_sum_depth(3, 4, &depth), ERR_ARGUMENT);
    ck_assert_int_eq(bound_sum_depth(3, 0, &depth), ERR_ARGUMENT);
    status_capture(NULL, 0);
}
END_TEST

/* u of bfloat16 is 2^-8: gamma(2 * 8) = (1/16) / (15/16) = 1/15, times sum|a||b| = 15, and 16
 * of the smallest number 2^-133, times the root of 2. */
START_TEST(a_complex_dot_product_has_two_real_terms_a_component)
{
    double limit;
    ck_assert_int_eq(bound_complex_dot(8.0, 15.0, PRECISION_BF16, &limit), 0);
    ck_assert_rounding_of(limit, sqrt(2.0) * (1.0 + 16.0 * 0x1p-133), 1.0, 4.0 * DBL_EPSILON);
    ck_assert_int_eq(bound_complex_dot(1.0, 0.0, PRECISION_F64, &limit), 0);
    ck_assert_double_gt(limit, 0.0);
    ck_assert_norm(limit, 0x1p-1072);
}
END_TEST

/* A chunk of 7, 3 additions of offsets, one more: k = 11 halves of a bfloat16's 2^-8. */
START_TEST(a_scan_and_a_stencil_count_their_roundings)
{
    double limit;
    ck_assert_int_eq(bound_scan(7.0, 3.0, 2.0, PRECISION_BF16, &limit), 0);
    ck_assert_rounding_of(limit, 2.0 * 11.0 / (256.0 - 11.0), 1.0, DBL_EPSILON);
    ck_assert_int_eq(bound_stencil(4, 3.0, PRECISION_BF16, &limit), 0); /* k = 10 */
    ck_assert_rounding_of(limit, 3.0 * 10.0 / (256.0 - 10.0), 1.0, DBL_EPSILON);
    char text[200];
    status_capture(text, sizeof text);
    ck_assert_int_eq(bound_stencil(-1, 1.0, PRECISION_F64, &limit), ERR_ARGUMENT);
    ck_assert_int_eq(bound_stencil(200, 1.0, PRECISION_BF16, &limit), ERR_ARGUMENT);
    status_capture(NULL, 0);
}
END_TEST

static const double planes[3] = {1e-5, 3e-4, 2e-5};
static const double positions[3] = {0.0, 0.5, 1.0};
static const struct envelope typical = {.reference = REFERENCE_TIGHTER,
                                        .norm = "field_l2",
                                        .tolerance = 1e-4,
                                        .safety = 4.0,
                                        .planes = 3,
                                        .observed = planes,
                                        .position = positions};

static struct envelope_judgment judged(const struct envelope *e)
{
    struct envelope_judgment j;
    ck_assert_int_eq(envelope_judge(e, &j), 0);
    return j;
}

/* 3e-4 against 4 times 1e-4: three quarters. */
START_TEST(the_worst_plane_decides_within_safety_times_the_envelope)
{
    struct envelope_judgment j = judged(&typical);
    ck_assert_int_eq(j.verdict, VERDICT_WITHIN);
    ck_assert_rounding_of(j.margin, 0.75, 1.0, 4.0 * DBL_EPSILON);
    ck_assert(exactly(j.observed, 3e-4));
    ck_assert_int_eq(j.worst, 1);
    ck_assert_str_eq(j.reason, "");
    struct envelope tight = typical;
    tight.safety = 2.0; /* 2e-4 */
    j = judged(&tight);
    ck_assert_int_eq(j.verdict, VERDICT_OUTSIDE);
    ck_assert_rounding_of(j.margin, 1.5, 1.0, 8.0 * DBL_EPSILON);
    ck_assert_ptr_nonnull(strstr(j.reason, "field_l2"));
    ck_assert_ptr_nonnull(strstr(j.reason, "tighter"));
    ck_assert_ptr_nonnull(strstr(j.reason, "at 0.5"));
    /* Against a run with an envelope of its own the two add up: 2 (1e-4 + 5e-5) = 3e-4. */
    tight.other_tolerance = 5e-5;
    tight.reference = REFERENCE_STORED;
    j = judged(&tight);
    ck_assert_rounding(j.bound, 3e-4, 4.0 * DBL_EPSILON);
    ck_assert_rounding(j.margin, 1.0, 1e-12);
}
END_TEST

START_TEST(a_distance_that_is_not_finite_is_outside_and_what_was_not_judged_stays_so)
{
    const double broken[3] = {1e-5, (double)NAN, 1.0};
    struct envelope e = typical;
    e.observed = broken;
    struct envelope_judgment j = judged(&e);
    ck_assert_int_eq(j.verdict, VERDICT_OUTSIDE);
    ck_assert(isinf(j.margin) && isnan(j.observed));
    ck_assert_int_eq(j.worst, 1);
    e.planes = 0;
    ck_assert_int_eq(judged(&e).verdict, VERDICT_UNJUDGED);
    ck_assert_str_eq(judged(&e).reason, "no plane was judged");
    e = typical;
    e.reference = REFERENCE_NONE;
    ck_assert_int_eq(judged(&e).verdict, VERDICT_UNJUDGED);
    ck_assert_str_eq(judged(&e).reason, "no reference");
    ck_assert_str_eq(envelope_reference_name(REFERENCE_NONE), "none");
}
END_TEST

START_TEST(an_envelope_that_allows_nothing_or_anything_is_refused)
{
    const double negative[3] = {1e-5, -1e-5, 1e-5};
    struct envelope bad[] = {typical, typical, typical, typical, typical, typical};
    bad[0].tolerance = 0.0;
    bad[1].tolerance = (double)INFINITY;
    bad[2].safety = 0.5;
    bad[3].safety = (double)NAN;
    bad[4].other_tolerance = -1e-5;
    bad[5].observed = negative;
    struct envelope_judgment j;
    char text[200];
    status_capture(text, sizeof text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(envelope_judge(&bad[i], &j) == ERR_ARGUMENT, "case %zu", i);
    status_capture(NULL, 0);
}
END_TEST

/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares 32, variance 32/7, error sqrt(32/56). */
START_TEST(a_window_ends_before_the_first_plane_that_amplifies_too_much)
{
    const double nan = (double)NAN;
    const struct {
        double gain[5];
        bool judged[5], left[5];
        struct envelope_reach reach;
    } cases[] = {{{1, 2, 5, 9, 10}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {5, 4, 0, -1, 10}},
                 {{1, 2, 10.5, 9, 3}, {1, 1, 1, 1, 1}, {1, 1, 0, 0, 0}, {2, 1, 3, 2, 2}},
                 {{1, nan, nan, nan, 3}, {1, 0, 0, 1, 1}, {1, 0, 0, 0, 0}, {1, 0, 2, 3, 1}},
                 {{nan, nan, 11, nan, nan}, {0, 0, 1, 0, 0}, {0, 0, 0, 0, 0}, {0, -1, 1, 2, 0}},
                 {{7, nan, nan, 1, (double)INFINITY},
                  {1, 0, 0, 1, 1},
                  {1, 0, 0, 1, 0},
                  {2, 3, 1, 4, 7}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct envelope_reach reach;
        bool judged[5];
        for (int k = 0; k < 5; k++)
            judged[k] = cases[i].judged[k];
        envelope_narrow(cases[i].gain, judged, 5, 10, &reach);
        for (int k = 0; k < 5; k++)
            ck_assert_int_eq(judged[k], cases[i].left[k]);
        ck_assert_int_eq(reach.judged, cases[i].reach.judged);
        ck_assert_int_eq(reach.last, cases[i].reach.last);
        ck_assert_int_eq(reach.beyond, cases[i].reach.beyond);
        ck_assert_int_eq(reach.first, cases[i].reach.first);
        ck_assert(exactly(reach.gain, cases[i].reach.gain));
    }
    ck_assert(exactly(envelope_perturbation(2), 1e-4));
    ck_assert(exactly(envelope_perturbation(1e4), 1e-2 / 1e4));
    ck_assert(exactly(envelope_perturbation(1e12), 1e-10));
}
END_TEST

START_TEST(the_error_of_a_mean_is_the_deviation_over_the_root_of_the_number)
{
    const double x[8] = {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
    const double spread[6] = {1.0, -9.0, -9.0, 3.0, -9.0, -9.0}; /* 1 and 3, three apart */
    double mean;
    double error;
    ck_assert_int_eq(ensemble_mean_error(x, 8, 1, &mean, &error), 0);
    ck_assert(exactly(mean, 5.0));
    ck_assert_rounding_of(error, sqrt(4.0 / 7.0), 1.0, DBL_EPSILON);
    ck_assert_int_eq(ensemble_mean_error(spread, 2, 3, &mean, &error), 0);
    ck_assert(exactly(mean, 2.0));
    ck_assert_rounding(error, 1.0, DBL_EPSILON);
    char text[200];
    status_capture(text, sizeof text);
    struct coherence_error c;
    ck_assert_int_eq(ensemble_mean_error(x, 1, 1, NULL, &error), ERR_ARGUMENT);
    const double broken[2] = {1.0, (double)NAN};
    ck_assert_int_eq(ensemble_mean_error(broken, 2, 1, NULL, &error), ERR_ARGUMENT);
    ck_assert_int_eq(ensemble_coherence_error(COHERENCE_PAIRS, 1.5, 10, &c), ERR_ARGUMENT);
    ck_assert_int_eq(ensemble_coherence_error(COHERENCE_PAIRS, (double)NAN, 10, &c),
                     ERR_ARGUMENT);
    ck_assert_int_eq(ensemble_coherence_error(COHERENCE_PRODUCTS, 0.5, 1, &c), ERR_ARGUMENT);
    status_capture(NULL, 0);
}
END_TEST

/* M = 20 gives 0.0382 where nothing is coherent, as simulated by others (physics.md §6.4). */
START_TEST(coherence_has_the_floor_and_the_variance_of_its_estimate)
{
    struct coherence_error c;
    ck_assert_int_eq(ensemble_coherence_error(COHERENCE_PAIRS, 0.0, 20, &c), 0);
    ck_assert_near(c.floor, 0.0387, 1e-3, c.floor * 19.0 / 20.0,
                   "pairs of 21 members counted for 20");
    ck_assert_int_eq(ensemble_coherence_error(COHERENCE_PAIRS, 1.0, 20, &c), 0);
    ck_assert(exactly(c.variance, 0.0)); /* identical shots do not scatter */
    ck_assert_int_eq(ensemble_coherence_error(COHERENCE_PRODUCTS, 0.6, 25, &c), 0);
    ck_assert_rounding_of(c.floor, 0.2, 1.0, DBL_EPSILON);
    ck_assert_rounding_of(c.variance, 0.64 * 0.64 / 50.0, 1.0, DBL_EPSILON);
}
END_TEST

static double complex noise(const struct rng_stream *stream, uint64_t i)
{
    double u[2];
    rng_uniform2(stream, i, u);
    const double size = sqrt(-log(u[0])); /* <|n|^2> = 1 */
    return size * (cos(2.0 * PI * u[1]) + (double complex)I * sin(2.0 * PI * u[1]));
}

/* One estimate of each kind from M realisations of true coherence g. */
static double estimate(enum coherence_estimate kind, double g, int runs, uint64_t trial)
{
    const struct rng_stream first = {.seed = 11, .realisation = trial};
    const struct rng_stream second = {.seed = 12, .realisation = trial};
    double complex product = 0.0;
    double complex sum = 0.0;
    double a2 = 0.0;
    double b2 = 0.0;
    for (int i = 0; i < runs; i++) {
        const double complex x = noise(&first, (uint64_t)i);
        const double complex y = noise(&second, (uint64_t)i);
        const double complex a = kind == COHERENCE_PAIRS ? sqrt(g) + sqrt(1.0 - g) * x : x;
        const double complex b = g * x + sqrt(1.0 - g * g) * y;
        product += conj(a) * b;
        sum += a;
        a2 += creal(a * conj(a));
        b2 += creal(b * conj(b));
    }
    if (kind == COHERENCE_PRODUCTS)
        return cabs(product) / sqrt(a2 * b2);
    return fabs(creal(sum * conj(sum)) - a2) / ((runs - 1) * a2);
}

/* The formulas are leading orders in 1/M. */
static void check_trials(enum coherence_estimate kind, double g)
{
    enum { RUNS = 200, TRIALS = 1000 };
    double mean = 0.0;
    double square = 0.0;
    for (uint64_t t = 0; t < TRIALS; t++) {
        const double e = estimate(kind, g, RUNS, t);
        mean += e / TRIALS;
        square += e * e / TRIALS;
    }
    struct coherence_error c;
    ck_assert_int_eq(ensemble_coherence_error(kind, g, RUNS, &c), 0);
    const double variance = square - mean * mean;
    printf("coherence %g, estimate %d: mean %.4g, variance %.4g, said %.4g\n", g, (int)kind,
           mean, variance, c.variance);
    if (g > 0.0) { /* a variance from 1000 trials is known to 4.5 % */
        ck_assert_near(mean, g, 3.0 * c.floor, g - 4.0 * c.floor, "a bias of four floors");
        ck_assert_ratio(variance, c.variance, 0.15, 1.4 * c.variance,
                        "a variance larger by two fifths");
    } else { /* the mean of a Rayleigh amplitude is 0.886 of the root of its square */
        ck_assert_double_le(mean / c.floor, kind == COHERENCE_PAIRS ? 1.05 : 0.93);
        ck_assert_double_ge(mean / c.floor, kind == COHERENCE_PAIRS ? 0.95 : 0.84);
        if (kind == COHERENCE_PAIRS)
            ck_assert_ratio(variance, c.variance, 0.2, 1.4 * c.variance,
                            "a variance larger by two fifths");
    }
}

START_TEST(synthetic_ensembles_scatter_as_the_formulas_say)
{
    static const double g[] = {0.0, 0.3, 0.6, 0.9};
    for (size_t i = 0; i < sizeof g / sizeof *g; i++) {
        check_trials(COHERENCE_PRODUCTS, g[i]);
        check_trials(COHERENCE_PAIRS, g[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("judge");
    TCase *tests = tcase_create("judge");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, a_propagation_carries_each_error_through_the_steps_behind_it);
    tcase_add_test(tests, a_propagation_without_a_finite_bound_is_refused);
    tcase_add_test(tests, the_depth_of_a_sum_counts_the_longest_path);
    tcase_add_test(tests, a_complex_dot_product_has_two_real_terms_a_component);
    tcase_add_test(tests, a_scan_and_a_stencil_count_their_roundings);
    tcase_add_test(tests, the_worst_plane_decides_within_safety_times_the_envelope);
    tcase_add_test(tests,
                   a_distance_that_is_not_finite_is_outside_and_what_was_not_judged_stays_so);
    tcase_add_test(tests, an_envelope_that_allows_nothing_or_anything_is_refused);
    tcase_add_test(tests, a_window_ends_before_the_first_plane_that_amplifies_too_much);
    tcase_add_test(tests, the_error_of_a_mean_is_the_deviation_over_the_root_of_the_number);
    tcase_add_test(tests, coherence_has_the_floor_and_the_variance_of_its_estimate);
    tcase_add_test(tests, synthetic_ensembles_scatter_as_the_formulas_say);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
