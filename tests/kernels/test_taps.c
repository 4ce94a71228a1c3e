/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taps of the band rule: the figures of numerics.md §6, the certificate, the alternation. */
#include <math.h>

#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/numeric/taps.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define PI 3.14159265358979323846

/* c/g - 1 from the cosines. */
static double relative_error(const struct taps *t, double theta)
{
    double sum = t->tap[0];
    for (int k = 1; k <= t->side; k++)
        sum += 2.0 * t->tap[k] * cos(k * theta);
    const double half = 0.5 * theta;
    return sum / (half > 0.0 ? tan(half) / half : 1.0) - 1.0;
}

START_TEST(four_taps_have_the_norm_and_the_certificate_of_the_design)
{
    static const struct {
        double edge, norm, certificate;
    } known[] = {{0.35 * PI, 2.09, 1e-6}, {0.4 * PI, 2.134, 4.3e-6}};
    for (int i = 0; i < 2; i++) {
        struct taps t;
        ck_assert_int_eq(taps_band(4, known[i].edge, &t), 0);
        /* Three and two digits are given. */
        ck_assert_near(t.norm, known[i].norm, 5e-3, known[i].norm + 0.01,
                       "the second decimal one more");
        ck_assert_ratio(t.certificate, known[i].certificate, 0.05, known[i].certificate * 1.1,
                        "the second figure one more");
        double norm = fabs(t.tap[0]);
        for (int k = 1; k <= 4; k++)
            norm += 2.0 * fabs(t.tap[k]);
        ck_assert_rounding_of(norm, t.norm, 1.0, 1e-14);
    }
}
END_TEST

START_TEST(the_certificate_holds_on_a_grid_of_its_own)
{
    for (int side = 1; side <= TAPS_SIDE_MAX; side++) {
        struct taps t;
        ck_assert_int_eq(taps_band(side, 0.35 * PI, &t), 0);
        double worst = 0.0;
        for (int i = 0; i <= 77777; i++)
            worst = fmax(worst, fabs(relative_error(&t, t.edge * i / 77777.0)));
        /* The sum of cosines is rounded; an extremum lies within 1e-6 of a grid point's value.
         */
        const double noise = 16.0 * t.norm * 0x1p-53;
        ck_assert_near(worst, t.certificate, 1e-5 * t.certificate + noise,
                       t.certificate + 3.0 * (1e-5 * t.certificate + noise),
                       "a certificate off by 3e-5");
    }
}
END_TEST

/* A best approximation errs by the same amount, with alternating sign, at side + 2 points
 * (Chebyshev): then no other taps are better. */
START_TEST(the_error_alternates_as_that_of_the_best_taps)
{
    for (int side = 1; side <= 6; side++) {
        struct taps t;
        ck_assert_int_eq(taps_band(side, 0.4 * PI, &t), 0);
        int turns = 0;
        int sign = 0;
        for (int i = 0; i <= 20000; i++) {
            const double e = relative_error(&t, t.edge * i / 20000.0);
            const int now = e > 0.0 ? 1 : -1;
            if (fabs(e) >= 0.999 * t.certificate && now != sign) {
                turns++;
                sign = now;
            }
        }
        ck_assert_int_eq(turns, side + 2);
    }
}
END_TEST

START_TEST(wrong_taps_have_a_larger_certificate)
{
    struct taps t;
    ck_assert_int_eq(taps_band(4, 0.35 * PI, &t), 0);
    const double best = t.certificate;
    t.tap[2] *= 1.0 + 1e-5;
    ck_assert_double_gt(taps_certificate(&t, t.edge), 1.5 * best);
    t.tap[2] /= 1.0 + 1e-5;
    ck_assert_double_gt(taps_certificate(&t, 1.1 * t.edge), 1.5 * best);
    taps_none(&t);
    ck_assert_exactly(t.certificate, 0.0);
    /* The trapezoid rule itself: 1/g - 1. */
    ck_assert_rounding_of(taps_certificate(&t, 1.0), 1.0 - 0.5 / tan(0.5), 1.0, 1e-14);
}
END_TEST

static void check_refused(int side, double edge)
{
    struct taps t;
    char text[200] = "";
    status_capture(text, sizeof text);
    ck_assert_int_eq(taps_band(side, edge, &t), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert_str_ne(text, "");
}

START_TEST(what_no_taps_can_do_is_refused)
{
    check_refused(0, 1.0);
    check_refused(TAPS_SIDE_MAX + 1, 1.0);
    check_refused(4, 0.0);
    check_refused(4, PI);
    check_refused(4, (double)NAN);
    check_refused(8, 0.01);
}
END_TEST

START_TEST(samples_that_would_do_are_the_fewest_smooth_even_number)
{
    /* omega window/edge = 1000: 1000 = 2^3 5^3; 1001: 1008 = 2^4 3^2 7. */
    ck_assert_int_eq(taps_samples(1000.0, 1.0, 1.0), 1000);
    ck_assert_int_eq(taps_samples(1000.5, 1.0, 1.0), 1008);
    ck_assert_int_eq(taps_samples(500.0, 2.0, 1.0), 1000);
    ck_assert_int_eq(taps_samples(0.1, 1.0, 1.0), 2);
    ck_assert_int_eq(taps_samples(1e30, 1.0, 1.0), 0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("taps");
    TCase *const tests = tcase_create("band");
    tcase_add_test(tests, four_taps_have_the_norm_and_the_certificate_of_the_design);
    tcase_add_test(tests, the_certificate_holds_on_a_grid_of_its_own);
    tcase_add_test(tests, the_error_alternates_as_that_of_the_best_taps);
    tcase_add_test(tests, wrong_taps_have_a_larger_certificate);
    tcase_add_test(tests, what_no_taps_can_do_is_refused);
    tcase_add_test(tests, samples_that_would_do_are_the_fewest_smooth_even_number);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
