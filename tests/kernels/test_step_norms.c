/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the norms of a step must do with NaN, with nothing, and with the sum of a long row. */
#include <math.h>

#include "kernels/backend.h"
#include "kernels/backend/cpu.h"
#include "kernels/base/mem.h"
#include "tests/exact.h"
#include "tests/kernels/isa.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

enum { N = 20001 }; /* above threads_pointwise */

/* One row: e = k, all else zero. */
struct row {
    struct backend *be;
    double *zero;
    double *k, *y, *state; /* split rows */
    double *pre;
    cplx *spec;
    double last, rtol, atol;
    double out[2];
};

#define LD 20008 /* of the split rows */

static void row_init(struct row *r, const char *isa, int threads)
{
    const struct backend_options options = {
        .name = "cpu", .isa = isa, .threads = threads, .rigour = FFT_ESTIMATE};
    *r = (struct row){.last = 1.0, .rtol = 1e-3};
    ck_assert_int_eq(backend_create(&options, &r->be), 0);
    double **const rows[] = {&r->zero, &r->k, &r->y, &r->state, &r->pre};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_int_eq(MEM_NEW(2 * LD, rows[i]), 0);
    ck_assert_int_eq(MEM_NEW(N, &r->spec), 0);
}

static void row_clear(struct row *r)
{
    void *const rows[] = {r->zero, r->k, r->y, r->state, r->pre, r->spec};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        mem_free(rows[i]);
    backend_destroy(r->be);
    ck_assert_int_eq(mem_live(), 0);
}

static void bin_norm(struct row *r)
{
    const struct step_bin_args args = {.part = r->zero,
                                       .k = r->k,
                                       .y = r->y,
                                       .state = r->state,
                                       .last = &r->last,
                                       .rtol = &r->rtol,
                                       .atol = &r->atol,
                                       .out = r->out,
                                       .ld = LD};
    r->out[0] = r->out[1] = (double)NAN;
    ck_assert_int_eq(r->be->kernels->step_bin(r->be, &args, 0, 1, N), 0);
}

/* Runs a check on every instruction set with one and three threads. */
static void each_machine(void (*check)(struct row *r))
{
    for (const struct cpu_isa *isa = cpu_isa_list(); isa->name != NULL; isa++) {
        for (int threads = 1; isa_runs(isa) && threads <= 3; threads += 2) {
            struct row r;
            row_init(&r, isa->name, threads);
            check(&r);
            row_clear(&r);
        }
    }
}

static void check_nan_everywhere(struct row *r)
{
    double *const arrays[] = {r->k, r->y, r->state};
    for (long i = 0; i < N; i++)
        r->k[i] = r->y[i] = r->state[i] = 1.0;
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++) {
        for (long i = 0; i < N; i += 2857) {
            arrays[a][LD + i] = (double)NAN;
            bin_norm(r);
            ck_assert_msg(isnan(r->out[0]) && isnan(r->out[1]),
                          "array %zu, element %ld: %g, %g", a, i, r->out[0], r->out[1]);
            arrays[a][LD + i] = 0.0;
        }
    }
    bin_norm(r);
    ck_assert(isfinite(r->out[0]) && isfinite(r->out[1]));
}

START_TEST(a_nan_makes_sum_and_largest_error_nan)
{
    each_machine(check_nan_everywhere);
}
END_TEST

static void check_nothing(struct row *r)
{
    bin_norm(r); /* e = 0, tolerance 0 */
    ck_assert(exactly(r->out[0], 0.0) && exactly(r->out[1], 0.0));
    r->k[5] = 1e-30; /* an error where nothing is allowed */
    bin_norm(r);
    ck_assert(isinf(r->out[0]) && isinf(r->out[1]));
}

START_TEST(a_bin_without_error_counts_nothing_even_without_tolerance)
{
    each_machine(check_nothing);
}
END_TEST

/* e = 2e-3 against 1e-3 * 1 in one bin: (2)^2; the larger of |y| and |y'| counts. */
static void check_largest(struct row *r)
{
    for (long i = 0; i < N; i++)
        r->y[i] = 1.0;
    r->k[LD + N - 1] = 2e-3;
    bin_norm(r);
    ck_assert_rounding(r->out[0], 4.0, 2.5e-15);
    ck_assert_rounding(r->out[1], 4.0, 2.5e-15);
    r->state[LD + N - 1] = 2.0;
    bin_norm(r);
    ck_assert_rounding(r->out[1], 1.0, 1e-14);
    r->atol = 1e-3;
    r->state[LD + N - 1] = 0.0;
    bin_norm(r);
    ck_assert_rounding(r->out[1], 1.0, 1e-14);
    r->k[0] = 4e-3;
    bin_norm(r);
    ck_assert_rounding(r->out[0], 5.0, 2.5e-15);
    ck_assert_rounding(r->out[1], 4.0, 2.5e-15);
}

START_TEST(largest_error_is_relative_to_the_larger_state)
{
    each_machine(check_largest);
}
END_TEST

/* pre = 3i, spec = 1: |k|^2 = 9; part zero but for one bin. */
static void check_sums(struct row *r)
{
    for (long i = 0; i < N; i++) {
        r->pre[LD + i] = 3.0;
        r->spec[i].r = 1.0;
    }
    r->zero[LD + 7] = 2.0;
    const struct step_close_args args = {.pre = r->pre,
                                         .part = r->zero,
                                         .spec = r->spec,
                                         .k = r->k,
                                         .last = &r->last,
                                         .out = r->out,
                                         .ld = LD};
    ck_assert_int_eq(r->be->kernels->step_close(r->be, &args, 0, 1, N), 0);
    ck_assert(exactly(r->out[0], 9.0 * (N - 1) + 25.0)); /* exact */
}

START_TEST(sums_of_whole_numbers_are_exact_for_any_number_of_threads)
{
    each_machine(check_sums);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("step norms");
    TCase *tests = tcase_create("step norms");
    tcase_set_timeout(tests, 20);
    tcase_add_test(tests, a_nan_makes_sum_and_largest_error_nan);
    tcase_add_test(tests, a_bin_without_error_counts_nothing_even_without_tolerance);
    tcase_add_test(tests, largest_error_is_relative_to_the_larger_state);
    tcase_add_test(tests, sums_of_whole_numbers_are_exact_for_any_number_of_threads);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
