/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orders, planes, accounting and outcomes of the stepper on systems with known solutions. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "tests/exact.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/perturbed.h"
#include "tests/kernels/stepper_case.h"
#include "tests/perturb/bounded.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* Error after `steps` equal steps over the whole length. */
static double error_of_schedule(const struct stepper_case *c, long steps)
{
    struct stepper_run run;
    double *h = calloc((size_t)steps, sizeof *h);
    for (long i = 0; i < steps; i++)
        h[i] = 1.0 / (double)steps;
    stepper_open(&run, c);
    stepper_set_schedule(run.stepper, 0, h, steps);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_DONE);
    ck_assert_int_eq(run.st[0].steps, steps);
    const double error = stepper_error(&run, 0, 1.0);
    stepper_close(&run);
    free(h);
    return error;
}

START_TEST(solution_converges_with_order_5)
{
    static const double losses[] = {0.0, -0.8};
    for (int kind = CASE_KERR; kind <= CASE_COUPLED; kind++)
        for (int l = 0; l < 2; l++) {
            struct stepper_case c = stepper_case_default((enum case_kind)kind);
            c.lr = losses[l];
            c.g = 8.0;
            const double coarse = error_of_schedule(&c, 128);
            const double fine = error_of_schedule(&c, 256);
            const double order = log2(coarse / fine);
            ck_assert_bounded(fabs(order - 5.0), BOUND_order);
        }
}
END_TEST

/* ||e|| of one step of length h from the start, out of the history. */
static double estimate_of_step(const struct stepper_case *c, double h)
{
    struct stepper_run run;
    struct stepper_case one = *c;
    one.positions[0] = h;
    stepper_open(&run, &one);
    stepper_set_schedule(run.stepper, 0, &h, 1);
    stepper_finish(&run);
    const double error = run.history[0].error; /* ||e|| / (rtol ||y||), ||y|| does not change */
    stepper_close(&run);
    return error;
}

START_TEST(error_estimate_is_that_of_an_embedded_order_4)
{
    for (int kind = CASE_KERR; kind <= CASE_COUPLED; kind++) {
        const struct stepper_case c = stepper_case_default((enum case_kind)kind);
        const double order = log2(estimate_of_step(&c, 0.02) / estimate_of_step(&c, 0.01));
        ck_assert_bounded(fabs(order - 5.0), BOUND_order); /* local error h^(4 + 1) */
    }
}
END_TEST

START_TEST(adaptive_error_follows_the_tolerance)
{
    double error[2];
    for (int i = 0; i < 2; i++) {
        struct stepper_case c = stepper_case_default(CASE_COUPLED);
        c.control.rtol = i == 0 ? 1e-5 : 1e-9;
        struct stepper_run run;
        stepper_open(&run, &c);
        stepper_finish(&run);
        error[i] = stepper_error(&run, 0, 1.0);
        ck_assert_norm(error[i], c.control.rtol * (double)run.st[0].steps);
        stepper_close(&run);
    }
    ck_assert_double_lt(error[1], error[0] / 100.0);
}
END_TEST

START_TEST(right_hand_sides_are_1_and_6_a_trial_and_the_history_adds_up)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.control.first_step = 0.9; /* far too long: rejected */
    struct stepper_run run;
    stepper_open(&run, &c);
    stepper_finish(&run);
    const struct row_status *st = &run.st[0];
    ck_assert_int_eq(st->outcome, ROW_DONE);
    ck_assert_int_ge(st->rejected, 1);
    ck_assert_int_eq(st->rhs_calls, 1 + 6 * (st->steps + st->rejected));
    ck_assert_int_eq(st->rhs_calls, run.calls[0]);
    ck_assert_int_eq(st->transforms, CASE_TRANSFORMS * st->rhs_calls);
    /* The first slope is a join and a pass; N of this system is a pass. */
    ck_assert_int_eq(st->passes,
                     2 + RK45_TRIAL_PASSES * (st->steps + st->rejected) + st->rhs_calls);
    ck_assert_int_eq(st->history_count, st->steps + st->rejected);
    ck_assert_int_eq(atomic_load(&run.control.steps_done), st->history_count);
    ck_assert(!st->history_truncated);
    double z = 0.0;
    long long accepted = 0;
    for (long i = 0; i < st->history_count; i++) {
        const struct step_record *h = &st->history[i];
        ck_assert_exactly(h->position, z);
        ck_assert_int_eq(h->order, 5);
        ck_assert_int_eq(h->accepted, h->error <= 1.0);
        z = h->accepted ? h->position + h->length : z;
        accepted += h->accepted;
    }
    ck_assert_int_eq(accepted, st->steps);
    ck_assert_near(z, 1.0, STEP_MINIMUM, 1.0 - 3.0 * STEP_MINIMUM,
                   "three least steps too short");
    stepper_close(&run);
}
END_TEST

