/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <float.h>
#include <math.h>

#include "runner/plane_error.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* A right value known by hand, to the rounding of a few operations. */
static void is_near(double got, double want)
{
    ck_assert_rounding(got, want, 4 * DBL_EPSILON);
}

START_TEST(distances_are_those_worked_out_by_hand)
{
    const double r[] = {3, 4, 0, 12};
    const double c[] = {3, 4, 0, 12.125};
    is_near(plane_error_l2(c, r, 4), 0.125 / 13); /* 9 + 16 + 144 = 13^2 */
    is_near(plane_error_l2(r, r, 4), 0);
    /* Powers 25 and 144 against 25 and 147.015625. */
    is_near(plane_error_power(c, r, 2), (12.125 * 12.125 - 144) / sqrt(25 * 25 + 144.0 * 144));
    is_near(plane_error_number(3, 2), 0.5);
    is_near(plane_error_number(-3, -2), 0.5);
    is_near(plane_error_number(0, 0), 0);
}
END_TEST

START_TEST(a_phase_is_an_error_of_the_field_and_none_of_the_spectrum)
{
    const double r[] = {1, 0, 0, 2};
    const double c[] = {0, 1, -2, 0}; /* turned by 90 degrees: |c - r| = sqrt(2) |r| */
    is_near(plane_error_l2(c, r, 4), sqrt(2));
    is_near(plane_error_power(c, r, 2), 0);
}
END_TEST

START_TEST(what_cannot_be_compared_has_no_error)
{
    const double zero[] = {0, 0};
    const double one[] = {1, 0};
    const double bad[] = {1, (double)NAN};
    ck_assert(isnan(plane_error_l2(one, zero, 2)));
    ck_assert(isnan(plane_error_power(one, zero, 1)));
    ck_assert(isnan(plane_error_l2(bad, one, 2)));
    ck_assert(isnan(plane_error_l2(one, bad, 2)));
    ck_assert(isnan(plane_error_power(bad, one, 1)));
    ck_assert(isnan(plane_error_number((double)INFINITY, 1)));
    ck_assert(isnan(plane_error_number(1, (double)NAN)));
    ck_assert(isinf(plane_error_number(1, 0)));
}
END_TEST

START_TEST(a_judged_plane_without_an_error_is_found)
{
    const double error[] = {1e-9, (double)NAN, (double)INFINITY};
    ck_assert_int_eq(plane_error_missing(error, (bool[]){true, true, true}, 3), 1);
    ck_assert_int_eq(plane_error_missing(error, (bool[]){true, false, true}, 3), -1);
    ck_assert_int_eq(plane_error_missing(error, (bool[]){false, false, false}, 3), -1);
}
END_TEST

static Suite *plane_error_suite(void)
{
    Suite *suite = suite_create("plane_error");
    TCase *tests = tcase_create("plane_error");
    tcase_add_test(tests, distances_are_those_worked_out_by_hand);
    tcase_add_test(tests, a_phase_is_an_error_of_the_field_and_none_of_the_spectrum);
    tcase_add_test(tests, what_cannot_be_compared_has_no_error);
    tcase_add_test(tests, a_judged_plane_without_an_error_is_found);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return unit_main(plane_error_suite());
}
