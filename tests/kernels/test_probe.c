/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model probe: what it saves, how it fails, how a stop interrupts it. */
#include <math.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/models/probe.h"
#include "tests/exact.h"
#include "tests/unit_main.h"

static void probe_params(struct params *p, double sleep, double fail_at)
{
    static const char *const names[] = {"sleep", "work", "fail_at", "size", "a", "b", "c"};
    const double values[] = {sleep, 0.0, fail_at, 3.0, 2.0, 3.0, 7.0};
    ck_assert_int_eq(params_init(p, probe_ops.info->params, probe_ops.info->param_count), 0);
    for (int i = 0; i < 7; i++) {
        ck_assert_int_ge(params_find(p, names[i]), 0);
        params_set(p, params_find(p, names[i]), values[i]);
    }
    p->planes = (struct plane_request){PLANES_COUNT, 4, NULL};
}

static const struct seed no_noise = {.noise = NOISE_NONE};

static struct model *probe_model(const struct params *p, struct row_status *st)
{
    struct model *m;
    ck_assert_int_eq(probe_ops.create(p, NULL, 1, &m), 0);
    *st = (struct row_status){.deadline = (double)INFINITY};
    ck_assert_int_eq(probe_ops.load(m, 0, p, &no_noise, NULL, st), 0);
    return m;
}

START_TEST(planes_hold_the_code_the_plane_and_the_index)
{
    struct params p;
    struct row_status st;
    struct run_control control = {0};
    probe_params(&p, 0.0, -1.0);
    struct model *m = probe_model(&p, &st);
    for (long plane = 0; plane < 4; plane++) {
        double data[4] = {-1.0, -1.0, -1.0, -1.0};
        struct plane_buffers out = {.array = {data}};
        ck_assert_int_eq(probe_ops.advance(m, &control, &st), 0);
        ck_assert(st.plane_ready);
        ck_assert_int_eq(st.plane, plane);
        ck_assert_exactly(st.progress, (double)plane);
        ck_assert_int_eq(probe_ops.plane(m, 0, &out), 0);
        ck_assert_exactly(out.observable[0], 20307.0);
        for (long i = 0; i < 3; i++)
            ck_assert_exactly(data[i], 20307e6 + 1e3 * (double)plane + (double)i);
        ck_assert_exactly(data[3], -1.0);
        st.plane_ready = false;
    }
    ck_assert_int_eq(probe_ops.advance(m, &control, &st), 0);
    ck_assert_int_eq(st.outcome, ROW_DONE);
    probe_ops.destroy(m);
    params_clear(&p);
    ck_assert_int_eq(mem_live(), 0);
}
END_TEST

START_TEST(it_fails_at_the_plane_that_is_asked_for)
{
    struct params p;
    struct row_status st;
    struct run_control control = {0};
    probe_params(&p, 0.0, 1.0);
    struct model *m = probe_model(&p, &st);
    ck_assert_int_eq(probe_ops.advance(m, &control, &st), 0);
    ck_assert_int_eq(st.outcome, ROW_RUNNING);
    st.plane_ready = false;
    ck_assert_int_eq(probe_ops.advance(m, &control, &st), 0);
    ck_assert_int_eq(st.outcome, ROW_FAILED);
    ck_assert(!st.plane_ready);
    ck_assert_ptr_nonnull(strstr(st.reason, "plane 1"));
    probe_ops.destroy(m);
    params_clear(&p);
}
END_TEST

START_TEST(a_stop_time_interrupts_a_long_sleep)
{
    struct params p;
    struct row_status st;
    struct run_control control = {0};
    probe_params(&p, 1e6, -1.0);
    struct model *m = probe_model(&p, &st);
    atomic_store(&control.stop_at, clock_wall() + 0.02);
    ck_assert_int_eq(probe_ops.advance(m, &control, &st), 0);
    ck_assert_int_eq(st.outcome, ROW_RUNNING);
    ck_assert(!st.plane_ready);
    probe_ops.destroy(m);
    params_clear(&p);
}
END_TEST

START_TEST(a_deadline_ends_a_long_sleep)
{
    struct params p;
    struct row_status st;
    struct run_control control = {0};
    probe_params(&p, 1e6, -1.0);
    struct model *m = probe_model(&p, &st);
    st.deadline = clock_wall() + 0.02;
    ck_assert_int_eq(probe_ops.advance(m, &control, &st), 0);
    ck_assert_int_eq(st.outcome, ROW_TIMED_OUT);
    ck_assert_str_ne(st.reason, "");
    probe_ops.destroy(m);
    params_clear(&p);
}
END_TEST

int main(void)
{
    Suite *const suite = suite_create("probe");
    TCase *const tests = tcase_create("probe");
    tcase_add_test(tests, planes_hold_the_code_the_plane_and_the_index);
    tcase_add_test(tests, it_fails_at_the_plane_that_is_asked_for);
    tcase_add_test(tests, a_stop_time_interrupts_a_long_sleep);
    tcase_add_test(tests, a_deadline_ends_a_long_sleep);
    suite_add_tcase(suite, tests);
    return unit_main(suite);
}