START_TEST(a_rejected_trial_leaves_no_trace_in_the_solution)
{
    struct stepper_case c = stepper_case_default(CASE_COUPLED);
    struct stepper_run rejected;
    c.control.first_step = 0.9;
    stepper_open(&rejected, &c);
    stepper_finish(&rejected);
    ck_assert_int_ge(rejected.st[0].rejected, 1);
    /* The same accepted lengths without the rejected trials. */
    double *h = calloc(CASE_HISTORY, sizeof *h);
    long count = 0;
    for (long i = 0; i < rejected.st[0].history_count; i++)
        if (rejected.history[i].accepted)
            h[count++] = rejected.history[i].length;
    struct stepper_run clean;
    stepper_open(&clean, &c);
    stepper_set_schedule(clean.stepper, 0, h, count);
    stepper_finish(&clean);
    ck_assert_int_eq(clean.st[0].rejected, 0);
    ck_assert_int_eq(comparison_bits(stepper_state_of(&clean, 0),
                                     stepper_state_of(&rejected, 0), sizeof(cplx), CASE_BINS),
                     -1);
    stepper_close(&clean);
    ck_assert_int_eq(rejected.st[0].outcome, ROW_DONE);
    stepper_close(&rejected);
    free(h);
}
END_TEST

/* A step that was not shortened is followed by its length times the factor of its error; a
 * shortened one does not pull down the steps after it. */
static void check_lengths(const struct stepper_run *run, const double *positions, int planes)
{
    const struct row_status *st = &run->st[0];
    int free_steps = 0;
    for (long i = 0; i + 1 < st->history_count; i++) {
        const struct step_record *h = &st->history[i];
        bool lands[2] = {false, false};
        for (int k = 0; k < 2; k++)
            for (int plane = 0; plane < planes; plane++)
                lands[k] =
                    lands[k] || fabs(h[k].position + h[k].length - positions[plane]) < 1e-13;
        ck_assert(h->accepted);
        if (!lands[0] && !lands[1]) {
            ck_assert_exactly(h[1].length, h->length * step_factor(h->error));
            free_steps++;
        } else if (lands[0] && !lands[1]) {
            ck_assert_double_ge(h[1].length, h->length * fmin(1.0, step_factor(h->error)));
        }
    }
    ck_assert_int_gt(free_steps, 10);
}

START_TEST(steps_land_on_every_plane_and_keep_their_natural_length)
{
    struct stepper_case c = stepper_case_default(CASE_COUPLED);
    static const double positions[] = {0.0, 1e-3, 0.3, 0.3 + 1e-14, 0.7, 1.0};
    c.planes = 6;
    memcpy(c.positions, positions, sizeof positions);
    struct stepper_run run;
    stepper_open(&run, &c);
    for (long k = 0; k < c.planes; k++) {
        ck_assert_int_eq(stepper_advance(run.stepper, &run.control, run.st), 0);
        ck_assert(run.st[0].plane_ready);
        ck_assert_int_eq(run.st[0].plane, k);
        ck_assert_exactly(run.st[0].progress, positions[k]);
        ck_assert_norm(stepper_error(&run, 0, positions[k]), 1e-6);
        if (k == 0)
            ck_assert_int_eq(run.st[0].rhs_calls, 0);
        /* A plane that was not read is not left. */
        const long long steps = run.st[0].steps;
        ck_assert_int_eq(stepper_advance(run.stepper, &run.control, run.st), 0);
        ck_assert_int_eq(run.st[0].steps, steps);
        run.st[0].plane_ready = false;
    }
    ck_assert_int_eq(stepper_advance(run.stepper, &run.control, run.st), 0);
    ck_assert_int_eq(run.st[0].outcome, ROW_DONE);
    check_lengths(&run, positions, 6);
    stepper_close(&run);
}
END_TEST

