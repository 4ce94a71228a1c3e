/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Given steps: executed exactly, continued exactly, refused when they do not fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/step/schedule.h"
#include "tests/exact.h"
#include "tests/kernels/isa.h"
#include "tests/kernels/stepper_case.h"
#include "tests/perturb/bounded.h"
#include "tests/perturb/near.h"
#include "tests/unit_main.h"

#define STEPS 8

/* Irregular steps; each begins where the one before ends, but for the last bits that a plane
 * gave to the third. */
struct steps {
    double z[STEPS];
    double h[STEPS];
    double length;
};

static struct steps make_steps(void)
{
    struct steps s = {.h = {0.01, 0.013, 0.008, 0.02, 0.011, 0.009, 0.017, 0.012}};
    for (int i = 1; i < STEPS; i++)
        s.z[i] = s.z[i - 1] + s.h[i - 1];
    s.z[3] = nextafter(s.z[3], 1.0);
    for (int i = 4; i < STEPS; i++)
        s.z[i] = s.z[i - 1] + s.h[i - 1];
    s.length = s.z[STEPS - 1] + s.h[STEPS - 1];
    return s;
}

static struct stepper_case make_case(const struct steps *s)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    c.schedule = (struct step_schedule){s->z, s->h, STEPS};
    c.control.length = s->length;
    c.planes = 2;
    c.positions[0] = s->z[3];
    c.positions[1] = s->length;
    return c;
}

static void check_history(const struct steps *s, const struct row_status *st, long first)
{
    ck_assert_int_eq(st->history_count, STEPS - first);
    for (long i = 0; i < st->history_count; i++) {
        ck_assert_exactly(st->history[i].position, s->z[first + i]);
        ck_assert_exactly(st->history[i].length, s->h[first + i]);
        ck_assert_int_eq(st->history[i].accepted, 1);
    }
}

START_TEST(given_steps_are_executed_exactly_whatever_their_error)
{
    const struct steps s = make_steps();
    struct stepper_case c = make_case(&s);
    c.control.rtol = 1e-14; /* every one of them would be rejected */
    struct stepper_run run;
    stepper_open(&run, &c);
    stepper_finish(&run);
    const struct row_status *st = &run.st[0];
    ck_assert_int_eq(st->outcome, ROW_DONE);
    check_history(&s, st, 0);
    ck_assert_double_gt(st->history[0].error, 1.0);
    ck_assert_int_eq(st->steps, STEPS);
    ck_assert_int_eq(st->rejected, 0);
    ck_assert_int_eq(st->rhs_calls, 1 + 6 * STEPS);
    ck_assert_int_eq(run.calls[0], 1 + 6 * STEPS);
    stepper_close(&run);
}
END_TEST

START_TEST(accepted_steps_of_an_adaptive_row_give_its_state_again)
{
    struct stepper_case c = stepper_case_default(CASE_COUPLED);
    c.control.length = 0.2;
    c.control.rtol = 1e-5;
    c.control.first_step = 0.19; /* rejected at first */
    c.planes = 3;
    c.positions[0] = 0.06;
    c.positions[1] = 0.14;
    c.positions[2] = 0.2;
    struct stepper_run first;
    stepper_open(&first, &c);
    stepper_finish(&first);
    ck_assert_int_ge(first.st[0].rejected, 1);
    double *z = calloc((size_t)first.st[0].history_count, sizeof *z);
    double *h = calloc((size_t)first.st[0].history_count, sizeof *h);
    long n = 0;
    for (long i = 0; i < first.st[0].history_count; i++)
        if (first.history[i].accepted) {
            z[n] = first.history[i].position;
            h[n++] = first.history[i].length;
        }
    ck_assert_int_le(n, STEPS);
    cplx kept[CASE_BINS];
    memcpy(kept, stepper_state_of(&first, 0), sizeof kept);
    stepper_close(&first);
    c.schedule = (struct step_schedule){z, h, n};
    /* the planes in between are ends of steps and need not be saved again */
    c.planes = 1;
    c.positions[0] = 0.2;
    struct stepper_run again;
    stepper_open(&again, &c);
    stepper_finish(&again);
    ck_assert_int_eq(again.st[0].outcome, ROW_DONE);
    ck_assert_int_eq(again.st[0].rhs_calls, 1 + 6 * n);
    for (long i = 0; i < n; i++)
        ck_assert_exactly(again.history[i].position, z[i]);
    double limit = 0.0;
    ck_assert_int_eq(bound_steps((int)n, 1.0, &limit), 0);
    const cplx *y = stepper_state_of(&again, 0);
    for (long i = 0; i < CASE_BINS; i++)
        ck_assert_norm(sqrt(cplx_abs2(cplx_sub(y[i], kept[i]))), limit);
    stepper_close(&again);
    free(z);
    free(h);
}
END_TEST

