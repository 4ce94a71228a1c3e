/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How members end in the stepper, and that rows leave each other alone. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/contract/bounds.h"
#include "kernels/contract/compare.h"
#include "tests/exact.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/perturbed.h"
#include "tests/kernels/stepper_case.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

/* Run to the end; the row must have failed with these words in its reason. */
static void check_failure(struct stepper_case c, const char *first, const char *second)
{
    struct stepper_run run;
    stepper_open(&run, &c);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_FAILED);
    ck_assert_msg(strstr(run.st[0].reason, first) != NULL
                      && strstr(run.st[0].reason, second) != NULL,
                  "reason \"%s\" does not name %s, %s", run.st[0].reason, first, second);
    stepper_close(&run);
}

START_TEST(an_input_that_is_not_finite_fails_at_once)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.scale = (double)NAN;
    check_failure(c, "input field", "not finite");
    c.scale = (double)INFINITY;
    check_failure(c, "input field", "not finite");
}
END_TEST

START_TEST(a_field_that_becomes_not_finite_fails_with_plane_and_position)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.planes = 2;
    c.positions[0] = 0.0;
    c.positions[1] = 1.0;
    c.poison_call = 1;
    check_failure(c, "nonlinear term is not finite", "plane 1");
    c.poison_call = 1 + 6 * 5 + 3;
    check_failure(c, "not finite", "z = ");
    c.poison_call = 1 + 6 * 6; /* the last slope enters the error alone */
    check_failure(c, "error estimate is not finite", "plane 1");
}
END_TEST

START_TEST(a_field_that_overflows_fails_by_name)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.scale = 1e120;
    check_failure(c, "not finite", "z = 0");
}
END_TEST

START_TEST(too_short_a_step_fails)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.control.first_step = 1e-13;
    check_failure(c, "below 1e-12", "z = 0");
}
END_TEST

START_TEST(used_up_steps_fail)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.control.max_steps = 7;
    struct stepper_run run;
    stepper_open(&run, &c);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_FAILED);
    ck_assert_int_eq(run.st[0].steps + run.st[0].rejected, 7);
    ck_assert_ptr_nonnull(strstr(run.st[0].reason, "max_steps"));
    stepper_close(&run);
}
END_TEST

START_TEST(a_passed_deadline_times_the_row_out)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    struct stepper_run run;
    stepper_open(&run, &c);
    run.st[0].deadline = clock_wall() - 1.0;
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_TIMED_OUT);
    ck_assert_ptr_nonnull(strstr(run.st[0].reason, "timed out"));
    stepper_close(&run);
}
END_TEST

START_TEST(a_stop_returns_without_another_trial_and_the_row_goes_on_later)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    struct stepper_run run;
    stepper_open(&run, &c);
    atomic_store(&run.control.stop, 1);
    ck_assert_int_eq(stepper_advance(run.stepper, &run.control, run.st), 0);
    ck_assert_int_eq(run.st[0].outcome, ROW_RUNNING);
    ck_assert_int_eq(run.calls[0], 0);
    atomic_store(&run.control.stop, 0);
    atomic_store(&run.control.stop_at, clock_wall() - 1.0);
    ck_assert_int_eq(stepper_advance(run.stepper, &run.control, run.st), 0);
    ck_assert_int_eq(run.calls[0], 0);
    atomic_store(&run.control.stop_at, 0.0);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_DONE);
    ck_assert_norm(stepper_error(&run, 0, 1.0), 1e-6);
    stepper_close(&run);
}
END_TEST

START_TEST(a_schedule_that_does_not_fit_its_planes_fails)
{
    static const double over[] = {0.3, 0.9};
    static const double early[] = {0.3, 0.2};
    static const double *const schedules[] = {over, early};
    static const char *const words[] = {"not within the distance", "ends before the plane"};
    for (int i = 0; i < 2; i++) {
        const struct stepper_case c = stepper_case_default(CASE_KERR);
        struct stepper_run run;
        stepper_open(&run, &c);
        stepper_set_schedule(run.stepper, 0, schedules[i], 2);
        stepper_finish(&run);
        ck_assert_int_eq(run.st[0].outcome, ROW_FAILED);
        ck_assert_ptr_nonnull(strstr(run.st[0].reason, words[i]));
        stepper_close(&run);
    }
}
END_TEST

