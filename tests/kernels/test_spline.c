/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cubic splines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/numeric/spline.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

static double cubic(double x)
{
    return ((2.0 * x - 3.0) * x + 0.5) * x - 7.0;
}

START_TEST(a_cubic_is_reproduced_on_uneven_points_with_its_derivatives)
{
    static const double x[] = {-1.0, -0.7, 0.9, 1.0, 4.0, 4.1};
    double y[6];
    for (int n = 4; n <= 6; n++) {
        for (int i = 0; i < n; i++)
            y[i] = cubic(x[i]);
        struct spline *s = NULL;
        ck_assert_int_eq(spline_create(x, y, n, &s), 0);
        for (double at = -1.5; at < 4.5; at += 0.37) {
            const struct taylor f = spline_taylor(s, taylor_variable(3, at));
            ck_assert_near(spline_value(s, at), cubic(at), 1e-11, cubic(at) + 1e-10,
                           "1e-10 more");
            ck_assert_near(f.c[0].r, cubic(at), 1e-11, cubic(at) + 1e-10, "1e-10 more");
            ck_assert_near(taylor_derivative(&f, 1).r, (6.0 * at - 6.0) * at + 0.5, 1e-11,
                           (6.0 * at - 6.0) * at + 0.5 + 1e-10, "1e-10 more");
            ck_assert_near(taylor_derivative(&f, 2).r, 12.0 * at - 6.0, 1e-11,
                           12.0 * at - 6.0 + 1e-10, "1e-10 more");
            ck_assert_near(taylor_derivative(&f, 3).r, 12.0, 1e-9, 12.0 + 1e-8, "1e-8 more");
        }
        spline_destroy(s);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

static double worst_of(long n)
{
    double *x = malloc((size_t)n * sizeof *x);
    double *y = malloc((size_t)n * sizeof *y);
    for (long i = 0; i < n; i++) {
        x[i] = 3.0 * (double)i / (double)(n - 1);
        y[i] = exp(x[i]);
    }
    struct spline *s = NULL;
    ck_assert_int_eq(spline_create(x, y, n, &s), 0);
    double worst = 0.0;
    for (double at = 0.0; at < 3.0; at += 0.001)
        worst = fmax(worst, fabs(spline_value(s, at) - exp(at)));
    for (long i = 0; i < n; i++)
        ck_assert_rounding_of(spline_value(s, x[i]), y[i], 1.0, 1e-14);
    spline_destroy(s);
    free(x);
    free(y);
    return worst;
}

START_TEST(the_error_falls_with_the_fourth_power_up_to_the_ends)
{
    /* Not-a-knot keeps order 4 at the ends; a natural spline has order 2 there. */
    const double order = log2(worst_of(121) / worst_of(241));
    ck_assert_near(order, 4.0, 0.2, 3.5, "half an order less");
}
END_TEST

START_TEST(points_that_make_no_spline_are_refused)
{
    static const double x[] = {0.0, 1.0, 1.0, 2.0};
    static const double y[] = {0.0, 1.0, 2.0, 3.0};
    static const double bad[] = {0.0, 1.0, (double)NAN, 3.0};
    struct spline *s = NULL;
    char text[160] = "";
    status_capture(text, sizeof text);
    ck_assert_int_eq(spline_create(x, y, 4, &s), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert(strstr(text, "point 2 of a spline is at 1 after 1") != NULL);
    status_capture(text, sizeof text);
    ck_assert_int_eq(spline_create(y, bad, 4, &s), ERR_ARGUMENT);
    ck_assert_int_eq(spline_create(y, y, 3, &s), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert(s == NULL);
    spline_destroy(NULL);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("splines");
    TCase *const tests = tcase_create("splines");
    tcase_add_test(tests, a_cubic_is_reproduced_on_uneven_points_with_its_derivatives);
    tcase_add_test(tests, the_error_falls_with_the_fourth_power_up_to_the_ends);
    tcase_add_test(tests, points_that_make_no_spline_are_refused);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
