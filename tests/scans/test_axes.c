/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "tests/exact.h"
#include "tests/perturb/near.h"
#include "tests/scans/toy.h"
#include "tests/unit_main.h"

#define AXES TOY "axes:\n"

static void has_values(const struct scan *scan, int axis, int param, int count,
                       const double *values)
{
    ck_assert_int_eq(scan_get_axis(scan, axis)->length, count);
    for (int i = 0; i < count; i++) {
        const double value = scan_axis_value(scan, axis, param, i);
        ck_assert_msg(exactly(value, values[i]), "axis %d, value %d: %.17g, not %.17g", axis, i,
                      value, values[i]);
    }
}

#define has_axis(scan, axis, ...)                                                              \
    has_values(scan, axis, 0, (int)(sizeof(double[]){__VA_ARGS__} / sizeof(double)),           \
               (const double[]){__VA_ARGS__})

START_TEST(every_form_of_an_axis_gives_its_values)
{
    struct scan *scan =
        toy_scan(AXES "  - pulse.duration: [50 fs, 100 fs, 150 fs]\n"
                      "  - pulse.power: {from: 5 kW, to: 10 kW, points: 6}\n"
                      "  - length: {from: 800 nm, to: 860 nm, step: 10 nm}\n"
                      "  - stepper.rtol: {from: 1e-3, to: 1e-9, points: 7, spacing: log}\n"
                      "  - temperature: {from: 300, to: 290, step: -5}\n"
                      "  - grid.points: {from: 256, to: 2048, points: 4, spacing: log}\n"
                      "  - shock: [true, false]\n"
                      "  - guide: [solid, none]\n"
                      "  - betas: [[1, 2], [3]]\n");
    has_axis(scan, 0, 50e-15, 100e-15, 150e-15);
    has_axis(scan, 1, 5e3, 6e3, 7e3, 8e3, 9e3, 10e3);
    has_axis(scan, 2, 800e-9, 810e-9, 820e-9, 830e-9, 840e-9, 850e-9, 860e-9);
    has_axis(scan, 3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9);
    has_axis(scan, 4, 300.0, 295.0, 290.0);
    has_axis(scan, 5, 256.0, 512.0, 1024.0, 2048.0);
    has_axis(scan, 6, 1.0, 0.0);
    has_axis(scan, 7, 2.0, 0.0);
    has_axis(scan, 8, 0.0, 1.0);
    ck_assert_str_eq(scan_get_axis(scan, 7)->param[0].name, "guide.model");
    ck_assert_str_eq(scan_axis_written(scan, 1, 0), "{from: 5 kW, to: 10 kW, points: 6}");
    ck_assert_int_eq(scan_points(scan), 3L * 6 * 7 * 7 * 3 * 4 * 2 * 2 * 2);
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
}
END_TEST

/* One value may be written in five ways; all must have one identity. */
START_TEST(a_value_has_the_same_bits_wherever_it_stands)
{
    static const char *const axes[] = {"[810 nm]", "[0.81 um]", "[8.1e-7]",
                                       "{from: 810 nm, to: 810 nm, points: 1}"};
    struct scan *fixed = toy_scan(TOY_HEAD "parameters: {length: 810 nm}\n");
    const double value = toy_value(fixed, 0, "length");
    ck_assert(exactly(value, 8.1e-7));
    char want[4096];
    char got[4096];
    scan_identity_text(fixed, 0, want, sizeof want);
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, TOY_HEAD "axes: [{length: %s}]\n", axes[i]);
        struct scan *scan = toy_scan(text);
        scan_identity_text(scan, 0, got, sizeof got);
        ck_assert_str_eq(got, want);
        scan_destroy(scan);
    }
    struct scan *scan = toy_scan(TOY_HEAD "axes: [{length: {from: 800 nm, to: 860 nm, points: "
                                          "7}}]\n");
    scan_identity_text(scan, 1, got, sizeof got);
    ck_assert_str_eq(got, want);
    scan_destroy(scan);
    const struct scan_override set = {"length=810 nm"};
    scan = toy_scan_set(TOY, &set, 1);
    scan_identity_text(scan, 0, got, sizeof got);
    ck_assert_str_eq(got, want);
    scan_destroy(scan);
    scan_destroy(fixed);
}
END_TEST

