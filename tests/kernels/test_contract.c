/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/base/rng.h"
#include "kernels/base/status.h"
#include "kernels/contract/contract.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/perturb/record.h"
#include "tests/unit_main.h"

enum { N = 40 };

/* Random values; the comparison of v with r must hold before it is disturbed. */
static void fill(double *values, int n)
{
    const struct rng_stream stream = {.seed = 3};
    for (int i = 0; i < n; i++) {
        double u[2];
        rng_uniform2(&stream, (uint64_t)i, u);
        values[i] = 0.1 + u[0];
    }
}

static struct comparison compared(const struct comparison_input *in)
{
    struct comparison result;
    ck_assert_int_eq(comparison_run(in, &result), 0);
    return result;
}

static int quietly(const struct comparison_input *in)
{
    struct comparison result;
    char text[200];
    status_capture(text, sizeof text);
    const int rc = comparison_run(in, &result);
    status_capture(NULL, 0);
    return rc;
}

START_TEST(equal_values_are_within_with_margin_zero)
{
    double r[2 * N];
    fill(r, 2 * N);
    const struct comparison_input in = {
        .value = r, .reference = r, .n = N, .is_complex = true, .rtol = 1e-15};
    const struct comparison result = compared(&in);
    ck_assert(result.within && exactly(result.margin, 0.0) && result.not_finite == 0);
    ck_assert_int_eq(contract_judge(&result), VERDICT_WITHIN);
}
END_TEST

/* v[7] = 4, r[7] = 3, allowed 0.5 + 0.5 * 3 = 2: half the bound. */
START_TEST(margin_is_the_largest_error_over_its_bound)
{
    double r[N];
    double v[N];
    for (int i = 0; i < N; i++)
        r[i] = v[i] = 1.0;
    r[7] = 3.0;
    v[7] = 4.0;
    v[9] = 1.25; /* allowed 1: a quarter */
    const struct comparison_input in = {
        .value = v, .reference = r, .n = N, .atol = 0.5, .rtol = 0.5};
    const struct comparison result = compared(&in);
    ck_assert(result.within && exactly(result.margin, 0.5) && exactly(result.observed, 1.0)
              && exactly(result.allowed, 2.0));
    ck_assert_int_eq(result.worst, 7);
}
END_TEST

static void disturb(double *v, int how)
{
    switch (how) {
    case 0:
        v[11] = -v[11];
        break;
    case 1:
        v[11] = 0.0;
        break;
    case 2:
        v[11] *= 1.0 + 1e-9;
        break;
    case 3:
        v[11] = (double)NAN;
        break;
    case 4:
        v[11] = (double)INFINITY;
        break;
    default:
        v[11] = v[12];
        break;
    }
}

START_TEST(every_comparison_fails_on_every_perturbation)
{
    double r[2 * N];
    double bounds[2 * N];
    fill(r, 2 * N);
    for (int i = 0; i < 2 * N; i++)
        bounds[i] = 1e-12;
    for (int how = 0; how < 6; how++) {
        double v[2 * N];
        memcpy(v, r, sizeof v);
        disturb(v, how);
        const struct comparison_input real = {
            .value = v, .reference = r, .n = 2 * N, .atol = 1e-13, .rtol = 1e-12};
        struct comparison_input complex_pairs = real;
        complex_pairs.is_complex = true;
        complex_pairs.n = N;
        struct comparison_input given = complex_pairs;
        given.bounds = bounds;
        struct comparison norm;
        ck_assert(!compared(&real).within && compared(&real).margin > 1.0);
        ck_assert(!compared(&complex_pairs).within && !compared(&given).within);
        ck_assert_int_eq(compared(&real).worst, 11);
        ck_assert_int_eq(compared(&given).worst, 5);
        ck_assert_int_eq(comparison_norm(&given, 1e-12, &norm), 0);
        ck_assert(!norm.within && norm.margin > 1.0);
        ck_assert_int_eq(contract_judge(&norm), VERDICT_OUTSIDE);
        ck_assert_int_eq(comparison_bits(v, r, sizeof(double), 2 * N), 11);
    }
    perturb_record("comparison helpers", 1e-9, 0.0);
}
END_TEST

