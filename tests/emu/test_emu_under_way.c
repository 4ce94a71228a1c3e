/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ends, stops or breaks while the trial of a row is under way on a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/status.h"
#include "tests/emu/machine.h"
#include "tests/emu/overlap_case.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

static struct batch whole;
static struct batch one;
static struct batch other;

static void open_whole(const struct kind *kind)
{
    open_under_way(&whole, kind);
    trace_end(whole.be);
    batch_read(&whole);
    batch_finish(&whole);
}

/* The trial that was under way counts; then the row has no time for another. */
START_TEST(a_deadline_that_passes_beside_a_trial_ends_its_row_behind_it)
{
    const struct kind *const kind = &kinds[_i];
    char reason[100];
    snprintf(reason, sizeof reason,
             "timed out at z = %.9g m, on the way to plane 1, after 3 trial steps",
             0.6 * kind->length);
    open_whole(kind);
    open_under_way(&one, kind);
    trace_end(one.be);
    batch_read(&one);
    one.st[2].deadline = clock_wall() - 1.0;
    batch_advance(&one);
    ck_assert_int_eq(one.st[2].outcome, ROW_TIMED_OUT);
    ck_assert_str_eq(one.st[2].reason, reason);
    ck_assert_int_eq(one.st[2].steps, 3);
    ck_assert_int_eq(one.st[2].rhs_calls, 1 + 6 * 3);
    for (int calls = 0; one.st[0].outcome == ROW_RUNNING || one.st[1].outcome == ROW_RUNNING;
         calls++) {
        ck_assert_int_lt(calls, 50);
        batch_advance(&one);
        batch_read(&one);
    }
    for (int r = 0; r < 2; r++)
        check_same(&one, &whole, r, 0);
    batch_close(&one);
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

/* All rows, where a stop left them; each goes on in another batch with the bits of `whole`. */
START_TEST(rows_that_are_stopped_beside_a_trial_go_on_elsewhere)
{
    static const int read[ROWS] = {2, 2, 1}; /* planes that were read before */
    const struct kind *const kind = &kinds[_i];
    struct state_out out[ROWS];
    open_under_way(&one, kind);
    trace_end(one.be);
    ck_assert_int_eq(batch_read(&one), 2);
    atomic_store(&one.control.stop, 1);
    for (int calls = 0; calls < 2; calls++) { /* the second finds nothing under way */
        batch_advance(&one);
        ck_assert_int_eq(one.st[2].steps, 3);
        ck_assert_int_eq(batch_read(&one), 0);
    }
    for (int r = 0; r < ROWS; r++) {
        const size_t room = one.layout.state_bytes;
        out[r] = (struct state_out){.bytes = malloc(room), .capacity = room};
        ck_assert_int_eq(kind->ops->state(one.m, r, &out[r]), 0);
    }
    batch_close(&one);
    open_whole(kind);
    batch_open(&other, kind, (const int[ROWS]){0, 1, 2});
    for (int r = 0; r < ROWS; r++) {
        const struct state_in in = {out[r].bytes, out[r].length};
        batch_load(&other, r, &in);
        free(out[r].bytes);
    }
    batch_finish(&other);
    for (int r = 0; r < ROWS; r++)
        check_same(&other, &whole, r, read[r]);
    batch_close(&other);
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

static char heard[300];

static int hear(int rc)
{
    status_capture(NULL, 0);
    ck_assert(rc == 0 || rc == ERR_DEVICE);
    if (rc != 0)
        ck_assert_ptr_nonnull(strstr(heard, "unspecified launch failure"));
    return rc;
}

/* A call of a batch whose device may fail: its code; what it says is kept. */
static int advance_heard(struct batch *b)
{
    status_capture(heard, sizeof heard);
    return hear(b->kind->ops->advance(b->m, &b->control, b->st));
}

/* Read a plane on such a device; it stays zero where that fails. */
static int plane_heard(struct batch *b, int r)
{
    struct kept *const to = &b->plane[r][b->st[r].plane];
    struct plane_buffers out = {.array = {to->field, to->path}};
    status_capture(heard, sizeof heard);
    const int rc = hear(b->kind->ops->plane(b->m, r, &out));
    if (rc != 0)
        memset(to, 0, sizeof *to);
    else
        memcpy(to->observable, out.observable, sizeof out.observable);
    return rc;
}

static void close_failed(struct batch *b)
{
    status_capture(heard, sizeof heard);
    batch_close(b);
    status_capture(NULL, 0);
    emu_fail_at(0, false);
}

/* The work-th piece of work of the call that leaves a trial under way fails; the host hears of
 * it at once or late. */
static int open_failing(struct batch *b, const struct kind *kind, long work, bool late)
{
    open_loaded(b, kind);
    emu_fail_at(work, late);
    return advance_heard(b);
}

/* What the next call finds: nothing of the trial, and no way on. */
static void check_lost(struct batch *b)
{
    for (int calls = 0; calls < 2; calls++) {
        ck_assert_int_eq(advance_heard(b), ERR_DEVICE);
        ck_assert_int_eq(b->st[2].steps, 2);
        ck_assert_int_eq(b->st[2].outcome, ROW_RUNNING);
        ck_assert(!b->st[2].plane_ready);
    }
    ck_assert_int_eq(plane_heard(b, 0), ERR_DEVICE);
}

/* Who hears of it by the next wait: in the next call, but where the trial of a capillary waits
 * to send its numbers. By the next launch: in the call itself, but of the last piece. */
static int heard_late(const struct kind *kind, long work, long end)
{
    const int rc = open_failing(&one, kind, work, true);
    ck_assert(rc == 0 || (kind != &kinds[0] && work < end));
    return rc;
}

/* Pieces of the trial, the last one first. */
START_TEST(a_trial_under_way_that_fails_is_told_by_the_next_call)
{
    const struct kind *const kind = &kinds[_i];
    open_loaded(&one, kind);
    const long first = work_of(one.be);
    trace_begin(one.be);
    batch_advance(&one);
    trace_end(one.be);
    const long begin = work_at_trial() - first;
    const long end = work_of(one.be) - first;
    batch_close(&one);
    ck_assert_int_ge(end - begin, 6 * 2 + 8); /* transforms and passes at least */
    for (long work = end; work > begin; work -= _i == 0 ? 3 : 23) {
        if (heard_late(kind, work, end) == 0)
            check_lost(&one);
        close_failed(&one);
        heard_late(kind, work, end);
        close_failed(&one); /* at once, with planes that nobody read */
        ck_assert_int_eq(open_failing(&one, kind, work, false), work < end ? ERR_DEVICE : 0);
        check_lost(&one);
        close_failed(&one);
        nothing_is_left();
    }
}
END_TEST

/* A run up to its error; false when it came to its end. */
static bool run_failing(struct batch *b, const struct kind *kind, long work, bool late)
{
    int rc = open_failing(b, kind, work, late);
    for (int calls = 0; rc == 0 && batch_runs(b); calls++) {
        ck_assert_int_lt(calls, 50);
        for (int r = 0; rc == 0 && r < ROWS; r++)
            if (b->st[r].plane_ready) {
                rc = plane_heard(b, r);
                b->st[r].plane_ready = false;
            }
        if (rc == 0)
            rc = advance_heard(b);
    }
    return rc != 0;
}

/* Planes behind the first that came: all have the bits of `whole`. */
static int check_planes(const struct batch *b)
{
    const size_t bytes = (size_t)whole.layout.axis[0].length * sizeof(cplx);
    int came = 0;
    for (int r = 0; r < ROWS; r++)
        for (int p = 1; p < PLANES; p++) {
            const struct kept *const got = &b->plane[r][p];
            const struct kept *const want = &whole.plane[r][p];
            if (!(got->observable[0] > 0.0))
                continue;
            ck_assert(equal_bits(got->field, want->field, bytes));
            ck_assert(equal_bits(got->path, want->path, sizeof got->path));
            for (int i = 0; i < whole.layout.observables; i++)
                ck_assert(exactly(got->observable[i], want->observable[i]));
            came++;
        }
    return came;
}

START_TEST(planes_that_come_from_a_device_that_fails_are_right)
{
    const struct kind *const kind = &kinds[_i];
    int most = 0;
    bool failed = true;
    open_whole(kind);
    const long all = work_of(whole.be);
    for (long work = 1; failed; work += _i == 0 ? 29 : 171) {
        ck_assert_int_le(work, all + 171);
        for (int late = 0; late < 2; late++) {
            failed = run_failing(&one, kind, work, late != 0);
            const int came = check_planes(&one);
            ck_assert(failed || came == ROWS * (PLANES - 1));
            most = failed && came > most ? came : most;
            close_failed(&one);
        }
    }
    ck_assert_int_ge(most, 2); /* some came before */
    batch_close(&whole);
    nothing_is_left();
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("a trial under way on a device");
    TCase *const tests = tcase_create("under way");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_deadline_that_passes_beside_a_trial_ends_its_row_behind_it, 0,
                        KINDS);
    tcase_add_loop_test(tests, rows_that_are_stopped_beside_a_trial_go_on_elsewhere, 0, KINDS);
    tcase_add_loop_test(tests, a_trial_under_way_that_fails_is_told_by_the_next_call, 0, 2);
    tcase_add_loop_test(tests, planes_that_come_from_a_device_that_fails_are_right, 0, 2);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
