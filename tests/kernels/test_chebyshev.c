/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certified tables. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/numeric/chebyshev.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* What is tabulated, and how often it was asked. */
struct subject {
    double (*f)(double);
    int calls;
};

static double runge(double x)
{
    return 1.0 / (1.0 + 25.0 * x * x);
}

static double corner(double x)
{
    return fabs(x - 0.3);
}

static int sample(const void *context, const double *x, double *y, long n)
{
    struct subject *const s = (struct subject *)(uintptr_t)context;
    s->calls++;
    for (long i = 0; i < n; i++)
        y[i] = s->f(x[i]);
    return 0;
}

static struct chebyshev_request request_of(struct subject *s, double low, double high)
{
    return (struct chebyshev_request){.low = low,
                                      .high = high,
                                      .tolerance = 1e-12,
                                      .budget = 64,
                                      .sample = sample,
                                      .context = s,
                                      .name = "subject"};
}

START_TEST(a_table_keeps_its_certificate_between_the_points_it_saw)
{
    static double (*const functions[])(double) = {exp, sin, runge, cosh};
    for (int i = 0; i < 4; i++) {
        struct subject s = {functions[i], 0};
        const struct chebyshev_request r = request_of(&s, -2.0, 3.0);
        struct chebyshev *t = NULL;
        ck_assert_int_eq(chebyshev_create(&r, &t), 0);
        ck_assert_norm(chebyshev_error(t), 1e-12);
        double worst = 0.0;
        double largest = 0.0;
        for (double x = -2.0; x <= 3.0; x += 1.0 / 4096.0) {
            worst = fmax(worst, fabs(chebyshev_value(t, x) - functions[i](x)));
            largest = fmax(largest, fabs(functions[i](x)));
        }
        /* The checks lie where the next term of the series is largest. */
        ck_assert_norm(worst / largest, 2.0 * chebyshev_error(t) + CHEBYSHEV_NOISE);
        /* One call a round: halving reaches p pieces in about log2(p) rounds. */
        ck_assert_int_le(s.calls, chebyshev_pieces(t));
        ck_assert_int_ge(1 << s.calls, chebyshev_pieces(t));
        chebyshev_destroy(t);
    }
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(polynomials_of_its_degree_need_one_piece)
{
    struct subject s = {cosh, 0};
    const struct chebyshev_request r = request_of(&s, 0.0, 1.0);
    struct chebyshev *t = NULL;
    ck_assert_int_eq(chebyshev_create(&r, &t), 0);
    ck_assert_int_eq(chebyshev_pieces(t), 1);
    ck_assert_int_eq(s.calls, 1);
    ck_assert_exactly(chebyshev_reach(t, 0.2, 0.9), 0.9);
    ck_assert_exactly(chebyshev_reach(t, 0.9, 0.2), 0.2);
    chebyshev_destroy(t);
}
END_TEST

START_TEST(a_walk_over_the_pieces_meets_every_boundary_once_in_either_direction)
{
    struct subject s = {runge, 0};
    const struct chebyshev_request r = request_of(&s, -1.0, 1.0);
    struct chebyshev *t = NULL;
    ck_assert_int_eq(chebyshev_create(&r, &t), 0);
    ck_assert_int_gt(chebyshev_pieces(t), 3);
    int up = 0;
    for (double x = -1.0; !exactly(x, 1.0); x = chebyshev_reach(t, x, 1.0))
        up++;
    int down = 0;
    for (double x = 1.0; !exactly(x, -1.0); x = chebyshev_reach(t, x, -1.0))
        down++;
    ck_assert_int_eq(up, chebyshev_pieces(t));
    ck_assert_int_eq(down, chebyshev_pieces(t));
    chebyshev_destroy(t);
}
END_TEST

static int refuse(const void *context, const double *x, double *y, long n)
{
    (void)context;
    (void)x;
    (void)n;
    y[0] = 0.0;
    return ERR_UNSUPPORTED;
}

START_TEST(what_cannot_be_tabulated_is_refused_with_the_piece)
{
    struct subject s = {corner, 0};
    struct chebyshev_request r = request_of(&s, 0.0, 1.0);
    r.budget = 8;
    struct chebyshev *t = NULL;
    char text[256] = "";
    status_capture(text, sizeof text);
    ck_assert_int_eq(chebyshev_create(&r, &t), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert(strstr(text, "subject cannot be tabulated") != NULL);
    ck_assert(strstr(text, "between 0.296875 and 0.304688,") != NULL);
    ck_assert(strstr(text, "all 8 pieces") != NULL);
    s.f = log; /* not finite at 0 */
    status_capture(text, sizeof text);
    ck_assert_int_eq(chebyshev_create(&r, &t), ERR_ARGUMENT);
    r.sample = refuse;
    ck_assert_int_eq(chebyshev_create(&r, &t), ERR_UNSUPPORTED);
    r.high = 0.0;
    ck_assert_int_eq(chebyshev_create(&r, &t), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert(t == NULL);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("Chebyshev tables");
    TCase *const tests = tcase_create("tables");
    tcase_add_test(tests, a_table_keeps_its_certificate_between_the_points_it_saw);
    tcase_add_test(tests, polynomials_of_its_degree_need_one_piece);
    tcase_add_test(tests, a_walk_over_the_pieces_meets_every_boundary_once_in_either_direction);
    tcase_add_test(tests, what_cannot_be_tabulated_is_refused_with_the_piece);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