/* Decimal steps give the literals: the compiler's correctly rounded decimal constants. */
START_TEST(linear_axes_round_each_value_once)
{
    struct scan *scan =
        toy_scan(AXES "  - share: {from: 0, to: 1, points: 11}\n"
                      "  - gamma: {from: 0.1, to: 0.5, step: 0.1}\n"
                      "  - pulse.duration: {from: 50 fs, to: 60 fs, step: 2 fs}\n"
                      "  - pressure: {from: 1e30, to: 3e30, points: 3}\n");
    has_axis(scan, 0, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0);
    has_axis(scan, 1, 0.1, 0.2, 0.3, 0.4, 0.5);
    has_axis(scan, 2, 50e-15, 52e-15, 54e-15, 56e-15, 58e-15, 60e-15);
    has_axis(scan, 3, 1e30, 2e30, 3e30);
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
    /* 5000 + i 5000/3 has no short decimal form: within half a unit of the long double value.
     */
    scan = toy_scan(AXES "  - pulse.power: {from: 5 kW, to: 10 kW, points: 4}\n");
    has_axis(scan, 0, 5000.0, (double)(20000.0L / 3), (double)(25000.0L / 3), 10000.0);
    scan_destroy(scan);
    scan = toy_scan(AXES "  - pulse.phases.cep: {from: 0 deg, to: 90 deg, points: 91}\n");
    ck_assert(exactly(scan_axis_value(scan, 0, 0, 90), M_PI_2));
    for (int i = 0; i <= 90; i++)
        ck_assert_rounding_of(scan_axis_value(scan, 0, 0, i), i * (M_PI / 180), 1.6, 0x1p-52);
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
}
END_TEST

START_TEST(the_last_step_counts_when_within_1e_9_of_it)
{
    struct scan *scan = toy_scan(AXES "  - gamma: {from: 0, to: 1, step: 0.1}\n"
                                      "  - omega: {from: 0, to: 0.99, step: 0.1}\n"
                                      "  - share: {from: 0, to: 1, step: 0.33333333333}\n"
                                      "  - loss: {from: 0, to: 0.9999999999, step: 0.1}\n"
                                      "  - frequency: {from: 0, to: 0.999, step: 0.1}\n"
                                      "  - pressure: {from: 5, to: 5, step: 1}\n");
    ck_assert_int_eq(scan_get_axis(scan, 0)->length, 11);
    ck_assert_int_eq(scan_get_axis(scan, 1)->length, 10);
    ck_assert_int_eq(scan_get_axis(scan, 2)->length, 4);
    ck_assert_int_eq(scan_get_axis(scan, 3)->length, 11);
    ck_assert(exactly(scan_axis_value(scan, 3, 0, 10), 0.9999999999));
    ck_assert_int_eq(scan_get_axis(scan, 4)->length, 10);
    ck_assert_int_eq(scan_get_axis(scan, 5)->length, 1);
    scan_destroy(scan);
}
END_TEST

START_TEST(extending_an_axis_changes_no_existing_value)
{
    struct scan *a = toy_scan(AXES "  - gamma: {from: 0.017, to: 3, step: 0.0137}\n");
    struct scan *b = toy_scan(AXES "  - gamma: {from: 0.017, to: 9, step: 0.0137}\n");
    for (int64_t i = 0; i < scan_points(a); i++)
        ck_assert(exactly(scan_axis_value(a, 0, 0, i), scan_axis_value(b, 0, 0, i)));
    scan_destroy(a);
    scan_destroy(b);
}
END_TEST

START_TEST(a_zip_is_one_axis_of_several_parameters)
{
    struct scan *a =
        toy_scan(AXES "  - zip: {length: [1 m, 2 m], gamma: {from: 3, to: 4, points: "
                      "2}}\n  - shock: [false, true]\n");
    ck_assert_int_eq(scan_axes(a), 2);
    ck_assert_int_eq(scan_points(a), 4);
    ck_assert_int_eq(scan_get_axis(a, 0)->params, 2);
    ck_assert(exactly(toy_value(a, 2, "length"), 2.0));
    ck_assert(exactly(toy_value(a, 2, "gamma"), 4.0));
    ck_assert(exactly(toy_value(a, 3, "shock"), 1.0));
    struct scan *b =
        toy_scan(AXES "  - zip: {gamma: {from: 3, to: 4, points: 2}, length: [1 m, 2 "
                      "m]}\n  - shock: [false, true]\n");
    ck_assert_str_eq(scan_canonical(a), scan_canonical(b));
    toy_check_canonical(toy_models, a);
    scan_destroy(a);
    scan_destroy(b);
    toy_refuses(AXES "  - zip: {length: [1, 2], gamma: [3]}\n",
                "file:5:34: ", "gamma has 1 values, length has 2");
    toy_refuses(AXES "  - zip: {}\n", "file:5:10: ", "zip");
    toy_refuses(AXES "  - zip: [1]\n", "file:5:10: ", "zip");
    toy_refuses(AXES "  - zip: {length: [1], length: [2]}\n", "file:5:24: ", "duplicate");
}
END_TEST