/* Error at the end of `steps` equal steps over the length 1. */
static double error_of(long steps)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    double *z = calloc((size_t)steps, sizeof *z);
    double *h = calloc((size_t)steps, sizeof *h);
    for (long i = 0; i < steps; i++) {
        h[i] = 1.0 / (double)steps;
        z[i] = (double)i * h[i];
    }
    c.g = 8.0;
    c.schedule = (struct step_schedule){z, h, steps};
    struct stepper_run run;
    stepper_open(&run, &c);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].steps, steps);
    const double error = stepper_error(&run, 0, 1.0);
    stepper_close(&run);
    free(z);
    free(h);
    return error;
}

START_TEST(halved_steps_converge_with_order_5)
{
    ck_assert_bounded(fabs(log2(error_of(128) / error_of(256)) - 5.0), BOUND_order);
}
END_TEST

/* A stop after some steps; a state out of it, or out of a plane; the rest. */
static void check_continued(bool from_plane)
{
    const struct steps s = make_steps();
    const struct stepper_case c = make_case(&s);
    struct stepper_run run;
    stepper_open(&run, &c);
    while (run.st[0].outcome == ROW_RUNNING && !run.st[0].plane_ready)
        ck_assert_int_eq(stepper_advance(run.stepper, &run.control, run.st), 0);
    ck_assert_int_eq(run.st[0].steps, 3);
    const size_t size = stepper_state_bytes(CASE_BINS);
    struct state_out out = {.bytes = malloc(size), .capacity = size};
    if (from_plane)
        ck_assert_int_eq(
            stepper_state_at(CASE_BINS, 0, c.positions[0], stepper_state_of(&run, 0), &out), 0);
    else
        ck_assert_int_eq(stepper_save(run.stepper, 0, &out), 0);
    stepper_close(&run);
    stepper_open(&run, &c);
    const struct state_in in = {out.bytes, out.length};
    ck_assert_int_eq(stepper_resume(run.stepper, 0, &in, &run.st[0]), 0);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_DONE);
    check_history(&s, &run.st[0], 3);
    stepper_close(&run);
    free(out.bytes);
}

START_TEST(a_row_goes_on_with_the_step_it_was_interrupted_before)
{
    check_continued(false);
    check_continued(true);
}
END_TEST

START_TEST(a_state_between_steps_is_refused)
{
    const struct steps s = make_steps();
    const struct stepper_case c = make_case(&s);
    struct stepper_run run;
    stepper_open(&run, &c);
    const size_t size = stepper_state_bytes(CASE_BINS);
    struct state_out out = {.bytes = malloc(size), .capacity = size};
    ck_assert_int_eq(
        stepper_state_at(CASE_BINS, 0, 0.5 * s.h[0], stepper_state_of(&run, 0), &out), 0);
    const struct state_in in = {out.bytes, out.length};
    char text[200] = "";
    status_capture(text, sizeof text);
    ck_assert_int_eq(stepper_resume(run.stepper, 0, &in, &run.st[0]), ERR_ARGUMENT);
    status_capture(NULL, 0);
    ck_assert_ptr_nonnull(strstr(text, "no step of the schedule begins"));
    stepper_close(&run);
    free(out.bytes);
}
END_TEST

START_TEST(a_step_beyond_the_range_of_the_propagator_ends_the_row_by_name)
{
    struct stepper_case c = stepper_case_default(CASE_KERR);
    const double z = 0.0;
    const double h = 1.0;
    c.lr = -650.0; /* exp(650) is finite, the limit is 600 */
    c.schedule = (struct step_schedule){&z, &h, 1};
    struct stepper_run run;
    stepper_open(&run, &c);
    stepper_finish(&run);
    ck_assert_int_eq(run.st[0].outcome, ROW_FAILED);
    ck_assert_ptr_nonnull(strstr(run.st[0].reason, "too long for the range of exp(L h)"));
    stepper_close(&run);
}
END_TEST