START_TEST(strong_loss_shortens_the_steps_and_stays_finite)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.lr = -3000.0;
    c.g = 0.0;
    struct stepper_run run;
    stepper_open(&run, &c);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_DONE);
    ck_assert_int_ge(run.st[0].steps, 5);
    for (long i = 0; i < run.st[0].history_count; i++)
        ck_assert_norm(fmax(0.0, run.history[i].length * 3000.0 / STEP_LOSS_LIMIT - 1.0),
                       1e-12);
    /* exp(-3000) is below the smallest number: exactly zero is right. */
    ck_assert_exactly(stepper_state_of(&run, 0)[0].r, 0.0);
    stepper_close(&run);
    /* One step at the largest loss, with nonlinearity, from a large field. */
    c.lr = -STEP_LOSS_LIMIT;
    c.g = 1e-3;
    c.scale = 1e3;
    stepper_open(&run, &c);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_DONE);
    ck_assert_norm(sqrt(cplx_abs2(stepper_state_of(&run, 0)[0])), 1e3 * exp(-599.0));
    stepper_close(&run);
}
END_TEST

START_TEST(long_phases_shorten_the_steps)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.g = 0.0;
    c.control.length = 1e9;
    c.positions[0] = 1e9;
    struct stepper_run run;
    stepper_open(&run, &c);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_DONE);
    ck_assert_int_gt(run.st[0].steps, 1);
    for (long i = 0; i < run.st[0].history_count; i++)
        ck_assert_norm(
            fmax(0.0,
                 run.history[i].length * stepper_li(CASE_BINS - 2) / STEP_PHASE_LIMIT - 1.0),
            1e-12);
    stepper_close(&run);
}
END_TEST

START_TEST(a_short_history_is_marked_as_cut)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    struct stepper_run run;
    stepper_open(&run, &c);
    run.st[0].history_capacity = 3;
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].history_count, 3);
    ck_assert(run.st[0].history_truncated);
    ck_assert_int_gt(run.st[0].steps, 3);
    stepper_close(&run);
}
END_TEST