START_TEST(an_axis_replaces_the_base_value)
{
    struct scan *scan = toy_scan(TOY_HEAD "axes: [{length: [2, 3]}]\n"); /* required one */
    ck_assert(exactly(toy_value(scan, 1, "length"), 3.0));
    scan_destroy(scan);
    struct scan *a = toy_scan(TOY "axes: [{length: [2, 3]}]\n");
    struct scan *b = toy_scan(TOY_HEAD "axes: [{length: [2, 3]}]\n");
    ck_assert_str_eq(scan_canonical(a), scan_canonical(b));
    scan_destroy(a);
    scan_destroy(b);
}
END_TEST

START_TEST(the_word_none_is_a_value_where_documented)
{
    struct scan *scan = toy_scan(AXES "  - edge: [none, 5 %]\n");
    ck_assert(isnan(scan_axis_value(scan, 0, 0, 0)));
    ck_assert(isnan(toy_value(scan, 0, "edge.share")));
    ck_assert(exactly(toy_value(scan, 1, "edge.share"), 0.05));
    toy_has_line(scan, "axis.0.edge.share: [none, 0.050000000000000003]");
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
    toy_refuses(AXES "  - gamma: [none, 5]\n", "file:5:13: ", "not a number");
}
END_TEST

START_TEST(bad_axes_are_refused_where_they_stand)
{
    toy_refuses(AXES "  - gama: [1]\n", "file:5:5: ", "did you mean 'gamma'?");
    toy_refuses(AXES "  - gamma: []\n", "file:5:12: ", "empty", "at least one");
    toy_refuses(AXES "  - gamma: 3\n", "file:5:12: ", "[value, …]");
    toy_refuses(AXES "  - gamma: [1 kg]\n", "file:5:13: ", "'kg'");
    toy_refuses(AXES "  - gamma: [1]\n  - gamma: [2]\n", "file:6:5: ", "axis 0 already");
    toy_refuses(AXES "  - guide: [none]\n  - guide.model: [none]\n", "file:6:5: ", "already");
    toy_refuses(AXES "  - gamma: [1]\n    loss: [2]\n", "file:5:5: ", "zip");
    toy_refuses(TOY "axes: {gamma: [1]}\n", "file:4:7: ", "a list of");
    toy_refuses(AXES "  - gamma: {from: 1, to: 2}\n", "file:5:12: ", "neither points nor step");
    toy_refuses(AXES "  - gamma: {from: 1, to: 2, points: 2, step: 1}\n", "both");
    toy_refuses(AXES "  - gamma: {from: 1, points: 2}\n", "file:5:12: ", "'to' is missing");
    toy_refuses(AXES "  - gamma: {form: 1, to: 2, points: 2}\n",
                "file:5:13: ", "did you mean 'from'?");
    toy_refuses(AXES "  - gamma: {from: 1, to: 2, points: 0}\n", "file:5:37: ", "1 to");
    toy_refuses(AXES "  - gamma: {from: 1, to: 2, points: 1}\n", "file:5:37: ", "at least 2");
    toy_refuses(AXES "  - gamma: {from: 1, to: 2, points: 2.5}\n", "whole number");
    toy_refuses(AXES "  - gamma: {from: 1, to: 2, points: 3, spacing: cubic}\n", "linear, log");
    toy_refuses(AXES "  - gamma: {from: 0, to: 2, points: 3, spacing: log}\n",
                "file:5:49: ", "above 0");
    toy_refuses(AXES "  - gamma: {from: 1, to: 2, step: 0}\n", "file:5:35: ", "step 0");
    toy_refuses(AXES "  - gamma: {from: 1, to: 2, step: -1}\n", "does not lead from 1 to 2");
    toy_refuses(AXES "  - gamma: {from: 1, to: 2, step: 1, spacing: log}\n",
                "spacing goes with");
    toy_refuses(AXES "  - gamma: {from: 0, to: 1, step: 1e-16}\n", "10^15");
    toy_refuses(AXES "  - share: {from: 0, to: 2, points: 3}\n", "file:5:26: ", "0 to 1");
    toy_refuses(AXES "  - grid.points: {from: 1, to: 2, points: 3}\n",
                "file:5:18: ", "whole numbers");
    toy_refuses(AXES "  - grid.points: {from: 1, to: 3, points: 3, spacing: log}\n",
                "whole numbers");
    toy_refuses(AXES "  - shock: {from: 0, to: 1, points: 2}\n",
                "file:5:12: ", "list its values");
    toy_refuses(AXES "  - betas: [1, 2]\n", "file:5:13: ", "a list is wanted");
    toy_refuses(AXES "  - ensemble.seed: [1, 2]\n", "file:5:5: ", "unknown key");
    toy_refuses(AXES "  - pulse: [1, 2]\n", "file:5:5: ", "unknown key 'pulse'");
}
END_TEST

