/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels/bodies/angle.h against the C library's long double. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "kernels/base/rng.h"
#include "kernels/bodies/angle.h"
#include "kernels/contract/bounds.h"
#include "tests/exact.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

#define POINTS 400000

static double error_of(double x, double y)
{
    const long double want = atan2l((long double)y, (long double)x);
    const double near = (double)want;
    const double ulp = nextafter(fabs(near), (double)INFINITY) - fabs(near);
    return fabs((double)((long double)angle_of(x, y) - want)) / ulp;
}

/* All sizes of the ratio, all quadrants, more near the axes and the diagonals. */
START_TEST(an_angle_is_within_its_bound)
{
    const struct rng_stream stream = {.seed = 20261130};
    double largest = 0.0;
    for (uint64_t i = 0; i < POINTS; i++) {
        double u[2];
        rng_uniform2(&stream, i, u);
        const double ratio = exp2(i % 2 == 0 ? 4.0 * u[0] - 2.0 : 80.0 * u[0] - 40.0);
        const double size = exp2(200.0 * u[1] - 100.0);
        const double x = i % 4 < 2 ? size : -size;
        const double y = i % 8 < 4 ? size * ratio : -size * ratio;
        largest = fmax(largest, error_of(x, y));
    }
    printf("largest error %.3f ulp\n", largest);
    ck_assert_double_le(largest, bound(BOUND_angle_ulp));
    perturb_record_norm("angle_ulp", largest, bound(BOUND_angle_ulp));
    ck_assert_double_gt(largest, 0.1); /* something was compared */
}
END_TEST

START_TEST(axes_and_nothing_have_their_angles)
{
    const double pi = 0x1.921fb54442d18p+1;
    ck_assert_exactly(angle_of(2.0, 0.0), 0.0);
    ck_assert_exactly(angle_of(0.0, 3.0), pi / 2.0);
    ck_assert_exactly(angle_of(0.0, -3.0), -pi / 2.0);
    ck_assert_exactly(angle_of(-1.0, 0.0), pi);
    ck_assert_exactly(angle_of(-1.0, -0.0), -pi);
    ck_assert_exactly(angle_of(1.0, 1.0), pi / 4.0);
    ck_assert_exactly(angle_of(0.0, 0.0), 0.0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("angle");
    TCase *const tests = tcase_create("angle");
    tcase_add_test(tests, an_angle_is_within_its_bound);
    tcase_add_test(tests, axes_and_nothing_have_their_angles);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
