/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One worker's comparison of its kernels with the baseline's. */
#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#    include <xmmintrin.h>
#endif

#include "kernels/backend/wrong.h"
#include "kernels/base/mem.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/probe.h"
#include "kernels/models/pulse/capillary.h"
#include "kernels/models/pulse/gnlse.h"
#include "runner/self_check.h"
#include "tests/kernels/capillary_case.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/lane.h"
#include "tests/unit_main.h"

static struct backend *make_backend(const struct model_ops *ops)
{
    struct backend_options options = lane_options(1);
    options.apart = ops->info->on_devices;
    struct backend *be = NULL;
    ck_assert_int_eq(backend_create(&options, &be), 0);
    return be;
}

/* Steps, observed and allowed difference of a verdict. */
static void read_figures(const struct self_check *c, int *steps, double *observed,
                         double *bound)
{
    const int read =
        sscanf(c->text, "field after %d steps: largest difference %lf of the peak, bound %lf",
               steps, observed, bound);
    ck_assert_msg(read == 3, "%s", c->text);
}

/* The right backend passes, the wrong one does not. */
static void check_both(const struct model_ops *ops, const struct params *point)
{
    struct backend *be = make_backend(ops);
    struct self_check found;
    int steps = 0;
    double observed = 0.0;
    double bound = 0.0;
    ck_assert_int_eq(self_check_run(ops, point, be, &found), 0);
    ck_assert_msg(found.compared && found.within, "%s", found.text);
    read_figures(&found, &steps, &observed, &bound);
    ck_assert_int_ge(steps, 2);
    ck_assert_int_le(steps, SELF_CHECK_STEPS);
    double ladder = 0.0;
    ck_assert_int_eq(bound_steps(steps, 1.0, &ladder), 0);
    ck_assert_double_ge(bound, 0.99 * ladder);
    ck_assert_double_le(bound, 1.01 * ladder);
    backend_make_wrong(be);
    ck_assert_int_eq(self_check_run(ops, point, be, &found), 0);
    ck_assert_msg(found.compared && !found.within, "%s", found.text);
    read_figures(&found, &steps, &observed, &bound);
    ck_assert_double_gt(observed, bound);
    backend_destroy(be);
}

START_TEST(a_slope_that_is_a_thousandth_off_is_seen_in_a_fibre)
{
    struct gnlse_case c;
    case_init(&c);
    case_set(&c, "pulse.peak_power", 1e4);
    check_both(&gnlse_ops, &c.params);
    case_raman(&c);
    case_set(&c, "self_steepening", 1.0);
    case_set(&c, "loss", 0.1);
    check_both(&gnlse_ops, &c.params);
    case_clear(&c);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(and_in_a_capillary_with_plasma_and_a_gradient)
{
    if (!capillary_ops.info->on_devices && strcmp(lane_backend(), "cpu") != 0)
        return; /* it does not run there */
    struct capillary_case c;
    capillary_case_small(&c);
    capillary_case_gradient(&c, 0.0, 1e5);
    capillary_case_choose(&c, "plasma.rate", "ppt");
    check_both(&capillary_ops, &c.params);
    capillary_case_clear(&c);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

/* MXCSR: bit 15 flushes results. */
START_TEST(a_unit_that_flushes_fails_before_fields_are_compared)
{
#ifdef __SSE2__
    struct gnlse_case c;
    struct self_check found;
    const unsigned before = _mm_getcsr();
    struct backend *be = make_backend(&gnlse_ops);
    case_init(&c);
    _mm_setcsr(before | 1U << 15);
    const int rc = self_check_run(&gnlse_ops, &c.params, be, &found);
    _mm_setcsr(before);
    ck_assert_int_eq(rc, 0);
    ck_assert_msg(found.compared && !found.within, "%s", found.text);
    ck_assert_ptr_nonnull(strstr(found.text, "flushed to zero"));
    case_clear(&c);
    backend_destroy(be);
#endif
}
END_TEST

START_TEST(a_point_without_steps_leaves_the_matter_open)
{
    struct gnlse_case c;
    struct backend *be = make_backend(&gnlse_ops);
    struct self_check found;
    case_init(&c);
    case_set(&c, "pulse.peak_power", 1e308); /* its square is infinite */
    ck_assert_int_eq(self_check_run(&gnlse_ops, &c.params, be, &found), 0);
    ck_assert(!found.compared);
    ck_assert(found.within);
    case_clear(&c);
    backend_destroy(be);
}
END_TEST

START_TEST(a_model_without_stepper_cannot_be_checked)
{
    ck_assert(self_check_possible(gnlse_ops.info));
    ck_assert(self_check_possible(capillary_ops.info));
    ck_assert(!self_check_possible(probe_ops.info));
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *suite = suite_create("self-check");
    TCase *tc = tcase_create("one worker");
    tcase_add_test(tc, a_slope_that_is_a_thousandth_off_is_seen_in_a_fibre);
    tcase_add_test(tc, and_in_a_capillary_with_plasma_and_a_gradient);
    tcase_add_test(tc, a_unit_that_flushes_fails_before_fields_are_compared);
    tcase_add_test(tc, a_point_without_steps_leaves_the_matter_open);
    tcase_add_test(tc, a_model_without_stepper_cannot_be_checked);
    suite_add_tcase(suite, tc);
    return unit_main(suite);
}