START_TEST(without_nonlinearity_each_plane_takes_one_step)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.g = 0.0;
    c.lr = -0.4;
    c.planes = 3;
    c.positions[0] = 0.0;
    c.positions[1] = 0.25;
    c.positions[2] = 1.0;
    struct stepper_run run;
    stepper_open(&run, &c);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].steps, 2);
    ck_assert_exactly(run.history[1].error, 0.0);
    ck_assert_bounded(stepper_error(&run, 0, 1.0), BOUND_linear_step);
    stepper_close(&run);
}
END_TEST

START_TEST(all_norms_agree_where_all_bins_are_equal)
{
    double error[3];
    for (int norm = STEP_NORM_L2; norm <= STEP_NORM_MAX; norm++) {
        struct stepper_case c = stepper_case_default(CASE_KERR);
        c.control.norm = (enum step_norm)norm;
        c.control.rtol = 1e-4;
        c.control.first_step = 0.1;
        struct stepper_run run;
        stepper_open(&run, &c);
        cplx same[CASE_BINS];
        double li[CASE_BINS];
        cplx pre[CASE_BINS];
        for (long i = 0; i < CASE_BINS; i++) {
            same[i] = cplx_make(0.8, 0.1);
            li[i] = 2.0;
            pre[i] = cplx_make(0.0, -3.0);
        }
        const struct step_member member = {.control = c.control,
                                           .positions = c.positions,
                                           .field = same,
                                           .li = li,
                                           .pre = pre};
        ck_assert_int_eq(stepper_load(run.stepper, 0, &member, &run.st[0]), 0);
        stepper_finish(&run);
        ck_assert_int_eq(run.st[0].outcome, ROW_DONE);
        error[norm] = run.history[0].error;
        stepper_close(&run);
    }
    ck_assert_double_gt(error[0], 0.0);
    ck_assert_bounded(fabs(error[1] / error[0] - 1.0), BOUND_norms_agree);
    ck_assert_bounded(fabs(error[2] / error[0] - 1.0), BOUND_norms_agree);
}
END_TEST

