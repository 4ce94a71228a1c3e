/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launches, transforms and copies of a trial step of a whole batch, counted by the device. */
#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/models/pulse/gnlse.h"
#include "tests/emu/emu.h"
#include "tests/emu/machine.h"
#include "tests/kernels/gnlse_case.h"
#include "tests/unit_main.h"

#define ROWS  3
#define STEPS 9

/* Each plan of the layout was made for a row alone and for all rows. */
static void check_plans(struct backend *be, const struct gnlse_case *c)
{
    struct plane_layout layout;
    ck_assert_int_eq(gnlse_ops.layout(&c->params, &layout), 0);
    ck_assert_int_eq(be->ops->device->counts(be)->plans, 2 * layout.plans);
}

/* What a batch of rows costs that make `steps` steps, all the same. */
static struct device_counts batch(bool raman, long steps)
{
    static const double lengths[STEPS] = {1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3};
    const struct backend_options options = {.apart = true, .threads = 1};
    struct row_status st[ROWS];
    struct run_control control = {0};
    struct gnlse_case c;
    struct backend *be;
    struct model *m;
    case_init(&c);
    case_set(&c, "pulse.peak_power", 1000.0);
    case_set(&c, "length", 0.1);
    case_planes(&c, (const double[]){0.1}, 1);
    if (raman)
        case_raman(&c);
    ck_assert_int_eq(emu_backend_create(&options, &be), 0);
    ck_assert_int_eq(gnlse_ops.create(&c.params, be, ROWS, &m), 0);
    const long long made = be->ops->device->counts(be)->allocated;
    check_plans(be, &c);
    for (int r = 0; r < ROWS; r++) {
        st[r] = (struct row_status){.deadline = (double)INFINITY};
        ck_assert_int_eq(gnlse_ops.load(m, r, &c.params, &c.seed, NULL, &st[r]), 0);
        gnlse_set_schedule(m, r, lengths, steps);
    }
    for (int calls = 0; calls < 10 && st[0].outcome == ROW_RUNNING && !st[0].plane_ready;
         calls++)
        ck_assert_int_eq(gnlse_ops.advance(m, &control, st), 0);
    for (int r = 0; r < ROWS; r++)
        ck_assert_int_eq(st[r].steps + st[r].rejected, steps);
    const struct device_counts counts = *be->ops->device->counts(be);
    check_plans(be, &c); /* none since, and no memory */
    ck_assert_int_eq(counts.allocated, made);
    gnlse_ops.destroy(m);
    backend_destroy(be);
    case_clear(&c);
    ck_assert_int_eq(emu_live(), 0);
    ck_assert_int_eq(mem_live(), 0);
    return counts;
}

/* 7 passes over the bins, one that takes the accepted rows, and of each of 6 evaluations its
 * own.
 */
static void check(bool raman, int launches, int transforms)
{
    const struct device_counts few = batch(raman, 4);
    const struct device_counts many = batch(raman, STEPS);
    const long long steps = STEPS - 4;
    ck_assert_int_eq(many.launches - few.launches, steps * (8 + 6 * launches));
    ck_assert_int_eq(many.transforms - few.transforms, steps * 6 * transforms);
    ck_assert_int_eq(many.uploads - few.uploads, steps);
    ck_assert_int_eq(many.downloads - few.downloads, steps);
}

START_TEST(a_trial_of_a_batch_makes_the_launches_and_copies_of_the_design)
{
    check(false, 1, 2); /* |A|^2 A: 14 launches, 12 transforms */
    check(true, 3, 4);  /* |A|^2; filter; R A */
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("trials on a device");
    TCase *const tests = tcase_create("counts");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, a_trial_of_a_batch_makes_the_launches_and_copies_of_the_design);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
