/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two ensembles compared: numbers by hand, what chance gives, and what is seen. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <check.h>

#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/ensemble.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

enum { BINS = 200, SMOOTH = 5 };

/* P(|t| > x) of Student's t with an even number f of degrees of freedom, in closed form:
 * Abramowitz and Stegun, 26.7.4. */
static double t_tail(double x, int f)
{
    const double theta = atan(x / sqrt(f));
    const double c = cos(theta) * cos(theta);
    double term = 1;
    double sum = 1;
    for (int k = 2; k <= f - 2; k += 2) {
        term *= c * (k - 1) / k;
        sum += term;
    }
    return 1 - sin(theta) * sum;
}

START_TEST(numbers_are_those_of_the_definition)
{
    const double a[] = {10, 12, 0.5, 8, 1e-9};
    const double b[] = {10, 7, 0.5, 20, 1e-8};
    const double ea[] = {3, 3, 0, 0.6, 1e-12};
    const double eb[] = {4, 4, 0, 0.8, 1e-12};
    const struct ensemble_mean x = {a, ea, 4};
    const struct ensemble_mean y = {b, eb, 4};
    struct ensemble_difference d;
    ck_assert_int_eq(ensemble_compare(&x, &y, 5, &d), 0);
    /* z = 0, 1, -12: the third has no error, the fifth is below 1e-6 of the peak */
    ck_assert_int_eq(d.bins, 3);
    ck_assert_rounding(d.chi2, (0 + 1 + 144) / 3.0, 1e-12);
    ck_assert_int_eq(d.beyond2, 1);
    ck_assert_int_eq(d.beyond3, 1);
    ck_assert_int_eq(d.worst, 3);
    ck_assert_rounding(d.largest, 12, 1e-12);
    ck_assert_rounding(d.freedom, 6, 1e-12);
    ck_assert_rounding(d.expected, 1.5, 1e-12);
    ck_assert_rounding_of(d.chance2, 3 * t_tail(2, 6), 1.0, 1e-12);
    ck_assert_rounding_of(d.chance3, 3 * t_tail(3, 6), 1.0, 1e-12);
    /* neighbours have opposite signs: no correlation */
    ck_assert_rounding(d.correlation, 1, 1e-12);
    ck_assert_rounding(d.spread, sqrt(2 * 36 * 5.0 / (16 * 2) / 3), 1e-12);
}
END_TEST

START_TEST(too_little_is_refused)
{
    const double mean[] = {1, 1};
    const double error[] = {0.1, 0.1};
    const double none[] = {0, 0};
    const double nan[] = {(double)NAN, (double)NAN};
    const struct ensemble_mean good = {mean, error, 4};
    const struct ensemble_mean few = {mean, error, 2};
    const struct ensemble_mean sure = {mean, none, 4};
    const struct ensemble_mean lost = {nan, error, 4};
    struct ensemble_difference d;
    char text[200];
    status_capture(text, sizeof text);
    ck_assert_int_eq(ensemble_compare(&good, &good, 2, &d), 0);
    ck_assert_int_eq(ensemble_compare(&few, &good, 2, &d), ERR_ARGUMENT);
    ck_assert_int_eq(ensemble_compare(&sure, &sure, 2, &d), ERR_ARGUMENT);
    ck_assert_int_eq(ensemble_compare(&lost, &good, 2, &d), ERR_ARGUMENT);
    status_capture(NULL, 0);
}
END_TEST

START_TEST(the_limit_grows_with_the_number_of_tests)
{
    ck_assert_near(ensemble_limit(1), 3, 1e-9, 3.0 + 1e-8, "1e-8 more");
    const double x = ensemble_limit(1000);
    const double tail = 0.5 * erfc(x / sqrt(2));
    ck_assert_near(tail / (0.5 * erfc(3 / sqrt(2)) / 1000), 1, 1e-6,
                   0.5 * erfc((x + 1e-6) / sqrt(2)) / (0.5 * erfc(3 / sqrt(2)) / 1000),
                   "a limit higher by 1e-6");
}
END_TEST

/* A generator of the test's own: xorshift64*, Vigna 2016. */
static double uniform(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return ((double)((*state * UINT64_C(2685821657736338717)) >> 11) + 0.5) * 0x1p-53;
}

/* Mean and standard error of M powers |noise|^2 a bin, which vary together over SMOOTH bins. */
static void draw(uint64_t *state, long runs, double shift, double *mean, double *error)
{
    double square[BINS] = {0};
    memset(mean, 0, BINS * sizeof *mean);
    for (long r = 0; r < runs; r++) {
        double raw[BINS + SMOOTH];
        for (int k = 0; k < BINS + SMOOTH; k++)
            raw[k] = -log(uniform(state)); /* of one complex Gaussian number */
        for (int k = 0; k < BINS; k++) {
            double power = 0;
            for (int s = 0; s < SMOOTH; s++)
                power += raw[k + s] / SMOOTH;
            power *= k >= BINS / 2 ? 1 + shift : 1;
            mean[k] += power / (double)runs;
            square[k] += power * power;
        }
    }
    for (int k = 0; k < BINS; k++) {
        const double m = (double)runs;
        error[k] = sqrt((square[k] - m * mean[k] * mean[k]) / (m - 1) / m);
    }
}

static double excess(uint64_t *state, long runs, double shift)
{
    double mean[2][BINS];
    double error[2][BINS];
    struct ensemble_difference d;
    draw(state, runs, 0, mean[0], error[0]);
    draw(state, runs, shift, mean[1], error[1]);
    const struct ensemble_mean a = {mean[0], error[0], runs};
    const struct ensemble_mean b = {mean[1], error[1], runs};
    ck_assert_int_eq(ensemble_compare(&a, &b, BINS, &d), 0);
    ck_assert_double_gt(d.correlation, 1.5); /* SMOOTH bins vary together */
    return ensemble_excess(&d);
}

START_TEST(equal_ensembles_are_seldom_called_different)
{
    uint64_t state = UINT64_C(88172645463325252);
    const long runs[] = {5, 10, 40};
    for (int i = 0; i < 3; i++) {
        int outside = 0;
        for (int t = 0; t < 1000; t++)
            outside += excess(&state, runs[i], 0) > ensemble_limit(1);
        ck_assert_msg(outside <= 20, "%d of 1000 with %ld realisations", outside, runs[i]);
    }
}
END_TEST

START_TEST(different_ensembles_are_seen)
{
    uint64_t state = UINT64_C(1234567891011);
    int seen = 0;
    for (int t = 0; t < 200; t++)
        seen += excess(&state, 40, 0.4) > ensemble_limit(1);
    ck_assert_msg(seen >= 198, "%d of 200", seen);
}
END_TEST

static Suite *ensemble_suite(void)
{
    Suite *suite = suite_create("ensemble");
    TCase *all = tcase_create("ensemble");
    tcase_add_test(all, numbers_are_those_of_the_definition);
    tcase_add_test(all, too_little_is_refused);
    tcase_add_test(all, the_limit_grows_with_the_number_of_tests);
    tcase_add_test(all, equal_ensembles_are_seldom_called_different);
    tcase_add_test(all, different_ensembles_are_seen);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return unit_main(ensemble_suite());
}