START_TEST(a_resumed_row_ends_with_the_same_bits_as_a_straight_one)
{
    struct stepper_case c = stepper_case_default(CASE_COUPLED);
    c.control.first_step = 0.9;
    c.planes = 3;
    c.positions[0] = 0.1;
    c.positions[1] = 0.6;
    c.positions[2] = 1.0;
    struct stepper_run straight;
    struct stepper_run resumed;
    stepper_open(&straight, &c);
    stepper_finish(&straight);
    stepper_open(&resumed, &c);
    ck_assert_int_eq(stepper_advance(resumed.stepper, &resumed.control, resumed.st), 0);
    ck_assert(resumed.st[0].plane_ready);
    char bytes[4096];
    struct state_out out = {bytes, sizeof bytes, 0};
    ck_assert_int_eq(stepper_save(resumed.stepper, 0, &out), 0);
    ck_assert_uint_eq(out.length, stepper_state_bytes(CASE_BINS));
    /* Into a stepper that has gone elsewhere meanwhile. */
    stepper_finish(&resumed);
    const struct state_in in = {bytes, out.length};
    resumed.st[0].outcome = ROW_RUNNING;
    ck_assert_int_eq(stepper_resume(resumed.stepper, 0, &in, &resumed.st[0]), 0);
    ck_assert_int_eq(resumed.st[0].plane, 0);
    stepper_finish(&resumed);
    ck_assert_int_eq(comparison_bits(stepper_state_of(&straight, 0),
                                     stepper_state_of(&resumed, 0), sizeof(cplx), CASE_BINS),
                     -1);
    ck_assert_int_eq(resumed.st[0].steps, straight.st[0].steps);
    ck_assert_int_eq(resumed.st[0].rejected, straight.st[0].rejected);
    ck_assert_int_eq(resumed.st[0].rhs_calls, straight.st[0].rhs_calls);
    ck_assert_int_eq(resumed.st[0].transforms, straight.st[0].transforms);
    const struct state_in shorter = {bytes, out.length - 1};
    char text[200] = "";
    status_capture(text, sizeof text);
    ck_assert_int_eq(stepper_resume(resumed.stepper, 0, &shorter, &resumed.st[0]),
                     ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert_str_ne(text, "");
    stepper_close(&resumed);
    stepper_close(&straight);
}
END_TEST

START_TEST(a_row_saved_after_a_rejected_trial_resumes_with_the_same_bits)
{
    struct stepper_case c = stepper_case_default(CASE_COUPLED);
    c.control.first_step = 0.9;
    struct stepper_run straight;
    struct stepper_run resumed;
    stepper_open(&straight, &c);
    stepper_finish(&straight);
    c.stop_call = 3; /* in the first trial, which is rejected */
    stepper_open(&resumed, &c);
    ck_assert_int_eq(stepper_advance(resumed.stepper, &resumed.control, resumed.st), 0);
    ck_assert_int_eq(resumed.st[0].outcome, ROW_RUNNING);
    ck_assert_int_eq(resumed.st[0].rejected, 1);
    ck_assert_int_eq(resumed.calls[0], 7); /* the trial was finished, no other begun */
    char bytes[4096];
    struct state_out out = {bytes, sizeof bytes, 0};
    ck_assert_int_eq(stepper_save(resumed.stepper, 0, &out), 0);
    stepper_close(&resumed);
    c.stop_call = 0;
    stepper_open(&resumed, &c);
    const struct state_in in = {bytes, out.length};
    ck_assert_int_eq(stepper_resume(resumed.stepper, 0, &in, &resumed.st[0]), 0);
    stepper_finish(&resumed);
    ck_assert_int_eq(comparison_bits(stepper_state_of(&straight, 0),
                                     stepper_state_of(&resumed, 0), sizeof(cplx), CASE_BINS),
                     -1);
    ck_assert_int_eq(resumed.st[0].steps, straight.st[0].steps);
    ck_assert_int_eq(resumed.st[0].rejected, straight.st[0].rejected);
    ck_assert_int_eq(resumed.st[0].rhs_calls, straight.st[0].rhs_calls);
    stepper_close(&straight);
    stepper_close(&resumed);
}
END_TEST

/* Not CMPLX: clang 14 has none with glibc. */
static double complex complex_of(double real, double imaginary)
{
    const double parts[2] = {real, imaginary};
    double complex z;
    memcpy(&z, parts, sizeof z);
    return z;
}

/* One step written from the tableau in plain complex arithmetic. */
static void plain_step(const struct stepper_case *c, double h, double complex *y)
{
    static const double node[7] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
    static const double a[7][6] = {
        {0},
        {1.0 / 5},
        {3.0 / 40, 9.0 / 40},
        {44.0 / 45, -56.0 / 15, 32.0 / 9},
        {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
        {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
        {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
    double complex k[6][CASE_BINS];
    double complex u[CASE_BINS];
    for (int s = 0; s < 7; s++) {
        for (long i = 0; i < CASE_BINS; i++) {
            u[i] = y[i];
            for (int j = 0; j < s; j++)
                u[i] += h * a[s][j] * k[j][i];
            u[i] *= cexp(complex_of(c->lr, stepper_li(i)) * node[s] * h);
        }
        for (long i = 0; s < 6 && i < CASE_BINS; i++) {
            const double complex n =
                c->kind == CASE_KERR ? complex_of(0.0, -c->g * cabs(u[i]) * cabs(u[i])) * u[i]
                                     : complex_of(0.0, c->g) * u[i ^ 1];
            k[s][i] = n * cexp(-complex_of(c->lr, stepper_li(i)) * node[s] * h);
        }
    }
    memcpy(y, u, sizeof u);
}

START_TEST(fused_passes_equal_the_plain_method_within_the_ladder)
{
    static const double losses[] = {0.0, -0.8};
    const double h[8] = {0.01, 0.013, 0.008, 0.02, 0.011, 0.009, 0.017, 0.012};
    for (int test = 0; test < 8; test++) {
        struct stepper_case c = stepper_case_default(test % 2 == 0 ? CASE_KERR : CASE_COUPLED);
        c.lr = losses[test / 2 % 2];
        const int steps = test / 4 == 0 ? 1 : 8;
        c.positions[0] = 0.0;
        for (int i = 0; i < steps; i++)
            c.positions[0] += h[i];
        struct stepper_run run;
        stepper_open(&run, &c);
        stepper_set_schedule(run.stepper, 0, h, steps);
        stepper_finish(&run);
        ck_assert_int_eq(run.st[0].outcome, ROW_DONE);
        double complex y[CASE_BINS];
        double peak = 0.0;
        for (long i = 0; i < CASE_BINS; i++) {
            y[i] = complex_of(stepper_start(&c, i).r, stepper_start(&c, i).i);
            peak = fmax(peak, cabs(y[i]));
        }
        for (int i = 0; i < steps; i++)
            plain_step(&c, h[i], y);
        double limit;
        ck_assert_int_eq(bound_steps(steps, peak, &limit), 0);
        const struct comparison_input in = {.value = (const double *)stepper_state_of(&run, 0),
                                            .reference = (const double *)y,
                                            .n = CASE_BINS,
                                            .is_complex = true,
                                            .atol = limit};
        struct comparison out;
        ck_assert_int_eq(comparison_run(&in, &out), 0);
        ck_assert_msg(out.within, "case %d: margin %g", test, out.margin);
        perturbed_check(&in, 0.0, "step");
        stepper_close(&run);
    }
}
END_TEST

/* Ranges that leave one span, two, and none of a whole group of 8 bins. */
START_TEST(bins_without_field_and_prefactor_stay_zero_whatever_n_says)
{
    static const long quiet[][2] = {{8, 24}, {10, 28}, {0, 16}, {20, 32}, {2, 8}, {0, 32}};
    for (size_t q = 0; q < 2 * sizeof quiet / sizeof quiet[0]; q++) {
        struct stepper_case c = stepper_case_default(q % 2 ? CASE_KERR : CASE_COUPLED);
        struct stepper_run run;
        c.control.rtol = 1e-6;
        c.planes = 2;
        c.positions[0] = 0.5;
        c.positions[1] = 1.0;
        stepper_open(&run, &c); /* a member without quiet bins was here before */
        stepper_finish(&run);
        c.quiet_from = quiet[q / 2][0];
        c.quiet_to = quiet[q / 2][1];
        stepper_fill(&run, &c);
        stepper_finish(&run);
        ck_assert_int_eq(run.st[0].outcome, ROW_DONE);
        ck_assert(!run.leaked);
        const cplx *y = stepper_state_of(&run, 0);
        for (long i = c.quiet_from; i < c.quiet_to; i++)
            ck_assert(is_zero(y[i].r) && is_zero(y[i].i));
        if (c.quiet_to - c.quiet_from < CASE_BINS)
            ck_assert_norm(stepper_error(&run, 0, 1.0),
                           c.control.rtol * (double)run.st[0].steps);
        stepper_close(&run);
    }
}
END_TEST

START_TEST(advancing_allocates_nothing)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.rows = 4;
    c.threads = 2;
    struct stepper_run run;
    stepper_open(&run, &c);
    const long before = mem_total();
    stepper_finish(&run);
    ck_assert_int_eq(mem_total(), before);
    stepper_close(&run);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("stepper");
    TCase *const tests = tcase_create("rk45");
    tcase_add_test(tests, solution_converges_with_order_5);
    tcase_add_test(tests, error_estimate_is_that_of_an_embedded_order_4);
    tcase_add_test(tests, adaptive_error_follows_the_tolerance);
    tcase_add_test(tests, right_hand_sides_are_1_and_6_a_trial_and_the_history_adds_up);
    tcase_add_test(tests, a_rejected_trial_leaves_no_trace_in_the_solution);
    tcase_add_test(tests, steps_land_on_every_plane_and_keep_their_natural_length);
    tcase_add_test(tests, without_nonlinearity_each_plane_takes_one_step);
    tcase_add_test(tests, all_norms_agree_where_all_bins_are_equal);
    tcase_add_test(tests, a_resumed_row_ends_with_the_same_bits_as_a_straight_one);
    tcase_add_test(tests, a_row_saved_after_a_rejected_trial_resumes_with_the_same_bits);
    tcase_add_test(tests, fused_passes_equal_the_plain_method_within_the_ladder);
    tcase_add_test(tests, bins_without_field_and_prefactor_stay_zero_whatever_n_says);
    tcase_add_test(tests, advancing_allocates_nothing);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