static void refused(const struct step_schedule *schedule, double length, const char *what)
{
    char text[400] = "";
    status_capture(text, sizeof text);
    const int rc = schedule_check(schedule, length);
    status_capture(NULL, 0);
    ck_assert_int_eq(rc, ERR_ARGUMENT);
    ck_assert_msg(strstr(text, what) != NULL, "'%s' is not in: %s", what, text);
}

START_TEST(steps_that_do_not_fit_are_refused_by_name)
{
    const struct steps good = make_steps();
    const struct step_schedule right = {good.z, good.h, STEPS};
    ck_assert_int_eq(schedule_check(&right, good.length), 0);
    refused(&(struct step_schedule){good.z, good.h, 0}, good.length, "no steps are given");
    refused(&right, 0.99 * good.length, "beyond the length");
    static const double lengths[] = {0.0, -0.02, (double)NAN, (double)INFINITY, 2.0};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct steps bad = good;
        bad.h[4] = lengths[i];
        refused(&(struct step_schedule){bad.z, bad.h, STEPS}, 1.0, "step 4 has a length of");
    }
    /* a gap, a step back, no number, a start elsewhere */
    const double begins[] = {good.z[4] + 1e-6, good.z[3], (double)NAN};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        struct steps bad = good;
        bad.z[4] = begins[i];
        refused(&(struct step_schedule){bad.z, bad.h, STEPS}, 1.0, "step 4 begins at");
    }
    struct steps late = good;
    late.z[0] = 1e-6;
    refused(&(struct step_schedule){late.z, late.h, STEPS}, 1.0, "begin at 0 m, the input");
}
END_TEST

static int planes_of(const struct steps *s, const struct plane_request *planes, double length,
                     char *text, size_t size)
{
    const struct step_schedule schedule = {s->z, s->h, STEPS};
    text[0] = '\0';
    status_capture(text, size);
    const int rc = schedule_planes_check(&schedule, planes, length);
    status_capture(NULL, 0);
    return rc;
}

START_TEST(planes_where_no_step_ends_are_refused_with_the_nearest_places)
{
    const struct steps s = make_steps();
    char text[400];
    const double fit[] = {0.0, s.h[0], s.z[3], s.z[6]};
    struct plane_request planes = {PLANES_LIST, 4, fit};
    ck_assert_int_eq(planes_of(&s, &planes, s.length, text, sizeof text), 0);
    const double off[] = {s.z[1], 0.035};
    planes = (struct plane_request){PLANES_LIST, 2, off};
    ck_assert_int_eq(planes_of(&s, &planes, s.length, text, sizeof text), ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "ends at plane 1, z = 0.035 m"));
    ck_assert_ptr_nonnull(strstr(text, "0.031 m and 0.051 m")); /* 10 + 13 + 8, + 20 mm */
    planes = (struct plane_request){PLANES_LAST, 1, NULL};
    ck_assert_int_eq(planes_of(&s, &planes, s.length, text, sizeof text), 0);
    ck_assert_int_eq(planes_of(&s, &planes, 1.0, text, sizeof text), ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "the steps end at z = 0.1 m, before saved plane 0"));
    planes = (struct plane_request){PLANES_COUNT, 3, NULL}; /* 0.05 m lies within a step */
    ck_assert_int_eq(planes_of(&s, &planes, s.length, text, sizeof text), ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(text, "plane 1, z = 0.05 m"));
}
END_TEST

int main(void)
{
    if (isa_check() != 0)
        return ISA_SKIPPED;
    Suite *suite = suite_create("schedule");
    TCase *tc = tcase_create("given steps");
    tcase_add_test(tc, given_steps_are_executed_exactly_whatever_their_error);
    tcase_add_test(tc, accepted_steps_of_an_adaptive_row_give_its_state_again);
    tcase_add_test(tc, halved_steps_converge_with_order_5);
    tcase_add_test(tc, a_row_goes_on_with_the_step_it_was_interrupted_before);
    tcase_add_test(tc, a_state_between_steps_is_refused);
    tcase_add_test(tc, a_step_beyond_the_range_of_the_propagator_ends_the_row_by_name);
    tcase_add_test(tc, steps_that_do_not_fit_are_refused_by_name);
    tcase_add_test(tc, planes_where_no_step_ends_are_refused_with_the_nearest_places);
    suite_add_tcase(suite, tc);
    return unit_main(suite);
}
