/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "tests/exact.h"
#include "tests/scans/toy.h"
#include "tests/unit_main.h"

START_TEST(the_first_axis_is_slowest_and_the_last_fastest)
{
    struct scan *scan = toy_scan(TOY "axes:\n  - gamma: [0, 1]\n  - loss: [0, 1, 2]\n"
                                     "  - omega: [0, 1, 2, 3, 4]\n"
                                     "ensemble: {realisations: 7}\n");
    ck_assert_int_eq(scan_points(scan), 30);
    ck_assert_int_eq(scan_realisations(scan), 7);
    ck_assert_int_eq(scan_members(scan), 210);
    int64_t point = 0;
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 5; c++, point++) {
                int64_t index[SCAN_AXES_MAX];
                scan_point_indices(scan, point, index);
                ck_assert_int_eq(index[0], a);
                ck_assert_int_eq(index[1], b);
                ck_assert_int_eq(index[2], c);
                ck_assert(exactly(toy_value(scan, point, "gamma"), a));
                ck_assert(exactly(toy_value(scan, point, "loss"), b));
                ck_assert(exactly(toy_value(scan, point, "omega"), c));
            }
    scan_destroy(scan);
}
END_TEST

START_TEST(a_scan_without_axes_has_one_point)
{
    struct scan *scan = toy_scan(TOY "axes: []\n");
    ck_assert_int_eq(scan_axes(scan), 0);
    ck_assert_int_eq(scan_points(scan), 1);
    ck_assert_int_eq(scan_grids(scan), 1);
    ck_assert_int_eq(scan_grid_of(scan, 0), 0);
    ck_assert_int_eq(scan_structure_point(scan, 0), 0);
    ck_assert(exactly(toy_value(scan, 0, "length"), 1.0));
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
}
END_TEST

/* grid.points: grid and structure; grid.window: grid alone; grid.modes: structure alone. */
START_TEST(keys_number_what_points_share)
{
    struct scan *scan = toy_scan(TOY "axes:\n  - grid.modes: [1, 2]\n  - gamma: [0, 1, 2]\n"
                                     "  - grid.window: [1 ps, 2 ps]\n  - loss: [0, 1]\n"
                                     "  - grid.points: [16, 32, 64]\n");
    ck_assert_int_eq(scan_grids(scan), 6);
    ck_assert_int_eq(scan_structures(scan), 6);
    ck_assert_int_eq(scan_shapes(scan), 12);
    for (int64_t point = 0; point < scan_points(scan); point++) {
        const int64_t grid = scan_grid_point(scan, scan_grid_of(scan, point));
        ck_assert_int_le(grid, point);
        ck_assert(exactly(toy_value(scan, grid, "grid.points"),
                          toy_value(scan, point, "grid.points")));
        ck_assert(exactly(toy_value(scan, grid, "grid.window"),
                          toy_value(scan, point, "grid.window")));
        ck_assert_int_eq(scan_grid_of(scan, grid), scan_grid_of(scan, point));
        const int64_t key = scan_structure_point(scan, scan_structure_of(scan, point));
        ck_assert(exactly(toy_value(scan, key, "grid.points"),
                          toy_value(scan, point, "grid.points")));
        ck_assert(
            exactly(toy_value(scan, key, "grid.modes"), toy_value(scan, point, "grid.modes")));
    }
    for (int64_t shape = 1; shape < 12; shape++)
        ck_assert_int_ne(scan_shape_point(scan, shape), scan_shape_point(scan, shape - 1));
    scan_destroy(scan);
}
END_TEST

START_TEST(planes_and_lists_reach_the_parameters_of_a_point)
{
    struct scan *scan = toy_scan(TOY "axes: [{betas: [[1, 2, 3], [4]]}]\n"
                                     "save: {planes: [0, 1]}\n");
    struct params params;
    int count = 0;
    ck_assert_int_eq(scan_params_init(scan, &params), 0);
    scan_point(scan, 0, &params);
    ck_assert(exactly(params_list(&params, "betas", &count)[2], 3.0));
    ck_assert_int_eq(count, 3);
    scan_point(scan, 1, &params);
    ck_assert(exactly(params_list(&params, "betas", &count)[0], 4.0));
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(params.planes.kind, PLANES_LIST);
    ck_assert_int_eq(params.planes.count, 2);
    ck_assert(exactly(params.planes.positions[1], 1.0));
    params_clear(&params);
    scan_destroy(scan);
}
END_TEST

static void point_text(const struct scan *scan, int64_t point, char *text, size_t size)
{
    ck_assert_uint_lt(scan_point_text(scan, point, text, size), size);
}