START_TEST(a_zero_bound_asks_for_equality)
{
    double r[2] = {1.0, 2.0};
    double v[2] = {1.0, 2.0};
    const double bounds[2] = {0.0, 0.0};
    const struct comparison_input in = {.value = v, .reference = r, .n = 2, .bounds = bounds};
    ck_assert(compared(&in).within);
    v[1] = nextafter(2.0, 3.0);
    ck_assert(!compared(&in).within && isinf(compared(&in).margin));
}
END_TEST

START_TEST(a_reference_that_proves_nothing_is_refused)
{
    const double zero[4] = {0.0, -0.0, 0.0, 0.0};
    const double one[4] = {1.0, 1.0, 1.0, 1.0};
    const double nan[4] = {1.0, (double)NAN, 1.0, 1.0};
    const double negative[4] = {1.0, 1.0, -1.0, 1.0};
    const struct comparison_input cases[] = {
        {.value = zero, .reference = zero, .n = 4, .atol = 1.0},
        {.value = zero, .reference = zero, .n = 2, .atol = 1.0, .is_complex = true},
        {.value = one, .reference = one, .n = 0, .atol = 1.0},
        {.value = one, .reference = one, .n = -1, .atol = 1.0},
        {.value = one, .reference = NULL, .n = 4, .atol = 1.0},
        {.value = NULL, .reference = one, .n = 4, .atol = 1.0},
        {.value = one, .reference = nan, .n = 4, .atol = 1.0},
        {.value = one, .reference = one, .n = 4, .bounds = negative},
        {.value = one, .reference = one, .n = 4, .bounds = nan},
        {.value = one, .reference = one, .n = 4, .rtol = -1.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ck_assert_msg(quietly(&cases[i]) == ERR_ARGUMENT, "case %zu", i);
}
END_TEST

START_TEST(a_norm_bound_that_allows_anything_or_nothing_is_refused)
{
    static const double limits[] = {0.0, -1.0, (double)NAN, (double)INFINITY};
    const double one[2] = {1.0, 1.0};
    const double zero[2] = {0.0, 0.0};
    const struct comparison_input in = {.value = one, .reference = one, .n = 2};
    const struct comparison_input none = {.value = one, .reference = zero, .n = 2};
    struct comparison out;
    char text[200];
    status_capture(text, sizeof text);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        ck_assert_int_eq(comparison_norm(&in, limits[i], &out), ERR_ARGUMENT);
    ck_assert_int_eq(comparison_norm(&none, 1.0, &out), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(text, "positive and finite"));
}
END_TEST

START_TEST(weak_elements_are_reported_apart)
{
    const double r[3] = {1.0, 1e-8, 0.5};
    const double v[3] = {1.0, 1.5e-8, 0.5};
    const struct comparison_input in = {.value = v, .reference = r, .n = 3, .atol = 1e-7};
    const struct comparison result = compared(&in);
    ck_assert(result.within);
    ck_assert_rounding(result.weak, 0.5, 1e-12);
    struct comparison norm;
    ck_assert_int_eq(comparison_norm(&in, 1e-7, &norm), 0);
    ck_assert(norm.within);
    ck_assert_rounding(norm.weak, 0.5, 1e-12);
}
END_TEST

/* (3, 4) against (0, 0) + …: ||v - r|| = 5, ||r|| = 13. */
START_TEST(norm_comparison_is_the_ratio_of_two_norms)
{
    const double r[2] = {5.0, 12.0};
    const double v[2] = {8.0, 16.0};
    const struct comparison_input in = {.value = v, .reference = r, .n = 2};
    struct comparison result;
    ck_assert_int_eq(comparison_norm(&in, 0.5, &result), 0);
    ck_assert_rounding_of(result.observed, 5.0 / 13.0, 1.0, 4.0 * DBL_EPSILON);
    ck_assert(result.within);
    ck_assert_rounding_of(result.margin, 10.0 / 13.0, 1.0, 4.0 * DBL_EPSILON);
    const double large[2] = {5e200, 12e200};
    const double larger[2] = {8e200, 16e200};
    const struct comparison_input big = {.value = larger, .reference = large, .n = 2};
    ck_assert_int_eq(comparison_norm(&big, 0.5, &result), 0);
    ck_assert_rounding(result.observed, 5.0 / 13.0, 1e-14);
}
END_TEST

START_TEST(bits_tell_signed_zeros_and_nan_payloads_apart)
{
    const double a[3] = {1.0, 0.0, 2.0};
    const double b[3] = {1.0, -0.0, 2.0};
    ck_assert_int_eq(comparison_bits(a, a, sizeof a[0], 3), -1);
    ck_assert_int_eq(comparison_bits(a, b, sizeof a[0], 3), 1);
    ck_assert_int_eq(comparison_bits(a, b, sizeof a[0], 0), -1);
    const unsigned long long nan1 = 0x7ff8000000000001ULL;
    const unsigned long long nan2 = 0x7ff8000000000002ULL;
    ck_assert_int_eq(comparison_bits(&nan1, &nan2, sizeof nan1, 1), 0);
    ck_assert_int_eq(comparison_bits(&nan1, &nan1, sizeof nan1, 1), -1);
}
END_TEST

START_TEST(gamma_is_the_bound_of_higham)
{
    double gamma;
    ck_assert_int_eq(bound_gamma(1, PRECISION_F64, &gamma), 0);
    ck_assert(exactly(gamma, 0x1p-53 / (1.0 - 0x1p-53)));
    ck_assert_int_eq(bound_gamma(0, PRECISION_F64, &gamma), 0);
    ck_assert(exactly(gamma, 0.0));
    ck_assert_int_eq(bound_gamma(0x1p23, PRECISION_F32, &gamma), 0);
    ck_assert(exactly(gamma, 1.0)); /* (1/2) / (1 - 1/2) */
    ck_assert_int_eq(bound_gamma(0x1p6, PRECISION_BF16, &gamma), 0);
    ck_assert_rounding_of(gamma, 1.0 / 3.0, 1.0, DBL_EPSILON);
}
END_TEST

START_TEST(gamma_refuses_too_many_roundings)
{
    static const double counts[] = {-1.0, 0x1p53, 0x1p60, (double)NAN, (double)INFINITY};
    char text[200];
    double gamma;
    status_capture(text, sizeof text);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        ck_assert_int_eq(bound_gamma(counts[i], PRECISION_F64, &gamma), ERR_ARGUMENT);
    ck_assert_int_eq(bound_gamma(0x1p24, PRECISION_F32, &gamma), ERR_ARGUMENT);
    ck_assert_int_eq(bound_sum(3, -1.0, PRECISION_F64, &gamma), ERR_ARGUMENT);
    ck_assert_int_eq(bound_sum(3, (double)INFINITY, PRECISION_F64, &gamma), ERR_ARGUMENT);
    ck_assert_int_eq(bound_fft(0, &gamma), ERR_ARGUMENT);
    ck_assert_int_eq(bound_steps(9, 1.0, &gamma), ERR_ARGUMENT);
    ck_assert_int_eq(bound_steps(0, 1.0, &gamma), ERR_ARGUMENT);
    ck_assert_int_eq(bound_steps(1, 0.0, &gamma), ERR_ARGUMENT);
    status_capture(NULL, 0);
}
END_TEST

/* A float sum of 10 000 terms against the exact one in double. */
START_TEST(a_float_sum_keeps_the_bound_of_a_loop_and_nearly_uses_it)
{
    enum { M = 10000 };
    double exact = 0.0;
    float sum = 0.0F;
    for (int i = 0; i < M; i++) {
        sum += 0.1F;
        exact += (double)0.1F;
    }
    double limit;
    ck_assert_int_eq(bound_sum(M - 1, exact, PRECISION_F32, &limit), 0);
    const double error = fabs((double)sum - exact);
    ck_assert_norm(error, limit);
    ck_assert(error > 1e-3 * limit);
}
END_TEST

START_TEST(bounds_have_the_values_of_the_design)
{
    double value;
    ck_assert_int_eq(bound_fft(8192, &value), 0);
    ck_assert(exactly(value, 512.0 * DBL_EPSILON * 13.0));
    ck_assert_int_eq(bound_fft(8193, &value), 0);
    ck_assert(exactly(value, 512.0 * DBL_EPSILON * 14.0));
    ck_assert_int_eq(bound_fft(1, &value), 0);
    ck_assert(exactly(value, 512.0 * DBL_EPSILON));
    ck_assert_int_eq(bound_steps(1, 2.0, &value), 0);
    ck_assert(exactly(value, 32.0 * DBL_EPSILON));
    ck_assert_int_eq(bound_steps(8, 2.0, &value), 0);
    ck_assert(exactly(value, 256.0 * DBL_EPSILON));
    ck_assert_int_eq(bound_dot(4, 0.0, PRECISION_F64, &value), 0);
    ck_assert(exactly(value, 4.0 * 0x1p-1074));
    ck_assert_int_eq(bound_dot(4, 0.0, PRECISION_F32, &value), 0);
    ck_assert(exactly(value, 4.0 * 0x1p-149));
}
END_TEST

START_TEST(every_bound_has_a_value_unit_and_source)
{
    for (int i = 0; i < BOUND_COUNT; i++) {
        const struct bound_entry *entry = bound_entry((enum bound_id)i);
        ck_assert_msg(entry->value > 0.0 && isfinite(entry->value), "%s", entry->name);
        ck_assert_msg(entry->unit[0] != '\0' && entry->source[0] != '\0', "%s", entry->name);
        ck_assert(exactly(bound((enum bound_id)i), entry->value));
    }
}
END_TEST

START_TEST(classes_and_verdicts_have_their_names)
{
    ck_assert_str_eq(contract_class_name(CONTRACT_P), "P");
    ck_assert_str_eq(contract_class_name(CONTRACT_N), "N");
    ck_assert_str_eq(contract_class_doc(CONTRACT_T), "adaptive");
    ck_assert_int_eq(VERDICT_UNJUDGED, 0); /* store.md */
    ck_assert_str_eq(verdict_name(VERDICT_UNJUDGED), "unjudged");
    ck_assert_str_eq(verdict_name(VERDICT_OUTSIDE), "outside");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract");
    TCase *tests = tcase_create("contract");
    tcase_add_test(tests, equal_values_are_within_with_margin_zero);
    tcase_add_test(tests, margin_is_the_largest_error_over_its_bound);
    tcase_add_test(tests, every_comparison_fails_on_every_perturbation);
    tcase_add_test(tests, a_zero_bound_asks_for_equality);
    tcase_add_test(tests, a_reference_that_proves_nothing_is_refused);
    tcase_add_test(tests, a_norm_bound_that_allows_anything_or_nothing_is_refused);
    tcase_add_test(tests, weak_elements_are_reported_apart);
    tcase_add_test(tests, norm_comparison_is_the_ratio_of_two_norms);
    tcase_add_test(tests, bits_tell_signed_zeros_and_nan_payloads_apart);
    tcase_add_test(tests, gamma_is_the_bound_of_higham);
    tcase_add_test(tests, gamma_refuses_too_many_roundings);
    tcase_add_test(tests, a_float_sum_keeps_the_bound_of_a_loop_and_nearly_uses_it);
    tcase_add_test(tests, bounds_have_the_values_of_the_design);
    tcase_add_test(tests, every_bound_has_a_value_unit_and_source);
    tcase_add_test(tests, classes_and_verdicts_have_their_names);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
