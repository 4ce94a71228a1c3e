/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gauss-Legendre rules. */
#include <math.h>

#include "kernels/numeric/quadrature.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

START_TEST(polynomials_up_to_their_degree_are_integrated_exactly_and_the_next_is_not)
{
    for (int n = 1; n <= QUADRATURE_MAX; n++) {
        struct quadrature q;
        quadrature_legendre(&q, n);
        for (int degree = 0; degree <= 2 * n; degree++) {
            double sum = 0.0;
            for (int i = 0; i < n; i++)
                sum += q.weight[i] * pow(q.node[i], degree);
            const double error = fabs(sum * (degree + 1.0) - 1.0);
            if (degree < 2 * n)
                ck_assert_norm(error, 2e-13);
            else if (n <= 8) /* the error falls as 16^-n */
                ck_assert_double_gt(error, 1e-11);
        }
    }
}
END_TEST

START_TEST(nodes_ascend_inside_the_interval_and_lie_symmetrically)
{
    struct quadrature q;
    quadrature_legendre(&q, 33);
    for (int i = 0; i < 33; i++) {
        ck_assert(q.node[i] > (i > 0 ? q.node[i - 1] : 0.0) && q.node[i] < 1.0);
        ck_assert_rounding_of(q.node[i] + q.node[32 - i], 1.0, 1.0, 2e-16);
        ck_assert(exactly(q.weight[i], q.weight[32 - i]));
    }
    /* Three points: 1/2 -+ sqrt(15)/10, weights 5/18, 8/18. */
    quadrature_legendre(&q, 3);
    ck_assert_rounding_of(q.node[0], 0.5 - sqrt(15.0) / 10.0, 1.0, 1e-16);
    ck_assert_rounding_of(q.weight[0], 5.0 / 18.0, 1.0, 1e-15);
    ck_assert_rounding_of(q.weight[1], 8.0 / 18.0, 1.0, 1e-15);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("quadrature");
    TCase *const tests = tcase_create("rules");
    tcase_add_test(tests,
                   polynomials_up_to_their_degree_are_integrated_exactly_and_the_next_is_not);
    tcase_add_test(tests, nodes_ascend_inside_the_interval_and_lie_symmetrically);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