START_TEST(the_seed_text_depends_on_the_parameters_alone)
{
    char x[4096];
    char y[4096];
    struct scan *a = toy_scan(TOY "axes:\n  - gamma: [1, 2]\n  - loss: [3, 4]\n");
    struct scan *b = toy_scan(TOY "stepper: {rtol: 1e-3}\nsave: {planes: last}\n"
                                  "axes:\n  - loss: [9, 4, 3]\n  - stepper.atol: [1, 2]\n"
                                  "  - gamma: [2, 0, 1]\n");
    point_text(a, 1, x, sizeof x); /* gamma 1, loss 4 */
    point_text(b, (1 * 2 + 0) * 3 + 2, y, sizeof y);
    ck_assert_str_eq(x, y);
    point_text(b, (1 * 2 + 1) * 3 + 2, y, sizeof y); /* another stepper.atol */
    ck_assert_str_eq(x, y);
    ck_assert_ptr_null(strstr(x, "stepper"));
    point_text(a, 0, y, sizeof y);
    ck_assert_str_ne(x, y);
    scan_destroy(a);
    scan_destroy(b);
}
END_TEST

START_TEST(the_identity_has_model_version_stepper_noise_and_seed)
{
    char x[4096];
    struct scan *scan = toy_scan(TOY "ensemble: {realisations: 2, seed: 5, noise: direct}\n"
                                     "axes: [{stepper.rtol: [1e-3, 1e-6]}]\n");
    scan_identity_text(scan, 0, x, sizeof x);
    ck_assert_ptr_nonnull(strstr(x, "model=toy\n"));
    ck_assert_ptr_nonnull(strstr(x, "numerics=7\n"));
    ck_assert_ptr_nonnull(strstr(x, "stepper.rtol=0.001\n"));
    ck_assert_ptr_nonnull(strstr(x, "noise=direct\n"));
    ck_assert_ptr_nonnull(strstr(x, "seed=5\n"));
    ck_assert_ptr_nonnull(strstr(x, "length=1\n"));
    scan_destroy(scan);
}
END_TEST

START_TEST(what_is_no_physics_enters_no_identity)
{
    static const char *const others[] = {"save: {planes: 7, field: false}\n",
                                         "limits: {attempts: 9, timeout: 1 min}\n",
                                         "resources: {worker: socket, memory: 1 GB}\n",
                                         "store: {history: 0, sync: never}\n",
                                         "envelope: {factor: 20, tolerance: 1e-3}\n",
                                         "# a comment\n"};
    char want[4096];
    char got[4096];
    struct scan *plain = toy_scan(TOY);
    scan_identity_text(plain, 0, want, sizeof want);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", TOY, others[i]);
        struct scan *scan = toy_scan(text);
        scan_identity_text(scan, 0, got, sizeof got);
        ck_assert_str_eq(got, want);
        scan_destroy(scan);
    }
    struct scan *renamed = toy_scan("scan: other\nmodel: toy\n" TOY_PARAMETERS);
    scan_identity_text(renamed, 0, got, sizeof got);
    ck_assert_str_eq(got, want);
    scan_destroy(renamed);
    scan_destroy(plain);
}
END_TEST

START_TEST(texts_are_cut_at_the_size_given)
{
    struct scan *scan = toy_scan(TOY "axes: [{gamma: [1, 2]}]\n");
    char whole[4096];
    char part[20];
    const size_t length = scan_point_text(scan, 1, whole, sizeof whole);
    ck_assert_uint_eq(length, strlen(whole));
    ck_assert_uint_eq(scan_point_text(scan, 1, part, sizeof part), length);
    ck_assert_uint_eq(strlen(part), sizeof part - 1);
    ck_assert_int_eq(strncmp(part, whole, sizeof part - 1), 0);
    ck_assert_uint_eq(scan_point_text(scan, 1, NULL, 0), length);
    scan_destroy(scan);
}
END_TEST

/* 10^6 identities are to be quick: 2 us each are promised, ten times that is a failure on any
 * machine and under sanitizers. */
START_TEST(identities_are_cheap)
{
    struct scan *scan = toy_scan(TOY "axes:\n  - gamma: {from: 0, to: 1, points: 1000}\n"
                                     "  - loss: {from: 0, to: 1, points: 1000}\n");
    char text[4096];
    const long before = mem_total();
    const double start = clock_cpu_thread();
    for (int64_t point = 0; point < 20000; point++)
        scan_identity_text(scan, point * 37, text, sizeof text);
    ck_assert_double_lt((clock_cpu_thread() - start) / 20000, 20e-6);
    ck_assert_int_eq(mem_total(), before);
    scan_destroy(scan);
}
END_TEST

static Suite *points_suite(void)
{
    Suite *suite = suite_create("points");
    TCase *tcase = tcase_create("points");
    tcase_add_test(tcase, the_first_axis_is_slowest_and_the_last_fastest);
    tcase_add_test(tcase, a_scan_without_axes_has_one_point);
    tcase_add_test(tcase, keys_number_what_points_share);
    tcase_add_test(tcase, planes_and_lists_reach_the_parameters_of_a_point);
    tcase_add_test(tcase, the_seed_text_depends_on_the_parameters_alone);
    tcase_add_test(tcase, the_identity_has_model_version_stepper_noise_and_seed);
    tcase_add_test(tcase, what_is_no_physics_enters_no_identity);
    tcase_add_test(tcase, texts_are_cut_at_the_size_given);
    tcase_add_test(tcase, identities_are_cheap);
    tcase_set_timeout(tcase, 30);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(points_suite());
}
