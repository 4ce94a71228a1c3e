/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planes that leave a device beside the next trial: the order of the calls, and their bits. */
#include <stdlib.h>

#include "tests/emu/overlap_case.h"
#include "tests/unit_main.h"

static struct batch whole;
static struct batch one;
static struct batch other;

START_TEST(planes_leave_before_the_next_trial_and_nothing_waits_between)
{
    const struct kind *const kind = &kinds[_i];
    open_under_way(&one, kind);
    /* First slopes, two trials of all; then two planes, and the trial beside. */
    check_trace(kind, "DnDnDPPn");
    ck_assert(one.st[0].plane_ready && one.st[1].plane_ready && !one.st[2].plane_ready);
    ck_assert_int_eq(one.st[2].steps, 2);
    ck_assert_int_eq(one.st[2].rhs_calls, 1 + 6 * 2);
    ck_assert_int_eq(one.st[2].transforms, kind->transforms * one.st[2].rhs_calls);
    ck_assert_int_eq(batch_read(&one), 2);
    check_trace(kind, "EE"); /* and no download: the trial is not waited for */
    atomic_store(&one.control.stop, 1);
    batch_advance(&one);
    check_trace(kind, "D"); /* its sums; no other trial */
    ck_assert_int_eq(one.st[2].steps, 3);
    ck_assert_int_eq(one.st[2].rhs_calls, 1 + 6 * 3);
    ck_assert_int_eq(one.st[0].rhs_calls, 1 + 6 * 2);
    atomic_store(&one.control.stop, 0);
    batch_advance(&one);
    check_trace(kind, "nDPn"); /* the last row lands; the others go on beside */
    trace_end(one.be);
    batch_read(&one);
    batch_finish(&one);
    batch_close(&one);
    nothing_is_left();
}
END_TEST

START_TEST(rows_beside_each_other_have_the_bits_of_rows_alone)
{
    const struct kind *const kind = &kinds[_i];
    open_under_way(&whole, kind);
    trace_end(whole.be);
    batch_read(&whole);
    batch_finish(&whole);
    for (int r = 0; r < ROWS; r++) {
        batch_open(&one, kind, (const int[ROWS]){r, r, r});
        batch_load(&one, r, NULL); /* in its place; the other rows are empty: no row goes on */
        batch_finish(&one);
        check_same(&one, &whole, r, 0);
        if (whole.layout.arrays > 1) /* the third integral along the way, that of B */
            ck_assert(whole.plane[r][2].path[2] > whole.plane[r][1].path[2]);
        batch_close(&one);
    }
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

/* The row whose trial is under way is saved, and goes on from there: elsewhere, alone, and in a
 * batch where such a trial is under way too. */
START_TEST(a_row_is_saved_and_resumed_while_its_trial_is_under_way)
{
    const struct kind *const kind = &kinds[_i];
    open_under_way(&whole, kind);
    trace_end(whole.be);
    struct state_out out = {.bytes = malloc(whole.layout.state_bytes),
                            .capacity = whole.layout.state_bytes};
    ck_assert_int_eq(kind->ops->state(whole.m, 2, &out), 0);
    batch_read(&whole); /* of planes that left before */
    batch_finish(&whole);
    const struct state_in in = {out.bytes, out.length};
    batch_open(&other, kind, (const int[ROWS]){0, 1, 2});
    batch_load(&other, 2, &in);
    batch_finish(&other);
    check_same(&other, &whole, 2, 1);
    batch_close(&other);
    open_under_way(&one, kind);
    trace_end(one.be);
    batch_load(&one, 2, &in);
    batch_read(&one);
    batch_finish(&one);
    for (int r = 0; r < ROWS; r++)
        check_same(&one, &whole, r, 1);
    batch_close(&one);
    batch_close(&whole);
    free(out.bytes);
    nothing_is_left();
}
END_TEST

/* It is loaded again, before the planes beside it are read. Its input is a plane that leaves
 * while the others go on. */
START_TEST(a_row_is_loaded_again_while_its_trial_is_under_way)
{
    const struct kind *const kind = &kinds[_i];
    open_under_way(&whole, kind);
    trace_end(whole.be);
    batch_read(&whole);
    batch_finish(&whole);
    open_under_way(&one, kind);
    batch_load(&one, 2, NULL);
    batch_read(&one);
    trace_clear();
    batch_advance(&one);
    check_trace(kind, "DFn");
    trace_end(one.be);
    ck_assert_int_eq(batch_read(&one), 1);
    batch_finish(&one);
    for (int r = 0; r < ROWS; r++)
        check_same(&one, &whole, r, 0);
    batch_close(&one);
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

/* With a trial under way and planes that nobody read. */
START_TEST(a_batch_goes_with_all_that_is_under_way)
{
    open_under_way(&one, &kinds[_i]);
    trace_end(one.be);
    batch_close(&one);
    nothing_is_left();
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("planes beside trials on a device");
    TCase *const tests = tcase_create("overlap");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, planes_leave_before_the_next_trial_and_nothing_waits_between, 0,
                        KINDS);
    tcase_add_loop_test(tests, rows_beside_each_other_have_the_bits_of_rows_alone, 0, KINDS);
    tcase_add_loop_test(tests, a_row_is_saved_and_resumed_while_its_trial_is_under_way, 0,
                        KINDS);
    tcase_add_loop_test(tests, a_row_is_loaded_again_while_its_trial_is_under_way, 0, KINDS);
    tcase_add_loop_test(tests, a_batch_goes_with_all_that_is_under_way, 0, KINDS);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