START_TEST(up_to_10_to_15_members_are_counted_and_no_more)
{
    struct scan *scan = toy_scan(TOY "axes: [{gamma: {from: 0, to: 1, points: 1e12}}]\n"
                                     "ensemble: {realisations: 1000}\n");
    ck_assert_int_eq(scan_members(scan), 1000000000000000);
    ck_assert_int_eq(scan_get_store(scan)->history, 0); /* above 10^5 members */
    ck_assert(exactly(toy_value(scan, 999999999999, "gamma"), 1.0));
    scan_destroy(scan);
    toy_refuses(TOY "axes: [{gamma: {from: 0, to: 1, points: 1e12}}]\n"
                    "ensemble: {realisations: 1001}\n",
                "10^15 members");
    toy_refuses(AXES "  - gamma: {from: 0, to: 1, points: 1e8}\n"
                     "  - loss: {from: 0, to: 1, points: 1e8}\n",
                "file:6:11: ", "10^15");
    toy_refuses(AXES "  - gamma: {from: 0, to: 1, points: 1e15}\n"
                     "  - loss: {from: 0, to: 1, points: 1e15}\n",
                "10^15");
    struct scan *small = toy_scan(TOY "axes: [{gamma: {from: 0, to: 1, points: 1e5}}]\n");
    ck_assert_int_eq(scan_get_store(small)->history, 8192);
    scan_destroy(small);
}
END_TEST

START_TEST(more_than_16_axes_or_8_zipped_parameters_are_refused)
{
    static const char *const names[] = {
        "length",      "gamma",        "loss",         "omega",        "frequency",
        "temperature", "pressure",     "share",        "grid.points",  "grid.window",
        "grid.modes",  "edge.share",   "guide.radius", "stepper.rtol", "stepper.atol",
        "pulse.power", "choice_of_two"};
    char text[2048] = AXES;
    for (int i = 0; i < 17; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "  - %s: [%s]\n", names[i],
                 i == 11 || i == 13 ? "0.01" : "1");
    toy_refuses(text, "file:21:5: ", "more than 16 axes");
    char *last = strstr(text, "  - choice_of_two");
    *last = '\0';
    struct scan *scan = toy_scan(text);
    ck_assert_int_eq(scan_axes(scan), 16);
    toy_check_canonical(toy_models, scan);
    scan_destroy(scan);
    toy_refuses(AXES
                "  - zip: {length: [1], gamma: [1], loss: [1], omega: [1], frequency: [1],\n"
                "    temperature: [1], pressure: [1], share: [1], grid.modes: [1]}\n",
                "file:6:50: ", "more than 8");
}
END_TEST

START_TEST(large_scans_cost_nothing_to_read)
{
    const double start = clock_cpu_thread();
    struct scan *scan = toy_scan("scan: big\nmodel: bare\naxes: [{a: {from: 0, to: 1, points: "
                                 "1000000000}}]\n");
    ck_assert_double_lt(clock_cpu_thread() - start, 0.01);
    ck_assert_int_eq(scan_points(scan), 1000000000);
    const long before = mem_total();
    struct params params;
    ck_assert_int_eq(scan_params_init(scan, &params), 0);
    scan_point(scan, 999999999, &params);
    ck_assert(exactly(params_real(&params, "a"), 1.0));
    scan_point(scan, 500000000, &params);
    ck_assert(exactly(params_real(&params, "a"), 500000000.0 / 999999999.0));
    ck_assert_int_eq(mem_total(), before + 1); /* params_init alone */
    params_clear(&params);
    scan_destroy(scan);
}
END_TEST

static Suite *axes_suite(void)
{
    Suite *suite = suite_create("axes");
    TCase *tcase = tcase_create("axes");
    tcase_add_test(tcase, every_form_of_an_axis_gives_its_values);
    tcase_add_test(tcase, a_value_has_the_same_bits_wherever_it_stands);
    tcase_add_test(tcase, linear_axes_round_each_value_once);
    tcase_add_test(tcase, the_last_step_counts_when_within_1e_9_of_it);
    tcase_add_test(tcase, extending_an_axis_changes_no_existing_value);
    tcase_add_test(tcase, a_zip_is_one_axis_of_several_parameters);
    tcase_add_test(tcase, an_axis_replaces_the_base_value);
    tcase_add_test(tcase, the_word_none_is_a_value_where_documented);
    tcase_add_test(tcase, bad_axes_are_refused_where_they_stand);
    tcase_add_test(tcase, up_to_10_to_15_members_are_counted_and_no_more);
    tcase_add_test(tcase, more_than_16_axes_or_8_zipped_parameters_are_refused);
    tcase_add_test(tcase, large_scans_cost_nothing_to_read);
    tcase_set_timeout(tcase, 30);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return unit_main(axes_suite());
}
