/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Truncated Taylor arithmetic against derivatives by hand. */
#include <math.h>

#include "kernels/numeric/taylor.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* |a - b| within a few roundings of |b|. */
static void is_close(cplx a, double r, double i)
{
    const double scale = hypot(r, i);
    ck_assert_norm(hypot(a.r - r, a.i - i), 16.0 * 0x1p-53 * (scale > 0.0 ? scale : 1.0));
}

START_TEST(the_inverse_has_alternating_factorials_over_powers)
{
    const struct taylor f = taylor_inverse(taylor_variable(TAYLOR_ORDER, 3.0));
    double want = 1.0 / 3.0;
    for (int k = 0; k <= TAYLOR_ORDER; k++) {
        is_close(taylor_derivative(&f, k), want, 0.0);
        want *= -(k + 1.0) / 3.0;
    }
}
END_TEST

START_TEST(the_root_has_falling_half_factorials)
{
    const struct taylor f = taylor_sqrt(taylor_variable(TAYLOR_ORDER, 2.5));
    double want = sqrt(2.5);
    for (int k = 0; k <= TAYLOR_ORDER; k++) {
        is_close(taylor_derivative(&f, k), want, 0.0);
        want *= (0.5 - k) / 2.5;
    }
}
END_TEST

START_TEST(products_sums_and_shifts_follow_the_rules_of_polynomials)
{
    /* (x^2 + 2x)(x - 1) + 3x = x^3 + x^2 + x at 2: 14, 17, 14, 6, 0, 0 */
    const struct taylor x = taylor_variable(TAYLOR_ORDER, 2.0);
    const struct taylor a = taylor_add(taylor_mul(x, x), taylor_scale(2.0, x));
    const struct taylor f =
        taylor_sub(taylor_mul(a, taylor_shift(x, -1.0)), taylor_scale(-3.0, x));
    static const double want[] = {14, 17, 14, 6, 0, 0};
    for (int k = 0; k <= TAYLOR_ORDER; k++)
        is_close(taylor_derivative(&f, k), want[k], 0.0);
}
END_TEST

START_TEST(complex_roots_lie_on_the_principal_branch_and_square_back)
{
    static const cplx points[] = {{4.0, 0.0},   {-4.0, 0.0}, {-4.0, -1e-30},  {1.0, 1e-12},
                                  {-1.0, 3e-9}, {3.0, -4.0}, {1e-200, 2e-200}};
    for (unsigned i = 0; i < sizeof points / sizeof points[0]; i++) {
        const struct taylor root = taylor_sqrt(taylor_constant(0, points[i]));
        ck_assert_double_ge(root.c[0].r, 0.0);
        is_close(taylor_mul(root, root).c[0], points[i].r, points[i].i);
        /* The small part keeps its own figures. */
        if (!is_zero(points[i].i))
            ck_assert_rounding(2.0 * root.c[0].r * root.c[0].i, points[i].i, 16.0 * 0x1p-53);
    }
}
END_TEST

START_TEST(a_complex_function_has_the_derivatives_of_its_parts)
{
    /* f = 1/(1 + i x): f' = -i f^2, f'' = -2 f^3 */
    const struct taylor ix =
        taylor_mul(taylor_constant(2, (cplx){0.0, 1.0}), taylor_variable(2, 0.5));
    const struct taylor f = taylor_inverse(taylor_shift(ix, 1.0));
    const cplx value = f.c[0];
    is_close(value, 0.8, -0.4);
    const cplx square = cplx_mul(value, value);
    is_close(taylor_derivative(&f, 1), square.i, -square.r);
    const cplx cube = cplx_mul(square, value);
    is_close(taylor_derivative(&f, 2), -2.0 * cube.r, -2.0 * cube.i);
}
END_TEST

START_TEST(a_lower_order_gives_the_bits_of_the_full_one)
{
    for (int order = 0; order <= TAYLOR_ORDER; order++) {
        const struct taylor x = taylor_variable(order, 1.7);
        const struct taylor full = taylor_variable(TAYLOR_ORDER, 1.7);
        const struct taylor a = taylor_sqrt(taylor_inverse(taylor_mul(x, x)));
        const struct taylor b = taylor_sqrt(taylor_inverse(taylor_mul(full, full)));
        for (int k = 0; k <= TAYLOR_ORDER; k++)
            ck_assert(k > order ? exactly(a.c[k].r, 0.0) : exactly(a.c[k].r, b.c[k].r));
    }
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("Taylor arithmetic");
    TCase *const tests = tcase_create("series");
    tcase_add_test(tests, the_inverse_has_alternating_factorials_over_powers);
    tcase_add_test(tests, the_root_has_falling_half_factorials);
    tcase_add_test(tests, products_sums_and_shifts_follow_the_rules_of_polynomials);
    tcase_add_test(tests, complex_roots_lie_on_the_principal_branch_and_square_back);
    tcase_add_test(tests, a_complex_function_has_the_derivatives_of_its_parts);
    tcase_add_test(tests, a_lower_order_gives_the_bits_of_the_full_one);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