/* Rows of one batch, the second of which fails, against the same row alone. */
START_TEST(a_failing_row_changes_nothing_in_the_others)
{
    struct stepper_case one = stepper_case_default(CASE_COUPLED);
    struct stepper_run alone;
    stepper_open(&alone, &one);
    stepper_finish(&alone);
    for (int threads = 1; threads <= 3; threads++) {
        struct stepper_case c = one;
        c.rows = 5;
        c.threads = threads;
        c.poison_row = 1;
        c.poison_call = 20;
        struct stepper_run batch;
        stepper_open(&batch, &c);
        stepper_finish(&batch);
        double limit;
        ck_assert_int_eq(bound_steps(8, 1.0, &limit), 0);
        for (long r = 0; r < c.rows; r++) {
            ck_assert_int_eq(batch.st[r].outcome, r == 1 ? ROW_FAILED : ROW_DONE);
            if (r == 1)
                continue;
            ck_assert_int_eq(batch.st[r].steps, alone.st[0].steps);
            const struct comparison_input in = {
                .value = (const double *)stepper_state_of(&batch, r),
                .reference = (const double *)stepper_state_of(&alone, 0),
                .n = CASE_BINS,
                .is_complex = true,
                .atol = limit};
            struct comparison out;
            ck_assert_int_eq(comparison_run(&in, &out), 0);
            ck_assert_msg(out.within, "row %ld: margin %g", r, out.margin);
            perturbed_check(&in, 0.0, "row");
        }
        stepper_close(&batch);
    }
    stepper_close(&alone);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(the_step_factor_keeps_its_limits)
{
    ck_assert_exactly(step_factor(0.0), 5.0);
    ck_assert_exactly(step_factor(1.0), 0.9);
    ck_assert_exactly(step_factor(1e-30), 5.0);
    ck_assert_exactly(step_factor(1e30), 0.2);
    ck_assert_rounding_of(step_factor(32.0), 0.45, 1.0, 4.0 * DBL_EPSILON);
}
END_TEST

START_TEST(after_a_rejection_the_next_accepted_step_does_not_grow)
{
    struct step_plan plan = {.natural = 1.0};
    step_rejected(&plan, 1.0, 32.0);
    ck_assert_rounding_of(plan.natural, 0.45, 1.0, 4.0 * DBL_EPSILON);
    step_accepted(&plan, plan.natural, 0.0);
    ck_assert_rounding_of(plan.natural, 0.45, 1.0, 4.0 * DBL_EPSILON);
    step_accepted(&plan, plan.natural, 0.0);
    ck_assert_rounding_of(plan.natural, 2.25, 1.0, 16.0 * DBL_EPSILON);
}
END_TEST

START_TEST(a_shortened_step_is_not_the_natural_one)
{
    const struct step_control control = {.length = 1.0, .rtol = 1e-6};
    struct step_plan plan = {.natural = 0.1};
    bool lands;
    ck_assert_exactly(step_length(&plan, &control, 0.01, 1.0, &lands), 0.01);
    ck_assert(lands);
    step_accepted(&plan, 0.01, 1e-9);
    ck_assert_exactly(plan.natural, 0.1);
    /* Its own error may say that even it was nearly too long. */
    step_accepted(&plan, 0.01, 1.0);
    ck_assert_rounding_of(plan.natural, 0.009, 1.0, DBL_EPSILON);
    ck_assert_exactly(step_length(&plan, &control, 0.5, 0.001, &lands), 0.001);
    ck_assert(!lands);
}
END_TEST

START_TEST(the_first_step_is_all_the_way_without_nonlinearity)
{
    const struct step_control control = {.length = 2.0, .rtol = 1e-5};
    ck_assert(isinf(step_first(&control, 3.0, 0.0)));
    const double h = step_first(&control, 3.0, 30.0);
    ck_assert_rounding_of(h, 0.01, 1.0, 1e-12);
    const struct step_control given = {.length = 2.0, .rtol = 1e-5, .first_step = 0.25};
    ck_assert_exactly(step_first(&given, 3.0, 30.0), 0.25);
}
END_TEST

START_TEST(the_error_is_relative_to_the_larger_state_plus_the_absolute_tolerance)
{
    const struct step_control control = {.length = 1.0, .rtol = 1e-3, .atol = 0.5};
    ck_assert_exactly(step_error_l2(&control, 0.0, 0.0, 0.0), 0.0);
    const double want = 2.0 / (1e-3 * 20.0 + 0.5);
    ck_assert_rounding(step_error_l2(&control, 4.0, 100.0, 400.0), want, 4.0 * DBL_EPSILON);
    ck_assert_rounding(step_error_l2(&control, 4.0, 400.0, 100.0), want, 4.0 * DBL_EPSILON);
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *const suite = suite_create("stepper outcomes");
    TCase *const tests = tcase_create("outcomes");
    tcase_add_test(tests, an_input_that_is_not_finite_fails_at_once);
    tcase_add_test(tests, a_field_that_becomes_not_finite_fails_with_plane_and_position);
    tcase_add_test(tests, a_field_that_overflows_fails_by_name);
    tcase_add_test(tests, too_short_a_step_fails);
    tcase_add_test(tests, used_up_steps_fail);
    tcase_add_test(tests, a_passed_deadline_times_the_row_out);
    tcase_add_test(tests, a_stop_returns_without_another_trial_and_the_row_goes_on_later);
    tcase_add_test(tests, a_schedule_that_does_not_fit_its_planes_fails);
    tcase_add_test(tests, strong_loss_shortens_the_steps_and_stays_finite);
    tcase_add_test(tests, long_phases_shorten_the_steps);
    tcase_add_test(tests, a_short_history_is_marked_as_cut);
    tcase_add_test(tests, a_failing_row_changes_nothing_in_the_others);
    tcase_add_test(tests, the_step_factor_keeps_its_limits);
    tcase_add_test(tests, after_a_rejection_the_next_accepted_step_does_not_grow);
    tcase_add_test(tests, a_shortened_step_is_not_the_natural_one);
    tcase_add_test(tests, the_first_step_is_all_the_way_without_nonlinearity);
    tcase_add_test(tests,
                   the_error_is_relative_to_the_larger_state_plus_the_absolute_tolerance);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
